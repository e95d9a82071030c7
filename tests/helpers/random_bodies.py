"""Random bodies: people as artists and engineers build them, each with what its joints really are; branching trees.

Ordinary people, and people with one or more oddities: cartoon heads, digitigrade legs, robots' many tiny joints, tails,
wings, capes, skirts, hair, weapons, backpacks, IK targets, twist bones, many fingers, missing limbs. And some that are
no people at all. Where everything stands is in metres, Y up, facing +Z, left on +X. The trees have free roots and ball
joints, as dynamics has them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from helpers import rigs
from poise import Skeleton, rotation
from poise.body.role_finding.guess import RoleGuess, guess_roles
from poise.body.roles import ARM_STEMS, LEG_STEMS, sided
from poise.dynamics.tree import Tree, TreeState
from poise.errors import PoiseError
from poise.motion.samples import walk

SIDES = (("left", 1.0), ("right", -1.0))
MAIN = ("hips", "spine", "head", *sided(LEG_STEMS[:3]), *sided(ARM_STEMS[1:]))
SAME_PLACE = 0.015  # m: a robot's axes, any of which may be the joint


@dataclass
class Body:
    """A body under construction: names, parents and places of its joints, and role -> joint as it really is."""

    rng: np.random.Generator
    names: list[str] = field(default_factory=list)
    parents: list[int] = field(default_factory=list)
    places: list[np.ndarray] = field(default_factory=list)
    tips: dict[str, np.ndarray] = field(default_factory=dict)
    roles: dict[str, str] = field(default_factory=dict)

    def add(self, name: str, parent: str | None, place: np.ndarray, role: str | None = None) -> str:
        self.names.append(name)
        self.parents.append(-1 if parent is None else self.names.index(parent))
        self.places.append(np.asarray(place, float))
        if role:
            self.roles[role] = name
        return name

    def at(self, name: str) -> np.ndarray:
        return self.places[self.names.index(name)]

    def chain(self, stem: str, parent: str, step: np.ndarray, count: int) -> str:
        """Joints one after the other, each a step on, a little crooked."""
        for n in range(count):
            crooked = step + self.rng.normal(scale=0.08 * np.linalg.norm(step), size=3)
            parent = self.add(f"{stem}{n}", parent, self.at(parent) + crooked)
        return parent

    def build(self) -> Skeleton:
        places, parents = np.array(self.places), np.array(self.parents)
        offsets = places - np.where(parents[:, None] < 0, 0.0, places[parents])
        tips = np.array([self.tips.get(name, np.full(3, np.nan)) for name in self.names])
        return Skeleton(tuple(self.names), parents, offsets, tips, dict(self.roles))


@dataclass(frozen=True)
class Plan:
    """What a body is like: lengths as factors of an average person's, numbers of joints, and its oddities."""

    leg: float = 1.0
    arm: float = 1.0
    trunk: float = 1.0
    head: float = 1.0
    spine: int = 3
    neck: int = 1
    fingers: int = 0
    clavicle: bool = True
    toes: bool = True
    tips: bool = True
    arms: str = "T"
    oddities: tuple[str, ...] = ()


def make_person(rng: np.random.Generator, plan: Plan) -> Body:
    """A body by its plan; 1.7 m tall where the factors are 1."""
    body = Body(rng)
    thigh, shank, foot = 0.42 * plan.leg, 0.42 * plan.leg, 0.08
    hips = np.array([0.0, thigh + shank + foot, 0.0])
    root = body.add("ground", None, np.zeros(3)) if "ground root" in plan.oddities else None
    if "IK targets" in plan.oddities and root is None:
        root = body.add("ground", None, np.zeros(3))
    top = body.add("hips", root, hips, "hips")
    rise = 0.45 * plan.trunk
    for n in range(plan.spine):
        role = {0: "spine"}.get(n)
        top = body.add(f"spine{n}", top, hips + [0.0, rise * (n + 1) / (plan.spine + 1), 0.01 * n], role)
    chest = top
    neck = hips + [0.0, rise, 0.0]
    if "missing head" not in plan.oddities:
        for n in range(plan.neck):
            top = body.add(f"neck{n}", top, neck + [0.0, 0.1 * plan.head * n / max(1, plan.neck), 0.0])
        top = body.add("head", top, neck + [0.0, 0.1 * plan.head, 0.01], "head")
        if plan.tips:
            body.tips["head"] = np.array([0.0, 0.18 * plan.head, 0.0])
    for side, sign in SIDES:
        _add_leg(body, plan, side, sign, (thigh, shank, foot))
        if "missing arms" in plan.oddities or ("missing arm" in plan.oddities and side == "left"):
            continue
        _add_arm(body, plan, side, sign, chest, neck)
    for oddity in plan.oddities:
        if oddity in ODDITIES:
            ODDITIES[oddity](body)
    return body


def _add_leg(body: Body, plan: Plan, side: str, sign: float, lengths: tuple[float, float, float]) -> None:
    thigh, shank, foot = lengths
    hip = body.at("hips") + [sign * 0.09, -0.01, 0.0]
    joint = _tiny(body, plan, f"{side}Hip", "hips", hip)
    joint = body.add(f"{side}UpperLeg", joint, hip, f"{side}UpperLeg")
    if "digitigrade" in plan.oddities:
        knee, hock, ball = (
            hip + [0, -0.8 * thigh, 0.12],
            hip + [0, -1.35 * thigh, -0.16],
            hip + [0, -thigh - shank - 0.02, 0.0],
        )
        joint = body.add(f"{side}LowerLeg", joint, knee, f"{side}LowerLeg")
        joint = body.add(f"{side}Foot", joint, hock, f"{side}Foot")
        joint = body.add(f"{side}Toes", joint, ball, f"{side}Toes")
        body.tips[joint] = np.array([0.0, -0.03, 0.1])
        return
    if "single-joint legs" in plan.oddities:
        joint = body.add(f"{side}Foot", joint, hip + [0.0, -thigh - shank, 0.0])
        body.roles.pop(f"{side}UpperLeg")
        body.tips[joint] = np.array([0.0, -foot, 0.15])
        return
    if "twist in line" in plan.oddities:
        joint = body.add(f"{side}LegTwist", joint, hip + [0.0, -0.5 * thigh, 0.003])
    if "twist beside" in plan.oddities:
        body.add(f"{side}LegRoll", joint, hip + [0.0, -0.5 * thigh, 0.003])
    knee = hip + [0.0, -thigh, 0.01]
    joint = _tiny(body, plan, f"{side}Knee", joint, knee)
    joint = body.add(f"{side}LowerLeg", joint, knee, f"{side}LowerLeg")
    ankle = hip + [0.0, -thigh - shank, -0.01]
    joint = _tiny(body, plan, f"{side}Ankle", joint, ankle)
    joint = body.add(f"{side}Foot", joint, ankle, f"{side}Foot")
    if plan.toes:
        joint = body.add(f"{side}Toes", joint, ankle + [0.0, 0.02 - foot, 0.14], f"{side}Toes")
        body.tips[joint] = np.array([0.0, 0.0, 0.06])
    elif plan.tips:
        body.tips[joint] = np.array([0.0, -foot, 0.18])


def _add_arm(body: Body, plan: Plan, side: str, sign: float, chest: str, neck: np.ndarray) -> None:
    upper, lower = 0.28 * plan.arm, 0.25 * plan.arm
    angle = {"T": 0.0, "A": -0.8, "down": -1.5}[plan.arms]
    way = np.array([sign * np.cos(angle), np.sin(angle), 0.0])
    shoulder = neck + [sign * 0.17, -0.05, 0.0]
    joint = chest
    if plan.clavicle:
        joint = body.add(f"{side}Shoulder", joint, neck + [sign * 0.04, -0.03, 0.0], f"{side}Shoulder")
    joint = _tiny(body, plan, f"{side}Arm", joint, shoulder)
    joint = body.add(f"{side}UpperArm", joint, shoulder, f"{side}UpperArm")
    if "twist in line" in plan.oddities:
        joint = body.add(f"{side}ArmTwist", joint, shoulder + 0.5 * upper * way)
    if "twist beside" in plan.oddities:
        body.add(f"{side}ArmRoll", joint, shoulder + 0.5 * upper * way)
    elbow, wrist = shoulder + upper * way, shoulder + (upper + lower) * way
    joint = _tiny(body, plan, f"{side}Elbow", joint, elbow)
    joint = body.add(f"{side}LowerArm", joint, elbow, f"{side}LowerArm")
    joint = _tiny(body, plan, f"{side}Wrist", joint, wrist)
    hand = body.add(f"{side}Hand", joint, wrist, f"{side}Hand")
    for k in range(plan.fingers):
        spread = np.array([0.0, 0.0, 0.03 - 0.018 * k])
        start = body.add(f"{side}Finger{k}", hand, wrist + (0.03 if k == 0 else 0.08) * way + spread)
        body.chain(f"{side}Finger{k}_", start, 0.03 * way + (0.3 * spread if k == 0 else 0.0), 2)
    if plan.tips and not plan.fingers:
        body.tips[hand] = 0.16 * plan.arm * way


def _tiny(body: Body, plan: Plan, stem: str, parent: str, place: np.ndarray) -> str:
    """A robot's yaw and roll joints just before the one that counts."""
    if "robot" not in plan.oddities:
        return parent
    for n in range(2):
        parent = body.add(f"{stem}Axis{n}", parent, place + body.rng.normal(scale=0.004, size=3))
    return parent


def _chest(body: Body) -> str:
    return next((name for name in reversed(body.names) if name.startswith("spine")), "hips")


def _tail(body: Body) -> None:
    body.chain("tail", "hips", np.array([0.0, -0.04, -0.11]), int(body.rng.integers(3, 9)))


def _wings(body: Body) -> None:
    count, length = int(body.rng.integers(2, 5)), float(body.rng.uniform(0.15, 0.4))
    for side, sign in SIDES:
        start = body.add(f"{side}Wing", _chest(body), body.at(_chest(body)) + [sign * 0.05, 0.08, -0.08])
        body.chain(f"{side}Wing", start, length * np.array([sign * 0.8, 0.3, -0.4]), count)


def _cape(body: Body) -> None:
    for k, x in enumerate((-0.12, 0.0, 0.12)):
        start = body.add(f"cape{k}", _chest(body), body.at(_chest(body)) + [x, 0.08, -0.1])
        body.chain(f"cape{k}_", start, np.array([0.2 * x, -0.2, -0.02]), 4)


def _skirt(body: Body) -> None:
    for k in range(8):
        angle = 2 * np.pi * k / 8
        out = np.array([np.sin(angle), 0.0, np.cos(angle)])
        start = body.add(f"skirt{k}", "hips", body.at("hips") + 0.12 * out)
        body.chain(f"skirt{k}_", start, 0.06 * out - [0.0, 0.17, 0.0], 2)


def _hair(body: Body) -> None:
    if "head" in body.names:
        for k in range(6):
            start = body.add(f"hair{k}", "head", body.at("head") + [0.03 * (k - 2.5), 0.12, -0.08])
            body.chain(f"hair{k}_", start, np.array([0.0, -0.11, -0.02]), 5)


def _weapon(body: Body) -> None:
    if "rightHand" in body.names:
        body.add("weapon", "rightHand", body.at("rightHand") + [0.0, 0.2, 0.9])


def _backpack(body: Body) -> None:
    body.add("backpack", _chest(body), body.at(_chest(body)) + [0.0, 0.0, -0.2])


def _ears(body: Body) -> None:
    if "head" in body.names:
        for side, sign in SIDES:
            start = body.add(f"{side}Ear", "head", body.at("head") + [sign * 0.08, 0.15, 0.0])
            body.chain(f"{side}Ear", start, np.array([sign * 0.03, 0.12, 0.0]), 2)


def _targets(body: Body) -> None:
    for side, _ in SIDES:
        for stem in ("Foot", "Hand", "LowerLeg"):
            if side + stem in body.names:
                body.add(f"{side}{stem}Target", "ground", body.at(side + stem) + [0.0, 0.0, 0.3 * (stem == "LowerLeg")])


def _more_arms(body: Body) -> None:
    for side, sign in SIDES:
        if f"{side}UpperArm" in body.names:
            start = body.add(f"{side}Second", _chest(body), body.at(f"{side}UpperArm") - [0.02 * sign, 0.16, 0.0])
            joint = body.add(f"{side}SecondElbow", start, body.at(start) + [sign * 0.26, 0.0, 0.0])
            body.add(f"{side}SecondHand", joint, body.at(joint) + [sign * 0.24, 0.0, 0.0])


ODDITIES: dict[str, Callable[[Body], None]] = {
    "tail": _tail, "wings": _wings, "cape": _cape, "skirt": _skirt, "hair": _hair, "weapon": _weapon,
    "backpack": _backpack, "ears": _ears, "IK targets": _targets, "four arms": _more_arms,
}  # fmt: skip
# Those that change how the body itself is built.
BUILDS = ("digitigrade", "twist in line", "twist beside", "robot", "missing arm", "missing arms", "missing head")
BUILDS = (*BUILDS, "single-joint legs", "ground root", "big head", "many fingers", "stub legs")


def random_plan(rng: np.random.Generator, oddities: int) -> Plan:
    """A body of random proportions with so many oddities."""
    known = [*ODDITIES, *BUILDS]
    picked = tuple(str(word) for word in rng.choice(known, oddities, replace=False)) if oddities else ()
    spread = 0.05 if not oddities else 0.12

    def factor(usual: float = 1.0) -> float:
        return float(usual * np.exp(rng.normal(scale=spread)))

    return Plan(
        leg=factor(0.55 if "stub legs" in picked else 1.0),
        arm=factor(),
        trunk=factor(),
        head=factor(3.0 if "big head" in picked else 1.0),
        spine=int(rng.integers(1, 5)),
        neck=int(rng.integers(0, 3)),
        fingers=5 if "many fingers" in picked else int(rng.choice([0, 0, 3, 5])),
        clavicle=bool(rng.random() < 0.7),
        toes=bool(rng.random() < 0.7),
        tips=bool(rng.random() < 0.6),
        arms=str(rng.choice(["T", "A", "down"])),
        oddities=picked,
    )


def make_beast(rng: np.random.Generator) -> Body:
    """What is no person: a dog, a spider, a bird, a snake, a crane, a table."""
    body, kind = Body(rng), str(rng.choice(["dog", "spider", "bird", "snake", "crane", "table"]))
    scale = float(np.exp(rng.normal(scale=0.2)))
    top = body.add("body", None, np.array([0.0, 0.5, 0.0]))
    if kind == "dog":
        chest = body.chain("back", top, scale * np.array([0.0, 0.01, 0.2]), 3)
        head = body.chain("neck", chest, np.array([0.0, 0.08, 0.1]), 2)
        body.tips[head] = np.array([0.0, 0.0, 0.15])
        body.chain("tail", top, np.array([0.0, 0.0, -0.1]), int(rng.integers(2, 7)))
        for parent, stem in ((top, "hind"), (chest, "fore")):
            for side, sign in SIDES:
                start = body.add(f"{side}{stem}", parent, body.at(parent) + [sign * 0.1, -0.03, 0.0])
                knee = body.add(f"{side}{stem}Knee", start, body.at(start) + [0.0, -0.2, 0.04])
                hock = body.add(f"{side}{stem}Hock", knee, body.at(knee) + [0.0, -0.18, -0.05])
                body.add(f"{side}{stem}Paw", hock, body.at(hock) + [0.0, -0.07, 0.04])
    elif kind == "spider":
        for k in range(8):
            out = np.array([np.sin(0.8 * k + 0.4), 0.0, np.cos(0.8 * k + 0.4)])
            start = body.add(f"leg{k}", top, body.at(top) + 0.1 * out)
            knee = body.add(f"leg{k}Knee", start, body.at(start) + scale * (0.3 * out + [0.0, 0.2, 0.0]))
            body.chain(f"leg{k}_", knee, scale * (0.2 * out - [0.0, 0.35, 0.0]), 2)
    elif kind == "bird":
        body.chain("neck", top, np.array([0.0, 0.1, 0.06]), 3)
        for side, sign in SIDES:
            wing = body.add(f"{side}Wing", top, body.at(top) + [sign * 0.05, 0.03, 0.0])
            body.chain(f"{side}Wing", wing, scale * np.array([sign * 0.3, 0.0, -0.05]), 3)
            leg = body.add(f"{side}Leg", top, body.at(top) + [sign * 0.05, -0.05, -0.05])
            body.chain(f"{side}Leg", leg, np.array([0.0, -0.13, 0.0]), 2)
    elif kind == "snake":
        body.chain("back", top, np.array([0.0, 0.0, 0.1]), 30)
    elif kind == "crane":
        arm = body.chain("link", top, np.array([0.0, 0.3, 0.2]), 4)
        for side, sign in SIDES:
            body.chain(f"{side}Claw", arm, np.array([sign * 0.05, 0.1, 0.0]), 2)
    else:
        for k, (x, z) in enumerate(((0.4, 0.3), (-0.4, 0.3), (0.4, -0.3), (-0.4, -0.3))):
            body.add(f"foot{k}", body.add(f"leg{k}", top, np.array([x, 0.5, z])), np.array([x, 0.0, z]))
    return body


def turned(skeleton: Skeleton, q: np.ndarray) -> Skeleton:
    """The same body with its rest pose turned."""
    return skeleton.replace(
        offsets=rotation.rotate(q, skeleton.offsets), tips=rotation.rotate(q, np.asarray(skeleton.tips))
    )


def guess(
    body: Body, rng: np.random.Generator, with_motion: bool, given: tuple[str, ...] = ()
) -> tuple[RoleGuess, list[str]]:
    """The roles of a body without its names, in any axes and order; and which main roles are wrong."""
    skeleton, q = body.build(), rotation.random(rng)
    nameless, order = rigs.scramble(turned(skeleton.replace(roles={}), q), rng)
    poses = None
    if with_motion:
        try:
            clip = walk(skeleton, 2.0, fps=10.0)
            poses = rotation.rotate(q, skeleton.pose(clip.root[::2], clip.rotations[::2])[0])[:, order]
        except PoiseError:
            pass  # what has no knees does not walk
    new = {skeleton.names[old]: name for name, old in zip(nameless.names, order, strict=True)}
    found = guess_roles(nameless, {role: new[skeleton.roles[role]] for role in given}, poses)
    places, real = (
        skeleton.rest_positions(),
        {name: skeleton.names[old] for name, old in zip(nameless.names, order, strict=True)},
    )

    def is_right(role: str) -> bool:
        truth, joint = skeleton.roles.get(role), found.roles.get(role)
        if truth is None or joint is None:
            return truth is joint or (role == "spine" and truth is None)
        apart = places[skeleton.names.index(truth)] - places[skeleton.names.index(real[joint])]
        return float(np.linalg.norm(apart)) < SAME_PLACE

    return found, [role for role in MAIN if not is_right(role)]


def random_tree(rng: np.random.Generator, joints: int = 17) -> Tree:
    """A branching tree whose bodies are clouds of points, so that every inertia is one that matter can have."""
    parents = [-1, *(int(rng.integers(max(0, i - 5), i)) for i in range(1, joints))]
    inertias = []
    for _ in range(joints):
        cloud = rng.standard_normal((8, 3)) * rng.uniform(0.02, 0.15, 3)
        cloud -= cloud.mean(axis=0)
        inertias.append(np.eye(3) * np.sum(cloud**2) - cloud.T @ cloud)
    return Tree(
        tuple(f"body{i}" for i in range(joints)),
        np.array(parents),
        rng.standard_normal((joints, 3)) * 0.3,
        rng.uniform(0.2, 10.0, joints),
        rng.standard_normal((joints, 3)) * 0.1,
        np.array(inertias),
    )


def random_state(rng: np.random.Generator, tree: Tree, batch: tuple[int, ...] = ()) -> TreeState:
    """A pose anywhere, moving fast."""
    joints = (*batch, len(tree))
    normal = rng.standard_normal
    return TreeState(
        normal((*batch, 3)),
        rotation.random(rng, joints),
        normal((*batch, 3)) * 2,
        normal((*joints, 3)) * 4,
        normal((*batch, 3)) * 10,
        normal((*joints, 3)) * 40,
    )


def human_tree(rng: np.random.Generator) -> Tree:
    """A human of random size and build, every joint of the full preset with its own mass or none."""
    from poise.body.character import Character
    from poise.dynamics.tree import build_tree

    return build_tree(
        Character.human(
            height=rng.uniform(1.2, 2.1), mass=rng.uniform(30, 150), sex=str(rng.choice(["male", "female"])), age=30
        )
    )
