"""One record per job: its fields are the options of the command line, the Python parameters and the recipe's keys.

    @dataclass(frozen=True, kw_only=True)
    class MixOptions(TakeOptions, SimulationOptions):
        gain: Annotated[float, Option("Coupling gain: 1 is physics.", key="stage.gain", between=(-10, 10))] = 1.0

A value that was not given is absent from `Given`, so the record alone has the defaults. `poise.jobs.job` merges the
values of Python, the command line and a recipe; `poise.cli.parser` makes the command.

A field with `field(init=False)` is no Python parameter: the command line or a recipe alone can set it. A positional
field (`field(kw_only=False)`) is a positional argument of the command as well, unless its `Option` names a flag.

A module of records imports the public classes that its annotations name for type checkers only: `--help` does not need
them. `list_options` puts a stand-in there, which imports the class when a value is compared with it.
"""

from __future__ import annotations

import dataclasses
import difflib
import math
import re
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import MISSING, dataclass
from functools import cache
from os import PathLike
from pathlib import Path
from typing import Annotated, Any, ClassVar, NamedTuple, TypeVar, get_args, get_origin

from poise.errors import InputError, check_range, describe_range
from poise.kinds import Kind, brief, find_kind, list_members

File = str | PathLike[str]  # arrives in the record as a Path
Record = TypeVar("Record")
NUMBER = r"[-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?"  # no 1_000 and no other script's digits, as of float
_ENDLESS = ("inf", "+inf", "-inf", "nan")  # understood, so that an option can say what it allows instead


def is_number(text: str) -> bool:
    """Return whether a text is a number in plain digits, `inf` or `nan`."""
    return text.lower() in _ENDLESS or re.fullmatch(NUMBER, text) is not None


def parse_number(text: str) -> float:
    """Return a number in plain digits; ValueError with a message if it is none, or as large as 1e400."""
    text = text.strip()
    if not is_number(text):
        raise ValueError(f"'{text}' is not a number; write it as in 1.5.")
    value = float(text)
    if math.isinf(value) and text.lower() not in _ENDLESS:
        raise ValueError(f"'{text}' is too large a number.")
    return value


def parse_whole(text: str) -> int:
    """Return an integer; ValueError with a message if it is none, as 1.5, which cyclopts would round."""
    text = text.strip()
    if re.fullmatch(r"[-+]?[0-9]{1,18}", text) is None:
        raise ValueError(f"'{text}' is not a whole number of at most 18 digits.")
    return int(text)


@dataclass(frozen=True)
class Option:
    """Help, names, range and conversions of one field.

    help      one or two sentences for `--help` and the reference page
    flag      long name on the command line; None: from the field's name; "": not an option there
    short     as in "-o"
    key       in a recipe: "table.key", or "key" at the top; "": not in recipes
    between   smallest and largest value, both allowed
    unit      of a number
    choices   allowed texts;  is_open: only the command line is limited to them (plugins may add others)
    several   whether the value is a tuple; the option can be repeated
    takes_several   whether the option takes all arguments up to the next option
    parse     text -> value, or a list of values if `several`; raises InputError with a complete message
    example   text that `parse` takes, for messages
    accept    a Python value -> the value, where `parse` and the annotation do not suffice
    read      of `several`: a recipe's words, or at its top each table (`poise.files.toml.Table`), and its folder -> the
              value, or that of a table
    write     the value and a function for paths -> what a recipe has; None: the value itself
    default   of a default that is computed, for `--help`
    is_recipe whether it is a recipe, whose values are used for options that are not given
    is_needed whether the command line must have it, though Python need not
    writes    whether a path is written; other paths are read, so that a device is refused
    """

    help: str
    flag: str | None = None
    short: str = ""
    key: str = ""
    between: tuple[float, float] | None = None
    unit: str = ""
    choices: tuple[str, ...] = ()
    is_open: bool = False
    several: bool = False
    takes_several: bool = False
    parse: Callable[[str], Any] | None = None
    example: str = ""
    accept: Callable[[Any], Any] | None = None
    read: Callable[[Any, Path], Any] | None = None
    write: Callable[[Any, Callable[[Any], Any]], Any] | None = None
    default: str = ""
    is_recipe: bool = False
    is_needed: bool = False
    writes: bool = False

    def describe_range(self) -> str:
        """Return the allowed range with its unit, as in "from 0 to 1 s"; empty without a range."""
        if self.between is None:
            return ""
        return describe_range(*self.between, self.unit)

    def check(self, value: Any, name: str) -> None:
        """Raise InputError if a number is outside its range or a text is not a choice; None is neither."""
        if self.between is not None and value is not None:
            check_range(name, value, *self.between, self.unit)
        if self.choices and not self.is_open and value is not None and value not in self.choices:
            known = f"{', '.join(self.choices[:-1])} or {self.choices[-1]}"
            near = difflib.get_close_matches(str(value).lower(), self.choices, n=1)
            hint = f" Did you mean '{near[0]}'?" if near else ""
            raise InputError(f"{name} must be {known}; got {value!r:.80}.{hint}")


def _naming(name: str, read: Callable[[Any], Any], value: Any) -> Any:
    """Read an option's value; an error that does not say which option it is about begins with its name."""
    try:
        return read(value)
    except InputError as error:
        if type(error) is not InputError or re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", str(error)):
            raise
        raise InputError(f"{name}: {error}") from None


class OptionField(NamedTuple):
    """A field of a record.

    type           annotation without its `Option`
    default        `dataclasses.MISSING` if a value is required
    group          title of the class that declares it
    is_positional  on the command line: a word without an option
    is_ordered     in Python: can be given without its name
    in_python      whether it is a Python parameter
    """

    name: str
    option: Option
    type: Any
    default: Any
    group: str
    is_positional: bool
    is_ordered: bool
    in_python: bool

    @property
    def flag(self) -> str:
        """The long option, as in "--torque-only"; empty if the command line does not have it."""
        if self.is_positional:
            return ""
        return "--" + self.name.strip("_").replace("_", "-") if self.option.flag is None else self.option.flag

    @property
    def in_command(self) -> bool:
        """Whether the command line has it."""
        return self.is_positional or bool(self.flag)

    @property
    def words(self) -> str:
        """How a message on the command line names it."""
        return self.name if self.is_positional else self.option.short or self.flag

    @property
    def key_words(self) -> str:
        """How a message about a recipe names it."""
        table, dot, key = self.option.key.rpartition(".")
        return f"'{key}' of {f'[{table}]' if dot else 'a recipe'}"

    @property
    def kinds(self) -> tuple[Any, ...]:
        """The alternatives of the annotation; of one item if there can be several."""
        members = list_members(self.type)
        if self.option.several:
            members = [each for each in members if find_origin(each) is not Iterable]
        return tuple(each for each in members if each is not type(None))

    @property
    def is_file(self) -> bool:
        """Whether it takes the path of a file."""
        return any(find_origin(kind) is PathLike for kind in self.kinds)

    def accept(self, value: Any, name: str) -> Any:
        """Return a Python value as the record has it; InputError by the given name if its type or range is wrong."""
        option = self.option
        if option.accept is not None:
            return _naming(name, option.accept, value)
        if option.several:
            single = isinstance(value, str | PathLike) or not isinstance(value, Iterable)
            found: list[Any] = []
            for each in [value] if single else value:
                item = self._accept_one(each, name)
                found += item if isinstance(item, list) else [item]
            return tuple(found)
        value = self._accept_one(value, name)
        option.check(value, name)
        return value

    def _accept_one(self, value: Any, name: str) -> Any:
        kinds = self.kinds
        if isinstance(value, str) and self.option.parse is not None:
            return _naming(name, self.option.parse, value)
        if not any(_fits(find_kind(kind), value) for kind in kinds):
            raise InputError(f"{name} must be {self.describe_kinds()}; got {brief(value)}.")
        if self.is_file and isinstance(value, str | PathLike):
            return Path(value)
        if str in kinds and int in kinds:
            return str(value)  # a name or a number
        return next((kind(value) for kind in (bool, float, int) if kind in kinds and not isinstance(value, str)), value)

    def describe_kinds(self) -> str:
        """Return what it takes, as in "a Clip or the path of a file"."""
        kinds = [kind for kind in self.kinds if not (self.is_file and (kind is str or find_origin(kind) is PathLike))]
        told = [str(getattr(find_kind(kind), "told", kind)).replace("True or False", "true or false") for kind in kinds]
        if self.is_file:
            told.append("the path of a file")
        text = " or ".join(dict.fromkeys(told))
        return f"{text}, as in '{self.option.example}'" if self.option.example else text


def _fits(kind: Kind | None, value: Any) -> bool:
    return kind is None or bool(kind.fits(value))


def find_origin(kind: Any) -> Any:
    """Return the class of a generic annotation, or the annotation itself."""
    return get_origin(kind) or kind


class StandIn(type):
    """The metaclass of stand-ins for public classes, which are imported when a value is compared with them."""

    def __instancecheck__(cls, value: object) -> bool:
        return isinstance(value, getattr(sys.modules["poise"], cls.__name__))


@cache
def make_stand_in(name: str) -> type:
    """Return the stand-in for a public class of `poise`."""
    return StandIn(name, (), {"__module__": "poise"})


class _PublicNames(dict[str, Any]):
    """Stand-ins by name, for the names that a module does not have itself."""

    def __init__(self, own: Mapping[str, Any]):
        super().__init__()
        self._own, self._public = own, sys.modules["poise"].__all__

    def __missing__(self, name: str) -> Any:
        if name in self._own or name not in self._public:
            raise KeyError(name)
        return make_stand_in(name)


def find_annotations(record: Any) -> dict[str, Any]:
    """Return the annotations of a record's fields, with stand-ins for classes that its modules did not import."""
    found = {}
    for owner in reversed(record.__mro__):
        own = vars(sys.modules[owner.__module__])
        names = _PublicNames(own)
        for name, annotation in vars(owner).get("__annotations__", {}).items():
            found[name] = eval(annotation, own, names) if isinstance(annotation, str) else annotation
    return found


@cache
def list_options(record: Any) -> Mapping[str, OptionField]:
    """Return a record's options by field name: positional ones first, then in the order of its fields.

    The title of a group is the `title` of the class that declares the field.
    """
    hints = find_annotations(record)
    found = []
    for each in dataclasses.fields(record):
        hint = hints[each.name]
        option = next((extra for extra in get_args(hint)[1:] if isinstance(extra, Option)), None)
        if get_origin(hint) is not Annotated or option is None:
            raise TypeError(f"{record.__name__}.{each.name} has no Option.")
        owner = next(base for base in record.__mro__ if each.name in vars(base).get("__annotations__", {}))
        default = each.default if each.default_factory is MISSING else each.default_factory()
        group, is_ordered = getattr(owner, "title", "Parameters"), not each.kw_only
        is_positional = is_ordered and not (option.short or option.flag)
        made = OptionField(each.name, option, get_args(hint)[0], default, group, is_positional, is_ordered, each.init)
        found.append(made)
    return {each.name: each for each in sorted(found, key=lambda each: not each.is_ordered)}


def check_options(record: Any, values: Any, spell: Callable[[str], str]) -> None:
    """Raise InputError if an attribute has the wrong type or is out of its range in a record.

    spell   field name -> its words in a message
    """
    for name, each in list_options(record).items():
        value = getattr(values, name)
        if value is not None and (each.option.between or each.option.choices):
            each.accept(value, spell(name))


@dataclass(frozen=True)
class Given:
    """The values that were given, ready for the record, by field name.

    words    how each was given, for messages: "--gain", "gain", "'gain' of [stage] in a.toml"
    is_typed whether the command line is where options can be given, so that messages name them as there
    """

    values: Mapping[str, Any]
    words: Mapping[str, str]
    is_typed: bool = False

    @classmethod
    def from_python(cls, record: Any, values: Mapping[str, Any]) -> Given:
        """Return the arguments of a call. None is the same as no value."""
        fields = list_options(record)
        given = {name: fields[name].accept(value, name) for name, value in values.items() if value is not None}
        return cls(given, {name: name for name in given})

    def over(self, other: Given) -> Given:
        """Return these values, and the other's where there is none. Lists are replaced, not joined."""
        return Given({**other.values, **self.values}, {**other.words, **self.words}, self.is_typed)


@dataclass(frozen=True, kw_only=True)
class JobOptions:
    """Options of every job in Python; on the command line `--json`, `--quiet` and `--seed` take their place.

    title   of a group of options on the command line: each class that declares some has its own
    """

    title: ClassVar[str] = "Parameters"

    tell: Annotated[
        Callable[[str, str], None] | None,
        Option("Called with `note`, `warning` or `progress` and a sentence as it happens.", flag=""),
    ] = None


def build(record: Callable[..., Record], given: Given) -> Record:
    """Return the record of the given values; InputError if a required one is missing."""
    values: dict[str, Any] = {}
    later: dict[str, Any] = {}
    for name, each in list_options(record).items():
        if name in given.values:
            (values if each.in_python else later)[name] = given.values[name]
        elif each.default is MISSING:
            raise InputError(f"{each.words if given.is_typed else name} is missing.")
    made = record(**values)
    for name, value in later.items():
        object.__setattr__(made, name, value)  # `field(init=False)`
    return made
