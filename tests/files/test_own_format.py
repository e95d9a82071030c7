"""Somebody else's file format, in one file outside the package: read and written wherever Poise reads and writes."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import poise
from helpers.errors import rejects
from helpers.guides import GUIDES, load_guide
from poise.cli import main
from poise.files.registry import FORMATS, read_clip
from poise.motion import samples
from poise.registry import load_plugins

HUMAN = poise.Character.human(1.75, 75.0, preset="mix")


@pytest.fixture
def formats() -> Iterator[None]:
    """What is registered in a test is forgotten after it."""
    before = list(FORMATS)
    yield
    FORMATS[:] = before


@pytest.fixture
def steps(formats: None) -> None:
    """The format of the guide."""
    module = load_guide("own_format")
    poise.extend.register_format("Steps", ".steps", module.read_steps, module.save_steps)


def walk() -> poise.Clip:
    clip = samples.walk(HUMAN.skeleton, fps=25)
    return clip.pick(slice(0, 12))


def test_what_is_written_is_read_again(steps: None, tmp_path: Path) -> None:
    clip, path = walk(), tmp_path / "walk.steps"
    poise.save_clip(clip, path)
    found = poise.load_clip(path)
    assert found.skeleton.names == clip.skeleton.names
    for name in ("times", "root", "rotations"):
        np.testing.assert_allclose(getattr(found, name), getattr(clip, name), atol=1e-12)
    reading = read_clip(path)
    assert (reading.recording.format, reading.scale, reading.up) == ("Steps", 1.0, "Y")
    assert found.skeleton.find_role("leftFoot") is not None


def command(*words: object, capsys: pytest.CaptureFixture[str]) -> tuple[int, Any]:
    try:
        code = main([str(word) for word in words])
    except SystemExit as left:
        code = left.code
    out = capsys.readouterr()
    return int(code or 0), json.loads(out.out) if out.out.startswith("{") else out.err


def test_commands_find_it_in_a_plugin_and_nobody_else_imports_it(
    formats: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A package that is installed says so by an entry point."""
    site = tmp_path / "site"
    (site / "steps-1.0.dist-info").mkdir(parents=True)
    (site / "steps-1.0.dist-info" / "METADATA").write_text("Metadata-Version: 2.1\nName: steps\nVersion: 1.0\n")
    (site / "steps-1.0.dist-info" / "entry_points.txt").write_text("[poise.plugins]\nsteps = installed_steps\n")
    shutil.copy(GUIDES / "own_format.py", site / "installed_steps.py")
    FORMATS[:] = [entry for entry in FORMATS if entry.suffix != ".steps"]
    monkeypatch.syspath_prepend(str(site))
    monkeypatch.delitem(sys.modules, "installed_steps", raising=False)
    load_plugins.cache_clear()
    try:
        bvh, path = tmp_path / "walk.bvh", tmp_path / "walk.steps"
        poise.save_clip(walk(), bvh)
        assert command("info", bvh, "--json", capsys=capsys)[0] == 0
        assert "installed_steps" not in sys.modules
        code, said = command("convert", bvh, path, "--json", capsys=capsys)
        assert (code, said["frames"]) == (0, 12) and said["max_joint_error_m"] < 1e-5
        code, said = command("info", path, "--json", capsys=capsys)
        assert (code, said["format"], said["frames"], said["joints"]) == (0, "Steps", 12, len(HUMAN.skeleton))
        code, said = command("convert", path, tmp_path / "back.bvh", "--json", capsys=capsys)
        assert code == 0 and said["max_joint_error_m"] < 1e-5
        code, said = command("convert", bvh, tmp_path / "walk.stps", capsys=capsys)
        assert code == 2 and ".steps (Steps)" in said
    finally:
        load_plugins.cache_clear()
        sys.modules.pop("installed_steps", None)


def test_a_plugin_that_is_broken_is_told_only_to_whom_it_matters(
    formats: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    site = tmp_path / "site"
    (site / "bad-1.0.dist-info").mkdir(parents=True)
    (site / "bad-1.0.dist-info" / "METADATA").write_text("Metadata-Version: 2.1\nName: bad\nVersion: 1.0\n")
    (site / "bad-1.0.dist-info" / "entry_points.txt").write_text("[poise.plugins]\nbad = bad_plugin\n")
    (site / "bad_plugin.py").write_text("import nowhere_at_all\n")
    monkeypatch.syspath_prepend(str(site))
    load_plugins.cache_clear()
    try:
        poise.save_clip(walk(), tmp_path / "walk.bvh")
        poise.load_clip(tmp_path / "walk.bvh")
        complaint = r"Plugin 'bad' \(bad_plugin\) could not be loaded \(ModuleNotFoundError: .*nowhere_at_all"
        with pytest.raises(poise.FileError, match=r"'\.foo' cannot be read.*" + complaint):
            poise.load_clip(tmp_path / "walk.foo")
        with pytest.raises(poise.InputError, match=r"engine 'foo' is not known.*" + complaint):
            poise.Stage("foo")
    finally:
        load_plugins.cache_clear()


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("joint hips - 0 1 0\nfrme 0 0 1 0 1 0 0 0\n", r"walk\.steps:2: 'frme' is no joint"),
        ("joint hips - 0 1 0\nframe 0 0 1 0 1 0 0\n", r"walk\.steps:2: 'frame' is no joint, and no frame of 1 joints"),
        ("joint hips - 0 one 0\n", r"walk\.steps: cannot be read as Steps \(ValueError: could not convert"),
        ("joint hips - 0 1 0\n", r"walk\.steps: cannot be read as Steps \(IndexError"),
        ("joint hips - 0 1 0\nframe 0 0 1 0 nan 0 0 0\n", r"walk\.steps: .*not finite"),
        ("\xff\n", "walk.steps"),
    ],
)
def test_a_broken_file_is_told_in_words(text: str, complaint: str, steps: None, tmp_path: Path) -> None:
    path = tmp_path / "walk.steps"
    path.write_bytes(text.encode("latin-1"))
    with pytest.raises(poise.FileError, match=complaint):
        poise.load_clip(path)


def test_a_file_that_is_not_there_is_told_in_words(steps: None, tmp_path: Path) -> None:
    with pytest.raises(poise.FileError, match="there is no such file"):
        poise.load_clip(tmp_path / "walk.steps")
    with pytest.raises(poise.InputError, match="clip 'run' is not in"):
        poise.save_clip(walk(), tmp_path / "walk.steps")
        poise.load_clip(tmp_path / "walk.steps", clip="run")


def test_what_is_half_written_is_not_there(formats: None, tmp_path: Path) -> None:
    def save(clip: poise.Clip, path: Path) -> None:
        path.write_text("half")
        raise RuntimeError("the other half")

    poise.extend.register_format("Half", ".half", save=save)
    with pytest.raises(RuntimeError, match="the other half"):
        poise.save_clip(walk(), tmp_path / "walk.half")
    assert list(tmp_path.iterdir()) == []
    rejects(lambda: poise.load_clip(tmp_path / "walk.half"), "'.half'", error=poise.FileError)


@pytest.mark.parametrize(
    ("ask", "complaint"),
    [
        (lambda: poise.extend.register_format("Mine", "mine", read=print), "a suffix begins with a dot"),
        (lambda: poise.extend.register_format("Mine", ".MINE", read=print), "small letters"),
        (
            lambda: poise.extend.register_format("Mine", ".bvh", read=print),
            "'.bvh' files are read and written by Poise",
        ),
        (lambda: poise.extend.register_format("Mine", ".mine"), "neither be read nor written"),
    ],
)
def test_what_cannot_be_registered(ask: Callable[[], None], complaint: str, formats: None) -> None:
    with pytest.raises(poise.InputError, match=complaint):
        ask()
    assert all(entry.name != "Mine" for entry in FORMATS)


def test_functions_that_do_not_do_it_are_told(formats: None, tmp_path: Path) -> None:
    poise.extend.register_format("Nothing", ".none", read=lambda path: None, save=lambda clip, path: None)  # type: ignore
    (tmp_path / "a.none").touch()
    rejects(lambda: poise.load_clip(tmp_path / "a.none"), "NoneType")
    with pytest.raises(poise.InputError, match="wrote nothing"):
        poise.save_clip(walk(), tmp_path / "b.none")
