"""The parser: finds the command, makes it of a job's record where it is a job, checks its words, calls it."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import MISSING
from pathlib import Path
from typing import Annotated, Any, Literal

from cyclopts import App, CycloptsError, Group, MissingArgumentError, Parameter, Token, UnusedCliTokensError
from rich.console import Console

from poise.cli import console as speaking
from poise.cli.commands import COMMANDS
from poise.cli.console import Report, lines, make_printable
from poise.cli.streams import Page
from poise.errors import InputError, unknown_name
from poise.files.output import is_stream
from poise.jobs.job import Answer, Job, find_job
from poise.options import Given, JobOptions, OptionField, list_options, parse_number, parse_whole

_PLACE = re.compile(r"-(?:[.0-9]|inf|nan)[^=]*,", re.IGNORECASE)


def build_app(names: Iterable[str] | None = None) -> App:
    """Return the parser of some commands, or all. Errors are raised, results returned: `main` speaks and exits."""
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
    for name in COMMANDS if names is None else names:
        function = COMMANDS[name].load()
        job = find_job(function)
        app.command(function if job is None else make_command(job), name=name)
    return app


def run(words: list[str]) -> int:
    """Run the command that the words ask for; its exit code. A command that returns None is done: 0."""
    if words[0] not in COMMANDS:
        raise unknown_name("command", words[0], COMMANDS)
    # Numbers with commas that begin with a minus are places, not options: a space keeps the parser from thinking so.
    words = [f" {word}" if _PLACE.match(word) else word for word in words]
    try:
        code = build_app([words[0]])(words)
    except CycloptsError as error:
        raise InputError(f"{_describe(error)} See: poise {words[0]} --help") from error
    return code or 0


def make_command(job: Job[Any, Any]) -> Callable[..., int]:
    """Return a function that cyclopts reads: a parameter per option. It is called with the options that were typed."""
    fields = [each for each in list_options(job.record).values() if each.in_command]
    titles = list(dict.fromkeys(each.group for each in fields if each.group != JobOptions.title))
    groups = {title: Group(title, sort_key=10 * (1 + titles[::-1].index(title))) for title in titles}
    parameters = sorted((_make_parameter(each, groups.get(each.group)) for each in fields), key=lambda each: each.kind)
    parameters.append(
        inspect.Parameter("report", inspect.Parameter.KEYWORD_ONLY, default=speaking.DEFAULT, annotation=Report)
    )
    positional = [each.name for each in fields if each.is_positional]

    def command(*args: Any, report: Report = speaking.DEFAULT, **typed: Any) -> int:
        typed |= dict(zip(positional, args, strict=False))
        given = read_words(job.record, typed)
        if report.seed is not None and "seed" in list_options(job.record):
            given = Given({**given.values, "seed": report.seed}, {**given.words, "seed": "--seed"}, is_typed=True)
        if not job.is_random:
            report.tell_nothing_random()
        result, done = job.start(given, report)
        answer = done.answer or Answer(result)
        report.result(answer.values, _describe_answer(answer))
        return answer.exit_code

    command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    command.__annotations__ = {each.name: each.annotation for each in parameters}
    command.__name__ = job.function.__name__
    command.__doc__ = job.function.__doc__
    return command


def _describe_answer(answer: Answer) -> str:
    if answer.describe is not None:
        return answer.describe(make_printable(answer.values))
    text = lines({key: value for key, value in answer.values.items() if key not in answer.hidden})
    return f"{answer.head}\n{text}" if answer.head else text


def _make_parameter(each: OptionField, group: Group | None) -> inspect.Parameter:
    is_required = each.default is MISSING or each.option.is_needed
    kind = _find_type(each)
    parameter = Parameter(
        help=_write_help(each, is_required), show_default=False, **_choose_settings(each, kind, group)
    )
    return inspect.Parameter(
        each.name,
        inspect.Parameter.POSITIONAL_ONLY if each.is_positional else inspect.Parameter.KEYWORD_ONLY,
        default=inspect.Parameter.empty if is_required else None,
        annotation=Annotated[kind if is_required else kind | None, parameter],
    )


def _find_type(each: OptionField) -> Any:
    """Return the type that cyclopts shows and checks; `read_words` reads the values."""
    option = each.option
    kind: Any = next((kind for kind in (bool, float, int) if kind in each.kinds), Path if each.is_file else str)
    if kind is not bool and (option.parse or option.accept or (str in each.kinds and not each.is_file)):
        kind = str
    if option.choices:
        kind = Literal[option.choices]
    return tuple[kind, ...] if option.several else kind


def _write_help(each: OptionField, is_required: bool) -> str:
    shown = "" if is_required else format_default(each)
    unit = f" [{each.option.unit}]" if each.option.unit else ""
    return each.option.help + unit + (f" [default: {shown}]" if shown else "")


def _choose_settings(each: OptionField, kind: Any, group: Group | None) -> dict[str, Any]:
    option = each.option
    settings: dict[str, Any] = {}
    if not each.is_positional:
        settings["name"] = [flag for flag in (option.short, each.flag) if flag]
        if group is not None:
            settings["group"] = group
    if kind is not bool and not option.choices:
        settings["converter"] = keep_words if option.several else keep_word
    if option.takes_several:
        settings["consume_multiple"] = True
    if each.default is not True:
        settings["negative"] = ""  # otherwise cyclopts adds --no-NAME
    return settings


def format_default(each: OptionField) -> str:
    """Return the default for people; empty if there is none, or nothing in it."""
    is_empty = each.default is MISSING or each.default is None or each.default is False or each.default in ((), {})
    return each.option.default or ("" if is_empty else _format(each.default))


def _format(value: Any) -> str:
    if isinstance(value, tuple):
        return ",".join(map(_format, value))
    return f"{value:g}" if isinstance(value, float) else str(value)


def keep_word(_type: object, tokens: Sequence[Token]) -> str:
    """Keep an option's text for `read_words`."""
    return tokens[0].value


def keep_words(_type: object, tokens: Sequence[Token]) -> tuple[str, ...]:
    return tuple(token.value for token in tokens)


def read_words(record: Any, typed: dict[str, Any]) -> Given:
    """Return typed options as values of the record; InputError that names the option as it is typed."""
    fields = list_options(record)
    values = {name: read_word(fields[name], word) for name, word in typed.items() if word is not None}
    return Given(values, {name: fields[name].words for name in values}, is_typed=True)


def read_word(each: OptionField, word: Any) -> Any:
    """Return the value of an option's text, or of its texts if there can be several."""
    option, name = each.option, each.words
    if option.several:
        return each.accept([_check_path(each, one) for one in word], name)
    if option.parse is None and not option.choices and isinstance(word, str):
        for kind, parse in ((float, parse_number), (int, parse_whole)):
            if kind in each.kinds and str not in each.kinds:
                try:
                    word = parse(word)
                except ValueError as error:
                    raise InputError(f"{name} must be {each.describe_kinds()}: {error}") from error
                break
    return each.accept(_check_path(each, word), name)


def _check_path(each: OptionField, word: Any) -> Any:
    if each.is_file and not str(word).strip():
        raise InputError(f"{each.words} must be {each.describe_kinds()}; the path is empty. Name a file.")
    if each.is_file and not each.option.writes and is_stream(Path(word)):
        raise InputError(f"{each.words} '{word}' is a device or a pipe, and only files are read.")
    return word


def _describe(error: CycloptsError) -> str:
    """The parser's complaint, in our words where its own mislead."""
    if isinstance(error, MissingArgumentError) and error.argument is not None:
        if error.keyword is not None:
            return f"{error.keyword} needs a value after it."
        return f"{error.argument.name} is missing."
    if isinstance(error, UnusedCliTokensError):
        return f"there is no place for {' '.join(map(repr, error.unused_tokens or []))}."
    return " ".join(str(error).split())  # it is laid out in lines
