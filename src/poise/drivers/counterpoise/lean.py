"""The arms' shift of one body, which `Balance` and `Counterpoise` lean against: `kernels.py` has the formula."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from poise.body.roles import PARTS
from poise.body.skeleton import Skeleton
from poise.compiled.law import Block
from poise.drivers.body import Body
from poise.dynamics.kinematics import compute_world_pose
from poise.dynamics.tree import Tree, build_tree
from poise.errors import InputError
from poise.motion.clip import Clip
from poise.motion.samples.tracks import stand_pose
from poise.spatial.filter import lowpass, uniform_rate

# rad per m of r, medians of nine recordings of people who stand and gesture: the pelvis, and the spine on top of it.
PELVIS, SPINE = 1.2, 1.3
CUTOFF = 6.0  # Hz: how a followed clip's arms shift the centre of mass, above this, is noise of the recording


class ArmShift:
    """What the arms of one body are made of, as `find_shift` reads it.

    arms, chest  (K,) joints, and the one that they hang from
    """

    def __init__(self, body: Body, follow: Clip | None = None, follow_start: float = 0.0):
        from poise.drivers.counterpoise import kernels

        self._kernels, skeleton = kernels, body.skeleton
        own = find_arms(skeleton)
        self.chest, between = _find_common(skeleton, own)
        self.arms = np.array(sorted({*own, *between}), np.int64)
        place = {int(joint): k for k, joint in enumerate(self.arms)}
        self._above = np.array([place.get(int(skeleton.parents[i]), -1) for i in self.arms], np.int64)
        self._counts = np.array([joint in own for joint in self.arms], np.int64)
        self._easy = find_hanging_pose(skeleton)
        self._hanging, self._r = np.zeros(3), np.zeros((3, 3))
        self.block = Block(
            kernels.SHIFT, body.arena, arms=self.arms, above=self._above, counts=self._counts,
            hanging=self._hanging, frames=body.arena.zeros(len(self.arms), 30), count=len(self.arms),
        )  # fmt: skip
        if follow is not None:
            times, shifts = self._measure_clip(body, follow)
            self.block.set(times=times, clip=shifts, clip_count=len(times), start=follow_start)
        self.on_mass_changed(body)

    def on_mass_changed(self, body: Body) -> None:
        """Look again at what the arms hold."""
        self._hanging[:] = self._sum(body.tree, self._easy[None])[0]
        self.block["mass"] = body.tree.mass

    def find(self, body: Body, t: float) -> np.ndarray:
        """(3, 3) r, r' and r'' at time t, chest axes; the next call writes over it."""
        self._kernels.find_shift(body.block.record[0], self.block.record[0], body.state.q, t, self._r)
        return self._r

    def _sum(self, tree: Tree, turns: np.ndarray) -> np.ndarray:
        """(F, 3) kg m, sum of m_i x_i of the arms at rotations (F, J, 4), chest axes."""
        pose = compute_world_pose(tree, np.zeros((len(turns), 3)), turns)
        own = self.arms[self._counts == 1]
        centers = pose.joints[:, own] + np.einsum("fkab,kb->fka", pose.turns[:, own], tree.centers[own])
        away = np.einsum("k,fka->fa", tree.masses[own], centers - pose.joints[:, [self.chest]])
        return np.asarray(np.einsum("fba,fb->fa", pose.turns[:, self.chest], away))

    def _measure_clip(self, body: Body, clip: Clip) -> tuple[np.ndarray, np.ndarray]:
        """Times (F,) and r, r', r'' (F, 9) of a clip's arms with nothing in their hands."""
        bare = build_tree(body.character)
        r = (self._sum(bare, clip.rotations) - self._sum(bare, self._easy[None])) / bare.mass
        if len(clip) < 2:
            return np.array(clip.times, float), np.hstack([r, np.zeros((1, 6))])
        rates = np.zeros((2, *r.shape))
        if len(clip) > 3:
            rate = uniform_rate(clip.times)
            smooth = lowpass(r, rate, CUTOFF) if rate > 2.5 * CUTOFF else r
            rates[0] = np.gradient(smooth, 1.0 / rate, axis=0)
            rates[1] = np.gradient(rates[0], 1.0 / rate, axis=0)
        return np.array(clip.times, float), np.ascontiguousarray(np.hstack([r, *rates]))


def find_shift_of(body: Body, follow: Clip | None = None, follow_start: float = 0.0) -> ArmShift | None:
    """The arms' shift of a body; None: it has no arms."""
    return ArmShift(body, follow, follow_start) if find_arms(body.skeleton) else None


def find_arms(skeleton: Skeleton) -> set[int]:
    """Joints of both arms, with clavicles and fingers."""
    roles = PARTS["arms"]
    return {i for i, role in enumerate(skeleton.structure.nearest_roles) if role in roles}


def find_chest(skeleton: Skeleton) -> int | None:
    """The joint that all arms hang from; None: there are none."""
    arms = find_arms(skeleton)
    return _find_common(skeleton, arms)[0] if arms else None


def _find_common(skeleton: Skeleton, arms: set[int]) -> tuple[int, set[int]]:
    """The joint that all arms hang from, and those between it and them."""
    chains = [skeleton.chain(i)[:-1] for i in arms if int(skeleton.parents[i]) not in arms]
    common = [i for i in chains[0] if all(i in chain for chain in chains)]
    chest = common[-1]
    return chest, {i for chain in chains for i in chain[chain.index(chest) + 1 :]}


@lru_cache(maxsize=32)
def find_hanging_pose(skeleton: Skeleton) -> np.ndarray:
    """(J, 4) rotations with arms that hang; the rest pose of what has no legs to stand on."""
    try:
        turns = np.array(stand_pose(skeleton).rotations)
    except InputError:
        turns = np.zeros((len(skeleton), 4))
        turns[:, 0] = 1.0
    turns.flags.writeable = False
    return turns
