"""A mix for Python: all that `poise mix` can do, asked for by arguments, and what came of it returned."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Mapping
from numbers import Real
from os import PathLike
from pathlib import Path
from typing import Any

from poise.body.character import Character
from poise.errors import InputError
from poise.files.reading.options import Roles, Source, parse_roles
from poise.files.reporting import RecordingReporter, Reporter
from poise.jobs.mix.borrowing import read_mapping
from poise.jobs.mix.outputs import MixOutputs, list_outputs, sort_outputs
from poise.jobs.mix.plan import parse_load, parse_parts, parse_push
from poise.jobs.mix.recipe import Recipe, follow_recipe
from poise.jobs.mix.run import run_mix
from poise.jobs.shared.simulation import Mix
from poise.kinds import checked
from poise.motion.clip import Clip
from poise.world.forces import Load, Push
from poise.world.ground.ground import Ground
from poise.world.prop import Prop
from poise.world.scenery import Scenery

File = str | PathLike[str]


@checked
def mix(
    clip: Clip | File | None = None,
    *,
    physical: str | Iterable[str] | None = None,
    from_: Mapping[str, Clip | File] | None = None,
    loads: Load | str | Iterable[Load | str] = (),
    pushes: Push | str | Iterable[Push | str] = (),
    couple: str | None = None,
    gain: float | None = None,
    torque_only: bool | None = None,
    coupling_filter: float | None = None,
    engine: str | None = None,
    dt: float | None = None,
    stiffness: float | None = None,
    hold: float | None = None,
    counter_lean: float | None = None,
    pinned: bool | None = None,
    base: str | None = None,
    scenery: Scenery | File | None = None,
    ground: Ground | None = None,
    props: Prop | Iterable[Prop] = (),
    character: Character | File | None = None,
    mass: float | None = None,
    height: float | None = None,
    fps: float | None = None,
    roles: Roles = (),
    take: str | int | None = None,
    scale: float | None = None,
    up: str | None = None,
    bones: str | None = None,
    recipe: Recipe | File | None = None,
    outputs: File | Iterable[File] = (),
    tell: Callable[[str, str], None] | None = None,
) -> Mix:
    """Put physics on a part of a body, under the rest of its motion: all that `poise mix` does.

    clip       a motion, or its file; None where a recipe names it
    physical   parts or joints that physics moves; the rest follows the clip exactly
    from_      parts that move as in other clips: `{"arms": "gestures.bvh"}`; see `poise.motion.borrow`
    loads      `Load("rightHand", 2)`, or words as of the command: "rightHand=2"
    pushes     `Push("chest", (0, 0, 75), 0.2, start=2)`, or words: "t=2 chest 0,0,75 0.2s"
    couple, gain, torque_only, coupling_filter, engine, dt   as of `Stage`; dt is the longest step that may be taken
    stiffness, hold, counter_lean, pinned   of the balance: see `Balance`
    base       what physical legs stand on: `planted` feet, or the clip's own legs (`kinematic`: root and legs follow
               it); `auto` plants the feet of a clip that stands
    scenery    ground and props as of a stage file; or `ground` and `props` by themselves
    character  a body on the clip's skeleton, or its file; or its `mass` (kg), where it is made up
    height, fps, roles, take, scale, up, bones   how a file is read, as for `load_clip`; `take` is its `clip`
    recipe     says all that is not said here
    outputs    files to write, by suffix: motions (.glb, .bvh, ..., .take.npz), films (.mp4, .webm, .webp, .gif), the
               centre of mass over the support (.png), the recipe itself (.toml)
    tell       called with `note`, `warning` or `progress` and a sentence as it happens; the result has them, too

    None is as the recipe says, else as usual: exact coupling, gain 1, MuJoCo, 5 ms, physical legs, base `auto`.
    """
    audience = RecordingReporter(tell)
    _check_kinds("text", str, couple=couple, engine=engine, up=up, base=base)
    _check_kinds(
        "a number", Real, gain=gain, dt=dt, stiffness=stiffness, hold=hold, counter_lean=counter_lean, mass=mass,
        height=height, fps=fps, scale=scale,
    )  # fmt: skip
    _check_kinds("a poise.Ground", Ground, ground=ground)
    files = sort_outputs(_list_given(outputs, PathLike, Path, "paths to write"))
    if scenery is not None and (ground is not None or props != ()):
        raise InputError("scenery has its own ground and props; leave out one of the two.")
    if scenery is None and (ground is not None or props != ()):
        scenery = Scenery(ground or Ground(), ground is not None, _list_given(props, Prop, None, "poise.Prop"))
    words = None if physical is None else _list_given(physical, str, None, "names of parts")
    asked = Recipe(
        clip=_as_path(clip, Clip, "clip"),
        character=_as_path(character, Character, "character"),
        take=None if take is None else str(take),
        up=up,
        mass=mass,
        height=height,
        fps=fps,
        scale=scale,
        bones=bones,
        roles=tuple(f"{role}={joint}" for role, joint in parse_roles(roles).items()),
        stage=_as_path(scenery, Scenery, "scenery"),
        engine=engine,
        couple=couple,
        gain=gain,
        torque_only=torque_only or None,
        coupling_filter=coupling_filter,
        dt=dt,
        physical=None if words is None else parse_parts(words),
        from_=read_mapping(from_ or {}),
        stiffness=stiffness,
        hold=hold,
        counter_lean=counter_lean,
        pin=pinned or None,
        base=base,
        loads=_list_given(loads, Load, parse_load, "poise.Load or words such as 'rightHand=2'"),
        pushes=_list_given(pushes, Push, parse_push, "poise.Push or words such as 't=2 chest 0,0,75 0.2s'"),
        output=next(iter(files.motions), None),
        film=next(iter(files.films), None),
        plot=next(iter(files.plots), None),
    )
    read = Source(roles=roles).list_files()
    hearer: Reporter = audience
    if isinstance(recipe, Recipe):
        asked = asked.over(recipe)
    elif recipe is not None:
        path = _as_path(recipe, Recipe, "recipe")
        read.append(path)
        asked, hearer = follow_recipe(asked, path, audience)
    named = list_outputs(asked)
    files = MixOutputs(
        files.motions or named.motions, files.films or named.films, files.plots or named.plots, files.recipes
    )
    found = run_mix(asked, files, hearer, read)
    return dataclasses.replace(found, notes=tuple(audience.notes), warnings=tuple(audience.warnings))


def _as_path(given: Any, kind: type, what: str) -> Any:
    """Something itself, or the path of its file."""
    if given is None or isinstance(given, kind):
        return given
    if isinstance(given, str | PathLike):
        return Path(given)
    raise InputError(f"the {what} of a mix is a {kind.__name__} or the path of its file; given {given!r}.")


def _list_given(given: Any, kind: type, parse: Callable[[str], Any] | None, what: str) -> tuple[Any, ...]:
    """One or several things, each itself or, where they can be parsed, in words."""
    kinds = (kind,) if parse is None else (kind, str)
    each = tuple(given) if isinstance(given, Iterable) and not isinstance(given, kinds) else (given,)
    for one in each:
        if not isinstance(one, kinds):
            raise InputError(f"a mix takes {what}; given {one!r}.")
    return tuple(parse(one) if parse is not None and isinstance(one, str) else one for one in each)


def _check_kinds(what: str, kind: type, **given: Any) -> None:
    """Refuse values of another kind than a parameter takes; None is not said."""
    for name, value in given.items():
        if value is not None and (not isinstance(value, kind) or isinstance(value, bool)):
            raise InputError(f"{name} of a mix is {what}; given {value!r}.")
