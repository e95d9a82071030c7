"""Clips that lean are put back over their feet; those that balance are left alone. Measured by SciPy and Qhull."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import poise
from helpers.clips import lean
from helpers.kinematics import margin_in_hull, soles_of
from helpers.reaching import place
from helpers.recordings import data_file
from poise import Character, InputError
from poise.jobs.balance.solve import balance_clip
from poise.motion import samples
from poise.spatial import rotation

BODY = Character.human(1.75, 75.0)
RATE = 15.0  # frames a second
CLEAN = {name: getattr(samples, name)(BODY.skeleton).pick(slice(None, None, 4)) for name in ("idle", "wave", "squat")}
AHEAD, BACK, ASIDE = (1.0, 0.0, 0.0), (-1.0, 0.0, 0.0), (0.0, 0.0, 1.0)


def margins(clip, body=BODY, every=5):
    """How far the centre of mass is inside the soles, both down."""
    out = []
    for f in range(0, len(clip), every):
        turns, places, center = place(clip.root[f], clip.rotations[f], body)
        out.append(margin_in_hull(soles_of(body, turns, places), center[[0, 2]]))
    return np.array(out)


@pytest.mark.parametrize("name", [*CLEAN, "walk", "jump", "wave_squat_walk"])
def test_what_balances_is_left_alone(name: str) -> None:
    clip = CLEAN.get(name) or getattr(samples, name)(BODY.skeleton)
    found = balance_clip(clip, BODY)
    assert found.clip is clip and not found.changed.any()


@pytest.mark.parametrize("stiff", [False, True])
@pytest.mark.parametrize("axis", [AHEAD, BACK, ASIDE])
@pytest.mark.parametrize("degrees", [5.0, 10.0, 15.0, 20.0])
@pytest.mark.parametrize("name", CLEAN)
@pytest.mark.many(6)
def test_what_leans_is_put_over_its_feet(name: str, degrees: float, axis, stiff: bool) -> None:
    leaned = lean(CLEAN[name], degrees, axis, stiff)
    found = balance_clip(leaned, BODY)
    was = margins(leaned)
    if was.min() > 0.02:  # it leans, and stands
        assert found.clip is leaned
        return
    now = margins(found.clip)
    assert now.min() > -0.002  # soles here and there differ by a little
    if was.min() < -0.01:
        assert found.changed.any() and now.min() > was.min()
    turned = rotation.log(rotation.multiply(rotation.conjugate(leaned.rotations), found.clip.rotations))
    assert np.linalg.norm(turned, axis=-1).max() < np.radians(2.2 * degrees)  # no more than is asked for
    for side in ("left", "right"):
        foot = BODY.skeleton.index(side + "Foot")
        down = found.contacts.foot[:, 0 if side == "left" else 1]
        moved = np.linalg.norm((found.clip.positions - leaned.positions)[down, foot], axis=-1)
        assert moved.max() < 1e-4


def test_corrections_come_and_go_softly() -> None:
    """Only the middle of a clip leans: its ends stay as they were, and nothing jumps."""
    clip = CLEAN["idle"]
    share = np.clip(1.5 - np.abs(np.linspace(-3.0, 3.0, len(clip))), 0.0, 1.0) ** 2 * (3.0 - 2.0 * np.clip(
        1.5 - np.abs(np.linspace(-3.0, 3.0, len(clip))), 0.0, 1.0))  # fmt: skip
    whole = lean(clip, 16.0, BACK)
    turned = rotation.log(rotation.multiply(rotation.conjugate(clip.rotations), whole.rotations))
    leaned = clip.replace(
        root=clip.root + share[:, None] * (whole.root - clip.root),
        rotations=rotation.multiply(clip.rotations, rotation.exp(share[:, None, None] * turned)),
    )
    found = balance_clip(leaned, BODY)
    assert 0 < found.changed.sum() < len(clip) - 10
    same = ~found.changed
    np.testing.assert_allclose(found.clip.rotations[same], leaned.rotations[same], rtol=0.0, atol=1e-15)
    np.testing.assert_array_equal(found.clip.root[same], leaned.root[same])
    assert margins(found.clip).min() > -0.002
    speed = np.diff(found.clip.positions - leaned.positions, axis=0) * RATE
    assert np.linalg.norm(np.diff(speed, axis=0) * RATE, axis=-1).max() < 6.0  # m/s2


def test_hands_can_be_kept_instead() -> None:
    leaned = lean(CLEAN["wave"], 16.0, AHEAD)
    moved = {}
    for keep in ("pose", "hands"):
        found = balance_clip(leaned, BODY, keep=keep)
        assert margins(found.clip).min() > -0.002
        ends = [BODY.skeleton.index(role) for role in ("leftHand", "rightHand", "head")]
        moved[keep] = np.linalg.norm((found.clip.positions - leaned.positions)[:, ends], axis=-1).max()
    assert moved["hands"] < 0.5 * moved["pose"]


def test_a_walk_that_leans_is_brought_nearer_to_its_feet() -> None:
    """By the mean of the centre of mass before the middle of the feet, which a clean walk has near zero."""
    clip = samples.walk(BODY.skeleton)

    def ahead(motion):
        feet = motion.positions[:, [motion.skeleton.index(side + "Foot") for side in ("left", "right")]].mean(axis=1)
        centers = np.array([place(motion.root[f], motion.rotations[f], BODY)[2] for f in range(0, len(motion), 10)])
        return float(np.mean((centers - feet[::10])[:, 0]))

    leaned = lean(clip, 18.0, ASIDE)
    found = balance_clip(leaned, BODY)
    assert found.by == "zmp" and found.changed.any()
    assert abs(ahead(found.clip) - ahead(clip)) < 0.5 * abs(ahead(leaned) - ahead(clip))


def test_a_single_pose_is_balanced() -> None:
    leaned = lean(CLEAN["idle"].pick(slice(0, 1)), 18.0, BACK)
    found = poise.balance(leaned, mass=75.0)
    assert found.figures["frames"] == 1 and found.figures["changed_frames"] == 1
    body = found.character
    assert margins(found.clip, body).min() > 0.0 > margins(leaned, body).min()


def test_the_command_in_python_writes_and_measures(tmp_path: Path) -> None:
    leaned = lean(CLEAN["wave"], 15.0, BACK)
    poise.save_clip(leaned, tmp_path / "lean.bvh")
    told = []
    found = poise.balance(
        tmp_path / "lean.bvh", output=tmp_path / "out.bvh", plot=tmp_path / "out.png",
        tell=lambda kind, sentence: told.append(sentence),
    )  # fmt: skip
    figures = found.figures
    assert figures["com_margin_before_m"] < 0.0 < figures["com_margin_m"]
    assert figures["measured_on"] == "the file" and figures["foot_slip_mm"] < 0.1
    assert any("frames changed" in sentence for sentence in told)
    there = poise.load_clip(tmp_path / "out.bvh")
    assert there.skeleton.names == leaned.skeleton.names and len(there) == len(leaned)
    np.testing.assert_allclose(there.times, leaned.times, atol=1e-6)
    assert margins(there, Character.from_skeleton(there.skeleton, figures["mass_kg"])).min() > -0.003


@pytest.mark.parametrize("given", [{"by": "luck"}, {"keep": "hat"}, {"margin": np.nan}, {"margin": 5.0}])
def test_what_makes_no_sense_is_refused(given) -> None:
    with pytest.raises(InputError):
        poise.balance(CLEAN["idle"], **given)


def test_a_body_without_feet_is_refused() -> None:
    from poise.body.reshape import remove

    body = remove(BODY, "leftFoot")
    clip = poise.Clip(body.skeleton, np.zeros(1), np.zeros((1, 3)), rotation.identity((1, len(body.skeleton))))
    with pytest.raises(InputError, match=r"feet|Foot"):
        balance_clip(clip, body)


@pytest.mark.data
def test_recordings_stay_as_they_are() -> None:
    for name in ("02_05", "07_01", "115_01"):
        clip = poise.load_clip(data_file(f"bvh-cmu/{name}.bvh"))
        clip = clip.pick(slice(0, 600, 2))
        found = balance_clip(clip, Character.from_skeleton(clip.skeleton))
        assert found.clip is clip, name
