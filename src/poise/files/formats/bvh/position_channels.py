"""Position channels of BVH joints: what they mean, and where they put each joint.

Blender's importer lets the channels *replace* the OFFSET, and so do most programs. Some write displacements instead,
which are *added* to it. A file does not say which. A joint's channels c and its OFFSET o do, on every axis where o is
not zero and c moves little beside it:

    c stays at zero            nobody filled it: the bone keeps its OFFSET, unless more of the body replaces it. Hips
                               and what is above them are no bones: where no bone is at zero, they are meant to be
    c hovers about o, or zero  |c| - |c - o| is +|o|, or -|o|; it counts the less, the farther c ranges

Where more of the body clearly replaces than clearly adds, all of it replaces: hips that lie near the ground look like
displacements. Otherwise each joint goes by its own channels; one that says nothing by itself (hips that travel, a bone
without OFFSET) goes with those that add, and replaces where there are none.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from poise.files.formats.bvh.text import BvhFile, BvhJoint

AXES = "XYZ"
# Shares of the longest bone: what text and single precision leave of a bone that keeps its length, and what is moved
# farther than any bone is long, so that it cannot be a bone that stretches.
_NOISE, _TRAVEL = 1e-5, 1.0
# A rest offset may lie this share of the longest bone outside of where its joint goes, and still be its rest.
_NEAR = 0.1
# Of 1: what a joint's own channels say clearly, and what they say at all.
_SURE, _LEAST = 0.7, 0.15


@dataclass(frozen=True, eq=False)
class Positions:
    """Where the channels of one skeleton put its joints.

    translations  (F, J, 3) units, each joint from its parent, in its parent's axes; the root's in the world. (F, 1, 3)
                  where only the root has channels
    added         (J, 3) what the channels are added to: the OFFSET of displacements, zero where channels replace it
    offsets       (J, 3) units, the rest offset of each joint
    shifts        (F, J, 3) units, how far each is from there; the root's zero. None where every bone keeps its length
    """

    translations: np.ndarray
    added: np.ndarray
    offsets: np.ndarray
    shifts: np.ndarray | None


def read_positions(file: BvhFile, joints: Sequence[BvhJoint], columns: Sequence[dict[str, int]]) -> Positions:
    """What the position channels of a skeleton's joints say."""
    declared = np.array([joint.offset for joint in joints], float)
    picks = np.array([[column.get(f"{axis}position", -1) for axis in AXES] for column in columns])
    if not (picks[1:] >= 0).any():  # as in most files: nothing but the root has positions
        translations = np.where(picks[:1] >= 0, file.values[:, picks[:1]], declared[:1])
        return Positions(translations, 0.0 * declared, declared, None)
    parents = np.array([joint.parent for joint in joints]) - joints[1].parent  # which is the root, wherever it stands
    return place_joints(parents, declared, picks >= 0, file.values[:, picks])


def place_joints(parents: np.ndarray, declared: np.ndarray, given: np.ndarray, channels: np.ndarray) -> Positions:
    """From parents (J,), OFFSETs (J, 3) and channels (F, J, 3), where an axis (J, 3) is given one."""
    inner = given[1:].any()
    added = 0.0 * declared
    if inner:
        added = np.where(_find_displaced(parents, declared, given, channels)[:, None], declared, 0.0)
    translations = np.where(given, added + channels, declared)
    if not inner:
        return Positions(translations, added, declared, None)
    offsets = _find_rest(parents, declared, translations)
    shifts = translations - offsets
    shifts[:, 0] = 0.0
    shifts[:, np.abs(shifts).max(axis=(0, 2)) <= _NOISE * _longest(declared, translations)] = 0.0
    return Positions(translations, added, offsets, shifts if shifts.any() else None)


def _longest(declared: np.ndarray, translations: np.ndarray) -> float:
    """The length of the longest bone; joints that travel have none."""
    lengths = np.linalg.norm(declared[1:], axis=1)
    if not lengths.any():
        lengths = np.linalg.norm(np.median(translations[:, 1:], axis=0), axis=1)
    return float(lengths.max(initial=0.0))


def _find_displaced(parents: np.ndarray, declared: np.ndarray, given: np.ndarray, channels: np.ndarray) -> np.ndarray:
    """(J,) whose channels are displacements from the OFFSET. The root's are only where the others' are."""
    o, c = np.where(given, declared, 0.0), np.where(given, channels, 0.0)
    noise = _NOISE * _longest(declared, c)
    lengths = np.abs(o).sum(axis=1)
    says = lengths > noise
    at_zero = says & (np.abs(c).max(axis=(0, 2)) <= noise)
    # w (|c| - |c - o|) / |o|, with w = |o| / (|o| + range): from -1, displacements, to 1.
    weight = np.abs(o) / np.maximum(np.abs(o) + np.ptp(c, axis=0), 1e-300)
    toward = np.median(np.abs(c), axis=0) - np.median(np.abs(c - o), axis=0)
    evidence = np.where(says, (weight * toward).sum(axis=1) / np.maximum(lengths, 1e-300), 0.0)
    bones = np.ones(len(o), bool)
    bones[[0, *_carriers(parents)]] = False
    if not (at_zero & bones).any():
        evidence, at_zero = np.where(at_zero, 0.0, evidence), at_zero & False
    inner = np.arange(len(o)) > 0
    replacing, adding, unfilled = (
        float(lengths[inner & which].sum()) for which in (evidence > _SURE, (evidence < -_SURE) & ~at_zero, at_zero)
    )
    unused = at_zero & (unfilled >= replacing)
    if replacing > adding:
        return unused & inner
    displaced = unused | np.where(np.abs(evidence) > _LEAST, evidence < 0.0, adding + unfilled > 0.0)
    displaced[0] &= bool(evidence[0] < -_LEAST)
    return displaced


def _find_rest(parents: np.ndarray, declared: np.ndarray, translations: np.ndarray) -> np.ndarray:
    """(J, 3) rest offsets: the file's own where the joint comes by it or carries the body, else where it mostly is."""
    low, high = translations.min(axis=0), translations.max(axis=0)
    longest = _longest(declared, translations)
    near = (declared >= low - _NEAR * longest) & (declared <= high + _NEAR * longest)
    rest = np.where(near | (high - low > _TRAVEL * longest), declared, np.median(translations, axis=0))
    still = (high - low).max(axis=1) <= _NOISE * longest
    rest[still] = 0.5 * (low + high)[still]  # what it was given, to the last digit where all frames agree
    carriers = [0, *_carriers(parents)]
    rest[carriers] = declared[carriers]
    return rest


def _carriers(parents: np.ndarray) -> list[int]:
    """From the root down to the first joint that branches, the hips: what says where the body is, and no bone of it.

    None where nothing branches: that is no body.
    """
    chain = [0]
    while len(children := np.flatnonzero(parents == chain[-1])) == 1:
        chain.append(int(children[0]))
    return chain if len(children) else []
