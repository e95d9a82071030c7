"""A puppet that somebody plays: takes, retakes, what is kept, and the loop around it.   [M1, M3]"""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

import poise
from helpers.errors import rejects
from poise.errors import InputError
from poise.jobs.puppet.cued_puppet import TICK
from poise.live.puppet_loop import PuppetLoop
from poise.live.puppet_session import PLAY, PRACTISE, RECORD, PuppetSession, Shown
from poise.puppetry.device import HandsReading, HeldHands
from poise.puppetry.hands_file import load_hands
from poise.spatial import rotation


def pump(t: float, hand: int) -> tuple[np.ndarray, np.ndarray]:
    """Legs that go up and down in turn."""
    up = math.sin(3.0 * t + math.pi * hand)
    return np.array([0.0, 0.05 + 0.05 * up, 0.0]), rotation.exp(np.array([-0.4 * up, 0.0, 0.0]))


def spread(t: float, hand: int) -> tuple[np.ndarray, np.ndarray]:
    """Arms that rise to the sides."""
    return np.zeros(3), rotation.exp(np.array([0.0, 0.0, (1.0, -1.0)[hand] * min(t, 1.0)]))


BODIES = {"grown": (1.75, 75.0), "child": (1.2, 24.0), "tall": (2.0, 95.0)}  # m, kg


class Played:
    """A session with hands that follow a function."""

    def __init__(self, folder: Path, body: str = "grown"):
        self.rehearsal = poise.Rehearsal(folder)
        self.session = PuppetSession(self.rehearsal, poise.Character.human(*BODIES[body]))
        self.device = HeldHands()

    def drive(self, ticks: int, hands: object = pump) -> list[Shown]:
        found = []
        for k in range(ticks):
            for hand in range(2):
                self.device.put(hand, *hands(k * TICK, hand))  # type: ignore[operator]
            found.append(self.session.tick(self.device.read()))
        return found


def test_what_was_seen_while_recording_is_what_is_played(tmp_path: Path) -> None:
    played = Played(tmp_path)
    session = played.session
    played.drive(20)
    session.record()
    assert session.mode == RECORD
    played.drive(240)
    session.choose("arms")
    session.record()
    seen = played.drive(200, spread)
    assert all(each.ghost is not None for each in seen)  # of the legs alone
    arm = session.character.skeleton.index("leftUpperArm")
    assert seen[-1].ghost is not None
    assert np.abs(seen[-1].pose.rotations[arm] - seen[-1].ghost.rotations[arm]).max() > 0.2
    session.play()
    assert session.mode == PLAY
    again = [session.tick(None) for _ in range(190)]
    for one, other in zip(seen, again, strict=False):
        assert np.array_equal(one.pose.rotations, other.pose.rotations)
        assert np.array_equal(one.pose.root, other.pose.root) and one.time == other.time


@pytest.mark.slow
def test_it_is_played_from_the_middle_as_from_the_beginning(tmp_path: Path) -> None:
    played = Played(tmp_path)
    session = played.session
    session.record()
    played.drive(400)
    session.play()
    all_of_it = {round(each.time / TICK): each for each in (session.tick(None) for _ in range(380))}
    for begin in (0.5, 2.2, 3.0):  # the last two from a state that was kept
        session.play(begin)
        for _ in range(5):
            now = session.tick(None)
            there = all_of_it[round(now.time / TICK)]
            assert np.array_equal(now.pose.rotations, there.pose.rotations)
            assert np.array_equal(now.pose.root, there.pose.root)
    with pytest.raises(InputError, match="ends at"):
        session.play(60.0)


def test_a_retake_is_led_up_to_and_goes_on_from_its_time(tmp_path: Path) -> None:
    played = Played(tmp_path)
    session = played.session
    played.drive(3)
    session.record()
    first = played.drive(420)
    session.record(2.5)
    second = played.drive(300, lambda t, hand: (np.zeros(3), rotation.identity()))
    before = [each for each in second if not each.is_heard]
    assert before and before[0].time < 0.6
    old = {round(each.time / TICK): each for each in first}
    for each in before[:-1]:
        assert np.array_equal(each.pose.rotations, old[round(each.time / TICK)].pose.rotations)
    session.practise()
    layer = played.rehearsal.now.find("legs")
    assert [piece.at for piece in layer.pieces] == [0.0, 2.5] and layer.pieces[0].end == 2.5
    session.play()
    again = [session.tick(None) for _ in range(330)]
    by_time = {round(each.time / TICK): each for each in again}
    for each in second:
        there = by_time.get(round(each.time / TICK))
        if there is not None and there.mode == PLAY:
            assert np.array_equal(each.pose.rotations, there.pose.rotations)
    # and it can be undone
    assert session.undo() and played.rehearsal.now.find("legs").pieces[0].end == math.inf
    assert session.redo() and len(played.rehearsal.now.find("legs").pieces) == 2


def test_every_sample_is_in_the_file_before_the_next_tick(tmp_path: Path) -> None:
    played = Played(tmp_path)
    played.drive(3)
    played.session.record()
    for count in range(1, 30):
        played.drive(1)
        assert len(load_hands(tmp_path / "legs-1.hands")) == count + 1  # nobody closed it; one more from the start
    again = poise.Rehearsal(tmp_path)
    played.session.close()
    assert [layer.name for layer in again.now.layers] == ["legs"]


def test_feel_is_changed_at_once_and_kept(tmp_path: Path) -> None:
    played = Played(tmp_path)
    session = played.session
    session.record()
    played.drive(30)
    session.feel(0.1, 3.0)
    played.drive(30)
    session.practise()
    layer = poise.Rehearsal(tmp_path).now.find("legs")
    assert (layer.viscosity, layer.stiffness) == (0.1, 3.0)
    assert poise.Rehearsal(tmp_path).list_layers()[0].alpha == 0.1
    with pytest.raises(InputError, match="stiffness"):
        session.feel(0.1, 30.0)
    with pytest.raises(InputError, match="viscosity"):
        session.feel(0.0, 1.0)


def test_stiffer_legs_follow_sooner(tmp_path: Path) -> None:
    found = {}
    for stiffness in (0.3, 4.0):
        played = Played(tmp_path / str(stiffness))
        played.session.feel(1.0, stiffness)
        knee = played.session.character.skeleton.index("leftLowerLeg")
        played.drive(30, lambda t, hand: (np.zeros(3), rotation.identity()))
        seen = played.drive(12, lambda t, hand: (np.array([0.0, 0.2 * (hand == 0), 0.0]), rotation.identity()))
        found[stiffness] = 2.0 * math.acos(min(1.0, abs(float(seen[-1].pose.rotations[knee, 0]))))
    assert found[4.0] > 1.3 * found[0.3]


def test_what_cannot_be_played_is_told(tmp_path: Path) -> None:
    session = Played(tmp_path).session
    with pytest.raises(InputError, match="nothing is recorded"):
        session.play()
    rejects(lambda: session.choose("wings"), "'wings'")
    rejects(lambda: session.record(3.0), "'legs'")
    with pytest.raises(InputError, match="from 0 to"):
        session.play(math.nan)
    (tmp_path / "wrong.toml").write_text("viscosity = 7\n", encoding="utf-8")
    rejects(lambda: session.choose("wrong", "wrong.toml"), "wrong.toml")
    assert session.layer == "legs" and session.mode == PRACTISE
    session.tick(None)


def test_hands_that_are_lost_are_waited_for_and_the_take_is_kept(tmp_path: Path) -> None:
    played = Played(tmp_path)
    session = played.session
    played.drive(5)
    session.record()
    played.drive(40)
    for hand in range(2):
        played.device.lose(hand)
    seen = [session.tick(played.device.read()) for _ in range(60)]
    assert all(np.isfinite(each.pose.rotations).all() for each in seen)
    played.drive(20)
    session.practise()
    take = load_hands(tmp_path / "legs-1.hands")
    assert len(take) == 121 and np.isnan(take.places).any()
    session.play()
    for _ in range(100):
        session.tick(None)


# The loop.


class Clock:
    """A clock that somebody moves."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


class Gone(HeldHands):
    """A device that can vanish."""

    is_there = True

    def status(self) -> tuple[bool, str]:
        return self.is_there, "the gamepad is there." if self.is_there else "the gamepad is gone: plug it in again."


class Stamped(HeldHands):
    """A device whose input came a while ago."""

    def __init__(self, clock: Clock, ago: float):
        super().__init__()
        self.clock, self.ago = clock, ago

    def read(self) -> HandsReading | None:
        found = super().read()
        assert found is not None
        return found._replace(received=self.clock.now - self.ago)


def test_latency_is_from_input_to_the_pose_that_knows_of_it(tmp_path: Path) -> None:
    clock, poses = Clock(), []
    loop = PuppetLoop(Played(tmp_path).session, Stamped(clock, 0.003), clock=clock)

    def watch(shown: Shown) -> None:
        clock.now += 0.002  # what showing it takes
        poses.append(shown.pose)

    loop.watchers.append(watch)
    assert loop.latency is None
    for _ in range(40):
        clock.now += TICK
        loop.tick()
    assert loop.latency == pytest.approx(0.005)


def test_the_very_next_pose_knows_of_an_input(tmp_path: Path) -> None:
    for moved in (False, True):
        played = Played(tmp_path / str(moved))
        still = lambda t, hand: (np.zeros(3), rotation.identity())  # noqa: E731
        played.drive(30, still)
        if moved:
            played.device.put(0, np.array([0.0, 0.2, 0.0]))
        shown = played.session.tick(played.device.read())
        knee = played.session.character.skeleton.index("leftLowerLeg")
        if not moved:
            before = shown.pose.rotations[knee].copy()
    assert np.abs(shown.pose.rotations[knee] - before).max() > 1e-5


def test_a_device_that_vanishes_is_told_once_and_the_take_goes_on(tmp_path: Path) -> None:
    clock, told = Clock(), list[str]()
    played = Played(tmp_path)
    device = Gone()
    loop = PuppetLoop(played.session, device, told.append, clock)
    loop.post(played.session.record)
    for k in range(120):
        device.is_there = k < 40 or k > 80
        clock.now += TICK
        assert loop.tick() is not None
    assert len(told) == 2 and told[0].startswith("the gamepad is gone") and "take goes on" in told[0]
    assert played.session.mode == RECORD
    played.session.close()
    assert len(load_hands(tmp_path / "legs-1.hands")) == 120


def test_what_fails_is_told_and_the_puppet_plays_on(tmp_path: Path) -> None:
    told = list[str]()
    played = Played(tmp_path)
    loop = PuppetLoop(played.session, HeldHands(), told.append)

    def break_down(_shown: Shown) -> None:
        raise RuntimeError("no screen")

    loop.watchers.append(break_down)
    loop.post(lambda: played.session.choose("wings"))
    loop.post(lambda: played.session.play(5.0))
    for _ in range(3):
        assert loop.tick() is not None
    assert len(told) == 3 and "wings" in told[0] and "recorded" in told[1] and "no screen" in told[2]
    assert loop.watchers == []


def test_a_full_disk_ends_the_take_and_keeps_it(tmp_path: Path) -> None:
    told = list[str]()
    played = Played(tmp_path)
    loop = PuppetLoop(played.session, played.device, told.append)
    played.drive(3)
    played.session.record()
    played.drive(10)
    recorder = played.session.hands.recorder
    assert recorder is not None

    def refuse(*_: object) -> bool:
        raise OSError(28, "No space left on device")

    recorder.put = refuse  # type: ignore[method-assign, assignment]
    assert loop.tick() is None
    assert "No space left" in told[0] and "kept" in told[0] and played.session.mode == PRACTISE
    assert len(load_hands(tmp_path / "legs-1.hands")) == 11
    assert loop.tick() is not None


def test_a_loop_runs_in_a_thread_and_ends(tmp_path: Path) -> None:
    played = Played(tmp_path)
    loop = PuppetLoop(played.session, played.device)
    seen: list[Shown] = []

    def watch(shown: Shown) -> None:
        seen.append(shown)
        if len(seen) == 10:
            loop._stopping.set()

    loop.watchers.append(watch)
    loop.start()
    assert loop._thread is not None
    loop._thread.join()
    loop.stop()
    assert len(seen) == 10


def test_a_puppet_at_rest_is_left_alone_until_a_hand_moves(tmp_path: Path) -> None:
    played = Played(tmp_path)
    session = played.session
    played.drive(60)
    for _ in range(1200):
        session.tick(played.device.read())
        if session._slept:
            break
    stage, before = session.playback.stage, session.playback.stage.time
    shown = [session.tick(played.device.read()) for _ in range(10)]
    assert stage.time == before and shown[-1].pose is shown[0].pose
    assert shown[-1].time - shown[0].time == pytest.approx(9 * TICK) and shown[-1].number - shown[0].number == 9
    played.device.put(0, np.array([0.0, 0.3, 0.0]))
    moved = [session.tick(played.device.read()) for _ in range(20)]
    assert stage.time == pytest.approx(before + 20 * TICK)
    assert not np.array_equal(moved[0].pose.rotations, shown[-1].pose.rotations)  # in the first pose that knows of it
    jump = rotation.log(rotation.multiply(rotation.conjugate(shown[-1].pose.rotations), moved[0].pose.rotations))
    assert np.abs(jump).max() < 0.1


@pytest.mark.parametrize("wakes", ["feel", "let_go"])
def test_what_is_asked_of_a_puppet_at_rest_wakes_it(tmp_path: Path, wakes: str) -> None:
    played = Played(tmp_path)
    session, reading = played.session, played.device.read()
    for _ in range(1200):
        session.tick(reading)
        if session._slept:
            break
    stage, before = session.playback.stage, session.playback.stage.time
    if wakes == "feel":
        session.feel(0.5, 2.0)
    else:
        session.let_go()
    session.tick(reading)
    assert stage.time > before


@pytest.mark.slow
def test_a_ghost_that_is_hidden_is_not_played_and_catches_up(tmp_path: Path) -> None:
    played = Played(tmp_path)
    session = played.session
    session.record()
    played.drive(240)
    session.choose("arms")
    session.record()
    seen = played.drive(60, spread)
    assert session.ghost is not None and seen[-1].ghost is not None
    session.with_ghost, at = False, session.ghost.stage.time
    hidden = played.drive(60, spread)
    assert session.ghost.stage.time < at + 2 * TICK and hidden[-1].ghost is None
    session.with_ghost = True
    found = played.drive(60, spread)
    assert found[0].ghost is None and found[-1].ghost is not None
    arm = session.character.skeleton.index("leftUpperArm")
    legs = [session.character.skeleton.index(f"{side}LowerLeg") for side in ("left", "right")]
    # it is where the puppet is: the same legs, without the arms
    assert np.array_equal(found[-1].ghost.rotations[legs], found[-1].pose.rotations[legs])
    assert not np.array_equal(found[-1].ghost.rotations[arm], found[-1].pose.rotations[arm])
    session.close()


# Physics.


def crouch(_t: float, _hand: int) -> tuple[np.ndarray, np.ndarray]:
    """Both knees are bent deep."""
    return np.array([0.0, 0.18, 0.0]), rotation.exp(np.array([-0.7, 0.0, 0.0]))


def lift(_t: float, hand: int) -> tuple[np.ndarray, np.ndarray]:
    """One foot is up."""
    up = 1.0 - hand
    return np.array([0.0, 0.15 * up, 0.0]), rotation.exp(np.array([-0.6 * up, 0.0, 0.0]))


def stride(_t: float, hand: int) -> tuple[np.ndarray, np.ndarray]:
    """One foot is ahead of the other."""
    return np.array([0.0, 0.05, 0.0]), rotation.exp(np.array([(-0.3, 0.25)[hand], 0.0, 0.0]))


@pytest.mark.parametrize("balances", [False, True])
@pytest.mark.parametrize(
    ("body", "hands"),
    [("grown", pump), ("grown", crouch), ("grown", lift), ("grown", stride), ("child", pump), ("child", lift),
     ("tall", pump), ("tall", stride)],
)  # fmt: skip
@pytest.mark.many(3)
def test_it_is_let_go_of_and_taken_back_without_a_jump(
    tmp_path: Path, body: str, hands: object, balances: bool
) -> None:
    played = Played(tmp_path, body)
    session = played.session
    found, asked = [], []

    def watch(ticks: int) -> None:
        for _ in range(ticks):
            for hand in range(2):
                played.device.put(hand, *hands(len(found) * TICK, hand))  # type: ignore[operator]
            pose = session.tick(played.device.read()).pose
            found.append((pose.root, pose.rotations))

    watch(100)
    asked.append(len(found))
    session.let_go(balances)
    while session.playback.player is not None:  # it is put on its feet before legs keep it up
        watch(1)
        assert len(found) < 480
    asked.append(len(found) - 1)
    watch(120 if balances else 300)
    stood = found[-1][0][1]
    asked.append(len(found))
    session.take_back()
    watch(400)
    v = np.diff(np.array([root for root, _ in found]), axis=0) / TICK
    turns = np.array([turn for _, turn in found])
    w = rotation.log(rotation.multiply(rotation.conjugate(turns[:-1]), turns[1:])) / TICK
    # from one 120th of a second to the next, as it is asked for, as it is let go of and as it is taken back
    jerks, turned = np.linalg.norm(np.diff(v, axis=0), axis=1), np.linalg.norm(np.diff(w, axis=0), axis=2)
    for at in asked:
        near = slice(at - 4, at + 4)
        assert jerks[near].max() < 0.1 and turned[near].max() < 5.0
    if balances:
        assert stood > 0.95 * found[0][0][1]
        return
    # It fell, and was drawn up without a jump all the way: legs are as hands have them again.
    assert stood < 0.6 * found[0][0][1] and found[-1][0][1] > 0.8 * found[0][0][1]
    assert jerks[asked[2] : asked[2] + 240].max() < 0.1 and turned[asked[2] : asked[2] + 240].max() < 15.0


def test_who_asks_to_stand_and_takes_back_at_once_keeps_it(tmp_path: Path) -> None:
    played = Played(tmp_path)
    session = played.session
    played.drive(300, lift)
    before = played.drive(1, lift)[-1].pose
    session.let_go(balances=True)
    played.drive(20, lift)
    session.take_back()
    after = played.drive(240, lift)[-1].pose
    assert session.playback.player is not None
    assert np.abs(after.rotations - before.rotations).max() < 0.02
