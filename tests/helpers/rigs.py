"""Rigs as programs make them, on one human body: names, twist bones, helpers, fingers; for the tests of roles."""

from __future__ import annotations

import numpy as np

from poise import Skeleton
from poise.body.roles import BODY_ROLES
from poise.body.segments.proportions import build_skeleton, compute_proportions

HUMAN = build_skeleton(1.75, compute_proportions(), BODY_ROLES)


class Rig:
    """A rig under construction: joints by name, each with a parent and a place at rest (m)."""

    def __init__(self) -> None:
        self.names: list[str] = []
        self.parents: list[int] = []
        self.places: list[np.ndarray] = []

    def add(self, name: str, parent: str | None, place: np.ndarray) -> None:
        self.parents.append(-1 if parent is None else self.names.index(parent))
        self.names.append(name)
        self.places.append(np.asarray(place, float))

    def build(self) -> Skeleton:
        places = np.array(self.places)
        parents = np.array(self.parents)
        offsets = places - np.where(parents[:, None] < 0, 0.0, places[parents])
        return Skeleton(tuple(self.names), parents, offsets)


def at(role: str) -> np.ndarray:
    """Where a role's joint is in the human's T-pose."""
    return HUMAN.rest_positions()[HUMAN.index(role)]


def between(a: str, b: str, share: float) -> np.ndarray:
    return (1 - share) * at(a) + share * at(b)


def add_fingers(rig: Rig, hand: str, side: str, pattern: str, names: tuple[str, ...], first: int = 1) -> None:
    """Five fingers of three joints; the thumb starts near the wrist and points forward."""
    x = 1.0 if side == "left" else -1.0
    wrist = at(side + "Hand")
    for k, finger in enumerate(names):
        parent = hand
        for n in range(3):
            along = 0.03 + 0.02 * n if k == 0 else 0.09 + 0.025 * n
            across = 0.03 + 0.02 * n if k == 0 else 0.03 - 0.02 * (k - 1)
            name = pattern.format(finger=finger, n=n + first)
            rig.add(name, parent, wrist + np.array([x * along, 0.0, across]))
            parent = name


def unreal() -> tuple[Skeleton, dict[str, str]]:
    """Unreal's mannequin: twist bones beside the limbs, IK bones on the root, fingers."""
    rig = Rig()
    rig.add("root", None, np.zeros(3))
    truth = {"hips": "pelvis", "spine": "spine_01", "chest": "spine_02", "upperChest": "spine_03"}
    truth |= {"neck": "neck_01", "head": "head"}
    middle = ["hips", "spine", "chest", "upperChest", "neck", "head"]
    for parent, role in zip(["root", *(truth[r] for r in middle)], middle, strict=False):
        rig.add(truth[role], parent, at(role))
    for side in ("left", "right"):
        s = side[0]
        words = {"Shoulder": "clavicle", "UpperArm": "upperarm", "LowerArm": "lowerarm", "Hand": "hand"}
        words |= {"UpperLeg": "thigh", "LowerLeg": "calf", "Foot": "foot", "Toes": "ball"}
        parent = "spine_03"
        for stem, word in words.items():
            if stem == "UpperLeg":
                parent = "pelvis"
            rig.add(f"{word}_{s}", parent, at(side + stem))
            truth[side + stem] = parent = f"{word}_{s}"
        for upper, lower, word in (("UpperArm", "LowerArm", "upperarm"), ("UpperLeg", "LowerLeg", "thigh")):
            rig.add(f"{word}_twist_01_{s}", f"{word}_{s}", between(side + upper, side + lower, 0.5))
        add_fingers(rig, f"hand_{s}", side, "{finger}_0{n}_" + s, ("thumb", "index", "middle", "ring", "pinky"))
        truth[side + "IndexProximal"], truth[side + "LittleDistal"] = f"index_01_{s}", f"pinky_03_{s}"
    rig.add("ik_foot_root", "root", np.zeros(3))
    for side in ("left", "right"):
        rig.add(f"ik_foot_{side[0]}", "ik_foot_root", at(side + "Foot"))
    rig.add("ik_hand_root", "root", np.zeros(3))
    rig.add("ik_hand_gun", "ik_hand_root", at("rightHand"))
    for side in ("left", "right"):
        rig.add(f"ik_hand_{side[0]}", "ik_hand_gun", at(side + "Hand"))
    return rig.build(), truth


def daz() -> tuple[Skeleton, dict[str, str]]:
    """Daz Genesis 3 and 8: bend and twist bones in line, a pelvis for the legs beside the trunk, metatarsals."""
    rig = Rig()
    truth = {"hips": "hip", "spine": "abdomenLower", "chest": "chestLower", "upperChest": "chestUpper"}
    truth |= {"neck": "neckLower", "head": "head"}
    rig.add("hip", None, at("hips"))
    rig.add("pelvis", "hip", at("hips"))
    rig.add("abdomenLower", "hip", at("spine"))
    rig.add("abdomenUpper", "abdomenLower", between("spine", "chest", 0.5))
    rig.add("chestLower", "abdomenUpper", at("chest"))
    rig.add("chestUpper", "chestLower", at("upperChest"))
    rig.add("neckLower", "chestUpper", at("neck"))
    rig.add("neckUpper", "neckLower", between("neck", "head", 0.5))
    rig.add("head", "neckUpper", at("head"))
    for side in ("left", "right"):
        s = side[0]
        rows = [("Collar", "chestUpper", at(side + "Shoulder")), ("ShldrBend", "Collar", at(side + "UpperArm"))]
        rows += [("ShldrTwist", "ShldrBend", between(side + "UpperArm", side + "LowerArm", 0.45))]
        rows += [("ForearmBend", "ShldrTwist", at(side + "LowerArm"))]
        rows += [("ForearmTwist", "ForearmBend", between(side + "LowerArm", side + "Hand", 0.5))]
        rows += [("Hand", "ForearmTwist", at(side + "Hand"))]
        rows += [("ThighBend", "pelvis", at(side + "UpperLeg"))]
        rows += [("ThighTwist", "ThighBend", between(side + "UpperLeg", side + "LowerLeg", 0.5))]
        rows += [("Shin", "ThighTwist", at(side + "LowerLeg")), ("Foot", "Shin", at(side + "Foot"))]
        rows += [
            ("Metatarsals", "Foot", between(side + "Foot", side + "Toes", 0.3)),
            ("Toe", "Metatarsals", at(side + "Toes")),
        ]
        for name, parent, place in rows:
            rig.add(s + name, s + parent if s + parent in rig.names else parent, place)
        stems = {"Shoulder": "Collar", "UpperArm": "ShldrBend", "LowerArm": "ForearmBend", "Hand": "Hand"}
        stems |= {"UpperLeg": "ThighBend", "LowerLeg": "Shin", "Foot": "Foot", "Toes": "Toe"}
        truth |= {side + stem: s + name for stem, name in stems.items()}
    return rig.build(), truth


def mikumikudance() -> tuple[Skeleton, dict[str, str]]:
    """MikuMikuDance: trunk and legs on two halves, IK bones, doubled legs, thumbs counted from 0, full-width digits."""
    rig = Rig()
    rig.add("全ての親", None, np.zeros(3))
    rig.add("センター", "全ての親", at("hips") * 0.9)
    truth = {"hips": "センター", "spine": "上半身", "chest": "上半身2", "neck": "首", "head": "頭"}
    rig.add("上半身", "センター", at("spine"))
    rig.add("上半身2", "上半身", at("chest"))
    rig.add("首", "上半身2", at("neck"))
    rig.add("頭", "首", at("head"))
    rig.add("下半身", "センター", at("spine"))
    for side, s in (("left", "左"), ("right", "右")):
        stems = {"Shoulder": "肩", "UpperArm": "腕", "LowerArm": "ひじ", "Hand": "手首"}
        stems |= {"UpperLeg": "足", "LowerLeg": "ひざ", "Foot": "足首", "Toes": "つま先"}
        parent = "上半身2"
        for stem, word in stems.items():
            parent = "下半身" if stem == "UpperLeg" else parent
            rig.add(s + word, parent, at(side + stem))
            truth[side + stem] = parent = s + word
        rig.add(f"{s}腕捩", f"{s}腕", between(side + "UpperArm", side + "LowerArm", 0.5))
        rig.add(f"{s}足D", "下半身", at(side + "UpperLeg"))
        rig.add(f"{s}ひざD", f"{s}足D", at(side + "LowerLeg"))
        rig.add(f"{s}足ＩＫ", "全ての親", at(side + "Foot"))
        rig.add(f"{s}つま先ＩＫ", f"{s}足ＩＫ", at(side + "Toes"))
        add_fingers(rig, f"{s}手首", side, s + "{finger}{n}", ("人指", "中指", "薬指", "小指"))
        parent = f"{s}手首"
        for n, digit in enumerate("０１２"):
            rig.add(f"{s}親指{digit}", parent, at(side + "Hand") + np.array([0.03, 0.0, 0.03 + 0.02 * n]))
            parent = f"{s}親指{digit}"
        truth |= {side + "ThumbMetacarpal": f"{s}親指０", side + "IndexProximal": f"{s}人指1"}
    return rig.build(), truth


def rigify() -> tuple[Skeleton, dict[str, str]]:
    """Rigify's deform bones: one numbered spine from pelvis to head, limbs in two halves, suffixes .L and .001."""
    rig = Rig()
    spine = ["DEF-spine", *(f"DEF-spine.00{n}" for n in range(1, 7))]
    places = [
        at("hips"),
        at("spine"),
        at("chest"),
        at("upperChest"),
        at("neck"),
        between("neck", "head", 0.5),
        at("head"),
    ]
    for parent, name, place in zip([None, *spine], spine, places, strict=False):
        rig.add(name, parent, place)
    truth = dict(zip(("hips", "spine", "chest", "upperChest", "neck", "head"), [*spine[:5], spine[6]], strict=True))
    for side in ("left", "right"):
        s = side[0].upper()
        rig.add(f"DEF-pelvis.{s}", spine[0], at("hips") + np.array([0.05 if s == "L" else -0.05, 0.05, 0.0]))
        words = {"Shoulder": "shoulder", "UpperArm": "upper_arm", "LowerArm": "forearm", "Hand": "hand"}
        words |= {"UpperLeg": "thigh", "LowerLeg": "shin", "Foot": "foot", "Toes": "toe"}
        parent = spine[3]
        stems = list(words)
        for i, (stem, word) in enumerate(words.items()):
            parent = spine[0] if stem == "UpperLeg" else parent
            rig.add(f"DEF-{word}.{s}", parent, at(side + stem))
            truth[side + stem] = parent = f"DEF-{word}.{s}"
            if stem in ("UpperArm", "LowerArm", "UpperLeg", "LowerLeg"):
                rig.add(f"DEF-{word}.{s}.001", parent, between(side + stem, side + stems[i + 1], 0.5))
                parent = f"DEF-{word}.{s}.001"
    return rig.build(), truth


def cmu_asf() -> tuple[Skeleton, dict[str, str]]:
    """The CMU database's own names: sides as one letter, all in lower case."""
    rig = Rig()
    middle = {"hips": "root", "spine": "lowerback", "chest": "upperback", "upperChest": "thorax", "neck": "lowerneck"}
    middle |= {"head": "head"}
    for parent, (role, name) in zip([None, *middle.values()], middle.items(), strict=False):
        rig.add(name, parent, at(role))
    truth = dict(middle)
    for side in ("left", "right"):
        s = side[0]
        rig.add(f"{s}hipjoint", "root", at("hips"))
        words = {"Shoulder": "clavicle", "UpperArm": "humerus", "LowerArm": "radius", "Hand": "wrist"}
        words |= {"UpperLeg": "femur", "LowerLeg": "tibia", "Foot": "foot", "Toes": "toes"}
        parent = "thorax"
        for stem, word in words.items():
            parent = f"{s}hipjoint" if stem == "UpperLeg" else parent
            rig.add(s + word, parent, at(side + stem))
            truth[side + stem] = parent = s + word
    return rig.build(), truth


def quadruped() -> Skeleton:
    """A dog: a level spine, four legs, a head and a tail."""
    rig = Rig()
    rig.add("a", None, np.array([0.0, 0.5, -0.4]))
    rig.add("b", "a", np.array([0.0, 0.5, 0.0]))
    rig.add("c", "b", np.array([0.0, 0.5, 0.3]))
    rig.add("d", "c", np.array([0.0, 0.65, 0.5]))
    rig.add("e", "d", np.array([0.0, 0.65, 0.65]))
    for n in range(4):
        rig.add(f"t{n}", f"t{n - 1}" if n else "a", np.array([0.0, 0.5, -0.5 - 0.08 * n]))
    for k, (parent, x, z) in enumerate((("a", 0.1, -0.4), ("a", -0.1, -0.4), ("c", 0.1, 0.3), ("c", -0.1, 0.3))):
        for n, y in enumerate((0.45, 0.25, 0.08, 0.0)):
            rig.add(f"l{k}{n}", f"l{k}{n - 1}" if n else parent, np.array([x, y, z + 0.03 * n]))
    return rig.build()


def scramble(skeleton: Skeleton, rng: np.random.Generator) -> tuple[Skeleton, list[int]]:
    """The same tree with meaningless names and its children in another order, and each new joint's old index."""
    children: list[list[int]] = [skeleton.children(i) for i in range(len(skeleton))]
    order, waiting = [], [0]
    while waiting:
        joint = waiting.pop()
        order.append(joint)
        waiting += rng.permutation(children[joint]).astype(int).tolist()
    new = {old: i for i, old in enumerate(order)}
    parents = [-1 if skeleton.parents[old] < 0 else new[int(skeleton.parents[old])] for old in order]
    words = rng.choice(10**6, len(order), replace=False)
    names = tuple(f"x{word}" for word in words)
    return Skeleton(names, np.array(parents), skeleton.offsets[order], np.asarray(skeleton.tips)[order]), order
