"""Bodies that follow within limits, live motions, ghosts and staffs: the drivers that hold a state of their own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .cases import add_case, case
from .cases_drivers import drive
from .names import find, poise
from .scenes import human, make_clip, plan, stand, switch

STRENGTHS: dict[str, dict[str, Any]] = {
    "swings": {},
    "by levels": {"strict": True},
    "without hands": {"hands": False},
    "leads a hand": {"effectors": {"rightHand": "position"}, "insists": 30.0},
    "leads both": {"effectors": {"rightHand": "both", "leftHand": "orientation"}, "strict": True},
    "all of the centre": {"center": "xyz"},
    "cut off": {"cutoff": 4.0, "alpha": 0.4},
    "a path of the centre": {"paths": {"center": ([0.0, 1.0], [[0.0, 1.0, 0.0], [0.0, 0.9, 0.02]])}},
    "weak": {"scale": 0.4},
    "too weak": {"scale": 0.05},
}


def run_strength(engine: str = "mujoco", dt: float = 0.01, seconds: float = 0.5, strict: bool = False,
                 scale: float = 1.0, push: float = 0.0, gesture: Any = None, **options: Any) -> Any:  # fmt: skip
    """A body that follows within its strength."""
    stage = poise.Stage(engine, dt=dt)
    body = human(preset="strength")
    actor = stage.add(body)
    if "paths" in options:
        options["paths"] = {name: poise.PointPath(*path) for name, path in options["paths"].items()}
    if strict:
        options["priorities"] = "strict"
    muscles = poise.JointStrength.from_character(body).scaled(scale)
    actor.drive("body", poise.Strength(gesture or poise.gestures.arm_swing(0.5), muscles, **options))
    if push:
        actor.push("spine", (0.0, 0.0, push), 0.2, 0.1)
    return [stage.run(seconds, fps=30.0), {"state": stage.save()}]


for name, options in STRENGTHS.items():
    add_case(f"strength {name}", run_strength, **options)
    add_case(f"strength {name}, inverse", run_strength, "inverse", 1.0 / 30.0, **options)
add_case("strength pushed over", run_strength, "inverse", 1.0 / 30.0, 3.0, push=350.0)
add_case("strength pushed over, MuJoCo", run_strength, seconds=1.5, push=350.0)
add_case("strength conducts", run_strength, seconds=1.0, gesture=poise.gestures.conduct(hands="both"))


@case("strength before a wall")
def run_helping_hands() -> Any:
    """Shoved at a wall, the hands reach out for it."""
    stage = poise.Stage()
    stage.add_prop(poise.Prop.box("wall", (2.0, 2.0, 0.1), None, (0.0, 1.0, 0.75)))
    actor = stage.add(human())
    actor.drive("body", poise.Strength(make_clip("idle", actor.skeleton, 4.0)))
    actor.push("spine", (0.0, 0.0, 130.0), 0.3, 0.2)
    return stage.run(2.0, fps=50.0)


@case("strength carries another")
def run_strength_and_loads() -> Any:
    stage = poise.Stage("inverse", dt=1.0 / 30.0)
    actor = stage.add(human(preset="strength"), loads=[poise.Load("rightHand", 4.0)])
    actor.drive("body", poise.Strength(poise.gestures.breathe()))
    return stage.run(2.0, fps=30.0, each=plan((1.0, lambda: actor.drop("rightHand"))))


@case("staff kept upright")
def run_staff(way: str = "upright", engine: str = "mujoco", **options: Any) -> Any:
    stage, actor = find("build_staff")(way, engine)
    if options:
        actor.drive(["rightHand"], poise.KeepUpright("staff", **options))
    return [stage.run(2.0), {"state": stage.save()}]


add_case("staff tracked", run_staff, "tracked")
add_case("staff animated", run_staff, "animated")
add_case("staff kept upright, bullet", run_staff, engine="bullet")
add_case("staff kept upright, weak", run_staff, strength=0.5, twists=False, quickness=10.0)


class Source:
    """A live motion: a pose that jumps twenty times a second."""

    is_live = True

    def __init__(self, skeleton: Any):
        self.skeleton = skeleton

    def pose(self, t: float) -> Any:
        turns = poise.rotation.identity((len(self.skeleton),))
        for k, joint in enumerate(find("part_joints")(self.skeleton, "upperBody")):
            turns[joint] = poise.rotation.exp(0.4 * np.sin(0.13 * np.floor(20.0 * t) + np.array([k, 2.0 * k, 3.0 * k])))
        return poise.Pose(np.array([0.1 * np.sin(0.1 * np.floor(20.0 * t)), 1.0, 0.0]), turns)


def feed(skeleton: Any, delay: float | None = None) -> Any:
    """A feed with jitter and gaps, all of which has come."""
    source, motion = Source(skeleton), poise.Live(skeleton) if delay is None else poise.Live(skeleton, delay=delay)
    rng, t = np.random.default_rng(0), 0.0
    for _ in range(120):
        t += rng.uniform(0.01, 0.08) + (0.5 if rng.random() < 0.05 else 0.0)
        motion.put(t, source.pose(t))
    return motion


LIVE: dict[str, dict[str, Callable[[Any], Any]]] = {
    "played": {
        "legs": lambda _: poise.Balance(),
        "upperBody": lambda b: poise.Kinematic(Source(b.skeleton), start=0.2),
    },
    "tracked": {"legs": lambda _: poise.Balance(), "arms": lambda b: poise.Track(Source(b.skeleton))},
    "fed": {"legs": lambda _: poise.Balance(), "upperBody": lambda b: poise.Kinematic(feed(b.skeleton))},
    "fed late, with its root": {
        "root": lambda b: poise.Kinematic(feed(b.skeleton, 0.3)),
        "body": lambda b: poise.Kinematic(feed(b.skeleton, 0.3)),
    },
}
for name, parts in LIVE.items():
    add_case(f"live motion {name}", drive, parts, 2.0)


@case("live motion after physics")
def run_live_switch() -> Any:
    standing = {"legs": poise.Balance, "upperBody": lambda: poise.Loose(8.0)}
    skeleton = human().skeleton
    return switch(standing, (0.5, "upperBody", lambda: poise.Kinematic(Source(skeleton))), (1.2, "arms", poise.Loose))


@case("shadow of a walker")
def run_shadow(push: float = 150.0, **options: Any) -> Any:
    stage = poise.Stage(**options)
    body = poise.Character.human(1.75, 75)
    ghost, follower = stage.add(body, "ghost"), stage.add(body, "body")
    ghost.drive("body", poise.Walk(3, waits_for=follower, far=0.3, blind=True))
    follower.drive("body", poise.Shadow(ghost))
    follower.push("chest", (push, 0.0, 0.0), 0.2, 1.0)
    return [stage.run(2.5, fps=50.0), {"state": stage.save()}]


add_case("shadow held back", run_shadow, -400.0, dt=0.002)


@case("shadows of another actor")
def run_ghosts() -> Any:
    """One conducts; one before and one after him in the list play and track what he does."""
    stage = poise.Stage(threads=2)
    before, conductor, after = (stage.add(human(), name) for name in ("before", "one", "after"))
    conductor.drive("legs", poise.Balance())
    conductor.drive("arms", poise.Kinematic(poise.gestures.conduct(hands="both")))
    before.drive("root", poise.Kinematic(conductor))
    before.drive("body", poise.Kinematic(conductor))
    after.drive("legs", poise.Balance())
    after.drive("arms", poise.Track(conductor))
    return stage.run(1.5)


@case("a change of a gesture's parameters, twice")
def run_changes() -> Any:
    stage = poise.Stage()
    actor = stand(stage, part="arms")
    moments = [(0.4, lambda: actor.change("arms", bpm=110, size=1.4)), (0.5, lambda: actor.change(bpm=130, size=0.8)),
               (0.9, lambda: actor.change(beats=4, takes_part=0.7))]  # fmt: skip
    return stage.run(2.0, each=plan(*moments))
