"""What every command shares: exit codes, errors of one sentence, --json alone on standard output; and how to time."""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

import poise
import poise.extend
import poise.files
import poise.motion
from helpers.errors import rejects
from poise import __version__
from poise.bench import BENCHES
from poise.bench.harness import Timings, measure
from poise.cli import main
from poise.cli.commands import COMMANDS
from poise.cli.console import DEFAULT, Report, plain
from poise.demos import DEMOS
from poise.errors import FileError, InputError, PoiseError
from poise.registry import Entry, choose


def play(what: str = "fine", /, *, report: Report = DEFAULT) -> int | None:
    """A command that ends in the way it is told."""
    report.note("guessed the mass.")
    endings = {
        "input": InputError("the mass must be positive; -3 kg given."),
        "file": FileError("walk.bvh", "the frame has 93 values, the HIERARCHY declares 96.", 212),
        "name": FileError("a\tb\n  c.bvh", "there is no such file."),
        "missing": FileNotFoundError(2, "No such file or directory", "walk.bvh"),
        "fault": ZeroDivisionError("division by zero"),
        "interrupt": KeyboardInterrupt(),
        "pipe": BrokenPipeError(),
    }
    if what in endings:
        raise endings[what]
    report.result({"name": "左足", "value": np.float64(0.5), "bad": np.nan, "rows": np.arange(3), "ok": np.True_})
    return 1 if what == "failed" else None


@pytest.fixture(autouse=True)
def command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(COMMANDS, "play", Entry(f"{__name__}:play", "a command for the tests"))


def run(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    code = main(words)
    out, err = capsys.readouterr()
    return code, out, err


@pytest.mark.parametrize("words", [(), ("--help",), ("-h",)])
def test_the_overview_names_every_command(capsys: pytest.CaptureFixture[str], words: tuple[str, ...]) -> None:
    code, out, err = run(capsys, *words)
    assert (code, err) == (0, "")
    for name, entry in COMMANDS.items():
        assert any(line.split()[:1] == [name] and line.endswith(entry.summary) for line in out.splitlines())


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(capsys, "--version") == (0, f"{__version__}\n", "")


@pytest.mark.parametrize("name", [name for name in COMMANDS if name != "play"])
@pytest.mark.many(6)
def test_help_of_every_command(capsys: pytest.CaptureFixture[str], name: str) -> None:
    code, out, _ = run(capsys, name, "--help")
    assert code == 0
    for option in ("--json", "--quiet", "--seed", "--debug"):
        assert option in out


@pytest.mark.parametrize("entry", [*COMMANDS.values(), *DEMOS.values(), *BENCHES.values()], ids=lambda e: e.target)
def test_every_entry_can_be_loaded(entry: Entry) -> None:
    assert callable(entry.load())


def test_json_is_one_object_and_nothing_else(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(capsys, "play", "--json")
    assert code == 0
    assert json.loads(out) == {"name": "左足", "value": 0.5, "bad": None, "rows": [0, 1, 2], "ok": True}
    assert err == "poise: guessed the mass.\n"


def test_quiet_leaves_the_result(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(capsys, "play", "--quiet")
    assert (code, err) == (0, "")
    assert "左足" in out


def test_a_failed_check_still_prints_its_object(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "play", "failed", "--json")
    assert code == 1
    assert json.loads(out)["value"] == 0.5


@pytest.mark.parametrize(
    ("words", "code", "sentence"),
    [
        (["play", "input"], 2, "poise: the mass must be positive; -3 kg given."),
        (["play", "file"], 2, "poise: walk.bvh:212: the frame has 93 values, the HIERARCHY declares 96."),
        (["play", "name"], 2, "poise: a\\tb\\n  c.bvh: there is no such file.\n"),
        (["play", "missing"], 2, "poise: walk.bvh: No such file or directory."),
        (["pla"], 2, "poise: command 'pla' is not known. Did you mean 'play'?"),
        (["play", "--jsn"], 2, "--jsn"),
        (["play", "--seed", "x"], 2, "--seed"),
        (["play", "one", "two"], 2, "two"),
        (["info"], 2, "See: poise info --help"),
        (["--nonsense"], 2, "--nonsense"),
        (["play", "fault"], 70, "a fault in Poise, not in your input: ZeroDivisionError: division by zero."),
    ],
)
def test_an_error_is_one_line(capsys: pytest.CaptureFixture[str], words: list[str], code: int, sentence: str) -> None:
    got, out, err = run(capsys, *words, "--quiet")
    assert got == code
    assert out == ""
    assert sentence in err
    assert err.startswith("poise: ")
    assert err.count("\n") == 1


@pytest.mark.parametrize("place", [0, 1, 2])
def test_debug_shows_the_traceback_wherever_it_stands(capsys: pytest.CaptureFixture[str], place: int) -> None:
    words = ["play", "input"]
    code, _, err = run(capsys, *words[:place], "--debug", *words[place:])
    assert code == 2
    assert "Traceback" in err
    assert err.splitlines()[-1] == "poise: the mass must be positive; -3 kg given."


def test_interrupted_and_unheard(capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["play", "interrupt", "--quiet"]) == 130
    assert "Traceback" not in capfd.readouterr().err


def test_a_closed_pipe_is_quiet() -> None:
    read, write = os.pipe()
    os.close(read)
    done = subprocess.run([sys.executable, "-m", "poise", "--help"], stdout=write, stderr=subprocess.PIPE, text=True)
    os.close(write)
    assert (done.returncode, done.stderr) == (141, "")


def test_a_name_outside_the_encoding_is_escaped() -> None:
    code = (
        "from poise.cli import main; from poise.cli.commands import COMMANDS; from poise.registry import Entry;"
        f"COMMANDS['play'] = Entry('{__name__}:play', ''); main(['play'])"
    )
    path = os.pathsep.join(map(str, Path(__file__).parents[:2]))
    env = {**os.environ, "PYTHONIOENCODING": "ascii", "PYTHONPATH": path}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=env, check=True)
    assert r"\u5de6\u8db3" in done.stdout


@pytest.mark.parametrize("package", [poise, poise.extend, poise.files, poise.motion])
def test_public_names_are_found_when_used(package: ModuleType) -> None:
    tree = ast.parse(Path(str(package.__file__)).read_text())
    typed = [each for block in tree.body if isinstance(block, ast.If) for each in block.body]
    assert sorted(package.__all__) == sorted(
        name.asname or name.name for each in typed if isinstance(each, ast.ImportFrom) for name in each.names
    )
    for name in package.__all__:
        assert name in dir(package)
        assert getattr(package, name) is not None


def test_an_unknown_public_name_is_refused_with_those_that_are_there() -> None:
    with pytest.raises(AttributeError, match=r"no attribute 'Chracter'\. It has: .*Character"):
        poise.Chracter  # noqa: B018


def test_choose() -> None:
    entries = {"one": Entry("a:b", ""), "two": Entry("a:c", "")}
    assert choose("demo", "all", entries) == ["one", "two"]
    assert choose("demo", "two", entries) == ["two"]
    rejects(lambda: choose("demo", "tow", entries), "'tow'", "Did you mean 'two'", error=PoiseError)


def test_plain_goes_through_json_and_back() -> None:
    value = {"a": [1, 2.5, None, "x", True], "b": {"c": []}}
    assert json.loads(json.dumps(plain(value), allow_nan=False)) == value
    assert plain([np.inf, -np.inf, np.nan, (np.int32(3),)]) == [None, None, None, [3]]


class Clock:
    """Time that passes only when a contender says so; every second round is ten times as slow."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def test_ratios_survive_slow_rounds() -> None:
    clock, order = Clock(), []

    def contender(name: str, seconds: float):  # type: ignore[no-untyped-def]
        def call() -> None:
            order.append(name)
            turn = (len(order) - 1) // 2
            clock.now += seconds * (10.0 if turn % 3 == 0 else 1.0)

        return call

    timings = measure({"a": contender("a", 3.0), "b": contender("b", 2.0)}, rounds=7, warmups=1, clock=clock)
    assert order[:6] in (list("baabba"), list("abbaab"))
    assert {name: len(values) for name, values in timings.rounds.items()} == {"a": 7, "b": 7}
    assert timings.ratio("a", to="b") == pytest.approx(1.5)
    assert timings.median("a") == pytest.approx(3.0)


def test_spread_is_half_the_interquartile_range() -> None:
    timings = Timings({"a": np.array([1.0, 2.0, 3.0, 4.0, 5.0])})
    assert timings.spread("a") == pytest.approx((4.0 - 2.0) / 2 / 3.0)
    rejects(lambda: timings.median("b"), "'b'")


def test_calls_are_divided() -> None:
    clock = Clock()

    def call() -> None:
        clock.now += 0.25

    assert measure({"a": call}, rounds=3, calls=8, clock=clock).median("a") == pytest.approx(0.25)
    with pytest.raises(InputError, match="at least 1 round"):
        measure({"a": call}, rounds=0)
