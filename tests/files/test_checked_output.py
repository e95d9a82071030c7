"""What is written is read again before it takes its name: what stood there stays where anything is wrong with it."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import pytest

from helpers.bodies import make_human
from helpers.files.gltf_bodies import SINGLE, build
from poise.body.role_finding.guess import with_roles
from poise.cli import main
from poise.errors import FileError
from poise.files.formats.bvh.clip import save_bvh
from poise.files.output import checked_output
from poise.files.writing import round_trip, writing
from poise.motion.samples import walk, wave

USD = [".usda", ".usdc"] if importlib.util.find_spec("pxr") else []


@pytest.fixture
def walking(tmp_path: Path) -> Path:
    (tmp_path / "in").mkdir()
    save_bvh(walk(with_roles(make_human(1.75)), 4.0), tmp_path / "in" / "walk.bvh")
    build(SINGLE["plain"])[0].save(tmp_path / "in" / "person.glb")
    return tmp_path / "in" / "walk.bvh"


def refuse(path: Path, *_: Any, **__: Any) -> None:
    assert path.exists() and path.stat().st_size > 100  # it is written by now
    raise FileError(path, "what was written cannot be read again.")


def check_kept(words: list[object], output: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The command fails, says so of the output's own name, and leaves the old file and nothing else."""
    output.parent.mkdir(exist_ok=True)
    output.write_bytes(b"old")
    assert main([*map(str, words), "--quiet"]) == 2
    assert capsys.readouterr().err == f"poise: {output}: what was written cannot be read again.\n"
    assert output.read_bytes() == b"old"
    assert list(output.parent.iterdir()) == [output]


@pytest.mark.parametrize("suffix", [".bvh", ".glb", ".npz", *USD])
@pytest.mark.many(2)
def test_a_conversion_that_cannot_be_read_again_leaves_the_old_file(
    suffix: str, walking: Path, tmp_path: Path, monkeypatch: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(writing, "read_positions", refuse)
    output = tmp_path / "out" / f"x{suffix}"
    check_kept(["convert", walking, output], output, capsys)


@pytest.mark.parametrize("name", ["walk.bvh", "person.glb"])
def test_a_kept_file_that_cannot_be_read_again_leaves_the_old_file(
    name: str, walking: Path, tmp_path: Path, monkeypatch: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(writing, "read_positions", refuse)
    output = tmp_path / "out" / name
    check_kept(["convert", walking.parent / name, output, "--keep"], output, capsys)


@pytest.mark.parametrize("character", ["walk.bvh", "person.glb"])
def test_a_retargeted_motion_that_cannot_be_read_again_leaves_the_old_file(
    character: str, walking: Path, tmp_path: Path, monkeypatch: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(writing, "read_positions", refuse)
    output = tmp_path / "out" / "x.glb"
    check_kept(["retarget", walking, walking.parent / character, "-o", output], output, capsys)


@pytest.mark.parametrize("suffix", [".glb", ".take.npz"])
def test_a_mix_that_cannot_be_read_again_leaves_the_old_file(
    suffix: str, walking: Path, tmp_path: Path, monkeypatch: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    from poise.jobs.shared import metrics, results

    save_bvh(wave(with_roles(make_human(1.75)), 1.8), walking)
    monkeypatch.setattr(metrics, "read_written", refuse)
    monkeypatch.setattr(results, "load_take", refuse)
    output = tmp_path / "out" / f"x{suffix}"
    check_kept(["mix", walking, "-o", output], output, capsys)


def test_a_file_that_is_wrong_is_read_before_it_is_named(walking: Path, tmp_path: Path, monkeypatch: Any) -> None:
    """The real reading back, of a file that was cut while it was written."""
    right = writing.save_clip

    def cut(clip: Any, path: Path, **options: Any) -> None:
        right(clip, path, **options)
        path.write_bytes(path.read_bytes()[:-100])

    monkeypatch.setattr(writing, "save_clip", cut)
    output = tmp_path / "x.glb"
    output.write_bytes(b"old")
    assert main(["convert", str(walking), str(output), "--quiet"]) == 2
    assert output.read_bytes() == b"old"
    assert round_trip.read_positions is not refuse


def test_errors_speak_of_the_name_that_was_asked_for(tmp_path: Path) -> None:
    output = tmp_path / "x.bvh"
    with pytest.raises(FileError) as caught, checked_output(output) as draft:
        assert draft.suffix == ".bvh" and draft.parent == tmp_path and draft != output
        raise FileError(draft, f"line of {draft} is wrong.", 7)
    assert str(caught.value) == f"{output}:7: line of {output} is wrong."
    assert caught.value.line == 7
    with pytest.raises(FileError, match=r"other\.txt: is not there"), checked_output(output):
        raise FileError("other.txt", "is not there.")
    with pytest.raises(KeyboardInterrupt), checked_output(output) as draft:
        draft.write_text("half")
        raise KeyboardInterrupt
    assert list(tmp_path.iterdir()) == []


def test_a_link_is_followed_and_a_finished_file_takes_its_name(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    target, link = tmp_path / "real" / "x.bin", tmp_path / "link.bin"
    target.write_bytes(b"old")
    link.symlink_to(target)
    with checked_output(link) as draft:
        draft.write_bytes(b"new")
        assert target.read_bytes() == b"old"
    assert link.is_symlink() and target.read_bytes() == b"new"
    assert list(target.parent.iterdir()) == [target]
