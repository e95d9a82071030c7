"""Things on a stage: props, doors, swings, several people, grounds, touch and grasps."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .cases import add_case, case
from .names import find, poise
from .scenes import PARTS, ball, beat, box, human, plan, ragdoll, solid, stand, tracking

PROPS: dict[str, Callable[[], list[Any]]] = {
    "a wall": lambda: [box("wall", (0.6, 1.0, 0.05), (0.0, 1.0, 0.75), None)],
    "a wall apart": lambda: [box("wall", (0.6, 1.0, 0.05), (0.0, 1.0, 3.0), None)],
    "a ball": lambda: [ball("ball", (0.1, 1.2, 1.5), (0.0, 2.0, -6.0))],
    "a heavy ball": lambda: [ball("ball", (0.0, 1.2, 1.5), (0.0, 1.0, -9.0), 8.0)],
    "boxes": lambda: [
        box("crate", (0.2, 0.2, 0.2), (0.7, 0.6, 0.0), 9.0),
        box("block", (0.3, 0.1, 0.3), (0.7, 0.1, 0.0), None),
    ],
}


def run_props(props: Callable[[], list[Any]], people: int = 1, pushed: bool = False, **options: Any) -> Any:
    """Some who stand in a row among things."""
    stage = poise.Stage(**options)
    for prop in props():
        stage.add_prop(prop)
    for k in range(people):
        body, gesture = human(1.6 + 0.1 * k, 60.0 + 8.0 * k), beat(bpm=90.0 + 10.0 * k)
        actor = stand(stage, body, gesture, PARTS[stage.couple])
        if pushed and k == 0:
            actor.push("spine", (0.0, 0.0, 300.0), 0.3, 0.2)
    return stage.run(1.5)


for name, props in PROPS.items():
    add_case(f"prop {name}", run_props, props)
    add_case(f"prop {name}, bullet", run_props, props, engine="bullet", couple="paper")
add_case("prop a wall, fallen against", run_props, PROPS["a wall"], pushed=True)
add_case("prop a ball, paper", run_props, PROPS["a ball"], couple="paper")
add_case("several", run_props, list, people=3)
add_case("several, one falls", run_props, list, people=3, pushed=True)
add_case("several, one falls, two threads", run_props, list, people=3, pushed=True, threads=2)
add_case("several, with a wall", run_props, PROPS["a wall apart"], people=2)
add_case("several, with a ball", run_props, PROPS["a ball"], people=2)
add_case("several, with a ball, one falls", run_props, PROPS["a ball"], people=2, pushed=True)
add_case("several, bullet", run_props, list, people=2, engine="bullet", couple="paper")


@case("a door")
def run_door() -> Any:
    hinge = poise.Hinge
    half = (0.4, 1.0, 0.03)
    shape = poise.Box(np.zeros(3), np.array(half), np.array([1.0, 0.0, 0.0, 0.0]))
    at = hinge(np.array([-0.4, 0.0, 0.0]), np.array([0.0, 1.0, 0.0]), 0.5)
    stage = poise.Stage()
    stage.add_prop(poise.Prop("door", (shape,), solid(15.0, half), np.array([0.2, 1.05, 0.8]), hinge=at,
                              spin=np.array([0.0, 1.5, 0.0])))  # fmt: skip
    stand(stage)
    return stage.run(1.5)


def run_swing(late: float, dt: float = 0.005) -> Any:
    """A rider on a swing."""
    return find("pump")(late, 3.0, dt=dt)[1]


add_case("swing", run_swing, 0.0)
add_case("swing late", run_swing, 0.5, 0.01)


@case("swing with loose arms")
def run_loose_rider() -> Any:
    stage = poise.Stage()
    rider, _ = find("seat_rider")(stage, 0.0)
    return stage.run(2.0, each=plan((0.7, lambda: rider.drive("arms", poise.Loose()))))


@case("different ones together")
def run_different() -> Any:
    stage = poise.Stage(threads=2)
    stand(stage)
    stand(stage, human(1.2, 24.0, age=7.0), part="arms")
    tracked = stage.add(human(preset="tracking"), "tracked")
    tracked.drive("legs", poise.Balance())
    tracked.drive("upperBody", tracking())
    doll = stage.add(human(1.9, 90.0), "doll")
    doll.drive("root", poise.Free())
    doll.drive("upperBody", poise.Loose())
    return stage.run(1.5)


@case("joining and leaving")
def run_joining() -> Any:
    stage = poise.Stage()
    first = stand(stage)
    takes = [stage.run(0.5)]
    stand(stage, human(1.6, 58.0), beat(bpm=130.0))
    takes.append(stage.run(0.5))
    stage.remove(first)
    takes.append(stage.run(0.5))
    return takes


# Grounds.

GROUNDS: dict[str, Callable[[], Any]] = {
    "raised": lambda: poise.Ground(height=1.0),
    "tilted": lambda: poise.Slope(np.radians(6.0), 0.4),
    "steps": lambda: poise.Stairs(0.1, 0.3, 3, start=-0.05),
    "steps down": lambda: poise.Stairs(-0.1, 0.3, 3, start=0.02, heading=0.3),
    "profile": lambda: poise.Profile(((-0.5, 0.0), (-0.02, 0.05), (0.5, 0.08), (0.5, 0.2)), 0.2),
    "height map": lambda: poise.HeightMap(0.02 * np.random.default_rng(3).random((30, 30)), 0.1),
    "moving": lambda: poise.MovingGround(poise.Ground(), sway=(0.05, 0.0, 0.05), period=3.0),
    "moving map": lambda: poise.MovingGround(
        poise.HeightMap(0.02 * np.random.default_rng(3).random((30, 30)), 0.1), velocity=(0.0, 0.0, 0.1)),
}  # fmt: skip
ASKED = np.random.default_rng(5).uniform(-1.5, 1.5, (2, 200))


def ask_ground(make: Callable[[], Any]) -> Any:
    """All that a ground answers."""
    ground, (x, z) = make(), ASKED
    found = {
        name: getattr(ground, name)(x, z, 0.7) for name in ("height_at", "normal_at", "friction_at", "velocity_at")
    }
    described = {key: value for key, value in ground.describe().items() if key != "heights"}  # an address
    return {**found, "described": described}


def run_on(make: Callable[[], Any], falls: bool = False, **options: Any) -> Any:
    """One who stands and conducts on a ground, or a doll that falls on it."""
    stage = poise.Stage(ground=make(), **options)
    if falls:
        ragdoll(stage, 0.2, preset="mix")
    else:
        stand(stage, part=PARTS[stage.couple])
    return stage.run(1.0)


for name, ground in GROUNDS.items():
    add_case(f"ground {name}, asked", ask_ground, ground)
    add_case(f"ground {name}, stood on", run_on, ground)
    add_case(f"ground {name}, fallen on", run_on, ground, True)
    if "moving" not in name:
        add_case(f"ground {name}, stood on, bullet", run_on, ground, engine="bullet", couple="paper")
        add_case(f"ground {name}, fallen on, bullet", run_on, ground, True, engine="bullet", couple="paper")


# Touch and hits.

TOUCHES: dict[str, dict[str, Any]] = {
    "not itself": {"itself": False},
    "all of itself": {"itself": True},
    "soft": {"softness": 0.02, "friction": 0.4},
    "bounces": {"bounce": 0.5},
    "penalty": {"forces": "penalty", "itself": False},
    "penalty, soft": {"forces": "penalty", "softness": 0.01},
    "apart": {"apart": (("one", "two"),)},
    "only": {"only": (("one/leftHand", "two"),)},
    "nobody": {"actors": False, "props": False},
}


def run_touch(engine: str = "mujoco", **touch: Any) -> Any:
    """A limp body falls on another, with a ball above them."""
    stage = poise.Stage(engine, touch=poise.ContactSettings(**touch), couple="exact" if engine == "mujoco" else "paper")
    ragdoll(stage, 0.1, "one", "mix")
    ragdoll(stage, 1.6, "two", "mix")
    stage.add_prop(ball("ball", (0.0, 4.0, 0.0), (0.0, -3.0, 0.0)))
    return stage.run(1.2)


for name, options in TOUCHES.items():
    add_case(f"touch {name}", run_touch, **options)
for name in ("not itself", "soft", "penalty"):
    add_case(f"touch {name}, bullet", run_touch, "bullet", **TOUCHES[name])


@case("hands that push each other")
def run_push_hands() -> Any:
    stage = poise.Stage(touch=poise.ContactSettings(softness=0.01))
    skeleton = human().skeleton
    stand_pose = find("stand_pose")(skeleton)
    for k, name in enumerate(("one", "two")):
        turn = poise.rotation.from_axis_angle(np.array([0.0, 1.0, 0.0]), np.pi * k)
        turns = stand_pose.rotations.copy()
        turns[0] = poise.rotation.multiply(turn, turns[0])
        actor = stage.add(human(), name, poise.Pose(stand_pose.root + [0.0, 0.0, 0.9 * k], turns))
        actor.drive("legs", poise.Balance())
        actor.drive("arms", poise.Kinematic(poise.gestures.arm_swing(0.8, 60.0)))
    return stage.run(1.5)


# Things in hands, and riding.


def run_grasp(engine: str = "mujoco", let_go: bool = False) -> Any:
    """A staff in a hand that conducts."""
    stage = poise.Stage(engine) if engine == "mujoco" else poise.Stage(engine, couple="paper")
    stage.add_prop(poise.Prop.capsule("staff", 0.015, 1.7, 1.2))
    actor = stage.add(human(), "actor")
    actor.grasp("rightHand", "staff")
    actor.drive("legs", poise.Balance())
    actor.drive("arms", poise.Kinematic(poise.gestures.conduct(hands="both")))
    return stage.run(1.2, each=plan((0.6, lambda: actor.drop("rightHand"))) if let_go else None)


add_case("grasp a staff", run_grasp)
add_case("grasp a staff and let go", run_grasp, let_go=True)
add_case("grasp a staff, bullet", run_grasp, "bullet")
add_case("grasp a staff and let go, bullet", run_grasp, "bullet", True)


@case("riding a swing by a clip")
def run_riding() -> Any:
    """A child on a swing leans back with its legs out, and to and fro: the root rides on the prop."""
    stage, child = poise.Stage(), human(1.4, 36.0)
    swing = stage.add_prop(poise.build_swing(length=1.9, angle=np.radians(5.0)))
    times = np.arange(0.0, 3.0, 0.02)
    out = 0.5 + 0.5 * np.sin(2.4 * times)
    turns = poise.rotation.identity((len(times), len(child.skeleton)))
    for role, under, far in (("spine", 12, -42), ("head", -8, 30), ("UpperLeg", -78, -100), ("LowerLeg", 98, 14)):
        angle = np.radians(under + (far - under) * out)
        for joint in [role] if role in child.skeleton.roles else ["left" + role, "right" + role]:
            turns[:, child.skeleton.index(joint)] = poise.rotation.exp(angle[:, None] * [1.0, 0.0, 0.0])
    clip = poise.Clip(child.skeleton, times, np.zeros((len(times), 3)), turns, "pump")
    seat = swing.position + poise.rotation.rotate(swing.turn, np.array([0.0, 0.085, -0.07]))
    start = np.array(turns[0])
    start[0] = swing.turn
    rider = stage.add(child, "rider", poise.Pose(seat, start))
    rider.drive("root", poise.Attached("swing"))
    rider.drive("body", poise.Kinematic(clip))
    return stage.run(2.5)
