"""A motion file in another format, with the error measured on what was written."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from os import PathLike
from pathlib import Path
from typing import Any, Literal

from poise.body.character import Character
from poise.errors import FileError, InputError, unknown_name
from poise.files.audience import NOBODY, Audience, Notebook
from poise.files.bones import RESTORE
from poise.files.formats import check_can_save, read_source
from poise.files.normalise import Reading
from poise.files.source import Roles, Source
from poise.files.writing import WITH_BODY, has_mesh
from poise.jobs.changes import Changes
from poise.jobs.clip_body import ClipBody, find_body
from poise.jobs.outputs import check_outputs
from poise.kinds import checked

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

    def check(self, audience: Audience = NOBODY) -> None:
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

    def check_values(self, audience: Audience = NOBODY) -> None:
        """Refuse numbers that cannot be."""
        self.changes.check(audience)
        self.source.check(audience)

    def check_files(self, path: Path, output: Path, audience: Audience = NOBODY, json: bool = False) -> None:
        """Refuse an output that is a folder, that is read, or that nothing here can write."""
        if output.is_dir():
            raise FileError(output, f"is a folder. Give the path of a file in it, such as '{output / path.name}'.")
        check_outputs([path, *self.source.list_files()], [("the output", output)], json)
        check_can_save(output, [path, *self.source.list_files()])

    def _check_kept(self, audience: Audience) -> None:
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

    def run(self, path: Path, output: Path, audience: Audience = NOBODY) -> dict[str, Any]:
        """Convert one file; what was written, in figures."""
        from poise.files.writing import keep_as, write_clean

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

    def find_body(self, reading: Reading, output: Path, audience: Audience = NOBODY) -> ClipBody | None:
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
    audience = Notebook(tell)
    body = Path(character) if isinstance(character, str | PathLike) else character
    which = None if clip is None else str(clip)
    changes = Changes(start, end, resample, loop, root)
    job = Conversion(keep, names, changes, Source(mass, height, body, fps, roles, which, scale, up, bones))
    job.check(audience)
    job.check_values(audience)
    job.check_files(Path(file), Path(output), audience)
    return job.run(Path(file), Path(output), audience)
