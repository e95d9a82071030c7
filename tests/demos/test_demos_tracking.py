"""The demos of tracking: what they show, measured once more by SciPy's rotations and by the engine's contacts."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.signal import butter, filtfilt, find_peaks

import poise
from helpers.kinematics import find_gap, find_point, find_world
from helpers.recordings import data_file
from poise.body.geometry.primitives import Capsule
from poise.cli import main
from poise.demos.tracking import bow, drumming, gestures, pattycake, slap
from poise.demos.tracking.pattycake import OWN, ROUND
from poise.engines.contact_log import find_impulse, find_peak
from poise.files.formats.c3d.c3d import load_c3d, read_c3d
from poise.motion.clip import interpolate
from poise.world.collision_shapes import build_bulk
from poise.world.contact_settings import ContactSettings

DRUMMER = poise.Character.human(drumming.HEIGHT, drumming.MASS, preset="mix")


def hand_height(clip: poise.Clip, character: poise.Character, hand: str) -> np.ndarray:
    """(F,) m, of the lowest point of a hand's capsule."""
    shape: Any = build_bulk(character)[character.skeleton.index(hand)]
    assert isinstance(shape, Capsule)
    ends = [find_point(clip, hand, end)[:, 1] for end in (shape.start, shape.end)]
    return np.minimum(*ends) - shape.radius


@pytest.fixture(scope="module")
def skin() -> float:
    return drumming.find_skin(DRUMMER)


@pytest.fixture(scope="module")
def beaten(skin: float) -> dict[str, drumming.Beaten]:
    return {way: drumming.beat(way, DRUMMER, skin, 1.3) for way in drumming.WAYS}


def test_a_kinematic_hand_sinks_into_a_drum_and_a_tracked_one_bounces_off(
    beaten: dict[str, drumming.Beaten], skin: float
) -> None:
    depth = {
        way: max(float((skin - hand_height(each.take.clip(), DRUMMER, hand)).max()) for hand in drumming.HANDS)
        for way, each in beaten.items()
    }
    assert depth["kinematic"] > 0.02
    assert depth["no contact"] > 0.02
    assert depth["tracked"] < 0.003
    assert depth["penalty"] < 0.003
    figures = drumming.measure(beaten)
    assert figures["sinks_mm"]["tracked"] == pytest.approx(1e3 * depth["tracked"], abs=1e-6)
    assert min(figures["bounce_mm"].values()) > 2.0
    assert max(figures["contact_time_error_ms"].values()) < 10.0


def test_figures_of_a_beat_hardly_depend_on_the_step(skin: float) -> None:
    """From 0.5 to 4 ms the force of a single step falls to a seventh; the impulse is added up here once more."""
    found, singles = [], []
    for dt in (0.0005, 0.001, 0.002, 0.004):
        own = drumming.beat("tracked", DRUMMER, skin, 0.25, dt=dt)  # the right hand beats at 0.11 s
        force = own.forces[:, 1]
        assert find_impulse(force, dt) == pytest.approx(dt * force.sum(), rel=1e-6)
        found.append((dt * force.sum(), find_peak(force, dt)))
        singles.append(force.max())
    (least, low), (most, high) = np.min(found, axis=0), np.max(found, axis=0)
    assert 0.26 < least < most < 0.38 and most < 1.35 * least  # N s
    assert high < 1.3 * low and max(singles) > 5.0 * min(singles)


def test_beats_begin_when_the_drum_is_pressed_and_the_motion_meets_it(
    beaten: dict[str, drumming.Beaten], skin: float
) -> None:
    """By the engine's own contact forces, beside when the motion's hand crosses the skin."""
    own = beaten["tracked"]
    for k, hand in enumerate(drumming.HANDS):
        height = hand_height(beaten["kinematic"].take.clip(), DRUMMER, hand) - skin
        down = np.flatnonzero((height[:-1] > 0.0) & (height[1:] <= 0.0))
        asked = beaten["kinematic"].take.times[down]
        pressed = np.flatnonzero(own.forces[:, k] > 1.0) * own.stage.dt
        for t in asked:
            near = pressed[np.abs(pressed - t) < 0.1]
            assert len(near) and abs(near[0] - t) < 0.010


def test_a_beat_goes_through_the_whole_body(beaten: dict[str, drumming.Beaten]) -> None:
    """What the drum gives the hands, the ground lacks: the impulse of a second, beside that of the weight."""
    take, forces = beaten["tracked"].take, beaten["tracked"].forces
    feet = take.actor().feet[:, :, 1].sum(axis=1)
    weight = 75.0 * 9.81
    lacking = weight - feet[50:].mean()
    assert lacking == pytest.approx(forces[100:].sum(axis=1).mean(), abs=0.15 * lacking + 2.0)
    assert drumming.find_shoulder(beaten["tracked"], beaten["no contact"]) > 0.3


def test_a_bow_over_legs_that_balance_stands_and_over_stiff_ones_falls() -> None:
    character = poise.Character.human(bow.HEIGHT, bow.MASS)
    clip = bow.bow(character.skeleton)
    found = {}
    for way in ("stiff", "balanced"):
        stage, _ = bow.build(way, character, clip)
        found[way] = stage.run(4.0, fps=50)
    assert found["stiff"].fell_at() is not None
    take = found["balanced"]
    assert take.fell_at() is None
    _, turns = find_world(take.clip())
    chest = turns[character.skeleton.index("upperChest")].apply([0.0, 1.0, 0.0])
    assert np.degrees(np.arccos(chest[:, 1])).max() > 55.0  # it did bow
    assert np.ptp(take.actor().root[:, 2]) > 0.03  # hips go back


@pytest.mark.data
def test_a_captured_bow_stands() -> None:
    clip = poise.load_clip(data_file("bvh-cmu/111_02.bvh"))
    stage = poise.Stage()
    actor = stage.add(
        poise.Character.from_skeleton(clip.skeleton, mass=70.0), "actor",
        poise.Pose(clip.root[0].copy(), clip.rotations[0].copy()),
    )  # fmt: skip
    actor.drive("legs", poise.Balance())
    actor.drive("upperBody", poise.Track(clip))
    take = stage.run(clip.duration, fps=60)
    assert take.fell_at() is None


def gaps(game: pattycake.Game, children: dict[str, poise.Character]) -> np.ndarray:
    """(N,) m, between hands that clap, by many points of their middle lines."""
    found = []
    for t, clap in zip(game.times, ROUND, strict=True):
        frame, worst = int(np.abs(game.take.times - t).argmin()), 0.0
        for pair in pattycake.list_pairs(clap):
            lines, radii = [], []
            for name, side in pair:
                hand = children[name].skeleton.index(f"{side}Hand")
                shape: Any = build_bulk(children[name])[hand]
                clip = game.take.clip(name)
                lines.append([find_point(clip, f"{side}Hand", end)[frame] for end in (shape.start, shape.end)])
                radii.append(shape.radius)
            worst = max(worst, find_gap(np.array(lines[0]), np.array(lines[1]), *radii))
        found.append(worst)
    return np.array(found)


@pytest.fixture(scope="module")
def players() -> tuple[dict[str, poise.Character], dict[str, poise.Clip]]:
    return pattycake.build_players()


@pytest.mark.parametrize("speed", pattycake.SPEEDS)
@pytest.mark.slow
def test_hands_meet_at_every_clap_with_offsets_and_miss_without(players: Any, speed: float) -> None:
    children, clips = players
    game = pattycake.play(children, pattycake.put_together(children, clips), speed)
    assert gaps(game, children).max() < 0.010
    assert pattycake.count_felt(game) == 3
    partner = [k for k, clap in enumerate(ROUND) if clap != OWN]
    assert gaps(pattycake.play(children, clips, speed), children)[partner].min() > 0.02


@pytest.mark.slow
def test_longer_windows_help_what_lags(players: Any) -> None:
    children, clips = players
    partner = [k for k, clap in enumerate(ROUND) if clap != OWN]
    worst = []
    for window in (0.05, 0.2):
        together = pattycake.put_together(children, clips, window)
        worst.append(pattycake.play(children, together, pattycake.FAST, law="paper").gaps[partner].max())
    assert worst[1] < 0.85 * worst[0]


@pytest.mark.slow
def test_each_feels_the_other(players: Any) -> None:
    """What one's hand gives, the other's gets: equal and opposite in every step, and zero where they do not touch."""
    children, clips = players
    stage = poise.Stage(dt=pattycake.DT, touch=ContactSettings(only=pattycake.HANDS))
    for name, clip in pattycake.put_together(children, clips).items():
        actor = stage.add(children[name], name, poise.Pose(clip.root[0].copy(), clip.rotations[0].copy()))
        actor.drive("body", poise.Kinematic(clip))
        actor.drive("upperBody", poise.Track(clip))
    most = 0.0
    while stage.time < 1.1:
        stage.step()
        if len(stage.groups) > 1:
            continue
        given = []
        for k, actor in enumerate(stage.groups[0].actors):
            touches = stage.groups[0].simulation.find_contacts(k)
            others = [not who.startswith((f"{actor.name}/", "ground")) for who in touches.others]
            given.append(touches.forces[others].sum(axis=0))
        assert given[0] == pytest.approx(-given[1], abs=1e-9)
        most = max(most, float(np.linalg.norm(given[0])))
    assert most > 5.0
    felt = pattycake.find_felt(children, pattycake.put_together(children, clips))
    assert min(felt.values()) > 2.0


def test_a_slap_begins_without_a_jump_and_is_stopped_by_a_cheek() -> None:
    found = slap.slap()
    assert found.hit is not None and found.hit > found.ends
    figures = slap.measure(found, slap.slap(transition=0.0))
    hand = find_point(found.take.clip("tall"), "rightHand", np.zeros(3))
    velocity = np.diff(hand, axis=0) * slap.FPS
    jumps = np.linalg.norm(np.diff(velocity, axis=0), axis=1)
    before = found.take.times[2:] < found.hit - 0.01
    assert jumps[before].max() == pytest.approx(figures["jump_m_s"]["transition"], rel=1e-6)
    assert figures["jump_m_s"]["transition"] < 0.1  # m/s from one frame of 2 ms to the next
    assert figures["jump_m_s"]["cut"] > 4.0 * figures["jump_m_s"]["transition"]
    assert jumps[found.take.times[2:] > found.hit - 0.01].max() > 2.0 * jumps[before].max()
    speed = figures["speed_m_s"]
    assert speed["before"] > 1.0 and speed["after"] < 0.5 * speed["before"]
    assert figures["head_degrees"] > 3.0
    through = slap.slap(touch=ContactSettings(itself=False, actors=False))
    sideways = find_point(through.take.clip("tall"), "rightHand", np.zeros(3))[:, 0]
    assert through.hit is None and sideways.min() < hand[:, 0].min() - 0.03


def test_the_spikes_of_a_playback_are_gone_and_peaks_are_those_of_the_motion() -> None:
    character = poise.Character.human(gestures.HEIGHT, gestures.MASS, preset="mix")
    raw = gestures.record(character, 4.0)
    samples = gestures.sample(raw)
    gaps_s = np.diff(samples.times)
    assert gaps_s[:-2].min() > 0.039 and gaps_s.max() < 0.14
    playback = raw.replace(**interpolate(samples, raw.times, "slerp")._asdict())
    _, take = gestures.track(character, samples, raw)
    clips = {"raw": raw, "kinematic": playback, "tracked": take.clip()}
    knuckles = {"left": [gestures.KNUCKLES, 0.0, 0.0], "right": [-gestures.KNUCKLES, 0.0, 0.0]}
    places = {
        name: np.stack([find_point(clip, f"{side}Hand", point) for side, point in knuckles.items()], axis=1)
        for name, clip in clips.items()
    }
    found = gestures.measure(places, raw.times)
    assert found["spike_m_s2"]["kinematic"] > 3.0 * found["spike_m_s2"]["raw"]
    assert found["spike_m_s2"]["tracked"] < 1.1 * found["spike_m_s2"]["raw"]
    assert found["peak_error"]["tracked"] < 0.10


@pytest.mark.data
def test_punches_peak_as_the_markers_say() -> None:
    """02_05: a marker on each hand, set aside, beside hands that follow 15 to 25 rotations a second.

    The marker is where it moves with the hand most nearly; what shakes faster than 12 Hz is the skin.
    """
    path = data_file("c3d/cmu_02_05.c3d")
    file, clip = load_c3d(path), read_c3d(path).source.motion.clip
    clip = clip.replace(times=clip.times - clip.times[0])
    turn = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, -1.0, 0.0]]).T  # Z up to Y up
    low = butter(2, 12.0 / 60.0 / 0.802)
    samples = gestures.sample(clip)
    playback = clip.replace(**interpolate(samples, clip.times, "slerp")._asdict())
    _, take = gestures.track(poise.Character.from_skeleton(clip.skeleton, mass=72.0), samples, clip)
    peaks_found, spikes = 0, {"playback": 0.0, "tracked": 0.0}
    for label, hand in (("LFIN", "leftHand"), ("RFIN", "rightHand")):
        column = [each.endswith(label) for each in file.labels].index(True)
        marker = filtfilt(*low, file.markers[:, column] @ turn, axis=0)
        places, turns = find_world(clip)
        i = clip.skeleton.index(hand)
        matrices = filtfilt(*low, turns[i].as_matrix().reshape(-1, 9), axis=0)
        rates = np.gradient(matrices, clip.times, axis=0).reshape(-1, 3)
        away = np.gradient(marker - filtfilt(*low, places[:, i], axis=0), clip.times, axis=0)
        point = np.linalg.lstsq(rates, away.ravel(), rcond=None)[0]
        assert 0.05 < np.linalg.norm(point) < 0.15  # on the knuckles
        speed = np.linalg.norm(np.gradient(marker, clip.times, axis=0), axis=1)
        own = find_point(take.clip(), hand, point)
        tracked = np.linalg.norm(np.gradient(own, clip.times, axis=0), axis=1)
        for name, each in (("playback", find_point(playback, hand, point)), ("tracked", own)):
            sharp = np.linalg.norm(np.diff(each, 2, axis=0), axis=1)[12:-12].max() * 120.0**2
            spikes[name] = max(spikes[name], sharp)
        peaks, _ = find_peaks(speed, height=1.5, distance=24)
        peaks_found += len(peaks)
        for peak in peaks:
            assert tracked[peak - 10 : peak + 11].max() == pytest.approx(speed[peak], rel=0.10)
    assert peaks_found > 12
    assert spikes["tracked"] < 0.5 * spikes["playback"]


@pytest.mark.parametrize(("name", "plot"), [("staff", "-tilt.png"), ("bow", "-sway.png")])
@pytest.mark.slow
def test_a_demo_writes_its_files(
    name: str, plot: str, tmp_path: Any, capsys: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(f"poise.demos.tracking.{name}.SECONDS", 0.8)
    assert main(["demo", name, "-o", str(tmp_path), "--json", "--quiet"]) == 0
    suffixes = {path.name.removeprefix(name) for path in tmp_path.iterdir()}
    assert {".glb", ".bvh", ".json", ".png", plot} <= suffixes
    assert '"fell": false' in capsys.readouterr().out
