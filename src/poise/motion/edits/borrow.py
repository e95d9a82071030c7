"""Parts of a motion that come from another clip: the arms of one recording on the body of another.

The other clip is retargeted onto this body, and the joints of the parts take over its rotations relative to their
parents: arms keep their directions relative to the chest, legs and trunk to the hips, the head to the chest. Every
other joint keeps its rotations bit for bit, and every bone its length.

Joints are matched by role. One that the other clip lacks keeps this clip's rotations (fingers), or rests if joints that
it carries come from the other clip (collar bones).

Both clips begin together, and the result has this clip's times. If the other clip ends first, the parts go back to this
clip's own motion within `RETURN` seconds, from the pose and the velocity that they had; a clip of one frame is a pose,
which is held.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from poise.body.role_finding.guess import with_roles
from poise.body.roles import PARTS
from poise.body.skeleton import Skeleton
from poise.errors import InputError, unknown_name
from poise.motion.clip import Clip, interpolate
from poise.motion.edits.blend import long_log
from poise.motion.parts import part_joints
from poise.motion.retargeting.draft import find_neck, find_trunk
from poise.motion.retargeting.easing import fade
from poise.spatial import rotation

RETURN = 1.0  # s
_MAIN = ("UpperArm", "LowerArm", "UpperLeg", "LowerLeg")  # bones that a clip must have to move a limb
_SPARE = 0.5  # s of the other clip after the clip's end that a spline through its frames sees
_SAME_TIME = 1e-6  # s: frame times come from files with six or seven digits
_SAME_BONE = 1e-6  # m
_ADVICE = "Name a part that it has, or load it in Python and name its joints: poise.load_clip(path, roles=...)."


def borrow(clip: Clip, other: Clip, parts: str | Iterable[str]) -> Clip:
    """Return the clip with some parts moving as in another clip, of any skeleton, length and frame rate.

    parts  a part ("arms"), or parts, joint names and roles of the clip's skeleton; none may include the hips
    """
    chosen = [parts] if isinstance(parts, str) else list(parts)
    other = other.replace(skeleton=with_roles(other.skeleton))
    joints = sorted({joint for part in chosen for joint in find_borrowed(clip.skeleton, part)})
    for part in chosen:
        check_borrowed(clip.skeleton, other.skeleton, part)
    other = other.pick(other.times - other.times[0] <= clip.duration + _SPARE)
    is_same = is_same_body(clip.skeleton, other.skeleton)
    taken = joints if is_same else _find_taken(clip.skeleton, other.skeleton, joints)
    return clip.turned(taken, _play(clip, other if is_same else _put_on(other, clip.skeleton), taken))


def find_borrowed(skeleton: Skeleton, part: str) -> list[int]:
    """Return the indices of the joints of a part that can come from another clip: no hips, no joint above them."""
    if part not in PARTS and part not in skeleton.names and part not in skeleton.roles:
        raise unknown_name("part", part, [*PARTS, *skeleton.roles])
    joints = part_joints(skeleton, part if part in PARTS else [part])
    fixed = set(skeleton.chain(skeleton.find_role("hips") or 0)) & set(joints)
    if fixed:
        names = ", ".join(skeleton.labels[joint] for joint in sorted(fixed))
        raise InputError(
            f"'{part}' includes {names}, but the hips and joints above them cannot come from another clip. Name parts "
            "that the hips carry, as in upperBody."
        )
    return joints


def check_borrowed(skeleton: Skeleton, other: Skeleton, part: str) -> None:
    """Raise InputError if another skeleton lacks what it takes to move a part of this one."""
    joints = find_borrowed(skeleton, part)
    if "hips" not in other.roles:
        raise InputError(f"it has no joint with the role hips, so '{part}' cannot come from it. {_ADVICE}")
    main = [joint for joint in joints if _is_main(skeleton, joint)] or joints
    absent = [skeleton.labels[joint] for joint in main if not _has_twin(skeleton, other, joint)]
    if absent:
        known = ", ".join(other.roles) or "none"
        raise InputError(
            f"it has no {', '.join(absent)}, so '{part}' cannot come from it; its roles are {known}. {_ADVICE}"
        )


def is_same_body(one: Skeleton, other: Skeleton) -> bool:
    """Whether two skeletons have the same joints in the same order, with the same bones."""
    same_joints = one.labels == other.labels and np.array_equal(one.parents, other.parents)
    return same_joints and np.allclose(one.offsets[1:], other.offsets[1:], rtol=0.0, atol=_SAME_BONE)


def _put_on(clip: Clip, skeleton: Skeleton) -> Clip:
    """The clip's limb directions on another skeleton. Its feet and hands have nothing there to touch."""
    from poise.motion.retargeting.transfer import retarget

    return retarget(clip, skeleton, feet=False, hands=False)


def _play(clip: Clip, other: Clip, joints: Sequence[int]) -> np.ndarray:
    """(F, K, 4) rotations of some joints of `other`, of the same skeleton, at the clip's frames."""
    times = clip.times - clip.times[0]
    turns = interpolate(other, other.times[0] + times, "spline").rotations[:, joints]
    plays = times <= other.duration + _SAME_TIME
    if plays.all() or len(other) == 1:
        return turns
    own = clip.rotations[:, joints]
    apart = rotation.make_continuous(rotation.multiply(rotation.conjugate(own), turns))
    last = apart[np.flatnonzero(plays)[-1]]
    vectors = long_log(np.where(last[..., :1] < 0.0, -apart, apart))
    left = fade(times, plays, vectors.reshape(len(times), -1), RETURN).reshape(vectors.shape)
    return np.where(plays[:, None, None], turns, rotation.multiply(own, rotation.exp(left)))


def _find_taken(skeleton: Skeleton, other: Skeleton, joints: list[int]) -> list[int]:
    """Those of some joints that the other skeleton has, and those that carry any of them."""
    found = {joint for joint in joints if _has_twin(skeleton, other, joint)}
    return [joint for joint in joints if found & set(skeleton.descendants(joint))]


def _has_twin(skeleton: Skeleton, other: Skeleton, joint: int) -> bool:
    """Whether retargeting gives a joint the motion of one of the other skeleton's: see `retargeting.draft`."""
    for find in (find_trunk, find_neck):
        if joint in find(skeleton)[1:]:
            return len(find(other)) > 1
    return skeleton.labels[joint] in other.roles or skeleton.names[joint] in other.names


def _is_main(skeleton: Skeleton, joint: int) -> bool:
    """Whether a part is nothing without this joint: bones of the trunk, the neck, and the two long ones of a limb."""
    in_middle = any(joint in find(skeleton)[1:] for find in (find_trunk, find_neck))
    return in_middle or (skeleton.labels[joint] in skeleton.roles and skeleton.labels[joint].endswith(_MAIN))
