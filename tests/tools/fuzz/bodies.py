"""Bodies that no person has, and what Poise does with each: a result of finite numbers, or one sentence."""

from __future__ import annotations

import traceback
import warnings
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np

import poise
from poise.body.skeleton import Skeleton
from poise.errors import PoiseError
from poise.files.reading.pipeline import interpret
from poise.files.reading.recording import Recording
from poise.jobs.shared.simulation import simulate as mix
from poise.motion import samples
from poise.motion.clip import Clip
from poise.motion.contacts.frame_rate import check_rate

HUMAN = poise.Character.human(preset="full").skeleton
SMALL = poise.Character.human(preset="mix").skeleton
SIDES = ("left", "right")
_LIMBS = ("UpperLeg", "LowerLeg", "Foot", "Toes", "UpperArm", "LowerArm", "Hand")


def without(skeleton: Skeleton, joint: str) -> Skeleton:
    """The skeleton without a joint and all that it carries."""
    gone = set(skeleton.descendants(skeleton.index(joint))) if joint in skeleton.roles else set()
    kept = [i for i in range(len(skeleton)) if i not in gone]
    new = {old: k for k, old in enumerate(kept)}
    names = tuple(skeleton.names[i] for i in kept)
    return Skeleton(
        names,
        np.array([new.get(int(skeleton.parents[i]), -1) for i in kept]),
        skeleton.offsets[kept],
        skeleton.tips[kept],
        {role: name for role, name in skeleton.roles.items() if name in names},
    )


def _limb(rng: np.random.Generator, skeleton: Skeleton) -> int:
    found = [skeleton.find_role(side + role) for side in SIDES for role in _LIMBS]
    joints = [joint for joint in found if joint is not None]
    return int(rng.choice(joints)) if joints else 0


def _moved(skeleton: Skeleton, change: Callable[[np.ndarray], None]) -> Skeleton:
    offsets = np.array(skeleton.offsets)
    change(offsets)
    return skeleton.replace(offsets=offsets)


def _scale_limb(rng: np.random.Generator, skeleton: Skeleton, factor: float) -> Skeleton:
    joint = _limb(rng, skeleton)

    def change(offsets: np.ndarray) -> None:
        offsets[joint] *= factor

    return _moved(skeleton, change)


def _narrow(rng: np.random.Generator, skeleton: Skeleton) -> Skeleton:
    def change(offsets: np.ndarray) -> None:
        for side in SIDES:
            joint = skeleton.find_role(side + "UpperLeg")
            if joint is not None:
                offsets[joint] = [0.0, -0.1, 0.0]

    return _moved(skeleton, change)


def _turn_up(rng: np.random.Generator, skeleton: Skeleton) -> Skeleton:
    def change(offsets: np.ndarray) -> None:
        for side in SIDES:
            for role in _LIMBS[:4]:
                joint = skeleton.find_role(side + role)
                if joint is not None:
                    offsets[joint] *= -1.0

    return _moved(skeleton, change)


def _throw(rng: np.random.Generator, skeleton: Skeleton) -> Skeleton:
    joint, size = int(rng.integers(len(skeleton))), float(rng.choice([1e-9, 1.0, 1e3]))

    def change(offsets: np.ndarray) -> None:
        offsets[joint] = size * rng.normal(size=3)

    return _moved(skeleton, change)


def _swap_sides(rng: np.random.Generator, skeleton: Skeleton) -> Skeleton:
    def other(role: str) -> str:
        return role.replace("left", "\0").replace("right", "left").replace("\0", "right")

    return skeleton.replace(roles={other(role): name for role, name in skeleton.roles.items()})


def _swap_roles(rng: np.random.Generator, skeleton: Skeleton) -> Skeleton:
    roles = dict(skeleton.roles)
    if len(roles) > 1:
        a, b = (list(roles)[k] for k in rng.choice(len(roles), 2, replace=False))
        roles[a], roles[b] = roles[b], roles[a]
    return skeleton.replace(roles=roles)


WAYS: dict[str, Callable[[np.random.Generator, Skeleton], Skeleton]] = {
    "a bone of no length": lambda rng, s: _scale_limb(rng, s, 0.0),
    "a bone of a micrometre": lambda rng, s: _scale_limb(rng, s, 1e-6),
    "a bone too long": lambda rng, s: _scale_limb(rng, s, float(rng.choice([3.0, 10.0, 1000.0]))),
    "hips without width": _narrow,
    "feet above the hips": _turn_up,
    "all in one point": lambda rng, s: _moved(s, lambda offsets: offsets.fill(0.0)),
    "flat": lambda rng, s: _moved(s, lambda offsets: offsets[:, 1].fill(0.0)),
    "another size": lambda rng, s: s.replace(offsets=s.offsets * float(rng.choice([1e-6, 1e-3, 0.5, 3.0, 1e6]))),
    "a joint somewhere": _throw,
    "a joint missing": lambda rng, s: without(s, str(rng.choice([r for r in s.roles if r != "hips"] or ["hips"]))),
    "left and right changed": _swap_sides,
    "two roles changed": _swap_roles,
    "few roles": lambda rng, s: s.replace(roles={r: n for r, n in s.roles.items() if rng.random() < 0.8}),
    "no roles": lambda rng, s: s.replace(roles={}),
    "no tips": lambda rng, s: s.replace(tips=np.full((len(s), 3), np.nan)),
    "tips of no length": lambda rng, s: s.replace(tips=np.where(np.isnan(s.tips), np.nan, 0.0)),
}


def make_body(seed: int) -> tuple[Skeleton, list[str]]:
    """An odd skeleton, and what is odd about it."""
    rng = np.random.default_rng(seed)
    skeleton = HUMAN if rng.random() < 0.6 else SMALL
    ways = [str(way) for way in rng.choice(list(WAYS), rng.integers(1, 4))]
    for way in ways:
        skeleton = WAYS[way](rng, skeleton)
    return skeleton, ways


def make_motion(seed: int, skeleton: Skeleton, frames: int = 8) -> Clip:
    """A small motion of it."""
    rng = np.random.default_rng([seed, 1])
    turns = np.zeros((frames, len(skeleton), 4))
    turns[..., 0] = 1.0
    turns += 0.05 * rng.normal(size=(1, len(skeleton), 4))
    turns += 0.01 * np.sin(np.linspace(0.0, 1.0, frames))[:, None, None] * rng.normal(size=(1, len(skeleton), 4))
    return Clip(skeleton, np.arange(frames) / 30.0, skeleton.offsets[0] + np.zeros((frames, 3)), turns, "odd")


def _look(clip: Clip) -> Iterable[Any]:
    reading = interpret(Recording(clip, "BVH", "odd.bvh", ("odd",), 1.0, "Y", dict(clip.skeleton.roles)))
    check_rate(reading.clip)
    return reading.clip.positions, reading.stature


def _weigh(clip: Clip) -> Iterable[Any]:
    body = poise.Character.from_skeleton(clip.skeleton)
    assert all(inertia.is_physical() for inertia in body.inertias)
    return body.mass, body.center_of_mass(), *(inertia.inertia for inertia in body.inertias)


def _find_forces(clip: Clip) -> Iterable[Any]:
    forces = poise.compute_forces(clip, poise.Character.from_skeleton(clip.skeleton))
    return forces.torque, forces.reaction.force


def _run(part: str, driver: Any, clip: Clip) -> Iterable[Any]:
    stage = poise.Stage()
    stage.add(poise.Character.from_skeleton(clip.skeleton)).drive(part, driver)
    take = stage.run(0.04)
    return take.actor().rotations, take.actor().root


def _mix(clip: Clip) -> Iterable[Any]:
    made = mix(clip, poise.Character.from_skeleton(clip.skeleton)).clip
    return made.rotations, made.root


def _retarget_from(clip: Clip) -> Iterable[Any]:
    made = poise.retarget(clip, HUMAN)
    return made.rotations, made.root


def _retarget_onto(clip: Clip) -> Iterable[Any]:
    made = poise.retarget(samples.idle(HUMAN, 0.5), clip.skeleton)
    return made.rotations, made.root


USES: dict[str, Callable[[Clip], Iterable[Any]]] = {
    "info": _look,
    "character": _weigh,
    "forces": _find_forces,
    "stand": lambda clip: _run("legs", poise.Balance(), clip),
    "fall": lambda clip: _run("root", poise.Free(), clip),
    "mix": _mix,
    "retarget from": _retarget_from,
    "retarget onto": _retarget_onto,
}


def try_use(use: Callable[[], Iterable[Any]]) -> tuple[str, str]:
    """What came of it: ("done", ""), ("refused", sentence) or ("finding", what and where)."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            for numbers in use():
                if not np.isfinite(numbers).all():
                    return "finding", "numbers that are not finite"
    except PoiseError as error:
        return ("finding", "a message of several lines") if "\n" in str(error) else ("refused", str(error))
    except Exception as error:
        inside = [
            frame for frame in traceback.extract_tb(error.__traceback__) if f"{Path('src/poise')}" in frame.filename
        ]
        place = f"{Path(inside[-1].filename).name}:{inside[-1].lineno}" if inside else "outside poise"
        return "finding", f"{type(error).__name__} at {place}: {str(error)[:120]}"
    return "done", ""


def try_bodies(seeds: Iterable[int], uses: Iterable[str] = tuple(USES)) -> tuple[Counter[str], dict[str, str]]:
    """How often each came of it over all bodies and uses, and the findings with the seed and oddities of one."""
    counts: Counter[str] = Counter()
    findings: dict[str, str] = {}
    for seed in seeds:
        skeleton, ways = make_body(seed)
        clip = make_motion(seed, skeleton)
        for name in uses:
            what, said = try_use(lambda name=name, clip=clip: USES[name](clip))  # type: ignore[misc]
            counts[what] += 1
            if what == "finding":
                findings.setdefault(f"{name}: {said}", f"seed {seed}: {', '.join(ways)}")
    return counts, findings
