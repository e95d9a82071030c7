"""How a joint is found: alternatives in the order of trust, of which the first that the markers support is used.

A recipe names the markers that it needs and the function that makes a centre (or axes, or a whole pelvis) of them.
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
class Recipe(Generic[Made]):
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


def is_supported(recipe: Recipe[Made], have: Container[str], side: str | None = None) -> bool:
    """Whether all the markers that a recipe needs are there."""
    return all(name_on(need, side) in have for need in recipe.needs)


def follow(
    recipes: Iterable[Recipe[Made]], have: Container[str], side: str | None, *given: object
) -> tuple[Made, Recipe[Made]] | None:
    """What the first supported recipe makes of `given`, and which recipe that was; None where none is supported."""
    for recipe in recipes:
        if is_supported(recipe, have, side):
            made = recipe.make(*given) if side is None else recipe.make(*given, side)
            if made is not None:
                return made, recipe
    return None
