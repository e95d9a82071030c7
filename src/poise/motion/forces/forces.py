"""What a motion asks of a body: ground force, pressure centre and joint torques, from motion alone.

    poses -> low-pass, differentiate twice -> made to keep the laws of flight and ground (`center_path.py`) -> inverse
    dynamics with nothing touching the body: what is left at the root is the ground's force -> shared between the feet
    that are down -> inverse dynamics again, feet pushed: torques

Only derivatives are filtered, never the poses that are written anywhere; glitches are bridged in them
(`motion/contacts/glitches.py`).
The cut-off is chosen from the motion of the
centre of mass, whose acceleration *is* the ground force, and from how its flights fall, unless the caller gives one:
then that is all that is done to the motion.
"""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from poise.body.character import Character
from poise.body.roles import SIDES
from poise.body.skeleton import Skeleton
from poise.dynamics.ground_reaction import (
    FootForces,
    GroundReaction,
    find_pressure,
    root_wrench,
    split_by_pivot,
    split_by_supporting_ratios,
)
from poise.dynamics.kinematics import compute_center_of_mass
from poise.dynamics.newton_euler import compute_inverse_dynamics
from poise.dynamics.tree import GRAVITY, Tree, TreeState, build_tree
from poise.errors import InputError, unknown_name
from poise.frozen import Portable
from poise.kinds import checked
from poise.motion.clip import Clip
from poise.motion.contacts.contacts import Contacts, find_contacts
from poise.motion.forces.center_path import CenterPath, find_calm, find_center_path, keep_laws
from poise.motion.forces.ground_wrenches import (
    OTHERS,
    PATHS,
    ease_in,
    find_all_soles,
    find_foot_soles,
    push_feet,
    push_others,
)
from poise.spatial import rotation
from poise.spatial.cutoff import choose_cutoff
from poise.spatial.derivative import smooth_positions, smooth_rotations
from poise.spatial.filter import uniform_rate

# Ways of sharing the ground's force: so that its moment is right too, or by the strength paper's eq 2.
SHARES = ("moments", "paper")


@dataclass(frozen=True, eq=False)
class ClipForces(Portable):
    """The forces of a clip, frame by frame, in the clip's own world axes.

    times     (F,) s
    cutoff    Hz of the low-pass on derivatives; the Nyquist rate where nothing had to be filtered
    cutoff_reason  why, in a sentence
    center    (F, 3) m, centre of mass
    path      how the centre of mass was made to keep the laws of flight and ground; None where it kept them, or where
              a cut-off was given
    reaction  net ground force and pressure centre
    feet      its shares on the left and the right foot
    others    its shares on knees and hands, in the order of `OTHERS` of `ground_wrenches.py`; None with shares of
    moments
    torque    (F, J, 3) N m at each joint, of the parent on the body, in the body's axes; the root's row is what no
              contact of the feet explains
    residual  (F, 3) N, force that no contact of the feet explains
    contacts  when the feet are down
    tree, state  the body, and its poses, velocities and accelerations as used
    """

    times: np.ndarray
    cutoff: float
    cutoff_reason: str
    center: np.ndarray
    path: CenterPath | None
    reaction: GroundReaction
    feet: FootForces
    torque: np.ndarray
    residual: np.ndarray
    contacts: Contacts
    tree: Tree
    state: TreeState
    others: FootForces | None = None


@checked
def compute_forces(
    clip: Clip, character: Character, cutoff: float | None = None, shares: str = "moments"
) -> ClipForces:
    """Ground force, pressure centre and joint torques of a clip on a character with the same skeleton.

    cutoff  Hz of the low-pass before differentiating. None: chosen from the data. `inf`: nothing is filtered.
    shares  how supports share the ground's force. "moments": both feet, so that its moment is right as well. "paper":
            feet, knees and hands by eq 2 of the strength paper, which hardly sees where the centre of mass is.
    """
    if shares not in SHARES:
        raise unknown_name("way of sharing", shares, SHARES)
    if character.skeleton.names != clip.skeleton.names:
        raise InputError(
            "the character's joints are not the clip's. Build it with Character.from_skeleton(clip.skeleton)."
        )
    if len(clip) < 3:
        raise InputError(f"forces need accelerations, so at least 3 frames; the clip has {len(clip)}.")
    tree = build_tree(character)
    contacts = find_contacts(clip)
    center = bridged = compute_center_of_mass(tree, *clip.poses)
    if clip.glitches:
        bridged = compute_center_of_mass(tree, *clip.bridged)
    reason, path = (f"{cutoff:g} Hz was given.", None) if cutoff is not None else ("", None)
    if cutoff is None:
        rate = uniform_rate(clip.times)
        choice = choose_cutoff(bridged, rate)
        path = find_center_path(bridged, rate, contacts.flight, choice.hz)
        cutoff, reason = choice.hz, choice.reason
        if path is not None:  # limbs are at least as fast as the body that they throw
            cutoff, reason = max(choice.hz, path.hz), path.reason
    state = compute_kinematics(clip, cutoff)
    if path is not None:
        contacts = contacts.touching(~path.flight)
        if choice.hz < cutoff and path.flight.any():  # away from flights, as calm as without them
            state = _blend(state, compute_kinematics(clip, choice.hz), find_calm(path.flight, rate))
        path = dataclasses.replace(path, place=path.place + (center - bridged))
        state = keep_laws(tree, state, path, rate)
        center = path.place
    free = compute_inverse_dynamics(tree, state)
    reaction = find_pressure(tree, *root_wrench(state, free), height=_floor(contacts))
    others = None
    wrenches = np.zeros((len(clip), len(clip.skeleton), 6))
    if shares == "moments":
        feet = split_by_pivot(reaction, center, find_foot_soles(clip), ease_in(contacts, contacts.foot))
    else:
        soles, down = find_all_soles(clip, contacts)
        every = split_by_supporting_ratios(reaction, center, soles, ease_in(contacts, down), PATHS)
        feet, others = every.pick(slice(0, 2)), every.pick(slice(2, None))
        push_others(wrenches, clip, others)
    push_feet(wrenches, clip, feet)
    driven = compute_inverse_dynamics(tree, state, wrenches)
    return ClipForces(
        clip.times, cutoff, reason, center, path, reaction, feet, driven.torque, driven.force, contacts, tree, state,
        others,
    )  # fmt: skip


def compute_kinematics(clip: Clip, cutoff: float) -> TreeState:
    """Poses, velocities and accelerations of every frame, low-passed at `cutoff` Hz before differentiating (W5)."""
    bridged = clip.bridged
    root = smooth_positions(bridged.root, clip.times, cutoff)
    turns = smooth_rotations(bridged.rotations, clip.times, cutoff)
    place, turned = root.value, turns.value
    if clip.glitches:  # back to where the clip is
        place = place + (clip.root - bridged.root)
        away = rotation.multiply(clip.rotations, rotation.conjugate(bridged.rotations))
        turned = rotation.make_continuous(rotation.multiply(away, turned))
    state = (place, turned, root.velocity, turns.velocity, root.acceleration, turns.acceleration)
    if clip.shifts is None:
        return TreeState(*state)
    slides = smooth_positions(clip.shifts, clip.times, cutoff)
    return TreeState(*state, slides.value, slides.velocity, slides.acceleration)


def _blend(lively: TreeState, calm: TreeState, share: np.ndarray) -> TreeState:
    """The lively state with velocities and accelerations that are by a share (F,) those of the calm one."""
    rates = ["velocity", "angular_velocity", "acceleration", "angular_acceleration"]
    rates += ["shift_velocity", "shift_acceleration"] if lively.shift is not None else []
    mixed = {}
    for name in rates:
        a, b = getattr(lively, name), getattr(calm, name)
        mixed[name] = a + share.reshape(-1, *(1,) * (a.ndim - 1)) * (b - a)
    return dataclasses.replace(lively, **mixed)


def say_idle_cutoff(cutoff: float | None, fps: float) -> str | None:
    """What to say of a low-pass at a frequency (Hz) that filters nothing of so many frames a second; None: it does."""
    if cutoff is None or not math.isfinite(cutoff) or cutoff < 0.5 * fps:
        return None
    return f"{cutoff:g} filters nothing: at {fps:.4g} Hz nothing is faster than half of that."


def describe_forces(forces: ClipForces, character: Character) -> dict[str, Any]:
    """The figures of a clip's forces, under the names that the command line uses."""
    vertical = forces.reaction.force[:, 1] / (forces.tree.mass * float(np.linalg.norm(GRAVITY)))
    sizes = np.linalg.norm(forces.torque, axis=-1).max(axis=0)
    labels = character.skeleton.labels
    return {
        "mass_kg": character.mass,
        "stature_m": character.height,
        "peak_vertical_bw": float(vertical.max()),
        "cutoff_hz": float(forces.cutoff),
        "ground_height_m": forces.contacts.ground_height,
        "flight_share": float(forces.contacts.flight.mean()),
        "center_cutoff_hz": float(forces.cutoff if forces.path is None else forces.path.hz),
        "center_moved_m": 0.0 if forces.path is None else float(np.linalg.norm(forces.path.moved, axis=1).max()),
        "shares": SHARES[forces.others is not None],
        "peak_torque_nm": {labels[i]: float(sizes[i]) for i in range(1, len(labels))},
    }


def tabulate_forces(forces: ClipForces, skeleton: Skeleton) -> dict[str, np.ndarray]:
    """The series of `poise forces`, column by column: ground, centre of mass, and a torque's size a joint.

    The root's torque is what no contact of the feet explains. Joints go by their role, or their own name without one.
    """
    force, pressure = forces.reaction.force, forces.reaction.pressure
    columns = {
        "time": forces.times,
        **{f"grf_{axis}": force[:, i] for i, axis in enumerate("xyz")},
        "cop_x": pressure[:, 0],
        "cop_z": pressure[:, 2],
        **{f"com_{axis}": forces.center[:, i] for i, axis in enumerate("xyz")},
    }
    for i, label in enumerate(skeleton.labels):
        columns[f"{label}_torque"] = np.linalg.norm(forces.torque[:, i], axis=-1)
    for side, name in enumerate(SIDES):
        for i, axis in enumerate("xyz"):
            columns[f"{name}Foot_grf_{axis}"] = forces.feet.force[:, side, i]
    if forces.others is not None:
        for support, role in enumerate(OTHERS):
            for i, axis in enumerate("xyz"):
                columns[f"{role}_grf_{axis}"] = forces.others.force[:, support, i]
    return columns


def _floor(contacts: Contacts) -> np.ndarray:
    """(F,) m, the height of what the feet stand on: between their floors where they are on two."""
    down = contacts.foot.astype(float)
    count = down.sum(axis=1)
    mean = np.sum(down * contacts.floor, axis=1) / np.maximum(count, 1.0)
    return np.where(count > 0, mean, contacts.ground_height)
