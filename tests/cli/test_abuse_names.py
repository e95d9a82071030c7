"""Names out of other people's files and file systems: printed they move no cursor, written they are text."""

from __future__ import annotations

import json
import os
import unicodedata
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers.command_inputs import make_clip
from helpers.commands import run
from helpers.files.seeds import write_seed
from poise.errors import printable, valid_text
from poise.files.formats.npz import save_npz
from poise.files.registry import FORMATS, load_clip, read_recording, save_clip
from poise.motion.clip import Clip
from tools.fuzz.hostile import write_odd_places

EVIL = (
    "\x1b[2J",
    "\r",
    "\n",
    "\x07",
    "\x7f",
    "\x9b31m",
    "\u202e",
    "\u2066",
    "\u2028",
    "\ud800",
    "\udce9",
    "\U000e0041",
)
NAME = "a\x1b]0;owned\x07\r\n\u202eb$\\frac$%s{0}"
BYTES = "caf\udce9"


@given(st.text())
@pytest.mark.slow
def test_what_is_printed_moves_no_cursor(text: str) -> None:
    """Unicode itself is the oracle: no control, format, surrogate or line separator is left, and no letter is lost."""
    shown = printable(text)
    shown.encode()
    for c in shown:
        assert c in "\u200c\u200d" or unicodedata.category(c) not in ("Cc", "Cf", "Cs", "Zl", "Zp", "Co", "Cn"), repr(c)
    assert printable(shown) == shown
    kept = [c for c in text if unicodedata.category(c)[0] in "LMNPS" or c == " "]
    rest = iter(shown)
    assert all(c in rest for c in kept)  # in their order


@pytest.mark.parametrize("mark", EVIL)
def test_marks_that_act_are_written_out(mark: str) -> None:
    assert printable(f"a{mark}b").isascii()
    assert printable(f"a{mark}b").startswith("a\\")


def test_bytes_that_are_no_text_are_shown_as_bytes() -> None:
    assert printable(os.fsdecode(b"caf\xe9")) == valid_text(os.fsdecode(b"caf\xe9")) == "caf\\xe9"
    assert printable("左足 é\u3000\u00a0") == valid_text("左足 é\u3000\u00a0") == "左足 é\u3000\u00a0"
    assert valid_text("a\x1b\n") == "a\x1b\n"


@pytest.fixture(scope="module")
def named(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A person whose joints, but for those that have roles, are called by names that act."""
    clip = make_clip()
    skeleton = clip.skeleton
    names = [f"{NAME} {i}" for i in range(len(skeleton))]
    roles = {role: names[skeleton.names.index(joint)] for role, joint in skeleton.roles.items()}
    path = tmp_path_factory.mktemp("named") / "clip.npz"
    save_npz(Clip(skeleton.replace(names=names, roles=roles), clip.times, clip.root, clip.rotations, NAME), path)
    return path


@pytest.mark.parametrize(
    "words",
    [
        ["info"],
        ["info", "--roles", "leftFoot=nobody"],
        ["info", "--clip", "\x1b[31m\n"],
        ["info", "--roles", "\x1b=\x1b"],
        ["forces", "-o", "x.csv", "--plot", "x.png"],
        ["mix", "-o", "x.npz", "--load", "\x1b[31m=2"],
        ["mix", "-o", "x.npz", "--plot", "x.png"],
        ["convert", "x\x1b[31m.npz"],
        ["convert", "none\n/x.npz"],
    ],
)
@pytest.mark.parametrize("json_too", [False, True])
@pytest.mark.many(3)
def test_no_command_prints_what_acts(
    named: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: list[str], json_too: bool
) -> None:
    monkeypatch.chdir(tmp_path)
    done = run(words[0], named, *words[1:], *(["--json"] if json_too else []))
    assert done.code in (0, 2), done.err
    for line in (done.out + done.err).split("\n"):
        assert line.isprintable(), repr(line)
    assert all(line.startswith("poise: ") for line in done.err.splitlines()), done.err
    if json_too and done.code == 0:
        assert json.loads(done.out)
    if words == ["info"] and not json_too:
        assert done.out.count("\n") < 60 and "\\x1b]0;owned\\x07\\r\\n\\u202e" in done.out
    if words == ["info"] and json_too:
        assert NAME in json.loads(done.out)["roles"]["hips"]


@pytest.mark.skipif(os.name == "nt", reason="file names are bytes on POSIX")
@pytest.mark.parametrize(
    "suffix", [entry.suffix for entry in FORMATS if entry.save is not None and entry.suffix not in (".fbx", ".vrm")]
)
@pytest.mark.many(2)
def test_file_names_that_are_no_text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, suffix: str) -> None:
    """Read and written, in and out; what the motion is called in the file is text."""
    monkeypatch.chdir(tmp_path)
    clip, odd = make_clip(), tmp_path / f"{BYTES}.bvh"
    try:
        save_clip(clip, odd)
    except OSError:
        pytest.skip("this file system takes only UTF-8")
    done = run("convert", odd, f"{BYTES}-new{suffix}", "--json")
    assert done.code == 0, done.err
    done.out.encode()
    assert json.loads(done.out)["file"] == f"caf\\xe9-new{suffix}"
    assert (tmp_path / f"{BYTES}-new{suffix}").stat().st_size > 500
    if suffix in (".bvh", ".glb", ".npz"):
        again = load_clip(tmp_path / f"{BYTES}-new{suffix}")
        again.name.encode()
        assert "caf\\xe9" in again.name
        assert len(again) == len(clip)
    assert run("info", odd, "--clip", BYTES, "--json").code == 0
    assert json.loads(run("info", odd, "--json").out)["clip"] == "caf\\xe9"


@pytest.mark.skipif(os.name == "nt", reason="file names are bytes on POSIX")
@pytest.mark.slow
def test_every_command_takes_a_file_name_that_is_no_text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    odd = f"{BYTES}.bvh"
    try:
        save_clip(make_clip(), tmp_path / odd)
    except OSError:
        pytest.skip("this file system takes only UTF-8")
    (tmp_path / "library").mkdir()
    save_clip(make_clip(), tmp_path / "library" / odd)
    for words in (
        ["info", odd],
        ["forces", odd, "-o", f"{BYTES}.csv", "--plot", f"{BYTES}.png"],
        ["retarget", odd, odd, "-o", f"{BYTES}-2.npz"],
        ["mix", odd, "-o", f"{BYTES}.take.npz", "--plot", f"{BYTES}-2.png"],
        ["convert", "library", f"out{BYTES}"],
    ):
        for more in ([], ["--json"]):
            done = run(*words, *more)
            assert done.code == 0, done.err
            (done.out + done.err).encode()
    done = run("mix", odd, "-o", "x.npz", "--save-recipe", "x.toml")
    assert done.code == 2
    assert "a recipe is UTF-8 text" in done.err
    assert not (tmp_path / "x.npz").exists()


def test_halves_of_surrogate_pairs_in_json_are_no_fault(tmp_path: Path) -> None:
    write_seed(".gltf", tmp_path)
    path = tmp_path / "seed.gltf"
    document = json.loads(path.read_text())
    document["nodes"][2]["name"] = "\ud800 bone"
    document["animations"][0]["name"] = "\udfff"
    path.write_text(json.dumps(document))
    clip = read_recording(path).clip
    assert "\\ud800 bone" in clip.skeleton.names
    for suffix in (".glb", ".bvh", ".npz", ".usda"):
        assert run("convert", path, tmp_path / f"x{suffix}", "--json").code == 0
    assert run("convert", path, tmp_path / "kept.glb", "--keep").code == 0
    assert run("info", path, "--clip", "\udfff").code == 0


def test_odd_places_are_read_or_refused(tmp_path: Path) -> None:
    """Also links that go in a circle or nowhere, devices without end and pipes that nobody writes to."""
    codes = {}
    for path in write_odd_places(tmp_path):
        for words in (["info", path], ["convert", path, tmp_path / "new.npz"]):
            done = run(*words, "--json")
            assert done.code in (0, 2), done.err
            assert all(line.startswith("poise: ") and line.isprintable() for line in done.err.splitlines())
            codes[path.name] = done.code
    assert {name: code for name, code in codes.items() if code} == dict.fromkeys(
        [f"{name}.bvh" for name in ("self", "nothing", "endless", "full", "pipe") if os.name != "nt"], 2
    )


def test_a_traceback_prints_nothing_that_acts(tmp_path: Path) -> None:
    done = run("info", tmp_path / "\x1b[31m\r.bvh", "--debug")
    assert done.code == 2 and "Traceback" in done.err
    assert all(line.isprintable() for line in done.err.split("\n"))


def test_a_long_list_of_names_is_cut(tmp_path: Path) -> None:
    clip = make_clip()
    skeleton = clip.skeleton.replace(names=[f"{i}{'x' * 3000}" for i in range(len(clip.skeleton))], roles={})
    save_npz(Clip(skeleton, clip.times, clip.root, clip.rotations, "x"), tmp_path / "a.npz")
    done = run("info", tmp_path / "a.npz", "--roles", "hips=nobody", "--quiet")
    assert done.code == 2
    assert len(done.err) < 5000 and "characters more" in done.err


@pytest.mark.slow
def test_a_name_is_no_formula_and_no_warning() -> None:
    """Plots of names that matplotlib would take for mathematics, or that its font lacks; warnings are errors here."""
    from poise.pictures.mix_plots import plot_joint_torques

    times = np.arange(5) / 10.0
    for name in ("$\\frac$", "a$b", "左足", "\x1b\x00", "\ud800", "x" * 500, "_hidden", ""):
        data = plot_joint_torques(times, {f"{name}": times}, {}, title=name)
        assert data.startswith(b"\x89PNG")
