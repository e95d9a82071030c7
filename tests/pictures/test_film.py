"""Films read back by other decoders: how many frames, how large, how fast, and what color."""

from __future__ import annotations

import importlib.util
import struct
from fractions import Fraction

import numpy as np
import pytest

from poise.errors import FileError, InputError
from poise.pictures.film import film_suffix, save_film

KINDS = (".mp4", ".webm", ".webp", ".gif")
COLORS = [(220, 40, 40), (40, 200, 60), (40, 60, 210), (230, 220, 40), (200, 60, 200)]


def frames_of(colors=COLORS, size=(96, 64), square=True):
    """One frame a color, with a grey square that wanders."""
    width, height = size
    for k, color in enumerate(colors):
        frame = np.empty((height, width, 3), np.uint8)
        frame[:] = color
        if square:
            frame[10:20, 10 + 8 * k : 20 + 8 * k] = 128
        yield frame


def read_film(path) -> tuple[list[np.ndarray], float]:
    """Frames and seconds, by PyAV or Pillow."""
    if path.suffix in (".mp4", ".webm"):
        av = pytest.importorskip("av")
        with av.open(str(path)) as container:
            frames = [frame.to_ndarray(format="rgb24") for frame in container.decode(video=0)]
            return frames, container.duration / 1e6
    from PIL import Image, ImageSequence

    with Image.open(path) as image:
        pairs = [(np.array(f.convert("RGB")), f.info["duration"]) for f in ImageSequence.Iterator(image)]
    return [frame for frame, _ in pairs], sum(duration for _, duration in pairs) / 1000.0


@pytest.fixture(params=KINDS)
def kind(request) -> str:
    if request.param in (".mp4", ".webm"):
        pytest.importorskip("av")
    return request.param


@pytest.mark.parametrize("fps", [25.0, 30.0])
def test_a_film_is_read_back_with_its_frames_size_rate_and_colors(kind, fps, tmp_path):
    path = tmp_path / f"film{kind}"
    wanted = list(frames_of())
    assert save_film(path, iter(wanted), fps) == 5
    frames, seconds = read_film(path)
    assert [frame.shape for frame in frames] == [(64, 96, 3)] * 5
    assert seconds == pytest.approx(5 / fps, abs=0.006)
    for got, want in zip(frames, wanted, strict=True):
        # Away from edges, where all kinds but none keep the exact colors: chroma at half resolution, 256 colors.
        np.testing.assert_allclose(got[40:].mean(axis=(0, 1)), want[40:].mean(axis=(0, 1)), atol=6)
        np.testing.assert_allclose(got.mean(axis=(0, 1)), want.mean(axis=(0, 1)), atol=6)
    squares = [np.abs(frame[15].astype(int) - 128).sum(axis=1).argmin() for frame in frames]
    assert all(10 + 8 * k <= column < 20 + 8 * k for k, column in enumerate(squares))


def test_the_same_frames_give_the_same_bytes(kind, tmp_path):
    rng = np.random.default_rng(0)
    noise = [rng.integers(0, 256, (34, 50, 3), np.uint8) for _ in range(4)]
    for name in ("a", "b"):
        save_film(tmp_path / f"{name}{kind}", noise, 24.0)
    assert (tmp_path / f"a{kind}").read_bytes() == (tmp_path / f"b{kind}").read_bytes()


def test_one_frame_is_a_film(kind, tmp_path):
    assert save_film(tmp_path / f"one{kind}", frames_of(COLORS[:1]), 10.0) == 1
    from PIL import Image

    if kind in (".mp4", ".webm"):
        frames, _ = read_film(tmp_path / f"one{kind}")
        assert len(frames) == 1
    else:
        with Image.open(tmp_path / f"one{kind}") as image:
            assert (image.n_frames, image.size) == (1, (96, 64))


def test_odd_sizes_are_made_even_for_video_and_kept_for_pictures(kind, tmp_path):
    save_film(tmp_path / f"odd{kind}", frames_of(size=(71, 45)), 20.0)
    frames, _ = read_film(tmp_path / f"odd{kind}")
    assert frames[0].shape == ((46, 72, 3) if kind in (".mp4", ".webm") else (45, 71, 3))


def test_frames_that_do_not_change_last_as_long(kind, tmp_path):
    save_film(tmp_path / f"still{kind}", frames_of([COLORS[0]] * 6, square=False), 20.0)
    frames, seconds = read_film(tmp_path / f"still{kind}")
    assert seconds == pytest.approx(0.3, abs=0.006)
    np.testing.assert_allclose(frames[-1].mean(axis=(0, 1)), COLORS[0], atol=6)


@pytest.mark.parametrize("suffix", [".mp4", ".webm"])
def test_video_says_its_rate_and_pixels(suffix, tmp_path):
    av = pytest.importorskip("av")
    path = tmp_path / f"film{suffix}"
    save_film(path, frames_of(), 29.97)
    with av.open(str(path)) as container:
        stream = container.streams.video[0]
        assert float(stream.average_rate) == pytest.approx(29.97, rel=1e-3)
        assert stream.codec_context.pix_fmt == "yuv420p"
        assert stream.codec_context.name in ("h264", "vp9", "libvpx-vp9")


def test_mp4_can_start_before_it_is_loaded(tmp_path):
    pytest.importorskip("av")
    save_film(tmp_path / "film.mp4", frames_of(), 30.0)
    data, at, order = (tmp_path / "film.mp4").read_bytes(), 0, []
    while at < len(data):
        size, name = struct.unpack(">I4s", data[at : at + 8])
        order.append(name)
        at += size
    assert order.index(b"moov") < order.index(b"mdat")


def test_animated_pictures_loop_for_ever(tmp_path):
    from PIL import Image

    for suffix in (".webp", ".gif"):
        save_film(tmp_path / f"film{suffix}", frames_of(), 10.0)
        with Image.open(tmp_path / f"film{suffix}") as image:
            assert image.is_animated
            assert image.info["loop"] == 0


def test_gif_keeps_a_small_spot_of_a_rare_color(tmp_path):
    ramp = np.tile(np.linspace(150, 230, 200).astype(np.uint8)[None, :, None], (150, 1, 3))
    frames = [ramp.copy() for _ in range(10)]
    frames[7][70:84, 90:104] = (213, 94, 0)
    save_film(tmp_path / "spot.gif", frames, 10.0)
    from PIL import Image

    with Image.open(tmp_path / "spot.gif") as image:
        image.seek(1)  # frames that do not change are one
        spot = np.array(image.convert("RGB"))[77, 97].astype(int)
    np.testing.assert_allclose(spot, (213, 94, 0), atol=25)


def test_frames_are_taken_one_by_one(tmp_path):
    """No more than a few frames are alive at a time."""
    import weakref

    alive: list[weakref.ref] = []
    most = 0

    def frames():
        nonlocal most
        for k in range(40):
            frame = np.full((16, 16, 3), 6 * k, np.uint8)
            alive.append(weakref.ref(frame))
            yield frame
            del frame
            most = max(most, sum(ref() is not None for ref in alive))

    save_film(tmp_path / "film.webp", frames(), 30.0)
    assert most <= 3


@pytest.mark.parametrize("name", ["film.avi", "film", "film.mp5"])
def test_unknown_suffixes_are_refused_by_name(name, tmp_path):
    with pytest.raises(InputError, match=r"film.*is not in the kinds.*\.mp4, \.webm, \.webp, \.gif"):
        save_film(tmp_path / name, frames_of(), 30.0)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("frames", "fps", "words"),
    [
        ([], 30.0, "at least one frame"),
        ([np.zeros((4, 4), np.uint8)], 30.0, r"\(H, W, 3\)"),
        ([np.zeros((4, 4, 3))], 30.0, "uint8"),
        ([np.zeros((4, 4, 3), np.uint8), np.zeros((4, 6, 3), np.uint8)], 30.0, "frame 1 of a film"),
        ([np.zeros((4, 4, 3), np.uint8)], 0.0, "above 0"),
        ([np.zeros((4, 4, 3), np.uint8)], float("nan"), "above 0"),
    ],
)
def test_what_is_no_film_is_refused_and_leaves_nothing(kind, frames, fps, words, tmp_path):
    with pytest.raises(InputError, match=words):
        save_film(tmp_path / f"film{kind}", frames, fps)
    assert not list(tmp_path.iterdir())


def test_a_generator_that_fails_leaves_what_stood_there(kind, tmp_path):
    path = tmp_path / f"film{kind}"
    path.write_bytes(b"before")

    def broken():
        yield from frames_of()
        raise RuntimeError("no more")

    with pytest.raises(RuntimeError, match="no more"):
        save_film(path, broken(), 30.0)
    assert path.read_bytes() == b"before"
    assert list(tmp_path.iterdir()) == [path]


def test_a_place_that_does_not_exist_is_told_before_a_frame_is_drawn(tmp_path):
    def never():
        raise AssertionError("a frame was asked for")
        yield

    with pytest.raises(FileError, match="does not exist"):
        save_film(tmp_path / "no" / "film.webp", never(), 30.0)


def test_gif_refuses_what_viewers_cannot_show(tmp_path):
    with pytest.raises(InputError, match="50 frames a second at most"):
        save_film(tmp_path / "film.gif", frames_of(), 60.0)


def test_without_the_extra_one_sentence_tells_what_to_do(monkeypatch, tmp_path):
    find = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name, *rest: None if name == "av" else find(name, *rest))
    assert film_suffix() == ".webp"
    for suffix in (".mp4", ".webm"):
        with pytest.raises(InputError, match=r"pip install poise\[video\].*\.webp or \.gif"):
            save_film(tmp_path / f"film{suffix}", frames_of(), 30.0)
    assert save_film(tmp_path / "film.webp", frames_of(), 30.0) == 5
    monkeypatch.undo()
    if find("av") is not None:
        assert film_suffix() == ".mp4"


def test_rates_are_kept_as_fractions(tmp_path):
    av = pytest.importorskip("av")
    save_film(tmp_path / "film.mp4", frames_of(), 30000 / 1001)
    with av.open(str(tmp_path / "film.mp4")) as container:
        assert container.streams.video[0].average_rate == Fraction(30000, 1001)
