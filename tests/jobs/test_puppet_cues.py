"""Falls in a performance: cues are recorded, kept, played again to the bit, retaken and undone.   [M9]"""

from __future__ import annotations

import math
from functools import cache
from pathlib import Path

import numpy as np
import pytest

import poise
from poise.errors import FileError, InputError
from poise.jobs.puppet.cued_puppet import TICK
from poise.jobs.puppet.job import puppet
from poise.live.playback import PHYSICS, RISES
from poise.live.puppet_session import PLAY, PRACTISE, PuppetSession, Shown
from poise.puppetry.cues import CUES, Cue
from poise.puppetry.device import HeldHands
from poise.puppetry.performance import Performance, RecordedLayer, load_performance
from poise.spatial import rotation


def pump(t: float, hand: int) -> tuple[np.ndarray, np.ndarray]:
    """Legs that go up and down in turn."""
    up = math.sin(3.0 * t + math.pi * hand)
    return np.array([0.0, 0.05 + 0.05 * up, 0.0]), rotation.exp(np.array([-0.4 * up, 0.0, 0.0]))


class Played:
    """A session with hands that follow a function."""

    def __init__(self, folder: Path):
        self.session = PuppetSession(poise.Rehearsal(folder), _character())
        self.device, self.count = HeldHands(), 0

    def drive(self, ticks: int) -> list[Shown]:
        found = []
        for _ in range(ticks):
            for hand in range(2):
                self.device.put(hand, *pump(self.count * TICK, hand))
            self.count += 1
            found.append(self.session.tick(self.device.read()))
        return found


@cache
def _character() -> poise.Character:
    return poise.Character.human(1.75, 75.0)


def record_a_fall(folder: Path) -> tuple[Played, list[Shown]]:
    """Legs, let go after a second, taken back after another, drawn up, let go again at the end."""
    played = Played(folder)
    played.drive(10)
    played.session.record()
    seen = played.drive(120)
    played.session.let_go()
    seen += played.drive(130)
    played.session.take_back()
    seen += played.drive(330)
    played.session.let_go()
    seen += played.drive(40)
    played.session.take_back()  # on the way down
    seen += played.drive(60)
    played.session.practise()
    return played, seen


def same(one: Shown, other: Shown) -> bool:
    return bool(
        np.array_equal(one.pose.rotations, other.pose.rotations)
        and np.array_equal(one.pose.root, other.pose.root)
        and one.time == other.time
        and one.state == other.state
    )


@cache
def fallen(folder: Path) -> tuple[Played, list[Shown]]:
    return record_a_fall(folder)


@pytest.fixture(scope="module")
def fall(tmp_path_factory: pytest.TempPathFactory) -> tuple[Played, list[Shown]]:
    return fallen(tmp_path_factory.mktemp("fall"))


def test_a_fall_that_was_seen_while_recording_is_played_again_to_the_bit(fall: tuple[Played, list[Shown]]) -> None:
    played, seen = fall
    session = played.session
    states = list(dict.fromkeys(each.state for each in seen))
    assert states == ["", PHYSICS, RISES]
    low = min(each.pose.root[1] for each in seen)
    assert low < 0.4 * seen[0].pose.root[1]  # it fell
    assert seen[570].pose.root[1] > 0.85 * seen[0].pose.root[1]  # and was drawn up
    session.play()
    again = [session.tick(None) for _ in range(len(seen) - 5)]
    assert all(each.mode == PLAY for each in again)
    assert all(same(a, b) for a, b in zip(seen, again, strict=False))
    # from the middle: in the fall, on the floor, while it gets up, and after that
    by_time = {round(each.time / TICK, 3): each for each in seen}
    for begin in (1.2, 2.0, 3.0, 4.6):
        session.play(begin)
        found = [by_time.get(round(now.time / TICK, 3)) for now in (session.tick(None) for _ in range(3))]
        assert any(each is not None for each in found)
        session.play(begin)
        for _ in range(3):
            now = session.tick(None)
            there = by_time.get(round(now.time / TICK, 3))
            assert there is None or same(now, there)
    session.practise()


def test_cues_are_in_the_file_when_the_button_was_pressed(tmp_path: Path) -> None:
    played = Played(tmp_path)
    played.session.record()
    played.drive(30)
    played.session.let_go()
    now = load_performance(tmp_path / "performance.toml")  # nobody closed anything
    assert [(cue.do, cue.layer) for cue in now.cues] == [("let go", "legs")]
    assert now.cues[0].at == pytest.approx(32 * TICK)  # of what was shown
    assert poise.Rehearsal(tmp_path).now == now
    played.session.close()


def test_the_command_plays_the_same_fall_twice_with_the_same_bytes(
    fall: tuple[Played, list[Shown]], tmp_path: Path
) -> None:
    played, seen = fall
    folder = played.session.rehearsal.folder
    found = puppet(str(folder), fps=120.0, outputs=[tmp_path / "a.bvh"])
    again = puppet(str(folder), fps=120.0, outputs=[tmp_path / "b.bvh"])
    assert (tmp_path / "a.bvh").read_bytes() == (tmp_path / "b.bvh").read_bytes()
    assert found.figures["falls"] == 2 and again.figures == found.figures
    assert found.figures["physics_s"] == pytest.approx(170 * TICK, abs=1e-6)
    assert found.figures["foot_slip_mm"] < 2.0  # of feet that stand: not of those that physics has
    # as it was seen: the command's frames are the stage's, and in physics those are what is shown
    for each in seen[130:240]:
        row = round(each.time / TICK)
        assert np.abs(found.clip.root[row] - each.pose.root).max() < 1e-5
    for side, begin, end in found.stances:
        assert side in (0, 1) and (end <= 1.03 or begin >= 2.0)


def test_a_retake_drops_the_cues_after_it_and_can_be_undone(tmp_path: Path) -> None:
    played, _ = record_a_fall(tmp_path)
    session, rehearsal = played.session, played.session.rehearsal
    before = rehearsal.now
    assert [cue.do for cue in before.cues] == ["let go", "take back"] * 2
    session.record(4.0)
    with pytest.raises(InputError, match="led up to"):
        session.let_go()
    seen = played.drive(400)
    assert [round(cue.at, 2) for cue in rehearsal.now.cues] == [round(cue.at, 2) for cue in before.cues[:2]]
    session.let_go()
    played.drive(5)
    session.practise()
    assert len(rehearsal.now.cues) == 3 and rehearsal.now.cues[2].at > 4.0
    assert session.undo() and rehearsal.now == before
    assert session.redo() and len(rehearsal.now.cues) == 3
    # what leads up to it is what was there
    session.undo()
    session.play(seen[0].time - 3 * TICK)
    ticks = {round(each.time / TICK): each for each in (session.tick(None) for _ in range(20))}
    for each in seen[:15]:
        there = ticks.get(round(each.time / TICK))
        assert there is None or np.array_equal(there.pose.rotations, each.pose.rotations)


def test_another_layer_is_recorded_over_a_fall_and_leaves_it(fall: tuple[Played, list[Shown]]) -> None:
    played, seen = fall
    session = played.session
    cues = session.rehearsal.now.cues
    session.choose("arms")
    session.record()
    over = played.drive(200)
    assert over[150].state == PHYSICS and over[190].pose.root[1] < 0.7 * seen[0].pose.root[1]
    session.practise()
    assert session.rehearsal.now.cues == cues
    session.change(session.rehearsal.now.remove("arms"))
    assert session.rehearsal.now.cues == cues
    session.choose("legs")


def test_a_cue_while_it_is_played_is_kept(tmp_path: Path) -> None:
    played = Played(tmp_path)
    session = played.session
    session.record()
    played.drive(300)
    session.play()
    for _ in range(60):
        session.tick(None)
    session.let_go()
    first = [session.tick(None) for _ in range(100)]
    assert first[-1].state == PHYSICS and session.mode == PLAY
    assert [(cue.do, cue.layer) for cue in session.rehearsal.now.cues] == [("let go", None)]
    session.play()
    again = [session.tick(None) for _ in range(160)]
    assert all(same(a, b) for a, b in zip(first, again[60:], strict=True))
    assert session.undo() and not session.rehearsal.now.cues and session.mode == PRACTISE


def test_who_lies_is_not_asked_to_stand(tmp_path: Path) -> None:
    played = Played(tmp_path)
    played.drive(10)
    played.session.let_go()
    played.drive(60)
    with pytest.raises(InputError, match="Take it back first"):
        played.session.let_go(balances=True)
    played.session.take_back()
    assert played.drive(2)[-1].state == RISES


def test_standing_is_recorded(tmp_path: Path) -> None:
    played = Played(tmp_path)
    session = played.session
    played.drive(5)
    session.record()
    seen = played.drive(20)
    session.let_go(balances=True)
    for _ in range(60):
        seen += played.drive(10)
        if seen[-1].state:
            break
    seen += played.drive(60)
    session.take_back()
    seen += played.drive(60)
    session.practise()
    assert [cue.do for cue in session.rehearsal.now.cues] == ["stand", "take back"]
    session.play()
    again = [session.tick(None) for _ in range(len(seen) - 5)]
    assert all(same(a, b) for a, b in zip(seen, again, strict=False))


# The file.


def test_cues_go_where_their_recording_goes() -> None:
    one = Performance((RecordedLayer("legs", "legs"), RecordedLayer("arms", "arms")))
    for cue in (
        Cue(3.0, "take back", "arms"),
        Cue(1.0, "let go", "legs"),
        Cue(2.0, "take back"),
        Cue(5.0, "stand", "legs"),
    ):
        one = one.cue(cue)
    assert [cue.at for cue in one.cues] == [1.0, 2.0, 3.0, 5.0]
    assert [cue.at for cue in one.record("legs", "legs", "a.hands").cues] == [2.0, 3.0]
    assert [cue.at for cue in one.retake("legs", 4.0, "a.hands").cues] == [1.0, 2.0, 3.0]
    assert [cue.at for cue in one.trim("legs", 2.0, 9.0).cues] == [2.0, 3.0, 5.0]
    assert [cue.at for cue in one.remove("legs").cues] == [2.0, 3.0]
    assert one.mute("legs").cues == one.blend("legs", 0.5).cues == one.cues
    assert [cue.at for cue in one.until(3.0).cues] == [1.0, 2.0]


def test_a_performance_with_cues_comes_back(tmp_path: Path) -> None:
    from poise.puppetry.performance import format_performance

    one = Performance((RecordedLayer("legs", "legs"),)).cue(Cue(1.0 / 3.0, "let go", "legs")).cue(Cue(7.0, "take back"))
    path = tmp_path / "performance.toml"
    path.write_text(format_performance(one), encoding="utf-8")
    assert load_performance(path) == one
    assert "cues" not in format_performance(Performance((RecordedLayer("legs", "legs"),)))


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        ('[[cues]]\nat = 1.0\ndo = "let goo"\n', 3, "Did you mean 'let go'"),
        ('[[cues]]\ndo = "stand"\n', 1, "lacks 'at'"),
        ("[[cues]]\nat = 1.0\n", 1, "lacks 'do'"),
        ('[[cues]]\ndo = "stand"\nat = -1.0\n', 3, "0 to 3600 s"),
        ('[[cues]]\ndo = "stand"\nat = inf\n', 3, "finite"),
        ('[[cues]]\nat = 1.0\ndo = "stand"\nlayer = "wings"\n', 4, "layer 'wings'"),
        ('[[cues]]\nat = 1.0\ndo = "stand"\nwho = "me"\n', 4, "who"),
    ],
)
def test_a_wrong_cue_says_where_and_why(tmp_path: Path, text: str, line: int, said: str) -> None:
    path = tmp_path / "performance.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(FileError) as caught:
        load_performance(path)
    assert str(caught.value).startswith(f"{path}:{line}:") and said in str(caught.value)
    assert set(CUES) == {"let go", "stand", "take back"}
