"""Motion from one skeleton onto another: rest poses, joint counts and proportions may all differ.

    1. Both skeletons are seen from one reference pose, in which a role means the same on each.
    2. Every joint of the target takes over the world orientation of the source's joint of its role; spines and necks
       sample the source's curve. Bones then point where the source's do.
    3. The world is scaled by the legs' length, so that steps fit them and knees bend as far; the hips stand higher or
       lower by what ankles differ.
    4. Feet are held where the source's stand, and the hips lowered where legs would not reach.
    5. Hands keep their place where they touch the body, the ground or each other.

Steps 4 and 5 turn limbs in closed form, and only by what the proportions ask for: onto a body of the source's own
proportions the motion is the source's, scaled, whatever its rest pose.
"""

from __future__ import annotations

import itertools

import numpy as np

from poise.body.geometry.rest_frame import RestFrame
from poise.body.geometry.skin import SkinnedMesh
from poise.body.geometry.soles import find_soles, leg_length
from poise.body.role_finding.guess import ask_roles, with_roles
from poise.body.roles import SIDES
from poise.body.skeleton import Skeleton
from poise.errors import InputError
from poise.motion.clip import Clip
from poise.motion.contacts.contacts import find_contacts
from poise.motion.retargeting.draft import Draft, build_draft, find_neck, find_shifts, find_trunk
from poise.motion.retargeting.feet import Stance, find_sole_errors, find_stance, stand
from poise.motion.retargeting.hands import find_head, keep_hands
from poise.motion.retargeting.reference import Reference, build_reference
from poise.motion.root import root_at

_LEG_ROLES = tuple(side + stem for side in SIDES for stem in ("UpperLeg", "LowerLeg", "Foot"))
_SHORTEST = 1e-4  # of the stature, of a bone of a limb that bends
_SAME = 1e-6  # of the stature: bones that differ by less are the same


def retarget(
    clip: Clip,
    skeleton: Skeleton,
    *,
    feet: bool = True,
    hands: bool = True,
    ground: float | None = None,
    skin: SkinnedMesh | None = None,
) -> Clip:
    """The clip's motion on another skeleton, with that skeleton's joints and the clip's times.

    skeleton  the target, in metres, Y up, facing +Z at rest. Roles are found where it has none
    feet      hold standing feet and keep legs within reach; False: joint orientations only
    hands     keep hands where they touch; False: arms keep their directions everywhere
    ground    m, height of the target's ground; None: the source's, scaled
    skin      the target's own mesh at rest, if it has one: hands then stay outside of its head, however large
    """
    source, target = find_reference(clip.skeleton, "the clip"), find_reference(skeleton, "the target")
    scale = find_same_body(source.skeleton, target.skeleton)
    if scale is not None:
        motion, stance = source.enter(clip), None
        feet = hands = False
    else:
        scale = compute_scale(source.skeleton, target.skeleton)
        motion, stance = stand_source(clip)
    draft = build_draft(motion, target)
    draft.shifts = find_shifts(motion, target.skeleton, scale, limbs=not feet and not hands)
    hips = scale * _hip_middle(motion.skeleton, motion.positions)
    if stance is not None and has_legs(target.skeleton):
        hips[:, 1] += _ankle_height(target.skeleton) - scale * _ankle_height(motion.skeleton)
    draft.root = _root_under(draft, hips)
    if feet and stance is not None and has_legs(target.skeleton):
        stand(draft, motion, stance, scale)
    if hands:
        keep_hands(draft, motion, scale, None if skin is None else find_head(target, skin))
    stance = stand_source(clip)[1] if ground is not None and stance is None else stance
    if ground is not None and stance is not None:
        draft.root = draft.root + np.array([0.0, ground - scale * stance.ground, 0.0])
    named = clip.replace(skeleton=source.original)
    return _under_same_joints(target.leave(draft.clip(clip.name)), named, scale)


def _under_same_joints(result: Clip, clip: Clip, scale: float) -> Clip:
    """The result with the travel where the clip has it, if both have the same joints above the hips.

    A file whose first joint stands still while the hips slide away from it gives one of the same kind.
    """
    above, there = (c.skeleton.chain(c.skeleton.index("hips"))[:-1] for c in (clip, result))
    names = [[c.skeleton.names[i] for i in chain] for c, chain in ((clip, above), (result, there))]
    hips = clip.skeleton.index("hips")
    if clip.shifts is None or not clip.shifts[:, [*above, hips]].any() or names[0] != names[1]:
        return result
    body = root_at(result, result.skeleton.index("hips"))
    rotations = result.rotations.copy()
    shifts = np.zeros((*rotations.shape[:2], 3)) if result.shifts is None else result.shifts.copy()
    rotations[:, there] = clip.rotations[:, above]
    shifts[:, there] = scale * clip.shifts[:, above]
    shifts[:, body.top] = scale * clip.shifts[:, hips]
    carried = result.replace(root=scale * clip.root, rotations=rotations, shifts=shifts)
    return body.over(carried).restore(body.body, range(len(body.joints)))


def stand_source(clip: Clip) -> tuple[Clip, Stance | None]:
    """A clip as one of its reference skeleton, with soles as flat as they stand, and when they do; None without legs.

    Rest poses seldom say how a foot stands; the motion does.
    """
    source = find_reference(clip.skeleton, "the clip")
    motion = source.enter(clip)
    if not has_legs(clip.skeleton):
        return motion, None
    for side, error in zip(SIDES, find_sole_errors(motion), strict=True):
        source = source.turned(source.skeleton.index(f"{side}Foot"), error)
    motion = source.enter(clip)
    return motion, find_stance(motion, find_contacts(motion))


def compute_scale(source: Skeleton, target: Skeleton) -> float:
    """How many times as long the target's legs are as the source's; without legs, how many times as tall it is."""
    if not (has_legs(source) and has_legs(target)):
        return RestFrame(target).stature / RestFrame(source).stature
    return _leg_length(target) / _leg_length(source)


def _leg_length(skeleton: Skeleton) -> float:
    return float(np.mean([leg_length(skeleton, side) for side in SIDES]))


def _ankle_height(skeleton: Skeleton) -> float:
    return float(np.mean([-sole.heel[1] for sole in find_soles(skeleton)]))


def find_reference(skeleton: Skeleton, what: str) -> Reference:
    """The reference of a skeleton, whose roles are found where it has none; `what` is its word in an error."""
    skeleton = with_roles(skeleton)
    if "hips" not in skeleton.roles:
        option = "--character-roles" if what == "the target" else "--roles"
        raise InputError(f"{what} has no joint with the role hips, or none that is sure. {ask_roles(skeleton, option)}")
    _check_limbs(skeleton, what)
    return build_reference(skeleton)


def _check_limbs(skeleton: Skeleton, what: str) -> None:
    """Refuse a body without length, and limbs that cannot bend since one of their two bones has none."""
    rest, stature = skeleton.rest_positions(), RestFrame(skeleton).stature
    for limb in (("UpperLeg", "LowerLeg", "Foot"), ("UpperArm", "LowerArm", "Hand")):
        for side in SIDES:
            joints = [skeleton.find_role(side + role) for role in limb]
            for first, second in itertools.pairwise(joints):
                if first is None or second is None:
                    continue
                length = float(np.linalg.norm(rest[second] - rest[first]))
                if not length > _SHORTEST * stature:
                    names = f"'{skeleton.names[first]}' and '{skeleton.names[second]}'"
                    raise InputError(
                        f"{what} has {names} in one place, so that limb cannot bend. Mend the offset of the second, or "
                        "leave out the limb's roles."
                    )


def has_legs(skeleton: Skeleton) -> bool:
    """Whether both legs are there, from hip to ankle."""
    return all(role in skeleton.roles for role in _LEG_ROLES)


def find_same_body(source: Skeleton, target: Skeleton) -> float | None:
    """Target over source where their reference skeletons differ by nothing but size, else None."""
    chains = [len(find(source)) == len(find(target)) for find in (find_trunk, find_neck)]
    if set(source.roles) != set(target.roles) or not all(chains):
        return None
    here, there = (_shape(skeleton) for skeleton in (source, target))
    scale = float(np.sum(here * there) / max(np.sum(here * here), 1e-300))
    return scale if np.abs(there - scale * here).max() < _SAME * RestFrame(target).stature else None


def _shape(skeleton: Skeleton) -> np.ndarray:
    """(N, 3) m, where the joints of trunk, neck and all roles are from the hips at rest."""
    rest = skeleton.rest_positions()
    joints = [*find_trunk(skeleton), *find_neck(skeleton), *(skeleton.index(role) for role in sorted(skeleton.roles))]
    return rest[joints] - rest[skeleton.index("hips")]


def _hip_middle(skeleton: Skeleton, positions: np.ndarray) -> np.ndarray:
    """(F, 3) m, between the hip joints, or the hips where there are none."""
    pair = [joint for side in SIDES if (joint := skeleton.find_role(f"{side}UpperLeg")) is not None]
    joints = pair if len(pair) == 2 else [skeleton.index("hips")]
    return np.asarray(positions[:, joints].mean(axis=1))


def _root_under(draft: Draft, hips: np.ndarray) -> np.ndarray:
    """(F, 3) m, where the root is when the middle of the hip joints is at `hips` (F, 3)."""
    positions, _ = draft.world()
    return np.asarray(draft.root + hips - _hip_middle(draft.skeleton, positions))
