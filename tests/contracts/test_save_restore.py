"""A stage that is restored goes on with the same bits: by itself, set up again, and in another process."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from helpers.stages import PASTS, check_goes_on, go_on
from poise.stage.state.files import save_state

TESTS = Path(__file__).parents[1]
SECONDS = 0.4


@pytest.mark.parametrize("name", PASTS)
@pytest.mark.many(3)
def test_a_restored_stage_goes_on_with_the_same_bits(name: str) -> None:
    past = PASTS[name]
    if past.is_slow:
        pytest.importorskip("pybullet", reason="no pybullet here")
    stage = past.set_up()
    past.live_through(stage)
    check_goes_on(stage, SECONDS * (0.1 if past.is_slow else 1.0), past.set_up())


def test_another_process_goes_on_with_the_same_bits(tmp_path: Path) -> None:
    ends = {}
    for name, past in PASTS.items():
        if past.is_slow:
            pytest.importorskip("pybullet", reason="no pybullet here")
        stage = past.set_up()
        past.live_through(stage)
        save_state(stage.save(), tmp_path / f"{name}.state.npz")
        ends[name] = go_on(stage, SECONDS * (0.1 if past.is_slow else 1.0))
    assert len(set(ends.values())) == len(PASTS)
    done = subprocess.run(
        [sys.executable, "-m", "helpers.stages", str(SECONDS), str(tmp_path)], capture_output=True, text=True,
        check=True, env={**os.environ, "PYTHONPATH": os.pathsep.join([str(TESTS), *sys.path])},
    )  # fmt: skip
    assert json.loads(done.stdout) == ends
