"""The dance of the puppet: recorded as a performance, a part of it played.   [M2-M8]"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import poise
import poise.demos.marionette.puppet as demo
from poise.cli import main
from poise.demos.marionette.dance import BEAT, BEATS, dance
from poise.demos.marionette.puppet import FOLDERS, rehearse


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
    found = poise.puppet(tmp_path / "show", seconds=7.6)
    assert found.figures["layers"] == ["legs", "trunk", "arms"]
    assert found.figures["stances"] >= 3
    assert found.figures["foot_slip_mm"] < 1.0
    arms = found.clip.positions[:, found.clip.skeleton.index("leftHand")]
    assert np.ptp(arms[:, 0]) > 0.4  # all three layers are played, and not only the legs


def test_recording_again_replaces_the_files_and_leaves_no_others(tmp_path: Path) -> None:
    rehearse(tmp_path / "show")
    before = {path.name: path.read_bytes() for path in (tmp_path / "show").iterdir()}
    rehearse(tmp_path / "show")
    assert {path.name: path.read_bytes() for path in (tmp_path / "show").iterdir()} == before
    assert set(before) == set(FOLDERS["puppet-performance"])


def test_demo_runs_again_into_its_folder_but_not_over_files_of_the_user(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Recording is real; what follows it is not run."""
    monkeypatch.setattr(demo, "run", lambda folder: {"layers": len(rehearse(folder / "puppet-performance").now.layers)})
    words = ["demo", "puppet", "-o", str(tmp_path), "--quiet"]
    assert main(words) == 0
    assert main(words) == 0
    mine = tmp_path / "puppet-performance" / "legs-2.hands"
    mine.write_text("mine")
    assert main(words) == 2
    assert "legs-2.hands" in capsys.readouterr().err and mine.read_text() == "mine"
    mine.unlink()
    (tmp_path / "puppet-other").mkdir()
    assert main(words) == 2
