"""`poise walk`: what it reports is in the file, and what it refuses is told."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import poise
from helpers.errors import rejects
from poise.cli import main
from poise.errors import InputError
from poise.jobs.shared.pictures import draw_ground
from poise.jobs.walk.job import WalkResult, parse_path, take_shape
from poise.jobs.walk.metrics import find_hull, find_margin, find_soles, measure_balance, measure_walk
from poise.motion.clip import Clip
from poise.world.forces import Load
from poise.world.ground.height_map import HeightMap
from poise.world.ground.moving import MovingGround
from poise.world.ground.profile import Stairs


@pytest.fixture(scope="module")
def walked() -> WalkResult:
    """Four steps on level ground."""
    return poise.walk(steps=4, fps=30.0)


def test_it_walks_balanced_on_feet_that_stay(walked: WalkResult) -> None:
    found = walked.figures
    assert not found["fell"] and found["steps"] == 4
    assert found["com_margin_m"] > 0.005
    assert found["foot_error_mm"] < 0.5 and found["swing_depth_mm"] < 1.0 and found["sole_gap_mm"] < 2.0
    assert found["limit_excess_deg"] < 0.1 and found["solve_us"] > 0.0


def test_feet_are_where_plain_kinematics_has_them(walked: WalkResult) -> None:
    """Joint places by hand, from the clip alone: ankles of planted feet do not move, and both move in the end."""
    clip = walked.clip
    skeleton = clip.skeleton
    place = np.zeros((len(clip), len(skeleton), 3))
    turn = np.zeros((len(clip), len(skeleton), 3, 3))
    w, x, y, z = np.moveaxis(clip.rotations, -1, 0)
    own = np.stack(
        [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w),
         2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w),
         2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)], -1,
    ).reshape(len(clip), len(skeleton), 3, 3)  # fmt: skip
    for i, parent in enumerate(skeleton.parents):
        if i == 0:
            place[:, 0], turn[:, 0] = clip.root, own[:, 0]
        else:
            place[:, i] = place[:, parent] + turn[:, parent] @ skeleton.offsets[i]
            turn[:, i] = turn[:, parent] @ own[:, i]
    for fall in walked.footfalls:
        ankle = place[:, skeleton.index("leftFoot" if fall.side == 0 else "rightFoot")]
        still = (clip.times >= fall.flat) & (clip.times <= fall.rise)
        if still.any():
            assert np.abs(ankle[still] - ankle[still][0]).max() < 5e-4
            assert np.allclose(ankle[still][0, [0, 2]], fall.place[[0, 2]], atol=1e-3)
    for side in ("leftFoot", "rightFoot"):
        assert place[-1, skeleton.index(side), 2] - place[0, skeleton.index(side), 2] > 0.5


def measure(found: WalkResult, clip: Clip) -> dict[str, object]:
    balance = measure_balance(clip, found.character, found.floor, found.footfalls)
    return measure_walk(clip, found.character, found.floor, found.footfalls, balance)


def test_what_goes_wrong_is_seen(walked: WalkResult) -> None:
    """Figures of a spoilt motion: moved under the ground, over it, to the side; a foot that slides."""
    clip = walked.clip
    sunk = measure(walked, clip.replace(root=clip.root - [0.0, 0.01, 0.0]))
    assert sunk["sole_gap_mm"] == pytest.approx(10.0, abs=0.1) and float(sunk["swing_depth_mm"]) > 5.0  # type: ignore[arg-type]
    floats = measure(walked, clip.replace(root=clip.root + [0.0, 0.03, 0.0]))
    assert floats["fell"] and floats["com_margin_m"] == -np.inf
    slides = clip.root + np.stack([0.01 * clip.times / clip.duration, *2 * [np.zeros(len(clip))]], axis=1)
    assert float(measure(walked, clip.replace(root=slides))["foot_error_mm"]) > 1.0  # type: ignore[arg-type]
    bent = clip.rotations.copy()
    spine = clip.skeleton.index("spine")
    bent[:, spine] = poise.rotation.multiply(poise.rotation.exp(np.array([1.4, 0.0, 0.0])), bent[:, spine])
    leans = measure(walked, clip.replace(rotations=bent))
    assert leans["fell"] and float(leans["com_margin_m"]) < 0.0  # type: ignore[arg-type]


def test_the_hull_and_its_margin_beside_scipy() -> None:
    from scipy.spatial import ConvexHull

    rng = np.random.default_rng(5)
    for _ in range(30):
        # rows of nearly collinear points, as soles have them
        row = np.linspace(0.0, 1.0, 20)[:, None]
        ends = rng.normal(size=(4, 2))
        points = np.concatenate([ends[0] + row * (ends[1] - ends[0]), ends[2] + row * (ends[3] - ends[2])])
        hull, theirs = find_hull(points), ConvexHull(points)
        area = 0.5 * float(np.sum(hull[:, 0] * np.roll(hull[:, 1], -1) - hull[:, 1] * np.roll(hull[:, 0], -1)))
        assert area == pytest.approx(theirs.volume, abs=1e-6)
        for spot in rng.normal(size=(20, 2)):
            inside = -float((theirs.equations[:, :2] @ spot + theirs.equations[:, 2]).max())
            margin = find_margin(hull, spot)
            assert np.sign(margin) == np.sign(inside) or abs(inside) < 1e-6
            if inside > 0.0:
                assert margin == pytest.approx(inside, abs=1e-6)


def test_figures_are_of_the_file(tmp_path: Path) -> None:
    out = tmp_path / "walk.glb"
    found = poise.walk(steps=2, fps=30.0, outputs=out)
    assert found.figures["measured_on"] == "the file" and found.figures["max_joint_error_m"] < 1e-4
    there = poise.load_clip(out)
    assert np.abs(there.positions - found.clip.positions).max() < 1e-4


def test_a_moving_ground_carries_who_walks_on_it() -> None:
    ground = MovingGround(poise.Ground(), sway=(0.3, 0.1, 0.0), period=6.0)
    still, moved = (poise.walk(each, steps=2, fps=30.0) for each in (poise.Ground(), ground))
    shift = np.array([ground.shift(float(t)) for t in moved.clip.times])
    assert np.abs(moved.clip.root - still.clip.root - shift).max() < 1e-9
    assert not moved.fell and moved.figures["foot_error_mm"] < 0.5


def test_a_load_shifts_the_weight() -> None:
    light = poise.walk(steps=1, fps=20.0)
    loaded = poise.walk(steps=1, fps=20.0, loads=(Load("rightHand", 8.0),))
    assert loaded.character.mass == pytest.approx(light.character.mass + 8.0)
    assert not loaded.fell
    assert (
        loaded.clip.root[0, 0] > light.clip.root[0, 0] + 0.005
    )  # the hips go to the left of what the right hand holds


@pytest.mark.parametrize("body", ["fat", "short", "long-leg", "one-arm", "backpack"])
@pytest.mark.many(2)
def test_odd_bodies_walk(body: str) -> None:
    found = poise.walk(steps=3, body=body, fps=30.0)
    assert not found.fell and found.figures["com_margin_m"] > 0.003
    assert found.figures["foot_error_mm"] < 0.5 and found.figures["limit_excess_deg"] < 0.1


@pytest.mark.parametrize(("facing", "way"), [("back", [0, 0, -1]), ("left", [1, 0, 0]), ("right", [-1, 0, 0])])
@pytest.mark.many(1)
def test_it_walks_backwards_and_sideways(facing: str, way: list[int]) -> None:
    """Left is +X, whoever faces +Z."""
    found = poise.walk(steps=3, facing=facing, fps=20.0)
    gone = found.clip.root[-1] - found.clip.root[0]
    assert gone @ np.array(way) > 0.2 and not found.fell


@pytest.mark.slow
def test_stairs_and_their_pictures(tmp_path: Path) -> None:
    """Up a kerb; the ground of its picture is where the ground is, and files come out."""
    names = ("kerb.bvh", "kerb.png", "kerb-center.png", "kerb-joints.png")
    files = [tmp_path / name for name in names]
    found = poise.walk(Stairs(0.15, 0.4, 1), steps=4, fps=20.0, outputs=files[:2], plot=files[2], joints=files[3])
    assert not found.fell and found.figures["climb_m"] > 0.1
    assert found.figures["swing_depth_mm"] < 1.0
    assert all(path.stat().st_size > 1000 for path in files)


@pytest.mark.parametrize("ground", [Stairs(0.2, 0.3, 3), HeightMap(np.random.default_rng(1).random((40, 40)), 0.1)])
def test_a_drawn_ground_lies_on_the_ground(ground: poise.Ground) -> None:
    way = np.stack([np.zeros(20), np.ones(20), np.linspace(0.0, 1.5, 20)], axis=1)
    relief, floor = draw_ground(ground, way, np.linspace(0.0, 1.0, 20))
    corners = relief.points[relief.faces]
    up = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    tops = corners[np.abs(up[:, 1]) > 1e-9]
    inner = 0.98 * tops + 0.02 * tops.mean(axis=1, keepdims=True)  # off the edges, which have two heights
    off = np.abs(ground.height_at(inner[..., 0], inner[..., 2]) - inner[..., 1])
    assert np.median(off) < 2e-5 and np.quantile(off, 0.9) < 0.05
    assert floor <= tops[..., 1].min()
    sides = relief.normals[relief.faces[np.abs(up[:, 1]) <= 1e-9, 0]]
    assert np.abs(sides[:, 1]).max() < 1e-9


def test_words_to_numbers() -> None:
    assert parse_path("0,2") == [(0.0, 2.0)] and parse_path(" -1.5,4 2,3") == [(-1.5, 4.0), (2.0, 3.0)]
    assert take_shape(["rise=0.15", "count=4", "random=yes", "sway=0.1,0,0.2", "ground=rough"]) == {
        "rise": 0.15, "count": 4, "random": True, "sway": (0.1, 0.0, 0.2), "ground": "rough"}  # fmt: skip
    for wrong in ("1", "a,b", "1,2,3", "1,"):
        with pytest.raises(InputError, match="two numbers"):
            parse_path(wrong)


@pytest.mark.slow
def test_a_wall_and_a_gap_are_refused() -> None:
    wall = Stairs(0.7, 0.3, 1, start=0.6)
    rejects(lambda: poise.walk(wall, steps=6), "0.70 m")
    heights = np.zeros((80, 80))
    heights[45:55] = -3.0
    with pytest.raises(InputError, match=r"gap|drops|low"):
        poise.walk(HeightMap(heights, 0.1), path=((0.0, 3.0),))


def test_what_cannot_be_walked_is_refused(tmp_path: Path) -> None:
    for asked, piece in (
        ({"path": ((float("nan"), 1.0),)}, "finite"), ({"steps": 0}, "from 1 to"),
        ({"steps": 10**9}, "from 1 to"), ({"fps": 0.0}, "frames a second"),
        ({"terrain": "moon"}, "'moon' is not known"), ({"facing": "up"}, "ahead, back, left or right; got 'up'"),
        ({"terrain": "rough", "shape": {"spacing": 0.005, "length": 2000.0}}, "at most"),
        ({"body": "ghost"}, "'ghost' is not known"),
    ):  # fmt: skip
        with pytest.raises(InputError, match=piece):
            poise.walk(**asked)
    with pytest.raises(InputError, match="cannot be written"):
        poise.walk(outputs=tmp_path / "walk.txt")


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "out.npz"
    words = ["walk", "-o", str(out), "--path", "-0.2,0.6", "--fps", "20", "--json", "--quiet"]
    assert main(words) == 0
    told = json.loads(capsys.readouterr().out)
    assert {"fell", "steps", "com_margin_m", "foot_error_mm", "solve_us"} <= set(told)
    assert out.exists() and told["fell"] is False


def test_soles_have_toes_of_their_own(walked: WalkResult) -> None:
    soles = find_soles(walked.clip)
    assert soles.points.shape[1] == 2 and soles.front.any() and not soles.front.all()
    fall = next(f for f in walked.footfalls if np.isfinite(f.land) and np.isfinite(f.off))
    frame = int(np.searchsorted(walked.clip.times, 0.5 * (fall.rise + fall.off)))
    heights = soles.points[frame, fall.side, :, 1]
    assert heights[soles.back].min() > 0.005 > heights[soles.front].max()
