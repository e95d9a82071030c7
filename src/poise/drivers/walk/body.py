"""What a walk asks of a body: what it carries, which way it faces, where it is."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from poise.body.character import Character
from poise.body.roles import SIDES
from poise.drivers.body import Body
from poise.drivers.root.anchor import MovingBody
from poise.dynamics.tree import build_tree
from poise.walking.feet.foot import WalkingFoot
from poise.world.forces import Load

_LEAST = 1e-6  # kg: a load that is less is none
# Of the leg, that hips are over feet at least; the cosine of what a trunk leans at most; m/s of the centre, with a leg
# of 1 m, and rad/s of the root, which runners do not reach; of the leg, that soles are over the ground at most.
_CROUCHED, _UPRIGHT, _FAST, _SPUN, _IN_AIR = 0.5, 0.5, 5.0, 10.0, 0.3
# What of a body is compared with another's.
FELT = (
    "hips",
    "spine",
    "chest",
    "upperChest",
    "head",
    *(f"{side}{part}" for side in SIDES for part in ("LowerLeg", "Foot")),
)


def find_places(character: Character, root: np.ndarray, rotations: np.ndarray) -> np.ndarray:
    """(J, 3) m, joints in the world."""
    from poise.dynamics.body_kernels import pose_bodies

    tree = build_tree(character)
    R, p = np.zeros((len(tree), 3, 3)), np.zeros((len(tree), 3))
    pose_bodies(tree.parents, tree.offsets, root, rotations, R, p)
    return p


def fade(off: np.ndarray, x: float, span: float) -> np.ndarray:
    """(3, 3) what is left of a place, a velocity and an acceleration after x seconds, with its rates."""
    u = min(max(x / span, 0.0), 1.0)
    # Quintics that end in nothing: from place 1, from slope 1, from curvature 1; see `part_kernels.die_away`.
    rows = np.array(
        [
            [1.0 - u**3 * (10.0 - 15.0 * u + 6.0 * u * u), u - u**3 * (6.0 - 8.0 * u + 3.0 * u * u),
             0.5 * u * u * (1.0 - u) ** 3],
            [-30.0 * u * u * (1.0 - u) ** 2, 1.0 - u * u * (18.0 - 32.0 * u + 15.0 * u * u),
             u * (1.0 - u) ** 3 - 1.5 * u * u * (1.0 - u) ** 2],
            [-60.0 * u * (1.0 - u) * (1.0 - 2.0 * u), -u * (36.0 - 96.0 * u + 60.0 * u * u),
             (1.0 - u) ** 3 - 6.0 * u * (1.0 - u) ** 2 + 3.0 * u * u * (1.0 - u)],
        ]
    )  # fmt: skip
    scaled = rows @ (np.array([[1.0], [span], [span * span]]) * off)
    return np.asarray(scaled / np.array([[1.0], [span], [span * span]]))


def find_hindrance(feet: Sequence[WalkingFoot], body: Body) -> str | None:
    """Why a body cannot begin to walk from how it is, in words; None: it is on its feet."""
    leg, index = min(foot.leg for foot in feet), body.skeleton.index
    hips = np.mean([body.p[index(side + "UpperLeg")] for side in SIDES], axis=0)
    lowest = min(float(body.p[foot.joint, 1]) for foot in feet)
    rise = body.skeleton.find_role("head")
    trunk = (body.p[rise] if rise is not None else body.c) - hips
    if hips[1] - lowest < _CROUCHED * leg or trunk[1] < _UPRIGHT * np.linalg.norm(trunk):
        return "lies or bends too low"
    fast = float(np.linalg.norm(body.dc)) / np.sqrt(leg)
    if fast > _FAST or max(float(np.abs(body.om[0]).max()), 0.4 * float(np.abs(body.state.w).max())) > _SPUN:
        return "is flung about"
    under = [body.p[foot.joint] + body.R[foot.joint] @ corner for foot in feet for corner in foot.corners]
    gap = min(float(at[1]) - body.floor.find(float(at[0]), float(at[2]), float(at[1]) + 0.1)[0] for at in under)
    return "is in the air" if gap > _IN_AIR * leg else None


def find_heading_of(body: Body) -> float:
    """rad, which way a body's hips face."""
    ahead = body.R[body.skeleton.index("hips")] @ np.array([0.0, 0.0, 1.0])
    return float(np.arctan2(ahead[0], ahead[2]))


def find_loads(body: Body) -> np.ndarray:
    """(J, 4) what each joint carries besides its own: kg, and kg m in its axes."""
    own, tree = build_tree(body.character), body.tree
    found = np.zeros((len(tree), 4))
    found[:, 0] = tree.masses - own.masses
    found[:, 1:] = tree.masses[:, None] * tree.centers - own.masses[:, None] * own.centers
    found[np.abs(found[:, 0]) < _LEAST] = 0.0
    return found


def list_loads(character: Character, loads: np.ndarray) -> list[Load]:
    """Loads (J, 4) as what they are."""
    names = character.skeleton.names
    return [
        Load(names[i], float(row[0]), tuple(float(x) for x in row[1:] / row[0]))  # type: ignore[arg-type]
        for i, row in enumerate(loads) if row[0] > _LEAST
    ]  # fmt: skip


def moving(body: Body) -> MovingBody:
    """A body's arrays, as an anchor reads and writes them."""
    return MovingBody(body.state.root, body.state.v, body.a, body.state.q, body.state.w, body.dw)
