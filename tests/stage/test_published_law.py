"""The `paper` coupling as published (`Stage(coupling_filter=0)`), against its own recursion in closed form."""

from __future__ import annotations

import numpy as np
import pytest

import poise
from helpers.errors import rejects
from poise.body.character import Character, Segment
from poise.body.skeleton import Skeleton
from poise.spatial.inertia import RigidInertia
from poise.stage.actor import Actor

G, DT, MASS = 9.81, 0.005, 10.0


def build_tower(ratio: float) -> Character:
    """A physical base of 10 kg with a part of `ratio` times its mass straight above it: it falls without rotating."""
    skeleton = Skeleton(("base", "top"), np.array([-1, 0]), np.array([[0.0, 0.0, 0.0], [0.0, 0.3, 0.0]]))
    segments = tuple(
        Segment(name, name, RigidInertia(mass, np.array([0.0, 0.1, 0.0]), mass * 0.02 * np.eye(3)))
        for name, mass in (("base", MASS), ("top", ratio * MASS))
    )
    return Character("tower", skeleton, segments, 1.0)


def drop_tower(engine: str, ratio: float, gain: float, coupling_filter: float | None) -> tuple[poise.Stage, Actor]:
    """A tower in free fall whose upper part a motion holds still."""
    stage = poise.Stage(engine, DT, "paper", gain=gain, coupling_filter=coupling_filter, ground=None)
    character = build_tower(ratio)
    actor = stage.add(character)
    still = poise.Clip(character.skeleton, np.arange(3) / 30.0, np.zeros((3, 3)), np.tile([1.0, 0, 0, 0], (3, 2, 1)))
    actor.drive("root", poise.Free())
    actor.drive(["top"], poise.Kinematic(still))
    return stage, actor


@pytest.mark.parametrize("engine", ["mujoco", "bullet"])
@pytest.mark.parametrize(
    ("ratio", "gain", "coupling_filter"),
    [(0.5, 1.0, 0.0), (0.9, 1.0, 0.0), (1.2, 1.0, 0.0), (0.5, 3.0, 0.0), (0.5, 1.0, 0.5), (1.2, 1.0, 0.6)],
)
def test_accelerations_follow_the_published_recursion(
    engine: str, ratio: float, gain: float, coupling_filter: float
) -> None:
    """m x(n+1) = -m g - k u m (y(n) + g), y(n+1) = f y(n) + (1 - f) x(n+1); f = 0: the error grows by -k u per step."""
    stage, actor = drop_tower(engine, ratio, gain, coupling_filter)
    stage.build()
    y = v = 0.0
    for _ in range(12):
        stage.step()
        x = -G - gain * ratio * (y + G)
        y = coupling_filter * y + (1.0 - coupling_filter) * x
        v += DT * x
        np.testing.assert_allclose(actor.body.state.v[1], v, rtol=1e-6)


def measure_error(ratio: float, gain: float) -> float:
    """Return the distance between the last acceleration and free fall, m/s2, after 30 steps of the published law."""
    stage, actor = drop_tower("mujoco", ratio, gain, 0.0)
    stage.advance(29)
    before = float(actor.body.state.v[1])
    stage.step()
    return abs((float(actor.body.state.v[1]) - before) / DT + G)


def test_published_law_converges_below_a_mass_ratio_of_one_and_diverges_above_it() -> None:
    assert measure_error(0.8, 1.0) < 0.02
    assert measure_error(1.2, 1.0) > 1e3
    assert measure_error(0.8, 1.5) > 1e3


def test_chosen_filter_is_stable_where_the_published_law_diverges() -> None:
    character = poise.Character.human(1.75, 70.0)

    def swing(**options: float) -> float:
        stage = poise.Stage(couple="paper", **options)  # type: ignore[arg-type]
        actor = stage.add(character)
        actor.drive("legs", poise.Balance())
        actor.drive("arms", poise.Kinematic(poise.gestures.arm_swing(1.0)))
        fastest = 0.0
        try:
            for _ in range(200):
                stage.step()
                fastest = max(fastest, float(np.abs(actor.body.state.w).max()))
        except poise.PoiseError:
            return np.inf
        return fastest

    assert swing() < 20.0
    assert swing(coupling_filter=0.0) > 50.0


def test_filter_is_rejected_without_the_paper_coupling() -> None:
    rejects(lambda: poise.Stage(coupling_filter=0.0), "'paper'")


@pytest.mark.parametrize("value", [-0.1, 1.0, float("nan")])
def test_rejects_filter_out_of_range(value: float) -> None:
    with pytest.raises(poise.InputError, match="to below 1"):
        poise.Stage(couple="paper", coupling_filter=value)
