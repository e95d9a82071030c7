"""The demos of mixed bodies: what they claim is true, beside closed forms and a model derived by hand."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import poise
from poise.cli import main
from poise.demos.mix import compare, conductor, drum, gestures, hit_arm, swing, switch
from poise.demos.mix.drum import SEATED, Pump
from poise.demos.shared import show
from poise.dynamics.tree import build_tree
from poise.errors import InputError
from poise.motion.clip import Clip
from poise.spatial import rotation
from poise.stage.actor import Actor
from poise.stage.stage import Stage
from poise.world.swing import build_swing

G = 9.81


def seated(effort: float, dt: float) -> tuple[Stage, Actor, Pump]:
    stage = Stage(dt=dt)
    rider, _ = swing.seat_rider(stage, 0.0, effort)
    gesture = rider.assignments[-1].driver.motion  # type: ignore[attr-defined]
    return stage, rider, gesture


def about_the_bar(rider: Actor, gesture: Pump, times: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Of swing and rider, in the swing's axes about its bar: inertia I (T,), the limbs' own angular momentum h (T,)
    and mass times centre (T, 3); from world positions alone, rates by central differences."""
    tree, skeleton = build_tree(rider.character), rider.character.skeleton
    prop = build_swing(swing.LENGTH)

    def place(at: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        q = rotation.identity((len(at), len(skeleton)))
        q[:, gesture.joints(skeleton)] = gesture.rotations(skeleton, gesture.rate * at)
        root = np.broadcast_to(SEATED - [0.0, swing.LENGTH, 0.0], (len(at), 3))
        joints, turns = skeleton.pose(root, q)
        return joints + rotation.rotate(turns, tree.centers), turns

    step = 1e-5
    center, turns = place(times)
    (before, turns_before), (after, turns_after) = place(times - step), place(times + step)
    speed = (after - before) / (2.0 * step)
    spin = rotation.log(rotation.multiply(turns_after, rotation.conjugate(turns_before))) / (2.0 * step)
    matrix = rotation.to_matrix(turns)
    world = matrix @ tree.inertias @ np.swapaxes(matrix, -1, -2)
    y, z = center[..., 1], center[..., 2]
    inertia = (tree.masses * (y * y + z * z) + world[..., 0, 0]).sum(axis=1)
    own = (tree.masses * (y * speed[..., 2] - z * speed[..., 1]) + (world[..., 0, :] * spin).sum(axis=-1)).sum(axis=1)
    assert prop.inertia is not None
    seat = prop.inertia.center - [0.0, swing.LENGTH, 0.0]
    inertia += prop.inertia.mass * (seat @ seat) + prop.inertia.inertia[0, 0]
    return inertia, own, (tree.masses[:, None] * center).sum(axis=1) + prop.inertia.mass * seat


def integrate(rider: Actor, gesture: Pump, seconds: float, h: float = 4e-3) -> np.ndarray:
    """The swing's angle every h seconds: d/dt (I a' + h) = moment of gravity, by Runge and Kutta."""
    steps = round(seconds / h)
    inertia, own, moment = about_the_bar(rider, gesture, np.arange(2 * steps + 1) * h / 2.0)

    def rate(x: np.ndarray, k: int) -> np.ndarray:
        z = moment[k, 1] * np.sin(x[0]) + moment[k, 2] * np.cos(x[0])
        return np.array([(x[1] - own[k]) / inertia[k], G * z])

    x = np.array([swing.START, own[0]])
    angles = [x[0]]
    for k in range(0, 2 * steps, 2):
        a = rate(x, k)
        b = rate(x + 0.5 * h * a, k + 1)
        c = rate(x + 0.5 * h * b, k + 1)
        x = x + h / 6.0 * (a + 2.0 * b + 2.0 * c + rate(x + h * c, k + 2))
        angles.append(x[0])
    return np.array(angles)


@pytest.mark.slow
def test_a_rider_who_sits_still_swings_as_a_compound_pendulum() -> None:
    stage, rider, gesture = seated(0.0, 0.002)
    take = stage.run(7.0, fps=200)
    inertia, _, moment = about_the_bar(rider, gesture, np.zeros(1))
    # T = 2 pi sqrt(I / (m g l)) (1 + a^2 / 16): the swing hangs where its centre of mass is below the bar
    lean = np.arctan2(moment[0, 2], -moment[0, 1])
    amplitude = swing.START - lean
    period = 2.0 * np.pi * np.sqrt(inertia[0] / (G * np.hypot(*moment[0, 1:]))) * (1.0 + amplitude**2 / 16.0)
    angle = swing.find_angle(take) - lean
    down = np.flatnonzero((angle[:-1] > 0.0) & (angle[1:] <= 0.0))
    crossings = take.times[down] + 0.005 * angle[down] / (angle[down] - angle[down + 1])
    assert np.diff(crossings) == pytest.approx(period, rel=1e-3)


@pytest.mark.slow
def test_a_rider_who_moves_drives_the_swing_as_a_model_derived_by_hand_says() -> None:
    """First order in the step, as the engine's integrator is; twice the reaction, or none, would be off by 1e-2."""
    errors = []
    for dt in (0.004, 0.002):
        stage, rider, gesture = seated(1.0, dt)
        angle = swing.find_angle(stage.run(4.0, fps=50))
        errors.append(np.abs(angle - integrate(rider, gesture, 4.0)[::5]).max())
    assert errors[1] < 1e-3
    assert errors[0] / errors[1] == pytest.approx(2.0, abs=0.2)


@pytest.mark.slow
def test_pumping_in_phase_feeds_the_swing_and_half_a_swing_late_takes_from_it() -> None:
    rise = {late: swing.find_amplitude(swing.pump(late, 6.0)[1]) for late in (0.0, 0.5)}
    assert rise[0.0][-1] > 1.4 * rise[0.0][0]
    assert rise[0.5][-1] < 0.8 * rise[0.5][0]


def test_hands_stay_on_the_ropes() -> None:
    stage, rider, gesture = seated(1.0, 0.005)
    take = stage.run(2.0, fps=25)
    positions, turns = take.clip().world
    for side, sign in (("left", 1.0), ("right", -1.0)):
        lower, hand = (rider.character.skeleton.index(side + role) for role in ("LowerArm", "Hand"))
        forearm = positions[:, hand] - positions[:, lower]
        palm = positions[:, hand] + 0.07 * forearm / np.linalg.norm(forearm, axis=1, keepdims=True)
        seen = rotation.rotate(rotation.conjugate(turns[:, 0]), palm - positions[:, 0])
        assert seen == pytest.approx(np.tile(np.array(gesture.grip) * [sign, 1, 1], (len(take), 1)), abs=1e-4)


@pytest.mark.parametrize("wrong", [{"length": -1.0}, {"angle": 4.0}, {"damping": np.nan}])
def test_a_swing_that_cannot_be_is_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(InputError, match=next(iter(wrong))):
        build_swing(**wrong)


def test_a_hit_arm_hangs_and_comes_back() -> None:
    stage, actor = hit_arm.build()
    stage.run(0.3)
    assert max(hit_arm.switch_over(actor, hit_arm.hang(actor.character))) < 1e-3
    actor.push("rightLowerArm", hit_arm.FORCE, hit_arm.BLOW)
    hung = stage.run(1.0)
    assert max(hit_arm.switch_over(actor, poise.Kinematic(hit_arm.GESTURE))) < 1e-3
    quiet = hit_arm.build()[0].run(2.3).actor()
    back = stage.run(1.0)
    assert not hung.events + tuple(event for event in back.events if event.kind == "fell")
    arm = actor.character.skeleton.index("rightLowerArm")
    assert rotation.angle(hung.actor().rotations[-1, arm], quiet.rotations[65, arm]) > 0.5
    arms = hit_arm.GESTURE.joints(actor.character.skeleton)
    np.testing.assert_allclose(back.actor().rotations[-1, arms], quiet.rotations[-1, arms], atol=1e-9)


def test_nothing_jumps_at_a_switch() -> None:
    stage, actor = switch.build()
    for to_physics, until in ((True, 0.33), (False, 0.61), (True, 0.9), (False, 1.2)):
        while stage.time < until:
            stage.step()
        angle, speed = switch.switch_over(actor, to_physics)
        assert angle < 1e-6
        assert speed < 1e-2
        before = actor.body.state.q.copy()
        stage.step()
        actor.show(stage.time)
        moved = np.linalg.norm(rotation.log(rotation.multiply(rotation.conjugate(before), actor.body.state.q)), axis=1)
        assert moved.max() < 0.15, "no joint turns faster than 30 rad/s in the step after"


def test_strokes_are_found_where_they_are(tmp_path: Path) -> None:
    _, take, _, figures = show.run_beside_animated(
        poise.Character.human(1.7, 66.0, preset="mix"), poise.gestures.speak(gestures.STRESSES[:3]), 2.6
    )
    late = gestures.measure_strokes(take.clip("mixed"), gestures.STRESSES[:3])
    assert len(late) == 4
    assert np.abs(late).max() <= 1.0 / show.TAKE_FPS + 1e-9
    moved = Clip(take.clip("mixed").skeleton, take.times + 0.06, **take.clip("mixed").pose(take.times)._asdict())
    assert gestures.measure_strokes(moved, gestures.STRESSES[:3]) == pytest.approx(late + 0.06, abs=0.021)
    assert figures["kinematic_error_rad"] < 1e-9
    assert not figures["fell"]


def test_lag_is_found_of_a_clip_that_lags() -> None:
    _, take, _, _ = show.run_beside_animated(
        poise.Character.human(preset="mix"), poise.gestures.conduct(hands="both"), 3.0
    )
    clip = take.clip("animated")
    joints = poise.gestures.conduct(hands="both").joints(clip.skeleton)
    late = Clip(clip.skeleton, clip.times, **clip.pose(np.maximum(clip.times - 0.04, 0.0))._asdict())
    assert compare.measure_lag(clip, clip, joints) == pytest.approx(0.0, abs=1e-6)
    assert compare.measure_lag(late, clip, joints) == pytest.approx(40.0, abs=2.0)


def test_rhythm_of_a_sway_in_step_and_out_of_step() -> None:
    t = np.arange(1000) / show.TAKE_FPS
    for hertz, share in ((1.5, 1.0), (1.5 * 9 / 8, 0.0)):
        velocity = np.sin(2.0 * np.pi * hertz * t)[:, None] * [0.01, 0.0, 0.02]
        rhythm = conductor.find_rhythm(velocity, 1.5)
        assert rhythm["sway_hz"] == pytest.approx(hertz, abs=0.05)
        assert rhythm["sway_in_step"] == pytest.approx(share, abs=0.05)


def test_a_minute_of_conducting_neither_falls_nor_creeps() -> None:
    figures = conductor.conduct_on(1.0)
    assert figures["long_run_fell_at_s"] is None
    assert figures["long_run_minutes"] == pytest.approx(1.0)
    assert 0.0 < figures["long_run_creep_mm"] < 1.0


def test_a_demo_writes_what_it_says(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("poise.demos.mix.gestures.CLAPS", 0.4)
    assert main(["demo", "clap", "-o", str(tmp_path), "--json", "--quiet"]) == 0
    names = {path.name for path in tmp_path.iterdir()}
    plots = {f"clap-{kind}.png" for kind in ("center", "torques", "feet", "connectors")}
    assert plots | {"clap.glb", "clap.bvh", "clap.json", "clap.png"} < names
    assert names & {"clap.mp4", "clap.webp"}
    said = json.loads(capsys.readouterr().out)
    keys = {"fell", "fell_at_s", "kinematic_error_rad", "foot_slip_mm", "com_margin_m", "realtime_factor", "coupling"}
    assert keys <= set(said)
    written = json.loads((tmp_path / "clap.json").read_text())
    assert written == {key: value for key, value in said.items() if key != "realtime_factor"}


@pytest.mark.parametrize(
    ("words", "hint"), [(["clap", "--minutes", "3"], "minutes"), (["conductor", "--minutes", "-1"], "minutes")]
)
def test_options_of_other_demos_are_refused(
    words: list[str], hint: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["demo", *words, "-o", str(tmp_path), "--quiet"]) == 2
    assert hint in capsys.readouterr().err


def test_the_drummer_meets_the_drum_on_every_beat_and_stays_up() -> None:
    """A beat takes 60 / 90 s, once the body has settled; the ball leaves as fast as a hand that comes down."""
    stage, take, force = drum.play(3.5)
    beats = drum.find_beats(force) * stage.dt
    late = beats[beats > 1.0]
    np.testing.assert_allclose(np.diff(late), 60.0 / drum.BPM, atol=0.01)
    assert len(late) == 4 and (beats > 0.3).sum() == 5
    assert drum.find_ball_speed(take) > 0.5
    assert take.fell_at() is None
