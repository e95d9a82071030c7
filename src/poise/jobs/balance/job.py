"""A clip that balances: read, changed as little as needed, written, measured on what was written, drawn."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np

from poise.body.character import Character
from poise.errors import FileError, InputError
from poise.files.reading.options import TakeOptions
from poise.files.registry import read_source
from poise.jobs.job import Answer, Run, job
from poise.jobs.shared.body import ClipBody, find_body
from poise.jobs.shared.outputs import check_outputs, check_suffix
from poise.motion.clip import Clip
from poise.options import File, JobOptions, Option

if TYPE_CHECKING:
    from poise.jobs.balance.solve import Balanced
FILMS = (".mp4", ".webm", ".webp", ".gif")
AUTO, COM, ZMP = RULES = ("auto", "com", "zmp")
POSE, HANDS = KEEPS = ("pose", "hands")
MOST_POSES = 8_000_000  # joints times frames
FPS = 30.0
_IS_OF_COM = "is of the centre of mass, and here the zero-moment point counts"


@dataclass(frozen=True, kw_only=True)
class BalanceOptions(JobOptions, TakeOptions):
    """Options of `balance`."""

    clip: Annotated[Clip | File, Option("A motion file.")] = field(kw_only=False)
    output: Annotated[
        File | None, Option("The motion, in any format that is written.", short="-o", writes=True, is_needed=True)
    ] = None
    by: Annotated[
        str,
        Option(
            "What must be over the feet: com, the centre of mass, at every frame; zmp, the zero-moment point, on the "
            "average; auto: com if the clip stands, zmp if it steps or flies.",
            choices=RULES,
        ),
    ] = AUTO
    keep: Annotated[
        str,
        Option("What stays as it was: pose, the joints' angles; hands, the places of hands and head.", choices=KEEPS),
    ] = POSE
    margin: Annotated[
        float,
        Option(
            "Distance inside the support that the centre of mass comes to where it was outside; for com.",
            between=(0.0, 0.1),
            unit="m",
        ),
    ] = 0.01
    film: Annotated[File | None, Option("A film of before and after: .mp4, .webm, .webp or .gif.", writes=True)] = None
    plot: Annotated[File | None, Option("PNG of the distance of the centre of mass from the edge.", writes=True)] = None

    @property
    def has_margin(self) -> bool:
        """Whether the margin is another than the default."""
        return self.margin != BalanceOptions.margin


@job(BalanceOptions)
def balance(options: BalanceOptions, run: Run) -> BalanceFound:
    """Change a pose or a clip as little as needed so that it balances.

    Feet that are down stay where they are; frames that balance already stay as they were.
    What is written has the clip's joints and frame times.
    """
    from poise.jobs.balance.solve import balance_clip
    from poise.jobs.shared.metrics import describe_body

    output, film, plot = (None if path is None else Path(path) for path in (options.output, options.film, options.plot))
    _check(options, run, {"output": output, "film": film, "plot": plot})
    if isinstance(options.clip, Clip):
        options.source.check(run)
        clip, reading = options.clip, None
    else:
        reading = read_source(options.clip, options.source, run)
        clip = reading.clip
    if len(clip) * len(clip.skeleton) > MOST_POSES:
        raise InputError(f"the clip has {len(clip) * len(clip.skeleton):,} poses of joints; at most {MOST_POSES:,}.")
    body = find_body(clip, reading, options.source, run)
    clip, character = body.clip, body.character
    found = balance_clip(clip, character, options.by, options.margin, options.keep, run.progress)
    for sentence in found.notes:
        run.note(sentence)
    if found.by == ZMP and options.has_margin:
        run.note(f"{run.spell('margin')} {_IS_OF_COM}: nothing is done with it.")
    saved = body.target.save(found.clip, output, run)
    figures = {
        **measure_balance(found, clip, found.clip if saved.clip is None else saved.clip, character),
        **describe_body(character),
        "max_joint_error_m": saved.error,
        **({} if reading is None else reading.describe_bones()),
        "measured_on": saved.measured_on,
        "notes": list(saved.notes),
    }
    for sentence in _describe(figures):
        run.note(sentence)
    _draw(found, body, film, plot)
    run.answer = Answer({**figures, "file": str(output)})
    return BalanceFound(found.clip, character, found, figures)


def _check(options: BalanceOptions, run: Run, outputs: Mapping[str, Path | None]) -> None:
    """Raise InputError for a margin without use, and for outputs that cannot be written."""
    from poise.files.registry import FORMATS, check_can_save, find_format

    if options.by == ZMP and options.has_margin:
        raise InputError(f"{run.spell('margin')} {_IS_OF_COM}. Leave it out, or take the centre of mass.")
    read = [path for path in (options.clip, *options.source.list_files()) if isinstance(path, Path)]
    check_outputs(read, {run.spell(name): path for name, path in outputs.items()}, run.json)
    check_suffix(run.spell("plot"), outputs["plot"], ".png")
    check_suffix(run.spell("film"), outputs["film"], *FILMS)
    output = outputs["output"]
    if output is not None:
        entry = find_format(output)
        if entry is None or entry.save is None:
            known = ", ".join(e.suffix for e in FORMATS if e.save is not None)
            raise FileError(output, f"'{output.suffix}' cannot be written; a motion is written as {known}.")
        check_can_save(output, read)


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
    from poise.jobs.balance.solve import measure_margins
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
        from poise.jobs.shared.body import LoadedBody
        from poise.jobs.shared.pictures import draw_body, mark_balance
        from poise.pictures.film import save_film
        from poise.pictures.picture import Picture, film_picture, place_side_by_side

        drawn = LoadedBody(body.character, body.target)
        bodies = [
            draw_body(each, drawn, mark_balance(each, drawn, found.contacts.foot), label)
            for label, each in (("before", clip), ("after", found.clip))
        ]
        times = np.arange(int(clip.duration * FPS) + 1) / FPS
        save_film(film, film_picture(Picture(place_side_by_side(bodies)), times), FPS)
