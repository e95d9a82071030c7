"""A body apart from what carries it: its hips first, no joint above them, every bone of one length.

Dynamics needs a root that is where the body is. Many files have joints above the hips ("Reference", "Root"): some stand
still at the origin while the hips travel, others travel themselves. Whatever they do composes into the place and
orientation of the body's first joint; afterwards the result goes back under them:

    what is above or beside the body    as it was
    the first joint                     turns as it did in the result, relative to what is above it
    its travel                          in its shifts where the file had travel there, else in the root's
    bones that changed in length        as they did, for joints that followed the clip; their mean for the others
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np

from poise.body.skeleton import Skeleton
from poise.motion.clip import RIGID, Clip
from poise.spatial import rotation


@dataclass(frozen=True, eq=False)
class HipsRoot:
    """A clip, and its body apart.

    clip    as it was
    body    the same motion of the body alone, without shifts; the clip itself where it is that already
    joints  (K,) the clip's joint of each of the body's
    bones   (K, 3) m, mean shift of each, which the body's offsets include
    """

    clip: Clip
    body: Clip
    joints: np.ndarray
    bones: np.ndarray

    @property
    def top(self) -> int:
        """The clip's joint that is the body's first."""
        return int(self.joints[0])

    @property
    def stretch(self) -> np.ndarray:
        """(K,) m, how far each joint gets from the end of its mean bone."""
        if self.clip.shifts is None:
            return np.zeros(len(self.joints))
        off = np.linalg.norm(self.clip.shifts[:, self.joints] - self.bones, axis=-1).max(axis=0)
        off[0] = 0.0
        return np.asarray(off)

    def describe_stretch(self) -> tuple[str, ...]:
        """Which bones change by more than a centimetre, in a sentence; none where none does."""
        far = np.flatnonzero(self.stretch > RIGID)
        if not len(far):
            return ()
        worst = far[np.argsort(-self.stretch[far], kind="stable")]
        names = [f"{self.body.skeleton.labels[i]} {100.0 * self.stretch[i]:.1f} cm" for i in worst[:6]]
        return (f"the clip's bones change in length ({', '.join(names)}); the body has their mean.",)

    def restore(self, result: Clip, kinematic: Iterable[int] = ()) -> Clip:
        """A motion of the body, back under the clip's joints: its skeleton, names and, as far as it goes, times.

        result     of `body.skeleton`, as many frames as the clip or fewer
        kinematic  the body's joints that followed the clip, and so change their bones as it does
        """
        if self.body is self.clip:
            return result
        clip = self.clip.pick(slice(0, len(result)))
        rotations = clip.rotations.copy()
        rotations[:, self.joints] = result.rotations
        root, shifts = result.root, self._restore_shifts(clip, kinematic)
        if self.top != 0:
            parent = int(clip.skeleton.parents[self.top])
            places, turns = clip.world
            back = rotation.conjugate(turns[:, parent])
            rotations[:, self.top] = rotation.multiply(back, result.rotations[:, 0])
            if self._is_carried_by_shifts():
                from_parent = rotation.rotate(back, result.root - places[:, parent])
                shifts[:, self.top] = from_parent - clip.skeleton.offsets[self.top]
                root = clip.root
            else:
                root = clip.root + result.root - places[:, self.top]
        return clip.replace(times=result.times, root=root, rotations=rotations, shifts=shifts)

    def cut(self, clip: Clip) -> Clip:
        """The motion of the body alone in another clip of the same skeleton, whose bones slide as this clip's do."""
        return self.body if clip is self.clip else root_at(clip, self.top).body.replace(skeleton=self.body.skeleton)

    def over(self, clip: Clip) -> HipsRoot:
        """The same body, to be restored under the joints of another clip of its skeleton."""
        return replace(self, clip=clip)

    def _restore_shifts(self, clip: Clip, kinematic: Iterable[int]) -> np.ndarray:
        shifts = np.zeros((len(clip), len(clip.skeleton), 3)) if clip.shifts is None else clip.shifts.copy()
        given = set(kinematic)
        for k, joint in enumerate(self.joints.tolist()):
            if k and k not in given:
                shifts[:, joint] = self.bones[k]
        return shifts

    def _is_carried_by_shifts(self) -> bool:
        return self.clip.shifts is not None and bool(self.clip.shifts[:, self.clip.skeleton.chain(self.top)].any())


def root_at_hips(clip: Clip) -> HipsRoot:
    """A clip's body apart: from the lowest joint that carries all joints with roles, which is the hips, on."""
    return root_at(clip, _find_top(clip.skeleton))


def root_at(clip: Clip, top: int) -> HipsRoot:
    """What a joint of a clip carries, apart."""
    skeleton = clip.skeleton
    joints = np.array(skeleton.descendants(top))
    bones = np.zeros((len(joints), 3))
    if top == 0 and clip.shifts is None:
        return HipsRoot(clip, clip, joints, bones)
    if clip.shifts is not None:
        bones = clip.shifts[:, joints].mean(axis=0)
    bones[0] = 0.0
    body = _cut(skeleton, joints, bones)
    places, turns = clip.world
    rotations = clip.rotations[:, joints].copy()
    rotations[:, 0] = turns[:, top]
    return HipsRoot(clip, Clip(body, clip.times, places[:, top], rotations, clip.name), joints, bones)


def _find_top(skeleton: Skeleton) -> int:
    """The last joint on the way down that still carries every joint with a role; the root where there is no role."""
    chains = [skeleton.chain(skeleton.names.index(name)) for name in skeleton.roles.values()]
    top = 0
    for level in zip(*chains, strict=False):
        if len(set(level)) > 1:
            break
        top = level[0]
    return top


def _cut(skeleton: Skeleton, joints: np.ndarray, bones: np.ndarray) -> Skeleton:
    """The skeleton of some joints, the first of which carries all others, with bones (K, 3) m added to theirs."""
    place = {int(joint): k for k, joint in enumerate(joints)}
    names = tuple(skeleton.names[joint] for joint in joints)
    offsets = skeleton.offsets[joints] + bones
    offsets[0] = skeleton.rest_positions()[joints[0]]
    parents = np.array([-1, *(place[int(skeleton.parents[joint])] for joint in joints[1:])])
    roles = {role: name for role, name in skeleton.roles.items() if name in names}
    return Skeleton(names, parents, offsets, skeleton.tips[joints], roles)
