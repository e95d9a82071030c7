"""Tracking for Python: all that `poise track` can do, asked for by arguments, and what came of it returned."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable
from os import PathLike
from pathlib import Path
from typing import Any

from poise.body.character import Character
from poise.drivers.track.track import FEEDFORWARD
from poise.errors import InputError
from poise.files.reading.options import Roles, Source, parse_roles
from poise.files.reporting import RecordingReporter
from poise.jobs.mix.outputs import sort_outputs
from poise.jobs.mix.plan import parse_load, parse_parts, parse_push
from poise.jobs.mix.recipe import Recipe
from poise.jobs.track.plan import AUTOMATIC, parse_pair
from poise.jobs.track.run import Tracked, TrackRequest, run_track
from poise.kinds import checked
from poise.motion.clip import Clip
from poise.world.forces import Load, Push
from poise.world.scenery import Scenery

File = str | PathLike[str]


@checked
def track(
    clip: Clip | File,
    *,
    parts: str | Iterable[str] | None = None,
    law: str = FEEDFORWARD,
    stiffness: float | str | None = None,
    give: float = 0.0,
    base: str | None = None,
    touch: Iterable[tuple[str, str] | str] = (),
    loads: Load | str | Iterable[Load | str] = (),
    pushes: Push | str | Iterable[Push | str] = (),
    engine: str | None = None,
    dt: float | None = None,
    scenery: Scenery | File | None = None,
    character: Character | File | None = None,
    mass: float | None = None,
    height: float | None = None,
    fps: float | None = None,
    roles: Roles = (),
    take: str | int | None = None,
    scale: float | None = None,
    up: str | None = None,
    bones: str | None = None,
    outputs: File | Iterable[File] = (),
    tell: Callable[[str, str], None] | None = None,
) -> Tracked:
    """Have a simulated body follow a clip by springs: all that `poise track` does.

    clip       a motion, or its file
    parts      parts or joints that are tracked; the rest follows the clip exactly. None: all
    law, give  of `Track`
    stiffness  1/s2; "auto": found by search; None: as usual for the law
    base       `balance`: legs keep the body on its feet; `kinematic`: pelvis and legs follow the clip; `auto`: balance
               where the clip does not step
    touch      pairs of names, or words: "leftHand=drum". Only these touch, besides the ground; none: props alone
    loads      `Load("rightHand", 2)`, or words as of the command: "rightHand=2"
    pushes     `Push("chest", (0, 0, 75), 0.2, start=2)`, or words: "t=2 chest 0,0,75 0.2s"
    engine, dt as of `Stage`; dt is the longest step that may be taken
    scenery    ground and props as of a stage file
    character  whose body follows, or its file: the motion is put on it first. Else the clip's own, of a `mass` (kg)
    height, fps, roles, take, scale, up, bones   how a file is read, as for `load_clip`; `take` is its `clip`
    outputs    files to write, by suffix: motions (.glb, .bvh, ..., .take.npz), films (.mp4, .webm, .webp, .gif), how
               far off it is (.png)
    tell       called with `note`, `warning` or `progress` and a sentence as it happens; the result has them, too
    """
    audience = RecordingReporter(tell)
    files = sort_outputs([outputs] if isinstance(outputs, str | PathLike) else outputs)
    if files.recipes:
        raise InputError(f"tracking writes no recipe; '{files.recipes[0]}' given. Name a motion, a film or a picture.")
    if isinstance(stiffness, str) and stiffness != AUTOMATIC:
        raise InputError(f"the stiffness of tracking is a number of 1/s2, or '{AUTOMATIC}'; given '{stiffness}'.")
    words = None if parts is None else (parts,) if isinstance(parts, str) else tuple(parts)
    asked = Recipe(
        clip=as_path(clip),
        character=as_path(character),
        take=None if take is None else str(take),
        up=up,
        mass=mass,
        height=height,
        fps=fps,
        scale=scale,
        bones=bones,
        roles=tuple(f"{role}={joint}" for role, joint in parse_roles(roles).items()),
        stage=as_path(scenery),
        engine=engine,
        dt=dt,
        physical=None if words is None else parse_parts(words),
        base=base,
        loads=list_each(loads, Load, parse_load),
        pushes=list_each(pushes, Push, parse_push),
    )
    pairs = tuple(parse_pair(pair) if isinstance(pair, str) else (pair[0], pair[1]) for pair in touch)
    request = TrackRequest(asked, law, stiffness, give, pairs)
    found = run_track(request, files, audience, Source(roles=roles).list_files())
    return dataclasses.replace(found, notes=tuple(audience.notes), warnings=tuple(audience.warnings))


def as_path(given: Any) -> Any:
    """Something itself, or the path of its file."""
    return Path(given) if isinstance(given, str | PathLike) else given


def list_each(given: Any, kind: type, parse: Callable[[str], Any]) -> tuple[Any, ...]:
    """One or several things, each itself or in words."""
    each = (given,) if isinstance(given, kind | str) else tuple(given)
    return tuple(parse(one) if isinstance(one, str) else one for one in each)
