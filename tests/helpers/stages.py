"""Stages with a past, to be saved and gone on with elsewhere.

    python -m helpers.stages SECONDS FOLDER

sets every stage up again, restores it from FOLDER and prints how it goes on.

Each case is a stage and a past: `set_up` makes the stage with the drivers that it has in the end, `live_through` is
what happened to it until it is saved. Whoever restores does not know the past.
"""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import poise
from poise import Stage, rotation
from poise.body.geometry.primitives import Box
from poise.demos.mix.swing import seat_rider
from poise.engines.mujoco.simulation import MujocoEngine, MujocoSimulation
from poise.engines.scene import Scene
from poise.motion.parts import part_joints
from poise.motion.samples import idle
from poise.spatial.inertia import RigidInertia
from poise.stage.take.take import ARRAYS

HUMAN = poise.Character.human(1.75, 75.0, preset="mix")
SMALL = poise.Character.human(1.40, 40.0, preset="mix")


class Swaying:
    """Somebody else's live motion, of which the future is not told: a pose that jumps twenty times a second."""

    is_live, skeleton = True, HUMAN.skeleton

    def pose(self, t: float) -> poise.Pose:
        frame = np.floor(20.0 * t)
        turns = rotation.identity((len(HUMAN.skeleton),))
        for k, joint in enumerate(part_joints(HUMAN.skeleton, "upperBody")):
            turns[joint] = rotation.exp(0.4 * np.sin(0.13 * frame + np.array([k, 2.0 * k, 3.0 * k])))
        root = np.array([0.1 * np.sin(0.1 * frame), 1.0 + 0.02 * np.cos(0.07 * frame), 0.0])
        return poise.Pose(root, turns)


class Past(NamedTuple):
    """A stage, what happened on it, and whether it is a slow engine's."""

    set_up: Callable[[], Stage]
    live_through: Callable[[Stage], None]
    is_slow: bool = False


def bow(seconds: float = 4.0, fps: float = 40.0) -> poise.Clip:
    """Everybody's own idling, with a trunk that bows."""
    clip = idle(HUMAN.skeleton, seconds, fps)
    turns = clip.rotations.copy()
    angle = 0.4 * np.sin(np.pi * clip.times / seconds) ** 2
    spine = HUMAN.skeleton.index("spine")
    turns[:, spine] = rotation.multiply(turns[:, spine], rotation.exp(angle[:, None] * [1.0, 0.0, 0.0]))
    return clip.replace(rotations=turns)


def add(stage: Stage, name: str = "one", character: poise.Character = HUMAN, **drivers: Any) -> Stage:
    """An actor more on a stage, with drivers by part; `joints` are all but the root."""
    actor = stage.add(character, name)
    for part, driver in drivers.items():
        actor.drive(character.skeleton.names[1:] if part == "joints" else part, driver)
    return stage


def conducting(engine: str = "mujoco") -> Stage:
    """Balance, a gesture, loose and held joints at once."""
    stage = Stage(engine) if engine == "mujoco" else Stage(engine, couple="paper", gain=0.0)
    gesture = poise.gestures.conduct(bpm=100, beats=3)
    return add(stage, legs=poise.Balance(), rightArm=poise.Kinematic(gesture), leftArm=poise.Loose(0.3))


def change(stage: Stage) -> None:
    """A gesture changed twice, the second time before the first change is over; neither are a push and a letting go."""
    actor = stage.actors["one"]
    actor.drive("leftArm", poise.Kinematic(poise.gestures.clap()))
    stage.advance(101)
    actor.drive("leftArm", poise.Loose(0.3))
    actor.change("rightArm", bpm=110, size=1.4)
    stage.advance(23)
    actor.change("rightArm", bpm=130, size=0.8)
    actor.push("spine", (20.0, 0.0, 10.0), 0.3)
    actor.push("spine", (0.0, 0.0, 15.0), 0.2, start=3.0)
    stage.advance(17)


def taking_part() -> Stage:
    """A conductor's arms that do something else since a moment ago, on a body that goes on taking part for a while."""
    return add(Stage(), legs=poise.Balance(), arms=poise.Kinematic(poise.gestures.clap(), start=0.6))


def take_part(stage: Stage) -> None:
    """The beat, its size and how much the body goes along changed, and then no beat at all."""
    actor = stage.actors["one"]
    actor.drive("arms", poise.Kinematic(poise.gestures.conduct(hands="both", takes_part=1.0)))
    stage.advance(81)
    actor.change(beats=3, takes_part=0.7)
    stage.advance(33)
    actor.drive("arms", poise.Kinematic(poise.gestures.clap(), start=0.6))
    stage.advance(21)


def leaning_springs() -> Stage:
    """A trunk on springs that lean, as the published coupling has it, under a beat that it takes part in."""
    gesture = poise.gestures.conduct(beats=3, hands="both", takes_part=1.0)
    return add(Stage(couple="paper"), arms=poise.Kinematic(gesture), legs=poise.Balance())


def lean_otherwise(stage: Stage) -> None:
    """Legs that leaned more, and a load taken up and dropped: the springs are still going over to how they lean now."""
    actor = stage.actors["one"]
    actor.drive("legs", poise.Balance(counter_lean=3.0))
    stage.advance(150)
    actor.load(poise.Load("rightHand", 1.0))
    actor.drive("legs", poise.Balance())
    stage.advance(40)
    actor.drop("rightHand")
    stage.advance(21)


def take_over(stage: Stage) -> None:
    """An arm that hung, taken by a clip a moment ago, and a load taken up before that."""
    actor = stage.actors["one"]
    actor.drive("arms", poise.Loose(0.2))
    stage.advance(80)
    actor.drop("rightHand")
    stage.advance(40)
    actor.load(poise.Load("rightHand", 1.5))
    actor.drive("arms", poise.Kinematic(bow(), start=0.1))
    stage.advance(31)


def loaded() -> Stage:
    """A clip on the arms and a weight in a hand."""
    stage = Stage()
    actor = stage.add(HUMAN, "one", loads=[poise.Load("rightHand", 1.5)])
    actor.drive("legs", poise.Balance())
    actor.drive("arms", poise.Kinematic(bow(), start=0.1))
    return stage


def fall(stage: Stage) -> None:
    """Knocked over: legs that gave up, and a body that is built otherwise since."""
    stage.advance(60)
    stage.actors["one"].push("spine", (0.0, 0.0, 500.0), 0.2)
    stage.advance(90)


def bowing() -> Stage:
    """Legs that follow a clip under a body that plays it."""
    return add(Stage(), legs=poise.Balance(follow=bow()), upperBody=poise.Kinematic(bow()))


def tracked() -> Stage:
    """All joints on springs, on a root that a clip places."""
    return add(Stage(dt=0.004), root=poise.Kinematic(bow()), joints=poise.Track(bow()))


def falling() -> Stage:
    """A limp body in the air."""
    return add(Stage(), root=poise.Free(), joints=poise.Loose(0.2))


def leaping() -> Stage:
    """A body in the air that follows a clip, springs and all: what is fed forward asks whether it is aloft."""
    return add(Stage(ground=None), root=poise.Free(), joints=poise.Track(bow()))


def striving() -> Stage:
    """Arms within their strength, and the rest of the ghost that they follow where it was when they took over."""
    return add(Stage(), body=poise.Strength(poise.gestures.conduct(hands="both")))


def strive(stage: Stage) -> None:
    """Pushed about before muscles take over, and when they have."""
    actor = stage.actors["one"]
    actor.drive("body", poise.Loose(2.0))
    actor.push("spine", (0.0, 0.0, 40.0), 0.2)
    stage.advance(30)
    actor.drive("body", poise.Strength(poise.gestures.conduct(hands="both")))
    stage.advance(12)


def riding() -> Stage:
    """A child on a swing, pumping."""
    stage = Stage()
    seat_rider(stage, 0.0)
    return stage


def crowded(engine: str = "mujoco") -> Stage:
    """Two in one simulation, with a crate between them that moves."""
    stage = Stage(engine) if engine == "mujoco" else Stage(engine, couple="paper", gain=0.0)
    box = Box(np.zeros(3), np.array([0.1, 0.1, 0.1]), rotation.identity())
    stage.add_prop(poise.Prop("crate", (box,), RigidInertia(3.0, np.zeros(3), 0.02 * np.eye(3)), np.array([0, 0.5, 1])))
    add(stage, "one", legs=poise.Balance(), arms=poise.Kinematic(poise.gestures.clap()))
    return add(stage, "two", SMALL, legs=poise.Balance(pinned=True), arms=poise.Loose(0.5))


def live() -> Stage:
    """One who plays a live motion, one whom springs pull after it, and one on whom it has the root too."""
    stage = add(Stage(), legs=poise.Balance(), upperBody=poise.Kinematic(Swaying(), start=0.2))
    add(stage, "two", legs=poise.Balance(), arms=poise.Track(Swaying()))
    return add(stage, "three", root=poise.Kinematic(Swaying()), upperBody=poise.Kinematic(fed()), legs=poise.Loose())


def fed() -> poise.Live:
    """A feed with jitter and with gaps, all of which has come."""
    rng, source, t = np.random.default_rng(0), poise.Live(HUMAN.skeleton), 0.0
    for _ in range(200):
        t += rng.uniform(0.01, 0.08) + (0.5 if rng.random() < 0.05 else 0.0)
        source.put(t, Swaying().pose(t))
    return source


def perform(stage: Stage) -> None:
    """A live motion takes over from physics, a moment ago."""
    actor = stage.actors["one"]
    stage.advance(60)
    actor.drive("upperBody", poise.Loose(8.0))
    stage.advance(60)
    actor.drive("upperBody", poise.Kinematic(Swaying(), start=0.2))
    stage.advance(9)


def haunted() -> Stage:
    """Somebody who conducts, and ghosts of him that came before him and after."""
    stage = Stage(threads=2)
    before, conductor, after = (stage.add(HUMAN, name) for name in ("before", "one", "after"))
    conductor.drive("legs", poise.Balance())
    conductor.drive("arms", poise.Kinematic(poise.gestures.conduct(hands="both")))
    before.drive("root", poise.Kinematic(conductor))
    before.drive(HUMAN.skeleton.names[1:], poise.Kinematic(conductor))
    after.drive("legs", poise.Balance())
    after.drive("arms", poise.Track(conductor))
    return stage


def wait(steps: int) -> Callable[[Stage], None]:
    """Nothing happens for a while."""
    return lambda stage: stage.advance(steps)


PASTS: dict[str, Past] = {
    "changed": Past(conducting, change),
    "taken over": Past(loaded, take_over),
    "taking part": Past(taking_part, take_part),
    "leaning": Past(leaning_springs, lean_otherwise),
    "fallen": Past(conducting, fall),
    "fallen from a lean": Past(leaning_springs, fall),
    "bowing": Past(bowing, wait(150)),
    "tracked": Past(tracked, wait(100)),
    "falling": Past(falling, wait(90)),
    "leaping": Past(leaping, wait(40)),
    "striving": Past(striving, strive, is_slow=True),
    "riding": Past(riding, wait(200)),
    "crowded": Past(crowded, wait(100)),
    "live": Past(live, perform),
    "haunted": Past(haunted, wait(100)),
    "bullet": Past(lambda: conducting("bullet"), change, is_slow=True),
    "crowded bullet": Past(lambda: crowded("bullet"), wait(60), is_slow=True),
}


def go_on(stage: Stage, seconds: float) -> str:
    """What becomes of a stage: all that a take has of its next moments, and its whole state in the end, as a hash."""
    found, before = hashlib.sha256(), len(stage.events)
    take = stage.run(0.1, fps=1.0 / stage.dt)
    for name, actor in take.actors.items():
        for field in ARRAYS:
            put(found, f"{name}/{field}", getattr(actor, field))
    for name, poses in take.props.items():
        put(found, name, poses)
    stage.advance(round(seconds / stage.dt))
    put(found, "state", stage.save())
    put(found, "events", [[e.time, e.actor, e.kind, e.message] for e in stage.events[before:]])
    return found.hexdigest()


def check_goes_on(stage: Stage, seconds: float = 0.2, again: Stage | None = None) -> None:
    """A stage restored from its own saved state, and another one that is set up alike, go on with the same bits.

    They step once before anything is recorded: until then the margin of a `Walk` is that of its last step.
    """
    saved = stage.save()
    stage.step()
    end = go_on(stage, seconds)
    for other in (stage, stage if again is None else again):
        other.restore(saved)
        other.step()
        assert go_on(other, seconds) == end


def put(found: Any, name: str, value: Any) -> None:
    """Add something to a hash, with its name: plain data, to the last bit."""
    if isinstance(value, dict):
        for key, each in value.items():
            put(found, f"{name}/{key}", each)
    elif isinstance(value, list | tuple):
        for k, each in enumerate(value):
            put(found, f"{name}/{k}", each)
    elif isinstance(value, np.ndarray):
        found.update(f"{name} {value.dtype} {value.shape} ".encode() + np.where(value == value, value, 0.0).tobytes())
    else:
        found.update(f"{name} {value!r} ".encode())


def main() -> None:
    seconds, folder = float(sys.argv[1]), Path(sys.argv[2])
    ends = {}
    for name, past in PASTS.items():
        path = folder / f"{name}.state.npz"
        if path.exists():
            stage = past.set_up()
            stage.restore(poise.load_state(path))
            ends[name] = go_on(stage, seconds * (0.1 if past.is_slow else 1.0))
    print(json.dumps(ends))


if __name__ == "__main__":
    main()


class VerbsSimulation(MujocoSimulation):
    def laws(self, bodies: object) -> None:
        return None


class VerbsEngine(MujocoEngine):
    def build(self, scene: Scene) -> VerbsSimulation:
        return VerbsSimulation(scene)


def use_verbs(stage: Stage) -> None:
    """Have everybody on a stage be built by the verbs from now on."""
    stage.engine = VerbsEngine()
    for actor in stage.actors.values():
        stage.rebuild(actor)
