"""Music with a performance: played from the performance's time, by the machine that runs the puppet.

It follows what is shown: it begins with a take or a playback, at its time, ends with it, and is corrected if it is off
by more than OFF. SDL plays the sound. WAV files of 16 bits are read directly, all others with `av`.
"""

from __future__ import annotations

import wave
from os import PathLike
from pathlib import Path
from typing import NamedTuple, Protocol

import numpy as np

from poise.errors import FileError, InputError
from poise.files.input import read_bytes
from poise.live.puppet_session import PRACTISE, Shown
from poise.live.sdl import get_sdl, start

OFF = 0.08  # s
LONGEST, MOST_BYTES = 1800.0, 400_000_000  # s of music; bytes of its file
RATES = (8000, 192_000)  # Hz
_RATE = 44_100  # Hz, of what is not WAV


class Sound(NamedTuple):
    """samples (N, C) int16;  rate: Hz"""

    samples: np.ndarray
    rate: int

    @property
    def duration(self) -> float:
        """s."""
        return len(self.samples) / self.rate


class Speaker(Protocol):
    """A sound output."""

    def play(self, samples: np.ndarray) -> None:
        """Play samples (N, C) int16 instead of the present ones."""

    def stop(self) -> None:
        """Stop playing."""

    def left(self) -> int:
        """Return the number of samples that are still to be played."""

    def close(self) -> None:
        """Release it."""


def load_sound(path: str | PathLike[str]) -> Sound:
    """Return the music in a file."""
    try:
        found = _load_wav(path) if Path(path).suffix.lower() == ".wav" else None
    except (wave.Error, EOFError) as error:
        raise FileError(path, f"is no WAV file that can be read: {error}.") from error
    found = _load_other(path) if found is None else found
    if not len(found.samples):
        raise FileError(path, "has no sound.")
    return found


def _load_wav(path: str | PathLike[str]) -> Sound | None:
    """Return the sound of a WAV file of 16 bits; None if it has another format."""
    import io

    with wave.open(io.BytesIO(read_bytes(path, MOST_BYTES))) as file:
        channels, width, rate, count = file.getparams()[:4]
        if width != 2 or channels not in (1, 2):
            return None
        if not RATES[0] <= rate <= RATES[1] or count / rate > LONGEST:
            raise FileError(path, f"is played at {RATES[0]} to {RATES[1]} Hz and up to {LONGEST:g} s.")
        data = np.frombuffer(file.readframes(count), "<i2")
        return Sound(data[: len(data) // channels * channels].reshape(-1, channels), rate)


def _load_other(path: str | PathLike[str]) -> Sound:
    try:
        import av
    except ImportError as error:
        raise FileError(
            path, "needs av to be read, which is not here. Give a WAV file of 16 bits, or: pip install 'poise[video]'"
        ) from error
    if not Path(path).is_file():
        raise FileError(path, "is not there, or is no file.")
    parts, count = list[np.ndarray](), 0
    try:
        with av.open(str(path)) as container:
            turner = av.AudioResampler(format="s16", layout="stereo", rate=_RATE)
            for frame in container.decode(audio=0):
                for each in turner.resample(frame):
                    parts.append(each.to_ndarray().reshape(-1, 2))
                    count += len(parts[-1])
                if count > LONGEST * _RATE:
                    raise FileError(path, f"is longer than {LONGEST:g} s. Cut it.")
    except (av.error.FFmpegError, IndexError, OSError) as error:
        raise FileError(path, f"is no music that can be read: {error}.") from error
    return Sound(np.concatenate(parts) if parts else np.zeros((0, 2), np.int16), _RATE)


class SdlSpeaker:
    """The machine's default sound output."""

    def __init__(self, rate: int, channels: int):
        self._sdl, self._width = get_sdl(), 2 * channels
        sdl = self._sdl
        start(sdl, sdl.SDL_INIT_AUDIO, "sound")
        wanted = sdl.SDL_AudioSpec(rate, sdl.AUDIO_S16LSB, channels, 512)
        self._device = sdl.SDL_OpenAudioDevice(None, 0, wanted, None, 0)
        if not self._device:
            raise InputError(f"sound cannot be played here: {sdl.SDL_GetError().decode(errors='replace')}.")
        sdl.SDL_PauseAudioDevice(self._device, 0)

    def play(self, samples: np.ndarray) -> None:
        """See `Speaker.play`."""
        data = np.ascontiguousarray(samples, "<i2").tobytes()
        self._sdl.SDL_ClearQueuedAudio(self._device)
        self._sdl.SDL_QueueAudio(self._device, data, len(data))

    def stop(self) -> None:
        """See `Speaker.stop`."""
        self._sdl.SDL_ClearQueuedAudio(self._device)

    def left(self) -> int:
        """See `Speaker.left`."""
        return int(self._sdl.SDL_GetQueuedAudioSize(self._device)) // self._width

    def close(self) -> None:
        """See `Speaker.close`."""
        self._sdl.SDL_CloseAudioDevice(self._device)
        self._sdl.SDL_QuitSubSystem(self._sdl.SDL_INIT_AUDIO)


class Music:
    """Music that follows what is shown: a watcher of a `PuppetLoop`."""

    def __init__(self, sound: Sound, speaker: Speaker):
        self.sound, self.speaker = sound, speaker
        self._plays = False

    def __call__(self, shown: Shown) -> None:
        """Play, correct or stop the music for what is shown."""
        at = round(max(shown.time, 0.0) * self.sound.rate)
        if shown.mode == PRACTISE or at >= len(self.sound.samples):
            if self._plays:
                self.speaker.stop()
            self._plays = False
            return
        here = len(self.sound.samples) - self.speaker.left()
        if not self._plays or abs(here - at) > OFF * self.sound.rate:
            self.speaker.play(self.sound.samples[at:])
        self._plays = True

    def close(self) -> None:
        """Stop the music and release the speaker."""
        self.speaker.close()
