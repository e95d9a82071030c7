"""The laws of flight and ground: on motions whose force was chosen, blurred as captures are."""

import numpy as np
import pytest

from helpers.bodies import tpose
from helpers.forces import blur, drop_jump
from poise.body.character import Character
from poise.dynamics.ground_reaction import root_wrench
from poise.dynamics.kinematics import compute_momentum
from poise.dynamics.newton_euler import compute_inverse_dynamics
from poise.dynamics.tree import GRAVITY
from poise.motion import samples
from poise.motion.forces.center_path import MU, find_center_path
from poise.motion.forces.forces import compute_forces

MASS = 70.0
WEIGHT = MASS * 9.81


def forces_of(clip, cutoff=None):
    return compute_forces(clip, Character.from_skeleton(clip.skeleton, mass=MASS), cutoff)


def rms(x):
    return float(np.sqrt(np.mean(np.square(x))))


@pytest.fixture(scope="module", params=[(60, 0.4, 0.25, 0.28), (120, 0.45, 0.2, 0.33), (200, 0.3, 0.2, 0.25)])
def jump(request):
    return drop_jump(tpose(), *request.param)


@pytest.mark.many(1)
def test_a_drop_jump_without_noise_keeps_its_force(jump):
    found = forces_of(jump.clip)
    assert rms(found.reaction.force[:, 1] / WEIGHT - jump.force[:, 1]) < 0.05
    assert found.path.gain == pytest.approx(1.0, abs=0.02)


@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.many(2)
def test_a_blurred_drop_jump_is_about_as_near_to_its_force_as_the_best_filter_for_it(jump, seed):
    clip = blur(jump, seed, gain=1.03, noise=0.0005, wobble=0.0005)
    found = forces_of(clip)
    off = rms(found.reaction.force[:, 1] / WEIGHT - jump.force[:, 1])
    plain = [rms(forces_of(clip, c).reaction.force[:, 1] / WEIGHT - jump.force[:, 1]) for c in (5, 7, 10, 14, 20)]
    assert off < 0.125 and off < 1.2 * min(plain)  # picked with the truth at hand, which nobody has
    # Off a box a body falls for a while before its feet are away from the edge.
    flight = ~jump.down.any(axis=1) & (clip.times > 0.7)
    assert rms(found.reaction.force[flight, 1]) < 0.03 * WEIGHT


def test_contacts_of_a_drop_jump_are_those_of_its_force(jump):
    contacts = forces_of(jump.clip).contacts
    for side in range(2):
        for sign in (1, -1):
            true, found = (np.flatnonzero(np.diff(m[:, side].astype(int)) == sign) for m in (jump.down, contacts.foot))
            assert len(true) == len(found)
            late = (found - true) / jump.clip.fps
            # Off a box a body leaves slowly: its feet are near its edge for a while.
            assert np.abs(late[1:] if sign < 0 else late).max() < 0.012
    assert contacts.floor.max() == pytest.approx(jump.clip.positions[0].min(axis=0)[1], abs=0.12)
    assert not contacts.carried.any()


def test_nothing_pulls_slips_or_turns_a_body_that_flies(jump):
    found = forces_of(blur(jump, 3, gain=1.05, noise=0.001, wobble=0.001))
    force, flight = found.reaction.force, found.contacts.flight
    assert force[:, 1].min() > -1e-6 * WEIGHT
    assert np.all(np.linalg.norm(force[:, [0, 2]], axis=1) <= MU * force[:, 1] + 1e-6 * WEIGHT)
    assert flight.sum() > 10 and np.abs(force[flight]).max() < 1e-6 * WEIGHT
    # The net moment about the centre of mass, from the state that inverse dynamics was given.
    state = found.state
    f, moment = root_wrench(state, compute_inverse_dynamics(found.tree, state))
    about = moment - np.cross(compute_momentum(found.tree, state).center, f)
    assert np.abs(about[flight]).max() < 1e-6 * WEIGHT


def test_the_joints_angles_are_not_touched(jump):
    clip = blur(jump, 4, gain=1.04, noise=0.0005)
    found = forces_of(clip)
    plain = forces_of(clip, found.cutoff)
    np.testing.assert_array_equal(found.state.rotations, plain.state.rotations)
    near = found.contacts.flight
    ours, theirs = (each.state.angular_acceleration[near, 1:] for each in (found, plain))
    np.testing.assert_array_equal(ours, theirs)


def test_the_gain_of_a_swing_is_found_from_its_flights():
    """A point that is thrown up by half sines: too large by a share, it is brought back."""
    rate, step, stance = 100.0, 0.35, 0.25
    t = np.arange(0, 6, 1 / rate)
    u = (t % step) / stance
    force = np.where(u < 1, np.pi / 2 * step / stance * np.sin(np.pi * np.minimum(u, 1)), 0.0)
    velocity = np.cumsum(9.81 * (force - force.mean())) / rate
    height = np.concatenate([[0.0], np.cumsum(velocity - velocity.mean())[:-1]]) / rate  # its second differences
    for share in (0.9, 1.0, 1.15):
        center = np.stack([0 * t, 1 + share * height, 3 * t], axis=1)
        path = find_center_path(center, rate, u >= 1, 50.0)
        assert path.gain == pytest.approx(1 / share, abs=0.02)
        off = (path.acceleration - GRAVITY)[:, 1] / 9.81 - force
        assert rms(off[50:-50]) < 0.12


def test_a_walk_is_left_as_it_is():
    clip = samples.walk(tpose(), 4.0, 60)
    assert forces_of(clip).path is None


@pytest.mark.parametrize("frames", [3, 5, 9, 20])
def test_short_clips_have_forces(frames):
    clip = samples.jump(tpose(), 2.6, 30)
    short = clip.replace(
        times=clip.times[30 : 30 + frames], root=clip.root[30 : 30 + frames], rotations=clip.rotations[30 : 30 + frames]
    )
    assert np.isfinite(forces_of(short).reaction.force).all()
