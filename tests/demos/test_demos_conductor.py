"""The demo of bodies that answer their arms: what it shows, read from the files that it writes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from oracles import answers
from poise.demos.mix import conductor
from poise.stage.take.take import Take


def read(take: Take, name: str, folder: Path) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """Times (F,) s and where every joint is, mm, of an actor's BVH file."""
    take.save(folder / "seen.bvh", name)
    bvh = answers.read_bvh(folder / "seen.bvh")
    places, _ = answers.place_joints(bvh)
    assert 1.4 < places["head"][0, 1] < 1.7, "the file is in metres"
    return bvh.period * np.arange(len(bvh.frames)), {joint: 1000.0 * at for joint, at in places.items()}


def find_pitch(at: dict[str, np.ndarray]) -> np.ndarray:
    """Degrees by which the line from the hips to between the shoulders leans forward."""
    line = 0.5 * (at["leftUpperArm"] + at["rightUpperArm"]) - at["hips"]
    return np.degrees(np.arctan2(line[:, 2], line[:, 1]))


def test_bodies_lean_back_as_arms_are_lifted_and_the_more_the_heavier(tmp_path: Path) -> None:
    _, take = conductor.lift_arms()
    times, still = read(take, "animated", tmp_path)
    early = times <= 1.5
    bounds = {"empty": ((15.0, 25.0), (45.0, 60.0), (2.0, 5.0)), "loaded": ((45.0, 65.0), (100.0, 140.0), (6.0, 10.0))}
    for name, wanted in bounds.items():
        _, at = read(take, name, tmp_path)
        assert take.fell_at(name) is None
        back = [(still[joint] - at[joint])[early, 2].max() for joint in ("hips", "head")]
        back.append((find_pitch(still) - find_pitch(at))[early].max())
        for found, (low, high) in zip(back, wanted, strict=True):
            assert low < found < high, name
        for side in ("left", "right"):
            np.testing.assert_allclose(at[f"{side}Foot"], np.tile(at[f"{side}Foot"][0], (len(times), 1)), atol=1.0)
        if name == "empty":
            np.testing.assert_allclose(at["hips"][:, 1], still["hips"][:, 1], atol=5.0)  # the knees stay straight
    figures = conductor.measure_lean(take.clip("loaded"), take.clip("animated"))
    assert figures["hips_back_mm"] == pytest.approx((still["hips"] - at["hips"])[:, 2].max(), abs=0.01)
    assert figures["head_back_mm"] == pytest.approx((still["head"] - at["head"])[:, 2].max(), abs=0.01)


def test_only_a_conductor_who_takes_part_bobs_and_turns(tmp_path: Path) -> None:
    _, take = conductor.conduct(conductor.SECONDS - conductor.LIFT_SECONDS)
    bobs, turns = {}, {}
    for name in ("animated", "mixed", "taking-part"):
        times, at = read(take, name, tmp_path)
        late = times >= 1.5
        across = (at["leftUpperArm"] - at["rightUpperArm"])[late]
        bobs[name] = np.ptp(at["hips"][late, 1])
        turns[name] = np.abs(np.degrees(np.arctan2(-across[:, 2], across[:, 0]))).max()
        assert take.fell_at(name) is None
    assert bobs["animated"] == 0.0 and bobs["mixed"] < 5.0 and 60.0 < bobs["taking-part"] < 100.0
    assert turns["animated"] < 1e-3 and 0.5 < turns["mixed"] < 3.0 < 7.0 < turns["taking-part"] < 12.0
    figures = conductor.measure_part(take.clip("taking-part"))
    assert figures["hips_bob_mm"] == pytest.approx(bobs["taking-part"], abs=0.01)


def test_every_mixed_figure_stands_over_its_ghost_in_both_parts() -> None:
    _, lifted = conductor.lift_arms()
    _, take = conductor.conduct(0.4)
    lift = conductor.draw_lift(lifted)
    conductors = conductor.draw_conductors(take, lift)
    for picture in (lift, conductors):
        solid = [figure for figure in picture.figures if not figure.is_ghost]
        ghosts = [figure for figure in picture.figures if figure.is_ghost]
        assert [figure.label.split("\n")[0].startswith("mixed") for figure in solid] == [False, True, True]
        assert all(words in figure.label for figure, words in zip(solid, ("still", "physics", "physics"), strict=True))
        np.testing.assert_array_equal([g.offset for g in ghosts], [figure.offset for figure in solid[1:]])
        assert all(ghost.motion is solid[0].motion or ghost.motion.duration == pytest.approx(0.4) for ghost in ghosts)
    assert "authored" in conductors.figures[2].label
    np.testing.assert_array_equal(
        [figure.offset for figure in lift.figures], [figure.offset for figure in conductors.figures]
    )
    assert float(conductors.figures[0].motion.times[0]) == conductor.LIFT_SECONDS  # type: ignore[attr-defined]
    assert len(lift.figures[2].items) == 2  # the weights
