"""Mappings of hands, as TOML files: see `puppetry/mappings` for those that come along.

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
from os import PathLike
from pathlib import Path

from poise.errors import unknown_name
from poise.jobs.toml_tables import Table, TomlFile
from poise.puppetry.mapping import SOURCES, HandMapping, Route
from poise.puppetry.springs import RANGES, SPRINGS

FOLDER = Path(__file__).parent.parent / "puppetry" / "mappings"
MOST_ROUTES = 200


def list_mappings() -> tuple[str, ...]:
    """Names of the mappings that come along."""
    return tuple(sorted(path.stem for path in FOLDER.glob("*.toml")))


def load_mapping(mapping: str | PathLike[str]) -> HandMapping:
    """A mapping that comes along, by its name (legs, trunk, arms), or out of a file (.toml)."""
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
    gain, turned, at, rest = (table.number(key) for key in ("gain", "degrees", "at", "rest"))
    against = table.text("against") or "facing"
    table.check_all_read()
    with table.reading("from"):
        if source not in SOURCES:
            raise unknown_name("motion of a hand", source, SOURCES)
    is_angle = source != "turn" and to.partition(".")[0] != "tension"
    if turned is not None and not is_angle:
        raise table.wrong(
            "degrees", "'degrees' is of a number that goes to an angle; a turn and a tension have 'gain'."
        )
    if gain is not None and is_angle:
        raise table.wrong("gain", f"'{to}' is an angle: say by how many 'degrees' for each unit of '{source}'.")
    if turned is None and is_angle:
        raise table.wrong(None, f"how far '{source}' moves '{to}' is not said: add degrees = ...")
    with table.reading():
        size = math.radians(turned or 0.0) if is_angle else 1.0 if gain is None else gain
        begin = math.radians(at or 0.0) if is_angle else at or 0.0
        return Route(hand, source, to, size, begin, rest or 0.0, against)
