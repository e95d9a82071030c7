"""A job: a function of an options record, which Python, the command line and recipes call in the same way.

    @job(MixOptions)
    def mix(options: MixOptions, run: Run) -> Mix:
        '''Put physics on a part of a body.'''

`mix(clip, gain=0.5)` is then a Python call with the record's fields as parameters. `Job.start` is the only place
where the values of a call or a command are merged with those of a recipe.
"""

from __future__ import annotations

import functools
import inspect
import os
from collections.abc import Callable, Mapping
from dataclasses import MISSING, dataclass
from os import PathLike
from pathlib import Path
from typing import Any, Generic, ParamSpec, TypeVar

from poise.errors import InputError
from poise.files.reporting import RecordingReporter, Reporter
from poise.files.toml import Table, TomlFile, format_toml
from poise.options import Given, OptionField, build, list_options

P = ParamSpec("P")
Options = TypeVar("Options")
Result = TypeVar("Result")
RECIPE = "poise-recipe 1"


@dataclass(frozen=True)
class Answer:
    """What a command prints of a result.

    values    its JSON object
    describe  the object as text for people; None: a line per value
    head      text before these lines
    hidden    values that have no line
    """

    values: Mapping[str, Any]
    describe: Callable[[dict[str, Any]], str] | None = None
    exit_code: int = 0
    head: str = ""
    hidden: tuple[str, ...] = ()


class Run(RecordingReporter):
    """One run of a job: what was given, where messages go, and what the command prints in the end."""

    def __init__(self, record: Any, given: Given, audience: Reporter):
        super().__init__()
        self.given, self.audience, self.json = given, audience, audience.json
        self.answer: Answer | None = None
        self._fields = list_options(record)
        self._by_flag = {each.flag.strip("-").replace("-", "_"): each for each in self._fields.values() if each.flag}

    def is_given(self, name: str) -> bool:
        """Return whether an option was given: in the call, on the command line or in the recipe."""
        return name in self.given.values

    def spell(self, option: str) -> str:
        """Return an option as it was given, or as it could be. option: its field, or its flag with underscores."""
        each = self._fields.get(option) or self._by_flag.get(option)
        if each is None:
            return self.audience.spell(option)
        if each.name in self.given.words:
            return self.given.words[each.name]
        if self.given.is_typed and each.in_command:
            return each.words
        return each.name if each.in_python else super().spell(option)

    def note(self, sentence: str) -> None:
        """See `Reporter`."""
        super().note(sentence)
        self.audience.note(sentence)

    def warn(self, sentence: str) -> None:
        """See `Reporter`."""
        super().warn(sentence)
        self.audience.warn(sentence)

    def fail(self, sentence: str) -> None:
        """See `Reporter`."""
        self.audience.fail(sentence)

    def show(self, line: str) -> None:
        """See `Reporter`."""
        self.audience.show(line)

    def progress(self, sentence: str) -> None:
        """See `Reporter`."""
        self.audience.progress(sentence)

    def advance(self, what: str, done: int, total: int) -> None:
        """See `Reporter`."""
        self.audience.advance(what, done, total)


class Job(Generic[Options, Result]):
    """A function with its options record. record: the class of `Options`; is_random: whether it uses `--seed`."""

    def __init__(self, function: Callable[[Options, Run], Result], record: Callable[..., Options], is_random: bool):
        self.function, self.record, self.is_random = function, record, is_random

    def start(self, given: Given, audience: Reporter) -> tuple[Result, Run]:
        """Run with what was given, over what its recipe has."""
        for name, each in list_options(self.record).items():
            if each.option.is_recipe and name in given.values:
                given = given.over(load_recipe(self.record, given.values[name]))
        run = Run(self.record, given, audience)
        return self.function(build(self.record, given), run), run


def job(
    record: Callable[P, Options], is_random: bool = False
) -> Callable[[Callable[[Options, Run], Result]], Callable[P, Result]]:
    """Make a function of a record and a `Run` a job: a Python function of the record's fields."""

    def decorate(function: Callable[[Options, Run], Result]) -> Callable[P, Result]:
        made = Job(function, record, is_random)
        signature = find_signature(record, _find_result(function))

        def call(*args: P.args, **kwargs: P.kwargs) -> Result:
            try:
                bound = signature.bind(*args, **kwargs).arguments
            except TypeError as error:
                raise TypeError(f"{function.__name__}() {error}") from None
            tell = bound.pop("tell", None)
            given = Given.from_python(record, bound if tell is None else {**bound, "tell": tell})
            return made.start(given, RecordingReporter(tell))[0]

        functools.update_wrapper(call, function)
        del call.__wrapped__  # type: ignore[attr-defined]
        call.__doc__ = f"{inspect.getdoc(function)}\n\n{describe_parameters(record)}"
        call.__signature__ = signature  # type: ignore[attr-defined]
        call.__annotations__ = {name: each.annotation for name, each in signature.parameters.items()}
        call.__annotations__["return"] = signature.return_annotation
        call.job = made  # type: ignore[attr-defined]
        return call

    return decorate


def _find_result(function: Callable[..., Any]) -> Any:
    """Return what a function returns, or the name of it if only type checkers know it."""
    try:
        return inspect.signature(function, eval_str=True).return_annotation
    except NameError:
        return inspect.signature(function).return_annotation


def find_job(function: Any) -> Job[Any, Any] | None:
    """Return the job of a function that `job` made; None of another function."""
    return getattr(function, "job", None)


def find_signature(record: Any, result: Any = inspect.Signature.empty) -> inspect.Signature:
    """Return the Python signature of a record: its fields, with plain types."""
    parameters = []
    for each in list_options(record).values():
        if each.in_python:
            kind = inspect.Parameter.POSITIONAL_OR_KEYWORD if each.is_ordered else inspect.Parameter.KEYWORD_ONLY
            default = inspect.Parameter.empty if each.default is MISSING else each.default
            parameters.append(inspect.Parameter(each.name, kind, default=default, annotation=each.type))
    return inspect.Signature(parameters, return_annotation=result)


def describe_parameters(record: Any) -> str:
    """Return a line or more per Python parameter: its name, help and range."""
    fields = [each for each in list_options(record).values() if each.in_python]
    width = max(len(each.name) for each in fields)
    return "\n".join(f"{each.name:<{width}}  {describe(each)}" for each in fields)


def describe(each: OptionField) -> str:
    """Return the help of an option with its range."""
    limits = each.option.describe_range() or ", ".join(each.option.choices)
    return f"{each.option.help} ({limits})" if limits else each.option.help


# -- recipes


def load_recipe(record: Any, path: str | PathLike[str]) -> Given:
    """Read the values that a recipe has; FileError with the line of what is wrong."""
    with TomlFile(path) as file:
        given = parse_recipe(record, file.plain, Path(path).parent)
    return Given(given.values, {name: f"{words} in {path}" for name, words in given.words.items()})


def parse_recipe(record: Any, plain: object, folder: Path) -> Given:
    """Return the values of TOML's tables. folder: the one that paths count from."""
    top = Table("a recipe", plain)
    if top.text("format") != RECIPE:
        raise InputError(f'is no recipe of this program: it must begin with format = "{RECIPE}".')
    fields = [each for each in list_options(record).values() if each.option.key]
    tables = {name: top.table(name) for each in fields for name in [each.option.key.rpartition(".")[0]] if name}
    values, words, read = {}, {}, [top, *tables.values()]
    for each in fields:
        name, _, key = each.option.key.rpartition(".")
        table = tables[name] if name else top
        if key not in table:
            getattr(table, _getter(each))(key)  # so that it is a key that is known
            continue
        value = _read(each, table, key, folder, read)
        if key in table:
            values[each.name], words[each.name] = value, each.key_words
    for table in read:
        table.check_all_read()
    return Given(values, words)


def _getter(each: OptionField) -> str:
    kinds = each.kinds
    if str in kinds:
        return "text"  # a path too
    return "flag" if bool in kinds else "number" if float in kinds else "whole" if int in kinds else "text"


def _read(each: OptionField, table: Table, key: str, folder: Path, read: list[Table]) -> Any:
    """Return the value of a key. read: tables in which every key must have been read in the end."""
    option = each.option
    if option.several and option.read is not None and table.what == "a recipe":  # a list of tables
        rows = table.tables(key)
        read += rows
        return tuple(option.read(row, folder) for row in rows)
    with table.reading(key):
        if option.several:
            words = table.words(key) or ()
            return tuple(words) if option.read is None else option.read(words, folder)
        value = getattr(table, _getter(each))(key)
        return each.accept(folder / value if each.is_file else value, each.key_words)


def format_recipe(record: Any, given: Mapping[str, Any], folder: Path) -> str:
    """Return values as a recipe, its paths counted from a folder."""

    def locate(file: object) -> str:
        if not isinstance(file, Path):
            raise InputError(
                f"a recipe names files, and a {type(file).__name__} was given as it is. Save it and give its path, or "
                "leave out the recipe."
            )
        try:
            return Path(os.path.relpath(file, folder)).as_posix()
        except ValueError:  # another drive
            return str(file)

    tables: dict[str, Any] = {"format": RECIPE}
    for each in list_options(record).values():
        if not each.option.key:
            continue
        table, _, key = each.option.key.rpartition(".")
        inside = tables.setdefault(table, {}) if table else tables
        if each.name in given:
            value = given[each.name]
            value = each.option.write(value, locate) if each.option.write else locate(value) if each.is_file else value
            inside[key] = list(value) if isinstance(value, tuple) else value
    return format_toml(tables)
