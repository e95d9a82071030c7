"""Findings: facts about a file, its markers or its motion, for jobs to use and people to read."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal

Origin = Literal["given", "stated", "guessed"]


@dataclass(frozen=True)
class Finding:
    """One fact about an input: a decision that was made about it, or something odd in it.

    kind     its subject: "unit", "up axis", "added T-pose", ... Callers ask by it, never by a text
    message  the rest of a sentence that begins with the kind; of a decision its reason, without full stop
    value    the figure, if it has one: metres a unit, the name of an axis, a number of frames, degrees, ...
    origin   of a decision: "given" by the caller, "stated" by the file, or "guessed"; None: a warning
    option   the option that overrides a decision, for a reporter to spell; None if there is none
    """

    kind: str
    message: str
    value: Any = None
    origin: Origin | None = None
    option: str | None = None

    @property
    def sentence(self) -> str:
        """The finding for people; it begins with its kind, so that it can be searched for."""
        return f"{self.kind}: {self.message}"


def list_warnings(findings: Iterable[Finding]) -> tuple[str, ...]:
    """Return the sentences of those findings that are warnings."""
    return tuple(finding.sentence for finding in findings if finding.origin is None)


def list_names(names: Iterable[str], most: int = 6) -> str:
    """Return names with commas: the first `most`, and the number of the others."""
    names = list(names)
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more
