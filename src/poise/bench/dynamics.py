"""Inverse dynamics of a whole clip, beside Pinocchio's `rnea` called from Python frame by frame.

Both get the same human, the same poses, velocities and accelerations, already in their own order and frames, and the
answers are compared before the clock starts. Pinocchio has a free-flyer and ball joints: linear rows first, xyzw,
the root's velocity and spatial acceleration in body axes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import poise
from poise import rotation
from poise.bench.harness import measure
from poise.dynamics.newton_euler import compute_inverse_dynamics
from poise.dynamics.tree import GRAVITY, Tree, TreeState, build_tree

XYZW = [1, 2, 3, 0]


def run(frames: int = 2000, rounds: int = 7) -> dict[str, float | int | None]:
    """Microseconds a frame; `pinocchio_ratio` is how many times as long Pinocchio takes, null where it is missing."""
    tree = build_tree(poise.Character.human())
    state = random_state(tree, frames)
    contenders: dict[str, Callable[[], object]] = {"poise": lambda: compute_inverse_dynamics(tree, state)}
    difference = None
    peer = build_peer(tree)
    if peer is not None:
        q, v, a = peer_state(state)
        contenders["pinocchio"] = lambda: [peer(*row) for row in zip(q, v, a, strict=True)]
        ours = peer_force(tree, state)
        theirs = np.array([peer(*row).copy() for row in zip(q, v, a, strict=True)])
        difference = float(np.abs(ours - theirs).max() / np.abs(theirs).max())
    timings = measure(contenders, rounds)
    return {
        "joints": len(tree),
        "frames": frames,
        "us_per_frame": 1e6 * timings.median("poise") / frames,
        "pinocchio_us_per_frame": 1e6 * timings.median("pinocchio") / frames if peer else None,
        "pinocchio_ratio": timings.ratio("pinocchio", to="poise") if peer else None,
        "relative_difference": difference,
    }


def random_state(tree: Tree, frames: int, seed: int = 0) -> TreeState:
    """Any poses, speeds and accelerations: neither side's time depends on them."""
    rng = np.random.default_rng(seed)
    turns = rotation.exp(rng.normal(size=(frames, len(tree), 3)))
    points = [rng.normal(size=(frames, 3)) for _ in range(3)]
    rates = [rng.normal(size=(frames, len(tree), 3)) for _ in range(2)]
    return TreeState(points[0], turns, points[1], rates[0], points[2], rates[1])


def build_peer(tree: Tree) -> Any:
    """Pinocchio's `rnea` for this tree as a function of q, v, a; None where it is not installed."""
    try:
        import pinocchio as pin
    except ImportError:
        return None
    model = pin.Model()
    model.gravity.linear = np.array(GRAVITY)
    joints: list[int] = []
    for i, parent in enumerate(tree.parents):
        kind = pin.JointModelFreeFlyer() if parent < 0 else pin.JointModelSpherical()
        place = pin.SE3(np.eye(3), np.zeros(3) if parent < 0 else np.array(tree.offsets[i]))
        joints.append(model.addJoint(0 if parent < 0 else joints[parent], kind, place, tree.names[i]))
        inertia = pin.Inertia(float(tree.masses[i]), np.array(tree.centers[i]), np.array(tree.inertias[i]))
        model.appendBodyToJoint(joints[i], inertia, pin.SE3.Identity())
    data = model.createData()
    return lambda q, v, a: pin.rnea(model, data, q, v, a)


def peer_state(state: TreeState) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """q, v, a in Pinocchio's order. A point's acceleration minus w x v is the spatial one of the root."""
    frames = len(state.root)
    to_body = rotation.conjugate(state.rotations[:, 0])
    linear = rotation.rotate(to_body, state.velocity)
    spatial = rotation.rotate(to_body, state.acceleration) - np.cross(state.angular_velocity[:, 0], linear)
    q = np.concatenate([state.root, state.rotations[..., XYZW].reshape(frames, -1)], axis=1)
    v = np.concatenate([linear, state.angular_velocity.reshape(frames, -1)], axis=1)
    a = np.concatenate([spatial, state.angular_acceleration.reshape(frames, -1)], axis=1)
    return q, v, a


def peer_force(tree: Tree, state: TreeState) -> np.ndarray:
    """Poise's answer in Pinocchio's order: the root's force in body axes, then all torques."""
    found = compute_inverse_dynamics(tree, state)
    root = rotation.rotate(rotation.conjugate(state.rotations[:, 0]), found.force)
    return np.concatenate([root, found.torque.reshape(len(root), -1)], axis=1)
