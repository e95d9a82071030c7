"""Steps that jobs of a simulation share: the clip and the scenery are read, the result is written and read back."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from poise.errors import InputError
from poise.files.reading.options import TakeOptions
from poise.files.reading.pipeline import Reading
from poise.files.registry import read_source
from poise.files.reporting import SILENT, Reporter
from poise.jobs.mix.checks import choose_dump
from poise.jobs.mix.outputs import TAKE, MixOutputs
from poise.jobs.retarget import Saved
from poise.jobs.shared.body import ClipBody
from poise.jobs.shared.options import StageFileOptions
from poise.jobs.shared.simulation import Mix
from poise.motion.clip import Clip
from poise.world.scenery import Scenery

_OF_FILES = ("fps", "height", "roles", "take", "scale", "up", "bones")  # what says how a file is read


def read_motion(clip: Any, options: TakeOptions, audience: Reporter) -> tuple[Clip, Reading | None]:
    """Return a job's clip, and how its file was read if it has one."""
    source = options.source
    if not isinstance(clip, Clip):
        reading = read_source(clip, source, audience)
        return reading.clip, reading
    said = [option for option in _OF_FILES if getattr(options, option) not in (None, ())]
    if said:
        raise InputError(
            f"{', '.join(said)} says how a file is read, and the clip is given as it is. Give its path, or say it to "
            "poise.load_clip."
        )
    source.check(audience)
    return clip, None


def read_scenery(options: StageFileOptions) -> Scenery:
    """Return the scenery that was given, or that of its file."""
    from poise.world.scenery import load_scenery

    given = options.scenery
    return Scenery() if given is None else given if isinstance(given, Scenery) else load_scenery(given)


def write_clip(found: Mix, body: ClipBody, output: Path | None, audience: Reporter = SILENT) -> Saved:
    """Write a result on its body, or as a take; and read it back."""
    from poise.files.output import checked_output
    from poise.stage.take.files import load_take
    from poise.stage.take.take import save_take

    if output is None or not str(output).endswith(TAKE):
        return body.target.save(found.clip, output, audience)
    with checked_output(output) as draft:
        save_take(found.take, draft)
        there = load_take(draft).clip(start=-float(body.clip.times[0]))
    return Saved(there, measured_on="the file")


def say_broken(found: Mix, outputs: MixOutputs, audience: Reporter, reduce: str = "gain") -> str:
    """A sentence about a simulation that broke off, whose last states are kept beside the output.

    reduce  the option that may be lower
    """
    from poise.stage.take.take import save_take

    what = str(found.broken).split(". ")[0]
    smaller, lower, couple = (audience.spell(option) for option in ("dt", reduce, "couple"))
    advice = f"A smaller {smaller} or a lower {lower} may help."
    if reduce == "gain":
        advice = f"A smaller {smaller}, a lower {lower} or {couple} exact may help."
    if found.last is None or not outputs.motions:
        return f"{what}. {advice}"
    dump = choose_dump(outputs.motions[0])
    count = len(found.last)
    save_take(found.last, dump)
    return (
        f"{what}. The last {count} states are in {dump}; to look at them in Python: poise.load_take('{dump}'). {advice}"
    )
