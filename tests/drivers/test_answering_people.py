"""A recorded person's arms on a simulated body: it moves as that person did, measured from the written file alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from helpers.recordings import data_file
from oracles import answers
from tools.sweeps.answers_sweep import SETTINGS, answer

pytestmark = [pytest.mark.data, pytest.mark.slow]


@pytest.mark.parametrize("name", ["27_02", "30_01"])
def test_a_body_answers_as_the_person_did_and_late_or_along_without_what_makes_it(name: str, tmp_path: Path) -> None:
    path = data_file(f"bvh-cmu/{name}.bvh")
    person = answers.read_motion(path)
    theirs = answers.measure(person)["beat"]
    found = {}
    for label, settings in SETTINGS.items():
        assert not answer(path, tmp_path / "out.bvh", *settings)
        found[label] = answers.measure(answers.read_motion(tmp_path / "out.bvh"), person)["beat"]
    ours, still, late = found.values()
    assert abs(ours["center"]["gain"]) < 0.2 < 0.9 < still["center"]["gain"]
    for point, near, alike in (("hips", 0.3, 0.7), ("neck", 0.3, 0.8)):
        assert ours[point]["gain"] == pytest.approx(theirs[point]["gain"], abs=near)
        assert ours[point]["with_person"] > alike
        assert abs(ours[point]["lag_ms"]) < 35.0
        assert late[point]["lag_ms"] > 80.0
        assert still[point]["gain"] > -0.1
