"""Mappings: which motion of a hand goes to which joint, and their TOML files.   [marionette, 4.3]

A layer of a performance is a few routes. A route takes one thing of one hand,

    turn                    its orientation: that of a bone, as if the bone were in the hand
    left, up, ahead         m, from its neutral place
    grip                    0 open to 1 closed
    button1 .. button16     0 or 1

to one thing of the puppet:

    UpperLeg                the orientation of a bone, of both sides (`each`: left to left, right to right)
    leftUpperArm            of one side
    trunk, neck             of all joints from hips to chest, of neck and head; each takes its part
    LowerLeg.bend           an angle of it: bend, side (outwards; to its left), turn (outwards; to its left)
    hips.bend, .side, .turn   how the pelvis leans, tilts and turns
    heading                 which way it faces, by a speed: it keeps what was turned
    tension, tension.LowerArm   of all springs, or of one kind of joint

Angles are those of `body/joints.py`, the same on every body, so that a mapping knows no skeleton. A route whose joint a
body does not have is left out there, but for the legs, which it must have.

As a file (see `puppetry/mappings` for those that come along):

name = "legs"
viscosity = 0.45                # 0 honey, 1 air

[[map]]
hand = "each"                   # left, right, each
from = "turn"                   # turn, left, up, ahead, grip, button1 ...
to = "UpperLeg"                 # a bone; a number goes to one of its angles: LowerLeg.bend
against = "facing"              # of a turn: facing, carrier
gain = 1                        # its part of a turn; of a grip, to a tension
degrees = 500                   # instead, of a number to an angle: for each metre, or each 1 of a grip
at = 6                          # degrees (tension: as it is) where the number is 0
rest = 0.04                     # around 0, that does not count

[springs.LowerLeg]              # LowerLeg, LowerArm, Foot, Toes, root, others
frequency = 3
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path

from poise.body.roles import SIDES
from poise.errors import InputError, finite_number, unknown_name
from poise.files.toml import Table, TomlFile
from poise.frozen import Portable
from poise.puppetry.springs import RANGES, SPRINGS, read_springs
from poise.puppetry.viscosity import check_alpha

SOURCES = ("turn", "left", "up", "ahead", "grip", *(f"button{k}" for k in range(1, 17)))
AXES = {"bend": 0, "turn": 1, "side": 2}
CHAINS = {"trunk": ("spine", "chest", "upperChest"), "neck": ("neck", "head")}
STEMS = ("UpperLeg", "LowerLeg", "Foot", "Toes", "Shoulder", "UpperArm", "LowerArm", "Hand")
MIDDLE = ("hips", "heading", "tension", "trunk", "neck", "head", "spine", "chest", "upperChest")
AGAINST = ("facing", "carrier")
# A bend goes forward where that is how the joint bends: `body/joints.py` has those angles negative.
_FORWARD = ("UpperLeg", "UpperArm", "LowerArm", "Shoulder", "Hand")


@dataclass(frozen=True)
class Route(Portable):
    """From one number or the orientation of a hand to a joint of the puppet.

    hand     left, right, or each
    source   number or orientation of it, `from` in files;  to: see above
    gain     rad (or fraction of a turn) per unit of the source: m, 1 of a grip, 1 of a turn
    at       rad (tension: 1), value at a source of 0
    rest     range of the source around 0 that has no effect
    against  of a turn: `facing`, parallel to the hand whatever the parent's orientation, or `carrier`, the parent
    """

    hand: str
    source: str
    to: str
    gain: float = 1.0
    at: float = 0.0
    rest: float = 0.0
    against: str = "facing"

    def __post_init__(self) -> None:
        if self.hand not in (*SIDES, "each"):
            raise unknown_name("hand", self.hand, (*SIDES, "each"))
        if self.source not in SOURCES:
            raise unknown_name("motion of a hand", self.source, SOURCES)
        if self.against not in AGAINST:
            raise unknown_name("what a bone is turned against", self.against, AGAINST)
        for name in ("gain", "at", "rest"):
            finite_number(getattr(self, name), f"'{name}' of a route")
        if self.rest < 0.0:
            raise InputError(f"'rest' of a route must be 0 or more; got {self.rest:g}.")
        self._check_target()

    def _check_target(self) -> None:
        """Raise InputError unless the target exists, on the side of the hand, and takes what the source gives."""
        joint, point, axis = self.to.partition(".")
        sided = [side + stem for side in SIDES for stem in STEMS]
        known = (*STEMS, *sided, *MIDDLE)
        if joint not in known:
            raise unknown_name("joint", joint, known)
        if (self.hand == "each") != (joint in STEMS) and joint not in ("tension", "heading"):
            raise InputError(
                f"'{self.to}' is of {'both sides' if joint in STEMS else 'one'}, and hand = '{self.hand}'. "
                f"{'Say each.' if joint in STEMS else 'Say left or right.'}"
            )
        if self.source == "turn":
            if point or joint in ("heading", "tension"):
                raise InputError(f"a turn goes to a whole bone, as in 'UpperLeg'; '{self.to}' is one number.")
        else:
            self._check_angle(joint, point, axis)

    def _check_angle(self, joint: str, point: str, axis: str) -> None:
        """Raise InputError unless one number can be the target."""
        if joint == "tension":
            if point and axis not in SPRINGS:
                raise unknown_name("kind of joint", axis, SPRINGS)
        elif joint == "heading":
            if point:
                raise InputError(f"'heading' has no angles; '{self.to}' given.")
        elif axis not in AXES:
            raise InputError(
                f"'{self.source}' is one number and goes to one angle of a joint: {joint}.bend, .side or .turn; "
                f"'{self.to}' given."
            )

    @property
    def joint(self) -> str:
        """The joint, or "heading" or "tension"."""
        return self.to.partition(".")[0]

    @property
    def axis(self) -> str:
        """Angle of the joint, or kind of joints for tension."""
        return self.to.partition(".")[2]

    def sign(self, side: str) -> float:
        """Return the sign of this angle in `body/joints.py`, for a joint of a side ("": the middle)."""
        stem = self.joint.removeprefix("left").removeprefix("right")
        if self.axis == "bend":
            return -1.0 if stem in _FORWARD else 1.0
        if self.axis == "turn":
            return -1.0 if side == "right" else 1.0
        return 1.0 if side == "left" else -1.0


@dataclass(frozen=True, eq=False)
class HandMapping(Portable):
    """Which joints the hands of a layer move.

    name       of the layer: legs, trunk, arms, ...
    routes     see `Route`
    viscosity  0 (honey) to 1 (air): see `puppetry/viscosity.py`
    springs    numbers that differ from the default, by kind of joint: {"LowerLeg": {"frequency": 4}}, see `springs`
    """

    name: str
    routes: tuple[Route, ...]
    viscosity: float = 0.4
    springs: Mapping[str, Mapping[str, float]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        check_alpha(self.viscosity)
        read_springs(self.springs)
        if not self.routes:
            raise InputError(f"the mapping '{self.name:.60}' has no routes: no hand would do anything.")
        ends: set[str] = set()
        for route in self.routes:
            for end in list_ends(route):
                if end in ends:
                    raise InputError(f"two routes of the mapping '{self.name:.60}' go to {end}. Leave out one.")
                ends.add(end)


def list_ends(route: Route) -> Iterable[str]:
    """Return the names of the angles that a route moves."""
    joint, _, axis = route.to.partition(".")
    joints = [side + joint for side in SIDES] if joint in STEMS else [joint]
    for each in joints:
        for name in CHAINS.get(each, (each,)):
            yield from (f"{name}.{a}" for a in ((axis,) if axis else AXES))


FOLDER = Path(__file__).parent.parent / "puppetry" / "mappings"
MOST_ROUTES = 200


def list_mappings() -> tuple[str, ...]:
    """Return the names of the built-in mappings."""
    return tuple(sorted(path.stem for path in FOLDER.glob("*.toml")))


def load_mapping(mapping: str | PathLike[str]) -> HandMapping:
    """Return a built-in mapping (legs, trunk, arms), or the one in a file (.toml)."""
    path = Path(mapping)
    if path.suffix.lower() != ".toml":
        if str(mapping) not in list_mappings():
            raise unknown_name("mapping", str(mapping), (*list_mappings(), "a file (.toml)"))
        path = FOLDER / f"{mapping}.toml"
    with TomlFile(path) as file:
        return _read(Table("a mapping", file.plain), path.stem)


def _read(top: Table, stem: str) -> HandMapping:
    name, viscosity = top.text("name") or stem, top.number("viscosity")
    routes = tuple(map(_read_route, top.tables("map", MOST_ROUTES)))
    springs: dict[str, dict[str, float]] = {}
    for kind, table in top.named("springs").items():
        with table.reading():
            if kind not in SPRINGS:
                raise unknown_name("kind of joint", kind, SPRINGS)
        found = {key: table.number(key) for key in RANGES}
        table.check_all_read()
        springs[kind] = {key: value for key, value in found.items() if value is not None}
    top.check_all_read()
    with top.reading("viscosity" if viscosity is not None and not 0.0 < viscosity <= 1.0 else "map"):
        return HandMapping(name, routes, 0.4 if viscosity is None else viscosity, springs)


def _read_route(table: Table) -> Route:
    hand, source, to = (table.needed_text(key) for key in ("hand", "from", "to"))
    gain, degrees, at, rest = (table.number(key) for key in ("gain", "degrees", "at", "rest"))
    against = table.text("against") or "facing"
    table.check_all_read()
    with table.reading("from"):
        if source not in SOURCES:
            raise unknown_name("motion of a hand", source, SOURCES)
    is_angle = source != "turn" and to.partition(".")[0] != "tension"
    size = _find_angle_gain(table, source, to, degrees, gain) if is_angle else _find_gain(table, degrees, gain)
    with table.reading():
        begin = math.radians(at or 0.0) if is_angle else at or 0.0
        return Route(hand, source, to, size, begin, rest or 0.0, against)


def _find_gain(table: Table, degrees: float | None, gain: float | None) -> float:
    """Return the gain of a route to an orientation or a tension."""
    if degrees is not None:
        raise table.wrong(
            "degrees", "'degrees' is of a number that goes to an angle; a turn and a tension have 'gain'."
        )
    return 1.0 if gain is None else gain


def _find_angle_gain(table: Table, source: str, to: str, degrees: float | None, gain: float | None) -> float:
    """Return the gain (rad) of a route to an angle."""
    if gain is not None:
        raise table.wrong("gain", f"'{to}' is an angle: say by how many 'degrees' for each unit of '{source}'.")
    if degrees is None:
        raise table.wrong(None, f"how far '{source}' moves '{to}' is not said: add degrees = ...")
    return math.radians(degrees)
