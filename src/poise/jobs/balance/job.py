"""A clip that balances: read, changed as little as needed, written, measured on what was written, drawn."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from poise.body.character import Character
from poise.errors import FileError, InputError
from poise.files.reading.options import Roles, Source
from poise.files.reporting import SILENT, RecordingReporter, Reporter
from poise.jobs.balance.solve import AUTO, COM, KEEPS, POSE, RULES, ZMP, Balanced, balance_clip, measure_margins
from poise.jobs.shared.body import ClipBody, find_body
from poise.jobs.shared.metrics import describe_body
from poise.jobs.shared.outputs import check_outputs, check_suffix
from poise.kinds import checked
from poise.motion.clip import Clip

FILMS = (".mp4", ".webm", ".webp", ".gif")
MOST_POSES = 8_000_000  # joints times frames
FPS = 30.0
MARGIN = 0.01  # m
_IS_OF_COM = "is of the centre of mass, and here the zero-moment point counts"
File = str | PathLike[str]


@dataclass(frozen=True, eq=False)
class Balancing:
    """What is balanced, and how.

    clip    a motion, or its file
    by      what must be over the support: `auto`, `com` or `zmp`
    margin  m, how far inside the centre of mass comes where it was outside; not for `zmp`
    keep    what stays as it was: the `pose`, or the places of `hands` and head
    source  how a file is read, and whose body it is
    """

    clip: Clip | Path
    by: str = AUTO
    margin: float = MARGIN
    keep: str = POSE
    source: Source = field(default_factory=Source)

    def check(
        self, output: Path | None, film: Path | None = None, plot: Path | None = None, audience: Reporter = SILENT,
        json: bool = False,
    ) -> None:  # fmt: skip
        """Refuse numbers that make no sense, and outputs that cannot be written."""
        from poise.files.registry import FORMATS, check_can_save, find_format

        if not 0.0 <= self.margin <= 0.1:
            raise InputError(f"{audience.spell('margin')} must be from 0 to 0.1 m; {self.margin:g} given.")
        if self.by == ZMP and self.margin != MARGIN:
            raise InputError(f"{audience.spell('margin')} {_IS_OF_COM}. Leave it out, or take the centre of mass.")
        read = [self.clip] if isinstance(self.clip, Path) else []
        named = [("output", output), ("film", film), ("plot", plot)]
        given = [(audience.spell(option), path) for option, path in named if path is not None]
        check_outputs((*read, *self.source.list_files()), given, json)
        check_suffix(audience.spell("plot"), plot, ".png")
        check_suffix(audience.spell("film"), film, *FILMS)
        if output is not None:
            entry = find_format(output)
            if entry is None or entry.save is None:
                known = ", ".join(e.suffix for e in FORMATS if e.save is not None)
                raise FileError(output, f"'{output.suffix}' cannot be written; a motion is written as {known}.")
            check_can_save(output, (*read, *self.source.list_files()))

    def run(
        self, output: Path | None = None, film: Path | None = None, plot: Path | None = None,
        audience: Reporter = SILENT,
    ) -> BalanceFound:  # fmt: skip
        """Balance it, write it, measure it."""
        from poise.files.registry import read_source

        if isinstance(self.clip, Clip):
            self.source.check(audience)
            clip, reading = self.clip, None
        else:
            reading = read_source(self.clip, self.source, audience)
            clip = reading.clip
        if len(clip) * len(clip.skeleton) > MOST_POSES:
            raise InputError(
                f"the clip has {len(clip) * len(clip.skeleton):,} poses of joints; at most {MOST_POSES:,}."
            )
        body = find_body(clip, reading, self.source, audience)
        clip, character = body.clip, body.character
        found = balance_clip(clip, character, self.by, self.margin, self.keep, audience.progress)
        for sentence in found.notes:
            audience.note(sentence)
        if found.by == ZMP and self.margin != MARGIN:
            audience.note(f"{audience.spell('margin')} {_IS_OF_COM}: nothing is done with it.")
        saved = body.target.save(found.clip, output, audience)
        figures = {
            **measure_balance(found, clip, found.clip if saved.clip is None else saved.clip, character),
            **describe_body(character),
            "max_joint_error_m": saved.error,
            **({} if reading is None else reading.describe_bones()),
            "measured_on": saved.measured_on,
            "notes": list(saved.notes),
        }
        for sentence in _describe(figures):
            audience.note(sentence)
        _draw(found, body, film, plot)
        return BalanceFound(found.clip, character, found, figures)


@dataclass(frozen=True, eq=False)
class BalanceFound:
    """What came of it; figures under the names of `poise balance --json`."""

    clip: Clip
    character: Character
    balanced: Balanced
    figures: Mapping[str, Any]


def measure_balance(found: Balanced, clip: Clip, result: Clip, character: Character) -> dict[str, Any]:
    """What was changed by how much, and how it balances now."""
    from poise.dynamics.kinematics import compute_center_of_mass
    from poise.dynamics.tree import build_tree
    from poise.spatial import rotation

    tree, skeleton = build_tree(character), clip.skeleton
    after = measure_margins(found.support, compute_center_of_mass(tree, *result.poses))
    angle = np.linalg.norm(
        rotation.log(rotation.multiply(rotation.conjugate(clip.rotations), result.rotations)), axis=-1
    )
    moved = np.linalg.norm(result.positions - clip.positions, axis=-1)
    worst = np.unravel_index(int(np.argmax(angle)), angle.shape)
    feet = [skeleton.index(side + "Foot") for side in ("left", "right")]
    hands = [i for role in ("leftHand", "rightHand") if (i := skeleton.find_role(role)) is not None]
    head = skeleton.find_role("head")
    planted = moved[:, feet][found.contacts.foot]
    return {
        "frames": len(clip),
        "changed_frames": int(found.changed.sum()),
        "by": found.by,
        "com_margin_m": _least(after),
        "com_margin_before_m": _least(found.before),
        "largest_change_rad": float(angle.max()),
        "largest_change_joint": skeleton.labels[worst[1]] if angle.max() > 1e-9 else None,
        "com_shift_m": float(np.linalg.norm(found.shift, axis=1).max()),
        "hands_moved_m": float(moved[:, hands].max()) if hands else None,
        "head_moved_m": float(moved[:, head].max()) if head is not None else None,
        "foot_slip_mm": 1000.0 * float(planted.max()) if planted.size else None,
    }


def _least(margins: np.ndarray) -> float | None:
    known = margins[np.isfinite(margins)]
    return float(known.min()) if len(known) else None


def _describe(figures: Mapping[str, Any]) -> list[str]:
    if not figures["changed_frames"]:
        return []
    return [
        f"{figures['changed_frames']} of {figures['frames']} frames changed: the centre of mass by up to "
        f"{100.0 * figures['com_shift_m']:.1f} cm, '{figures['largest_change_joint']}' by up to "
        f"{np.degrees(figures['largest_change_rad']):.1f} degrees, hands by up to "
        f"{100.0 * (figures['hands_moved_m'] or 0.0):.1f} cm."
    ]


def _draw(found: Balanced, body: ClipBody, film: Path | None, plot: Path | None) -> None:
    """A film of before and after, and the centre of mass over the support."""
    from poise.files.output import write_bytes

    clip = body.clip
    if plot is not None:
        from poise.pictures.mix_plots import plot_margins

        times = clip.times - clip.times[0]
        write_bytes(plot, plot_margins(times, {"before": found.before, "after": found.after}, title=clip.name))
    if film is not None:
        from poise.jobs.pose.pictures import draw_body
        from poise.pictures.film import save_film
        from poise.pictures.picture import Picture, film_picture, place_side_by_side

        bodies = [
            draw_body(each, body.character, found.contacts.foot, label=label, skin=body.target.skin)
            for label, each in (("before", clip), ("after", found.clip))
        ]
        times = np.arange(int(clip.duration * FPS) + 1) / FPS
        save_film(film, film_picture(Picture(place_side_by_side(bodies)), times), FPS)


@checked
def balance(
    clip: Clip | File,
    *,
    by: str = AUTO,
    margin: float = MARGIN,
    keep: str = POSE,
    character: Character | File | None = None,
    mass: float | None = None,
    height: float | None = None,
    fps: float | None = None,
    roles: Roles = (),
    take: str | int | None = None,
    scale: float | None = None,
    up: str | None = None,
    bones: str | None = None,
    output: File | None = None,
    film: File | None = None,
    plot: File | None = None,
    tell: Callable[[str, str], None] | None = None,
) -> BalanceFound:
    """A clip changed as little as needed so that it balances: all that `poise balance` does.

    clip       a motion, or its file
    by         what must be over the support: the centre of mass (`com`), or, for what steps and flies, the zero-moment
               point on the average (`zmp`); `auto`: as the clip is
    margin     m, how far inside the support the centre of mass comes where it was outside; not for `zmp`
    keep       what stays as it was: the `pose`, or the places of `hands` and head
    character  a body, or its file, that the motion is put on; or its `mass` (kg), where it is made up
    height, fps, roles, take, scale, up, bones   how a file is read, as for `load_clip`; `take` is its `clip`
    output     a motion file;  film: before and after;  plot: .png of how far inside the centre of mass is
    """
    body = Path(character) if isinstance(character, str | PathLike) else character
    source = Source(
        mass=mass, height=height, character=body, fps=fps, roles=roles, clip=None if take is None else str(take),
        scale=scale, up=up, bones=bones,
    )  # fmt: skip
    job = Balancing(clip if isinstance(clip, Clip) else Path(clip), by, margin, keep, source)
    motion, moving, still = (None if path is None else Path(path) for path in (output, film, plot))
    audience = RecordingReporter(tell)
    job.check(motion, moving, still, audience)
    return job.run(motion, moving, still, audience)


__all__ = ["AUTO", "COM", "KEEPS", "RULES", "BalanceFound", "Balancing", "balance", "measure_balance"]
