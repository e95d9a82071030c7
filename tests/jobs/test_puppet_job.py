"""Recordings of hands, performances of layers, and `poise puppet`.   [M3]"""

from __future__ import annotations

import math
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import poise
from helpers.errors import rejects
from poise.demos.marionette.dance import dance
from poise.errors import FileError, InputError
from poise.puppetry.hands import HandsTake, join
from poise.puppetry.hands_file import HandsRecorder, load_hands, save_hands
from poise.puppetry.performance import Performance, Piece, load_performance
from poise.spatial import rotation


def wave(seconds: float = 2.0, height: float = 0.05, rate: float = 60.0) -> HandsTake:
    """Hands that go up and down."""
    times = np.arange(round(seconds * rate) + 1) / rate
    places = np.zeros((len(times), 2, 3))
    places[:, :, 1] = (height * np.sin(3.0 * times))[:, None]
    return HandsTake(times, places, rotation.identity((len(times), 2)), neutral=np.zeros((2, 3)))


# Recordings.


def test_a_recording_comes_back_to_the_last_bit(tmp_path: Path) -> None:
    take = dance()["legs"]
    save_hands(take, tmp_path / "a.hands")
    again = load_hands(tmp_path / "a.hands")
    for name in ("times", "places", "turns", "grips", "buttons", "neutral"):
        assert np.array_equal(getattr(take, name), getattr(again, name), equal_nan=True)
    save_hands(again, tmp_path / "b.hands")
    assert (tmp_path / "a.hands").read_bytes() == (tmp_path / "b.hands").read_bytes()


def test_a_recorder_that_is_killed_loses_less_than_a_sample(tmp_path: Path) -> None:
    path = tmp_path / "killed.hands"
    code = (
        "import sys, time, numpy as np\n"
        "from poise.puppetry.hands_file import HandsRecorder\n"
        f"r = HandsRecorder({str(path)!r})\n"
        "for k in range(10**6):\n"
        "    r.put(k / 60, np.zeros((2, 3)), np.tile([1.0, 0, 0, 0], (2, 1)))\n"
        "    print(k, flush=True)\n"
    )
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        last = 0
        while last < 40:
            last = int(process.stdout.readline())
        process.send_signal(signal.SIGKILL)
        rest = process.stdout.read().split()
    told = max([last, *map(int, rest[:-1])])
    assert len(load_hands(path)) >= told + 1


def test_a_line_that_was_not_finished_is_left_out(tmp_path: Path) -> None:
    path = tmp_path / "cut.hands"
    save_hands(wave(), path)
    whole = path.read_bytes()
    path.write_bytes(whole[:-30])
    assert len(load_hands(path)) == len(wave()) - 1


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        ("hands\n", 1, "first line"),
        ("poise hands 1\n0 1 2\n", 2, "19 are needed"),
        ("poise hands 1\nneutral 0 0 0 0 0\n", 2, "6 are needed"),
        ("poise hands 1\n" + "0 " * 18 + "x\n", 2, "'x' is no number"),
        ("poise hands 1\n" + "1 " + "0 " * 18 + "\n" + "1 " + "0 " * 18 + "\n", 3, "later than"),
        ("poise hands 1\n" + "0 " * 9 + "1.5 " + "0 " * 9 + "\n", 2, "bits"),
        ("poise hands 1\n" + "0 " * 8 + "nan " + "0 " * 10 + "\n", 2, "may be nan"),
        ("poise hands 1\n" + "0 " * 2 + "1e300 " + "0 " * 16 + "\n", 2, "too large"),
    ],
)
def test_a_wrong_recording_says_where_and_why(tmp_path: Path, text: str, line: int, said: str) -> None:
    path = tmp_path / "wrong.hands"
    path.write_text(text, encoding="ascii")
    with pytest.raises(FileError) as caught:
        load_hands(path)
    assert str(caught.value).startswith(f"{path}:{line}:") and said in str(caught.value)


def test_what_cannot_be_recorded_is_left_out_and_nothing_is_written_over(tmp_path: Path) -> None:
    one = rotation.identity((2,))
    with HandsRecorder(tmp_path / "a.hands") as recorder:
        assert recorder.put(0.0, np.zeros((2, 3)), one)
        assert not recorder.put(0.0, np.zeros((2, 3)), one) and not recorder.put(math.nan, np.zeros((2, 3)), one)
        assert recorder.put(1.0, np.array([[math.inf, 0, 0], [0, 0, 0]]), one, np.array([math.nan, 7.0]))
    found = load_hands(tmp_path / "a.hands")
    assert len(found) == 2 and np.isnan(found.places[1, 0]).all() and np.isfinite(found.places[1, 1]).all()
    assert found.grips is not None and found.grips[1].tolist() == [0.0, 1.0]
    with pytest.raises(FileError, match="never written over"):
        HandsRecorder(tmp_path / "a.hands")


# Performances.


def record(rehearsal: poise.Rehearsal, layer: str, take: HandsTake, t: float | None = None) -> None:
    with rehearsal.begin_take(layer, t=t, neutral=take.neutral) as recorder:
        for k in range(len(take)):
            recorder.put(*take.sample(k))


def heights(rehearsal: poise.Rehearsal, layer: int = 0) -> tuple[np.ndarray, np.ndarray]:
    hands = rehearsal.list_layers()[layer].hands
    assert isinstance(hands, HandsTake)
    return hands.times, hands.places[:, 0, 1]


def test_layers_are_recorded_retaken_trimmed_muted_blended_and_undone(tmp_path: Path) -> None:
    rehearsal = poise.Rehearsal(tmp_path / "show")
    record(rehearsal, "legs", wave(2.0))
    record(rehearsal, "arms", wave(1.0, 0.1))
    record(rehearsal, "legs", wave(3.0, -0.2), t=1.25)  # the legs again, from a point on
    times, y = heights(rehearsal)
    assert np.allclose(y, np.where(times < 1.25, 0.05 * np.sin(3 * times), -0.2 * np.sin(3 * (times - 1.25))))
    assert times[-1] == pytest.approx(4.25)
    rehearsal.change(rehearsal.now.trim("legs", 0.5, 2.0))
    times, _ = heights(rehearsal)
    assert times[0] >= 0.5 and times[-1] < 2.0
    rehearsal.change(rehearsal.now.mute("arms"))
    assert len(rehearsal.list_layers()) == 1
    rehearsal.change(rehearsal.now.mute("arms", False).blend("arms", 0.25))
    assert [layer.weight for layer in rehearsal.list_layers()] == [1.0, 0.25]
    # all of it is on the disk
    assert poise.Rehearsal(tmp_path / "show").now == rehearsal.now
    for _ in range(3):
        assert rehearsal.undo()
    assert heights(rehearsal)[0][-1] == pytest.approx(4.25) and rehearsal.list_layers()[1].weight == 1.0
    assert rehearsal.redo() and heights(rehearsal)[0][-1] < 2.0
    while rehearsal.undo():
        pass
    assert rehearsal.now == Performance() and not rehearsal.undo()
    assert len(list((tmp_path / "show").glob("*.hands"))) == 3  # no recording is ever taken away


def test_a_take_that_was_begun_is_there_after_a_kill(tmp_path: Path) -> None:
    rehearsal = poise.Rehearsal(tmp_path)
    recorder = rehearsal.begin_take("legs")
    for k in range(30):
        recorder.put(*wave().sample(k))
    again = poise.Rehearsal(tmp_path)  # nobody closed anything
    assert len(again.list_layers()[0].hands.times) == 30  # type: ignore[attr-defined]
    recorder.close()


def test_pieces_keep_their_own_neutral_places() -> None:
    moved = wave()
    moved = HandsTake(moved.times, moved.places + 5.0, moved.turns, neutral=np.full((2, 3), 5.0))
    found = join([wave(), moved.cut(0.0, 9.0, 3.0)])
    assert np.allclose(found.places[: len(wave())], found.places[len(wave()) :])


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        ('[[layers]]\nname = "a"\n', 1, "lacks 'mapping'"),
        ('[[layers]]\nname = "a"\nmapping = "legs"\nweight = 3\n', 4, "from 0 to 1"),
        ('[[layers]]\nname = "a"\nmapping = "legs"\n[[pieces]]\nlayer = "b"\nfile = "x.hands"\n', 5, "layer 'b'"),
        ('[[layers]]\nname = "a"\nmapping = "legs"\n[[pieces]]\nlayer = "a"\nfile = "../x.hands"\n', 4, "folder"),
        ('[[layers]]\nname = "a"\nmapping = "legs"\nvolume = 3\n', 4, "volume"),
    ],
)
def test_a_wrong_performance_says_where_and_why(tmp_path: Path, text: str, line: int, said: str) -> None:
    path = tmp_path / "performance.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(FileError) as caught:
        load_performance(path)
    assert str(caught.value).startswith(f"{path}:{line}:") and said in str(caught.value)


def test_pieces_and_times_that_cannot_be_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="ends after"):
        Piece("a.hands", 2.0, 1.0)
    rehearsal = poise.Rehearsal(tmp_path)
    rejects(lambda: rehearsal.begin_take("legs", t=3.0), "'legs'")
    with pytest.raises(InputError, match="mapping"):
        rehearsal.begin_take("wings")


# The job.


def test_the_same_recordings_give_the_same_bytes(tmp_path: Path) -> None:
    save_hands(wave(1.0), tmp_path / "legs.hands")
    given = f"legs={tmp_path / 'legs.hands'}"
    found = [poise.puppet(given, outputs=[tmp_path / f"{k}.bvh", tmp_path / f"{k}.glb"], fps=30.0) for k in range(2)]
    for suffix in ("bvh", "glb"):
        assert (tmp_path / f"0.{suffix}").read_bytes() == (tmp_path / f"1.{suffix}").read_bytes()
    figures = found[0].figures
    assert figures["layers"] == ["legs"] and figures["frames"] == 31 and figures["measured_on"] == "the file"
    assert figures["foot_slip_mm"] < 1.0


def test_what_is_not_played_is_said(tmp_path: Path) -> None:
    save_hands(wave(1.0), tmp_path / "x.hands")
    with pytest.raises(InputError, match="MAPPING=FILE"):
        poise.puppet(tmp_path / "x.hands")
    with pytest.raises(FileError, match="no performance"):
        poise.puppet(tmp_path / "x.bvh")
    with pytest.raises(FileError, match="no such file"):
        poise.puppet("legs=" + str(tmp_path / "y.hands"))
    with pytest.raises(InputError, match="up to"):
        poise.puppet("legs=" + str(tmp_path / "x.hands"), seconds=1e9)
    poise.Rehearsal(tmp_path / "empty")
    rehearsal = poise.Rehearsal(tmp_path / "mute")
    record(rehearsal, "legs", wave(0.5))
    rehearsal.change(rehearsal.now.mute("legs"))
    with pytest.raises(InputError, match="nothing is played"):
        poise.puppet(tmp_path / "mute")
