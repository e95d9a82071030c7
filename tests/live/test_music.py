"""Music that is played while a puppet is recorded.   [M3]"""

from __future__ import annotations

import wave
from pathlib import Path

import numpy as np
import pytest

import poise
from poise.errors import FileError
from poise.jobs.puppet.cued_puppet import TICK
from poise.live.music import Music, SdlSpeaker, Sound, load_sound
from poise.live.puppet_session import PuppetSession
from poise.puppetry.device import HeldHands


def write_wav(path: Path, seconds: float = 1.0, rate: int = 22_050, width: int = 2) -> np.ndarray:
    samples = (8000.0 * np.sin(2.0 * np.pi * 440.0 * np.arange(round(seconds * rate)) / rate)).astype("<i2")
    with wave.open(str(path), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(width)
        file.setframerate(rate)
        file.writeframes(samples.tobytes())
    return samples


class FakeSpeaker:
    """One that hears as much as a tick lasts."""

    def __init__(self) -> None:
        self.waiting, self.begun, self.stopped = 0, list[int](), 0

    def play(self, samples: np.ndarray) -> None:
        self.waiting = len(samples)
        self.begun.append(len(samples))

    def stop(self) -> None:
        self.waiting, self.stopped = 0, self.stopped + 1

    def left(self) -> int:
        return self.waiting

    def close(self) -> None:
        pass


def test_it_goes_with_takes_and_playbacks_and_rests_between(tmp_path: Path) -> None:
    rate, speaker = 12_000, FakeSpeaker()
    music = Music(Sound(np.zeros((10 * rate, 1), np.int16), rate), speaker)
    session, hands = PuppetSession(poise.Rehearsal(tmp_path), poise.Character.human(1.75, 75)), HeldHands()

    def ticks(count: int, stalls: bool = False) -> None:
        for _ in range(count):
            music(session.tick(hands.read()))
            if not stalls:
                speaker.waiting = max(speaker.waiting - round(rate * TICK), 0)

    ticks(10)
    assert speaker.begun == []
    session.record()
    ticks(300)
    assert len(speaker.begun) == 1 and speaker.begun[0] > 9.9 * rate  # from the beginning
    session.practise()
    ticks(5)
    assert speaker.stopped == 1
    session.play(1.5)
    ticks(50)
    assert len(speaker.begun) == 2 and speaker.begun[1] == pytest.approx(8.5 * rate, abs=0.1 * rate)
    ticks(30, stalls=True)  # the sound hangs: it is set right
    assert len(speaker.begun) > 2


def test_files_are_read_or_told(tmp_path: Path) -> None:
    samples = write_wav(tmp_path / "a.wav")
    found = load_sound(tmp_path / "a.wav")
    assert (
        found.rate == 22_050 and found.duration == pytest.approx(1.0) and np.array_equal(found.samples[:, 0], samples)
    )
    (tmp_path / "b.wav").write_bytes(b"RIFF")
    (tmp_path / "c.mp3").write_bytes(b"no music")
    write_wav(tmp_path / "d.wav", 0.0)
    for name in ("b.wav", "c.mp3", "d.wav", "gone.mp3", "gone.wav"):
        with pytest.raises(FileError, match=name):
            load_sound(tmp_path / name)


def test_other_formats_are_read_with_av(tmp_path: Path) -> None:
    av = pytest.importorskip("av")
    with av.open(str(tmp_path / "a.flac"), "w") as container:
        stream = container.add_stream("flac", rate=44_100)
        stream.layout = "stereo"
        frame = av.AudioFrame.from_ndarray(np.zeros((1, 88_200), np.int16), format="s16", layout="stereo")
        frame.sample_rate = 44_100
        for packet in [*stream.encode(frame), *stream.encode(None)]:
            container.mux(packet)
    assert load_sound(tmp_path / "a.flac").duration == pytest.approx(1.0, abs=0.1)


def test_sdl_takes_it(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("sdl2", reason="PySDL2 is not installed")
    monkeypatch.setenv("SDL_AUDIODRIVER", "dummy")
    speaker = SdlSpeaker(22_050, 2)
    try:
        speaker.play(np.zeros((220_500, 2), np.int16))
        assert 150_000 < speaker.left() <= 220_500
        speaker.stop()
        assert speaker.left() == 0
    finally:
        speaker.close()
