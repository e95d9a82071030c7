"""Whoever asks for something to be read or done: what it is told on the way, and how it names options.

A command prints what it is told and has its options spelt as on the command line; Python keeps the sentences.
"""

from __future__ import annotations

from collections.abc import Callable

# What is called otherwise in Python. What is written has no parameter of its own: suffixes say what each file is.
_WORDS = {
    "stage": "scenery",
    "pin": "pinned",
    "output": "the output",
    "film": "the film",
    "plot": "the plot",
    "save_recipe": "the recipe",
}


class Reporter:
    """One that hears nothing, and names options as Python does.

    json   whether standard output has one JSON object and nothing else
    """

    json: bool = False

    def note(self, sentence: str) -> None:
        """Hear what was guessed, and how to say it yourself."""

    def warn(self, sentence: str) -> None:
        """Hear what may be wrong with the input or the result."""

    def fail(self, sentence: str) -> None:
        """Hear that one of several files failed; the others are done."""

    def show(self, line: str) -> None:
        """Hear a line of the result that is ready before the others."""

    def progress(self, sentence: str) -> None:
        """Hear what is being done now."""

    def advance(self, what: str, done: int, total: int) -> None:
        """Hear how much of something long is done."""

    def spell(self, option: str) -> str:
        """An option as this audience would write it."""
        return _WORDS.get(option, option)


class RecordingReporter(Reporter):
    """One that keeps what it hears.

    tell  called with each sentence as it comes and its kind: `note`, `warning` or `progress`
    """

    def __init__(self, tell: Callable[[str, str], None] | None = None):
        self.notes: list[str] = []
        self.warnings: list[str] = []
        self._tell = tell

    def note(self, sentence: str) -> None:
        """See `Reporter`."""
        self.notes.append(sentence)
        self._pass_on("note", sentence)

    def warn(self, sentence: str) -> None:
        """See `Reporter`."""
        self.warnings.append(sentence)
        self._pass_on("warning", sentence)

    def progress(self, sentence: str) -> None:
        """See `Reporter`."""
        self._pass_on("progress", sentence)

    def _pass_on(self, kind: str, sentence: str) -> None:
        if self._tell is not None:
            self._tell(kind, sentence)


SILENT = Reporter()
