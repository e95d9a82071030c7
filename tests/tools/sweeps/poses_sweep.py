"""Random poses on one leg, on two and on tilted feet, measured by code that shares nothing with the solver.

The joints are placed by a loop over the skeleton with SciPy's rotations, the centre of mass is a sum over segments, and
the support polygon is SciPy's convex hull of those vertices of the drawn feet that are on the ground.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy.spatial.transform import Rotation

import poise
from helpers.kinematics import margin_in_hull, place_joints
from poise.body.bodies import HEIGHT, MASS, PHYSIQUES, build_body, list_extras
from poise.body.character import Character
from poise.body.geometry.mannequin import build_mannequin
from poise.body.geometry.mesh import Mesh
from poise.jobs.pose.job import PoseResult
from tools.sweeps.page import table

PAGE = Path(__file__).parents[3] / "docs" / "pose-sweeps.md"
TITLE = """# Random poses

Written by `make sweep NAME=poses`. Joints, centre of mass, drawn soles and their convex hull are computed by the sweep
itself, from the pose that was written.
"""
COUNT, TILTED = 500, 60
TOUCHES = 0.003  # m over the lowest vertex of the feet that stand
MOST_OFF, MOST_UNDER = 0.002, 0.002  # m: of the margin that is reported, and under the floor
MOST_SHORT = 0.001  # m: that the margin is less than the one that was aimed at
ABOUT = (
    "Each pose stands on the left, the right or both feet and reaches for one to three random targets (hands, the free "
    "foot), on nine kinds of body; the tilted ones start on a foot that is pitched by up to 35 degrees. *Outside*: the "
    f"centre of mass is outside the hull of the drawn vertices within {1000 * TOUCHES:g} mm of the ground. *Off*: the "
    f"reported margin differs from that by more than {1000 * MOST_OFF:g} mm. *Under*: a drawn vertex of anything but "
    f"the feet that stand is more than {1000 * MOST_UNDER:g} mm below the ground. *Silent*: outside, under, or with a "
    f"margin that is {1000 * MOST_SHORT:g} mm less than its aim, and no warning says so."
)


@dataclass
class Measured:
    """One pose. margin, off, under, short (of the margin's aim): m; told: whether a warning says what is missed."""

    kind: str
    margin: float
    off: float
    under: float
    short: float
    told: bool
    error: float = 0.0

    @property
    def is_silent(self) -> bool:
        """Whether an aim is missed without a word."""
        is_missed = self.margin < 0.0 or self.under > MOST_UNDER or self.short > MOST_SHORT
        return is_missed and not self.told


def measure(character: Character, meshes: dict[str, Mesh], found: PoseResult, stand: str) -> tuple[float, float]:
    """The margin (m), and how far anything drawn is under the ground (m); of the last frame."""
    clip, skeleton = found.clip, character.skeleton
    places, turns = place_joints(character.skeleton, clip.root[-1], clip.rotations[-1])
    total, center = 0.0, np.zeros(3)
    for segment in character.segments:
        j = skeleton.index(segment.joint)
        total += segment.inertia.mass
        center += segment.inertia.mass * (places[j] + turns[j].apply(np.array(segment.inertia.center)))
    center /= total
    feet, others = [], []
    for name, mesh in meshes.items():
        j = skeleton.index(name)
        points = places[j] + turns[j].apply(np.array(mesh.vertices))
        sides = [side for side in ("left", "right") if j in skeleton.descendants(skeleton.index(side + "Foot"))]
        (feet if sides and stand in ("both", sides[0]) else others).append(points)
    soles = np.concatenate(feet)
    ground = soles[:, 1].min()
    region = soles[soles[:, 1] < ground + TOUCHES][:, [0, 2]]
    under = max(ground - float(points[:, 1].min()) for points in others)
    return margin_in_hull(region, center[[0, 2]]), max(under, 0.0)


def make_case(rng: np.random.Generator, number: int) -> tuple[str, str, dict[str, tuple[float, float, float]]]:
    """The body, the feet that stand, and random targets."""
    name = list(PHYSIQUES)[number % len(PHYSIQUES)]
    stand = ("left", "right", "left", "right", "both")[int(rng.integers(5))]
    free = [] if stand == "both" else ["rightFoot" if stand == "left" else "leftFoot"]
    hands = ["rightHand"] if name == "one-arm" else ["leftHand", "rightHand"]
    reach = {}
    for joint in rng.permutation([*hands, *free])[: int(rng.integers(1, 4))]:
        side = 1.0 if joint.startswith("left") else -1.0
        if joint.endswith("Hand"):
            spot = (side * rng.uniform(-0.2, 0.6), rng.uniform(0.03, 1.9), rng.uniform(-0.3, 0.8))
        else:
            spot = (side * rng.uniform(-0.05, 0.5), rng.uniform(0.04, 0.8), rng.uniform(-0.5, 0.6))
        reach[str(joint)] = tuple(round(float(x), 3) for x in spot)
    return name, stand, reach


def pitch_foot(character: Character, side: str, degrees: float) -> poise.Clip:
    """A clip of one frame: at ease, one foot pitched about its ankle, toes down where positive."""
    still = poise.pose(character=character)
    foot, rotations = character.skeleton.index(side + "Foot"), still.clip.rotations.copy()
    own = Rotation.from_quat(np.roll(rotations[0, foot], -1)) * Rotation.from_euler("x", degrees, degrees=True)
    rotations[0, foot] = np.roll(own.as_quat(), 1)
    return still.clip.replace(rotations=rotations)


def run_case(number: int, seed: int = 1) -> Measured:
    """One random pose, measured. Numbers from `COUNT` on start on a tilted foot."""
    rng = np.random.default_rng([seed, number])
    name, stand, reach = make_case(rng, number)
    if number < COUNT:
        found, character = poise.pose(reach, stand=stand, body=name), build_body(name)
        kind = "two legs" if stand == "both" else "one leg"
    else:
        stand, character = ("left", "right")[number % 2], build_body(name)
        degrees = float(rng.uniform(12.0, 35.0) * rng.choice([-1.0, 1.0]))
        hand = "rightHand"
        start = pitch_foot(character, stand, degrees)
        found = poise.pose({hand: reach[hand]} if hand in reach else {}, stand=stand, character=None, start=start,
                           mass=character.mass, height=character.height)  # fmt: skip
        character, kind = found.character, "heel" if degrees < 0.0 else "toes"
    mass = character.mass - sum(weight for _, _, weight in list_extras(name, HEIGHT, MASS))
    margin, under = measure(character, build_mannequin(character.skeleton, mass), found, stand)
    told = any("centre of mass is" in note or "under the floor" in note for note in found.notes)
    off, short = abs(found.figures["com_margin_m"] - margin), found.figures["margin_used_m"] - margin
    return Measured(kind, margin, off, under, short, told, found.figures["reach_error_m"])


def sweep(count: int = COUNT, tilted: int = TILTED) -> tuple[str, int]:
    """Text of the section, and how many poses missed an aim."""
    cases = [*range(count), *range(COUNT, COUNT + tilted)]
    runs = [run_case(number) for number in cases]
    rows, bad = [], 0
    for kind in ("one leg", "two legs", "heel", "toes"):
        of = [run for run in runs if run.kind == kind]
        if not of:
            continue
        outside = [run for run in of if run.margin < 0.0]
        under = [run for run in of if run.under > MOST_UNDER]
        off = [run for run in of if run.off > MOST_OFF]
        silent = [run for run in of if run.is_silent]
        bad += len(silent) + len(off)
        rows.append(
            (kind, len(of), len(outside), f"{1000 * min(run.margin for run in of):.1f}", len(off),
             f"{1000 * max(run.off for run in of):.1f}", len(under), f"{1000 * max(run.under for run in of):.1f}",
             len(silent), sum(run.error < 1e-3 for run in of))
        )  # fmt: skip
    head = ("stands on", "poses", "outside", "least margin, mm", "off", "most off, mm", "under", "deepest, mm", 
            "silent", "reached")  # fmt: skip
    return f"{ABOUT}\n\n{table(head, rows)}", bad


if __name__ == "__main__":
    import sys

    text, missed = sweep(*map(int, sys.argv[1:3]))
    print(text, math.nan if missed is None else missed)
