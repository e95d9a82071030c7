"""Clips cut, joined, warped, mirrored, looped and put on other bodies; contacts, forces and the dynamics below them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from helpers.clips import random_clip, random_skeleton

from .cases import add_case, case
from .cases_files import describe
from .names import find, poise
from .scenes import human, make_clip

BODY = {"preset": "full"}


def walk(seconds: float = 3.0) -> Any:
    return make_clip("walk", human(**BODY).skeleton, seconds, 60.0)


def wave() -> Any:
    return make_clip("wave", human(**BODY).skeleton, 2.0, 60.0)


EDITS: dict[str, Callable[[], Any]] = {
    "trim": lambda: find("trim")(walk(), 0.5, 1.7),
    "resample": lambda: find("resample")(walk(), 24.0),
    "resample by slerp": lambda: find("resample")(walk(), 47.0, "slerp"),
    "change of speed": lambda: find("change_speed")(walk(), 1.3),
    "warp": lambda: find("warp")(walk(), np.array([0.0, 1.0, 2.5]), np.array([0.0, 1.4, 2.2])),
    "mirror": lambda: find("mirror")(walk()),
    "concatenate": lambda: find("concatenate")([walk(), wave(), walk()], 0.3),
    "layer": lambda: find("layer")(walk(), wave(), ["leftUpperArm", "rightUpperArm"]),
    "blend": lambda: find("blend")(wave(), find("mirror")(wave()), 0.4),
    "translate and turn": lambda: find("turn")(find("translate")(walk(), [0.3, 0.0, 1.0]), 0.7),
    "place": lambda: find("place")(walk(), [1.0, 0.0, 2.0], 0.4),
    "borrow": lambda: find("borrow")(walk(), wave(), "rightArm"),
    "resample of shifts": lambda: find("resample")(random_clip(np.random.default_rng(1)), 300.0),
}
for _name, _make in EDITS.items():
    add_case(f"motion {_name}", _make)


@case("motion of a spline and its rates")
def ask_spline() -> Any:
    spline, times = find("ClipSpline")(walk()), np.linspace(0.0, 2.9, 77)
    rates = [getattr(spline, name)(times) for name in ("velocity", "acceleration")]
    return {
        "pose": spline.pose(times),
        "rates": [list(each) for each in rates],
        "slerp": find("interpolate")(walk(), times),
    }


@case("motion of a clip between its frames")
def ask_clip() -> Any:
    clip, times = walk(), np.linspace(-0.2, 3.3, 55)
    gestures = [
        poise.gestures.clap(),
        poise.gestures.breathe(),
        poise.gestures.arm_swing(1.0),
        poise.gestures.cue("left"),
    ]
    return {"clip": clip.pose(times), "world": list(clip.world), "gestures": [
        each.bake(human().skeleton, 1.0, 50.0) if hasattr(each, "bake") else None for each in gestures]}  # fmt: skip


for _name in ("idle", "walk", "squat", "jump", "wave"):
    add_case(
        f"motion of its own, {_name}", lambda name=_name: describe(make_clip(name, human(1.6, 55.0).skeleton, 4.0))
    )
for _name in ("walk", "squat", "jump"):
    add_case(f"motion contacts, {_name}", lambda name=_name: find("find_contacts")(
        make_clip(name, human(**BODY).skeleton, 4.0)))  # fmt: skip


def retarget(make: Callable[[], Any], height: float, mass: float, preset: str = "full", **options: Any) -> Any:
    return describe(find("retarget_clip")(make(), human(height, mass, preset=preset).skeleton, **options))


add_case("motion put on a child", retarget, walk, 1.2, 24.0)
add_case("motion put on a giant", retarget, walk, 2.2, 140.0)
add_case("motion put on fewer joints", retarget, wave, 1.7, 70.0, "mix")


def compute_forces(name: str, **options: Any) -> Any:
    body = human(**BODY)
    return poise.compute_forces(make_clip(name, body.skeleton, 4.0), body, **options)


for _name in ("walk", "squat", "jump", "idle"):
    add_case(f"forces of {_name}", compute_forces, _name)
add_case("forces of walk, cut off", compute_forces, "walk", cutoff=6.0)
add_case("forces of walk, unfiltered", compute_forces, "walk", cutoff=float("inf"))
add_case("forces of walk, the paper's shares", compute_forces, "walk", shares="paper")


# Dynamics of one frame and of many.


def draw_state(tree: Any, rng: Any, frames: tuple[int, ...]) -> Any:
    """A state of a tree: places, turns, velocities and accelerations at random."""
    joints = len(tree.parents)
    return poise.TreeState(
        rng.normal(size=(*frames, 3)), poise.rotation.random(rng, (*frames, joints)), rng.normal(size=(*frames, 3)),
        rng.normal(size=(*frames, joints, 3)), rng.normal(size=(*frames, 3)), rng.normal(size=(*frames, joints, 3)),
    )  # fmt: skip


def compute_dynamics(make: Callable[[], Any], frames: tuple[int, ...]) -> Any:
    tree = make()
    rng = np.random.default_rng(3)
    state = draw_state(tree, rng, frames)
    root, turns = state.root, state.rotations
    found = {
        "world": poise.compute_world_pose(tree, root, turns),
        "center": poise.compute_center_of_mass(tree, root, turns),
        "jacobian": poise.compute_center_of_mass_jacobian(tree, root, turns),
        "inertia": poise.compute_joint_space_inertia(tree, root, turns),
        "bias": poise.compute_bias(tree, state),
        "forces": find("compute_inverse_dynamics")(tree, state),
        "momentum": find("compute_momentum")(tree, state),
        "velocity": find("compute_world_velocity")(tree, state),
    }
    found["point"] = poise.compute_point_jacobian(tree, root, turns, len(tree.parents) - 1, np.array([0.1, 0.2, 0.3]))
    return found


def build_odd_tree() -> Any:
    skeleton = random_skeleton(np.random.default_rng(6), 9)
    return poise.build_tree(poise.Character.from_skeleton(skeleton, 40.0))


def build_human_tree() -> Any:
    return poise.build_tree(human(**BODY))


for _frames in ((), (5,), (2, 3)):
    add_case(f"dynamics of a human, {_frames}", compute_dynamics, build_human_tree, _frames)


@case("rotations")
def compute_rotations() -> Any:
    """What `poise.rotation` does to turns of every size."""
    rng, r = np.random.default_rng(8), poise.rotation
    a, b = r.random(rng, (40,)), r.random(rng, (40,))
    v = rng.normal(size=(40, 3)) * np.geomspace(1e-9, 3.0, 40)[:, None]
    found = {
        "exp": r.exp(v),
        "log": r.log(a),
        "product": r.multiply(a, b),
        "turned": r.rotate(a, v),
        "matrix": r.to_matrix(a),
    }
    for name in (
        "conjugate",
        "inverse",
        "normalize",
        "normalise",
        "to_rotvec",
        "canonical",
        "continuous",
        "make_continuous",
    ):
        if hasattr(r, name):
            found[name] = getattr(r, name)(a)
    for name in ("slerp", "blend"):
        if hasattr(r, name):
            found[name] = getattr(r, name)(a, b, 0.3)
    return {
        **found,
        "again": r.from_matrix(r.to_matrix(a)),
        "axis": r.from_axis_angle(v / 3.0 + 1.0, rng.normal(size=40)),
    }


@case("dynamics within limits")
def solve_limited() -> Any:
    """Accelerations near wanted ones, with torques in their ranges."""
    rng, found = np.random.default_rng(5), []
    for n in (3, 9, 20):
        root = rng.normal(size=(n, n))
        H, b, wanted = root @ root.T + np.eye(n), rng.normal(size=n), 3.0 * rng.normal(size=n)
        goals = [(rng.normal(size=(2, n)), rng.normal(size=2)), (rng.normal(size=(1, n)), 0.5)]
        found.append(find("limit_accelerations")(H, b, -2.0 * np.ones(n), 2.0 * np.ones(n), wanted, goals))
    return found


@case("motion arranged")
def arrange() -> Any:
    """Stretches of two clips in an order, with transitions."""
    cut = find("Segment")
    return find("join_segments")([cut(walk(), 0.2, 1.5), cut(wave(), 0.0, 1.6), cut(walk(), 0.5, 2.0)], 0.3, 60.0)
