"""Checks of drivers: whether one keeps to the protocol of `driver.py`, and whether a motion can be played on a body.

A driver from outside the package that does not keep to the protocol is refused by name.

A clip, a gesture, or anything else that gives a pose at a time can be played.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping
from os import PathLike
from typing import Any

import numpy as np

from poise.body.skeleton import Skeleton
from poise.compiled.law import Block, Law
from poise.drivers.driver import MOTION, POST_STEP, TORQUE, WRITE, Claim, Driver, MotionPlayer, Player
from poise.errors import InputError
from poise.motion.motion import Motion

_LEVELS, _PHASES = (MOTION, TORQUE), (WRITE, POST_STEP)
LIVE = ("with a live motion", "Give a motion that is known beforehand")  # for `check_idle`
EXAMPLES = "poise.Balance(), poise.Loose() or poise.Kinematic(motion)"  # of drivers, for sentences


def check_driver(driver: Any) -> None:
    """Raise InputError unless it is a driver of a level and a root that there are."""
    name = type(driver).__name__
    if not isinstance(driver, Driver):
        raise InputError(f"a part is driven by a driver, such as Balance(); given {driver!r}.")
    if getattr(driver, "level", None) not in _LEVELS:
        found = repr(getattr(driver, "level", None))
        raise InputError(f"the level of a driver must be {_or(_LEVELS)}; that of {name} is {found}. Set {name}.level.")
    if driver.root not in ("only", "never", "also"):
        raise InputError(f"`root` of a driver is 'only', 'never' or 'also'; that of {name} is {driver.root!r}.")


def check_idle(driver: Any, names: Iterable[str], where: str, remedy: str) -> None:
    """Raise InputError if one of these arguments differs from its default, since none of them has an effect.

    where   when they have none, as in "without a motion"
    remedy  what would give them one, as in "Give motion"
    """
    defaults = {field.name: field.default for field in dataclasses.fields(driver)}
    for name in names:
        value = getattr(driver, name)
        if value is not defaults[name] and value != defaults[name]:
            raise InputError(
                f"{name} of {type(driver).__name__} has no effect {where}; got {value!r:.60}. {remedy}, or leave out "
                f"{name}."
            )


def check_claim(claim: Any, driver: Driver, joints: list[int], skeleton: Skeleton) -> None:
    """Raise InputError unless a claim names joints that there are, each once, and moves only those it was given.

    joints  those that the driver was given; one that frees the root may claim what is between it and its part, too
    """
    names = skeleton.labels
    who = type(driver).__name__
    if not isinstance(claim, Claim):
        raise InputError(f"{who}.claim must return a Claim, as in Claim(tuple(joints)); it returned {claim!r}.")
    for field in ("moved", "held", "pinned"):
        for joint in getattr(claim, field):
            if not isinstance(joint, int | np.integer) or not 0 <= joint < len(names):
                raise InputError(
                    f"{who}.claim gave {joint!r} among the joints that are {field}; they are whole numbers from 0 to "
                    f"{len(names) - 1}, out of those that it was given."
                )
    taken = [*claim.moved, *claim.held]
    twice = next((joint for joint in taken if taken.count(joint) > 1), None)
    if twice is not None:
        raise InputError(f"{who}.claim names '{names[twice]}' twice. A joint is moved or held, and once.")
    carrying = {i for joint in joints for i in skeleton.chain(joint)} - {0} if claim.frees_root else set()
    foreign = next((joint for joint in claim.moved if joint not in joints and joint not in carrying), None)
    if foreign is not None:
        raise InputError(f"{who}.claim moves '{names[foreign]}', which it was not given. Move only joints of its part.")
    if not claim.moved:
        raise InputError(f"{who}.claim moves no joint. Refuse a part that it cannot drive, by an InputError.")


def check_player(player: Any, driver: Driver, joints: np.ndarray) -> None:
    """Raise InputError unless a driver's player is of the driver's level; one that has no `joints` gets them."""
    who, is_motion = type(driver).__name__, driver.level == MOTION
    if not isinstance(player, Player) or isinstance(player, MotionPlayer) != is_motion:
        wanted = "a MotionPlayer" if is_motion else "a Player that is no MotionPlayer"
        raise InputError(
            f"{who} is a driver of level '{driver.level}', so {who}.build must return {wanted}; "
            f"it returned {'None' if player is None else 'a ' + type(player).__name__}."
        )
    if getattr(player, "joints", None) is None:
        player.joints = joints
    if is_motion and type(player).write is MotionPlayer.write and WRITE not in find_laws(player):
        raise InputError(f"{type(player).__name__} writes no motion. Give it a method `write` or a law for '{WRITE}'.")


def find_laws(player: Player) -> Mapping[str, tuple[Law, Block]]:
    """Return the compiled laws of a player by phase; raise InputError if there is no such phase or no such law."""
    laws, who = player.laws(), type(player).__name__
    for phase, entry in laws.items():
        if phase not in _PHASES:
            raise InputError(f"{who}.laws has '{phase}'; the phases of laws are {_or(_PHASES)}.")
        if len(entry) != 2 or not isinstance(entry[0], Law) or not isinstance(entry[1], Block):
            raise InputError(f"{who}.laws must give a law (made by @law) and its Block for '{phase}'.")
    return laws


def _or(words: Any) -> str:
    *first, last = (f"'{word}'" for word in words)
    return f"{', '.join(first)} or {last}"


def check_playable(motion: Any, driver: str) -> None:
    """Refuse what is no motion, with what to do instead."""
    if isinstance(motion, Motion) or hasattr(motion, "pose") or isinstance(getattr(motion, "clip", None), Motion):
        return
    if isinstance(motion, str | PathLike):
        raise InputError(
            f"{driver} plays a motion, and '{motion}' is the name of one. Load it first: "
            f"poise.{driver}(poise.load_clip('{motion}'))."
        )
    raise InputError(
        f"{driver} plays a clip or a gesture, such as poise.load_clip('wave.bvh') or poise.gestures.conduct(); given "
        f"a {type(motion).__name__}."
    )
