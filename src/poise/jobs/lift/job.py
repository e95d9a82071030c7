"""Following within strength for Python: all that `poise lift` can do, asked for by arguments."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Mapping
from os import PathLike
from pathlib import Path

from poise.body.character import Character
from poise.drivers.strength.strength import WEIGHTED
from poise.errors import InputError
from poise.files.reading.options import Roles, Source, parse_roles
from poise.files.reporting import RecordingReporter
from poise.jobs.lift.run import Lift, LiftRequest, run_lift
from poise.jobs.mix.outputs import sort_outputs
from poise.jobs.mix.plan import parse_load, parse_push
from poise.jobs.mix.recipe import Recipe
from poise.jobs.track.job import as_path, list_each
from poise.kinds import checked
from poise.motion.clip import Clip
from poise.motion.point_path import PointPath
from poise.world.forces import Load, Push
from poise.world.scenery import Scenery

File = str | PathLike[str]


@checked
def lift(
    clip: Clip | File,
    *,
    loads: Load | str | Iterable[Load | str] = (),
    strength: float | Mapping[str, float] = 1.0,
    weak: bool = False,
    center: str = "xz",
    lead: Mapping[str, str] | None = None,
    paths: Mapping[str, PointPath | File] | None = None,
    priorities: str = WEIGHTED,
    pushes: Push | str | Iterable[Push | str] = (),
    base: str | None = None,
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
) -> Lift:
    """Have a body follow a clip within its strength: all that `poise lift` does.

    clip       a motion, or its file
    loads      `Load("rightHand", 20)`, or words as of the command: "rightHand=20"
    strength   times the usual: of all joints, or joint -> of that one
    weak       the paper's weak figure: a share of static strength, the same at every angle and speed
    center     axes along which the centre of mass is led: "xz", "xyz" or "none"
    lead       joint -> "position", "orientation" or "both": bodies that are led as well
    paths      joint, or "center" for the centre of mass -> where it is led instead of where the clip has it: a
               `PointPath` (s after the first frame, m in the clip's world), or its CSV
    priorities "weighted", or "strict" for the paper's null-space hierarchy: see `Strength`
    pushes     `Push("chest", (0, 0, 75), 0.2, start=2)`, or words: "t=2 chest 0,0,75 0.2s"
    base       "balance": the whole body stands on its own legs; "kinematic": pelvis and legs follow the clip; "auto":
               balance if the clip does not step
    engine     "inverse" (steps of up to 1/30 s), "mujoco" or "bullet" (5 ms);  dt: s, the longest step
    scenery    ground and props as of a stage file
    character  whose body follows, or its file: the motion is put on it first. Else the clip's own, of a `mass` (kg)
    height, fps, roles, take, scale, up, bones   how a file is read, as for `load_clip`; `take` is its `clip`
    outputs    files to write, by suffix: motions (.glb, .bvh, ..., .take.npz), films (.mp4, .webm, .webp, .gif), torque
               over strength (.png)
    tell       called with `note`, `warning` or `progress` and a sentence as it happens; the result has them, too
    """
    audience = RecordingReporter(tell)
    files = sort_outputs([outputs] if isinstance(outputs, str | PathLike) else outputs)
    if files.recipes:
        raise InputError(f"a lift writes no recipe; '{files.recipes[0]}' given. Name a motion, a film or a picture.")
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
        loads=list_each(loads, Load, parse_load),
        pushes=list_each(pushes, Push, parse_push),
        base=base,
    )
    whole, joints = (1.0, dict(strength)) if isinstance(strength, Mapping) else (float(strength), {})
    ways = {joint: path if isinstance(path, PointPath) else Path(path) for joint, path in (paths or {}).items()}
    request = LiftRequest(asked, whole, joints, weak, center, dict(lead or {}), ways, priorities)
    found = run_lift(request, files, audience, Source(roles=roles).list_files())
    return dataclasses.replace(found, notes=tuple(audience.notes), warnings=tuple(audience.warnings))
