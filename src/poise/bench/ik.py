"""Inverse kinematics of a full body, cold, beside mink (with DAQP).

The task is the same for all: the centre of mass and both hands to places, both feet to places and turned, by forward
kinematics from random legal poses; each begins at the same standing pose, with its root free, and ends when everything
is within 1 mm (a turn counts by what it moves, 21 cm from its axis). One thread. mink gets the body as hinges
(`hinged`), the same angles with the same ranges, and settings of its own that do best here; its goals are made once
and given new numbers, as ours are (`PoseSolver.prepare`). What each found is judged by none of them, but by
forward kinematics of the tree.

mink is an extra (`peers`). `make placo` compares with placo, which wants an environment of its own
(`tests/tools/ik_placo`).

The second half makes bodies with more joints than people have, to show how the cost of a solve grows.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

import poise
from poise import rotation
from poise.bench.harness import measure
from poise.bench.hinged import Link, draw_pose, list_links, write_mjcf
from poise.body.joints import JointLimits
from poise.ik.goals import OrientationGoal, PositionGoal
from poise.ik.model import RADIAN_LENGTH, CharacterModel
from poise.ik.pose_solver import PoseProblem, PoseSolver

ENDS = ("leftHand", "rightHand", "leftFoot", "rightFoot")
TURNED = ENDS[2:]
ENOUGH = 1e-3  # m
SIZE = 0.8  # of the ranges, that poses are drawn from
_ROUNDS = 100  # of a peer, at most
_MINK = {"lm_damping": 1e-6, "damping": 1e-6, "gain": 1.0, "dt": 1.0}  # full steps; more damping is slower here
_SPINES = (0, 10, 20, 40)  # joints more, for how cost grows


@dataclass(frozen=True)
class ReachTarget:
    """Places (4, 3) m of the ends, turns (2, 4) of the feet, and the centre of mass (3,) m."""

    places: np.ndarray
    turns: np.ndarray
    center: np.ndarray


def run(targets: int = 60, rounds: int = 5) -> dict[str, Any]:
    """Microseconds a solve, and of the peers; ratios say how many times as long one takes, null where it is missing."""
    character = poise.Character.human()
    drawn = draw_targets(character, targets)
    ours = make_solver(character, drawn[0])
    start, poser = find_start(character), PoseSolver(character, None)
    contenders: dict[str, Callable[[], object]] = {
        "poise": lambda: [solve_one(ours, one, start) for one in drawn],
        "plain": lambda: [solve_plain(poser, one, start) for one in drawn],
    }
    links = list_links(character)
    mink = build_mink(character, links)
    if mink is not None:
        contenders["mink"] = lambda: [mink(one) for one in drawn]
    timings = measure(contenders, rounds)
    us = {name: 1e6 * timings.median(name) / targets for name in contenders}
    met = [is_met(character, one, *solve_one(ours, one, start)) for one in drawn]
    return {
        "targets": targets,
        "joints": len(character.skeleton),
        "angles": len(CharacterModel(character, True, {}, 0.0).arrays.joint),
        "us_per_solve": us["poise"],
        "plain_us_per_solve": us["plain"],
        "solved": float(np.mean(met)),
        "mink_us_per_solve": us.get("mink"),
        "mink_ratio": timings.ratio("mink", to="poise") if mink else None,
        "mink_plain_ratio": timings.ratio("mink", to="plain") if mink else None,
        "mink_solved": float(np.mean([is_met(character, one, *mink(one)) for one in drawn])) if mink else None,
        "missing": [] if mink else ["mink"],
        "growth": [grow(character, more) for more in _SPINES],
        "spread": max(timings.spread(name) for name in contenders),
    }


def draw_targets(character: poise.Character, count: int, seed: int = 0, size: float = SIZE) -> list[ReachTarget]:
    """Targets that random legal poses meet."""
    rng, index = np.random.default_rng(seed), character.skeleton.index
    ends, turned = [index(end) for end in ENDS], [index(end) for end in TURNED]
    out = []
    for _ in range(count):
        turns = draw_pose(character, rng, size)
        turns[0] = rotation.exp(0.3 * rng.normal(size=3))
        R, p, center = find_places(character, 0.2 * rng.normal(size=3), turns)
        out.append(ReachTarget(p[ends], rotation.from_matrix(R[turned]), center))
    return out


def find_start(character: poise.Character) -> np.ndarray:
    """(J, 4) standing, as at rest where that is within the ranges."""
    turns = rotation.identity((len(character.skeleton),))
    for i in np.flatnonzero(CharacterModel(character, False, {}, 0.0).arrays.has_angles):
        ends = character.limits[character.skeleton.names[i]]
        turns[i] = ends.rotation(np.clip(0.0, ends.lower, ends.upper))
    return turns


def make_solver(character: poise.Character, target: ReachTarget) -> PoseProblem:
    """Goals to be given numbers."""
    poser = PoseSolver(character, None)
    return poser.prepare(list_goals(target), center=tuple(target.center), enough=ENOUGH, center_first=False)


def list_goals(target: ReachTarget) -> list[PositionGoal | OrientationGoal]:
    reach = [PositionGoal(end, place) for end, place in zip(ENDS, target.places, strict=True)]
    return [*reach, *(OrientationGoal(end, turn) for end, turn in zip(TURNED, target.turns, strict=True))]


def solve_one(solver: PoseProblem, target: ReachTarget, start: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Root and rotations."""
    solver.places[:], solver.turns[:], solver.center[:] = target.places, target.turns, target.center
    found = solver.solve(np.zeros(3), start)
    return found.root, found.rotations


def solve_plain(poser: PoseSolver, target: ReachTarget, start: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The same by `PoseSolver.solve`, with goals made and checked for every pose."""
    found = poser.solve(
        list_goals(target), np.zeros(3), start, center=tuple(target.center), enough=ENOUGH, center_first=False
    )
    return found.root, found.rotations


def find_places(
    character: poise.Character, root: np.ndarray, turns: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """World orientations (J, 3, 3), places (J, 3) and the centre of mass (3,), joint by joint."""
    skeleton, local = character.skeleton, rotation.to_matrix(turns)
    R, p = local.copy(), np.zeros((len(skeleton), 3))
    p[0] = root
    for i, parent in enumerate(skeleton.parents):
        if parent >= 0:
            R[i], p[i] = R[parent] @ local[i], p[parent] + R[parent] @ skeleton.offsets[i]
    weighed, mass = np.zeros(3), 0.0
    for segment in character.segments:
        i = skeleton.index(segment.joint)
        weighed += segment.inertia.mass * (p[i] + R[i] @ segment.inertia.center)
        mass += segment.inertia.mass
    return R, p, weighed / mass


def is_met(character: poise.Character, target: ReachTarget, root: np.ndarray, turns: np.ndarray) -> bool:
    """Whether a pose meets a target, and no joint is over its range."""
    index = character.skeleton.index
    R, p, center = find_places(character, root, turns)
    off = [float(np.linalg.norm(p[index(end)] - place)) for end, place in zip(ENDS, target.places, strict=True)]
    off.append(float(np.linalg.norm(center - target.center)))
    for end, turn in zip(TURNED, target.turns, strict=True):
        off.append(RADIAN_LENGTH * character.height * float(rotation.angle(rotation.from_matrix(R[index(end)]), turn)))
    return max(off) < ENOUGH * (1.0 + 1e-6)


def grow(character: poise.Character, more: int, count: int = 30) -> dict[str, float | int]:
    """Cost of a solve on a body whose spine has some joints more."""
    body = lengthen_spine(character, more)
    drawn, start = draw_targets(body, count, 1), find_start(body)
    solver = make_solver(body, drawn[0])
    timings = measure({"poise": lambda: [solve_one(solver, one, start) for one in drawn]}, 3)
    return {
        "joints": len(body.skeleton),
        "angles": len(CharacterModel(body, True, {}, 0.0).arrays.joint),
        "us_per_solve": 1e6 * timings.median("poise") / count,
        "solved": float(np.mean([is_met(body, one, *solve_one(solver, one, start)) for one in drawn])),
    }


def build_mink(
    character: poise.Character, links: list[Link]
) -> Callable[[ReachTarget], tuple[np.ndarray, np.ndarray]] | None:
    """mink's loop as a function of a target, which gives root and rotations; None where it is not installed."""
    try:
        import mink
        import mujoco
    except ImportError:
        return None
    model = mujoco.MjModel.from_xml_string(write_mjcf(links))
    index, names = character.skeleton.index, character.skeleton.names
    bodies = [model.body(names[index(end)]).id for end in ENDS]
    span = RADIAN_LENGTH * character.height
    dt, damping = _MINK["dt"], _MINK["damping"]
    cares = {"gain": _MINK["gain"], "lm_damping": _MINK["lm_damping"]}
    frames = [
        mink.FrameTask(
            model.body(body).name, "body", position_cost=1.0, orientation_cost=span if end in TURNED else 0.0, **cares
        )
        for end, body in zip(ENDS, bodies, strict=True)
    ]
    center = mink.ComTask(cost=1.0, **cares)
    tasks, limits = [*frames, center], [mink.ConfigurationLimit(model)]
    begin = np.zeros(model.nq)
    begin[3] = 1.0
    for hinge in itertools.chain(*(link.hinges for link in links)):
        begin[model.joint(hinge.name).qposadr[0]] = hinge.start
    configuration = mink.Configuration(model)
    feet = [ENDS.index(end) for end in TURNED]
    unturned = np.array([1.0, 0.0, 0.0, 0.0])

    def solve(target: ReachTarget) -> tuple[np.ndarray, np.ndarray]:
        configuration.update(begin)
        for k, frame in enumerate(frames):
            turn = target.turns[feet.index(k)] if k in feet else unturned
            frame.set_target(mink.SE3.from_rotation_and_translation(mink.SO3(turn), target.places[k]))
        center.set_target(target.center)
        data = configuration.data
        for _ in range(_ROUNDS):
            velocity = mink.solve_ik(configuration, tasks, dt, "daqp", damping=damping, limits=limits)
            configuration.integrate_inplace(velocity, dt)
            off = np.square(data.xpos[bodies] - target.places).sum(axis=1).max()
            if max(off, np.square(data.subtree_com[1] - target.center).sum()) < ENOUGH**2 and all(
                span * np.linalg.norm(frames[k].compute_error(configuration)[3:]) < ENOUGH for k in feet
            ):
                break
        return data.xpos[1].copy(), find_local(data.xquat[1:].copy(), links)

    return solve


def find_local(turns: np.ndarray, links: list[Link]) -> np.ndarray:
    """Rotations (J, 4) in their parents' frames, from those in the world."""
    local = [
        turns[i] if link.parent < 0 else rotation.multiply(rotation.conjugate(turns[link.parent]), turns[i])
        for i, link in enumerate(links)
    ]
    return np.array(local)


def lengthen_spine(character: poise.Character, more: int) -> poise.Character:
    """A character whose spine's first bone is some joints more, each without mass and with its part of the range."""
    if not more:
        return character
    skeleton = character.skeleton
    at = skeleton.index("spine")
    name = skeleton.names[at]
    own = character.limits[name]
    names = list(skeleton.names[: at + 1]) + [f"{name}_{k}" for k in range(more)] + list(skeleton.names[at + 1 :])
    # Children of the spine hang on the last of the new joints, and what comes after is numbered anew
    parents, offsets, tips = [], [], []
    children = np.flatnonzero(skeleton.parents == at)
    whole = skeleton.offsets[children].mean(axis=0)
    share = whole / (more + 1)
    for i in range(len(skeleton)):
        parent = int(skeleton.parents[i])
        parents.append(at + more if parent == at else parent + more * (parent > at))
        offsets.append(skeleton.offsets[i] - (share * more if parent == at else 0.0))
        tips.append(skeleton.tips[i])
        if i == at:
            parents += [at + k for k in range(more)]
            offsets += [share] * more
            tips += [np.full(3, np.nan)] * more
    made = poise.Skeleton(tuple(names), np.array(parents), np.array(offsets), np.array(tips), dict(skeleton.roles))
    part = JointLimits(own.lower / (more + 1), own.upper / (more + 1), rotation.identity(), rotation.identity())
    first = JointLimits(part.lower, part.upper, own.parent_zero, own.child_zero)
    extra = {f"{name}_{k}": part for k in range(more)}
    freedoms = {**character.freedoms, **{joint: np.eye(3) for joint in extra}}
    return replace(
        character, name=f"{character.name}+{more}", skeleton=made, limits={**character.limits, name: first, **extra},
        freedoms=freedoms,
    )  # fmt: skip
