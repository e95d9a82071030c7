"""Names that another program can hold: printable, not too long, not empty, none twice and none of its own."""

from __future__ import annotations

_LONGEST = 200


def fit_name(name: str, taken: set[str], otherwise: str = "joint") -> str:
    """The name itself where it can be held and is free, else the nearest that is; it is taken then.

    taken      names that are in use, or that mean something else in the other program
    otherwise  for a name without a letter
    """
    shown = name[:_LONGEST]
    if not shown.isprintable():
        shown = "".join(mark if mark.isprintable() else "_" for mark in shown)
    shown = shown or otherwise
    fitted, k = shown, 2
    while fitted in taken:
        fitted, k = f"{shown}~{k}", k + 1
    taken.add(fitted)
    return fitted
