"""Lines of keys in TOML: every value of a text is its own line's number, so that the parser's values are the oracle."""

from __future__ import annotations

import tomllib

import numpy as np
import pytest

from helpers.errors import rejects
from poise.errors import FileError, InputError
from poise.files.toml import Table, TomlFile, find_line, find_lines

TEXT = '''# nothing here
a = 2
"quoted key" = 3
b.c.d = 4

[table]       # [not = this]
x = 7
text = "a # no comment [[nor a table]] \\" = 5"
raw = 'C:\\path # no'
many = """
one = 1
\\"""
two"""
after = 14
lists = [
    15,  # of the first is this line below
    17, [18, 18],
    {in = 18, "and.so" = 18},
]

[table.below]
y = 22

[[rows]]
n = 25
[[rows]]
n = 27
  [rows.inside]
  z = 29
  [[rows.deep]]
  q = 31
[[rows]]
n = 33
[[rows.deep]]
q = 35
date = 1979-05-27T07:32:00Z
last = {n = 37, m = [37, 37]}'''


def walk(value, at=()):
    """(key, number) of every number in TOML's tables."""
    if isinstance(value, dict):
        for key, each in value.items():
            yield from walk(each, (*at, key))
    elif isinstance(value, list):
        for i, each in enumerate(value):
            yield from walk(each, (*at, i))
    elif isinstance(value, int):
        yield at, value


def test_every_number_is_on_its_own_line():
    text = TEXT.replace("    15,  #", "    16,  #").replace("    17, [18, 18]", "    17, [17, 17]")
    lines, numbers = find_lines(text), dict(walk(tomllib.loads(text)))
    assert len(numbers) == 21
    assert {at: lines[at] for at in numbers} == numbers


def test_windows_ends_of_lines_are_ends_of_lines():
    text = TEXT.replace("    15,  #", "    16,  #").replace("    17, [18, 18]", "    17, [17, 17]")
    crossed = text.replace("\n", "\r\n")
    assert find_lines(crossed) == find_lines(text)


def test_an_unknown_key_is_on_the_line_of_its_table():
    lines = find_lines(TEXT)
    assert find_line(lines, ("table", "below", "nothing")) == 21
    assert find_line(lines, ("rows", 1, "deep", 0, "nothing")) == 30
    assert find_line(lines, ("nothing",)) is None


def test_random_files_are_gone_through_without_a_fault():
    """Built of pieces that are valid; every number is its line."""
    rng = np.random.default_rng(0)
    for _ in range(200):
        rows = []
        for _ in range(rng.integers(1, 30)):
            n = len(rows) + 1
            kind = rng.integers(7)
            rows += {
                0: [f"k{n} = {n}"],
                1: [f"[t{n}.u]"],
                2: ["[[list]]"],
                3: [f"k{n} = [{n}, {n}, [ {n} ], ]  # ]"],
                4: [f"k{n} = [", f"  {n + 1}", "]"],
                5: [f'k{n} = """x', "[y]", '= z"""'],
                6: [f"k{n} = {{ a = {n}, b.c = {n}, 'd e' = [{n}] }}"],
            }[int(kind)]
        text = "\n".join(rows)
        lines = find_lines(text)
        for at, number in walk(tomllib.loads(text)):
            assert lines[at] == number, (text, at)


def test_errors_begin_with_path_and_line(tmp_path):
    path = tmp_path / "a.toml"
    path.write_text("x = 1\n[rows]\ny = 'text'\n")
    with pytest.raises(FileError, match=r"a\.toml:3: 'y' of \[rows\] must be a number"), TomlFile(path) as file:
        Table("all", file.plain).table("rows").number("y")
    file = TomlFile(path)
    rows = Table("all", file.plain).table("rows")
    with pytest.raises(FileError, match=r"a\.toml:2: no such thing"), file, rows.reading():
        raise InputError("no such thing.")
    with pytest.raises(FileError, match=r"a\.toml:1: key of all, 'x'"), TomlFile(path) as file:
        table = Table("all", file.plain)
        table.table("rows")
        table.check_all_read()
    path.write_text("x = 1\ny = = 2\n")
    rejects(lambda: TomlFile(path), "a.toml:2:", "TOML", error=FileError)
    path.write_text("x = 1\n[open\n")
    rejects(lambda: TomlFile(path), "a.toml:2:", "TOML", error=FileError)
    path.write_text("x = 1\n\n[table]\ny = [1,\n")
    rejects(lambda: TomlFile(path), "a.toml:4:", "TOML", error=FileError)
