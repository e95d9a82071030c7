"""AMASS-style npz in: SMPL, SMPL+H and SMPL-X poses as axis-angle vectors.

Sources: N. Mahmood et al. (2019), AMASS: archive of motion capture as surface shapes, ICCV; M. Loper et al. (2015),
SMPL, ACM Trans. Graphics 34(6), for the tree of 24 joints; J. Romero et al. (2017), Embodied hands, the same journal
36(6), for the 30 finger joints; G. Pavlakos et al. (2019), Expressive body capture, CVPR, for jaw and eyes. The names
are those of the models' public code.

    trans   (F, 3) m                 where the body is, Z up
    poses   (F, 72 | 156 | 165) rad  a rotation vector a joint: of SMPL's 24 joints, SMPL+H's 52 or SMPL-X's 55; also
                                     66 (no hands); or in pieces: root_orient, pose_body, pose_hand, pose_jaw, pose_eye
    mocap_framerate, mocap_frame_rate, fps   Hz
    gender                           text

The body at rest is a T-pose with Y up that faces +Z, in the model's own axes; the root's rotation stands it up in the
world, whose Z is up. Here the rest pose is stood up too, so that rest and motion have the same vertical.

What is *not* in such a file is the body: its joints come from the model's own files, which are licensed and not part of
Poise. The tree is therefore laid on the proportions of an average person (`body/segments/proportions.py`) of the mean
stature of the people that SMPL was made from; the shape parameters `betas` are not used. `trans` is taken as the
pelvis's place. In the models the pelvis lies a constant vector away from it, some 3 cm of which are height.
"""

from __future__ import annotations

import math

import numpy as np

from poise.body.roles import BODY_ROLES, FINGER_STEMS, SIDES
from poise.body.segments.proportions import build_skeleton, compute_proportions
from poise.body.skeleton import Skeleton
from poise.errors import FileError
from poise.files.arrays import NpzFile
from poise.files.input import check_poses, stem_of
from poise.files.reading.recording import Recording
from poise.findings import Finding
from poise.motion.clip import Clip
from poise.spatial import rotation

# m: mean statures of the North American men and women of CAESAR (K. Robinette et al. 2002, AFRL-HE-WP-TR-2002-0169).
STATURES = {"male": 1.78, "female": 1.64, "neutral": 1.71}
_ASSUMED_RATE = 120.0
_RATES = ("mocap_framerate", "mocap_frame_rate", "framerate", "fps")
_PIECES = ("root_orient", "pose_body", "pose_jaw", "pose_eye", "pose_hand")
# SMPL's first 22 joints: name, parent, role.
_BODY: tuple[tuple[str, int, str], ...] = (
    ("pelvis", -1, "hips"),
    ("left_hip", 0, "leftUpperLeg"),
    ("right_hip", 0, "rightUpperLeg"),
    ("spine1", 0, "spine"),
    ("left_knee", 1, "leftLowerLeg"),
    ("right_knee", 2, "rightLowerLeg"),
    ("spine2", 3, "chest"),
    ("left_ankle", 4, "leftFoot"),
    ("right_ankle", 5, "rightFoot"),
    ("spine3", 6, "upperChest"),
    ("left_foot", 7, "leftToes"),
    ("right_foot", 8, "rightToes"),
    ("neck", 9, "neck"),
    ("left_collar", 9, "leftShoulder"),
    ("right_collar", 9, "rightShoulder"),
    ("head", 12, "head"),
    ("left_shoulder", 13, "leftUpperArm"),
    ("right_shoulder", 14, "rightUpperArm"),
    ("left_elbow", 16, "leftLowerArm"),
    ("right_elbow", 17, "rightLowerArm"),
    ("left_wrist", 18, "leftHand"),
    ("right_wrist", 19, "rightHand"),
)
_HEAD = 15
_WRISTS = {"left": 20, "right": 21}
_FINGERS = ("index", "middle", "pinky", "ring", "thumb")
_FACE = (("jaw", "jaw"), ("left_eye_smplhf", "leftEye"), ("right_eye_smplhf", "rightEye"))
# Metacarpal and the two phalanges below the last, mm, and where each finger's first joint lies across the palm, as a
# fraction of the hand's length from its middle to the thumb's side. Lengths: A. Buryanov, V. Kotiuk (2010), Proportions
# of hand segments, Int. J. Morphology 28(3), 755-758; the spread of the knuckles is a plain guess at a hand's breadth.
_BONES = {
    "index": (68.1, 39.8, 22.4, 0.14),
    "middle": (64.6, 44.6, 26.3, 0.03),
    "pinky": (53.7, 32.7, 18.1, -0.17),
    "ring": (58.0, 41.4, 25.7, -0.08),
}
_THUMB = (0.13, 46.2, 31.6)  # its first joint along the hand (fraction), then metacarpal and first phalanx
_CARPUS = 0.15  # of the hand's length, before the metacarpals
_HAND_LENGTH = 185.0  # mm, of the hands with those bones
# From the model's axes (Y up) to the world's (Z up).
_STAND = rotation.from_axis_angle(np.array([1.0, 0.0, 0.0]), 0.5 * np.pi)


def is_amass(file: NpzFile) -> bool:
    """Whether an npz file has the arrays of AMASS."""
    return "trans" in file and ("poses" in file or "pose_body" in file)


def read_amass_arrays(file: NpzFile) -> Recording:
    """The motion in the arrays of AMASS, on a body of average proportions."""
    poses, face = _read_poses(file)
    frames, joints = poses.shape[:2]
    skeleton = build_smpl_skeleton(joints, face, stature := _read_stature(file))
    rotations = rotation.exp(poses)
    # The rest pose is stood up by Q: a joint's rotation becomes Q r Q^-1, the root's, which also stands it up, r Q^-1.
    turned = rotation.multiply(rotations, rotation.conjugate(_STAND))
    turned[:, 1:] = rotation.multiply(_STAND, turned[:, 1:])
    rate = next((file.number(name) for name in _RATES if name in file), None)
    if rate is not None and not 1.0 <= rate <= 1e5:
        raise FileError(file.path, f"{rate:g} frames a second cannot be true.")
    stem = stem_of(file.path)
    times = np.arange(frames) / (rate or _ASSUMED_RATE)
    motion = Clip(skeleton, times, file.numbers("trans", (frames, 3)), turned, stem)
    return Recording(
        motion,
        "AMASS npz",
        str(file.path),
        (stem,),
        unit=1.0,
        up="Z",
        roles=dict(skeleton.roles),
        has_rate=rate is not None,
        findings=(
            Finding(
                "body",
                "the file has only its rotations: SMPL's own joints are licensed, so an average person's proportions "
                f"at {stature:.2f} m are used; bones, hands and feet can be some centimetres off.",
                stature,
            ),
        ),
    )


def _read_stature(file: NpzFile) -> float:
    """m, by the file's gender where it says one that can be read."""
    try:
        gender = str(file["gender"].reshape(-1)[0]) if "gender" in file else "neutral"
    except (FileError, IndexError):
        gender = "neutral"  # some files keep it as a pickled object, which is not read
    gender = gender.removeprefix("b'").removesuffix("'").lower()
    return STATURES.get(gender, STATURES["neutral"])


def _read_poses(file: NpzFile) -> tuple[np.ndarray, bool]:
    """(F, J, 3) rotation vectors, and whether jaw and eyes stand between body and hands."""
    if "poses" in file:
        shape = file.shape("poses")
        frames = shape[0] if shape else 0
        check_poses(file.path, frames, math.prod(shape[1:]) // 3)
        poses = file.numbers("poses", shape).reshape(frames, -1) if frames else np.empty((0, 0))
    else:
        for shape in [file.shape(name) for name in _PIECES if name in file]:
            check_poses(file.path, shape[0] if shape else 0, math.prod(shape[1:]) // 3)
        pieces = [file.numbers(name, (None, None)) for name in _PIECES if name in file]
        if len({len(piece) for piece in pieces}) != 1 or "root_orient" not in file:
            raise FileError(file.path, "pose_body needs root_orient and the like, all with as many frames.")
        poses = np.concatenate(pieces, axis=1)
    columns = poses.shape[1]
    if not len(poses) or columns not in (66, 72, 156, 165):
        raise FileError(
            file.path,
            f"poses have {columns} columns in {len(poses)} frames; SMPL has 66 or 72, SMPL+H 156, SMPL-X 165.",
        )
    return poses.reshape(len(poses), -1, 3), columns == 165


def build_smpl_skeleton(joints: int, face: bool, stature: float) -> Skeleton:
    """SMPL's tree of so many joints on average proportions: a T-pose with Z up that faces -Y, its left +X."""
    human = build_skeleton(stature, compute_proportions(), BODY_ROLES)
    places = dict(zip(human.names, human.rest_positions(), strict=True))
    names = [name for name, _, _ in _BODY]
    parents = [parent for _, parent, _ in _BODY]
    roles = [role for _, _, role in _BODY]
    rest = [places[role] for role in roles]
    if face:
        head = places["head"]
        ahead = stature * np.array([[0.0, -0.015, 0.01], [0.018, 0.0, 0.05], [-0.018, 0.0, 0.05]])
        names += [name for name, _ in _FACE]
        parents += [_HEAD] * 3
        roles += [role for _, role in _FACE]
        rest += list(head + ahead)
    tips = {names[_HEAD]: human.tips[human.names.index("head")]}
    for side, x in zip(SIDES, (1.0, -1.0), strict=True):
        tips[f"{side}_foot"] = human.tips[human.names.index(f"{side}Toes")]
        hand = np.asarray(human.tips[human.names.index(f"{side}Hand")])
        if joints == 24:  # SMPL's own hands are one joint each, at the knuckles
            names.append(f"{side}_hand")
            parents.append(_WRISTS[side])
            roles.append("")
            rest.append(places[f"{side}Hand"] + 0.5 * hand)
            tips[f"{side}_hand"] = 0.5 * hand
        elif joints > 24:
            for finger in _FINGERS:
                _add_finger(finger, side, x, float(np.linalg.norm(hand)), names, parents, roles, rest)
        else:
            tips[f"{side}_wrist"] = hand
    positions = np.array(rest)
    offsets = positions - np.where(np.array(parents)[:, None] < 0, 0.0, positions[parents])
    return Skeleton(
        tuple(names),
        np.array(parents),
        rotation.rotate(_STAND, offsets),
        rotation.rotate(_STAND, np.array([tips.get(name, np.full(3, np.nan)) for name in names])),
        {role: name for role, name in zip(roles, names, strict=True) if role},
    )


def _add_finger(
    finger: str,
    side: str,
    x: float,
    hand: float,
    names: list[str],
    parents: list[int],
    roles: list[str],
    rest: list[np.ndarray],
) -> None:
    """Append a finger's three joints. x: +1 on the left, -1 on the right; hand: m, its length."""
    wrist = _WRISTS[side]
    scale = hand / _HAND_LENGTH
    if finger == "thumb":
        first = np.array([x * _THUMB[0] * hand, 0.0, 0.1 * hand])
        along = np.array([x * np.sqrt(0.5), 0.0, np.sqrt(0.5)])
        lengths = [scale * length for length in _THUMB[1:]]
    else:
        metacarpal, *phalanges, across = _BONES[finger]
        first = np.array([x * (_CARPUS * hand + scale * metacarpal), 0.0, across * hand])
        along = np.array([x, 0.0, 0.0])
        lengths = [scale * length for length in phalanges]
    stem = {"pinky": "Little"}.get(finger, finger.capitalize())
    bones = [role for role in FINGER_STEMS if role.startswith(stem)]
    place = rest[wrist] + first
    for k, bone in enumerate(bones):
        parents.append(wrist if k == 0 else len(names) - 1)
        names.append(f"{side}_{finger}{k + 1}")
        roles.append(side + bone)
        rest.append(place)
        place = place + (lengths[k] if k < len(lengths) else 0.0) * along
