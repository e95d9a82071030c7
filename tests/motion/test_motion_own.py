"""Poise's own motions: feet that do not slip, gravity that is exact, limbs that stay human, curves that stay smooth."""

import numpy as np
import pytest

from helpers.bodies import tpose
from helpers.errors import rejects
from poise.body.character import Character
from poise.errors import InputError
from poise.motion import Clip, find_contacts, foot_points, mirror, samples
from poise.motion.samples.body import Figure
from poise.spatial import rotation

MOTIONS = ["idle", "wave", "squat", "lift", "walk", "jump"]
BODIES = {
    "1.2 m": lambda: tpose(1.2),
    "1.75 m": lambda: tpose(),
    "2.1 m": lambda: tpose(2.1),
    "no toes": lambda: tpose(toes=False),
    "long left leg": lambda: tpose(left_leg=1.03),
    "mix": lambda: Character.human(preset="mix").skeleton,
    "full": lambda: Character.human(height=1.6).skeleton,
}


def slips(clip: Clip) -> float:
    """m, the largest distance a point of the soles is moved while it is on the ground (within 0.1 mm)."""
    points, worst = foot_points(clip), 0.0
    for side, point in np.ndindex(2, 3):
        path, down = points[:, side, point], np.abs(points[:, side, point, 1]) < 1e-4
        for stretch in np.split(np.arange(len(clip)), np.flatnonzero(np.diff(down)) + 1):
            if down[stretch[0]]:
                worst = max(worst, float(np.linalg.norm(np.ptp(path[stretch], axis=0))))
    return worst


def bend(clip: Clip, joint: str) -> np.ndarray:
    """(F,) degrees by which a joint is turned from rest."""
    return np.degrees(rotation.angle(rotation.identity(), clip.rotations[:, clip.skeleton.index(joint)]))


@pytest.mark.parametrize("body", BODIES)
@pytest.mark.parametrize("name", MOTIONS)
@pytest.mark.many(7)
def test_planted_feet_stay_put_and_none_goes_through_the_floor(name, body):
    clip = getattr(samples, name)(BODIES[body]())
    points = foot_points(clip)
    assert slips(clip) < 1e-3
    assert points[..., 1].min() > -1e-4
    down = find_contacts(clip).foot
    lowest = points[..., 1].min(axis=2)
    assert down.any(axis=1).mean() > 0.8
    assert np.percentile(lowest[down], 90) < 0.01


@pytest.mark.parametrize("body", ["1.2 m", "1.75 m", "full"])
def test_the_joined_motion_does_not_slip_either(body):
    clip = samples.wave_squat_walk(BODIES[body]())
    assert slips(clip) < 1e-3 and foot_points(clip)[..., 1].min() > -1e-3
    assert 10 < clip.duration < 14
    assert clip.positions[-1, 0, 2] > 2.0


@pytest.mark.parametrize("name", MOTIONS)
def test_joints_stay_within_human_limits(name):
    clip = getattr(samples, name)(tpose())
    for side in ("left", "right"):
        knee = clip.rotations[:, clip.skeleton.index(f"{side}LowerLeg")]
        assert bend(clip, f"{side}LowerLeg").min() > 7 and bend(clip, f"{side}LowerLeg").max() < 125
        assert np.all(knee[:, 1] * np.sign(knee[:, 0]) > 0), "a knee bends backwards"
        np.testing.assert_allclose(knee[:, 2:], 0, atol=1e-9)  # a hinge
        assert bend(clip, f"{side}UpperLeg").max() < 110
        assert bend(clip, f"{side}Foot").max() < 55
        assert bend(clip, f"{side}LowerArm").max() < 140
    for joint in ("spine", "chest", "upperChest", "neck", "head"):
        assert bend(clip, joint).max() < 25


@pytest.mark.parametrize("name", MOTIONS)
@pytest.mark.many(2)
def test_position_velocity_and_acceleration_are_continuous(name):
    """Halving the step halves the jumps from frame to frame: of C1 curves in velocity, of C2 in acceleration."""
    make = getattr(samples, name)
    for order, ratio in ((1, 0.6), (2, 0.75)):
        jumps = []
        for fps in (480.0, 960.0):
            clip = make(tpose(), fps=fps)
            rates = np.diff(clip.positions, n=order, axis=0) * fps**order
            jumps.append(np.abs(np.diff(rates, axis=0)).max())
        assert jumps[1] < ratio * jumps[0]


@pytest.mark.parametrize(
    ("name", "hips", "turning"),
    [("wave", 1, 60), ("squat", 2, 20), ("lift", 2, 20), ("walk", 6, 600), ("jump", 25, 2000)],
)
@pytest.mark.many(2)
def test_accelerations_are_those_of_a_body(name, hips, turning):
    for height in (1.2, 1.75, 2.1):
        acceleration = (clip := getattr(samples, name)(tpose(height))).spline.acceleration(clip.times)
        assert np.abs(acceleration.root).max() < hips  # m/s^2
        assert np.abs(acceleration.rotation).max() < turning  # rad/s^2


@pytest.mark.parametrize("name", [*MOTIONS, "wave_squat_walk"])
@pytest.mark.many(2)
def test_the_same_every_time_at_every_rate_and_calm_at_both_ends(name):
    make = getattr(samples, name)
    clip, again, double = make(tpose(), fps=60.0), make(tpose(), fps=60.0), make(tpose(), fps=120.0)
    assert clip.rotations.tobytes() == again.rotations.tobytes() and clip.root.tobytes() == again.root.tobytes()
    atol = 1e-9 if name != "wave_squat_walk" else 1e-4  # there the clips are splined at their own rate
    np.testing.assert_allclose(clip.positions, double.positions[::2], atol=atol)
    ends = np.diff(clip.positions, axis=0)[[0, -1]] * 60
    assert np.abs(ends).max() < 0.05
    first, last = (clip.positions[i] - clip.positions[i, 0] for i in (0, -1))
    # a lift ends with its hand up, and its hips a little behind
    np.testing.assert_allclose(first, last, atol=2e-3 if name != "lift" else 0.8)


def test_motions_scale_with_the_body():
    small, large = (
        samples.walk(tpose(1.2), 6.0, 60),
        samples.walk(tpose(2.1), 6.0 * np.sqrt(2.1 / 1.2), 60 / np.sqrt(2.1 / 1.2)),
    )
    np.testing.assert_allclose(large.positions, small.positions * 2.1 / 1.2, atol=1e-6)


@pytest.mark.parametrize(("height", "speed"), [(1.2, 0.986), (1.75, 1.19), (2.1, 1.30)])
def test_walking_speed_follows_the_legs(height, speed):
    clip = samples.walk(tpose(height), 8.0, 60)
    middle = slice(180, 300)
    measured = (clip.root[middle][-1, 2] - clip.root[middle][0, 2]) / (119 / 60)
    assert measured == pytest.approx(speed, abs=0.02)
    asked = samples.walk(tpose(height), 8.0, 60, speed=0.8 * speed)
    assert np.max(np.diff(asked.root[:, 2])) * 60 == pytest.approx(0.8 * speed, abs=0.01)


def test_a_walk_is_its_own_mirror_image_one_step_later():
    clip = samples.walk(tpose(), 8.0, 1000.0)
    landings = [find_contacts(clip).intervals(side)[:, 0] for side in ("left", "right")]
    step = float(np.median(np.diff(np.sort(np.concatenate(landings))[2:])))
    seen = mirror(clip)
    t = np.linspace(3.0, 4.0, 50)
    here, later = seen.pose(t), clip.pose(t + step)
    np.testing.assert_allclose(rotation.angle(here.rotations, later.rotations), 0, atol=0.03)


def test_arms_swing_against_the_legs_and_the_head_is_steady():
    clip = samples.walk(tpose(), 6.0, 60)
    steady = slice(120, 240)
    z = clip.positions[steady, :, 2] - clip.root[steady, None, 2]
    foot, same, other = (z[:, clip.skeleton.index(j)] for j in ("leftFoot", "leftHand", "rightHand"))
    assert np.corrcoef(foot, same)[0, 1] < -0.8 < 0.8 < np.corrcoef(foot, other)[0, 1]
    assert 0.25 < np.ptp(same) < 0.6
    turned = np.degrees(rotation.angle(clip.world[1][steady, clip.skeleton.index("head")], rotation.identity()))
    assert turned.max() < 3


@pytest.mark.parametrize("height", [0.1, 0.258, 0.42])
def test_a_jumps_hips_fall_freely(height):
    clip = samples.jump(tpose(), 3.0, 500.0, height=height)
    y, points = clip.root[:, 1], foot_points(clip)
    acceleration = np.diff(y, n=2) * 500.0**2
    air = points[1:-1, :, :, 1].min(axis=(1, 2)) > 1e-4
    assert air.sum() / 500 == pytest.approx(2 * np.sqrt(2 * height / 9.81), abs=0.02)
    np.testing.assert_allclose(acceleration[air][1:-1], -9.81, atol=1e-7)
    apex = y.max() - y[1:-1][air][0]
    assert apex == pytest.approx(height, abs=0.03)


@pytest.mark.parametrize("body", ["1.2 m", "1.75 m", "full"])
def test_a_squat_keeps_the_centre_of_mass_over_flat_feet(body):
    skeleton = BODIES[body]()
    clip, character = samples.squat(skeleton), Character.from_skeleton(skeleton)
    positions, orientations = clip.world
    masses = np.array([i.mass for i in character.inertias])
    centers = positions + rotation.rotate(orientations, np.array([i.center for i in character.inertias]))
    com = np.einsum("j,fja->fa", masses, centers) / masses.sum()
    points = foot_points(clip)
    np.testing.assert_allclose(points[..., 1], 0, atol=1e-9)
    heel, toe = points[..., 0, 2].max(), points[..., 2, 2].min()
    assert np.all((com[:, 2] > heel + 0.03) & (com[:, 2] < toe - 0.03))
    assert np.ptp(com[:, 2]) < 1e-3
    leg = skeleton.rest_positions()[skeleton.index("leftUpperLeg"), 1]
    assert 0.35 * leg < np.ptp(clip.root[:, 1]) < 0.45 * leg


@pytest.mark.parametrize("body", ["1.2 m", "1.75 m", "full", "mix"])
@pytest.mark.many(2)
def test_a_lift_takes_the_hand_low_and_high_over_flat_feet_in_balance(body):
    skeleton = BODIES[body]()
    leg = Figure(skeleton).leg
    for arm, low, high in (("right", 0.78, 1.45), ("left", 0.6, 1.6)):
        clip, character = samples.lift(skeleton, low=low, high=high, arm=arm), Character.from_skeleton(skeleton)
        hand = clip.positions[:, skeleton.index(f"{arm}Hand")]
        foot = clip.positions[:, skeleton.index(f"{arm}Foot")]
        held = int(np.argmin(hand[:, 1]))
        assert hand[held, 1] == pytest.approx(low * leg, abs=0.03 * leg)
        assert hand[-1, 1] == pytest.approx(high * leg, abs=1e-6)
        assert hand[held, 2] > foot[held, 2] + 0.2 * leg and hand[-1, 2] > foot[-1, 2] + 0.4 * leg
        positions, orientations = clip.world
        masses = np.array([i.mass for i in character.inertias])
        centers = positions + rotation.rotate(orientations, np.array([i.center for i in character.inertias]))
        com = np.einsum("j,fja->fa", masses, centers) / masses.sum()
        np.testing.assert_allclose(foot_points(clip)[..., 1], 0, atol=1e-9)
        assert np.ptp(com[:, [0, 2]], axis=0).max() < 1e-3


def test_lifts_that_cannot_be():
    with pytest.raises(InputError, match="takes hold between"):
        samples.lift(tpose(), low=-0.5)
    with pytest.raises(InputError, match="ends between"):
        samples.lift(tpose(), high=9.0)
    rejects(lambda: samples.lift(tpose(), 1.0), "2 s")
    rejects(lambda: samples.lift(tpose(), arm="both"), "'both'")


def test_a_wave_shows_the_palm_above_the_shoulder():
    for arm, other in (("right", "left"), ("left", "right")):
        clip = samples.wave(tpose(), arm=arm)
        positions, orientations = clip.world
        hand, shoulder = (clip.skeleton.index(f"{arm}{j}") for j in ("Hand", "UpperArm"))
        middle = slice(60, 130)
        assert np.all(positions[middle, hand, 1] > positions[middle, shoulder, 1])
        palm = rotation.rotate(orientations[middle, hand], np.array([0, -1.0, 0]))
        assert np.all(palm[:, 2] > 0.8)
        assert np.ptp(bend(clip, f"{other}UpperArm")) < 5


@pytest.mark.parametrize(
    ("act", "message"),
    [
        (lambda: samples.walk(tpose(), 1.0), "a walk of four steps takes 2.90 s; given 1 s"),
        (lambda: samples.walk(tpose(), speed=9.0), "this body walks at 0.48 to 1.43 m/s; given 9 m/s"),
        (lambda: samples.jump(tpose(), 0.5), "a jump of 0.26 m takes"),
        (lambda: samples.jump(tpose(), height=3.0), "this body jumps 0.09 to 0.43 m high; given 3 m"),
        (lambda: samples.squat(tpose(), depth=0.9), "at most 0.5; given 0.9"),
        (lambda: samples.squat(tpose(), 0.1), "at least 1.2 s"),
        (lambda: samples.wave(tpose(), arm="rihgt"), "Did you mean 'right'"),
        (lambda: samples.wave(tpose(), 0.5), "at least 1.8 s"),
        (lambda: samples.idle(tpose(), 0.0), "at least 0.5 s"),
        (lambda: samples.idle(tpose(), 2.0, -1.0), "positive number of frames a second"),
        (lambda: samples.walk(tpose().replace(roles={"hips": "hips"})), "no joint has the roles head, leftUpperLeg"),
    ],
)
def test_what_cannot_be_done_is_refused_in_a_sentence(act, message):
    with pytest.raises(InputError, match=message):
        act()
