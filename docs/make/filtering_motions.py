"""Motions of a centre of mass with known acceleration, and the noise that recordings have, for docs/filtering.md.

Every motion is made at 4800 Hz, with its acceleration, and then sampled. Channels are lateral, vertical, fore-aft.
"""

from __future__ import annotations

import numpy as np
from scipy import signal

FINE = 4800
G = 9.81


def _clock(seconds: float) -> np.ndarray:
    return np.arange(int(seconds * FINE) + 1) / FINE


def _harmonics(t: np.ndarray, terms: list[tuple[float, float, float]]) -> tuple[np.ndarray, np.ndarray]:
    """Sum of a sin(2 pi f t + p) over (a, f, p), and its second derivative."""
    x, a = np.zeros_like(t), np.zeros_like(t)
    for amplitude, frequency, phase in terms:
        wave = amplitude * np.sin(2 * np.pi * frequency * t + phase)
        x += wave
        a -= (2 * np.pi * frequency) ** 2 * wave
    return x, a


def _integrate_twice(a: np.ndarray) -> np.ndarray:
    v = np.cumsum(a, axis=0) / FINE
    return np.cumsum(v - v.mean(axis=0), axis=0) / FINE


def _bump(t: np.ndarray, center: float, width: float) -> np.ndarray:
    """A raised cosine of unit area."""
    u = (t - center) / width
    return np.where(np.abs(u) < 0.5, (1 + np.cos(2 * np.pi * u)) / width, 0.0)


def standing(seconds, rng):
    """Sway of a few millimetres up to 3 Hz."""
    t = _clock(seconds)
    channels = []
    for size in (4e-3, 1e-3, 5e-3):
        f = np.arange(0.07, 3, 0.11)
        a = 0.4 * size * (f / 0.2) ** -1.9 / (1 + (0.2 / f) ** 2) * rng.standard_normal(len(f))
        channels.append(_harmonics(t, list(zip(a, f, rng.uniform(0, 6.3, len(f)), strict=True))))
    return tuple(np.stack(part, axis=1) for part in zip(*channels, strict=True))


def walking(seconds, rng):
    """Eight harmonics of the stride, or of the step, that fall off with the power 3.3."""
    t = _clock(seconds)
    stride = rng.uniform(0.85, 1.05)
    channels = []
    for multiple, size in ((1, 0.02), (2, 0.02), (2, 0.015)):
        k = np.arange(1, 9)
        terms = zip(
            size * k**-3.3 * rng.uniform(0.5, 1.5, 8), k * multiple * stride, rng.uniform(0, 6.3, 8), strict=True
        )
        channels.append(_harmonics(t, list(terms)))
    x, a = (np.stack(part, axis=1) for part in zip(*channels, strict=True))
    x[:, 2] += 1.3 * t
    return x, a


def gesturing(seconds, rng):
    """A hand that goes from place to place in smooth steps of 0.3 to 0.9 s, with pauses."""
    t = _clock(seconds)
    x, a = np.zeros((len(t), 3)), np.zeros((len(t), 3))
    start, here = rng.uniform(-0.3, 0.1), np.zeros(3)
    while start < seconds:
        duration, there = rng.uniform(0.3, 0.9), rng.uniform(-0.35, 0.35, 3)
        u = np.clip((t - start) / duration, 0, 1)[:, None]
        x += (there - here) * (35 * u**4 - 84 * u**5 + 70 * u**6 - 20 * u**7)
        a += (there - here) / duration**2 * (420 * u**2 - 1680 * u**3 + 2100 * u**4 - 840 * u**5)
        here, start = there, start + duration + rng.uniform(0, 0.4)
    return x, a


def jumping(seconds, rng):
    """Crouch, push, flight, a landing with a peak of 0.1 s; again after a rest."""
    t = _clock(seconds)
    a = np.zeros((len(t), 3))
    start = rng.uniform(-0.2, 0.15)
    while start < seconds:
        flight = rng.uniform(0.3, 0.5)
        v, off = G * flight / 2, start + 0.65
        land = off + flight
        a[:, 1] += (0.9 + v) * _bump(t, start + 0.5, 0.35) - 0.9 * _bump(t, start + 0.2, 0.4)
        a[:, 1] -= np.where((t > off) & (t < land), G, 0.0)
        a[:, 1] += v * (
            0.45 * _bump(t, land + 0.05, 0.1) + 0.85 * _bump(t, land + 0.18, 0.3) - 0.3 * _bump(t, land + 0.5, 0.5)
        )
        a[:, 2] += 0.8 * v * (_bump(t, start + 0.5, 0.3) - _bump(t, land + 0.12, 0.22))
        a[:, 0] += 0.2 * (_bump(t, start + 0.45, 0.3) - _bump(t, land + 0.1, 0.2))
        start = land + 1.0 + rng.uniform(0, 1)
    return _integrate_twice(a), a


def running(seconds, rng):
    """Flight between stances of 0.2 s, each with an impact peak of 60 ms."""
    t = _clock(seconds)
    a = np.zeros((len(t), 3))
    a[:, 1] = -G
    step = rng.uniform(0.33, 0.38)
    stance, start, side = 0.6 * step, -rng.uniform(0, step), 1.0
    while start < seconds:
        u = np.clip((t - start) / stance, 0, 1)
        push, impact = np.sin(np.pi * u) ** 1.5, 0.12 * rng.uniform(0.7, 1.3)
        a[:, 1] += G * step * ((1 - impact) * push / (0.5564 * stance) + impact * _bump(t, start + 0.035, 0.06))
        a[:, 2] -= 3.5 * np.sin(2 * np.pi * u) * np.sin(np.pi * u)
        a[:, 0] += 0.8 * side * push
        side, start = -side, start + step * rng.uniform(0.98, 1.02)
    x = _integrate_twice(a)
    x[:, 2] += 3.2 * t
    return x, a


MOTIONS = {"standing": standing, "walking": walking, "gesturing": gesturing, "jumping": jumping, "running": running}


def sample(name: str, seconds: float, rate: float, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Positions (F, 3) m and accelerations (F, 3) m/s2 at `rate` Hz."""
    x, a = MOTIONS[name](seconds, rng)
    frames = np.round(np.arange(int(seconds * rate)) * FINE / rate).astype(int)
    return x[frames], a[frames]


def noise(kind: str, shape: tuple[int, int], rate: float, size: float, rng: np.random.Generator) -> np.ndarray:
    """Noise of position in metres.

    white    `size` is its RMS
    slow     half white, half with a memory of 30 ms; `size` is its RMS
    capture  white of RMS `size`, and below 16 Hz a part that is white as acceleration, as in the two measured walks
    """
    white = size * rng.standard_normal(shape)
    if kind == "white":
        return white
    if kind == "slow":
        r = np.exp(-1 / (0.03 * rate))
        drive = rng.standard_normal((shape[0] + 200, *shape[1:]))
        memory = signal.lfilter([np.sqrt(1 - r * r)], [1, -r], drive, axis=0)[200:]
        return (white + size * memory) / np.sqrt(2)
    long = 2 * shape[0] + 400
    f = np.fft.rfftfreq(long, 1 / rate)[:, None]
    f[0] = np.inf
    shape_of = (16 / f) ** 2 / (1 + (2 / f) ** 4)
    slow = np.fft.irfft(np.fft.rfft(rng.standard_normal((long, *shape[1:])), axis=0) * shape_of, long, axis=0)
    return white + size * slow[200 : 200 + shape[0]]
