"""The parser: finds the command, checks its words, calls it."""

from __future__ import annotations

import re

from cyclopts import App, CycloptsError, MissingArgumentError, UnusedCliTokensError
from rich.console import Console

from poise.cli.commands import COMMANDS
from poise.cli.streams import Page
from poise.errors import InputError, unknown_name

_PLACE = re.compile(r"-(?:[.0-9]|inf|nan)[^=]*,", re.IGNORECASE)


def build_app() -> App:
    """All commands, none of them imported yet. Errors are raised, results returned: `main` speaks and exits."""
    app = App(
        name="poise",
        help_format="plaintext",
        help_epilogue="--debug shows the traceback of an error.",
        print_error=False,
        exit_on_error=False,
        suppress_keyboard_interrupt=False,
        result_action="return_value",
        console=Console(file=Page()),  # type: ignore[arg-type]
    )
    for name, entry in COMMANDS.items():
        app.command(entry.target, name=name)
    return app


def run(words: list[str]) -> int:
    """Run the command that the words ask for; its exit code. A command that returns None is done: 0."""
    if words[0] not in COMMANDS:
        raise unknown_name("command", words[0], COMMANDS)
    # Numbers with commas that begin with a minus are places, not options: a space keeps the parser from thinking so.
    words = [f" {word}" if _PLACE.match(word) else word for word in words]
    try:
        code = build_app()(words)
    except CycloptsError as error:
        raise InputError(f"{_describe(error)} See: poise {words[0]} --help") from error
    return code or 0


def _describe(error: CycloptsError) -> str:
    """The parser's complaint, in our words where its own mislead."""
    if isinstance(error, MissingArgumentError) and error.argument is not None:
        if error.keyword is not None:
            return f"{error.keyword} needs a value after it."
        return f"{error.argument.name} is missing."
    if isinstance(error, UnusedCliTokensError):
        return f"there is no place for {' '.join(map(repr, error.unused_tokens or []))}."
    return " ".join(str(error).split())  # it is laid out in lines
