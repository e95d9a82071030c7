"""Edit recipes: clips cut, put in an order, joined and bent to places, as readable TOML.

    format = "poise-edit 1"
    fps = 60                      # of what is written; left out: those of the first clip
    resample = "spline"           # or "slerp": what is between the frames of the clips
    transition = 0.3              # s, from each stretch to the next
    sequence = ["high", "low", "high", "greet"]       # stretches, or clips, in order

    [clips.clap]                  # a motion that Poise makes itself, or a file
    gesture = "clap"
    seconds = 6

    [clips.greet]
    file = "wave.bvh"

    [segments.high]               # a stretch of a clip
    clip = "clap"
    from = 0.5
    to = 1.5
    speed = 1.33
    mirror = true

    [[offsets]]                   # a hand that is to be somewhere at a time of the sequence
    joint = "rightHand"
    point = "palm"
    time = 1.2
    place = [-0.1, 1.3, 0.4]
    before = 0.3
    after = 0.3

What is left out is as usual. Paths count from the recipe's own folder. All keys are in docs/editing.md.

Keys that change nothing are refused where the recipe alone says so, else noted in a line.

What is only defined, a clip or a segment that no sequence names yet, is noted: a recipe may hold more than it plays.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from poise.body.bodies import PHYSIQUES, build_body
from poise.errors import InputError, unknown_name
from poise.files.reading.options import Source
from poise.files.reporting import Reporter
from poise.files.toml import Table, TomlFile
from poise.files.writing.writing import WITH_BODY
from poise.jobs.edit.plans import (
    ActorPlan,
    BodyPlan,
    ClipSource,
    EditRecipe,
    OffsetPlan,
    PlacePlan,
    SegmentPlan,
    find_size,
)
from poise.motion.clip import Clip, How
from poise.motion.edits.sequence import SPEEDS, TRANSITION
from poise.world.scenery import Scenery, load_scenery

if TYPE_CHECKING:
    from poise.jobs.edit.job import EditedActor
FORMAT = "poise-edit 1"
ONLY = "actor"  # what an actor is called where the recipe names none
RATES = (1.0, 1000.0)
_WAYS = ("spline", "slerp")
_FARTHEST = 1e4  # m
_LONGEST = 3600.0  # s
_MOST_OFFSETS, _MOST_TIMES, _MOST_STRETCHES = 1000, 1000, 10_000


def load_edit_recipe(path: str | PathLike[str]) -> EditRecipe:
    """Read a recipe; all that can be known without reading its clips is checked."""
    file = TomlFile(path)
    with file:
        return _parse(Table("a recipe", file.plain), Path(path), file)


def _parse(top: Table, path: Path, file: TomlFile) -> EditRecipe:
    folder = path.parent
    if top.text("format") != FORMAT:
        raise top.wrong("format", f'is no edit recipe of this program: it must begin with format = "{FORMAT}".')
    fps, speed = _within(top, "fps", RATES), _within(top, "speed", SPEEDS)
    resample, transition = top.text("resample"), _within(top, "transition", (0.0, _LONGEST))
    if resample not in (None, *_WAYS):
        raise top.wrong("resample", str(unknown_name("resampling", resample or "", _WAYS)))
    align = top.flag("align")
    clips, segments = _read_stretches(top, folder)
    stage = top.text("stage")
    scenery = None if stage is None else _read_scenery(top, folder / stage)
    sequence = _read_sequence(top, clips, segments)
    actors = _read_actors(top, folder, clips, segments, sequence)
    names = {actor.name for actor in actors}
    offsets = tuple(
        offset for table in top.tables("offsets", _MOST_OFFSETS) for offset in _read_offset(table, names, scenery)
    )
    top.check_all_read()
    check_keys(top, segments, actors, offsets)
    return EditRecipe(
        path, file, clips, actors, offsets, fps, "slerp" if resample == "slerp" else "spline",
        TRANSITION if transition is None else transition, align is not False, 1.0 if speed is None else speed, scenery,
        None if stage is None else folder / stage, frozenset(file.plain), list_unused(clips, segments, actors),
    )  # fmt: skip


def _read_stretches(top: Table, folder: Path) -> tuple[dict[str, ClipSource], dict[str, SegmentPlan]]:
    """Clips and segments by name."""
    clips = {name: _read_clip(name, table, folder) for name, table in top.named("clips").items()}
    if not clips:
        raise InputError("has no clips. Give at least one: [clips.NAME] with file or gesture.")
    segments = {name: _read_segment(name, table, clips) for name, table in top.named("segments").items()}
    both = next((name for name in segments if name in clips), None)
    if both is not None:
        raise segments[both].table.wrong(None, f"'{both}' is a clip and a segment. Give each a name of its own.")
    return clips, segments


def _read_scenery(top: Table, path: Path) -> Scenery:
    with top.reading("stage"):
        return load_scenery(path)


def _within(table: Table, key: str, allowed: tuple[float, float]) -> float | None:
    """A number from the first to the second, or None where there is none."""
    value = table.number(key)
    if value is not None and not allowed[0] <= value <= allowed[1]:
        raise table.wrong(
            key, f"'{key}' of {table.what} must be from {allowed[0]:g} to {allowed[1]:g}; {value:g} given."
        )
    return value


def _read_clip(name: str, table: Table, folder: Path) -> ClipSource:
    file, gesture = table.text("file"), table.text("gesture")
    if (file is None) == (gesture is None):
        raise table.wrong(None, f"{table.what} needs a 'file' or a 'gesture', one of the two.")
    if file is not None:
        roles = [word if "=" in word else str(folder / word) for word in table.words("roles") or ()]
        height, fps, scale = (table.number(key) for key in ("height", "fps", "scale"))
        take, up, bones = table.text("take"), table.text("up"), table.text("bones")
        table.check_all_read()
        source = Source(roles=roles, clip=take, up=up, bones=bones, height=height, fps=fps, scale=scale)
        with table.reading():
            source.check()
        return ClipSource(name, table, folder / file, source)
    assert gesture is not None
    known = list_gestures()
    if gesture not in known:
        raise table.wrong("gesture", str(unknown_name("gesture", gesture, known)))
    if "takes_part" in table:
        raise table.wrong("takes_part", say_alone(table))
    seconds, fps = _within(table, "seconds", (0.05, _LONGEST)), _within(table, "fps", RATES)
    rest = {key: tuple(value) if isinstance(value, list) else value for key, value in table.rest().items()}
    return ClipSource(name, table, None, Source(), gesture, seconds, 60.0 if fps is None else fps, rest)


def list_gestures() -> dict[str, Callable[..., Any]]:
    """What may be named in place of a file: gestures, and Poise's own motions."""
    from poise.motion import gestures, samples

    found = {name: getattr(samples, name) for name in samples.__all__}
    return found | {name: getattr(gestures, name) for name in gestures.__all__ if name[0].islower()}


def _read_segment(name: str, table: Table, clips: dict[str, ClipSource], clip: str | None = None) -> SegmentPlan:
    """A stretch; of a clip that is said by its own key, or already."""
    if clip is None:
        clip = table.needed_text("clip")
        if clip not in clips:
            raise table.wrong("clip", str(unknown_name("clip", clip, clips, "the recipe")))
    read = {"start": table.number("from"), "end": table.number("to"), "still": _within(table, "still", (0.0, _LONGEST))}
    speed, repeat = _within(table, "speed", SPEEDS), _read_repeat(table)
    if read["still"] is not None and read["end"] is not None:
        raise table.wrong("to", f"{table.what} is still, a pose at 'from'; leave out 'to', or 'still'.")
    transition = _within(table, "transition", (0.0, _LONGEST))
    reverse, mirror = table.flag("reverse"), table.flag("mirror")
    for key in ("speed", "reverse") if read["still"] is not None else ():
        if key in table:
            raise table.wrong(key, f"{table.what} is still, a pose at 'from'; leave out '{key}', or 'still'.")
    table.check_all_read()
    return SegmentPlan(
        name, clip, table, read["start"], read["end"], 1.0 if speed is None else speed, bool(reverse), bool(mirror),
        read["still"], 1 if repeat is None else repeat, transition,
    )  # fmt: skip


def _read_repeat(table: Table) -> int | None:
    repeat = table.whole("repeat")
    if repeat is not None and not 1 <= repeat <= _MOST_STRETCHES:
        raise table.wrong("repeat", f"'repeat' of {table.what} must be from 1 to {_MOST_STRETCHES}; {repeat} given.")
    return repeat


def _read_sequence(
    table: Table, clips: dict[str, ClipSource], segments: dict[str, SegmentPlan]
) -> tuple[SegmentPlan, ...] | None:
    """The stretches in order: names, or tables that name one; None where nothing is said."""
    if "sequence" not in table:
        return None
    given: list[SegmentPlan] = []
    for i, item in enumerate(table.items("sequence", _MOST_STRETCHES)):
        at = (*table.at, "sequence", i)
        if isinstance(item, str):
            own = Table(f"[[sequence]] {i + 1}", {}, at)
            given.append(_find_segment(item, own, None, clips, segments))
            continue
        own = Table(f"[[sequence]] {i + 1}", item, at)
        named, clip = own.text("segment"), own.text("clip")
        if (named is None) == (clip is None):
            raise own.wrong(None, f"{own.what} needs a 'segment' or a 'clip', one of the two.")
        key = "clip" if named is None else "segment"
        found = _find_segment(named or clip or "", own, key, clips, segments)
        if named is None:
            given.append(_read_segment(found.name, own, clips, found.clip))
        else:
            transition = _within(own, "transition", (0.0, _LONGEST))
            repeat = _read_repeat(own)
            own.check_all_read()
            repeat = found.repeat if repeat is None else repeat
            transition = found.transition if transition is None else transition
            given.append(replace(found, transition=transition, repeat=repeat))
        if i == 0 and "transition" in own:
            raise own.wrong("transition", say_first(own))
    if not given:
        raise table.wrong("sequence", f"'sequence' of {table.what} is empty. Name at least one segment or clip.")
    count = sum(segment.repeat for segment in given)
    if count > _MOST_STRETCHES:
        raise table.wrong("sequence", f"the sequence has {count} stretches; at most {_MOST_STRETCHES} can be had.")
    return tuple(given)


def _find_segment(
    name: str, table: Table, key: str | None, clips: dict[str, ClipSource], segments: dict[str, SegmentPlan]
) -> SegmentPlan:
    """A stretch by its name, or a whole clip. key: what the table calls it, `segment` or `clip`; None: either."""
    if key != "clip" and name in segments:
        return segments[name]
    if key != "segment" and name in clips:
        return SegmentPlan(name, name, table)
    known: dict[str, list[str]] = {"clip": [*clips], "segment": [*segments]}
    names = known.get(key or "", [*segments, *clips])
    raise table.wrong(key, str(unknown_name(key or "segment", name, names, "the recipe")))


def _read_actors(
    top: Table,
    folder: Path,
    clips: dict[str, ClipSource],
    segments: dict[str, SegmentPlan],
    sequence: tuple[SegmentPlan, ...] | None,
) -> tuple[ActorPlan, ...]:
    body = _read_body(top.table("body"), folder)
    tables = top.named("actors")
    if not tables:
        return (ActorPlan(ONLY, top, body, sequence or _find_only_stretch(top, clips, segments)),)
    actors = []
    for name, table in tables.items():
        position, heading = table.numbers("position", 3), table.number("heading_degrees")
        if position is not None and max(map(abs, position)) > _FARTHEST:
            raise table.wrong("position", f"'position' of {table.what} is at most {_FARTHEST:g} m from the origin.")
        own = _read_sequence(table, clips, segments) or sequence
        if own is None:
            raise table.wrong(None, f"{table.what} has no 'sequence', nor has the recipe. Say what it plays.")
        whose = _read_body(table.table("body"), folder) if "body" in table else body
        table.check_all_read()
        place = None if position is None else (position[0], position[1], position[2])
        actors.append(ActorPlan(name, table, whose, own, place, None if heading is None else np.radians(heading)))
    for name in tables:
        if not name.isidentifier():
            raise tables[name].wrong(None, f"an actor's name is letters, digits and _, for files; '{name}' given.")
    return tuple(actors)


def _find_only_stretch(
    top: Table, clips: dict[str, ClipSource], segments: dict[str, SegmentPlan]
) -> tuple[SegmentPlan, ...]:
    """The only clip, where nothing says what is played."""
    if len(clips) > 1:
        raise InputError("has several clips and no 'sequence'. Say in which order they are played.")
    if segments:
        first, names = next(iter(segments.values())).table, ", ".join(f'"{name}"' for name in segments)
        raise first.wrong(None, f"{first.what} is in no 'sequence'. Say in which order: sequence = [{names}].")
    return (_find_segment(next(iter(clips)), top, None, clips, segments),)


def _read_body(table: Table, folder: Path) -> BodyPlan:
    file, kind = table.text("file"), table.text("kind")
    height, mass = _within(table, "height", (0.3, 3.0)), _within(table, "mass", (1.0, 1000.0))
    table.check_all_read()
    if kind is not None and kind not in PHYSIQUES:
        raise table.wrong("kind", str(unknown_name("body", kind, PHYSIQUES)))
    if file is not None and (kind, height, mass) != (None, None, None):
        raise table.wrong("file", f"{table.what} is a file's; leave out 'kind', 'height' and 'mass', or 'file'.")
    return BodyPlan(table, None if file is None else folder / file, kind, height, mass)


def _read_offset(table: Table, actors: set[str], scenery: Scenery | None) -> list[OffsetPlan]:
    """What a table of [[offsets]] asks of one actor; where two hands meet, of both."""
    actor = _read_actor(table, "actor", actors)
    joint = table.needed_text("joint")
    time, times = table.number("time"), table.row("times", _MOST_TIMES)
    if (time is None) == (times is None):
        raise table.wrong(None, f"{table.what} needs a 'time' or a list of 'times', one of the two.")
    moments = (time,) if time is not None else times or ()
    if not moments:
        raise table.wrong("times", f"'times' of {table.what} is empty. Give at least one, or leave the offset out.")
    point = _read_point(table, "point")
    spans = {key: _within(table, key, (0.0, 600.0)) for key in ("before", "hold", "after")}
    turn: Any = table.text("turn") if isinstance(table.peek("turn"), str) else table.numbers("turn", 4)
    joints = table.words("joints")
    target = _read_place(table, actors, scenery)
    table.check_all_read()
    said = {key: value for key, value in spans.items() if value is not None}
    if turn is not None:
        said["turn"] = turn
    mine = OffsetPlan(actor, joint, moments, target, table, point, joints=joints, **said)
    if not target.is_meeting:
        return [mine]
    assert target.joint is not None
    there = replace(target, actor=actor, joint=joint, point=point)
    other = replace(
        mine, actor=target.actor or actor, joint=target.joint, point=target.point, target=there, joints=None
    )
    return [mine, other]


def _read_actor(table: Table, key: str, actors: set[str]) -> str:
    name = table.text(key)
    if name is None:
        if len(actors) > 1:
            raise table.wrong(None, f"{table.what} must say whose it is: {key} = one of {', '.join(sorted(actors))}.")
        return next(iter(actors))
    if name not in actors:
        raise table.wrong(key, str(unknown_name("actor", name, sorted(actors), "the recipe")))
    return name


def _read_point(table: Table, key: str) -> Any:
    """A point's name, or three numbers; the joint itself where nothing is said."""
    if table.peek(key) is None:
        return "joint"
    return table.text(key) if isinstance(table.peek(key), str) else table.numbers(key, 3)


def _read_place(table: Table, actors: set[str], scenery: Scenery | None) -> PlacePlan:
    """Where it is to be: `place`, perhaps in the frame of a `prop`; `on` a body; or where it `meets` another."""
    given = [key for key in ("place", "on", "meets") if key in table]
    if len(given) != 1:
        raise table.wrong(None, f"{table.what} needs 'place', 'on' or 'meets', one of the three.")
    place, prop = table.numbers("place", 3), table.text("prop")
    if place is not None and max(map(abs, place)) > _FARTHEST:
        raise table.wrong("place", f"'place' of {table.what} is at most {_FARTHEST:g} m from the origin.")
    if prop is not None:
        known = [] if scenery is None else [each.name for each in scenery.props]
        if place is None:
            raise table.wrong("prop", f"'prop' of {table.what} goes with a 'place' in its frame, and there is none.")
        if prop not in known:
            raise table.wrong("prop", str(unknown_name("prop", prop, known, "the stage")))
    if place is not None:
        return PlacePlan(place, prop)
    inner = table.table(given[0])
    inner.what = f"'{given[0]}' of {table.what}"
    actor = _read_actor(inner, "actor", actors) if "actor" in inner or given[0] == "on" else None
    joint, point = inner.needed_text("joint"), _read_point(inner, "point")
    inner.check_all_read()
    return PlacePlan(None, None, actor, joint, point, given[0] == "meets")


_SAME = 1e-9  # m, and of a quaternion's parts


def check_keys(
    top: Table, segments: Mapping[str, SegmentPlan], actors: Sequence[ActorPlan], offsets: Iterable[OffsetPlan]
) -> None:
    """Refuse keys of a recipe that nothing can come of, whatever its clips are."""
    played = [segment for actor in actors for segment in actor.sequence]
    joins = [segment for actor in actors for segment in actor.sequence[1:]]
    for name in {each.name: None for each in played if each.name in segments}:
        _check_transition(segments[name], [each for each in joins if each.name == name])
    _check_top(top, actors, offsets, joins, repeats=any(segment.repeat > 1 for segment in played))


def _check_top(
    top: Table, actors: Sequence[ActorPlan], offsets: Iterable[OffsetPlan], joins: Sequence[SegmentPlan], repeats: bool
) -> None:
    """Refuse keys at the top that nothing can come of. repeats: whether a segment is joined to itself"""

    def refuse(key: str, why: str) -> None:
        if key in top:
            raise top.wrong(key, f"'{key}' of {top.what} has no effect: {why}. Leave it out.")

    if not repeats and all(segment.transition is not None for segment in joins):
        refuse("transition", "every join has its own" if joins else "a single stretch has no join")
    if not repeats and not joins:
        refuse("align", "a single stretch has no join")
    for key in ("sequence", "body"):
        if all(actor.table is not top and key in actor.table for actor in actors):
            refuse(key, "every actor has its own")
    if all(offset.target.prop is None for offset in offsets):
        refuse("stage", "no offset names a 'prop' of it")


def _check_transition(segment: SegmentPlan, joins: Sequence[SegmentPlan]) -> None:
    """Refuse the transition of a segment that is played, if none of the joins into it has it."""
    if segment.transition is None or any(each.transition == segment.transition for each in joins):
        return
    what = segment.table.what
    why = f"'transition' of {what} has no effect: the sequence says another wherever it is played. Leave out one."
    raise segment.table.wrong("transition", why if joins else say_first(segment.table))


def say_first(table: Table) -> str:
    """What is wrong with a transition into the first stretch."""
    return (
        f"'transition' of {table.what} goes from the stretch before into this one, and there is none before the first. "
        "Leave it out."
    )


def say_alone(table: Table) -> str:
    """What is wrong with a gesture that the body is to take part in."""
    return (
        f"'takes_part' of {table.what} has no effect: the body takes part over legs that balance, and nothing balances "
        "here. Leave it out."
    )


def list_unused(clips: Iterable[str], segments: Iterable[str], actors: Iterable[ActorPlan]) -> tuple[str, ...]:
    """Tables of clips and segments that no sequence plays."""
    played = [segment for actor in actors for segment in actor.sequence]
    names, sources = {each.name for each in played}, {each.clip for each in played}
    return (
        *(f"[clips.{name}]" for name in clips if name not in sources),
        *(f"[segments.{name}]" for name in segments if name not in names),
    )


def check_bones(recipe: EditRecipe, bones: str | None, audience: Reporter) -> None:
    """Refuse `bones` where no file is read that does not say its own."""
    if bones is None:
        return
    played = {segment.clip for actor in recipe.actors for segment in actor.sequence}
    files = [recipe.clips[name] for name in sorted(played) if recipe.clips[name].file is not None]
    if all(clip.source.bones is not None for clip in files):
        why = "all files of this recipe say theirs" if files else "this recipe plays no file"
        raise InputError(
            f"{audience.spell('bones')} is for files whose clip does not say 'bones', and {why}. Leave it out."
        )


def find_idle(recipe: EditRecipe, joined: Clip, join: Callable[[bool, How], Clip]) -> frozenset[str]:
    """Keys at the top of a recipe of which another value would give the same joined stretches.

    join  the stretches joined with another `align` and `resample`
    """
    how: How = "slerp" if recipe.resample == "spline" else "spline"
    others = {"align": (not recipe.align, recipe.resample), "resample": (recipe.align, how)}
    return frozenset(key for key, other in others.items() if key in recipe.said and _is_same(join(*other), joined))


def _is_same(one: Clip, other: Clip) -> bool:
    apart = np.minimum(np.abs(one.rotations - other.rotations), np.abs(one.rotations + other.rotations))
    return bool(np.abs(one.root - other.root).max() < _SAME and apart.max() < _SAME)


def note_idle(recipe: EditRecipe, actors: Sequence[EditedActor], outputs: Sequence[Path], audience: Reporter) -> None:
    """Say what a recipe has that changes nothing of these clips, or of files of these kinds."""
    if recipe.unused:
        audience.note(f"no sequence plays {', '.join(recipe.unused)}.")
    idle = frozenset.intersection(*(actor.idle for actor in actors))
    if "align" in idle:
        audience.note("'align' changes nothing: every stretch begins where the one before it ends.")
    if "resample" in idle:
        audience.note("'resample' changes nothing: all frames are frames of the clips.")
    if not outputs or any(path.suffix.lower() in WITH_BODY for path in outputs):
        return
    kinds = ", ".join(sorted({path.suffix.lower() for path in outputs}))
    for body in {id(actor.plan.body): actor.plan.body for actor in actors}.values():
        for key in _find_boneless(body):
            audience.note(
                f"'{key}' of {body.table.what} changes no bone, and {kinds} has bones only: it counts just for "
                "ranges of joints and for what goes through the body."
            )


def _find_boneless(body: BodyPlan) -> list[str]:
    """Keys of a body that change none of its bones."""
    without = {"kind": replace(body, kind=None), "mass": replace(body, mass=None)}
    return [
        key
        for key, other in without.items()
        if getattr(body, key) is not None and np.array_equal(_build_bones(body), _build_bones(other))
    ]


def _build_bones(body: BodyPlan) -> np.ndarray:
    return build_body(body.kind or "average", *find_size(body)).skeleton.offsets
