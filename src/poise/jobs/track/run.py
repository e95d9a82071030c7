"""Tracking from beginning to end: read, put on a body, simulated, written, measured on what was written, and drawn.

`run_track` is what the command and `poise.track` call alike. What it does not say itself is as of a mix.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from poise.body.character import Character
from poise.drivers.track.track import FEEDFORWARD
from poise.errors import InputError
from poise.files.reporting import SILENT, Reporter
from poise.jobs.mix.checks import check_effects, check_files
from poise.jobs.mix.outputs import MixOutputs, list_outputs
from poise.jobs.mix.plan import PLANTED
from poise.jobs.mix.recipe import Recipe
from poise.jobs.mix.run import list_source, read_clip, say_broken, write_clip
from poise.jobs.shared.base import BALANCE
from poise.jobs.shared.body import ClipBody, find_body
from poise.jobs.shared.metrics import find_angles, find_lag, find_spins
from poise.jobs.shared.simulation import Mix, simulate
from poise.jobs.track.plan import AUTOMATIC, TrackPlan
from poise.jobs.track.stiffness_search import Trial, find_best
from poise.motion.clip import Clip
from poise.motion.edits.timing import resample
from poise.world.contact_settings import ContactSettings
from poise.world.scenery import Scenery

UNEVEN = 0.02  # of their mean: frames whose distances differ by more have no rate
RATES = (
    60.0,
    240.0,
)  # frames a second that are written of such a clip; a tenth of its frames may be nearer to each other


@dataclass(frozen=True, eq=False)
class TrackRequest:
    """What is to be tracked, and how.

    source     clip, character, stage, pushes, loads, outputs: as of a mix's recipe; `physical` are the tracked parts
    law, give  of `Track`
    stiffness  1/s2; `auto`: found by search; None: as usual for the law
    touch      pairs of names: only these touch, besides the ground
    """

    source: Recipe
    law: str = FEEDFORWARD
    stiffness: float | str | None = None
    give: float = 0.0
    touch: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, eq=False)
class Tracked:
    """What came of it.

    mix      take, result, base, and whether it fell: see `Mix`
    wanted   the clip that was followed, on the body that followed it
    body     that body
    figures  under the names of `poise track --json`
    trials   stiffnesses that were tried, the softest first
    notes, warnings   a sentence each
    """

    mix: Mix
    wanted: Clip
    body: Character
    figures: Mapping[str, Any]
    trials: tuple[Trial, ...] = ()
    files: tuple[Path, ...] = ()
    notes: tuple[str, ...] = ()
    warnings: tuple[str, ...] = field(default_factory=tuple)

    @property
    def clip(self) -> Clip:
        """The motion of the body."""
        return self.mix.clip

    @property
    def fell(self) -> bool:
        """Whether it fell, or the simulation broke off."""
        return self.mix.fell


class _Words(Reporter):
    """An audience whose options are those of tracking."""

    def __init__(self, audience: Reporter):
        self._audience = audience
        self.note, self.warn = audience.note, audience.warn  # type: ignore[method-assign]
        self.progress, self.advance = audience.progress, audience.advance  # type: ignore[method-assign]

    def spell(self, option: str) -> str:
        """See `Reporter.spell`."""
        return self._audience.spell("parts" if option == "physical" else option)


def run_track(
    asked: TrackRequest,
    outputs: MixOutputs | None = None,
    audience: Reporter = SILENT,
    read: Iterable[Path | None] = (),
    json: bool = False,
) -> Tracked:
    """Track a clip.

    outputs  what is written; as the request says if None
    read     files that were read besides those that it names
    json     whether standard output is to have one object and nothing else
    """
    source, audience = asked.source, _Words(audience)
    outputs = list_outputs(source) if outputs is None else outputs
    if source.clip is None:
        raise InputError("no clip was given. Name a motion file.")
    plan = find_track_plan(asked)
    check_files(source, outputs, read, audience, json)
    clip, reading = read_clip(source, audience)
    clip = make_even(clip, audience)
    body = find_body(clip, reading, list_source(source), audience)
    check_effects(body.clip, body.character, plan, source, bool(outputs.films), audience)
    trials: tuple[Trial, ...] = ()
    if asked.stiffness == AUTOMATIC:
        best, trials = find_best(body.clip, body.character, plan, audience)
        plan = dataclasses.replace(plan, springs=best)
    audience.progress(f"simulating {clip.duration:.1f} s")
    found = simulate(body.clip, body.character, plan)
    for sentence in found.notes:
        audience.note(f"{sentence} Override with {audience.spell('base')}." if "no balance" in sentence else sentence)
    if found.tracked and plan.stiffest * found.dt**2 > 1.0:
        audience.warn(
            f"a stiffness of {plan.stiffest:g} 1/s2 is more than steps of {1000.0 * found.dt:.3g} ms resolve, "
            f"{1.0 / found.dt**2:.3g}: springs act softer than that. Take a smaller {audience.spell('dt')}."
        )
    if not found.tracked:
        audience.note(f"nothing is tracked, so the result is the clip. Name parts with {audience.spell('parts')}.")
    figures = _write(found, body, plan, next(iter(outputs.motions), None), audience)
    figures |= {} if reading is None else reading.describe_bones()
    for path in outputs.motions[1:]:
        _write(found, body, plan, path)
    figures |= _describe_search(trials)
    from poise.jobs.shared.metrics import find_self_collision

    collided = find_self_collision(found.take)
    if collided is not None:
        audience.warn(collided)
    if found.broken is not None:
        figures["fell_why"] = say_broken(found, outputs, audience, reduce="stiffness")
        audience.warn(figures["fell_why"])
    _draw(found, body, plan, trials, outputs)
    return Tracked(found, body.clip, body.character, figures, trials, tuple(outputs))


def make_even(clip: Clip, audience: Reporter) -> Clip:
    """A clip at an even rate: itself, or where its frames come at uneven times splines through them."""
    steps = np.diff(clip.times)
    if not len(steps) or np.abs(steps - steps.mean()).max() <= UNEVEN * steps.mean():
        return clip
    fps = round(float(np.clip(1.0 / np.quantile(steps, 0.1), *RATES)))
    audience.note(
        f"its frames are {1e3 * steps.min():.3g} to {1e3 * steps.max():.3g} ms apart: splines through them are "
        f"followed, and {fps} frames a second are written."
    )
    return resample(clip, fps)


def find_track_plan(asked: TrackRequest) -> TrackPlan:
    """How a clip is to be simulated."""
    from poise.world.scenery import load_scenery

    source = asked.source
    said: dict[str, Any] = {
        name: getattr(source, name)
        for name in ("physical", "dt", "engine", "base")
        if getattr(source, name) is not None
    }
    scenery = source.stage if isinstance(source.stage, Scenery) else Scenery()
    if isinstance(source.stage, Path):
        scenery = load_scenery(source.stage)
    touch = ContactSettings(itself=False) if scenery.touch == ContactSettings() else scenery.touch
    if asked.touch:
        touch = dataclasses.replace(touch, itself=True, only=asked.touch)
    springs = asked.stiffness if isinstance(asked.stiffness, int | float) else None
    if isinstance(asked.stiffness, str) and asked.stiffness != AUTOMATIC:
        raise InputError(f"the stiffness of tracking is a number of 1/s2, or {AUTOMATIC}; '{asked.stiffness}' given.")
    return TrackPlan(
        loads=source.loads, pushes=source.pushes, scenery=dataclasses.replace(scenery, touch=touch), law=asked.law,
        springs=springs, give=asked.give, **said,
    )  # fmt: skip


def _write(
    found: Mix, body: ClipBody, plan: TrackPlan, output: Path | None, audience: Reporter = SILENT
) -> dict[str, Any]:
    """Write the motion; its figures, of what was written."""
    from poise.drivers.body import load_tree
    from poise.dynamics.tree import build_tree
    from poise.jobs.shared.answers import measure_answer
    from poise.jobs.shared.base import has_feet
    from poise.jobs.shared.metrics import (
        describe_body,
        describe_effort,
        list_hits,
        list_steps,
        measure_error,
        measure_feet,
    )

    saved = write_clip(found, body, output, audience)
    result = found.clip if saved.clip is None else saved.clip
    n, joints = len(result), found.tracked
    wanted = body.clip if n == len(body.clip) else body.clip.pick(slice(0, n))
    lag = find_lag(result, wanted, joints)
    angles = find_angles(result, wanted, joints)
    labels = wanted.skeleton.labels
    feet: dict[str, float | None] = {}
    if has_feet(result):
        tree, ground = load_tree(build_tree(body.character), body.character, plan.loads), found.floor or found.ground
        feet = {**measure_feet(result, tree, ground), **measure_answer(result, tree, wanted, found.stands, ground)}
    return {
        "fell": found.fell,
        "fell_at_s": found.fell_at,
        "fell_why": found.fell_why or None,
        "tracking_error_rad": measure_error(result, wanted, joints),
        "largest_error_rad": float(angles.max()) if angles.size else None,
        "worst_joint": labels[joints[int(np.argmax(np.mean(angles**2, axis=0)))]] if angles.size else None,
        "lag_ms": None if lag is None else 1000.0 * lag,
        "stiffness": plan.stiffest,
        "law": plan.law,
        "give": plan.give,
        "realtime_factor": float(found.take.times[-1]) / max(found.take.wall_seconds, 1e-9),
        "base": BALANCE if found.base == PLANTED else found.base,
        **list_steps(found.steps),
        "tracked_joints": len(joints),
        **feet,
        "frames": n,
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


def _describe_search(trials: tuple[Trial, ...]) -> dict[str, Any]:
    """`search`: the curve, where there was one."""
    if not trials:
        return {}
    return {"search": {name: values.tolist() for name, values in _list_curve(trials).items()}}


def _list_curve(trials: tuple[Trial, ...]) -> dict[str, np.ndarray]:
    """What was tried, as arrays."""
    lags = [np.nan if each.lag is None else 1000.0 * each.lag for each in trials]
    return {
        "stiffness": np.array([each.stiffness for each in trials]),
        "error_rad": np.array([each.error for each in trials]),
        "summed_error_rad": np.array([each.total for each in trials]),
        "lag_ms": np.array(lags),
    }


def _draw(
    found: Mix, body: ClipBody, plan: TrackPlan, trials: tuple[Trial, ...], outputs: MixOutputs
) -> None:  # fmt: skip
    from poise.files.output import write_bytes
    from poise.jobs.mix.pictures import save_mix_film

    for path in outputs.plots:
        write_bytes(path, draw_tracking(found, body.clip, plan, trials))
    for path in outputs.films:
        save_mix_film(found, body.character, plan, path)


def draw_tracking(found: Mix, wanted: Clip, plan: TrackPlan, trials: tuple[Trial, ...] = ()) -> bytes:
    """PNG of how far off the joints are over time, and of the search."""
    from poise.pictures.plots import plot_tracking

    joints, n = found.tracked, len(found.clip)
    wanted = wanted if n == len(wanted) else wanted.pick(slice(0, n))
    labels = [wanted.skeleton.labels[i] for i in joints]
    speeds = None
    if joints and n > 1:
        spins = [np.linalg.norm(find_spins(each, joints), axis=-1) for each in (wanted, found.clip)]
        live = int(np.argmax(np.mean(spins[0] ** 2, axis=0)))
        each_frame = [np.append(each[:, live], each[-1, live]) for each in spins]
        speeds = each_frame[0], each_frame[1]
    return plot_tracking(
        np.asarray(found.clip.times) - found.clip.times[0], find_angles(found.clip, wanted, joints), labels,
        found.clip.name, speeds, _list_curve(trials) if trials else None, plan.stiffest,
    )  # fmt: skip
