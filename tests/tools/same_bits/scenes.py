"""What cases are made of: bodies, gestures, clips, and stages with somebody on them."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np

from .names import find, poise

# What can be given by a motion: with the paper's coupling nothing that outweighs the rest, or it explodes.
PARTS = {"exact": "upperBody", "paper": "arms"}
TRACKING = {"preset": "tracking"}
FULL = {"preset": "full"}
CHILD = {"height": 1.2, "mass": 24.0, "age": 7.0}


def human(height: float = 1.75, mass: float = 75.0, preset: str = "mix", **more: Any) -> Any:
    """A body, of the mix paper's joints unless said otherwise."""
    return poise.Character.human(height, mass, preset=preset, **more)


def beat(**more: Any) -> Any:
    """Both hands conduct."""
    return poise.gestures.conduct(**{"bpm": 100.0, "beats": 3, "hands": "both", **more})


def playing() -> Any:
    return poise.Kinematic(beat(bpm=160.0, size=1.3))


def tracking() -> Any:
    return poise.Track(beat())


def stand(stage: Any, body: Any = None, gesture: Any = None, part: str = "upperBody", **balance: Any) -> Any:
    """An actor whose legs balance under a gesture."""
    actor = stage.add(human() if body is None else body)
    actor.drive("legs", poise.Balance(**balance))
    actor.drive(part, poise.Kinematic(beat() if gesture is None else gesture))
    return actor


def conduct(seconds: float = 1.5, fps: float = 50.0, body: Any = None, gesture: Any = None,
            balance: dict[str, Any] | None = None, part: str = "upperBody", **stage: Any) -> Any:  # fmt: skip
    """The take of one who stands and conducts. ground: a function that makes it."""
    if callable(stage.get("ground")):
        stage["ground"] = stage["ground"]()
    place = poise.Stage(**stage)
    stand(place, None if body is None else human(**body), gesture and gesture(), part, **(balance or {}))
    return place.run(seconds, fps=fps)


def switch(before: dict[str, Callable[[], Any]], *moments: tuple[float, Any, Callable[[], Any]], seconds: float = 2.0,
           body: dict[str, Any] | None = None, **options: Any) -> Any:  # fmt: skip
    """One whose drivers are changed while it runs. moments: time, part, driver."""
    stage = poise.Stage(**options)
    actor = stage.add(human(**(body or {})))
    for part, make in before.items():
        actor.drive(part, make())
    turns = [(t, lambda part=part, make=make: actor.drive(part, make())) for t, part, make in moments]
    return stage.run(seconds, each=plan(*turns))


def ragdoll(stage: Any, height: float = 0.0, name: str | None = None, preset: str = "full") -> Any:
    """A limp body, some metres above its stand."""
    body = human(preset=preset)
    pose = find("stand_pose")(body.skeleton)
    actor = stage.add(body, name, poise.Pose(pose.root + [0.0, height, 0.0], pose.rotations))
    actor.drive("root", poise.Free())
    actor.drive("body", poise.Loose(0.2))
    return actor


def plan(*moments: tuple[float, Callable[[], object]]) -> Callable[[float], None]:
    """What `Stage.run` calls as `each`: does things once, when their times have come."""
    waiting = sorted(moments, key=lambda moment: moment[0])

    def each(t: float) -> None:
        while waiting and t >= waiting[0][0] - 1e-9:
            waiting.pop(0)[1]()

    return each


def make_clip(name: str, skeleton: Any, seconds: float = 3.0, fps: float = 60.0, **more: Any) -> Any:
    """One of Poise's own motions: idle, jump, squat, walk, wave."""
    return find(f"clip_{name}")(skeleton, seconds, fps, **more)


def own_clip(name: str, body: Any, seconds: float, fps: float = 60.0, **more: Any) -> Any:
    """One of Poise's own motions, written as BVH and read again."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"{name}.bvh"
        poise.save_clip(make_clip(name, body.skeleton, seconds, fps, **more), path)
        return poise.load_clip(path)


def clip_body(name: str, seconds: float, **more: Any) -> tuple[Any, Any]:
    """A motion, and a body of the motion's own skeleton."""
    clip = own_clip(name, human(preset="full"), seconds, **more)
    return clip, poise.Character.from_skeleton(clip.skeleton, 70.0)


def box(name: str, half: tuple[float, float, float], place: tuple[float, float, float], mass: float | None) -> Any:
    """A box, fixed where it has no mass."""
    shape = poise.Box(np.zeros(3), np.array(half), np.array([1.0, 0.0, 0.0, 0.0]))
    return poise.Prop(name, (shape,), solid(mass, half), np.array(place))


def ball(name: str, place: tuple[float, float, float], speed: tuple[float, float, float], mass: float = 2.0) -> Any:
    """A ball that flies."""
    shape = poise.Sphere(np.zeros(3), 0.12)
    return poise.Prop(name, (shape,), solid(mass, (0.1, 0.1, 0.1)), np.array(place), velocity=np.array(speed))


def solid(mass: float | None, half: Iterable[float]) -> Any:
    """The inertia of a box about its centre; None where it has no mass."""
    if mass is None:
        return None
    x, y, z = np.square(list(half))
    return poise.RigidInertia(mass, np.zeros(3), mass / 3.0 * np.diag([y + z, x + z, x + y]))
