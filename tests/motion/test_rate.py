"""Frame rates judged by gravity: own motions played at other rates, with noise, and recordings."""

from __future__ import annotations

import numpy as np
import pytest

from helpers.bodies import make_human, tpose
from helpers.postures import EASES, drawn_jump, hop, one_legged, played, shaken
from helpers.recordings import data_file, data_folder
from poise.files.reading.pipeline import interpret
from poise.files.reading.recording import Recording
from poise.files.registry import read_clip
from poise.motion.clip import Clip
from poise.motion.contacts.frame_rate import check_rate, describe_rate
from poise.motion.contacts.standing_rate import find_overreach
from poise.motion.contacts.synthetic import is_drawn
from poise.motion.samples import idle, jump, squat, walk, wave
from poise.spatial import rotation


@pytest.fixture(scope="module")
def jumping() -> Clip:
    return jump(make_human(1.75), fps=120.0)


@pytest.mark.parametrize("noise", [0.0, 0.0005])
@pytest.mark.parametrize("fps", [30.0, 60.0, 120.0])
def test_a_jump_falls_at_g(fps, noise):
    check = check_rate(shaken(jump(make_human(1.75), fps=fps), noise))
    assert not check.is_wrong
    assert check.flights == 1
    assert check.fall == pytest.approx(9.81, rel=0.1)
    assert describe_rate(check) == []


@pytest.mark.parametrize("factor", [0.5, 2.0, 4.0, 60 / 24, 30 / 24])
@pytest.mark.parametrize("noise", [0.0, 0.0005])
def test_a_jump_at_a_wrong_rate_is_found_and_its_true_rate_too(jumping, factor, noise):
    check = check_rate(shaken(played(jumping, factor), noise))
    assert check.is_wrong
    assert check.likely == pytest.approx(120.0, rel=0.06)
    assert check.fall == pytest.approx(9.81 * factor**2, rel=0.1)
    (warning,) = describe_rate(check)
    assert warning.kind == "frame rate" and "--fps 120" in warning.message


@pytest.mark.parametrize("make", [walk, idle, squat])
@pytest.mark.parametrize("factor", [0.25, 0.5, 1.0])
@pytest.mark.parametrize("noise", [0.0, 0.001])
@pytest.mark.many(6)
def test_calm_motions_at_their_rate_or_slower_prove_nothing(make, factor, noise):
    clip = make(make_human(1.75), 4.0, fps=60.0)
    assert not check_rate(played(shaken(clip, noise), factor)).is_wrong


def test_a_recorded_squat_four_times_as_fast_falls_faster_than_g_with_its_feet_down():
    clip = shaken(squat(make_human(1.75), 2.0, fps=60.0), 0.0005)
    check = check_rate(played(clip, 4.0))
    assert check.is_wrong and check.flights == 0
    assert check.fall > 1.5 * 9.81
    assert check.likely == pytest.approx(120.0)
    assert "no ground can pull" in check.evidence
    assert 0.6 <= check.confidence < 1.0


def test_a_drawn_squat_that_falls_faster_than_g_is_said_to_without_doubt_in_its_rate():
    check = check_rate(played(squat(make_human(1.75), 2.0, fps=60.0), 4.0))
    assert check.drawn and not check.is_wrong
    (warning,) = describe_rate(check)
    assert warning.kind == "gravity" and "hand-made" in warning.message and "--fps" not in warning.message


RATES, FACTORS = (24.0, 30.0, 60.0, 120.0), (0.25, 0.5, 0.8, 1.25, 2.0, 4.0)
FLYING = {
    "jump": lambda fps: jump(make_human(1.75), fps=fps),
    "high jump": lambda fps: jump(make_human(1.75), fps=fps, height=0.4),
    "hop on one leg": lambda fps: hop(make_human(1.75), fps),
    "a child's jump": lambda fps: jump(make_human(1.1), fps=fps),
}
GROUNDED = {
    "one leg": lambda fps: one_legged(make_human(1.75), fps),
    "one leg, quick": lambda fps: one_legged(make_human(1.75), fps, 0.05, 0.35),
    "one leg without toes": lambda fps: one_legged(make_human(1.75, without=("Toes",)), fps),
    "one leg, the other shorter": lambda fps: one_legged(tpose(left_leg=0.8), fps, 0.06, 0.5),
    "jump on odd legs": lambda fps: jump(tpose(left_leg=0.8), fps=fps),
    "walk": lambda fps: walk(make_human(1.75), 4.0, fps=fps),
    "wave": lambda fps: wave(make_human(1.75), fps=fps),
}


@pytest.mark.parametrize("noise", [0.0, 0.0005, 0.002])
@pytest.mark.parametrize("name", FLYING)
@pytest.mark.many(3)
def test_flights_tell_the_true_rate_whatever_is_stated(name, noise):
    """At most two of 24 are missed, none is told a rate that is not its own, and none at its own is doubted."""
    hits = 0
    for fps in RATES:
        clip = shaken(FLYING[name](fps), noise)
        assert not check_rate(clip).is_wrong
        for factor in FACTORS:
            check = check_rate(played(clip, factor))
            assert not check.is_wrong or check.likely == pytest.approx(fps, rel=0.08), (fps, factor)
            hits += check.is_wrong
    assert hits >= len(RATES) * len(FACTORS) - 2


@pytest.mark.parametrize("noise", [0.0, 0.0005])
@pytest.mark.parametrize("name", GROUNDED)
@pytest.mark.many(3)
def test_who_stands_on_one_leg_does_not_fly(name, noise):
    """At its rate or slower nothing is said; nothing is ever said to be too slow."""
    for fps in RATES:
        clip = shaken(GROUNDED[name](fps), noise)
        for factor in (0.25, 0.5, 0.8, 1.0, 1.25):
            check = check_rate(played(clip, factor))
            assert not check.is_wrong and check.flights == 0, (fps, factor, check)


@pytest.mark.parametrize("arc", [None, "sine", "throw"])
@pytest.mark.parametrize("ease", EASES)
@pytest.mark.many(3)
def test_drawn_jumps_are_not_accused(ease, arc):
    for fps in RATES:
        for height in (0.3, 0.6, 1.0, 1.6, 2.5):
            check = check_rate(drawn_jump(make_human(1.75), ease, fps, height, arc))
            assert not check.is_wrong, (fps, height, check)


def test_a_drawn_fall_is_named_by_the_reading_and_a_wrong_rate_with_its_confidence(jumping):
    def warnings(clip: Clip) -> list[str]:
        bare = clip.replace(skeleton=clip.skeleton.replace(roles={}))
        return [w for w in interpret(Recording(bare, "test", "")).warnings if w.startswith(("frame rate", "gravity"))]

    assert [w.split(":")[0] for w in warnings(drawn_jump(make_human(1.75), "smooth", 30.0, 2.5))] == ["gravity"]
    (wrong,) = warnings(played(shaken(jumping, 0.0005), 2.0))
    assert wrong.startswith("frame rate:") and "confidence 0.75: one clean flight" in wrong


def test_a_glitch_is_no_fall(jumping):
    """One frame, 20 cm off: a spike, not a parabola."""
    clip = walk(make_human(1.75), 3.0, fps=120.0)
    root = clip.root.copy()
    root[100, 1] += 0.2
    root[200, 1] -= 0.2
    assert not check_rate(clip.replace(root=root)).is_wrong


def test_feet_off_the_floor_on_a_seat_are_no_flight():
    """Sitting high with the feet hanging: nothing falls."""
    clip = idle(make_human(1.75), 3.0, fps=60.0)
    ramp = np.interp(clip.times, [0.0, 0.5, 1.1, 2.0, 2.6], [0.0, 0.0, 1.0, 1.0, 0.0])
    up = 0.2 * (1.0 - np.cos(np.pi * ramp))
    assert not check_rate(clip.replace(root=clip.root + up[:, None] * [0.0, 1.0, 0.0]), ground=0.0).is_wrong


def test_what_cannot_be_judged_is_not():
    clip = jump(make_human(1.75), fps=60.0)
    short = clip.replace(times=clip.times[:5], root=clip.root[:5], rotations=clip.rotations[:5])
    assert not check_rate(short).is_wrong
    armless = clip.replace(skeleton=clip.skeleton.replace(roles={"hips": "hips"}))
    assert check_rate(armless).fall == 0.0


def recorded() -> Clip:
    """Somebody walks as a camera sees it: with noise, which no curve has."""
    return shaken(walk(make_human(1.75), 4.0, fps=120.0), 0.0005)


def test_a_recording_that_repeats_its_last_frame_is_a_recording_and_does_not_fall_where_it_ends():
    """It stops dead in the midst of a jump, as no body does; again and again, so that one alone is not passed over."""
    clip = recorded()
    last = np.minimum(np.arange(len(clip)), 2 * len(clip) // 3)
    assert not is_drawn(clip.replace(root=clip.root[last], rotations=clip.rotations[last]))
    leap = shaken(walk(make_human(1.75), 4.0, fps=120.0), 0.0005)
    frames = np.arange(len(leap))
    since, stopped = frames % 80, np.minimum(frames % 80, 40)
    rise = np.where(since < 41, stopped / 120.0, 40 / 120.0)  # 1 m/s upward for a third of a second, then nothing
    held = frames - since + stopped
    root = leap.root[held] + rise[:, None] * [0.0, 1.0, 0.0]
    assert not check_rate(leap.replace(root=root, rotations=leap.rotations[held])).is_wrong


def test_a_recording_in_which_a_joint_flips_is_a_recording():
    """A hand is turned by half a turn in single frames: beside that all others look as if the body stood."""
    clip = recorded()
    turns = clip.rotations.copy()
    flipped = np.arange(20, len(clip), 30)
    hand = clip.skeleton.index("leftHand")
    turns[flipped, hand] = rotation.multiply(turns[flipped, hand], np.array([0.0, 1.0, 0.0, 0.0]))
    assert not is_drawn(clip.replace(rotations=turns))


def test_a_recording_with_glitches_is_a_recording():
    """In one frame of eighty every joint jerks by twenty degrees: beside that the noise of the others vanishes."""
    clip = recorded()
    rng, jerked = np.random.default_rng(2), np.arange(10, len(clip), 80)
    jerks = rotation.exp(rng.normal(scale=np.radians(20.0), size=(len(jerked), len(clip.skeleton), 3)))
    turns = clip.rotations.copy()
    turns[jerked] = rotation.multiply(turns[jerked], jerks)
    assert not is_drawn(clip.replace(rotations=turns))


def test_flights_at_g_are_believed_before_a_shaken_skeleton(jumping):
    """Somebody jumps, and then the hips are shaken by 2 cm, six times a second: at up to three times g."""
    clip = shaken(jumping, 0.0005)
    end = np.maximum(np.arange(len(clip)) - 0.8 * len(clip), 0.0)
    shake = 0.02 * np.sin(2.0 * np.pi * 6.0 * end / 120.0)
    check = check_rate(clip.replace(root=clip.root + shake[:, None] * [0.0, 1.0, 0.0]))
    assert not check.is_wrong and check.flights == 1


@pytest.mark.data
@pytest.mark.parametrize("name", ["75_15", "93_03"])
def test_rates_that_are_known_to_be_wrong_are_found(name):
    warnings = read_clip(data_file(f"bvh-cmu/{name}.bvh")).warnings
    assert any(sentence.startswith("frame rate") and "--fps 60." in sentence for sentence in warnings)


@pytest.mark.data
@pytest.mark.parametrize(
    "name", ["02_05", "07_01", "09_01", "13_11", "13_26", "49_02", "49_18", "90_18", "111_02", "111_27", "111_28"]
)
def test_rates_that_are_known_to_be_right_are_not_accused(name):
    assert not check_rate(read_clip(data_file(f"bvh-cmu/{name}.bvh")).clip).is_wrong


@pytest.mark.data
def test_recordings_are_not_taken_for_drawn_and_hand_made_clips_are():
    folder = data_folder()
    if folder is None:
        pytest.skip("no real recordings: set POISE_DATA to a folder that has them")
    recorded = sorted(folder.glob("bvh-*/*.bvh"))
    assert [path.name for path in recorded if is_drawn(read_clip(path).clip)] == []
    path = data_file("gltf/Med_Simulation.glb")
    clips = {name: read_clip(path, clip=name).clip for name in read_clip(path).recording.choices}
    made = {name: clip for name, clip in clips.items() if len(clip) > 20}
    assert len(made) > 8 and all(is_drawn(clip) for clip in made.values())


@pytest.mark.data
def test_a_hand_made_clip_that_drops_out_of_the_air_is_not_accused():
    check = check_rate(read_clip(data_file("gltf/Med_General.glb"), clip="Rig_Medium|Spawn_Air").clip)
    assert not check.is_wrong and check.drawn


@pytest.mark.data
@pytest.mark.parametrize("name", ["09_01", "13_11", "90_18", "115_06"])
def test_right_recordings_played_twice_as_fast_are_accused(name):
    clip = read_clip(data_file(f"bvh-cmu/{name}.bvh")).clip
    assert check_rate(played(clip, 2.0)).likely == pytest.approx(120.0, rel=1e-3)


@pytest.mark.data
@pytest.mark.parametrize("noise", [0.0015, 0.003])
def test_noise_of_a_capture_is_not_taken_for_a_pull(noise: float) -> None:
    """A run at its true rate: short stretches of noise fall faster than g, again and again."""
    clip = read_clip(data_file("force-bvh/hamner_run_raw.bvh")).clip
    for seed in range(6):
        rng = np.random.default_rng(seed)
        assert not check_rate(clip.replace(root=clip.root + noise * rng.standard_normal(clip.root.shape))).is_wrong


def swaying(fps: float, stature: float, hz: float = 0.7, angle: float = 0.03) -> Clip:
    """A recorded body that sways over its ankles, stiff as a post, its feet flat on the floor."""
    skeleton = make_human(stature)
    still = idle(skeleton, 6.0, fps=fps)
    lean = rotation.exp(angle * np.sin(2.0 * np.pi * hz * still.times)[:, None] * [1.0, 0.0, 0.0])
    turns = still.rotations.copy()
    turns[:, 0] = rotation.multiply(lean, turns[:, 0])
    for side in ("left", "right"):
        foot = skeleton.index(side + "Foot")
        leg = rotation.multiply(rotation.conjugate(still.world[1][:, foot]), rotation.conjugate(lean))
        turns[:, foot] = rotation.multiply(turns[:, foot], rotation.multiply(leg, still.world[1][:, foot]))
    leaned = still.replace(rotations=turns)
    foot = skeleton.index("leftFoot")
    return shaken(leaned.replace(root=leaned.root + (still.positions - leaned.positions)[:, foot]), 0.0005)


@pytest.mark.parametrize("fps", [30.0, 60.0, 120.0])
@pytest.mark.parametrize("stature", [1.5, 1.75, 1.95])
def test_who_sways_at_twice_the_rate_leaves_the_soles_and_at_the_true_rate_does_not(fps, stature):
    true = swaying(fps, stature)
    assert not check_rate(true).is_wrong
    assert not check_rate(played(true, 0.5)).is_wrong
    check = check_rate(played(true, 2.0))
    assert check.is_wrong and check.flights == 0
    assert check.likely == pytest.approx(fps, rel=1e-6)
    sentence = describe_rate(check)[0].message
    assert "outside the soles" in sentence and f"--fps {fps:g}" in sentence and "N m" in sentence


@pytest.mark.data
@pytest.mark.parametrize("name", ["115_01", "115_06", "141_16"])
def test_standing_recordings_at_a_wrong_rate_are_found(name):
    warnings = read_clip(data_file(f"bvh-cmu/{name}.bvh")).warnings
    assert any(sentence.startswith("frame rate") and "--fps 60." in sentence for sentence in warnings)


@pytest.mark.data
@pytest.mark.parametrize("name", ["02_05", "07_01", "07_12", "09_12", "13_26", "111_02", "111_28", "49_18", "90_18"])
def test_recordings_at_their_true_rate_or_slower_are_not_doubted_for_their_soles(name):
    clip = read_clip(data_file(f"bvh-cmu/{name}.bvh")).clip
    for factor in (1.0, 0.5):
        assert find_overreach(played(clip, factor)) is None
