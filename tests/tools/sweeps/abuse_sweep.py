"""Abuse: random switching, pushing, loading, changing, joining, recording, saving and restoring, over all drivers.

Every episode has a seed of its own and can be run alone:

    cd tests && python -m tools.sweeps.abuse_sweep --seed 17 --episodes 1 --tell

A refusal with a sentence (an InputError) is not a failure. A simulation that ends with Poise's own error (a SolveError)
is counted by itself. Failures: a pose, a state or a take that is not finite, any other error, a speed that nothing
explains, a body under the floor (`abuse_watch.py`), and a restored state that goes on with other bits, on the same
stage or on a twin.
"""

from __future__ import annotations

import argparse
import ctypes
import gc
import itertools
import reprlib
import resource
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from helpers.bodies import make_human
from helpers.random_bodies import make_person, random_plan
from helpers.rigs import mikumikudance, unreal
from poise import (
    Anchored,
    Attached,
    Balance,
    Character,
    Clip,
    ContactSettings,
    Free,
    Ground,
    HeightMap,
    Hinge,
    KeepUpright,
    Kinematic,
    Live,
    Load,
    Loose,
    MovingGround,
    Pose,
    Prop,
    Puppet,
    PuppetLayer,
    Runner,
    Shadow,
    Slope,
    Stage,
    Stairs,
    Strength,
    Track,
    Walk,
    gestures,
    load_mapping,
    load_state,
    rotation,
    save_state,
)
from poise.errors import InputError, SolveError
from poise.puppetry.hands import HandsTake
from poise.stage.actor import Actor
from poise.stage.standing import stand_at_ease
from tools.sweeps.abuse_watch import Figure, Watch
from tools.sweeps.page import table

BODIES: dict[str, Callable[[], Character]] = {
    "mix": lambda: Character.human(preset="mix"),
    "full": lambda: Character.human(),
    "child of 0.5 m": lambda: Character.human(0.5, 4.0),
    "child of 1.2 m": lambda: Character.human(1.2, 30.0),
    "giant": lambda: Character.human(2.5, 200.0),
    "light": lambda: Character.human(1.8, 40.0, preset="tracking"),
    "no toes": lambda: Character.from_skeleton(make_human(1.75, without=("Toes",))),
    "no hands": lambda: Character.from_skeleton(make_human(1.75, without=("Hand",))),
    "thin": lambda: Character.human(1.9, 42.0),
    "fat": lambda: Character.human(1.6, 170.0),
    "tall": lambda: Character.human(2.2, 95.0, preset="mix"),
    "odd": lambda: _make_odd(3),
    "odder": lambda: _make_odd(9),
    "unreal": lambda: Character.from_skeleton(unreal()[0]),
    "mikumikudance": lambda: Character.from_skeleton(mikumikudance()[0]),
}
PARTS = ("legs", "arms", "upperBody", "trunk", "head", "leftArm", "rightArm", "leftLeg", "body", "root")
STEPS = (0.001, 0.002, 0.005, 0.005, 0.0075, 0.01, 0.0125, 0.02)  # s
ACTIONS = 30  # an episode
ENGINES = {"mujoco": 0.45, "bullet": 0.25, "inverse": 0.3}  # shares of episodes
SECONDS = 4.0  # of an episode, about
MOST_ACTORS = 3
KINDS = {
    "drive": 9, "push": 6, "load": 2, "grasp": 1, "change": 2, "save": 2, "restore": 2, "twin": 1, "repeat": 2,
    "record": 2, "add": 1, "remove": 1, "runner": 0.5, "nonsense": 1, "show": 1,
}  # fmt: skip
VIOLENT = 0.15  # share of clips with noise at all joints
MOST_ENDED = 0.01  # share of episodes that may end with Poise's own error

# states and clips in full would be megabytes
_SHORT = reprlib.Repr()
_SHORT.maxother = 300


@cache
def get_body(name: str) -> Character:
    """A body, made once."""
    return BODIES[name]()


@cache
def get_figure(name: str) -> Figure:
    """The same as points with mass."""
    return Figure(get_body(name))


@cache
def get_clip(name: str) -> Clip:
    """A clip of a body that stands and conducts, made once."""
    stage = Stage()
    actor = stage.add(get_body(name))
    actor.drive("legs", Balance())
    actor.drive("upperBody", Kinematic(gestures.conduct(bpm=110, hands="both")))
    return stage.run(2.0, fps=60).clip()


@cache
def get_noise(name: str, amplitude: float, seed: int) -> Clip:
    """The same clip at 30 frames per second, every joint of every frame turned by noise of an amplitude in rad."""
    clip = get_clip(name)
    rng, turns = np.random.default_rng(seed), clip.rotations[::2]
    noise = rotation.exp(amplitude * rng.uniform(-1.0, 1.0, (*turns.shape[:2], 3)))
    return Clip(clip.skeleton, clip.times[::2], clip.root[::2], rotation.multiply(turns, noise), "noise")


@cache
def get_hands(seed: int) -> HandsTake:
    """Two hands that turn at random for 5 s."""
    rng, times = np.random.default_rng(seed), np.arange(51) / 10.0
    angles = 0.6 * rng.normal(size=(51, 2, 3)).cumsum(axis=0) / np.sqrt(10.0)
    return HandsTake(times, 0.1 * rng.normal(size=(51, 2, 3)), rotation.exp(angles), neutral=np.zeros((2, 3)))


def _make_odd(seed: int) -> Character:
    """A person with oddities: see `helpers/random_bodies.py`."""
    rng = np.random.default_rng(seed)
    return Character.from_skeleton(make_person(rng, random_plan(rng, 3)).build())


@dataclass
class Tally:
    """What happened.

    ended  episodes that ended with Poise's own error
    """

    seconds: float = 0.0
    counts: Counter = field(default_factory=Counter)
    failures: list[str] = field(default_factory=list)
    ended: list[str] = field(default_factory=list)

    @property
    def missed(self) -> int:
        """How many episodes failed, and all that ended early if those are too many."""
        few = len(self.ended) <= MOST_ENDED * max(self.counts["episodes"], 1)
        return len(self.failures) + (0 if few else len(self.ended))


@dataclass(eq=False)
class Player:
    """An actor and all that was done to it, so that a twin can be set up alike."""

    actor: Actor
    body: str
    watch: Watch
    pose: Pose | None
    drives: list[tuple[Any, Any]] = field(default_factory=list)
    was_given: bool = False  # whether its root was ever put somewhere by a motion
    live: Live | None = None
    is_violent: bool = False  # whether noise ever drove it: speeds say nothing then


class Episode:
    """One stage with some actors, and what is done to them."""

    def __init__(self, seed: int, tally: Tally, tell: bool):
        self.rng, self.seed, self.tally, self.tell = np.random.default_rng(seed), seed, tally, tell
        rng, names = self.rng, list(BODIES)
        self.body = names[seed % len(names)]
        self.options = self._draw_options()
        self.dt = self.options["dt"]
        self.stage = Stage(**self.options)
        self.props = self._draw_props()
        for prop in self.props:
            self.stage.add_prop(prop)
        self.saved: list[tuple[Any, list[list[tuple[Any, Any]]], list[list[Load]]]] = []
        told = f"{self.options['engine']} {self.options['couple']}, {1000 * self.dt:g} ms"
        self.done = [f"{self.body}, {told}, {type(self.options['ground']).__name__}, {len(self.props)} props"]
        self.players: list[Player] = []
        self.joined = 0
        for _ in range(1 + int(rng.choice(3, p=[0.7, 0.2, 0.1]))):
            self._add()

    # What there is.

    def _draw_options(self) -> dict[str, Any]:
        rng = self.rng
        engine = draw_engine(rng)
        paper = {"bullet": 0.5, "mujoco": 0.1, "inverse": 0.0}[engine]
        couple = "paper" if rng.random() < paper else "exact"
        odd = rng.random() < 0.15
        gravity = rng.normal(size=3) * rng.choice([0.0, 3.0, 15.0]) if odd else np.array([0.0, -9.81, 0.0])
        options = {
            "engine": engine, "couple": couple, "dt": float(rng.choice(STEPS)),
            "gain": float(rng.uniform(0.0, 2.0)) if rng.random() < 0.2 else 1.0,
            "ground": self._draw_ground(engine), "gravity": tuple(gravity.tolist()), "threads": int(rng.integers(1, 3)),
            "touch": ContactSettings(
                itself=bool(rng.random() < 0.9), actors=bool(rng.random() < 0.9), props=bool(rng.random() < 0.9),
                softness=float(rng.choice([0.0, 0.0, 0.02, 0.1])),
                friction=float(rng.uniform(0.0, 2.0)) if rng.random() < 0.3 else None,
                forces=str(rng.choice(["engine", "penalty"], p=[0.85, 0.15])),
                bounce=float(rng.choice([0.0, 0.0, 0.3, 0.9])),
            ),
        }  # fmt: skip
        touch = options["touch"]
        if engine == "inverse" and touch.forces == "engine":  # which refuses soft contacts
            options["touch"] = replace(touch, softness=0.0, bounce=0.0)
        return options

    def _draw_ground(self, engine: str) -> Ground | None:
        rng, friction = self.rng, float(self.rng.choice([0.0, self.rng.uniform(0.0, 1.5)], p=[0.15, 0.85]))
        kind = rng.choice(["flat", "tilted", "rough", "steps", "moving", "none"], p=[0.5, 0.14, 0.14, 0.1, 0.06, 0.06])
        if kind == "none":
            return None
        if kind == "tilted":
            return Slope(float(rng.uniform(0.0, 0.4)), float(rng.uniform(0.0, 6.3)), friction=friction)
        if kind == "rough":
            return HeightMap(rng.uniform(0.0, 0.06, (40, 40)), 0.15, friction=friction)
        if kind == "steps":
            return Stairs(friction=friction)
        if kind == "moving" and engine != "inverse":  # which has none
            return MovingGround(Ground(friction=friction), velocity=(float(rng.uniform(-0.3, 0.3)), 0.0, 0.0))
        return Ground(friction=friction)

    def _draw_props(self) -> list[Prop]:
        rng, found = self.rng, []
        if rng.random() < 0.7:
            return found
        for k in range(int(rng.integers(1, 3))):
            place = (float(rng.uniform(-0.6, 0.6)), float(rng.uniform(0.1, 1.2)), float(rng.uniform(0.35, 0.9)))
            kind = rng.choice(["box", "ball", "rod", "wall", "door"])
            mass = float(10 ** rng.uniform(-1.0, 1.3))
            if kind == "box":
                found.append(Prop.box(f"thing {k}", (0.3, 0.2, 0.25), mass, place))
            elif kind == "ball":
                found.append(Prop.sphere(f"thing {k}", 0.12, mass, place, velocity=(0.0, 1.0, -3.0)))
            elif kind == "rod":
                found.append(Prop.capsule(f"thing {k}", 0.03, 0.8, mass, place))
            elif kind == "wall":
                found.append(Prop.box(f"thing {k}", (2.0, 1.0, 0.1), None, (0.0, 0.5, 0.7)))
            else:
                hinge = Hinge(np.array([0.3, 0.0, 0.0]), np.array([0.0, 1.0, 0.0]), 0.1)
                found.append(Prop.box(f"thing {k}", (0.6, 1.2, 0.05), mass, (0.0, 0.9, 0.6), hinge=hinge))
        return found

    def _add(self) -> None:
        """Somebody joins: standing, or dropped from above and turned anyhow."""
        rng, k = self.rng, len(self.players)
        body = self.body if rng.random() < 0.7 else str(rng.choice(list(BODIES)))
        pose: Pose | None = None
        if k or rng.random() < 0.2:
            ease = stand_at_ease(get_body(body))
            root, turns = np.array(ease.root), np.array(ease.rotations)
            root += np.array([rng.uniform(-0.9, 0.9), 0.0, rng.uniform(-0.9, 0.9)])
            root[1] += self._find_floor(float(root[0]), float(root[2]))
            if rng.random() < 0.4:
                turns[0] = rotation.exp(rng.normal(size=3))
                lowest = get_figure(body).place(Pose(root, turns))[0][:, 1].min()
                root[1] += rng.uniform(0.3, 1.5) - lowest + self._find_floor(float(root[0]), float(root[2]))
            pose = Pose(root, turns)
        actor = self._try(self.stage.add, get_body(body), f"actor {self.joined}", pose)
        self.joined += 1
        if actor is None:
            return
        player = Player(actor, body, Watch(get_figure(body), np.array(self.options["gravity"]), actor.pose()), pose)
        self.players.append(player)
        if rng.random() < 0.8:
            self._drive(player, "legs", Balance())
            self._drive(player, "upperBody", Kinematic(gestures.conduct()))
        else:
            self._drive(player, "body", Loose(0.3, 0.3))

    def _find_floor(self, x: float, z: float) -> float:
        """m, how high the ground is there: somebody who begins in a flight of stairs is under the floor for long."""
        ground = self.options["ground"]
        return 0.0 if ground is None else max(float(ground.height_at(x, z, self.stage.time)), 0.0)

    # Acting.

    def run(self) -> None:
        """Act, and step in between."""
        try:
            for _ in range(ACTIONS):
                if not self.players:
                    self._add()
                self._act()
                steps = max(1, int(self.rng.exponential(SECONDS / ACTIONS) / self.dt))
                self._advance(steps)
        except SolveError as error:
            self._end(error)
        except Unsound as error:
            self._fail(str(error))
        except Exception as error:  # every one of them is a finding
            self._fail(f"{type(error).__name__}: {error} {traceback.format_exc(limit=-3)}")

    def _advance(self, steps: int) -> None:
        self._feed()
        try:
            self.stage.advance(steps - 1)
            before = [player.actor.pose() for player in self.players]
            self.stage.advance(1)
        except SolveError:
            raise
        except InputError as error:  # a driver cannot begin where its body is: say, under the ground
            self._drop_drivers(error)
            return
        self.tally.seconds += steps * self.dt
        self._judge(before)

    def _judge(self, before: list[Pose]) -> None:
        in_company = len(self.players) > 1 or bool(self.props)
        ground, t = self.options["ground"], self.stage.time
        for player, then in zip(self.players, before, strict=True):
            pose, actor = player.actor.pose(), player.actor
            state = actor.body.state
            if not all(
                np.isfinite(x).all() for x in (pose.root, pose.rotations, state.root, state.q, state.v, state.w)
            ):
                raise Unsound(f"non-finite: a pose of '{actor.name}' at {self.stage.time:g} s")
            player.was_given |= bool(actor.given[0])
            if actor.given[0] or any(each.is_violent for each in self.players):
                continue
            floor = None
            if ground is not None and not player.was_given:
                places = player.watch.figure.place(pose)[0]
                floor = np.array(ground.height_at(places[:, 0], places[:, 2], t), float)
                if self.options["engine"] == "bullet" and self.options["couple"] == "paper":
                    floor[actor.given] = -np.inf  # there they have no shapes: see docs/striking.md
            wrong = player.watch.judge(
                then, pose, t, self.dt, floor, in_company or player.was_given, np.array(actor.given)
            )
            if wrong is not None:
                raise Unsound(f"{wrong} ('{actor.name}', {player.body})")

    def _feed(self) -> None:
        for player in self.players:
            if player.live is not None:
                player.live.show(self._draw_pose(player))

    def _draw_pose(self, player: Player) -> Pose:
        pose = player.actor.pose()
        turns = rotation.multiply(pose.rotations, rotation.exp(0.3 * self.rng.normal(size=(len(pose.rotations), 3))))
        return Pose(pose.root, turns)

    def _drop_drivers(self, error: Exception) -> None:
        """Something that was accepted cannot be built: everything is loose from now on."""
        self.tally.counts["refused when built"] += 1
        self.done.append(f"{self.stage.time:.4f} refused when built: {error}")
        self._leave_things(error)
        for player in self.players:
            for part, driver in (("root", Free()), ("body", Loose(1.0, 1.0))):
                self._drive(player, part, driver)
        while self.players:
            try:
                self.stage.advance(1)
                return
            except InputError as again:  # another reason, which was behind the first one
                if isinstance(again, SolveError) or not self._leave_things(again):
                    raise Unsound(f"stuck: nothing can be built any more: {again}") from None

    def _leave_things(self, error: Exception) -> bool:
        """Have those leave who were put into a thing, as an error says; whether there were any."""
        deep = [p for p in self.players if f"of '{p.actor.name}' at the start" in str(error)]
        for player in deep:
            self.stage.remove(player.actor)
            self.players.remove(player)
        return bool(deep)

    def _try(self, action: Callable[..., Any], *words: Any, **more: Any) -> Any:
        name = getattr(action, "__name__", str(action))
        self.done.append(f"{self.stage.time:.4f} {name} {_SHORT.repr(words)} {more}")
        if self.tell:
            print(self.done[-1][:400], flush=True)
        try:
            found = action(*words, **more)
            self.tally.counts[name] += 1
            return True if found is None else found
        except SolveError:
            raise
        except InputError as error:
            self.tally.counts["refused"] += 1
            self.done[-1] += f" -> {error}"
            if self.tell:
                print(f"    refused: {error}", flush=True)
            if not str(error).strip().endswith((".", ")", "?")):
                raise Unsound(f"no sentence: {error}") from None
            return None

    def _drive(self, player: Player, part: Any, driver: Any) -> None:
        if self._try(player.actor.drive, part, driver):
            player.drives.append((part, driver))

    def _act(self) -> None:
        rng = self.rng
        player = self.players[int(rng.integers(len(self.players)))]
        weights = np.array(list(KINDS.values()))
        kind = str(rng.choice(list(KINDS), p=weights / weights.sum()))
        getattr(self, f"_do_{kind}")(player)

    def _do_drive(self, player: Player) -> None:
        rng = self.rng
        part: Any = str(rng.choice(PARTS))
        if rng.random() < 0.15:
            labels = player.actor.character.skeleton.names[1:]
            part = [
                str(each) for each in rng.choice(labels, size=min(len(labels), int(rng.integers(1, 9))), replace=False)
            ]
        driver = self._draw_driver(player)
        if (
            isinstance(driver, Walk | Shadow | KeepUpright | Puppet) and rng.random() < 0.7
        ):  # little else is not refused
            part = ["rightHand"] if isinstance(driver, KeepUpright) else "body"
        self._drive(player, part, driver)
        if rng.random() < 0.2:  # with the state right after a switch
            if rng.random() < 0.5:
                self._advance(int(rng.integers(1, 6)))
            self._do_repeat(player)
        if rng.random() < 0.15:  # another one within a few steps
            self._advance(int(rng.integers(1, 4)))
            self._drive(player, part, self._draw_driver(player))

    def _draw_driver(self, player: Player) -> Any:
        rng, body = self.rng, player.body
        gesture = self._draw_gesture()
        start = self.stage.time - float(rng.uniform(0.0, 1.0))
        other = (self.players[int(rng.integers(len(self.players)))] if self.players else player).actor
        things = [prop.name for prop in self.props] or ["nothing"]
        clip = get_clip(body)
        if rng.random() < VIOLENT:
            clip = get_noise(body, float(rng.choice([0.3, 1.0, 3.0])), int(rng.integers(3)))
            player.is_violent = True
        law, give = str(rng.choice(["paper", "critical", "feedforward"])), float(rng.choice([0.0, 0.5, 1.0]))

        def damp() -> float:
            return 1.0 if law == "paper" else float(rng.uniform(0.0, 2.0))  # the paper's law has its own

        def live() -> Live:
            player.live = Live(player.actor.character.skeleton, player.actor.pose(), float(rng.choice([0.03, 0.1])))
            return player.live

        choices: list[Callable[[], Any]] = [
            lambda: Kinematic(gesture, active_after_fall=bool(rng.random() < 0.3)),
            lambda: Kinematic(clip, start),
            lambda: Track(
                gesture, float(10 ** rng.uniform(0.0, 6.0)), active_after_fall=bool(rng.random() < 0.3), law=law
            ),
            lambda: Track(clip, damping=damp(), start=start, law=law, give=give),
            lambda: KeepUpright(str(rng.choice(things))),
            lambda: Loose(float(10 ** rng.uniform(-2.0, 2.0)), float(rng.choice([0.0, 0.1, 0.5, 1.0]))),
            lambda: Loose(0.5, 0.5, relax=0.3),
            lambda: Loose(0.0, 0.0),
            lambda: Loose(5.0, 1.0, pose=get_clip(body).rotations[0]),
            lambda: Balance(float(10 ** rng.uniform(-0.5, 0.5)), pinned=bool(rng.random() < 0.2)),
            lambda: Balance(follow=clip, follow_start=start),
            Free, Anchored, lambda: Attached(str(rng.choice(things))),
            lambda: Kinematic(gestures.breathe()), lambda: Kinematic(other), lambda: Track(other),
            lambda: Kinematic(live()), lambda: Track(live()),
            lambda: Walk(int(rng.integers(0, 6)), blind=bool(rng.random() < 0.5)),
            lambda: Walk(path=rng.uniform(-1.5, 1.5, (2, 2)).tolist(), facing=str(rng.choice(["ahead", "back"]))),
            lambda: Shadow(other, float(10 ** rng.uniform(0.0, 1.7))),
            self._draw_puppet,
            lambda: Strength(gesture, effectors={"rightHand": "both"} if rng.random() < 0.3 else {}),
            lambda: Strength(clip, start=start, center=str(rng.choice(["xz", "xyz", ""]))),
        ]  # fmt: skip
        return choices[int(rng.integers(len(choices)))]()

    def _draw_puppet(self) -> Puppet:
        rng, names = self.rng, ("legs", "trunk", "arms")[: int(self.rng.integers(1, 4))]
        return Puppet([PuppetLayer(load_mapping(name), get_hands(int(rng.integers(3)))) for name in names])

    def _draw_gesture(self) -> Any:
        rng = self.rng
        hands = str(rng.choice(["right", "both", "left"]))
        choices: list[Callable[[], Any]] = [
            lambda: gestures.conduct(float(rng.uniform(50.0, 170.0)), int(rng.integers(1, 5)), hands),
            lambda: gestures.arm_swing(float(rng.uniform(0.3, 1.5)), float(rng.uniform(15.0, 80.0)), hands),
            lambda: gestures.clap(float(rng.uniform(0.5, 4.0))),
            lambda: gestures.cue(),
        ]
        return choices[int(rng.integers(len(choices)))]()

    def _do_push(self, player: Player) -> None:
        rng, actor = self.rng, player.actor
        mass = actor.character.mass
        impulse = rng.normal(size=3) * rng.choice([0.05, 0.2, 0.6]) * mass  # N s: 0.05 to 0.6 m/s for all of the body
        joint = str(rng.choice([r for r in ("hips", "spine", "head", "rightHand", "leftLowerArm", "leftFoot")
                                if actor.character.skeleton.find_role(r) is not None]))  # fmt: skip
        if joint in ("rightHand", "leftLowerArm", "leftFoot"):
            impulse *= 0.2
        seconds = float(10 ** rng.uniform(-3.5, -0.5))
        start = None if rng.random() < 0.8 else self.stage.time + float(rng.uniform(0.0, 0.3))
        if self._try(actor.push, joint, tuple(impulse / seconds), seconds, start):
            index = actor.character.skeleton.index(joint)
            for each in self.players:  # who is hit by it, too
                each.watch.note_push(self.stage.time + 0.5, index if each is player else 0, np.linalg.norm(impulse))

    def _do_load(self, player: Player) -> None:
        actor, rng = player.actor, self.rng
        held = [each.joint for each in (*actor.loads, *actor.grips)]
        if held and rng.random() < 0.6:
            self._try(actor.drop, held[0])
            return
        joint = str(rng.choice([r for r in ("rightHand", "leftLowerArm", "head", "hips", "leftFoot")
                                if actor.character.skeleton.find_role(r) is not None]))  # fmt: skip
        self._try(actor.load, Load(joint, float(rng.uniform(0.01, 0.1)) * actor.character.mass))

    def _do_grasp(self, player: Player) -> None:
        """Take something up with the right hand; what that drops later falls."""
        if self.props and player.actor.character.skeleton.find_role("rightHand") is not None:
            self._try(player.actor.grasp, "rightHand", str(self.rng.choice([prop.name for prop in self.props])))

    def _do_change(self, player: Player) -> None:
        self._try(player.actor.change, bpm=float(self.rng.uniform(40.0, 180.0)))

    def _do_save(self, _player: Player) -> None:
        try:
            state = self._try(self.stage.save)
        except InputError as error:
            self._drop_drivers(error)
            return
        if state is not None:
            setup = [list(player.drives) for player in self.players]
            self.saved = [*self.saved[-2:], (state, setup, [list(player.actor.loads) for player in self.players])]

    def _do_restore(self, _player: Player) -> None:
        if self.saved:
            state = self.saved[int(self.rng.integers(len(self.saved)))][0]
            if self._try(self.stage.restore, state):
                for player in self.players:  # what moved it there is not known here
                    player.watch.note_push(self.stage.time + 0.5, 0, 5.0 * player.watch.figure.mass)

    def _do_repeat(self, _player: Player) -> None:
        """Save, make some steps, restore, make as many again: both times they come to the same bits."""
        try:
            state = self._try(self.stage.save)
            if state is None or self._is_fed:
                return
            steps = int(self.rng.choice([1, 3, 20]))
            self.stage.advance(steps)
            first = self._read_all(self.stage)
            if self._try(self.stage.restore, state) is None:
                raise Unsound("restore: a state cannot be restored on its own stage")
            self.stage.advance(steps)
        except InputError as error:
            self._drop_drivers(error)
            return
        self._compare(first, self._read_all(self.stage), f"restore: goes on otherwise after {steps} steps")
        self.tally.counts["repeats"] += 1

    @property
    def _is_fed(self) -> bool:
        """Whether a driver follows a feed, which is no part of a state."""
        return any(isinstance(_find_followed(driver)[1], Live) for each in self.players for _, driver in each.drives)

    def _read_all(self, stage: Stage) -> dict[str, list[np.ndarray]]:
        """Every actor's pose and state."""
        found = {}
        for name, actor in stage.actors.items():
            pose, state = actor.pose(), actor.body.state
            arrays = (pose.root, pose.rotations, state.root, state.q, state.v, state.w)
            found[name] = [np.array(each) for each in arrays]
        return found

    def _compare(self, a: dict[str, list[np.ndarray]], b: dict[str, list[np.ndarray]], what: str) -> None:
        for name, arrays in a.items():
            if not all(np.array_equal(x, y) for x, y in zip(arrays, b[name], strict=True)):
                off = max(float(np.abs(x - y).max()) for x, y in zip(arrays, b[name], strict=True))
                raise Unsound(f"{what}, by {off:.1e} ('{name}')")

    def _do_twin(self, _player: Player) -> None:
        """Set another stage up alike, restore this one's state in it, by way of a file or not; both go on alike."""
        try:
            state = self._try(self.stage.save)
        except InputError as error:
            self._drop_drivers(error)
            return
        if state is None:
            return
        if self.rng.random() < 0.3:
            with tempfile.TemporaryDirectory() as folder:
                save_state(state, Path(folder) / "a.state.npz")
                state = load_state(Path(folder) / "a.state.npz")
        twin = Stage(**self.options)
        for prop in self.props:
            twin.add_prop(prop)
        for player in self.players:
            actor = twin.add(player.actor.character, player.actor.name, player.pose, player.actor.loads)
            for grip in player.actor.grips:
                actor.grasp(grip.joint, grip.prop.name, grip.place, grip.turn)
        for player in self.players:
            for part, driver in player.drives:
                try:
                    twin.actors[player.actor.name].drive(part, _move_over(driver, twin))
                except (InputError, KeyError):  # or it follows somebody who has left
                    self.tally.counts["twin not set up"] += 1
                    return
        if self._try(twin.restore, state) is None:
            self.tally.counts["twin refused"] += 1
            return
        steps = int(self.rng.integers(1, 20))
        for stage in (self.stage, twin):
            stage.advance(steps)
        if not self._is_fed:
            self._compare(
                self._read_all(self.stage), self._read_all(twin), f"twin: goes on otherwise after {steps} steps"
            )
        self.tally.counts["twins"] += 1

    def _do_record(self, player: Player) -> None:
        """Record a take, and switch and push meanwhile."""
        rng, left = self.rng, [int(self.rng.integers(0, 3))]
        times = set(rng.integers(0, 30, left[0]).tolist())
        count = [0]

        def each(_t: float) -> None:
            count[0] += 1
            if count[0] in times:
                self._do_push(player) if rng.random() < 0.5 else self._do_drive_once(player)

        self._feed()
        try:
            take = self._try(self.stage.run, float(rng.uniform(0.02, 0.3)), min(50.0, 1.0 / self.dt), None, each)
        except InputError as error:
            self._drop_drivers(error)
            return
        if take is None:
            self._drop_drivers(InputError("in a take."))
            return
        for each_one in self.players:
            record = take.actor(each_one.actor.name)
            if not (np.isfinite(record.root).all() and np.isfinite(record.rotations).all()):
                raise Unsound(f"non-finite: a take of '{each_one.actor.name}'")

    def _do_drive_once(self, player: Player) -> None:
        self._drive(player, str(self.rng.choice(PARTS)), self._draw_driver(player))

    def _do_add(self, _player: Player) -> None:
        if len(self.players) < MOST_ACTORS:
            self._add()
            self.saved.clear()

    def _do_remove(self, player: Player) -> None:
        if len(self.players) > 1 and self._try(self.stage.remove, player.actor):
            self.players.remove(player)
            self.saved.clear()

    def _do_runner(self, player: Player) -> None:
        """The same in a thread of its own."""
        self._feed()
        try:
            fps = min(50.0, 1.0 / self.dt)
            with Runner(self.stage, fps=fps, speed=None, seconds=max(0.05, 2.0 * self.dt)) as runner:
                runner.post(lambda: self._do_push(player))
                runner.join()
            self.tally.counts["runner"] += 1
        except SolveError:
            raise
        except InputError as error:
            self._drop_drivers(error)

    def _do_nonsense(self, player: Player) -> None:
        """What must be refused."""
        actor, nan = player.actor, float("nan")
        choices: list[Callable[[], Any]] = [
            lambda: actor.push("hips", (nan, 0.0, 0.0), 0.1), lambda: actor.push("hips", (1.0, 0.0, 0.0), -1.0),
            lambda: actor.push("nobody", (1.0, 0.0, 0.0), 0.1), lambda: actor.load(Load("hips", -1.0)),
            lambda: actor.load(Load("hips", 1e9)), lambda: actor.drop("spine"), lambda: actor.drive("wings", Free()),
            lambda: actor.drive("legs", Loose(-1.0)), lambda: actor.drive("legs", Track(gestures.conduct(), nan)),
            lambda: self.stage.advance(-1), lambda: self.stage.restore({}), lambda: self.stage.add_prop(self.props[0]),
            lambda: actor.change(tempo=3.0), lambda: self.stage.remove(None),  # type: ignore[arg-type]
            lambda: self.stage.run(-1.0), lambda: self.stage.add(actor.character, actor.name),
            lambda: actor.drive("root", Attached("nothing")), lambda: actor.drive([], Free()),
            lambda: actor.push("hips", (1e300, 0.0, 0.0), 1e-300),
        ]  # fmt: skip
        which = int(self.rng.integers(len(choices)))
        if which == 11 and not self.props:
            return
        before = list(actor.assignments)
        if self._try(choices[which]) is not None and list(actor.assignments) != before:
            self._drive(player, "root", Free())  # it waits to be refused when it is built

    def _do_show(self, player: Player) -> None:
        """Look at what may be looked at."""
        player.actor.pose(self.stage.time)
        _ = [event.message for event in self.stage.events[-5:]]
        player.actor.measure()

    def _end(self, error: SolveError) -> None:
        """Note Poise's own error; one without the actor and the advice fails."""
        if not (str(error).rstrip().endswith(".") and " t=" in str(error) and "'" in str(error)):
            self._fail(f"unclear: {error}")
            return
        self.tally.ended.append(f"seed {self.seed} ({self.done[0]}): {error}")
        last = "\n    ".join(each[:240] for each in self.done[-3:])
        print(f"seed {self.seed}: {self.done[0]}: ended: {error}\n    {last}", flush=True)

    def _fail(self, why: str) -> None:
        self.tally.failures.append(f"seed {self.seed} ({self.done[0]}) at {self.stage.time:.3f} s: {why}")
        self.tally.counts[f"failed: {why.split(':')[0]}"] += 1
        last = "\n    ".join(each[:240] for each in self.done[-5:])
        print(f"seed {self.seed}: {self.done[0]}: at {self.stage.time:.3f} s {why[:600]}\n    {last}", flush=True)


class Unsound(Exception):
    """Finite, and wrong."""


def _find_followed(driver: Any) -> tuple[str, Any]:
    """What a driver follows: the name of that argument, and an actor, a feed or a motion; None: nothing."""
    for name in ("motion", "ghost"):
        followed = getattr(driver, name, None)
        if followed is not None:
            return name, getattr(followed, "source", followed)
    return "", None


def _move_over(driver: Any, twin: Stage) -> Any:
    """The same driver on another stage: whom it follows there is that stage's own."""
    name, followed = _find_followed(driver)
    return replace(driver, **{name: twin.actors[followed.name]}) if isinstance(followed, Actor) else driver


def draw_engine(rng: np.random.Generator) -> str:
    """The engine of an episode, which is the first that its generator is asked for."""
    return str(rng.choice(list(ENGINES), p=list(ENGINES.values())))


def abuse(
    seeds: Iterator[int], minutes: float, tell: bool = False, every: float = 60.0
) -> tuple[Tally, list[tuple[float, float, float]]]:
    """Episodes for so many minutes of a core: what happened, and minutes and MB (held, in use) as it went on.

    By the clock an hour beside other work was half an hour of a core.
    """
    tally, memory, began = Tally(), [], time.process_time()
    told = time.monotonic()
    for k, seed in enumerate(seeds):
        try:
            episode = Episode(seed, tally, tell)
        except Exception as error:
            tally.failures.append(f"seed {seed}: {type(error).__name__}: {error}")
            tally.counts["failed: set up"] += 1
            print(f"seed {seed}: {traceback.format_exc(limit=-4)}", flush=True)
            continue
        episode.run()
        del episode
        tally.counts["episodes"] += 1
        if k % 10 == 9:
            gc.collect()
            memory.append(((time.process_time() - began) / 60.0, find_memory(), find_in_use()))
        if time.monotonic() - told > every:
            told = time.monotonic()
            gc.collect()
            print(
                f"{time.strftime('%H:%M:%S')} {tally.counts['episodes']} episodes, {tally.seconds:.0f} s simulated, "
                f"{len(tally.failures)} failures, {find_memory():.0f} MB held, {find_in_use():.0f} in use",
                flush=True,
            )
        if time.process_time() - began > 60.0 * minutes:
            break
    return tally, memory


def find_memory() -> float:
    """MB that the process holds now."""
    try:
        return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize() / 1e6
    except OSError:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3


class _Mallinfo(ctypes.Structure):
    """What glibc says of its heap, in bytes."""

    _NAMES = "arena", "ordblks", "smblks", "hblks", "hblkhd", "usmblks", "fsmblks", "uordblks", "fordblks", "keepcost"
    _fields_ = tuple((name, ctypes.c_size_t) for name in _NAMES)


def find_in_use() -> float:
    """MB that somebody has asked the C library for and not given back; NaN where that cannot say."""
    try:
        library = ctypes.CDLL(None)
        library.mallinfo2.restype = _Mallinfo
        info = library.mallinfo2()
        return float(info.uordblks + info.hblkhd) / 1e6  # of all arenas, and what has pages of its own
    except (AttributeError, OSError):
        return float("nan")


def sweep(minutes: float = 10.0, seed: int = 0) -> tuple[str, int]:
    """The section, and how many episodes missed the aims: see `Tally.missed`."""
    clock = time.monotonic()
    tally, memory = abuse(iter(range(seed, 10**9)), minutes)
    clock = time.monotonic() - clock
    looks = [
        min(memory, key=lambda each: abs(each[0] - share * minutes)) for share in (1 / 6, 1 / 3, 1 / 2, 2 / 3, 1.0)
    ]
    rows = [
        ("minutes of a core; by the clock", f"{minutes:g}; {clock / 60.0:.0f}"),
        ("episodes; simulated, s", f"{tally.counts['episodes']}; {tally.seconds:.0f}"),
        *((name, str(count)) for name, count in sorted(tally.counts.items()) if name != "episodes"),
        ("seeds", f"from {seed} on"),
        ("failures in all", str(len(tally.failures))),
        ("ended with the error of a diverged simulation", f"{len(tally.ended)} (at most {100 * MOST_ENDED:g} %)"),
        ("memory held, MB", ", ".join(f"{mb:.0f} after {at:.0f} min" for at, mb, _ in looks)),
        ("memory in use, MB", ", ".join(f"{mb:.1f}" for _, _, mb in looks)),
    ]
    text = (
        "Random switching between all drivers, pushing, loading, joining, leaving, recording, saving and restoring (on"
        " the same stage, right after a switch too, and on a twin), bodies of 0.5 to 2.5 m, thin, fat and odd, one to"
        " three of them on a stage with props or without, engines mujoco, bullet and inverse, both couplings, steps of"
        " 1 to 20 ms, clips with up to 3 rad of noise at every joint, grounds that are level, tilted, rough, stepped,"
        " moving or absent, with friction 0 to 1.5. A refusal with a sentence is not a failure. Failures are a pose, a"
        " state or a take that is not finite, any other error, an unexplained speed, a body under the floor, and a"
        " restored state that goes on with other bits."
    )
    failed = "\n".join(f"- {each[:200]}" for each in (*tally.failures, *tally.ended))
    return f"{text}\n\n{table(('what', 'how often'), rows)}\n\n{failed}", tally.missed


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--episodes", type=int, default=10**9)
    parser.add_argument("--minutes", type=float, default=1e9)
    parser.add_argument("--tell", action="store_true")
    parser.add_argument("--engine", choices=list(ENGINES), help="only the seeds whose episodes have this engine")
    words = parser.parse_args()
    chosen = (
        seed for seed in itertools.count(words.seed)
        if words.engine in (None, draw_engine(np.random.default_rng(seed)))
    )  # fmt: skip
    found, megabytes = abuse(itertools.islice(chosen, words.episodes), words.minutes, words.tell)
    print(dict(found.counts), f"{found.seconds:.0f} s", megabytes[:1], megabytes[-1:])
