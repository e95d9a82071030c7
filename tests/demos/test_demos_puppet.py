"""The dance of the puppet: recorded as a performance, a part of it played.   [M2-M8]"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from poise.demos.puppet import rehearse
from poise.jobs.puppet import PuppetRecipe, run_puppet
from poise.puppetry.dancing import BEAT, BEATS, dance


def test_the_hands_are_a_minute_of_three_passes_that_tremble_and_get_lost() -> None:
    hands = dance()
    assert list(hands) == ["legs", "trunk", "arms"]
    for take in hands.values():
        assert take.duration >= BEAT * BEATS
        assert np.ptp(np.diff(take.times)) > 0.001  # no tracker is quite on time
    assert np.isnan(hands["legs"].places).any()
    assert np.array_equal(hands["arms"].places, dance()["arms"].places)


def test_the_dance_is_recorded_through_the_real_path_and_its_feet_stay(tmp_path: Path) -> None:
    rehearse(tmp_path / "show")
    found = run_puppet(PuppetRecipe((str(tmp_path / "show"),), seconds=7.6))
    assert found.figures["layers"] == ["legs", "trunk", "arms"]
    assert found.figures["stances"] >= 3
    assert found.figures["foot_slip_mm"] < 1.0
    arms = found.clip.positions[:, found.clip.skeleton.index("leftHand")]
    assert np.ptp(arms[:, 0]) > 0.4  # all three layers are played, and not only the legs
