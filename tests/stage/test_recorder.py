"""Recording: what goes into a take frame by frame, against the same by other ways."""

from __future__ import annotations

import numpy as np

from poise.body.character import Character
from poise.drivers.balance import Balance, BalancePlayer
from poise.drivers.kinematic import Kinematic
from poise.dynamics import instant
from poise.engines.engine import Touches
from poise.motion.gestures import conduct
from poise.spatial import rotation
from poise.stage.actor import Actor
from poise.stage.frames import Frames
from poise.stage.recorder import _find_feet, read_feet
from poise.stage.stage import Stage


def put_conductor(preset: str = "mix") -> tuple[Stage, Actor]:
    """One on his feet."""
    stage = Stage()
    actor = stage.add(Character.human(1.75, 75.0, preset=preset))
    actor.drive("legs", Balance())
    actor.drive("upperBody", Kinematic(conduct(hands="both")))
    return stage, actor


def measure_by_numpy(actor: Actor) -> tuple[np.ndarray, np.ndarray]:
    """What `Actor.measure` does in one kernel, step by step with NumPy between the kernels of `instant`."""
    body, x = actor.body, actor.body.tree
    turning, moving = (body.state.w - body.w_before) / body.dt, (body.state.v - body.v_before) / body.dt
    dw = np.where(actor.given[:, None], body.dw, turning)
    al, acc, f, n = (np.zeros_like(body.p) for _ in range(4))
    instant.accelerate_bodies(x.parents, body.R, body.p, body.state.w, dw, body.om, moving - body.gravity, al, acc)
    instant.net_forces(x.masses, x.centers, x.inertias, body.R, body.om, al, acc, f, n)
    instant.gather_inward(x.parents, body.p, f, n)
    torque = np.einsum("jab,ja->jb", body.R, np.where(actor.given[:, None], n, body.torque))
    return torque, np.linalg.norm(torque, axis=-1) / actor.effort.strength


class Unsorted:
    """A simulation that only finds contacts."""

    def __init__(self, simulation: object):
        self.simulation = simulation

    def find_contacts(self, body: int) -> Touches:
        """As the engine does."""
        found: Touches = self.simulation.find_contacts(body)  # type: ignore[attr-defined]
        return found

    def press(self, *_: object) -> bool:
        return False


def test_joints_and_feet_have_the_bits_of_the_slow_way() -> None:
    """Over a run with a push, under which feet come off the ground and the body falls."""
    stage, actor = put_conductor()
    feet = _find_feet(actor.character.skeleton)
    force, pressure, slow_force, slow_pressure = (np.zeros((2, 3)) for _ in range(4))
    stage.advance(1)
    actor.push("spine", (0.0, 0.0, 500.0), 0.3, start=0.2)
    counts = set()
    for _ in range(40):
        stage.advance(8)
        simulation = stage.groups[0].simulation
        torque, effort = actor.measure()
        other_torque, other_effort = measure_by_numpy(actor)
        assert torque.tobytes() == other_torque.tobytes() and effort.tobytes() == other_effort.tobytes()
        read_feet(simulation, 0, feet, force, pressure)
        read_feet(Unsorted(simulation), 0, feet, slow_force, slow_pressure)  # type: ignore[arg-type]
        assert force.tobytes() == slow_force.tobytes()
        assert np.array_equal(pressure, slow_pressure, equal_nan=True)
        counts.add(len(simulation.find_contacts(0).joints))
    assert actor.fallen is not None and len(counts) > 2


def test_soles_are_where_the_feet_are() -> None:
    """All frames at once in the end, against each by itself."""
    stage, actor = put_conductor()
    take = stage.run(0.2, fps=50.0)
    record, balance = take.actor(None), actor.player("legs")
    assert isinstance(balance, BalancePlayer)
    clip = take.clip(None)
    positions, orientations = clip.world
    for side, foot in enumerate(balance.legs[:, 2]):
        for k in range(len(take.times)):
            corners = positions[k, foot] + rotation.rotate(orientations[k, foot], balance.corners[side])
            assert np.allclose(record.soles[k, side], corners, atol=1e-12)


def test_frames_grow_and_connectors_come_and_go() -> None:
    """More frames than there was room for; a frame with fewer connectors has NaN for those it lacks."""
    frames = Frames(2, most=5000)
    numbers = np.arange(2 * 6.0).reshape(2, 6)
    for k in range(2500):
        frames.make_room(k)
        frames.arrays["root"][k] = k
        frames.write_wrench(k, [0, 1][: k % 3], numbers)
    found = frames.finish(2500)
    assert np.array_equal(found["root"][:, 0], np.arange(2500.0)) and found["wrench"].shape == (2500, 2, 6)
    for k in (0, 1, 2, 1499, 1500, 2498):
        assert np.array_equal(found["wrench"][k, : k % 3], numbers[: k % 3])
        assert np.isnan(found["wrench"][k, k % 3 :]).all()
