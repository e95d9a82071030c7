"""`poise bench mix`: it measures what it says, whatever the times are."""

from __future__ import annotations

import numpy as np
import pytest

from poise.bench import mix
from poise.bench.mix import advance, build_mixed, build_tracked, count_freedoms, replay


def test_figures_are_there_and_agree_with_one_another() -> None:
    found = mix.run(rounds=1, seconds=0.1)
    assert not found["fell"]
    assert found["realtime_factor"] * found["us_per_step"] == pytest.approx(1e6 * found["dt_s"])
    assert {"us_per_step", "tracked_us_per_step", "bare_engine_us", "ratio", "realtime_factor"} <= set(found)
    # six of the root, three a hip, one a knee, two an ankle; then spine, head and arms by what a human's joints have
    assert found["freedoms"]["mixed"] == 6 + 2 * (3 + 1 + 2)
    assert found["freedoms"]["tracking"] > found["freedoms"]["mixed"]


def test_the_bare_steps_are_those_of_the_run() -> None:
    """Replayed, the engine comes to the state that the stage came to, and without its steps to the one before."""
    stage, other = build_mixed(), build_mixed()
    bare, put = replay(stage, 20)
    advance(other, 20)
    end = other.groups[0].simulation.data.qpos.copy()  # type: ignore[attr-defined]
    put()
    before = stage.groups[0].simulation.data.qpos.copy()  # type: ignore[attr-defined]
    bare()
    after = stage.groups[0].simulation.data.qpos  # type: ignore[attr-defined]
    assert np.abs(after - end).max() < 1e-5, "the arms are where they were last, the rest as it was"
    assert np.abs(before - end).max() > np.abs(after - end).max()


def test_a_tracked_body_has_more_to_simulate_and_stands() -> None:
    stage = build_tracked("tracking")
    advance(stage, 100)
    assert count_freedoms(stage) == 48 + 6 - 2 * (2 + 1), "knees and ankles are hinges under a balance"
    assert all(actor.fallen is None for actor in stage.actors.values())
