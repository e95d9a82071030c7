"""Contact settings of a stage: which bodies and props collide, and how softly."""

from __future__ import annotations

import math
from dataclasses import dataclass

from poise.errors import InputError, check_range, finite_number

MOST_FRICTION, MOST_SOFTNESS, MOST_BOUNCE, MOST_PAIRS = 10.0, 1.0, 0.9, 10_000
FORCES = ("engine", "penalty")
PHYSICAL = "physical"  # of `ContactSettings.itself`


@dataclass(frozen=True)
class ContactSettings:
    """Which pairs on a stage touch. Everything touches the ground, and props touch props.

    itself    segments of one body with one another, where something of it is physical besides legs that stand:
              "physical", those that physics moves, not those whose joint has a given motion; True, all; False, none
    actors    actors with one another, unless they stand in one another when the later one joins
    props     actors with props
    softness  s, how long two things take to push each other apart; 0: as hard as the step allows. The ground stays hard
    friction  of actors and props with one another; None: the ground's, or 0.8 where there is none
    bounce    of the speed at which actors and props meet, about so much they part with: 0 to 0.9, as of a drum's skin
    apart     pairs of names that do not touch: an actor, a prop, a joint or part of every actor, or actor/joint
    only      pairs of names alike: where there are any, nothing else touches but the ground
    forces    by what they are pushed apart: "engine", its own contacts; "penalty", springs and dampers at the points
              that are inside, as in the tracking paper (`engines/penalty.py`)
    """

    itself: bool | str = PHYSICAL
    actors: bool = True
    props: bool = True
    softness: float = 0.0
    friction: float | None = None
    apart: tuple[tuple[str, str], ...] = ()
    only: tuple[tuple[str, str], ...] = ()
    forces: str = "engine"
    bounce: float = 0.0

    def __post_init__(self) -> None:
        if not isinstance(self.itself, bool) and self.itself != PHYSICAL:
            raise InputError(f"'itself' of a touch is '{PHYSICAL}', True or False; given {self.itself!r:.60}.")
        for name in ("actors", "props"):
            if not isinstance(getattr(self, name), bool):
                raise InputError(f"'{name}' of a touch is True or False; given {getattr(self, name)!r:.60}.")
        object.__setattr__(self, "softness", _check(self.softness, "the softness", MOST_SOFTNESS, "s"))
        object.__setattr__(self, "bounce", _check(self.bounce, "the bounce", MOST_BOUNCE, ""))
        if self.friction is not None:
            object.__setattr__(self, "friction", _check(self.friction, "the friction", MOST_FRICTION, ""))
        object.__setattr__(self, "apart", _take_pairs(self.apart, "what stays apart"))
        object.__setattr__(self, "only", _take_pairs(self.only, "what touches only"))
        if self.forces not in FORCES:
            raise InputError(f"the forces of a touch are {' or '.join(map(repr, FORCES))}; given {self.forces!r:.60}.")

    @property
    def is_hard(self) -> bool:
        """Whether things meet as hard as the step allows, and stay where they meet."""
        return self.softness == 0.0 and self.bounce == 0.0


def find_damping(bounce: float) -> float:
    """Of critical, of a spring that gives back a share e of the speed that it is met with.

    e = exp(-pi z / sqrt(1 - z^2))
    """
    if bounce <= 0.0:
        return 1.0
    size = math.log(bounce)
    return -size / math.hypot(math.pi, size)


def _check(value: object, what: str, most: float, unit: str) -> float:
    number = finite_number(value, f"{what} of a touch")
    check_range(f"{what} of a touch", number, 0.0, most, unit)
    return number


def _take_pairs(given: object, what: str) -> tuple[tuple[str, str], ...]:
    pairs = tuple(given) if isinstance(given, tuple | list) else None
    if pairs is None or not all(
        isinstance(pair, tuple | list) and len(pair) == 2 and all(isinstance(name, str) and name for name in pair)
        for pair in pairs
    ):
        raise InputError(f"{what} is pairs of names, as in (('leftHand', 'trunk'),); given {given!r:.80}.")
    if len(pairs) > MOST_PAIRS:
        raise InputError(f"{what} is {len(pairs)} pairs; at most {MOST_PAIRS} can be named. Name parts, or actors.")
    return tuple((str(a), str(b)) for a, b in pairs)
