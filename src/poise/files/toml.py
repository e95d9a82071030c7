"""On which line of a TOML file each key and element stands, for errors that say so.

The text is known to be valid: it is only gone through, not judged.

TOML read key by key, with errors that say where they are, and written so that people can read it.

with TomlFile(path) as file:            # an InputError inside becomes a FileError that begins path:line:
    top = Table("a recipe", file.plain)
"""

from __future__ import annotations

import contextlib
import json
import re
import tomllib
from collections.abc import Iterator, Mapping
from os import PathLike
from types import TracebackType
from typing import Any

from poise.errors import FileError, InputError, finite_number, unknown_name
from poise.files.input import MOST_SETTINGS_BYTES, read_bytes

Key = tuple[str | int, ...]
_SPACE = " \t"
_ENDS = ",]}#\r\n"


def find_lines(text: str) -> dict[Key, int]:
    """Keys, from the outermost table inward, with numbers for elements of lists -> line, from 1 on."""
    return _Scan(text).lines


def find_line(lines: Mapping[Key, int], at: Key) -> int | None:
    """The line of a key, or of the nearest table around it; None where not even that is known."""
    for size in range(len(at), 0, -1):
        if at[:size] in lines:
            return lines[at[:size]]
    return None


class _Scan:
    """A walk through a text: `i` is where, `line` on which line."""

    def __init__(self, text: str):
        self.text, self.i, self.line = text, 0, 1
        self.lines: dict[Key, int] = {}
        self._counts: dict[Key, int] = {}  # of tables in lists of tables
        self._go()

    def _go(self) -> None:
        prefix: Key = ()
        while True:
            self._skip_all()
            if self.i >= len(self.text):
                return
            if self.text.startswith("[[", self.i):
                self._move(2)
                path = self._resolve(self._keys())
                self._skip_all()
                self._move(2)
                count = self._counts[path] = self._counts.get(path, -1) + 1
                prefix = (*path, count)
                self.lines.setdefault(path, self.line)
                self.lines[prefix] = self.line
            elif self.text[self.i] == "[":
                self._move(1)
                prefix = self._resolve(self._keys())
                self._move(1)
                self.lines.setdefault(prefix, self.line)
            else:
                self._pair(prefix)

    def _resolve(self, keys: Key) -> Key:
        """The path of a table's name: where it goes through a list of tables, it means the last of them."""
        path: Key = ()
        for k, key in enumerate(keys):
            path = (*path, key)
            if path in self._counts and k < len(keys) - 1:
                path = (*path, self._counts[path])
        return path

    def _pair(self, prefix: Key) -> None:
        line = self.line
        path = (*prefix, *self._keys())
        for size in range(len(prefix) + 1, len(path) + 1):
            self.lines.setdefault(path[:size], line)
        self._move(1)  # the sign of equality
        self._value(path)

    def _keys(self) -> Key:
        """A key, of one word or several with points between; what follows is next."""
        keys: list[str] = []
        while True:
            self._skip(_SPACE)
            start = self.i
            if self.text[self.i] in "\"'":
                self._string()
                keys.append(str(next(iter(tomllib.loads(f"{self.text[start : self.i]} = 0")))))
            else:
                while self.text[self.i] not in " \t.=]":
                    self._move(1)
                keys.append(self.text[start : self.i])
            self._skip(_SPACE)
            if self.text[self.i] != ".":
                return tuple(keys)
            self._move(1)

    def _value(self, path: Key) -> None:
        self._skip(_SPACE)
        here = self.text[self.i]
        if here in "\"'":
            self._string()
        elif here == "[":
            self._move(1)
            count = 0
            while True:
                self._skip_all(",")
                if self.text[self.i] == "]":
                    break
                self.lines[(*path, count)] = self.line
                self._value((*path, count))
                count += 1
            self._move(1)
        elif here == "{":
            self._move(1)
            while True:
                self._skip_all(",")
                if self.text[self.i] == "}":
                    break
                self._pair(path)
            self._move(1)
        else:
            while self.i < len(self.text) and self.text[self.i] not in _ENDS:
                self._move(1)

    def _string(self) -> None:
        quote = self.text[self.i]
        fence = quote * 3 if self.text.startswith(quote * 3, self.i) else quote
        self._move(len(fence))
        while not self.text.startswith(fence, self.i):
            self._move(2 if quote == '"' and self.text[self.i] == "\\" else 1)
        self._move(len(fence))
        while len(fence) == 3 and self.i < len(self.text) and self.text[self.i] == quote:
            self._move(1)  # quotes just before the closing ones belong to the text

    def _skip(self, what: str) -> None:
        while self.i < len(self.text) and self.text[self.i] in what:
            self._move(1)

    def _skip_all(self, more: str = "") -> None:
        """Past spaces, ends of lines and comments."""
        while self.i < len(self.text):
            if self.text[self.i] == "#":
                while self.i < len(self.text) and self.text[self.i] != "\n":
                    self._move(1)
            elif self.text[self.i] in " \t\r\n" + more:
                self._move(1)
            else:
                return

    def _move(self, count: int) -> None:
        self.line += self.text.count("\n", self.i, self.i + count)
        self.i += count


class PlacedError(InputError):
    """What is wrong with the value of a key. at: the key, from the outermost table inward"""

    def __init__(self, message: str, at: Key):
        super().__init__(message)
        self.at = at


class TomlFile:
    """The tables of a TOML file, `plain`; used with `with`, it adds path and line to errors."""

    def __init__(self, path: str | PathLike[str]):
        self.path, data = path, read_bytes(path, MOST_SETTINGS_BYTES, may_be_empty=True)
        try:
            self._text = data.decode("utf-8-sig")
            self.plain: dict[str, Any] = tomllib.loads(self._text)
        except (ValueError, RecursionError) as error:
            raise FileError(path, f"is not valid TOML: {error}.", _find_fault(str(error), data)) from error

    def __enter__(self) -> TomlFile:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if isinstance(error, InputError):
            at = error.at if isinstance(error, PlacedError) else ()
            raise FileError(self.path, str(error), find_line(find_lines(self._text), at)) from error


def _find_fault(said: str, data: bytes) -> int | None:
    """The line that the parser names in its words, if any."""
    if "(at end of document)" in said:
        return data.rstrip(b"\r\n").count(b"\n") + 1
    line = re.search(r"\(at line ([0-9]+), column", said)
    return None if line is None else int(line[1])


class Table:
    """One table, read key by key. Keys that nobody reads are refused: a misspelt one would be ignored in silence."""

    def __init__(self, what: str, value: object, at: Key = ()):
        if not isinstance(value, dict):
            raise PlacedError(f"{what} must be a table.", at)
        self.what, self.at, self._value, self._read = what, at, value, set[str]()

    def __contains__(self, key: str) -> bool:
        return key in self._value

    def __len__(self) -> int:
        return len(self._value)

    def peek(self, key: str) -> Any:
        """What a key has, of whatever kind, without having read it; None where it is not there."""
        return self._value.get(key)

    def _get(self, key: str) -> Any:
        self._read.add(key)
        return self._value.get(key)

    def wrong(self, key: str | None, message: str) -> PlacedError:
        """The error of a key, which knows where it stands; None: of the table."""
        return PlacedError(message, self.at if key is None else (*self.at, key))

    @contextlib.contextmanager
    def reading(self, key: str | None = None) -> Iterator[None]:
        """Have errors inside know that they are of a key, or of the table."""
        try:
            yield
        except PlacedError:
            raise
        except InputError as error:
            raise self.wrong(key, str(error)) from error

    def _finite(self, value: object, key: str) -> float:
        with self.reading(key):
            return finite_number(value, f"'{key}' of {self.what}")

    def text(self, key: str) -> str | None:
        """Text, or None where there is none."""
        value = self._get(key)
        if value is not None and not (isinstance(value, str) and value):
            raise self.wrong(key, f"'{key}' of {self.what} must be text.")
        return value

    def needed_text(self, key: str) -> str:
        """Text that must be there."""
        value = self.text(key)
        if value is None:
            raise self.wrong(key, f"{self.what} lacks '{key}'.")
        return value

    def number(self, key: str) -> float | None:
        """A finite number, or None where there is none."""
        value = self._get(key)
        return None if value is None else self._finite(value, key)

    def whole(self, key: str) -> int | None:
        """A whole number from 0 on, or None where there is none."""
        value = self._get(key)
        if value is not None and (isinstance(value, bool) or not isinstance(value, int) or value < 0):
            shown = f"; {value!r} given" if isinstance(value, int | float) else ""
            raise self.wrong(key, f"'{key}' of {self.what} must be a whole number from 0 on{shown}.")
        return value

    def needed_number(self, key: str) -> float:
        """A number that must be there."""
        value = self.number(key)
        if value is None:
            raise self.wrong(key, f"{self.what} lacks '{key}'.")
        return value

    def flag(self, key: str) -> bool | None:
        """True or false, or None where there is neither."""
        value = self._get(key)
        if value is not None and not isinstance(value, bool):
            raise self.wrong(key, f"'{key}' of {self.what} must be true or false.")
        return value

    def flag_or_word(self, key: str, word: str) -> bool | str | None:
        """True, false or one word; None where there is none of them."""
        value = self._get(key)
        if value is not None and not isinstance(value, bool) and value != word:
            raise self.wrong(key, f"'{key}' of {self.what} must be true, false or \"{word}\".")
        return value

    def numbers(self, key: str, count: int) -> tuple[float, ...] | None:
        """A list of so many numbers, or None where there is none."""
        value = self._get(key)
        if value is None:
            return None
        if not isinstance(value, list) or len(value) != count:
            raise self.wrong(key, f"'{key}' of {self.what} must be a list of {count} numbers.")
        return tuple(self._finite(each, key) for each in value)

    def row(self, key: str, most: int) -> tuple[float, ...] | None:
        """A list of at most so many numbers, or None where there is none."""
        value = self._get(key)
        if value is None:
            return None
        if not isinstance(value, list) or len(value) > most:
            raise self.wrong(key, f"'{key}' of {self.what} must be a list of at most {most} numbers.")
        return tuple(self._finite(each, key) for each in value)

    def items(self, key: str, most: int) -> list[str | dict[str, Any]]:
        """A list of words and tables, of at most so many; none where there is none."""
        value = self._get(key)
        if value is None:
            return []
        if (
            not isinstance(value, list)
            or len(value) > most
            or not all(isinstance(each, dict) or (isinstance(each, str) and each) for each in value)
        ):
            raise self.wrong(key, f"'{key}' of {self.what} must be a list of at most {most} names or tables.")
        return value

    def rows(self, key: str) -> list[list[float]] | None:
        """A list of lists of numbers, all as long, or None where there is none."""
        value = self._get(key)
        if value is None:
            return None
        if not isinstance(value, list) or not value or not all(isinstance(row, list) for row in value):
            raise self.wrong(key, f"'{key}' of {self.what} must be a list of rows, each a list of numbers.")
        if len({len(row) for row in value}) > 1:
            raise self.wrong(key, f"the rows of '{key}' of {self.what} must all have as many numbers.")
        return [[self._finite(each, key) for each in row] for row in value]

    def words(self, key: str) -> tuple[str, ...] | None:
        """A list of text, or None where there is none."""
        value = self._get(key)
        if value is None:
            return None
        if not isinstance(value, list) or not all(isinstance(word, str) and word for word in value):
            raise self.wrong(key, f"'{key}' of {self.what} must be a list of words.")
        return tuple(value)

    def pairs(self, key: str) -> tuple[tuple[str, ...], ...] | None:
        """A list of lists of two words, or None where there is none."""
        value = self._get(key)
        if value is None:
            return None
        if not isinstance(value, list) or not all(
            isinstance(pair, list) and len(pair) == 2 and all(isinstance(word, str) and word for word in pair)
            for pair in value
        ):
            raise self.wrong(key, f"'{key}' of {self.what} must be a list of pairs of words.")
        return tuple(tuple(pair) for pair in value)

    def table(self, key: str) -> Table:
        """A table inside; an empty one where there is none."""
        value = self._get(key)
        return Table(f"[{key}]", {} if value is None else value, (*self.at, key))

    def tables(self, key: str, most: int = 1000) -> list[Table]:
        """A list of tables inside."""
        value = self._get(key)
        if value is None:
            return []
        if not isinstance(value, list) or len(value) > most:
            raise self.wrong(key, f"'{key}' must be a list of at most {most} tables, each begun by [[{key}]].")
        return [Table(f"[[{key}]] {i + 1}", each, (*self.at, key, i)) for i, each in enumerate(value)]

    def named(self, key: str) -> dict[str, Table]:
        """Tables inside a table, by their names."""
        inside = self.table(key)
        return {name: Table(f"[{key}.{name}]", value, (*inside.at, name)) for name, value in inside.rest().items()}

    def rest(self) -> dict[str, Any]:
        """All that nobody has read so far, as it is."""
        found = {key: value for key, value in self._value.items() if key not in self._read}
        self._read.update(found)
        return found

    def check_all_read(self) -> None:
        """Refuse what nobody asked for."""
        extra = [key for key in self._value if key not in self._read]
        if extra:
            raise self.wrong(extra[0], str(unknown_name(f"key of {self.what},", extra[0], sorted(self._read))))


def format_toml(tables: Mapping[str, Any]) -> str:
    """TOML of values, tables of values, and lists of tables, in the order given. None and empty ones are left out."""
    lines = [f"{key} = {_format(value)}" for key, value in tables.items() if _is_value(value)]
    for key, value in tables.items():
        if isinstance(value, Mapping):
            rows = _rows(value)
            lines += ["", f"[{key}]", *rows] if rows else []
        elif isinstance(value, list) and value and isinstance(value[0], Mapping):
            for each in value:
                lines += ["", f"[[{key}]]", *_rows(each)]
    return "\n".join(lines).lstrip("\n") + "\n"


def _is_value(value: Any) -> bool:
    is_tables = isinstance(value, list) and (not value or isinstance(value[0], Mapping))
    return value is not None and not isinstance(value, Mapping) and not is_tables


def _rows(table: Mapping[str, Any]) -> list[str]:
    return [f"{key} = {_format(value)}" for key, value in table.items() if value is not None and value != ()]


def _format(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float | int):
        return repr(value)
    if isinstance(value, str):
        # JSON's escapes are TOML's too, but for DEL, which JSON leaves as it is.
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    return "[" + ", ".join(_format(each) for each in value) + "]"
