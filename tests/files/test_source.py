"""`poise.load_clip` takes what the command line takes, and means the same by it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import poise
from poise.cli import main
from poise.motion import samples

CLIP = samples.wave(poise.Character.human(1.75, 75, preset="mix").skeleton, 1.8, fps=50.0)


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    poise.save_clip(CLIP, tmp_path / "wave.bvh")
    (tmp_path / "roles.toml").write_text('hips = "hips"\nneck = "head"\n')
    monkeypatch.chdir(tmp_path)
    return tmp_path


OPTIONS: dict[str, tuple[list[str], dict[str, Any]]] = {
    "fps": (["--fps", "25"], {"fps": 25}),
    "height": (["--height", "1.2"], {"height": 1.2}),
    "scale": (["--scale", "0.5"], {"scale": 0.5}),
    "up": (["--up", "Z"], {"up": "Z"}),
    "clip": (["--clip", "0"], {"clip": 0}),
    "roles": (["--roles", "neck=head"], {"roles": {"neck": "head"}}),
    "roles in words": (["--roles", "neck=head,hips=hips"], {"roles": "neck=head,hips=hips"}),
    "roles in a file": (["--roles", "roles.toml"], {"roles": "roles.toml"}),
}


@pytest.mark.parametrize("option", OPTIONS)
@pytest.mark.many(3)
def test_an_option_means_what_it_does_to_a_command(
    option: str, place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """What the command finds of the file, told by the clip that Python loads."""
    words, said = OPTIONS[option]
    assert main(["info", "wave.bvh", *words, "--json", "--quiet"]) == 0
    told = json.loads(capsys.readouterr().out)
    clip = poise.load_clip("wave.bvh", **said)
    assert clip.fps == pytest.approx(told["fps"], abs=1e-6)
    assert clip.duration == pytest.approx(told["duration_s"], abs=1e-9)
    assert dict(clip.skeleton.roles) == told["roles"]
    bones = np.linalg.norm(clip.skeleton.offsets[1:], axis=1) / np.linalg.norm(CLIP.skeleton.offsets[1:], axis=1)
    np.testing.assert_allclose(bones, told["scale_to_m"], rtol=1e-5)  # the file has six decimals
    assert main(["convert", "wave.bvh", "out.npz", "--quiet", *words]) == 0
    again = poise.load_clip("out.npz", 1.0, "Y")
    np.testing.assert_allclose(again.positions, clip.positions, atol=1e-9)


WRONG: dict[str, tuple[dict[str, Any], str]] = {
    "fps": ({"fps": 0}, "^fps must be from 0.1 to 100000 frames a second; got 0"),
    "fps in words": ({"fps": "fast"}, "^fps must be a number; got 'fast'"),
    "height": ({"height": 175}, "^height must be from 0.3 to 3 m; got 175"),
    "scale beside height": ({"scale": 0.01, "height": 1.7}, "^height scales the clip whatever its unit, so that scale"),
    "roles": ({"roles": "leftFoot"}, "^roles takes role=joint words, or a .toml or .json file of them"),
    "roles by number": ({"roles": 5}, "^roles maps a role to the name of a joint"),
    "joints by number": ({"roles": {"hips": 0}}, "^roles maps a role to the name of a joint"),
    "up": ({"up": "W"}, "^up must be X, Y, Z, -X, -Y or -Z; got 'W'"),
    "clip": ({"clip": 7}, "clip '7' is not in wave.bvh. Known: wave"),
    "scale": ({"scale": -1.0}, "^scale must be from 1e-06 to 1e\\+06 metres a unit; got -1"),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_cannot_be_is_a_sentence_in_pythons_words(case: str, place: Path) -> None:
    said, sentence = WRONG[case]
    with pytest.raises(poise.InputError, match=sentence):
        poise.load_clip("wave.bvh", **said)
