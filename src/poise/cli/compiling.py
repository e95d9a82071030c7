"""A first run compiles for about half a minute: said once, with a bar where there is a terminal."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from poise.spatial.compile import on_compile

SENTENCE = "compiling kernels, once: about half a minute"
_WIDTH = 30  # characters of the bar


@contextmanager
def tell_compiling(quiet: bool) -> Iterator[None]:
    """Tell on standard error, while the context lasts, that kernels are compiled; nothing where quiet."""
    _BAR.is_told = False
    on_compile(None if quiet else _BAR.tell)
    try:
        yield
    finally:
        on_compile(None)
        wipe()


def wipe() -> None:
    """Wipe the bar away, if there is one, so that something else can be said in its place."""
    if _BAR.length:
        print(f"\r{' ' * _BAR.length}\r", end="", file=sys.stderr, flush=True)
    _BAR.length = 0


def draw_bar(what: str, done: int, total: int) -> None:
    """Draw a bar of how much of something is done, in the same place, on a terminal only; wipe it when all of it is."""
    if done >= total:
        wipe()
    elif sys.stderr.isatty():
        _BAR.draw(what, done, total)


class _Bar:
    """One plain line, or on a terminal one that is written over and over, and wiped away in the end."""

    def __init__(self) -> None:
        self.length, self.is_told = 0, False

    def tell(self, count: int, known: int) -> None:
        """`count` of `known` kernels, some of which may never be asked for, are compiled or in work."""
        if sys.stderr.isatty():
            self.draw(SENTENCE, count, known)
        elif not self.is_told:
            print(f"poise: {SENTENCE}", file=sys.stderr, flush=True)
        self.is_told = True

    def draw(self, what: str, count: int, known: int) -> None:
        """Write the line over what is there."""
        done = min(_WIDTH, _WIDTH * count // max(known, 1))
        text = f"poise: {what} [{'#' * done}{'.' * (_WIDTH - done)}]"
        print(f"\r{text:<{self.length}}", end="", file=sys.stderr, flush=True)
        self.length = len(text)


_BAR = _Bar()
