"""The job `strength`: show how strong a body is, or find the least strength that a motion needs."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np

from poise.errors import InputError, printable, unknown_name
from poise.files.reading.options import TakeOptions
from poise.jobs.job import Answer, Run, job
from poise.jobs.shared.body_options import LoadOptions
from poise.jobs.shared.outputs import check_outputs, check_suffix
from poise.options import File, JobOptions, Option

if TYPE_CHECKING:
    from poise.body.character import Character
    from poise.jobs.strength.needed import NeededStrength
    from poise.motion.clip import Clip
SHOW, FIND = VERBS = ("show", "find")
_OF_MOTIONS = ("fps", "roles", "take", "scale", "up", "bones", "loads", "cutoff")  # options that `show` does not use
_MOST_LINES = 8  # of the plot of a motion
_ROUGH = 0.05  # of body weight times stature, that the feet leave unexplained before forces are called rough


def _list_names(text: str) -> list[str]:
    return [piece.strip() for piece in text.split(",") if piece.strip()]


@dataclass(frozen=True, kw_only=True)
class StrengthOptions(JobOptions, LoadOptions, TakeOptions):
    """Options of `strength`; Python has those of `find`."""

    what: Annotated[
        str, Option("show: plot a body's strength. find: the least that a motion needs.", is_needed=True)
    ] = field(default=FIND, init=False, kw_only=False)
    clip: Annotated[Clip | File | None, Option("A motion file, to find.")] = field(default=None, kw_only=False)
    output: Annotated[
        File | None,
        Option(
            "PNG: curves over angle and speed, or the fraction of it that the motion needs over time.",
            short="-o",
            writes=True,
        ),
    ] = None
    joints: Annotated[
        str | Iterable[str],
        Option("Show: joints or roles, several with commas.", several=True, parse=_list_names, default="all"),
    ] = field(default=(), init=False)
    sex: Annotated[str | None, Option("male, female or neutral.", default="neutral")] = None
    age: Annotated[float | None, Option("Age of the body.", unit="years", default="30")] = None
    table: Annotated[File | None, Option("A TOML file of strengths of your own.")] = None
    cutoff: Annotated[
        float | None,
        Option("Find: Hz of the low-pass before differentiating.", default="found from the data"),
    ] = None


@job(StrengthOptions)
def strength(options: StrengthOptions, run: Run) -> dict[str, Any]:
    """Show how strong each joint is, over angle and speed, or find how strong a motion needs it to be.

    Ratios are torque over the strength at that angle and speed, held for 0.05 s; 1 is all that the body has.
    """
    if options.what not in VERBS:
        raise unknown_name("verb of poise strength,", options.what, VERBS)
    output = None if options.output is None else Path(options.output)
    read = [path for path in (options.clip, *options.source.list_files(), options.table) if isinstance(path, Path)]
    check_outputs(read, {run.spell("output"): output}, run.json)
    check_suffix(run.spell("output"), output, ".png")
    if options.cutoff is not None and not options.cutoff > 0:
        name = run.spell("cutoff")
        raise InputError(f"{name} must be a positive number of hertz, or inf for no filter; {options.cutoff:g} given.")
    return _show(options, output, run) if options.what == SHOW else _find(options, output, run)


def _show(options: StrengthOptions, output: Path | None, run: Run) -> dict[str, Any]:
    """Measure and draw the strength of a body."""
    from poise.jobs.strength.needed import build_muscles, describe_muscles, find_rows

    unused = [run.spell(name) for name in _OF_MOTIONS if run.is_given(name)]
    if options.clip is not None or unused:
        what = unused[0] if options.clip is None else options.clip
        raise InputError(f"show reads no motion, so that {what} would do nothing. Leave it out.")
    character, names = _build_person(options, run), tuple(map(str, options.joints))
    muscles = build_muscles(character, options.table)
    figures = describe_muscles(muscles, character, names)
    if output is not None:
        from poise.files.output import write_together
        from poise.pictures.plots import plot_muscles

        title = f"{character.height:.2f} m, {character.mass:.1f} kg, {character.sex}, {character.age:g} years"
        write_together({output: plot_muscles(muscles, find_rows(muscles, names), title)})
        figures["output"] = str(output)
    rows = [
        (label, way, *(f"{row[key]:.1f}" for key in ("peak_nm", "most_in_range_nm", "angle_degrees")))
        for label, ways in figures["joints"].items()
        for way, row in ways.items()
    ]
    text = _tabulate(("joint", "way", "peak N m", "in range", "at degrees"), rows)
    run.answer = Answer(figures, lambda _: text)
    return figures


def _find(options: StrengthOptions, output: Path | None, run: Run) -> dict[str, Any]:
    """Measure and draw the least strength that a motion needs."""
    from poise.jobs.strength.needed import describe_needed, list_hardest
    from poise.motion.clip import Clip

    if options.clip is None:
        raise InputError("find needs a motion file: poise strength find CLIP.")
    if options.joints:
        raise InputError("--joints is for show; find tells all joints. Leave it out.")
    needed, character, bones = _read_needed(options, run)
    figures: dict[str, Any] = {**describe_needed(needed, character), **bones}
    if output is not None:
        from poise.files.output import write_together
        from poise.pictures.plots import plot_needed

        name = options.clip.name if isinstance(options.clip, Clip | Path) else str(options.clip)
        title = f"{name}: {character.height:.2f} m, {character.mass:.1f} kg"
        shares = list_hardest(needed, _MOST_LINES)
        write_together({output: plot_needed(needed.times - needed.times[0], shares, needed.scale, title)})
        figures["output"] = str(output)
    rows = [
        (label, joint["way"], f"{joint['ratio']:.3f}", f"{joint['torque_nm']:.1f}", f"{joint['time_s']:.2f}")
        for label, joint in figures["joints"].items()
    ]
    parts = ", ".join(f"{name} {ratio:.2f}" for name, ratio in figures["regions"].items())
    head = f"scale  {needed.scale:.3f}: the least strength that can do it, beside the usual ({parts})\n"
    text = head + _tabulate(("joint", "way", "ratio", "N m", "at s"), rows)
    run.answer = Answer(figures, lambda _: text)
    return figures


def _read_needed(options: StrengthOptions, run: Run) -> tuple[NeededStrength, Character, dict[str, Any]]:
    """Return what the motion needs, the body without its loads, and what was done about lost bones."""
    from poise.body.segments.tables import check_sex_age
    from poise.files.registry import read_source
    from poise.jobs.shared.body import find_body
    from poise.jobs.strength.needed import build_muscles, find_needed, set_person
    from poise.motion.clip import Clip
    from poise.motion.forces.forces import say_idle_cutoff

    source, clip = options.source, options.clip
    check_sex_age("neutral" if options.sex is None else options.sex, 30.0 if options.age is None else options.age)
    reading = None if isinstance(clip, Clip) else read_source(clip, source, run)  # type: ignore[arg-type]
    body = find_body(clip if reading is None else reading.clip, reading, source, run)  # type: ignore[arg-type]
    character, cutoff = set_person(body.character, options.sex, options.age), options.cutoff
    muscles = build_muscles(character, options.table)
    needed = find_needed(body.clip, character, muscles, options.carried, cutoff)
    if cutoff is None:
        run.note(f"derivatives are low-passed: {needed.forces.cutoff_reason} Override with {run.spell('cutoff')}.")
    idle = say_idle_cutoff(cutoff, body.clip.fps)
    if idle is not None:
        run.note(f"{run.spell('cutoff')} {idle}")
    _warn_of_rough(needed, character, run)
    return needed, character, {} if reading is None else reading.describe_bones()


def _warn_of_rough(needed: NeededStrength, character: Character, run: Run) -> None:
    """Warn if the feet alone do not support the body: torques of legs and trunk are not what they were then."""
    left = np.linalg.norm(needed.forces.torque[:, 0], axis=-1)
    share = np.percentile(left, 95) / (character.mass * 9.81 * character.height)
    if share > _ROUGH:
        run.warn(
            f"support: the feet leave {share * character.mass * 9.81 * character.height:.0f} N m unexplained. Does it "
            "sit, lean on something or use its hands? Strengths of legs and trunk are as rough as that."
        )


def _build_person(options: StrengthOptions, run: Run) -> Character:
    """Return the body of the options, without a motion: a character, or a typical body of a height and a mass."""
    from poise.body.bodies import HEIGHT
    from poise.body.character import Character
    from poise.jobs.retarget import load_body
    from poise.jobs.shared.body import check_own_size
    from poise.jobs.strength.needed import set_person

    options.check(run)
    if options.character is not None:
        check_own_size(options, run)
        return set_person(load_body(options.character, run)[0], options.sex, options.age)
    height = HEIGHT if options.height is None else options.height
    sex, age = "neutral" if options.sex is None else options.sex, 30.0 if options.age is None else options.age
    person = Character.human(height, options.mass, sex=sex, age=age)
    if options.mass is None:
        run.note(f"{person.mass:.1f} kg, usual for {height:.2f} m. Override with {run.spell('mass')}.")
    return person


def _tabulate(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    """Return rows under a head, in columns."""
    cells = [head, *([printable(cell) for cell in row] for row in rows)]
    widths = [max(len(row[k]) for row in cells) for k in range(len(head))]
    return "\n".join(
        "  ".join(cell.ljust(width) if k == 0 else cell.rjust(width)
                  for k, (cell, width) in enumerate(zip(row, widths, strict=True)))
        for row in cells
    )  # fmt: skip
