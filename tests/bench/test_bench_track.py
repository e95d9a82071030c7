"""`poise bench track`: its figures are there, its bodies stand, and no step of theirs calls Python."""

from __future__ import annotations

import math

import pytest

from poise.bench.track import build, run
from poise.drivers.track.track import LAWS


def test_figures() -> None:
    found = run(count=2, rounds=1, frames=1)
    for name in ("", "give_", "upper_", "paper_", "critical_", "crowd_"):
        assert found[f"{name}us_per_step"] > 0.0
        assert math.isfinite(found[f"{name}ratio"])
    assert found["fell"] == 0


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("is_upper", [False, True])
def test_no_step_calls_python(law: str, is_upper: bool) -> None:
    stage = build(1, law, is_upper, 0.5)
    stage.advance(1)
    assert all(program.is_compiled for program in stage.loop.runner.programs)
