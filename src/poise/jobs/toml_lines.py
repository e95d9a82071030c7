"""On which line of a TOML file each key and element stands, for errors that say so.

The text is known to be valid: it is only gone through, not judged.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping

Key = tuple[str | int, ...]
_SPACE = " \t"
_ENDS = ",]}#\r\n"
_LIST = ("[", "]")


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
