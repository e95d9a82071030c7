"""Conversion: a motion file in another format, with the error measured on what was written.

`Changes` is what a conversion does to a motion on its way, what it allows, and what changes nothing.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Mapping
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from poise.body.character import Character
from poise.errors import FileError, InputError, unknown_name
from poise.files.reading.options import RESTORE, Roles, Source
from poise.files.reading.pipeline import Reading
from poise.files.registry import check_can_save, read_source
from poise.files.reporting import SILENT, RecordingReporter, Reporter
from poise.files.writing.writing import WITH_BODY, has_mesh
from poise.jobs.shared.body import ClipBody, find_body
from poise.jobs.shared.outputs import check_outputs
from poise.kinds import checked

if TYPE_CHECKING:
    from poise.files.writing.writing import Edits
    from poise.motion.clip import Clip
RATES = (0.1, 100_000.0)  # frames a second that may be asked for
MOST_POSES = 50_000_000  # joints times frames that may be made of a clip: their rotations take 1.6 GB
ROOTS = ("keep", "in-place")


@dataclasses.dataclass(frozen=True)
class Changes:
    """What a conversion does to the motion; nothing by default.

    start, end  s: what is before and after is left out
    resample    frames a second to write
    loop        make it loop: the best stretch, its ends made to meet
    root        `keep`, or `in-place`: the way over the ground is taken out; sway and height stay
    """

    start: float | None = None
    end: float | None = None
    resample: float | None = None
    loop: bool = False
    root: str = "keep"

    def check(self, audience: Reporter = SILENT) -> None:
        """Refuse what can be done to no clip."""
        spell = audience.spell
        for option in ("start", "end"):
            seconds = getattr(self, option)
            if seconds is not None and not (math.isfinite(seconds) and seconds >= 0.0):
                raise InputError(f"{spell(option)} is a time from 0 s, the first frame, on; {seconds:g} given.")
        if self.start is not None and self.end is not None and self.end < self.start:
            raise InputError(
                f"{spell('end')} {self.end:g} is before {spell('start')} {self.start:g}; it must be a later time."
            )
        if self.resample is not None and not RATES[0] <= self.resample <= RATES[1]:
            raise InputError(
                f"{spell('resample')} must be from {RATES[0]:g} to {RATES[1]:g} frames a second; {self.resample:g} "
                "given."
            )
        if self.root not in ROOTS:
            raise unknown_name("root", self.root, ROOTS)

    def check_in(self, clip: Clip, audience: Reporter = SILENT) -> None:
        """Refuse what cannot be done to this clip, and say what changes nothing about it."""
        spell = audience.spell
        first, last = float(clip.times[0]), float(clip.times[-1])
        if self.start is not None and self.start > last:
            raise InputError(f"{spell('start')} {self.start:g} s is after the clip's last frame, at {last:g} s.")
        if self.end is not None and self.end > last:
            audience.note(
                f"{spell('end')} {self.end:g} s is after the clip's last frame, at {last:g} s: it leaves nothing out."
            )
        lasts = min(last, self.end if self.end is not None else last) - max(first, self.start or first)
        if self.resample is not None and lasts * self.resample * len(clip.skeleton) > MOST_POSES:
            raise InputError(
                f"{spell('resample')} {self.resample:g} would make {lasts * self.resample:.3g} frames of "
                f"{len(clip.skeleton)} joints, which is more than can be kept. Ask for fewer, or trim the clip."
            )

    def plan(self) -> Edits:
        """The same, as files are written with it."""
        from poise.files.writing.writing import Edits

        return Edits(self.start, self.end, self.resample, self.loop, self.root == "in-place")


NAMES = ("own", "vrm")


@dataclasses.dataclass(frozen=True)
class Conversion:
    """What is done to a file, or to every file of a folder.

    keep     in the manner of the input: names, order, channels, units and axes
    names    `own`: joints are called as in the input; `vrm`: by their roles
    """

    keep: bool = False
    names: Literal["own", "vrm"] = "own"
    changes: Changes = dataclasses.field(default_factory=Changes)
    source: Source = dataclasses.field(default_factory=Source)

    def check(self, audience: Reporter = SILENT) -> None:
        """Refuse what can be done to no file, and options that would do nothing."""
        spell = audience.spell
        if self.names not in NAMES:
            raise unknown_name("naming", self.names, NAMES)
        keep = spell("keep")
        if self.keep and self.source.bones == RESTORE:
            raise InputError(
                f"{keep} keeps the input's bones; got {spell('bones')} {RESTORE}. Leave out {spell('bones')} or {keep}."
            )
        if self.keep and self.names != "own":
            raise InputError(
                f"{keep} keeps the input's joint names; leave out {spell('names')} {self.names} or {keep}."
            )
        if self.keep:
            self._check_kept(audience)

    def check_values(self, audience: Reporter = SILENT) -> None:
        """Refuse numbers that cannot be."""
        self.changes.check(audience)
        self.source.check(audience)

    def check_files(self, path: Path, output: Path, audience: Reporter = SILENT, json: bool = False) -> None:
        """Refuse an output that is a folder, that is read, or that nothing here can write."""
        if output.is_dir():
            raise FileError(output, f"is a folder. Give the path of a file in it, such as '{output / path.name}'.")
        check_outputs([path, *self.source.list_files()], [("the output", output)], json)
        check_can_save(output, [path, *self.source.list_files()])

    def _check_kept(self, audience: Reporter) -> None:
        """Refuse what `keep` leaves as it is; units, axes and roles matter where loops and ways are found."""
        idle = ["mass", "character"]
        if not self.changes.loop and self.changes.root == "keep":
            idle += ["scale", "up", "height", "roles"]
        for option in idle:
            if getattr(self.source, option) not in (None, ()):
                keep, other = audience.spell("keep"), audience.spell(option)
                raise InputError(
                    f"{keep} keeps the input as it is, so {other} has no effect. Leave out one of the two."
                )

    def run(self, path: Path, output: Path, audience: Reporter = SILENT) -> dict[str, Any]:
        """Convert one file; what was written, in figures."""
        from poise.files.writing.writing import keep_as, write_clean

        reading = read_source(path, self.source, audience, whole=True)
        self.changes.check_in(reading.clip, audience)
        if self.keep:
            written = keep_as(reading, output, self.changes.plan(), self.source.fps)
        else:
            body = self.find_body(reading, output, audience)
            if body is None or body.target.reading is reading:
                mass = self.source.mass if body is None else body.character.mass
                written = write_clean(reading, output, self.changes.plan(), self.names, mass)
            else:
                clip, _, figures = self.changes.plan().apply(body.clip)
                written = dataclasses.replace(body.target.write(clip, output), figures=figures)
        for sentence in written.notes:
            audience.note(f"{output}: {sentence}")
        for sentence in written.warnings:
            audience.warn(f"{output}: {sentence}")
        return {
            "file": str(output),
            "frames": written.frames,
            "max_joint_error_m": written.error,
            "reading_error_m": written.reading_error,
            "writing_error_m": written.writing_error,
            **reading.describe_bones(),
            "joints_left_out": list(written.left_out),
            "notes": list(written.notes),
            **written.figures,
        }

    def find_body(self, reading: Reading, output: Path, audience: Reporter = SILENT) -> ClipBody | None:
        """The body that is given, if one is; refused, as a mass is, if it would change nothing."""
        given = next((option for option in ("character", "mass") if getattr(self.source, option) is not None), None)
        body = None
        if given == "character":
            body = find_body(reading.clip, reading, self.source, audience)
            if body.target.reading is not reading:
                if self.names != "own":
                    character, names = audience.spell("character"), audience.spell("names")
                    raise InputError(
                        f"{character} has joint names of its own; got {names} {self.names}. Leave out {names} or "
                        f"{character}."
                    )
                return body
        why = None if given is None else find_why_bodiless(reading, output)
        if why is not None:
            raise InputError(f"{audience.spell(str(given))} is for the body that is drawn, and {why}. Leave it out.")
        return body


def find_why_bodiless(reading: Reading, output: Path) -> str | None:
    """Why no body of a given mass is drawn in a file, in words; None where one is."""
    if output.suffix.lower() not in WITH_BODY:
        return f"'{output.suffix}' holds none"
    if has_mesh(reading):
        return "the input has a mesh of its own"
    if reading.clip.skeleton.find_role("hips") is None:
        return "these joints are no person's, so that only bones are drawn"
    return None


@checked
def convert(
    file: str | PathLike[str],
    output: str | PathLike[str],
    *,
    keep: bool = False,
    names: Literal["own", "vrm"] = "own",
    start: float | None = None,
    end: float | None = None,
    resample: float | None = None,
    loop: bool = False,
    root: Literal["keep", "in-place"] = "keep",
    mass: float | None = None,
    character: Character | str | PathLike[str] | None = None,
    height: float | None = None,
    fps: float | None = None,
    roles: Roles = (),
    clip: str | int | None = None,
    scale: float | None = None,
    up: str | None = None,
    bones: str | None = None,
    tell: Callable[[str, str], None] | None = None,
) -> Mapping[str, Any]:
    """Write a motion file in another format: all that `poise convert` does with a file. Returns its figures.

    keep, names                 see `Conversion`
    start, end, resample, loop, root   see `Changes`
    mass                        of the body that is drawn, where the format has one
    character                   a body, or its file, that the motion is put on
    height, fps, roles, clip, scale, up, bones   how the file is read, as for `load_clip`
    tell                        called with `note` or `warning` and a sentence as it happens
    """
    audience = RecordingReporter(tell)
    body = Path(character) if isinstance(character, str | PathLike) else character
    which = None if clip is None else str(clip)
    changes = Changes(start, end, resample, loop, root)
    job = Conversion(keep, names, changes, Source(mass, height, body, fps, roles, which, scale, up, bones))
    job.check(audience)
    job.check_values(audience)
    job.check_files(Path(file), Path(output), audience)
    return job.run(Path(file), Path(output), audience)
