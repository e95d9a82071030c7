"""The end of every simulation: a result is written and read back, measured on what was written, and drawn."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from poise.drivers.body import load_tree
from poise.dynamics.tree import build_tree
from poise.errors import FileError
from poise.files.output import checked_output, write_bytes
from poise.files.reporting import SILENT, Reporter
from poise.jobs.mix.pictures import save_mix_film
from poise.jobs.mix.plan import MixPlan
from poise.jobs.retarget import Saved
from poise.jobs.shared.answers import GAINS, LAGS, SHIFTS, measure_answer
from poise.jobs.shared.base import has_feet
from poise.jobs.shared.body import ClipBody
from poise.jobs.shared.metrics import (
    FEET,
    describe_body,
    describe_effort,
    find_self_collision,
    list_hits,
    list_steps,
    measure_feet,
)
from poise.jobs.shared.outputs import TAKE, Outputs
from poise.jobs.shared.simulation import Mix
from poise.motion.clip import Clip
from poise.stage.take.files import load_take
from poise.stage.take.take import save_take

NONFINITE = "nonfinite"


class WrittenMix(NamedTuple):
    """A result as it was written.

    clip     as read back;  wanted: what it was to be, at the same frames
    start, end   metrics of every simulation, before and after those of a job
    """

    clip: Clip
    wanted: Clip
    start: dict[str, Any]
    end: dict[str, Any]


def write_mix(
    found: Mix, body: ClipBody, plan: MixPlan, output: Path | None, reporter: Reporter = SILENT
) -> WrittenMix:
    """Write a result on its body and read it back; measure what is there. output: None writes nothing"""
    saved = _write_clip(found, body, output, reporter)
    clip = found.clip if saved.clip is None else saved.clip
    wanted = body.wanted if len(clip) == len(body.clip) else body.wanted.pick(slice(0, len(clip)))
    feet: dict[str, float | None] = dict.fromkeys((*FEET, *GAINS, *LAGS, *SHIFTS))  # of a body without feet
    if has_feet(clip):
        tree, ground = load_tree(build_tree(body.character), body.character, plan.loads), found.floor or found.ground
        feet = {**measure_feet(clip, tree, ground), **measure_answer(clip, tree, wanted, found.stands, ground)}
    start = {"fell": found.fell, "fell_at_s": found.fell_at, "fell_why": found.fell_why or None}
    end = {
        "realtime_factor": float(found.take.times[-1]) / max(found.take.wall_seconds, 1e-9),
        **list_steps(found.steps),
        **feet,
        "frames": len(clip),
        "max_joint_error_m": saved.error,
        "fps": body.clip.fps,
        "dt_s": found.dt,
        "engine": plan.engine,
        "ground_m": found.ground,
        "hits": list_hits(found.take),
        **describe_body(body.character),
        **describe_effort(found.take.actor(), found.physical, found.kinematic),
        "measured_on": saved.measured_on,
        "notes": list(saved.notes),
    }
    return WrittenMix(clip, wanted, start, end)


def _write_clip(found: Mix, body: ClipBody, output: Path | None, reporter: Reporter) -> Saved:
    """Write a result on its body, or as a take."""
    if output is None or not str(output).endswith(TAKE):
        return body.target.save(found.clip, output, reporter)
    with checked_output(output) as draft:
        save_take(found.take, draft)
        there = load_take(draft).clip(start=-float(body.clip.times[0]))
    return Saved(there, measured_on="the file")


def report_notes(found: Mix, reporter: Reporter) -> None:
    """Report what there is to say of a result, and how to override a base that was chosen for the user."""
    if found.base_chosen:
        reporter.note(f"{found.base_chosen} Override with {reporter.spell('base')}.")
    for note in found.notes:
        reporter.note(note)


def report_warnings(found: Mix, outputs: Outputs, reporter: Reporter, reduce: str = "gain") -> dict[str, Any]:
    """Warn of hard collisions, and of a simulation that became non-finite; return metrics that say why it ended.

    reduce  the option that may be lower
    """
    collided = find_self_collision(found.take)
    if collided is not None:
        reporter.warn(collided)
    if found.broken is None:
        return {}
    why = _report_nonfinite(found, outputs.motion, reporter, reduce)
    reporter.warn(why)
    return {"fell_why": why}


def _report_nonfinite(found: Mix, output: Path | None, reporter: Reporter, reduce: str) -> str:
    """Return a sentence about a simulation that became non-finite; its last states are kept beside the output."""
    what = str(found.broken).split(". ")[0]
    smaller, lower, couple = (reporter.spell(option) for option in ("dt", reduce, "couple"))
    advice = f"A smaller {smaller} or a lower {lower} may help."
    if reduce == "gain":
        advice = f"A smaller {smaller}, a lower {lower} or {couple} exact may help."
    if found.last is None or output is None:
        return f"{what}. {advice}"
    dump = choose_dump_path(output)
    save_take(found.last, dump)
    return (
        f"{what}. The last {len(found.last)} states are in {dump}; to look at them in Python: "
        f"poise.load_take('{dump}'). {advice}"
    )


def choose_dump_path(output: Path) -> Path:
    """Return a path beside an output, of a file that is not there yet."""
    for count in range(1, 10_000):
        path = output.with_name(f"{NONFINITE}{TAKE}" if count == 1 else f"{NONFINITE}-{count}{TAKE}")
        if not path.exists() and not path.is_symlink():
            return path
    raise FileError(output.parent, f"there are thousands of {NONFINITE} takes in this folder. Remove some.")


def draw_outputs(found: Mix, body: ClipBody, plan: MixPlan, outputs: Outputs, plot: Callable[[], bytes]) -> None:
    """Write plots and films."""
    for path in outputs["plot"]:
        write_bytes(path, plot())
    for path in outputs["film"]:
        save_mix_film(found, body.character, plan, path)
