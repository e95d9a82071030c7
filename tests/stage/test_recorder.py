"""Recording: what goes into a take frame by frame, against the same by other ways."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from poise.body.character import Character
from poise.drivers.balance.balance import Balance, BalancePlayer
from poise.drivers.kinematic.kinematic import Kinematic
from poise.drivers.track.track import Track
from poise.dynamics import body_kernels
from poise.engines.engine import BodyContacts
from poise.motion.clip import Clip
from poise.motion.gestures import GestureMotion, arm_swing, conduct
from poise.spatial import rotation
from poise.stage.actor import Actor
from poise.stage.stage import Stage
from poise.stage.take.recorder import Frames, _find_feet, read_feet


def put_conductor(preset: str = "mix") -> tuple[Stage, Actor]:
    """One on his feet."""
    stage = Stage()
    actor = stage.add(Character.human(1.75, 75.0, preset=preset))
    actor.drive("legs", Balance())
    actor.drive("upperBody", Kinematic(conduct(hands="both")))
    return stage, actor


def measure_by_numpy(actor: Actor) -> tuple[np.ndarray, np.ndarray]:
    """What `Actor.measure` does in one kernel, step by step with NumPy between the kernels."""
    body, x = actor.body, actor.body.tree
    turning, moving = (body.state.w - body.w_before) / body.dt, (body.state.v - body.v_before) / body.dt
    dw = np.where(actor.given[:, None], body.dw, turning)
    al, acc, f, n = (np.zeros_like(body.p) for _ in range(4))
    body_kernels.accelerate_bodies(x.parents, body.R, body.p, body.state.w, dw, body.om, moving - body.gravity, al, acc)
    body_kernels.net_forces(x.masses, x.centers, x.inertias, body.R, body.om, al, acc, f, n)
    body_kernels.gather_inward(x.parents, body.p, f, n)
    torque = np.einsum("jab,ja->jb", body.R, np.where(actor.given[:, None], n, body.torque))
    dampers = (body.damping[:, None] + body.axial) * body.state.w
    torque = np.where(actor.given[:, None], torque, torque - dampers)
    return torque, np.linalg.norm(torque, axis=-1) / actor.effort.strength


class Unsorted:
    """A simulation that only finds contacts."""

    def __init__(self, simulation: object):
        self.simulation = simulation

    def find_contacts(self, body: int) -> BodyContacts:
        """As the engine does."""
        found: BodyContacts = self.simulation.find_contacts(body)  # type: ignore[attr-defined]
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
    """More frames than there was room for; every connector has a column of its own, NaN where it carries nothing."""
    frames = Frames(4, most=5000)
    numbers = np.arange(4 * 6.0).reshape(4, 6)
    order = [[], [1], [3, 2], [2], [1, 2, 3]]
    for k in range(2500):
        frames.make_room(k)
        frames.arrays["root"][k] = k
        frames.write_wrench(k, order[k % 5], numbers)
    found = frames.finish(2500)
    assert frames.connectors == [1, 3, 2]
    assert np.array_equal(found["root"][:, 0], np.arange(2500.0)) and found["wrench"].shape == (2500, 3, 6)
    for k in (0, 1, 2, 3, 4, 1499, 1500, 2498):
        for column, joint in enumerate(frames.connectors):
            wanted = numbers[joint] if joint in order[k % 5] else np.full(6, np.nan)
            assert np.array_equal(found["wrench"][k, column], wanted, equal_nan=True)


@pytest.mark.parametrize("fps", [200.0, 60.0])
def test_a_tracked_joint_has_the_torque_that_its_motion_takes(fps: float) -> None:
    """By momentum: that of all it carries, about it, by differences of where SciPy has its segments. Dampers count.

    Frames at 60 a second are not all at a step's end.
    """
    stage = Stage(ground=None)
    body = Character.human(1.75, 75.0)
    swing = GestureMotion(arm_swing(), body.skeleton).sample(2.0, fps=120.0)
    actor = stage.add(body)
    actor.drive(["hips"], Kinematic(swing))
    actor.drive("upperBody", Track(swing, stiffness=4000.0))
    take = stage.run(1.5, fps=fps)
    record, clip = take.actor(None), take.clip(None)
    sizes = np.linalg.norm(record.torque, axis=-1)
    for label in ("leftUpperArm", "leftLowerArm"):
        i = body.skeleton.index(label)
        wanted = differentiate_momentum(body, clip, i)
        inner = slice(int(0.3 * fps), -3)
        off = np.abs(sizes[inner, i] - np.linalg.norm(wanted, axis=-1)[inner])
        assert off.max() < 0.08 * np.linalg.norm(wanted, axis=-1)[inner].max()


def differentiate_momentum(body: Character, clip: Clip, joint: int) -> np.ndarray:
    """(F, 3) N m that a joint gives what it carries: the rate of its momentum about the joint, and its weight's."""
    parents, dt = body.skeleton.parents, float(np.diff(clip.times).mean())
    places, turns = clip.world
    total = np.zeros((len(clip), 3))
    for segment in body.segments:
        at = up = body.skeleton.index(segment.joint)
        while up > joint:
            up = parents[up]
        if up != joint:
            continue
        turn = Rotation.from_quat(turns[:, at][:, [1, 2, 3, 0]])
        mass, spin = segment.inertia.mass, np.gradient(turn.as_matrix(), dt, axis=0) @ turn.inv().as_matrix()
        center = places[:, at] + turn.apply(np.array(segment.inertia.center))
        pull = np.gradient(np.gradient(center, dt, axis=0), dt, axis=0) + [0.0, 9.81, 0.0]
        inertia = turn.as_matrix() @ segment.inertia.inertia @ turn.inv().as_matrix()
        rate = np.stack([spin[:, 2, 1], spin[:, 0, 2], spin[:, 1, 0]], axis=1)
        total += np.cross(center - places[:, joint], mass * pull)
        total += np.gradient(np.einsum("fab,fb->fa", inertia, rate), dt, axis=0)
    return total
