"""Frames to film files; the name's suffix says which kind.

.mp4   H.264, and .webm, VP9: small, played everywhere; both need PyAV, the extra `video`
.webp  and .gif: animated pictures, for where that is missing; .gif has 256 colors in all

Frames are taken one by one and written as they come; only a .gif keeps them, packed, since its colors are chosen from
all. The same frames give the same bytes.

Animated WebP is written frame by frame.

Pillow packs single pictures; its own writer of animations holds all of them first. The container around them is that of
Google's *WebP Container Specification*: RIFF with the chunks VP8X (size), ANIM (loop) and one ANMF a frame, which holds
the part of the picture that changed.
"""

from __future__ import annotations

import importlib.util
import io
import itertools
import shutil
import struct
import tempfile
import zlib
from collections.abc import Callable, Iterable, Iterator
from fractions import Fraction
from os import PathLike
from pathlib import Path
from typing import IO, Any

import numpy as np

from poise.errors import InputError, unknown_name
from poise.files.output import open_atomic, temporary_folder

# Constant quality: 18 cannot be told from the original, 28 shows blocks on the even ground. Faster presets than these
# make the file half as large again, slower ones save a tenth at twice the time.
_H264 = {"crf": "20", "preset": "fast"}
_VP9 = {"crf": "30", "b": "0", "deadline": "good", "cpu-used": "4", "row-mt": "0"}
_GIF_FASTEST = 50.0  # frames a second: viewers show a shorter delay than 20 ms as 100 ms
_GIF_SAMPLES = 4001  # pixels a frame that its colors are chosen from; a prime, so that they form no columns
_GIF_ROUNDS = 2  # of k-means after the first cut; more change nothing that is seen


def film_suffix() -> str:
    """The best kind of film that can be written here: ".mp4" with the extra `video`, else ".webp"."""
    return ".mp4" if importlib.util.find_spec("av") is not None else ".webp"


def save_film(path: str | PathLike[str], frames: Iterable[np.ndarray], fps: float) -> int:
    """Write a film and return how many frames it has; the file appears whole or not at all.

    path    .mp4, .webm, .webp or .gif
    frames  each (H, W, 3) uint8 sRGB, all of one size; a generator is taken frame by frame
    fps     frames a second; .gif allows 50 at most

    .mp4 and .webm need even sizes: a last row or column is repeated where there is none.
    """
    suffix = Path(path).suffix.lower()
    check_film(path)
    if not (np.isfinite(fps) and fps > 0.0):
        raise InputError(f"a film needs a frame rate above 0; given {fps:g} frames a second.")
    if suffix == ".gif" and fps > _GIF_FASTEST:
        raise InputError(
            f"a .gif shows {_GIF_FASTEST:g} frames a second at most, given {fps:g}; write a .webp or .mp4."
        )
    checked = _Checked(frames)
    with open_atomic(path) as stream:
        _WRITERS[suffix](stream, checked, fps)
    return checked.count


def check_film(path: str | PathLike[str]) -> None:
    """Refuse a film of a kind that is not known, or that cannot be written here; asked before there are any frames."""
    suffix = Path(path).suffix.lower()
    if suffix not in _WRITERS:
        raise unknown_name("film", suffix or str(path), _WRITERS, "the kinds that can be written")
    if suffix in (".mp4", ".webm") and importlib.util.find_spec("av") is None:
        raise InputError(
            f"'{path}' needs PyAV, which is not installed; `pip install poise[video]`, or write a .webp or .gif."
        )


class _Checked:
    """Frames as they pass: counted, all of one size, at least one."""

    def __init__(self, frames: Iterable[np.ndarray]):
        self.frames, self.count = iter(frames), 0

    def __iter__(self) -> Iterator[np.ndarray]:
        shape = None
        for frame in self.frames:
            frame = np.asarray(frame)
            if frame.ndim != 3 or frame.shape[2] != 3 or frame.dtype != np.uint8 or 0 in frame.shape:
                raise InputError(f"a film needs frames (H, W, 3) of uint8; given {frame.shape} of {frame.dtype}.")
            shape = shape or frame.shape
            if frame.shape != shape:
                raise InputError(f"frame {self.count} of a film is {frame.shape}, those before it are {shape}.")
            self.count += 1
            yield frame
        if not self.count:
            raise InputError("a film needs at least one frame; none given.")


def _write_video(
    kind: str, codec: str, options: dict[str, str]
) -> Callable[[IO[bytes], Iterable[np.ndarray], float], None]:
    def write(stream: IO[bytes], frames: Iterable[np.ndarray], fps: float) -> None:
        # The container's index goes before its pictures, which needs a file that can be read again.
        with temporary_folder() as folder:
            whole = folder / f"film.{kind}"
            _encode(whole, kind, codec, options, frames, fps)
            with whole.open("rb") as source:
                shutil.copyfileobj(source, stream)

    return write


def _encode(
    path: Path, kind: str, codec: str, options: dict[str, str], frames: Iterable[np.ndarray], fps: float
) -> None:
    import av
    from av.video.reformatter import ColorPrimaries, ColorRange, Colorspace, ColorTrc

    muxing = {"movflags": "+faststart", "fflags": "+bitexact"} if kind == "mp4" else {"fflags": "+bitexact"}
    rate = Fraction(fps).limit_denominator(10_000)
    with av.open(str(path), "w", format=kind, options=muxing) as container:
        stream: Any = None
        for index, frame in enumerate(frames):
            height, width = (side + side % 2 for side in frame.shape[:2])
            if stream is None:
                stream = container.add_stream(codec, rate=rate, options=options)
                stream.width, stream.height, stream.pix_fmt = width, height, "yuv420p"
                context = stream.codec_context
                context.time_base = 1 / rate
                # One thread: how many there are changes the bytes, and drawing uses the other cores.
                context.thread_count = 1
                context.color_range, context.colorspace = ColorRange.MPEG, Colorspace.ITU709
                context.color_primaries, context.color_trc = ColorPrimaries.BT709, ColorTrc.BT709
            even = np.pad(frame, ((0, height - frame.shape[0]), (0, width - frame.shape[1]), (0, 0)), mode="edge")
            picture = av.VideoFrame.from_ndarray(np.ascontiguousarray(even), format="rgb24").reformat(
                format="yuv420p", dst_colorspace=Colorspace.ITU709, dst_color_range=ColorRange.MPEG
            )
            picture.pts, picture.time_base = index, 1 / rate
            container.mux(stream.encode(picture))
        container.mux(stream.encode(None))


def _write_gif(stream: IO[bytes], frames: Iterable[np.ndarray], fps: float) -> None:
    from PIL import Image

    with tempfile.TemporaryFile() as spool:
        seen, sizes, shape = [], [], (0, 0, 3)
        for frame in frames:
            shape = frame.shape
            seen.append(frame.reshape(-1, 3)[:: max(frame.shape[0] * frame.shape[1] // _GIF_SAMPLES, 1)])
            sizes.append(spool.write(zlib.compress(frame.tobytes(), 1)))
        spool.seek(0)
        palette = _choose_palette(np.concatenate(seen))

        def quantized() -> Iterator[Image.Image]:
            for index, size in enumerate(sizes):
                pixels = np.frombuffer(zlib.decompress(spool.read(size)), np.uint8).reshape(shape)
                image = Image.fromarray(pixels).quantize(palette=palette, dither=Image.Dither.NONE)
                # Delays count in hundredths: rounded so that the whole film lasts as long as it should.
                image.info["duration"] = 10 * (round(100 * (index + 1) / fps) - round(100 * index / fps))
                yield image

        images = quantized()
        first = next(images)
        colors = bytes(palette.getpalette() or [])
        first.save(stream, "GIF", save_all=True, append_images=images, loop=0, palette=colors, optimize=False)


def _choose_palette(pixels: np.ndarray) -> Any:
    """An image with the 256 colors that suit pixels (N, 3) best."""
    from PIL import Image

    colors, counts = np.unique(pixels, axis=0, return_counts=True)
    # Rare colors count for more than their share, by the square root: a small arrow must keep its own.
    many = np.repeat(colors, np.ceil(np.sqrt(counts)).astype(int), axis=0)
    return Image.fromarray(many[None]).quantize(256, Image.Quantize.MEDIANCUT, kmeans=_GIF_ROUNDS)


def _write_webp(stream: IO[bytes], frames: Iterable[np.ndarray], fps: float) -> None:
    times = (round(1000 * index / fps) for index in itertools.count())
    write_webp(stream, frames, (after - before for before, after in itertools.pairwise(times)))


_WRITERS: dict[str, Callable[[IO[bytes], Iterable[np.ndarray], float], None]] = {
    ".mp4": _write_video("mp4", "libx264", _H264),
    ".webm": _write_video("webm", "libvpx-vp9", _VP9),
    ".webp": _write_webp,
    ".gif": _write_gif,
}
_QUALITY = 82  # 75 shows blocks in the soft shadows, 90 doubles the size
_ANIMATION, _OVERWRITE = 0x02, 0x02  # flags: of VP8X, it is animated; of a frame, it replaces what it covers
_LONGEST = 2**24 - 1  # ms a frame


def write_webp(stream: IO[bytes], frames: Iterable[np.ndarray], durations: Iterable[int]) -> None:
    """Write an animation that loops for ever.

    stream     that can seek: the file's length is put into its head at the end
    frames     each (H, W, 3) uint8 sRGB, all of one size, at least one
    durations  ms, of each
    """
    start = stream.tell()
    previous = None
    for frame, duration in zip(frames, durations, strict=False):
        if previous is None:
            height, width = frame.shape[:2]
            head = struct.pack("<B3x", _ANIMATION) + _three(width - 1) + _three(height - 1)
            stream.write(b"RIFF\0\0\0\0WEBP" + _chunk(b"VP8X", head) + _chunk(b"ANIM", struct.pack("<IH", 0, 0)))
        top, bottom, left, right = _find_change(previous, frame)
        place = [_three(n) for n in (left // 2, top // 2, right - left - 1, bottom - top - 1, min(duration, _LONGEST))]
        part = np.ascontiguousarray(frame[top:bottom, left:right])
        stream.write(_chunk(b"ANMF", b"".join(place) + bytes([_OVERWRITE]) + _pack(part)))
        previous = frame
    end = stream.tell()
    stream.seek(start + 4)
    stream.write(struct.pack("<I", end - start - 8))
    stream.seek(end)


def _find_change(previous: np.ndarray | None, frame: np.ndarray) -> tuple[int, int, int, int]:
    """Top, bottom, left and right of what differs from the frame before; top and left are even, as the format asks."""
    if previous is None:
        return 0, frame.shape[0], 0, frame.shape[1]
    changed = (frame != previous).any(axis=2)
    if not changed.any():
        return 0, 1, 0, 1
    rows, columns = np.flatnonzero(changed.any(axis=1)), np.flatnonzero(changed.any(axis=0))
    return int(rows[0]) // 2 * 2, int(rows[-1]) + 1, int(columns[0]) // 2 * 2, int(columns[-1]) + 1


def _pack(picture: np.ndarray) -> bytes:
    """The picture's own chunk of a still WebP file."""
    from PIL import Image

    file = io.BytesIO()
    Image.fromarray(picture).save(file, "WEBP", quality=_QUALITY, method=2)
    return file.getvalue()[12:]


def _three(number: int) -> bytes:
    return struct.pack("<I", number)[:3]


def _chunk(kind: bytes, data: bytes) -> bytes:
    return kind + struct.pack("<I", len(data)) + data + b"\0" * (len(data) % 2)
