"""The command line in a folder of its own: small inputs of every kind, a run, and what a run must never do."""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import os
import shutil
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np

from humans import make_human
from poise.body.character import Character
from poise.body.mannequin import build_mannequin
from poise.cli import main
from poise.cli.app import build_app
from poise.files.character import save_character
from poise.files.formats import load_clip, save_clip
from poise.files.leftovers import is_temporary
from poise.motion.clip import Clip
from poise.spatial import rotation
from poise.stage.take_file import load_take
from seeds import write_seed

FRAMES, FPS = 12, 30.0
MOST_LINES = 12  # of standard error, of one run
OUTPUTS = ("-o", "--output", "--film", "--plot", "--save-recipe", "--save")
PARSERS = {"float": "number", "Path": "path", "bool": "flag", "int": "whole", "Literal": "choice", "tuple": "words"}


def make_clip(stature: float = 1.75, frames: int = FRAMES) -> Clip:
    """Somebody stands and moves the arms a little, 0.4 s."""
    skeleton = make_human(stature, arms_down=True)
    turns = rotation.identity((frames, len(skeleton)))
    swing = 0.3 * np.sin(np.linspace(0.0, 3.0, frames))
    for side in ("left", "right"):
        turns[:, skeleton.index(side + "UpperArm")] = rotation.from_axis_angle(np.array([1.0, 0.0, 0.0]), swing)
    return Clip(skeleton, np.arange(frames) / FPS, np.tile(skeleton.offsets[0], (frames, 1)), turns, "stand")


def fill(folder: Path) -> None:
    """Write inputs of every kind into a folder."""
    clip = make_clip()
    save_clip(clip, folder / "clip.bvh")
    save_clip(clip, folder / "clip.npz")
    save_clip(clip, folder / "hero.glb", meshes=build_mannequin(clip.skeleton, 70.0))
    save_clip(make_clip(1.6), folder / "other.bvh")
    save_character(Character.from_skeleton(load_clip(folder / "clip.bvh").skeleton, 66.0), folder / "body.json")
    write_seed(".c3d", folder)
    write_seed(".bvh", folder)
    (folder / "broken.bvh").write_text("HIERARCHY\nnonsense")
    (folder / "empty.bvh").write_bytes(b"")
    (folder / "notes.txt").write_text("no motion")
    (folder / "roles.toml").write_text('leftToes = "rightToes"\n')
    (folder / "stage.toml").write_text("[ground]\nfriction = 0.5\n")
    (folder / "recipe.toml").write_text('format = "poise-recipe 1"\n[character]\nclip = "clip.bvh"\n')
    (folder / "edit.toml").write_text(
        'format = "poise-edit 1"\nsequence = ["a", "a"]\ntransition = 0.1\n[clips.a]\nfile = "clip.bvh"\n'
        '[[offsets]]\njoint = "leftHand"\ntime = 0.2\nplace = [0.3, 1.0, 0.2]\n'
    )
    (folder / "library" / "deep").mkdir(parents=True)
    shutil.copy(folder / "clip.bvh", folder / "library" / "walk.bvh")
    shutil.copy(folder / "clip.npz", folder / "library" / "deep" / "walk.npz")
    (folder / "taken.glb").mkdir()
    if os.name != "nt":
        (folder / "link.bvh").symlink_to("clip.bvh")
        (folder / "nowhere.bvh").symlink_to("nothing.bvh")
        (folder / "hard.bvh").hardlink_to(folder / "clip.bvh")
        with contextlib.suppress(OSError):  # file systems that know only UTF-8
            shutil.copy(folder / "clip.bvh", folder / "caf\udce9.bvh")
        shutil.copy(folder / "clip.bvh", folder / "a\x1b[31m$b$\n.bvh")


@dataclass(frozen=True)
class Run:
    """What a command did: exit code, standard output and error."""

    code: int
    out: str
    err: str


def run(*words: object) -> Run:
    """Run a command in this process. Warnings that a user would see on standard error are in it."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err), warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("default")
        code = main([str(word) for word in words])
    return Run(code, out.getvalue(), err.getvalue() + "".join(f"Warning: {each.message}\n" for each in seen))


def look(folder: Path) -> dict[str, str]:
    """Everything below a folder: path -> what it is, with a digest of its content."""
    found = {}
    for path in sorted(folder.rglob("*")):
        name = str(path.relative_to(folder))
        if path.is_symlink():
            found[name] = f"link to {path.readlink()}"
        elif path.is_dir():
            found[name] = "folder"
        else:
            found[name] = hashlib.sha256(path.read_bytes()).hexdigest()
    return found


def find_faults(words: list[str], done: Run, before: dict[str, str], folder: Path) -> Iterator[str]:
    """What is wrong about a run, a sentence each: the promises of docs/command-line.md."""
    after = look(folder)
    if done.code not in (0, 1, 2):
        yield f"exit {done.code}: {done.err.strip()[-200:]}"
    lines = done.err.splitlines()
    if "Traceback" in done.err or any(not line.startswith("poise: ") for line in lines):
        yield f"standard error has what is no sentence of Poise: {done.err[:300]!r}"
    if len(lines) > MOST_LINES or (done.code == 2 and not lines):
        yield f"{len(lines)} lines on standard error"
    if any(not (c.isprintable() or c == "\n") for c in done.out + done.err):
        yield "a control character was printed"
    if "--quiet" in words and done.code != 2 and lines:
        yield f"--quiet said: {lines[0]}"
    is_folder = (words[0] == "convert" and "failures" in done.out + done.err) or "not converted" in done.err
    if "--json" in words and "--help" not in words and (done.code != 2 or done.out):
        try:
            assert isinstance(json.loads(done.out), dict)
        except (ValueError, AssertionError):
            yield f"--json printed what is no object: {done.out[:100]!r}"
    if done.code == 2 and done.out and not is_folder and "converted" not in done.out:
        yield f"exit 2, but standard output has {done.out[:100]!r}"
    meant = _find_meant(words) if done.code in (0, 1) else set()
    lost = [name for name, what in before.items() if after.get(name) != what and (folder / name).resolve() not in meant]
    if lost:
        yield f"inputs changed: {lost}"
    new = [name for name in after if name not in before]
    if any(is_temporary(Path(name)) for name in new):
        yield f"a temporary file is left: {new}"
    if done.code == 2 and not is_folder and "converted" not in done.out and new:
        yield f"exit 2, but files were written: {new}"
    for name in new:
        yield from _find_file_faults(folder / name)


def _find_meant(words: list[str]) -> set[Path]:
    """Files that the words name as outputs and not as inputs too: those may be written anew."""
    named: list[str] = []
    outputs: set[Path] = set()
    for before, word in pairwise(["", *words]):
        option, equals, value = word.partition("=")
        if equals and option in OUTPUTS:
            outputs.add(Path(value).resolve())
        elif before in OUTPUTS or (words[0] == "convert" and word == words[2]):
            outputs.add(Path(word).resolve())
        else:
            named += [word, value]
    return outputs - {Path(word).resolve() for word in named if word and "\0" not in word and len(word) < 200}


def _find_file_faults(path: Path) -> Iterator[str]:
    """A file that was written can be read again."""
    if path.is_dir():
        return
    try:
        if path.name.endswith(".take.npz"):
            load_take(path)
        elif path.suffix.lower() in (".bvh", ".glb", ".npz"):
            load_clip(path)
        elif path.suffix == ".json":
            json.loads(path.read_text())
        elif not path.stat().st_size:
            yield f"'{path.name}' is empty"
    except Exception as error:
        yield f"'{path.name}' was written and cannot be read: {error}"


def list_options(command: str) -> dict[str, str]:
    """Every option of a command, asked from the parser: its long name -> number, path, flag, choice, words, ..."""
    found = {}
    for argument in build_app()[command].assemble_argument_collection():
        name = next((name for name in argument.names if name.startswith("--")), None)
        if name is not None:
            kinds = [kind for word, kind in PARSERS.items() if word in str(argument.hint)]
            found[name] = kinds[0] if kinds else "text"
    return found
