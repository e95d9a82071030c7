"""States that are saved, restored and gone on with."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from .cases import add_case, case
from .names import find, poise
from .scenes import human, make_clip, stand, tracking


def run_saved(part: Callable[[Any], Any], **options: Any) -> Any:
    """A state that is returned to in the middle, twice."""
    stage = poise.Stage(**options)
    part(stage)
    takes = [stage.run(0.5)]
    saved = stage.save()
    takes.append(stage.run(1.0))
    stage.restore(saved)
    takes.append(stage.run(1.0))
    stage.restore(saved)
    stage.advance(40)
    return [*takes, stage.run(0.4, fps=30.0)]


def stand_pushed(stage: Any) -> None:
    """One who is pushed over after the state was saved."""
    stand(stage).push("spine", (0.0, 0.0, 350.0), 0.3, 0.4)


def stand_tracked(stage: Any) -> None:
    """One whose arms are pulled after a gesture."""
    actor = stage.add(human(preset="tracking"))
    actor.drive("legs", poise.Balance())
    actor.drive("arms", tracking())


stand_lightly = partial(stand, part="arms")
add_case("saved", run_saved, stand)
add_case("saved, paper", run_saved, stand_lightly, couple="paper")
add_case("saved, bullet", run_saved, stand_lightly, couple="paper", engine="bullet")
add_case("saved, falls after", run_saved, stand_pushed)
add_case("saved, tracked", run_saved, stand_tracked)


@case("saved, a swing")
def run_saved_swing() -> Any:
    return run_saved(lambda stage: find("seat_rider")(stage, 0.0))


# Pasts: what happened to a stage before it is saved, which whoever restores it does not know.


def add(stage: Any, name: str = "one", character: Any = None, **drivers: Any) -> Any:
    """An actor more on a stage, with drivers by part."""
    actor = stage.add(human() if character is None else character, name)
    for part, driver in drivers.items():
        actor.drive(part, driver)
    return stage


def set_conducting(engine: str = "mujoco") -> Any:
    """Balance, a gesture, loose and held joints at once."""
    stage = poise.Stage(engine) if engine == "mujoco" else poise.Stage(engine, couple="paper", gain=0.0)
    gesture = poise.gestures.conduct(bpm=100, beats=3)
    return add(stage, legs=poise.Balance(), rightArm=poise.Kinematic(gesture), leftArm=poise.Loose(0.3))


def change(stage: Any) -> None:
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


def fall(stage: Any) -> None:
    stage.advance(60)
    stage.actors["one"].push("spine", (0.0, 0.0, 500.0), 0.2)
    stage.advance(90)


def set_leaning() -> Any:
    gesture = poise.gestures.conduct(beats=3, hands="both", takes_part=1.0)
    return add(poise.Stage(couple="paper"), arms=poise.Kinematic(gesture), legs=poise.Balance())


def lean_otherwise(stage: Any) -> None:
    actor = stage.actors["one"]
    actor.drive("legs", poise.Balance(counter_lean=3.0))
    stage.advance(150)
    actor.load(poise.Load("rightHand", 1.0))
    actor.drive("legs", poise.Balance())
    stage.advance(40)
    actor.drop("rightHand")
    stage.advance(21)


def bow() -> Any:
    """Idling, with a trunk that bows."""
    clip = make_clip("idle", human().skeleton, 4.0, 40.0)
    turns, spine = clip.rotations.copy(), human().skeleton.index("spine")
    angle = 0.4 * np.sin(np.pi * clip.times / 4.0) ** 2
    turns[:, spine] = poise.rotation.multiply(turns[:, spine], poise.rotation.exp(angle[:, None] * [1.0, 0.0, 0.0]))
    return clip.replace(rotations=turns)


def set_striving() -> Any:
    return add(poise.Stage(), body=poise.Strength(poise.gestures.conduct(hands="both")))


def strive(stage: Any) -> None:
    actor = stage.actors["one"]
    actor.drive("body", poise.Loose(2.0))
    actor.push("spine", (0.0, 0.0, 40.0), 0.2)
    stage.advance(30)
    actor.drive("body", poise.Strength(poise.gestures.conduct(hands="both")))
    stage.advance(12)


def set_crowded(engine: str = "mujoco") -> Any:
    """Two in one simulation, with a crate between them that moves."""
    stage = poise.Stage(engine) if engine == "mujoco" else poise.Stage(engine, couple="paper", gain=0.0)
    stage.add_prop(poise.Prop.box("crate", (0.2, 0.2, 0.2), 3.0, (0.0, 0.5, 1.0)))
    add(stage, "one", legs=poise.Balance(), arms=poise.Kinematic(poise.gestures.clap()))
    return add(stage, "two", human(1.4, 40.0), legs=poise.Balance(pinned=True), arms=poise.Loose(0.5))


def wait(steps: int) -> Callable[[Any], None]:
    return lambda stage: stage.advance(steps)


PASTS: dict[str, tuple[Callable[[], Any], Callable[[Any], None]]] = {
    "changed": (set_conducting, change),
    "fallen": (set_conducting, fall),
    "leaning": (set_leaning, lean_otherwise),
    "fallen from a lean": (set_leaning, fall),
    "bowing": (
        lambda: add(poise.Stage(), legs=poise.Balance(follow=bow()), upperBody=poise.Kinematic(bow())),
        wait(150),
    ),
    "tracked": (lambda: add(poise.Stage(dt=0.004), root=poise.Kinematic(bow()), body=poise.Track(bow())), wait(100)),
    "leaping": (lambda: add(poise.Stage(ground=None), root=poise.Free(), body=poise.Track(bow())), wait(40)),
    "striving": (set_striving, strive),
    "crowded": (set_crowded, wait(100)),
    "changed, bullet": (lambda: set_conducting("bullet"), change),
    "crowded, bullet": (lambda: set_crowded("bullet"), wait(60)),
}


def go_on(set_up: Callable[[], Any], live_through: Callable[[Any], None], steps: int = 60) -> Any:
    """A past, saved into a file, restored on a stage that is set up again, and what becomes of both."""
    first, again = set_up(), set_up()
    live_through(first)
    with tempfile.TemporaryDirectory() as folder:
        poise.save_state(first.save(), Path(folder) / "now.state.npz")
        again.restore(poise.load_state(Path(folder) / "now.state.npz"))
    found = []
    for stage in (first, again):
        found += [stage.run(steps * stage.dt, fps=1.0 / stage.dt), stage.save()]
    return found


for name, past in PASTS.items():
    add_case(f"state of one {name}", go_on, *past)
