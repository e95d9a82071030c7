"""Checks before a clip is simulated: loads, pushes and options that would have no effect."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Iterable

from poise.body.character import Character
from poise.body.skeleton import Skeleton
from poise.drivers.driver import MOTION
from poise.dynamics.tree import build_tree
from poise.errors import InputError
from poise.files.reporting import Reporter
from poise.jobs.mix.pictures import check_film
from poise.jobs.mix.plan import MixPlan
from poise.jobs.shared.base import Base, find_legs
from poise.jobs.shared.options import BALANCE, KINEMATIC, PLANTED
from poise.jobs.shared.simulation import choose_step, find_base, find_driven, find_pushed
from poise.motion.clip import Clip
from poise.motion.edits.borrow import find_borrowed
from poise.world.forces import Push


def check_effects(
    clip: Clip,
    character: Character,
    plan: MixPlan,
    films: bool,
    audience: Reporter,
    given: Iterable[str] = (),
    borrowed: Iterable[str] = (),
) -> None:
    """Raise InputError for what would change nothing: a load or push that no physical part feels, and the like.

    Also for what could not be drawn in the end. given: options that were given; borrowed: parts of other clips
    """
    skeleton = clip.skeleton
    base, names = find_base(clip, character, plan)
    physical = {skeleton.index(name) for name in names}
    balances = base.name == PLANTED and _has_legs(skeleton, physical)
    misplaced = next((name for name in BALANCE if name in given and not balances), None)
    if misplaced is not None:
        raise InputError(
            f"{audience.spell(misplaced)} is the balance's, which is for physical legs on planted feet; "
            f"{_say_base(base, plan, audience)}, or leave it out."
        )
    _check_borrowed(skeleton, plan, borrowed, balances, audience)
    physical, floats = _add_drives(clip, character, plan, physical, balances)

    def feels(joint: str) -> bool:
        return floats or any(i in physical for i in skeleton.chain(skeleton.index(joint)))

    if plan.base == PLANTED and not balances and not floats:
        raise InputError(
            f"{audience.spell('base')} {plan.planted} plants the feet of physical legs; "
            f"{_say_base(base, plan, audience)}, or leave it out."
        )
    if plan.gain != 1.0:
        _check_gain(character, plan, physical, feels, audience)
    unfelt = next((load.joint for load in plan.loads if not feels(load.joint)), None)
    if unfelt is not None:
        raise InputError(f"nothing physical carries the load at '{unfelt}'. {_say_physical(base, plan, audience)}")
    for push in plan.pushes:
        _check_push(clip, base, plan, push, feels, audience)
    if films:
        _check_drawn(clip, character, audience)


def _check_gain(
    character: Character, plan: MixPlan, physical: set[int], feels: Callable[[str], bool], audience: Reporter
) -> None:
    skeleton, masses = character.skeleton, build_tree(character).masses
    if not any(feels(skeleton.names[i]) for i in range(1, len(skeleton)) if i not in physical and masses[i] > 0.0):
        raise InputError(
            f"{audience.spell('gain')} is the coupling's, from parts that follow the clip to the physical parts that "
            "carry them; here nothing that follows the clip is carried. "
            f"Name other {audience.spell(plan.parts)} parts, or leave it out."
        )


def _check_drawn(clip: Clip, character: Character, audience: Reporter) -> None:
    from poise.body.geometry.mannequin import build_mannequin

    try:
        build_mannequin(clip.skeleton, character.mass)
    except InputError as error:
        raise InputError(f"{audience.spell('film')} cannot be drawn: {error}") from error
    check_film(clip)


def _check_borrowed(
    skeleton: Skeleton, plan: MixPlan, borrowed: Iterable[str], balances: bool, audience: Reporter
) -> None:
    """Refuse parts of other clips that something else drives: legs that balance, parts with drivers of their own."""
    driven, legs = find_driven(skeleton, plan), find_legs(skeleton) if balances else set()
    for part in borrowed:
        joints = set(find_borrowed(skeleton, part))
        if joints & legs:
            raise InputError(
                f"'{part}' cannot come from another clip while physical legs balance. Name other "
                f"{audience.spell(plan.parts)} parts, or use {audience.spell('base')} {KINEMATIC}."
            )
        if joints & driven:
            raise InputError(f"'{part}' has a driver in [[drives]] and would also come from another clip. Remove one.")


def _add_drives(
    clip: Clip, character: Character, plan: MixPlan, physical: set[int], balances: bool
) -> tuple[set[int], bool]:
    """What is physical, and whether the root floats, once parts have the drivers of their own."""
    for drive in plan.drives:
        joints = find_driven(clip.skeleton, dataclasses.replace(plan, drives=(drive,)))
        driver = drive.build(motion=clip, start=-float(clip.times[0]))
        is_given = driver.level == MOTION
        physical = physical - joints if is_given else physical | joints
        balances = balances and not joints & find_legs(clip.skeleton)
        balances = balances or driver.claim(character, sorted(joints), drive.part).frees_root
    return physical, balances


def _check_push(
    clip: Clip, base: Base, plan: MixPlan, push: Push, feels: Callable[[str], bool], audience: Reporter
) -> None:
    if not any(push.force):
        raise InputError(
            f"the push at t={push.start:g} s has 0 N and would do nothing. Give it a force, or leave it out."
        )
    if push.start >= clip.duration:
        raise InputError(
            f"the push at t={push.start:g} s comes after the clip's end, at {clip.duration:g} s. Give an earlier time."
        )
    step = choose_step(clip, plan.dt)
    first = step * math.ceil(push.start / step - 1e-9)  # s, the first step that begins within the push
    if first >= min(push.start + push.seconds, clip.duration - 1e-9):
        raise InputError(
            f"the push at t={push.start:g} s for {push.seconds:g} s lies between two steps of {step:.3g} s and would "
            f"do nothing. Make it longer or earlier, or {audience.spell('dt')} smaller."
        )
    if not feels(find_pushed(clip.skeleton, push.joint)):
        raise InputError(f"nothing physical feels the push at '{push.joint}'. {_say_physical(base, plan, audience)}")


def _has_legs(skeleton: Skeleton, physical: set[int]) -> bool:
    legs = find_legs(skeleton)
    return bool(legs) and legs <= physical


def _say_base(base: Base, plan: MixPlan, audience: Reporter) -> str:
    """What to do for a balance."""
    if base.name == KINEMATIC and {"legs", "body"} & set(plan.physical):
        return f"this clip is followed on its own legs: say {audience.spell('base')} {plan.planted}"
    return "make 'legs' physical"


def _say_physical(base: Base, plan: MixPlan, audience: Reporter) -> str:
    physical, more = audience.spell(plan.parts), ""
    if base.name == KINEMATIC and {"legs", "body"} & set(plan.physical):
        more = f" Its root and legs follow the clip; {audience.spell('base')} {plan.planted} plants its feet."
    return f"Physical is only: {', '.join(plan.physical)}.{more} Name more with {physical}, or leave it out."
