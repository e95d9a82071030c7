"""Puppets: played by hands that dance, hop, hold still and let go; recorded sessions; OSC."""

from __future__ import annotations

import math
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from .cases import add_case, case
from .names import find, poise
from .record import read_files
from .scenes import plan

BODIES = {"adult": (1.75, 75.0), "child": (1.2, 24.0), "tall": (2.05, 120.0)}


@cache
def dance() -> tuple[Any, ...]:
    """The layers of a dance."""
    return tuple(poise.PuppetLayer(poise.load_mapping(name), hands) for name, hands in find("dance")().items())


def ease(u: Any) -> Any:
    u = np.clip(u, 0.0, 1.0)
    return u**3 * (10.0 - 15.0 * u + 6.0 * u * u)


def crouch_and_rise() -> tuple[Any, ...]:
    """Hands that bend both knees, and straighten them quickly: a hop."""
    times = np.arange(480) / 120.0
    bend = ease((times - 0.5) / 0.6) - ease((times - 1.5) / 0.12)
    bend = bend + 0.5 * (ease((times - 1.9) / 0.2) - ease((times - 2.6) / 0.5))
    places, turns = np.zeros((480, 2, 3)), poise.rotation.identity((480, 2))
    places[..., 1] = 0.16 * bend[:, None]
    turns[:] = poise.rotation.exp(np.stack([-np.radians(40.0) * bend, 0.0 * times, 0.0 * times], axis=1))[:, None]
    hands = poise.HandsTake(times, places, turns, neutral=np.zeros((2, 3)))
    return (poise.PuppetLayer(poise.load_mapping("legs"), hands),)


def hold(up: tuple[float, float] = (0.08, 0.0), turns: tuple[float, float] = (-20.0, 5.0)) -> tuple[Any, ...]:
    """Hands that stay: m that they are up, degrees that thighs are ahead."""
    times = np.arange(0.0, 30.0, 0.1)
    places = np.zeros((len(times), 2, 3))
    places[:, :, 1] = up
    held = poise.rotation.exp(np.array([[math.radians(each), 0.0, 0.0] for each in turns]))
    hands = poise.HandsTake(times, places, np.tile(held, (len(times), 1, 1)), neutral=np.zeros((2, 3)))
    return (poise.PuppetLayer(poise.load_mapping("legs"), hands),)


GROUNDS = {"slope": lambda: poise.Slope(np.radians(8.0)), "stairs": lambda: poise.Stairs(0.15, 0.3, 3)}


def play(layers: Any, seconds: float, body: str = "adult", ground: str | None = None, dt: float = 1.0 / 240.0,
         **puppet: Any) -> Any:  # fmt: skip
    """A puppet on a stage."""
    options = {} if ground is None else {"ground": GROUNDS[ground]()}
    stage = poise.Stage(dt=dt, **options)
    actor = stage.add(poise.Character.human(*BODIES[body]))
    actor.drive("body", poise.Puppet(layers(), **puppet))
    return [stage.run(seconds, fps=60.0), {"state": stage.save()}]


add_case("puppet dances", play, dance, 8.0)
add_case("puppet dances, step 5 ms", play, dance, 3.0, dt=0.005)
add_case("puppet dances, a child", play, dance, 4.0, "child")
add_case("puppet hops", play, crouch_and_rise, 3.5)
add_case("puppet hops, tall", play, crouch_and_rise, 3.5, "tall")
add_case("puppet on stairs", play, dance, 4.0, ground="stairs")
add_case("puppet on a slope", play, crouch_and_rise, 3.5, ground="slope")


def fall(push: tuple[float, float, float] | None, back: float, body: str = "adult", ground: str | None = None,
         balances: bool = False) -> Any:  # fmt: skip
    """A puppet that is let go of, falls, and is drawn up again by its strings."""
    stage = poise.Stage(dt=1.0 / 240.0, **({} if ground is None else {"ground": GROUNDS[ground]()}))
    actor = stage.add(poise.Character.human(*BODIES[body]))
    actor.drive("body", poise.Puppet(hold()))

    def let_go() -> None:
        actor.drive("root", poise.Free())
        actor.drive("body", find("Limp")())
        if push is not None:
            actor.push("chest", push, 0.2)

    def draw_up() -> None:
        actor.drive("body", poise.Puppet(hold()))

    return stage.run(0.4 + back + 3.5, fps=60.0, each=plan((0.4, let_go), (0.4 + back, draw_up)))


add_case("puppet falls and gets up", fall, None, 2.0)
add_case("puppet is pushed over and gets up", fall, (0.0, 0.0, 200.0), 2.0)
add_case("puppet is pushed over and caught", fall, (0.0, 0.0, 200.0), 0.4)
add_case("puppet of a child falls back and gets up", fall, (0.0, 0.0, -80.0), 2.5, "child")
add_case("puppet falls on stairs and gets up", fall, (80.0, 0.0, 0.0), 2.0, ground="stairs")


def pump(t: float, hand: int) -> tuple[Any, Any]:
    """Legs that go up and down in turn."""
    up = math.sin(3.0 * t + math.pi * hand)
    return np.array([0.0, 0.05 + 0.05 * up, 0.0]), poise.rotation.exp(np.array([-0.4 * up, 0.0, 0.0]))


def spread(t: float, hand: int) -> tuple[Any, Any]:
    """Arms that rise to the sides."""
    return np.zeros(3), poise.rotation.exp(np.array([0.0, 0.0, (1.0, -1.0)[hand] * min(t, 1.0)]))


@case("puppet session")
def run_session() -> Any:
    """A session that is practised, recorded in two passes, let go of, undone, and played back."""
    with tempfile.TemporaryDirectory() as folder:
        rehearsal = poise.Rehearsal(folder)
        session = find("PuppetSession")(rehearsal, poise.Character.human(1.75, 75.0))
        device, tick, shown = find("HeldHands")(), find("TICK"), []

        def drive(ticks: int, hands: Any = pump) -> None:
            for k in range(ticks):
                for hand in range(2):
                    device.put(hand, *hands(k * tick, hand))
                shown.append(session.tick(device.read()))

        drive(20)
        session.calibrate()
        session.record()
        drive(150)
        session.choose("arms")
        session.record()
        drive(120, spread)
        session.practise()
        session.feel(0.5, 2.0)
        drive(30)
        session.let_go()
        drive(160)
        session.take_back()
        drive(120)
        session.undo()
        session.redo()
        session.play()
        shown += [session.tick(None) for _ in range(100)]
        session.close()
        poses = [each.pose for each in shown]
        return {"times": np.array([each.time for each in shown]), "roots": np.array([pose.root for pose in poses]),
                "turns": np.array([pose.rotations for pose in poses]),
                "files": read_files(Path(folder))}  # fmt: skip


@case("puppet of a recorded performance")
def run_performance() -> Any:
    """Two layers on disk, trimmed, blended and made into a motion by the job."""
    with tempfile.TemporaryDirectory() as text:
        folder = Path(text)
        rehearsal = poise.Rehearsal(folder / "show")
        for name, hands in find("dance")().items():
            with rehearsal.begin_take(name, neutral=hands.neutral) as recorder:
                for k in range(min(len(hands), 300)):
                    recorder.put(*hands.sample(k))
        performance = rehearsal.now.trim("arms", 1.0, 3.0).blend("trunk", 0.5).feel("legs", 0.6, 1.5)
        rehearsal.change(performance)
        found = poise.puppet(folder / "show", outputs=[folder / "out.npz", folder / "out.bvh"])
        return {"clip": found.clip, "files": read_files(folder)}
