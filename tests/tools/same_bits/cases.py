"""Cases by name: functions that simulate or write something and return it.

Every case begins from nothing, so that one can be run alone, and runs on both revisions: it uses what `poise` exports
and what `names.find` finds.
"""

from __future__ import annotations

import hashlib
import importlib
import re
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any

# Modules with cases, in the order in which they are run.
MODULES = (
    "files", "motion", "jobs", "commands", "stages", "drivers", "following", "clips", "world", "walking", "puppets",
    "live", "states", "crowds", "demos", "recordings",
)  # fmt: skip


class Skip(Exception):
    """A case cannot be run here: a reason."""


@dataclass(frozen=True)
class Case:
    """One run.

    raises  the name of the error's type that it must end in; any other error fails the guard
    home    the module that it stands in
    """

    name: str
    run: Callable[[], Any]
    raises: str | None = None
    home: str = ""

    @property
    def stamp(self) -> str:
        """A hash of what the case is: the source of its module, and of those that the module takes functions from."""
        return _stamp_of(self.home)


CASES: dict[str, Case] = {}


def add_case(name: str, run: Callable[..., Any], *words: Any, raises: str | None = None, **more: Any) -> None:
    """Have a function run as a case, with arguments."""
    assert name not in CASES, f"two cases are called '{name}'"
    frame: Any = sys._getframe(1)
    while frame.f_globals["__name__"] == __name__:  # `case` below
        frame = frame.f_back
    CASES[name] = Case(name, partial(run, *words, **more), raises, frame.f_globals["__name__"].split(".")[-1])


def case(name: str, raises: str | None = None) -> Callable[[Callable[[], Any]], Callable[[], Any]]:
    """Have a function run as a case."""

    def keep(function: Callable[[], Any]) -> Callable[[], Any]:
        add_case(name, function, raises=raises)
        return function

    return keep


def load_cases() -> dict[str, Case]:
    """All cases of all modules."""
    for module in MODULES:
        importlib.import_module(f"{__package__}.cases_{module}")
    return CASES


def need(module: str) -> None:
    """Skip the case unless a library is there."""
    try:
        importlib.import_module(module)
    except ImportError:
        raise Skip(f"{module} is not installed") from None


@cache
def _stamp_of(module: str) -> str:
    """See `Case.stamp`."""
    text = (Path(__file__).parent / f"{module}.py").read_text(encoding="utf-8")
    others = sorted(set(re.findall(r"^from \.(cases_\w+) import", text, re.MULTILINE)))
    return hashlib.sha256("".join([text, *map(_stamp_of, others)]).encode()).hexdigest()[:16]
