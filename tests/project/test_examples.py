"""Complete examples of the docs: those that begin with an import run as they are."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import poise

DOCS = Path(__file__).parents[2] / "docs"
BLOCK = re.compile(r"^```python\n(import .*?)^```$", re.MULTILINE | re.DOTALL)
EXAMPLES = [
    (page, number, code)
    for page in ("examples", "tracking-demos")
    for number, code in enumerate(BLOCK.findall((DOCS / f"{page}.md").read_text(encoding="utf-8")))
]


def run(word: str) -> dict[str, Any]:
    """Run the example that has a word in it, and return its variables."""
    (code,) = [code for _, _, code in EXAMPLES if word in code]
    names: dict[str, Any] = {}
    exec(compile(code, "example", "exec"), names)
    return names


def test_every_example_is_run_here() -> None:
    words = ("build_swing", "arm_swing", "follow=found", "jacobian", "KeepUpright")
    assert sorted(code for _, _, code in EXAMPLES) == sorted(
        code for word in words for _, _, code in EXAMPLES if word in code
    )


def test_swing_is_pumped_by_its_kinematic_rider() -> None:
    names = run("build_swing")
    assert names["last"] > 2.0 * names["first"]


def test_load_is_dropped_when_the_effort_signal_comes(capsys: pytest.CaptureFixture[str]) -> None:
    take = run("arm_swing")["take"]
    (dropped,) = [event for event in take.events if event.kind == "dropped"]
    assert 1.0 < dropped.time < 4.0
    assert "rightUpperArm" in capsys.readouterr().out
    after = take.actor().effort[take.times > dropped.time + 0.2]
    assert after.max() < 1.0


def test_pose_is_held() -> None:
    names = run("follow=found")
    upper = [names["body"].skeleton.index(name) for name in ("rightUpperArm", "rightLowerArm", "spine")]
    turns, wanted = names["take"].actor().rotations[:, upper], names["found"].clip.rotations[0, upper]
    assert np.abs(np.abs((turns * wanted).sum(axis=-1)) - 1.0).max() < 1e-12
    assert names["actor"].fallen is None


def test_center_of_mass_jacobian_is_that_of_differences() -> None:
    """Central differences over every freedom of a floating body in a random pose, by public names."""
    names, rng, h = run("jacobian"), np.random.default_rng(0), 1e-6
    tree, joints = names["tree"], len(names["body"].skeleton)
    root, turns = rng.normal(size=3), poise.rotation.random(rng, (joints,))
    J = poise.extend.compute_center_of_mass_jacobian(tree, root, turns)
    assert J.shape == (3, 3 + 3 * joints)
    for k in range(3 + 3 * joints):
        u = np.zeros(3 + 3 * joints)
        u[k] = h
        ends = [
            poise.extend.compute_center_of_mass(
                tree, root + way * u[:3],
                poise.rotation.multiply(turns, poise.rotation.exp(way * u[3:].reshape(-1, 3))),
            )
            for way in (1.0, -1.0)
        ]  # fmt: skip
        np.testing.assert_allclose(J[:, k], (ends[0] - ends[1]) / (2.0 * h), atol=1e-8)


def test_staff_stays_upright() -> None:
    take = run("KeepUpright")["take"]
    up = poise.rotation.rotate(take.props["staff"][:, 3:], np.array([0.0, 1.0, 0.0]))[:, 1]
    assert np.degrees(np.arccos(up[take.times > 0.5].min())) < 8.0
