"""A run that breaks off is a failure in every sweep, also where a fall is none."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import poise
from poise import Character, Stage, gestures
from poise.errors import SolveError
from tools.sweeps import (
    abuse_sweep,
    coupling_sweep,
    engines_sweep,
    fall_sweep,
    mix_sweep,
    planted_sweep,
    published_sweep,
    push_sweep,
    soak,
    standing_sweep,
)
from tools.sweeps.runs import Figures

MOVE = "conduct 92 right"
BROKEN = Figures(0.1, "simulation became non-finite")


@pytest.fixture
def breaks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every simulation breaks off at once."""

    def stop(*_args: Any, **_named: Any) -> Any:
        raise SolveError("simulation became non-finite at t=0 s (a test).")

    for name in ("advance", "step"):
        monkeypatch.setattr(Stage, name, stop)


@pytest.mark.usefixtures("breaks")
def test_bodies_steps_gains_couplings_and_engines(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mix_sweep, "STATURES", ())
    monkeypatch.setattr(mix_sweep, "FULL", ((1.75, 75.0),))
    monkeypatch.setattr(mix_sweep, "GESTURES", {MOVE: gestures.conduct()})
    text, missed = mix_sweep.sweep_bodies()
    assert missed >= 1 and "exploded" in text
    monkeypatch.setattr(coupling_sweep, "MOVES", (MOVE,))
    monkeypatch.setattr(coupling_sweep, "STEPS_MS", (5.0,))
    assert coupling_sweep.sweep_steps()[1] >= 2
    monkeypatch.setattr(coupling_sweep, "GAINS", (("exact, k = 2", {"gain": 2.0}),))  # which may fall
    assert coupling_sweep.sweep_gains()[1] == 1
    monkeypatch.setattr(published_sweep, "CASES", [("mix", "arms", 1.0, 5.0)])
    monkeypatch.setattr(published_sweep, "MOVES", (MOVE,))
    assert published_sweep.sweep()[1] >= 2
    monkeypatch.setattr(engines_sweep, "ENGINES", ("mujoco", "mujoco"))
    assert engines_sweep.sweep()[1] >= 1


@pytest.mark.usefixtures("breaks")
def test_standing_falling_and_abuse() -> None:
    case = standing_sweep.make_case(3, {})
    assert standing_sweep.report([(case, standing_sweep.try_case(case))])[1] == 1
    for way in ("push", "drop"):
        found = fall_sweep.fall(Character.human(preset="mix"), "one", "mujoco", way, 0.0)
        if way == "push":
            assert found.why
        assert found.is_bad and fall_sweep.report([found])[1] == 1
    tally = abuse_sweep.Tally()
    for seed in (0, 1):  # some begin with something else than a step
        abuse_sweep.Episode(seed, tally, False).run()
    assert len(tally.failures) + len(tally.ended) == 2 and tally.missed == 2


def test_standing_on_more_than_the_floor_gives_is_known_before() -> None:
    """A tenth of the body in a hand that swings fast is; half as fast, or with nothing in it, it is not."""
    body = Character.human(1.79, 104.0, preset="tracking")
    for rate, mass, most in ((1.49, 9.7, 3.0), (0.75, 9.7, 1.0), (1.49, 0.0, 1.0)):
        loads = (poise.Load("leftHand", mass),) if mass else ()
        swing = gestures.arm_swing(rate, 71, "left", True)
        case = standing_sweep.Case(body, "one", swing, "arm_swing()", "upperBody", loads, friction=0.52)
        asked = standing_sweep.find_asked(case)
        assert asked < most and (asked > 1.0) == (most > 1.0)
        fell = standing_sweep.Outcome(1.0, 1.0, 1.0, ["fell at 4.1 s"], asked=asked)
        assert standing_sweep.report([(case, fell)])[1] == (1 if most == 1.0 else 0)
        broke = standing_sweep.Outcome(faults=["broke: it became non-finite"], asked=asked)
        assert standing_sweep.report([(case, broke)])[1] == 1


@pytest.mark.usefixtures("breaks")
def test_recordings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from poise.files.formats.bvh.clip import save_bvh
    from poise.motion.samples.stand import wave

    clip = wave(Character.human(preset="mix").skeleton, fps=30.0)
    save_bvh(clip, tmp_path / "wave.bvh")
    assert poise.mix(clip).broken is not None
    found = planted_sweep.try_recording(tmp_path / "wave.bvh", None)
    assert found is not None and found[0] is not None
    monkeypatch.setattr(mix_sweep, "data_folder", lambda: tmp_path)
    assert mix_sweep.sweep_clips()[1] >= 6  # every size of it


def test_pushes_and_long_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    pusher, whole = push_sweep.Pusher(1.75, 75.0, "mix", "still"), soak.conduct(0.1)

    def stop(*_args: Any, **_named: Any) -> Any:
        raise SolveError("simulation became non-finite at t=0 s (a test).")

    monkeypatch.setattr(Stage, "step", stop)
    assert push_sweep.measure(pusher, 0.2)[1] >= push_sweep.DIRECTIONS
    monkeypatch.setattr(soak, "find_rhythm", lambda _places: (1.0, 1.0))
    for broken in (0.0, 1.0):
        monkeypatch.setattr(soak, "conduct", lambda minutes, gain=1.0, b=broken: BROKEN if gain == b else whole)
        assert soak.sweep()[1] >= 1
