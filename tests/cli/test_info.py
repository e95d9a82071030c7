"""`poise info` on a file with much that is odd, for programs and for people."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from helpers import rigs
from helpers.recordings import data_file, data_folder
from poise.cli import main
from poise.files.formats.bvh.clip import save_bvh
from poise.motion.samples import jump
from poise.spatial import rotation


@pytest.fixture
def odd(tmp_path: Path) -> Path:
    """A jump without names, in inches, said to be twice as fast as it is, after an added rest pose."""
    clip = jump(rigs.HUMAN, fps=60.0)
    skeleton, order = rigs.scramble(clip.skeleton, np.random.default_rng(4))
    path = tmp_path / "odd.bvh"
    bent = clip.rotations.copy()
    bent[:, clip.skeleton.index("spine")] = rotation.exp(np.array([0.9, 0.0, 0.0]))
    rotations = np.concatenate([rotation.identity((1, len(skeleton))), bent[:, order]])
    root = np.concatenate([clip.root[:1], clip.root]) / 0.0254
    save_bvh(
        clip.replace(
            skeleton=skeleton.scaled(1 / 0.0254), root=root, rotations=rotations, times=np.arange(len(root)) / 120.0
        ),
        path,
    )
    return path


def ask(capsys: pytest.CaptureFixture[str], *words: object) -> dict:
    assert main(["info", *map(str, words), "--json"]) == 0
    found: dict = json.loads(capsys.readouterr().out)
    return found


def test_everything_odd_is_named(capsys: pytest.CaptureFixture[str], odd: Path) -> None:
    found = ask(capsys, odd)
    assert found["scale_to_m"] == 0.0254
    assert found["frames"] == len(jump(rigs.HUMAN, fps=60.0)) + 1
    assert found["duration_s"] == pytest.approx((found["frames"] - 1) / 120.0)
    assert found["stature_m"] == pytest.approx(1.75, rel=0.02)
    assert {"added T-pose", "unit", "frame rate"} <= {w.split(":")[0] for w in found["warnings"]}
    assert any("--fps 60" in w for w in found["warnings"])
    assert found["roles_from"] == "shape" and 0.5 < found["confidence"] < 1.0
    assert len(found["roles"]) + len(found["unmapped"]) == found["joints"] == len(rigs.HUMAN)


def test_what_is_told_is_believed(capsys: pytest.CaptureFixture[str], odd: Path, tmp_path: Path) -> None:
    plain = ask(capsys, odd)
    swapped = {"leftHand": plain["roles"]["rightHand"], "rightHand": plain["roles"]["leftHand"]}
    (tmp_path / "roles.json").write_text(json.dumps(swapped))
    told = ask(capsys, odd, "--fps", 60, "--roles", tmp_path / "roles.json")
    assert told["fps"] == pytest.approx(60.0)
    assert {role: told["roles"][role] for role in swapped} == swapped
    assert not any(w.startswith("frame rate") for w in told["warnings"])


def test_people_can_read_it(capsys: pytest.CaptureFixture[str], odd: Path) -> None:
    assert main(["info", str(odd), "--quiet"]) == 0
    text = capsys.readouterr().out
    for words in ("BVH, 'odd'", "m tall", "inches", "confidence", "leftUpperLeg", "up       Y"):
        assert words in text


@pytest.mark.data
def test_every_recording_is_understood(capsys: pytest.CaptureFixture[str]) -> None:
    data_file("bvh-cmu/07_01.bvh")
    folder = data_folder()
    assert folder is not None
    # What the recordings' list says of their bodies, m: CMU's subject 02 from its own skeleton, the OpenSim model, the
    # avatar and the mannequin from their meshes.
    statures = {"bvh-cmu/02_05.bvh": 1.582, "asf-amc-cmu/02_05.amc": 1.582, "force-bvh/walk3d.bvh": 1.793}
    statures |= {"bvh-other/bvh_test1.bvh": 64 * 0.0254, "vrm/cryptovoxels.vrm": 1.5, "gltf/manny_med_mod.gltf": 2.2}
    for name, stature in statures.items():
        assert ask(capsys, folder / name)["stature_m"] == pytest.approx(stature, rel=0.05), name
