"""Bodies of files with joints between the root and the thighs: a reference above the pelvis, sockets of the hips."""

from __future__ import annotations

import numpy as np
import pytest

import poise


def insert(skeleton: poise.Skeleton, *below: str) -> poise.Skeleton:
    """A skeleton with a joint of no length between each of these and what carries it; `hips`: above the root."""
    names, parents, offsets, tips = (
        list(x) for x in (skeleton.names, skeleton.parents, skeleton.offsets, skeleton.tips)
    )
    for role in below:
        at = names.index(skeleton.roles[role])
        names.insert(at, f"above {role}")
        parents = [p + (p >= at) for p in parents]
        parents.insert(at, parents[at])
        parents[at + 1] = at
        offsets.insert(at, offsets[at] if at == 0 else np.zeros(3))
        if at == 0:
            offsets[1] = np.zeros(3)
        tips.insert(at, np.full(3, np.nan))
    return poise.Skeleton(tuple(names), np.array(parents), np.array(offsets), np.array(tips), skeleton.roles)


@pytest.mark.parametrize("below", [("leftUpperLeg", "rightUpperLeg"), ("hips",), ("hips", "leftUpperLeg")])
def test_it_stands_and_conducts(below: tuple[str, ...]) -> None:
    plain = poise.Character.human(1.75, 75.0).skeleton
    body = poise.Character.from_skeleton(insert(plain, *below), mass=75.0)
    stage = poise.Stage()
    actor = stage.add(body)
    actor.drive("legs", poise.Balance())
    actor.drive("arms", poise.Kinematic(poise.gestures.conduct()))
    take = stage.run(2.0, fps=25.0).actor()
    assert actor.fallen is None and np.all(take.margin > 0.05)
    assert np.ptp(take.soles[..., [0, 2]], axis=0).max() < 1e-3
