"""A motion in the making on the target's reference skeleton: what each joint takes over from the source.

Limbs and fingers take the world orientation of the source's joint of the same role. Spine and neck may have any number
of joints: along each of the two chains the source's orientations are a curve from its first bone to its last, which
the target's bones sample where their middles lie. Joints without a role take over the rotation of a joint of the same
name; all others stay as they are at rest relative to their parents.

Joints that slide on their bones do so here, scaled: those of trunk, neck, head and fingers, and what goes by its name.
Arms and legs only do where nothing has to be reached, on a body of the source's own proportions.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from poise.body.roles import ROLES
from poise.body.skeleton import Skeleton
from poise.motion.clip import Clip
from poise.motion.retargeting.reference import Reference
from poise.spatial import rotation

_CHAIN_ROLES = ("hips", "spine", "chest", "upperChest", "neck", "head")
LIMB_ROLES = tuple(role for role in ROLES if role not in _CHAIN_ROLES)
_REACHING = ("UpperArm", "LowerArm", "Hand", "UpperLeg", "LowerLeg", "Foot", "Toes")


@dataclass(eq=False)
class Draft:
    """Poses of a reference skeleton, to be corrected joint by joint.

    skeleton  the reference skeleton
    times     (F,) s
    driven    joint -> (F, 4) world orientation
    carried   joint -> (F, 4) or (4,) rotation relative to its parent, for joints that are not driven
    root      (F, 3) m, position of the root joint
    shifts    joint -> (F, 3) m, how far it is from the end of its bone, for joints that slide
    """

    skeleton: Skeleton
    times: np.ndarray
    driven: dict[int, np.ndarray]
    carried: dict[int, np.ndarray]
    root: np.ndarray
    shifts: dict[int, np.ndarray] = field(default_factory=dict)

    def world(self) -> tuple[np.ndarray, np.ndarray]:
        """Joint positions (F, J, 3) m and orientations (F, J, 4) in the world."""
        f, j = len(self.times), len(self.skeleton)
        positions, orientations = np.empty((f, j, 3)), np.empty((f, j, 4))
        for i, parent in enumerate(self.skeleton.parents):
            above = orientations[:, parent] if i else rotation.identity((f,))
            orientations[:, i] = self.driven[i] if i in self.driven else rotation.multiply(above, self.carried[i])
            step = rotation.rotate(above, self.skeleton.offsets[i] + self.shifts.get(i, 0.0))
            positions[:, i] = positions[:, parent] + step if i else self.root
        return positions, orientations

    def clip(self, name: str) -> Clip:
        """The poses as a clip of the reference skeleton."""
        _, orientations = self.world()
        above = np.concatenate(
            [rotation.identity((len(self.times), 1)), orientations[:, self.skeleton.parents[1:]]], axis=1
        )
        rotations = rotation.multiply(rotation.conjugate(above), orientations)
        shifts = None
        if self.shifts:
            shifts = np.zeros((*rotations.shape[:2], 3))
            for joint, own in self.shifts.items():
                shifts[:, joint] = own
        return Clip(self.skeleton, self.times, self.root, rotations, name, shifts)


def build_draft(source: Clip, target: Reference) -> Draft:
    """The source's orientations on the target, its root at the origin. `source` is a clip of a reference skeleton."""
    orientations = source.world[1]
    driven = {
        target.skeleton.index(role): orientations[:, source.skeleton.index(role)]
        for role in LIMB_ROLES
        if role in source.skeleton.roles and role in target.skeleton.roles
    }
    driven[target.skeleton.index("hips")] = orientations[:, source.skeleton.index("hips")]
    for find in (find_trunk, find_neck):
        here, there = find(source.skeleton), find(target.skeleton)
        if len(here) > 1:
            spread = _spread(source.skeleton, here, orientations, target.skeleton, there)
            driven |= dict(zip(there[1:], spread[1:], strict=True))
    carried = {i: _carry(source, target, i) for i in range(len(target.skeleton)) if i not in driven}
    return Draft(target.skeleton, source.times, driven, carried, np.zeros((len(source), 3)))


def find_shifts(source: Clip, target: Skeleton, scale: float, limbs: bool) -> dict[int, np.ndarray]:
    """Joint of the target -> (F, 3) m, as the source's joint of its role, place in spine or neck, or name slides.

    source  a clip of a reference skeleton, as is `target`
    limbs   whether arms and legs slide, too
    """
    if source.shifts is None:
        return {}
    here, found = source.skeleton, {}
    hips = {here.names[i] for i in here.chain(here.index("hips"))}
    twins = {target.names.index(name): i for i, name in enumerate(here.names) if name in target.names}
    twins |= {target.index(role): here.index(role) for role in here.roles if role in target.roles}
    for find in (find_trunk, find_neck):
        if len(find(here)) == len(find(target)):
            twins |= dict(zip(find(target)[1:], find(here)[1:], strict=True))
    reaching = {target.index(role) for role in target.roles if role.endswith(_REACHING)}
    above = set(target.chain(target.index("hips")))
    for joint, twin in twins.items():
        moves = source.shifts[:, twin].any() and here.names[twin] not in hips and joint not in above
        if moves and (limbs or joint not in reaching):
            found[joint] = scale * source.shifts[:, twin]
    return found


def find_trunk(skeleton: Skeleton) -> list[int]:
    """Joints from the hips to what carries the neck, whether they have a role or not."""
    hips = skeleton.index("hips")
    top = next(role for role in ("neck", "head", "upperChest", "chest", "spine", "hips") if role in skeleton.roles)
    below = set(skeleton.chain(hips))
    path = [joint for joint in skeleton.chain(skeleton.index(top)) if joint not in below]
    return [hips, *(path[:-1] if top in ("neck", "head") else path)]


def find_neck(skeleton: Skeleton) -> list[int]:
    """The joint that carries the neck, then those of the neck and the head."""
    base = find_trunk(skeleton)[-1]
    top = skeleton.find_role("head") or skeleton.find_role("neck")
    below = set(skeleton.chain(base))
    return [base, *(joint for joint in skeleton.chain(base if top is None else top) if joint not in below)]


def _spread(
    source: Skeleton, here: list[int], orientations: np.ndarray, target: Skeleton, there: list[int]
) -> list[np.ndarray]:
    """World orientations (F, 4) of the target's chain, one for each of its joints; first and last are the source's."""
    if len(here) == len(there):
        return [orientations[:, joint] for joint in here]
    at, wanted = _bone_middles(source, here), _bone_middles(target, there)
    sampled = []
    for place in wanted:
        k = int(np.clip(np.searchsorted(at, place, side="right") - 1, 0, len(here) - 2))
        share = (place - at[k]) / (at[k + 1] - at[k])
        sampled.append(
            rotation.slerp(orientations[:, here[k]], orientations[:, here[k + 1]], float(np.clip(share, 0, 1)))
        )
    return sampled


def _bone_middles(skeleton: Skeleton, chain: list[int]) -> np.ndarray:
    """(n,) increasing, where the middle of each bone of a chain lies, from 0 for the first to 1 for the last."""
    steps = np.linalg.norm(np.diff(skeleton.rest_positions()[chain], axis=0), axis=1)
    starts = np.concatenate([[0.0], np.cumsum(steps)])
    middles = np.append((starts[:-1] + starts[1:]) / 2.0, starts[-1])
    # Joints at one place still come one after the other.
    middles = middles + 1e-3 * max(starts[-1], 1.0) * np.arange(len(chain))
    return (middles - middles[0]) / (middles[-1] - middles[0]) if len(chain) > 1 else middles


def _carry(source: Clip, target: Reference, joint: int) -> np.ndarray:
    """(F, 4) or (4,) the rotation relative to its parent of a joint that no role or chain drives."""
    there = source.skeleton
    used = {there.index(role) for role in there.roles if role in target.skeleton.roles}
    used |= {*find_trunk(there), *find_neck(there)}
    name = target.skeleton.names[joint]
    if name in there.names and (twin := there.names.index(name)) not in used:
        return source.rotations[:, twin]
    # At rest in the file its orientation is its parent's: in the reference O = O_parent C_parent C^-1.
    back = rotation.conjugate(target.turns[joint])
    return rotation.multiply(target.turns[target.skeleton.parents[joint]], back) if joint else back
