"""How a joint is found: alternatives in the order of trust, of which the first that the markers support is used.

A way names the markers that it needs and the function that makes a centre (or axes, or a whole pelvis) of them.
Adding a way to find a joint is adding a line to its table; adding a marker set is adding a table of labels
(`poise.motion.markers.sets`), and no code.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable
from dataclasses import dataclass
from typing import Generic, TypeVar

Made = TypeVar("Made")
LETTERS = {"left": "L", "right": "R"}
SIGNS = {"left": 1.0, "right": -1.0}


@dataclass(frozen=True)
class Way(Generic[Made]):
    """One way to find something.

    needs   standard names of the markers; "*" stands for the letter of the side, "~" for that of the other
    make    gives it, or None where the markers are there but do not tell (a knee that never bends)
    how     a few words, for people
    """

    needs: tuple[str, ...]
    make: Callable[..., Made | None]
    how: str


def name_on(pattern: str, side: str | None) -> str:
    """A standard name for one side: `*KNE` is LKNE on the left."""
    if side is None:
        return pattern
    letter = LETTERS[side]
    return pattern.replace("*", letter).replace("~", "R" if letter == "L" else "L")


def is_supported(way: Way[Made], have: Container[str], side: str | None = None) -> bool:
    """Whether all the markers that a way needs are there."""
    return all(name_on(need, side) in have for need in way.needs)


def follow(
    ways: Iterable[Way[Made]], have: Container[str], side: str | None, *given: object
) -> tuple[Made, Way[Made]] | None:
    """What the first supported way makes of `given`, and which way that was; None where none is supported."""
    for way in ways:
        if is_supported(way, have, side):
            made = way.make(*given) if side is None else way.make(*given, side)
            if made is not None:
                return made, way
    return None
