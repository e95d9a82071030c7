"""Options of a body that no clip gives, and of the loads that a body carries; and the numbers in their texts.

The module imports no body, so that the help of commands which have these options stays quick.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, cast

from poise.errors import InputError
from poise.files.toml import Table
from poise.kinds import brief
from poise.options import NUMBER, File, JobOptions, Option, is_number

if TYPE_CHECKING:
    from poise.body.character import Character
    from poise.world.forces import Load


def parse_numbers(text: str, count: int) -> tuple[float, ...] | None:
    """Return numbers with commas between, as in `0.4,1.2,0.3`; None if these are not so many numbers."""
    pieces = [piece.strip() for piece in text.split(",")]
    if len(pieces) != count or not all(map(is_number, pieces)):
        return None
    return tuple(map(float, pieces))


def parse_pairs(given: Any, parse: Callable[[str], tuple[str, Any]]) -> dict[str, Any]:
    """Return a mapping that was given in Python, or as `name=value` texts that `parse` takes; each name once."""
    if isinstance(given, Mapping):
        return dict(given)
    texts = [given] if isinstance(given, str) or not isinstance(given, Iterable) else list(given)
    found: dict[str, Any] = {}
    for text in texts:
        if not isinstance(text, str):
            raise InputError(f"a dictionary is needed, or name=value texts; got {brief(given)}.")
        name, value = parse(text)
        if name in found:
            raise InputError(f"'{name}' is given twice. Give it once.")
        found[name] = value
    return found


def parse_load(text: str) -> Load:
    """Return the load that a text gives, as in `rightHand=2`: joint and kilograms."""
    from poise.world.forces import Load

    joint, equals, mass = (piece.strip() for piece in text.partition("="))
    number = re.fullmatch(rf"({NUMBER})\s*(?:kg)?", mass)
    if not (joint and equals) or number is None:
        raise InputError(f"a load is written as joint=kilograms, as in rightHand=2; '{text}' was given.")
    return Load(joint, float(number[1]))


def _read_load(table: Table, _folder: Path) -> Load:
    from poise.world.forces import Load

    return Load(table.needed_text("joint"), table.needed_number("mass"))


def _write_loads(loads: Iterable[Load], _locate: Callable[[Any], Any]) -> list[dict[str, Any]]:
    return [{"joint": load.joint, "mass": load.mass} for load in loads]


@dataclass(frozen=True, kw_only=True)
class LoadOptions:
    """Loads that a body carries."""

    title: ClassVar[str] = JobOptions.title

    loads: Annotated[
        Load | str | Iterable[Load | str],
        Option(
            "Something heavy: joint=kg, as in rightHand=2; repeatable.",
            flag="--load",
            key="loads",
            several=True,
            parse=parse_load,
            example="rightHand=2",
            read=_read_load,
            write=_write_loads,
        ),
    ] = ()

    @property
    def carried(self) -> tuple[Load, ...]:
        """The loads, ready for use."""
        return cast("tuple[Load, ...]", self.loads)


@dataclass(frozen=True, kw_only=True)
class BodyOptions:
    """A body that no clip gives: a kind of body of some size, or a character."""

    title: ClassVar[str] = "The body"

    body: Annotated[
        str | None,
        Option(
            "A kind of body: average, fat, thin, short, child, long-leg, locked-knee, one-arm or backpack.",
            default="average",
        ),
    ] = None
    # the ranges of `ReadingOptions`
    height: Annotated[float | None, Option("Stature.", between=(0.3, 3.0), unit="m", default="1.75")] = None
    mass: Annotated[float | None, Option("Mass of the body.", between=(1.0, 1000.0), unit="kg", default="75")] = None
    character: Annotated[
        Character | File | None,
        Option("Body to use: a .json of poise.save_character, or a model: .glb, .gltf, .vrm."),
    ] = None
