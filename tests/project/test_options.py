"""Options records: one field is an option, a parameter, a recipe's key and a row of the reference page."""

from __future__ import annotations

import inspect
import runpy
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

import pytest

import poise
from poise.cli import main
from poise.cli.commands import COMMANDS
from poise.cli.parser import read_words
from poise.errors import FileError, InputError
from poise.files.reporting import SILENT, RecordingReporter
from poise.jobs.job import Run, find_job, job, parse_recipe
from poise.options import File, Given, JobOptions, Option, build, list_options

ROOT = Path(__file__).parents[2]
JOBS = {name: made for name, entry in COMMANDS.items() if (made := find_job(entry.load())) is not None}


@dataclass(frozen=True, kw_only=True)
class TossOptions(JobOptions):
    """Options of a job for the tests."""

    thing: Annotated[File, Option("What is tossed.")] = field(kw_only=False)
    speed: Annotated[float, Option("Its speed.", key="toss.speed", between=(0.0, 9.0), unit="m/s")] = 2.0
    hand: Annotated[str, Option("The hand.", key="toss.hand", choices=("left", "right"))] = "left"
    times: Annotated[int | None, Option("How often.", key="toss.times", between=(1, 5))] = None
    is_high: Annotated[bool, Option("Whether it is high.", flag="--high", key="toss.high")] = False
    film: Annotated[File | None, Option("A film.", writes=True)] = field(default=None, init=False)
    recipe: Annotated[File | None, Option("TOML with these.", is_recipe=True)] = None


@job(TossOptions)
def toss(options: TossOptions, run: Run) -> tuple[TossOptions, Run]:
    """Toss something."""
    return options, run


def test_a_call_gives_the_record_its_values_and_defaults() -> None:
    options, run = toss("a.glb", speed=3, hand=None, is_high=True)  # type: ignore[arg-type]
    assert options == TossOptions(Path("a.glb"), speed=3.0, is_high=True)
    assert isinstance(options.speed, float) and isinstance(options.thing, Path)
    assert run.is_given("speed") and not run.is_given("hand")  # None is no value


def test_values_of_a_call_go_before_those_of_a_recipe(tmp_path: Path) -> None:
    recipe = tmp_path / "r.toml"
    recipe.write_text('format = "poise-recipe 1"\n[toss]\nspeed = 4\nhand = "right"\nhigh = true\n')
    options, run = toss("a.glb", speed=5.0, is_high=False, recipe=recipe)
    assert (options.speed, options.hand, options.is_high) == (5.0, "right", False)
    assert run.spell("speed") == "speed" and run.spell("hand") == f"'hand' of [toss] in {recipe}"
    assert run.spell("film") == "the film"  # no Python parameter


WRONG: dict[str, tuple[dict[str, Any], str]] = {
    "range": ({"speed": 9.5}, "speed must be from 0 to 9 m/s; got 9.5."),
    "not finite": ({"speed": float("nan")}, "speed must be from 0 to 9 m/s; got nan."),
    "text for a number": ({"speed": "fast"}, "speed must be a number; got 'fast'."),
    "choice": ({"hand": "rigth"}, "hand must be left or right; got 'rigth'. Did you mean 'right'?"),
    "part of a number": ({"times": 1.5}, "times must be a whole number; got 1.5."),
    "number for a truth value": ({"is_high": 1}, "is_high must be true or false; got 1."),
    "number for a file": ({"thing": 3}, "thing must be the path of a file; got 3."),
}


@pytest.mark.parametrize("case", WRONG)
def test_a_call_is_refused_by_its_parameter(case: str) -> None:
    given, message = WRONG[case]
    with pytest.raises(InputError) as caught:
        toss(**{"thing": "a.glb", **given})
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("typed", "message"),
    [
        ({"speed": "9.5"}, "--speed must be from 0 to 9 m/s; got 9.5."),
        ({"speed": "1_0"}, "--speed must be a number: '1_0' is not a number; write it as in 1.5."),
        ({"times": "1.5"}, "--times must be a whole number: '1.5' is not a whole number of at most 18 digits."),
        ({"hand": "rigth"}, "--hand must be left or right; got 'rigth'. Did you mean 'right'?"),
        ({"film": " "}, "--film must be the path of a file; the path is empty. Name a file."),
    ],
)
def test_a_command_is_refused_by_its_option(typed: dict[str, str], message: str) -> None:
    with pytest.raises(InputError) as caught:
        read_words(TossOptions, typed)
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("speed = 9.5", "r.toml:3: 'speed' of [toss] must be from 0 to 9 m/s; got 9.5."),
        ("hand = 'rigth'", "r.toml:3: 'hand' of [toss] must be left or right; got 'rigth'. Did you mean 'right'?"),
        ("sped = 1", "r.toml:3: key of [toss], 'sped' is not known. Did you mean 'speed'?"),
    ],
)
def test_a_recipe_is_refused_by_its_key(
    line: str, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("r.toml").write_text(f'format = "poise-recipe 1"\n[toss]\n{line}\n')
    with pytest.raises(FileError) as caught:
        toss("a.glb", recipe="r.toml")
    assert str(caught.value).startswith(message)


def test_what_is_missing_or_not_known_is_named() -> None:
    with pytest.raises(InputError, match=r"^thing is missing\.$"):
        build(TossOptions, Given.from_python(TossOptions, {}))
    with pytest.raises(TypeError, match=r"^toss\(\) got an unexpected keyword argument 'sped'$"):
        toss("a.glb", sped=1)  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="film"):
        toss("a.glb", film="b.mp4")  # type: ignore[call-arg]


def test_a_recipe_of_nothing_gives_nothing() -> None:
    assert parse_recipe(TossOptions, {"format": "poise-recipe 1"}, Path()).values == {}


def test_a_run_keeps_and_passes_on_what_it_is_told() -> None:
    notebook = RecordingReporter()
    run = Run(TossOptions, Given({}, {}), notebook)
    run.warn("a")
    assert run.warnings == notebook.warnings == ["a"]
    assert Run(TossOptions, Given({}, {}, is_typed=True), SILENT).spell("high") == "--high"


@pytest.mark.parametrize("name", JOBS)
def test_a_jobs_signature_and_help_have_every_parameter(name: str) -> None:
    function, record = COMMANDS[name].load(), JOBS[name].record
    parameters = inspect.signature(function).parameters
    fields = {each.name: each for each in list_options(record).values() if each.in_python}
    assert list(parameters) == list(fields)
    for parameter, each in fields.items():
        assert parameters[parameter].annotation == each.type
        assert parameter in function.__doc__ and each.option.help in function.__doc__
    assert inspect.isfunction(function) and function.__name__ == name
    needs_cli = JOBS[name].function.__module__.startswith("poise.cli.")  # or a layer above the jobs
    assert needs_cli or function is getattr(poise, name, function)


@pytest.mark.parametrize("name", JOBS)
def test_a_commands_help_has_every_option_and_default(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([name, "--help"]) == 0
    shown = capsys.readouterr().out
    for each in list_options(JOBS[name].record).values():
        assert not each.flag or each.flag in shown
        assert not each.option.help.endswith("]") and each.option.help.endswith((".", "?"))


def test_recipe_keys_and_flags_are_of_one_option_each() -> None:
    for made in JOBS.values():
        fields = list_options(made.record).values()
        for words in ([each.flag for each in fields if each.flag], [each.option.key for each in fields]):
            named = [word for word in words if word]
            assert len(named) == len(set(named))


def test_the_reference_page_is_up_to_date() -> None:
    page = runpy.run_path(str(ROOT / "docs" / "make" / "options.py"))
    assert page["PAGE"].read_text(encoding="utf-8") == page["build_page"](), "run docs/make/options.py"
