"""How cost grows: with characters, and with joints in a chain and in a tree.

characters  a crowd on one thread, 4 steps a frame, poses read every frame; every count makes as many character-steps
joints      inverse dynamics of a clip a frame, and the coupling of a body all of whose joints but the first are given,
            a frame; a chain, and a tree in which every body carries two others
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from poise.bench.crowd import STEPS_A_FRAME, CrowdBench, PausedClock
from poise.bench.dynamics import random_state
from poise.bench.harness import measure
from poise.dynamics.body_kernels import Body
from poise.dynamics.newton_euler import compute_inverse_dynamics
from poise.dynamics.tree import Tree
from poise.stage.coupling.kernels import Coupling

COUNTS, JOINTS = (1, 10, 100, 1000), (5, 10, 20, 40, 60)


def run(
    counts: Sequence[int] = COUNTS, joints: Sequence[int] = JOINTS, rounds: int = 9, frames: int = 500
) -> dict[str, Any]:
    """Microseconds, and how far each growth is from a straight line through its two largest sizes.

    rounds  how often each is timed
    frames  of a clip, for the joints
    """
    return {**grow_characters(counts, rounds), **grow_joints(joints, rounds, frames)}


def grow_characters(counts: Sequence[int], rounds: int) -> dict[str, Any]:
    """Microseconds a character and step, by count; `characters_off_linear` is the largest difference from the most's.

    What a call of `Stage.advance` costs besides is shared by all: `advance_us`, told by one character alone, which is
    therefore left out of the difference.
    """
    most = max(counts)
    benches = {count: CrowdBench(count, [1], max(1, most // count)) for count in counts}
    contenders: dict[str, Callable[[], object]] = {
        str(count): bench.contenders["crowd 1"] for count, bench in benches.items()
    }
    clock = PausedClock()
    for bench in benches.values():
        bench.clock = clock
    timings = measure(contenders, rounds, clock=clock)
    us = {count: benches[count].us(timings, str(count)) for count in counts}
    within = {
        count: float(
            np.median(benches[count].us_rounds(timings, str(count)) / benches[most].us_rounds(timings, str(most)))
        )
        for count in counts
    }
    many = [count for count in counts if count >= 10]
    return {
        "characters": {str(count): us[count] for count in counts},
        "characters_to_most": {str(count): within[count] for count in counts},
        "characters_off_linear": max((abs(within[count] - 1.0) for count in many), default=None),
        "advance_us": STEPS_A_FRAME * (us[1] - us[most]) if 1 in us else None,
    }


def grow_joints(joints: Sequence[int], rounds: int, frames: int) -> dict[str, Any]:
    """Microseconds a frame, by number of joints, of a chain and of a tree."""
    from poise.bench.growth_kernels import couple_frames

    contenders: dict[str, Callable[[], object]] = {}
    for shape in ("chain", "tree"):
        for count in joints:
            tree = build_body(count, shape)
            state = random_state(tree, frames)
            wrench = np.zeros((frames, count, 6))
            contenders[f"dynamics {shape} {count}"] = partial(compute_inverse_dynamics, tree, state)
            contenders[f"coupling {shape} {count}"] = partial(
                couple_frames, *build_coupling(tree), state.rotations, state.angular_velocity,
                state.angular_acceleration,
                wrench,
            )  # fmt: skip
    timings = measure(contenders, rounds)
    found: dict[str, Any] = {}
    for law in ("dynamics", "coupling"):
        for shape in ("chain", "tree"):
            us = {count: 1e6 * timings.median(f"{law} {shape} {count}") / frames for count in joints}
            found[f"{law}_{shape}"] = {str(count): each for count, each in us.items()}
            found[f"{law}_{shape}_us_per_joint"] = us[max(joints)] / max(joints)
    found["spread"] = max(timings.spread(name) for name in contenders)
    return found


def build_body(joints: int, shape: str, seed: int = 0) -> Tree:
    """A chain, or a tree in which body i hangs from body (i - 1) // 2; each a kilogram or so of any form."""
    rng = np.random.default_rng(seed)
    parents = [i - 1 if shape == "chain" else (i - 1) // 2 for i in range(joints)]
    cloud = rng.normal(size=(joints, 8, 3)) * 0.05
    cloud -= cloud.mean(axis=1, keepdims=True)
    inertias = np.sum(cloud**2, axis=(1, 2))[:, None, None] * np.eye(3) - np.einsum("jka,jkb->jab", cloud, cloud)
    names = tuple(f"body {i}" for i in range(joints))
    masses, offsets = rng.uniform(0.5, 2.0, joints), rng.normal(size=(joints, 3)) * 0.1
    return Tree(names, np.array([-1, *parents[1:]]), offsets, masses, np.zeros((joints, 3)), inertias)


def build_coupling(tree: Tree) -> tuple[Body, Coupling]:
    """Return a body whose joints are all given but the first, and its coupling."""
    count = len(tree.parents)
    given = np.arange(count) > 0
    body = Body(
        joints=count, parents=tree.parents, offsets=tree.offsets, masses=tree.masses, centers=tree.centers,
        inertias=tree.inertias,
    )  # fmt: skip
    return body, Coupling(joints=count, gain=1.0, given=given, accelerating=given, touched=given)
