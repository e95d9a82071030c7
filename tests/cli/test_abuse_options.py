"""Every option of every command does something, or is refused in a sentence; every number and path is checked.

The options are asked from the parser: one that is added and stands in no table here fails the first test, and one that
is accepted and changes neither files nor figures fails the second.
"""

from __future__ import annotations

import inspect
import json
from pathlib import Path

import pytest

from helpers.command_inputs import fill, write_more
from helpers.commands import Run, list_options, look, run
from helpers.options_accepted import (
    BALANCE,
    EDIT,
    FORCES,
    LIFT,
    MIX,
    NEEDED,
    POSE,
    PUPPET,
    RETARGET,
    STAIRS,
    TO_BVH,
    TRACK,
    WALK,
    WORKS,
)
from helpers.options_refused import NOTED, REFUSED
from poise.cli.commands import COMMANDS
from poise.cli.console import read_seed
from poise.cli.parser import build_app, keep_word, keep_words
from poise.demos import DEMOS
from tools.fuzz.commands import sandbox

DEMOS_THERE = dict(DEMOS)
SAME = ("json", "quiet", "seed")  # what all commands have: tested below


def give_all(
    folder: Path, seed: int = 0, minutes: float = 0.0, soak: bool = False, clip: Path | None = None, count: int = 0,
    seconds: float = 0.0, threads: int = 0,
) -> dict[str, object]:  # fmt: skip
    """A demo that has every option and tells what it was given."""
    given = [seed, minutes, soak, str(clip), count, seconds, threads]
    (folder / "tiny.json").write_text(json.dumps(given))
    return {"fell": False, "given": given}


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory):  # type: ignore[no-untyped-def]
    """Inputs, where the tests of this file are."""
    from poise.registry import Entry

    with sandbox(tmp_path_factory.mktemp("options")) as folder:
        write_more(folder)
        DEMOS["tiny"] = Entry(f"{__name__}:give_all", "a demo")
        yield folder


def test_every_option_stands_in_the_table() -> None:
    for command in COMMANDS:
        options = {name for name in list_options(command) if name.removeprefix("--") not in SAME}
        refused = {word for words, _ in REFUSED if words[0] == command for word in words if word.startswith("--")}
        missing = options - set(WORKS[command]) - refused
        assert not missing, f"poise {command} has options that no test has tried: {sorted(missing)}"
        assert set(WORKS[command]) <= options


class Seen:
    """What a run left: exit code, figures, and the bytes of new files."""

    def __init__(self, place: Path, words: tuple[str, ...]):
        before = look(place)
        self.done: Run = run(*words, "--json", "--quiet")
        assert self.done.code in (0, 1), f"{words}: {self.done.err}"
        figures = json.loads(self.done.out)
        for key in ("realtime_factor", "file", "files", "solve_us", "plan_ms_a_step"):
            figures.pop(key, None)
        self.figures = figures
        after = look(place)
        self.files = {name: what for name, what in after.items() if name not in before}
        for name in sorted(self.files, key=len, reverse=True):
            (place / name).rmdir() if (place / name).is_dir() else (place / name).unlink()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Seen) and (self.figures, self.files) == (other.figures, other.files)


_known: dict[tuple[str, ...], Seen] = {}


@pytest.mark.parametrize(
    ("command", "option"), [(command, option) for command, options in WORKS.items() for option in options]
)
@pytest.mark.many(14)
def test_an_option_does_something(place: Path, command: str, option: str) -> None:
    base, more = WORKS[command][option]
    if option == "--film":
        pytest.importorskip("PIL")
    if more == ("--engine", "bullet"):
        pytest.importorskip("pybullet")
    if base not in _known:
        _known[base] = Seen(place, base)
    words = base
    if option == "--output":  # it is there already: another one
        words = base[: base.index("-o")]
    changed = Seen(place, (*words, *more))
    assert changed != _known[base], f"{' '.join(base)} is the same with {' '.join(more)}"


def test_the_same_words_do_the_same(place: Path) -> None:
    """Else every option would seem to do something."""
    for base in (MIX, TO_BVH, FORCES, RETARGET, ("info", "clip.bvh")):
        assert Seen(place, base) == Seen(place, base)


def test_an_idle_option_would_be_seen(place: Path) -> None:
    """--seed is one, where nothing is random: accepted, and the same files and figures."""
    for base in (MIX, TO_BVH, ("info", "clip.bvh")):
        assert Seen(place, (*base, "--seed", "4")) == Seen(place, base)


@pytest.mark.parametrize(("words", "sentence"), REFUSED, ids=[" ".join(words) for words, _ in REFUSED])
@pytest.mark.many(16)
def test_an_option_that_would_do_nothing_is_refused(place: Path, words: tuple[str, ...], sentence: str) -> None:
    before = look(place)
    done = run(*words, "--quiet")
    assert (done.code, done.out) == (2, ""), done
    assert sentence in done.err and done.err.count("\n") == 1
    assert look(place) == before


@pytest.mark.parametrize(("words", "sentence"), NOTED, ids=[" ".join(words) for words, _ in NOTED])
def test_an_option_that_a_file_leaves_without_effect_is_noted(
    place: Path, words: tuple[str, ...], sentence: str
) -> None:
    before = look(place)
    done = run(*words)
    for name in look(place).keys() - before.keys():
        (place / name).unlink()
    assert done.code == 0, done.err
    assert sum(sentence in line for line in done.err.splitlines()) == 1, done.err


@pytest.mark.parametrize(
    "words",
    [
        (*STAIRS, "--shape", "start=0.35", "--shape", "random=yes", "--seed", "3"),
        (*WALK, "--terrain", "rough", "--seed", "3"),
        (*WALK, "--terrain", "moving", "--shape", "ground=rough", "--seed", "3"),
    ],
)  # fmt: skip
def test_a_seed_of_random_ground_changes_the_walk(place: Path, words: tuple[str, ...]) -> None:
    assert "--seed changes nothing" not in run(*words).err
    (place / "new.npz").unlink()
    assert Seen(place, words) != Seen(place, (*words[:-1], "4"))


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.many(3)
def test_json_quiet_and_seed_of_every_command(place: Path, command: str) -> None:
    words = {
        "info": ("info", "clip.bvh"), "convert": TO_BVH, "retarget": RETARGET, "forces": FORCES, "mix": MIX,
        "track": TRACK, "lift": LIFT,
        "pose": POSE, "balance": BALANCE,
        "demo": ("demo", "tiny", "-o", "new"), "bench": ("bench", "tiny"), "walk": WALK,
        "edit": EDIT, "strength": NEEDED, "puppet": PUPPET,
    }[command]  # fmt: skip
    plain = run(*words, "--seed", "3")
    assert plain.code == 0
    assert ("--seed changes nothing" in plain.err) == (command != "demo")
    quiet = run(*words, "--seed", "3", "--quiet")
    assert (quiet.code, quiet.err) == (0, "")
    assert quiet.out.count("\n") == plain.out.count("\n")
    assert isinstance(json.loads(run(*words, "--json").out), dict)
    for path in place.glob("new*"):
        if path.is_dir():
            (path / "tiny.json").unlink()
        path.rmdir() if path.is_dir() else path.unlink()


@pytest.mark.parametrize("fps", ["0.5", "7", "15", "24"])
@pytest.mark.many(2)
def test_a_mix_of_few_frames_a_second_is_written_as_glb(place: Path, fps: str) -> None:
    """A reader of GLB adds frames between keys that are far apart; that is no reason to refuse what was written."""
    seen = Seen(place, ("mix", "clip.bvh", "-o", "new.glb", "--fps", fps))
    assert seen.figures["frames"] == 12
    # At 7 the reader's frames lie between the keys, and what is measured is blended from them.
    assert seen.figures["kinematic_error_rad"] < (1e-3 if fps == "7" else 1e-5)


def test_every_number_and_path_is_read_in_one_way() -> None:
    """float takes 1_000 and digits of all scripts, Path takes an empty word for a folder; `read_word` takes neither."""
    for command in COMMANDS:
        kinds = list_options(command)
        for argument in build_app()[command].assemble_argument_collection():
            name = next((name for name in argument.names if name in kinds), None)
            if name is not None and kinds[name] in ("number", "path", "whole"):
                assert argument.parameter.converter in (keep_word, keep_words, read_seed), f"poise {command} {name}"


BAD = ["", " ", "abc", "nan", "inf", "-inf", "-1", "1e400", "1e308", "９", "1_0", "0x10", "1,5", "--", "9" * 400]


@pytest.mark.parametrize(
    ("command", "option"),
    [
        (command, option)
        for command in COMMANDS
        for option, kind in list_options(command).items()
        if kind in ("number", "whole")
    ],
)
@pytest.mark.many(7)
def test_absurd_numbers_are_one_sentence(place: Path, command: str, option: str) -> None:
    words = {
        "info": ("info", "clip.bvh"), "convert": TO_BVH, "retarget": RETARGET, "forces": FORCES, "mix": MIX,
        "track": TRACK, "lift": LIFT,
        "pose": POSE, "balance": BALANCE,
        "demo": ("demo", "tiny", "-o", "new"), "bench": ("bench", "tiny"), "walk": WALK,
        "edit": EDIT, "strength": NEEDED, "puppet": PUPPET,
    }[command]  # fmt: skip
    # What is a good value for some: any finite height of ground, cutoffs without a limit.
    fine = {"--ground": {"-1"}, "--cutoff": {"inf", "1e308"}}
    fine |= {"--crouch": {"-1"}}  # up again
    fine |= {"--end": {"1e308"}, "--gain": {"-1"}, "--toe-out": {"-1"}, "--lean": {"-1"}}
    fine |= {"--seconds": {"nan", "inf", "-inf", "-1", "1e308"}, "--count": {"-1"}, "--threads": {"-1"}}  # see below
    for value in BAD:
        if value in fine.get(option, set()):
            continue
        before = look(place)
        done = run(*words, f"{option}={value}", "--quiet")
        assert (done.code, done.out) == (2, ""), f"{option}={value}: {done}"
        assert done.err.count("\n") == 1 and len(done.err) < 700, done.err
        assert look(place) == before


@pytest.mark.parametrize(
    ("command", "option"),
    [(command, option) for command in COMMANDS for option, kind in list_options(command).items() if kind == "path"],
)
def test_an_empty_path_is_none(place: Path, command: str, option: str) -> None:
    words = {
        "info": ("info", "clip.bvh"), "convert": TO_BVH, "retarget": RETARGET, "forces": FORCES, "mix": MIX,
        "track": TRACK, "lift": LIFT,
        "pose": POSE, "balance": BALANCE,
        "demo": ("demo", "tiny"), "bench": ("bench", "tiny"), "walk": ("walk", "--steps", "2", "-o", "new.npz"),
            "edit": EDIT, "strength": NEEDED, "puppet": PUPPET,
    }[command]  # fmt: skip
    if option == "--output":
        words = words[: words.index("-o")] if "-o" in words else words
    done = run(*words, f"{option}=", "--quiet")
    assert (done.code, done.out) == (2, "")
    assert "the path is empty" in done.err and done.err.count("\n") == 1


GIVING = [
    ("--push", "t=0.05 chest 0,0,60 0.1s"),
    ("--push", "t=0.05 hips 0,0,60 0.1s"),
    ("--push", "t=0.05 leftLowerLeg 0,0,60 0.1s"),
    ("--push", "t=0.05 chest 0,0,60 0.1s", "--base", "kinematic"),
    ("--push", "t=0.05 chest 0,0,60 0.1s", "--law", "paper"),
    ("--push", "t=0.05 chest 0,0,60 0.1s", "--law", "critical"),
    ("--push", "t=0.05 chest 0,0,60 0.1s", "--engine", "bullet"),
]


@pytest.mark.parametrize("mode", GIVING)
def test_give_changes_the_motion_after_a_blow_in_every_mode(place: Path, mode: tuple[str, ...]) -> None:
    written = []
    for give in ("0", "0.9"):
        assert run(*TRACK, *mode, "--give", give, "--quiet").code == 0
        written.append((place / "new.npz").read_bytes())
        (place / "new.npz").unlink()
    assert written[0] != written[1]


@pytest.mark.parametrize(
    "words",
    [("--count", "-1"), ("--seconds", "nan"), ("--seconds", "inf"), ("--threads", "-1"), ("--clip", "broken.bvh")],
)
def test_what_one_demo_cannot_do_is_known_before_any_is_run(
    place: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...]
) -> None:
    """All demos are asked for, and the first of them must not begin."""
    monkeypatch.setitem(DEMOS, "crowd", DEMOS_THERE["crowd"])
    before = look(place)
    done = run("demo", "all", "-o", "new", *words, "--quiet")
    assert (done.code, done.out) == (2, "")
    assert done.err.count("\n") == 1
    assert look(place) == before


def test_demos_use_what_they_are_given() -> None:
    """A parameter of a demo that its code never reads would be an idle option."""
    for name in DEMOS_THERE:
        function = DEMOS_THERE[name].load()
        code = inspect.getsource(function).split('"""', 2)[2]
        for parameter in inspect.signature(function).parameters:
            assert parameter in code, f"demo {name} never reads {parameter}"


def test_fill_gives_what_the_tables_name(tmp_path: Path) -> None:
    fill(tmp_path)
    assert {"clip.bvh", "other.bvh", "hero.glb", "body.json", "seed.bvh"} <= {path.name for path in tmp_path.iterdir()}
