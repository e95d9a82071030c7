"""Commands with random words: options that exist, with values that are good, bad and absurd.

Every run must end in a result or a sentence, and must leave all that it read as it was: `abuse.find_faults`.
"""

from __future__ import annotations

import contextlib
import random
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from unittest import mock

from helpers.command_inputs import fill
from helpers.commands import find_faults, list_options, look, run
from poise.bench import BENCHES
from poise.cli.commands import COMMANDS
from poise.demos import DEMOS
from poise.registry import Entry

NUMBERS = (
    "nan", "inf", "-inf", "-1", "0", "-0.0", "1e400", "1e308", "-1e308", "1e-308", "７", "٣", "1_0", "", " ", "0x10",
    "1,5", "abc", "+3", "--5", "9" * 400, "1e9", "1e-9", "0.5", "1", "2", "30", "60", "1.7", "70",
)  # fmt: skip
WORDS = (
    "", " ", "x", "0", "1", "99", "-1", "stand", "leftHand", "\x1b[31mred", "a\nb", "\r", "\u202eevil", "é" * 300,
    "../evil", "caf\udce9", "$x$", "%s", "{}", "-", "\x7f", "左足", "all", "legs", "arms", "leftArm", "trunk",
)  # fmt: skip
PATHS = (
    "clip.bvh", "clip.npz", "hero.glb", "other.bvh", "seed.c3d", "seed.bvh", "broken.bvh", "empty.bvh", "notes.txt",
    "body.json", "roles.toml", "stage.toml", "recipe.toml", "library", "link.bvh", "nowhere.bvh", "hard.bvh",
    "caf\udce9.bvh", "a\x1b[31m$b$\n.bvh", "taken.glb", "nothing.bvh", "none/x.bvh", "clip.bvh/x.bvh", "", ".", "..",
    "/dev/null", "x" * 300 + ".bvh", "library/../clip.bvh", "./clip.bvh", "CLIP.BVH", "no suffix", "x.", ".bvh", "-",
)  # fmt: skip
OUTPUTS = (
    "new.bvh", "new.glb", "new.npz", "new.usda", "new.take.npz", "new.csv", "new.png", "new.toml", "new.json",
    "new.gif", "new.webp", "caf\udce9-new.glb", "new\x1b\n.bvh", "new", "library/new.glb", "../new.bvh", "/dev/full",
    *PATHS,
)  # fmt: skip
SAID = {
    "--from": (
        "arms=other.bvh",
        "leftArm,head=clip.npz",
        "arms=nowhere.bvh",
        "x=other.bvh",
        "arms",
        "=",
        "legs=hero.glb",
    ),
    "--load": ("rightHand=2", "rightHand=-1", "rightHand", "=2", "rightHand=1e400", "x=1", "head=5kg", "左=1"),
    "--push": (
        "t=0.1 chest 0,0,40 0.1s",
        "t=9 chest 0,0,40 0.1s",
        "t=0 hips 0,0,0 1s",
        "t=0 leftHand 1e400,0,0 1s",
        "x",
    ),
    "--roles": ("leftToes=rightToes", "roles.toml", "leftFoot=", "x=y", "hips=a,b", "none.toml", "body.json"),
    "--character-roles": ("leftToes=rightToes", "x=y", ""),
    "--physical": ("legs", "arms", "legs,trunk", "hips", "nobody", ",", "leftLowerArm"),
    "--reach": (
        "rightHand=-0.3,1.1,0.3",
        "leftHand=0.3,1,0.4",
        "rightHand=nan,1,1",
        "rightHand=1,2",
        "x=1,2,3",
        "=1,2,3",
        "leftFoot=0,1,0",
        "rightHand=0,0,1e400",
        "左=1,1,1",
        "head=0,1.2,0.3",
        "rightHand=9,9,9",
    ),
    "--look": ("1,1,1", "1,2", "nan,1,1", "x", "0,0,0", "-1,2,1"),
    "--seconds": ("0.1", "0.2", "nan", "inf", "-1", "0", "1e308", "abc", ""),
    "--weak": ("leftLowerLeg=0.2", "leftHand=0", "x=1", "leftHand=-1", "leftHand"),
    "--to": ("glb", ".bvh", "npz", "../evil", "xyz", "", "GLB", "take.npz", "usda", "/", "glb/x"),
}
CHOICES = {
    "--up": ("Y", "Z", "-Y", "W", ""), "--names": ("own", "vrm", "both"), "--root": ("keep", "in-place", "away"),
    "--couple": ("exact", "paper", "none"), "--engine": ("mujoco", "inverse", "x"),
    "--stand": ("both", "left", "right", "none"), "--by": ("auto", "com", "zmp", "luck"),
    "--body": ("fat", "one-arm", "long-leg", "x", ""), "--law": ("paper", "critical", "feedforward", "x"),
    "--strength": ("0.5", "rightHand=0.1", "-1", "x=", "tail=1"), "--center": ("xz", "none", "x"),
    "--lead": ("rightHand=position", "rightHand", "tail=both", "="),
    "--touch": ("leftHand=rightHand", "leftHand=drum", "leftHand", "=", "arms=trunk"),
}  # fmt: skip
OUT_OPTIONS = ("--output", "--film", "--plot", "--picture", "--save-recipe", "--save")
DRAWN = (
    "info", "convert", "convert", "retarget", "forces", "mix", "mix", "demo", "bench", "pose", "pose", "balance",
    "edit", "track", "lift", "strength",
)  # fmt: skip


@dataclass
class Outcome:
    """How often what happened, and findings: the sentence about a fault -> the words that showed it first."""

    runs: int = 0
    codes: Counter[int] = field(default_factory=Counter)
    commands: Counter[str] = field(default_factory=Counter)
    sentences: set[str] = field(default_factory=set)
    findings: dict[str, list[str]] = field(default_factory=dict)


def draw_words(rng: random.Random, options: dict[str, dict[str, str]], slow: bool = True) -> list[str]:
    """The words of one run: a command, what it needs, and up to four options. slow: films and bodies may be drawn."""
    words = _draw_words(rng, options)
    return words if slow else [_QUICKER.get(word, word) for word in words]


def _draw_words(rng: random.Random, options: dict[str, dict[str, str]]) -> list[str]:
    command = rng.choice(DRAWN)
    wild = rng.random() < 0.4  # the places of files are at random too

    def place(good: tuple[str, ...], pool: tuple[str, ...]) -> str:
        return rng.choice(pool if wild and rng.random() < 0.6 else good)

    clips = ("clip.bvh", "clip.npz", "hero.glb", "link.bvh", "caf\udce9.bvh", "a\x1b[31m$b$\n.bvh")
    words = [command]
    if command in ("info", "convert", "retarget", "forces", "mix", "balance", "track", "lift"):
        words.append(place(clips, PATHS))
    if command == "convert":
        words.append(place(("new.bvh", "new.glb", "new.npz", "library/new.bvh"), OUTPUTS))
        if rng.random() < 0.15:
            words[1:] = ["library", place(("new", "library/new", "library"), OUTPUTS)]
    if command == "retarget":
        words += [place(("hero.glb", "other.bvh", "body.json"), PATHS), "-o", place(("new.bvh", "new.glb"), OUTPUTS)]
    if command == "strength":
        words += [place(("find",), ("show", *WORDS)), place(clips, PATHS)]
    if command == "forces":
        words += ["-o", place(("new.csv",), OUTPUTS)]
    if command == "edit":
        words.append(place(("edit.toml",), ("recipe.toml", "stage.toml", *PATHS)))
    if command in ("pose", "balance", "edit"):
        words += ["-o", place(("new.bvh", "new.npz"), OUTPUTS)]
    if command in ("mix", "track", "lift"):
        words += ["-o", place(("new.bvh", "new.glb", "new.take.npz"), OUTPUTS)]
    if command == "demo":
        words += [place(("tiny",), ("tiny", "all", *WORDS)), "-o", place(("new", "library"), OUTPUTS)]
    if command == "bench":
        words += [place(("tiny",), ("tiny", "all", *WORDS))]
    for _ in range(rng.choice((0, 1, 1, 2, 2, 3, 4))):
        option = rng.choice([name for name in options[command] if name != "--output"])
        words += _draw_option(rng, option, options[command][option])
    return words


# What is drawn takes a second or more: a body, a plot, a film.
_QUICKER = {"new.glb": "new.bvh", "library/new.glb": "library/new.npz", "new.png": "none/new.png"}
_QUICKER |= {f"new{film}": f"none/new{film}" for film in (".gif", ".webp")}
_QUICKER |= {f"{option}={old}": f"{option}={new}" for option in OUT_OPTIONS for old, new in _QUICKER.items()}


def _draw_option(rng: random.Random, option: str, kind: str) -> list[str]:
    if kind == "flag":
        return [rng.choice((option, option, option, f"{option}=maybe"))]
    if option in OUT_OPTIONS:
        value = rng.choice(OUTPUTS)
    elif option == "--engine":
        value = rng.choice(CHOICES[option])
    else:
        pools = {"number": NUMBERS, "whole": NUMBERS, "path": PATHS}
        value = rng.choice(SAID.get(option) or CHOICES.get(option) or pools.get(kind, WORDS))
    return [f"{option}={value}"] if rng.random() < 0.5 else [option, value]


def tiny_demo(folder: Path, seed: int = 0, minutes: float = 0.0, clip: Path | None = None) -> dict[str, object]:
    """Stands for the demos, which take seconds each."""
    (folder / "tiny.json").write_text("{}")
    return {"fell": False, "seed": seed, "minutes": minutes, "clip": str(clip)}


def tiny_bench() -> dict[str, object]:
    """Stands for the benches."""
    return {"ratio": 1.0}


@contextlib.contextmanager
def sandbox(folder: Path) -> Iterator[Path]:
    """Be in a folder of inputs, with a demo and a bench that take no time."""
    place = folder / "inside"
    place.mkdir(parents=True)
    fill(place)
    here = __name__
    with (
        contextlib.chdir(place),
        mock.patch.dict(DEMOS, {"tiny": Entry(f"{here}:tiny_demo", "a demo")}, clear=True),
        mock.patch.dict(BENCHES, {"tiny": Entry(f"{here}:tiny_bench", "a bench")}, clear=True),
    ):
        yield place


def fuzz_commands(
    folder: Path, seed: int = 0, runs: int | None = None, seconds: float = 1e9, slow: bool = True
) -> Outcome:
    """Try random commands in a folder until there were so many or the time is up. slow: as for `draw_words`."""
    rng = random.Random(seed)
    outcome = Outcome()
    options = {name: list_options(name) for name in COMMANDS}
    end = time.monotonic() + seconds
    with sandbox(folder) as place:
        before = look(folder)
        inputs = {path: path.read_bytes() for path in place.rglob("*") if path.is_file() and not path.is_symlink()}
        while (runs is None or outcome.runs < runs) and time.monotonic() < end:
            words = draw_words(rng, options, slow)
            done = run(*words)
            outcome.runs += 1
            outcome.codes[done.code] += 1
            outcome.commands[words[0]] += 1
            outcome.sentences.update(line[:60] for line in done.err.splitlines())
            for fault in find_faults(words, done, before, folder):
                outcome.findings.setdefault(fault, words)
            _restore(folder, before, inputs)
    return outcome


def _restore(folder: Path, before: dict[str, str], inputs: dict[Path, bytes]) -> None:
    """Make the folder what it was."""
    after = look(folder)
    for name in sorted(after, key=len, reverse=True):
        if name not in before:
            path = folder / name
            path.rmdir() if path.is_dir() and not path.is_symlink() else path.unlink()
    for name, what in before.items():
        if after.get(name) != what:
            (folder / name).write_bytes(inputs[folder / name])
