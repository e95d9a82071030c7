"""Files that become bad while a puppet is played: told in a sentence, and what they said is played on.   [M1, M3]"""

from __future__ import annotations

import math
import os
from pathlib import Path

import numpy as np
import pytest

import poise
from helpers.errors import rejects
from poise.jobs.puppet.cued_puppet import TICK
from poise.live.puppet_loop import PuppetLoop
from poise.live.puppet_session import PLAY, PRACTISE, RECORD, PuppetSession
from poise.puppetry.device import HeldHands
from poise.puppetry.hands_file import load_hands
from poise.puppetry.performance import HandsCache
from poise.spatial import rotation

KICKS = """
name = "kicks"
[[map]]
hand = "each"
from = "up"
to = "UpperLeg.bend"
degrees = {}
"""
NONSENSE = {
    "no TOML": "what? [[",
    "an unknown joint": KICKS.format(300).replace("UpperLeg", "Wing"),
    "no routes": 'name = "kicks"\n',
    "no text": b"\xff\xfe\x00",
    "gone": None,
}


class Show:
    """A loop by a clock of its own, over a folder with a mapping of somebody's own."""

    def __init__(self, folder: Path):
        self.folder, self.mapping = folder, folder / "kicks.toml"
        folder.mkdir(exist_ok=True)
        self.write(KICKS.format(300))
        self.now, self.told = 100.0, list[str]()
        self.session = PuppetSession(poise.Rehearsal(folder), poise.Character.human(1.75, 75))
        self.session.choose("kicks", "kicks.toml")
        self.session.hands.neutral = np.zeros((2, 3))
        self.device = HeldHands()
        self.loop = PuppetLoop(self.session, self.device, self.told.append, lambda: self.now)

    def write(self, text: str | bytes | None, path: Path | None = None) -> None:
        path = path or self.mapping
        if text is None:
            path.unlink()
        else:
            path.write_bytes(text.encode() if isinstance(text, str) else text)

    def ticks(self, count: int) -> float:
        """Hands go up and down; how far the left thigh is bent (rad) in the end."""
        for _ in range(count):
            self.now += TICK
            self.device.put(0, np.array([0.0, 0.1 + 0.02 * math.sin(3.0 * self.now), 0.0]))
            shown = self.loop.tick()
        assert shown is not None
        thigh = shown.pose.rotations[self.session.character.skeleton.index("leftUpperLeg")]
        return float(np.linalg.norm(rotation.log(thigh)))

    def ask(self, task: object) -> None:
        self.loop.post(task)  # type: ignore[arg-type]
        self.ticks(1)


@pytest.mark.parametrize("what", NONSENSE)
def test_a_mapping_that_becomes_bad_is_told_once_and_played_on(tmp_path: Path, what: str) -> None:
    show = Show(tmp_path)
    session = show.session
    show.ticks(60)
    show.ask(session.record)
    show.ticks(120)
    show.write(NONSENSE[what])
    assert show.ticks(120) > 0.2 and session.mode == RECORD
    assert (
        len(show.told) == 1
        and "kicks.toml" in show.told[0]
        and show.told[0].endswith("What it said before is played on.")
    )
    # stopped, played to its end, recorded again: as if the file were there
    show.ask(session.practise)
    assert show.ticks(60) > 0.2
    show.ask(session.play)
    assert session.mode == PLAY
    show.ticks(260)
    assert session.mode == PRACTISE
    show.ask(session.record)
    show.ticks(60)
    assert session.mode == RECORD
    show.ask(session.practise)
    assert len(show.told) == 1, show.told
    assert (
        load_hands(tmp_path / "kicks-1.hands").duration > 1.9 and load_hands(tmp_path / "kicks-2.hands").duration > 0.4
    )
    # who opens the folder anew is told, as ever
    rejects(lambda: poise.Rehearsal(tmp_path).list_layers(), "kicks.toml")
    # and a file that is mended is used at once
    show.write(KICKS.format(500))
    show.ticks(60)
    assert show.told[1:] == ["kicks.toml was read again."]


def test_a_mapping_that_is_changed_is_felt_while_practising_and_after_a_take(tmp_path: Path) -> None:
    show = Show(tmp_path)
    before = show.ticks(200)
    show.write(KICKS.format(600))
    assert show.ticks(200) > 1.3 * before and show.told == ["kicks.toml was read again."]
    show.ask(show.session.record)
    show.ticks(60)
    show.write(KICKS.format(100))
    assert show.ticks(140) > before  # the take is as it began
    assert show.told[1:] == ["kicks.toml was read again. It is used from the next Stop on."]
    show.ask(show.session.practise)
    assert show.ticks(200) < before


@pytest.mark.parametrize("what", ["cut", "nonsense", "gone"])
def test_a_recording_that_is_broken_or_gone_is_told_and_played_from_memory(tmp_path: Path, what: str) -> None:
    show = Show(tmp_path)
    session = show.session
    show.ask(session.record)
    show.ticks(240)
    show.ask(session.practise)
    show.ticks(40)
    path = tmp_path / "kicks-1.hands"
    assert session.duration > 1.9 and show.told == []  # as the page lists it
    whole = path.read_bytes()
    show.write({"cut": whole.replace(b" 1.0", b"", 1), "nonsense": b"\x00\x01", "gone": None}[what], path)
    show.ticks(40)
    assert len(show.told) == 1 and "kicks-1.hands" in show.told[0] and "played on" in show.told[0]
    show.ask(session.play)
    assert session.mode == PLAY and show.ticks(60) > 0.2
    show.ask(session.practise)
    show.ticks(60)
    assert len(show.told) == 1
    show.write(whole, path)
    show.ticks(40)
    assert len(show.told) == 1 and session.duration > 1.9


@pytest.mark.skipif(os.name == "nt", reason="a file that is open cannot be taken away on Windows")
@pytest.mark.parametrize("what", ["file", "folder", "another"])
def test_a_take_whose_file_is_taken_away_is_written_again(tmp_path: Path, what: str) -> None:
    show = Show(tmp_path / "show")
    session, path = show.session, tmp_path / "show" / "kicks-1.hands"
    show.ask(session.record)
    show.ticks(200)
    if what == "folder":
        (tmp_path / "show").rename(tmp_path / "elsewhere")
        for each in (tmp_path / "elsewhere").iterdir():
            each.unlink()
    else:
        path.unlink()
        if what == "another":
            path.write_text("somebody else's\n")
    show.ticks(150)
    assert session.mode == RECORD
    assert any("was taken away while it was recorded" in each for each in show.told)
    show.ask(session.practise)
    name = session.rehearsal.now.find("kicks").pieces[0].file
    take = load_hands(tmp_path / "show" / name)
    assert len(take) > 345 and take.duration > 2.8  # all of it, from the beginning on
    other = path.with_name("kicks-1.hands.other-1")
    assert what != "another" or other.read_text() == "somebody else's\n"
    show.ask(session.play)
    assert session.mode == PLAY
    session.close()


def test_what_never_could_be_read_is_refused(tmp_path: Path) -> None:
    cache = HandsCache()
    rejects(lambda: cache.find_mapping(tmp_path / "kicks.toml"), "kicks.toml")
    rejects(lambda: cache.find_mapping("wings"), "'wings'")
    assert cache.find_mapping("legs") is cache.find_mapping("legs") and cache.take_messages() == []


def test_a_folder_that_is_called_as_a_mapping_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    cache = HandsCache()
    cache.find_mapping("legs")
    (tmp_path / "legs").mkdir()  # as in `poise puppet legs`
    assert not cache.has_changed("legs") and cache.find_mapping("legs").name == "legs"
