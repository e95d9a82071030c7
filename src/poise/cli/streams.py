"""Standard output and standard error: what is printed is safe to look at, and printing never stops the work.

A reader that goes away (`| head`), a full disk behind `>`, a stream that was closed before Poise began: files that were
promised are written all the same. What became of standard output is remembered, and `main` leaves with it.
"""

from __future__ import annotations

import contextlib
import os
import sys

from poise.errors import printable

MOST = 4000  # characters of one sentence: enough for a list of names, not for a file's worth of them
_trouble: OSError | None = None


def prepare() -> None:
    """Begin anew: no trouble yet, streams that stand for descriptors, and no encoding that a name could break.

    A descriptor that was closed goes nowhere from now on; else the next file to be opened would take its number, and
    whatever is printed would end up in it. A joint called 左足 is printed escaped where the encoding lacks it.
    """
    global _trouble
    _trouble = None
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            _open_nowhere()
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115, PTH123
        reconfigure = getattr(getattr(sys, name), "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="backslashreplace")


def _open_nowhere() -> None:
    """Give the descriptors 0 to 2 that are closed to the null device."""
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # takes the lowest number that is free: this one


def tell(text: str) -> None:
    """Print a result on standard output. Lines stay lines; nothing else in it moves a cursor."""
    _write("\n".join(map(printable, text.split("\n"))) + "\n")


def tell_raw(text: str) -> None:
    """Print what Poise itself has laid out, as the help is."""
    _write(text)


def mutter(sentence: str) -> None:
    """Print one line on standard error, if anybody is there to read it. Line ends and tabs in it are written out."""
    line = printable(sentence)
    if len(line) > MOST:
        line = f"{line[:MOST]} ... (and {len(line) - MOST} characters more)"
    with contextlib.suppress(OSError, ValueError):
        print(line, file=sys.stderr, flush=True)


def mutter_lines(text: str) -> None:
    """Print a text on standard error as it is laid out; nothing in it but its line ends moves a cursor."""
    with contextlib.suppress(OSError, ValueError):
        print("\n".join(map(printable, text.rstrip("\n").split("\n"))), file=sys.stderr, flush=True)


def find_trouble() -> OSError | None:
    """What went wrong with standard output, if anything; buffered text is written first."""
    if _trouble is None:
        _write("")
    return _trouble


def give_up(error: OSError) -> None:
    """Remember the first trouble; what is still buffered, and all that is printed from now on, goes nowhere."""
    global _trouble
    _trouble = _trouble or error
    try:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)
    except (OSError, ValueError):  # standard output has no descriptor of its own, as under a test
        sys.stdout = sys.__stdout__ if sys.__stdout__ is not None else sys.stdout


def _write(text: str) -> None:
    if _trouble is not None:
        return
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except OSError as error:
        give_up(error)
    except ValueError:  # somebody closed it
        return


class Page:
    """Standard output as the parser's help wants it: a file to write to."""

    @property
    def encoding(self) -> str:
        """What standard output can show."""
        return getattr(sys.stdout, "encoding", None) or "utf-8"

    def write(self, text: str) -> int:
        """As a file's."""
        tell_raw(text)
        return len(text)

    def flush(self) -> None:
        """Nothing waits."""

    def isatty(self) -> bool:
        """Whether somebody looks at it on a terminal."""
        return sys.stdout.isatty()
