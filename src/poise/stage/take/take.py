"""Takes: poses, velocities, torques, contacts, centre of mass and events of every actor, frame by frame."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from poise.body.character import Character
from poise.errors import InputError, unknown_name, valid_text
from poise.frozen import Portable
from poise.motion.clip import Clip


@dataclass(frozen=True)
class Event:
    """Something that happened: time (s), actor's name, kind (`fell`, `switched`, `effort`, `hit`, ...), words.

    joint, other           of a hit: the joint whose body was hit, and what hit it (`ground`, a prop, actor/joint). Of a
                           hit between two actors a stage lists one event, of the actor that was added first
    impulse                N s, of a hit: the sum of the contact force over the first 50 ms. `time` is when it began
    force                  N, of a hit: the largest mean over a sliding window of 20 ms within these 50 ms
    joint, effort          of an overload that begins (`effort`) or ends (`effort-ended`): the kinematic joint, and its
                           torque over its strength
    """

    time: float
    actor: str
    kind: str
    message: str = ""
    joint: str = ""
    other: str = ""
    impulse: float = 0.0
    effort: float = 0.0
    force: float = 0.0

    @property
    def row(self) -> list[Any]:
        """As plain data: four columns, nine if it is about a joint."""
        row = [self.time, self.actor, self.kind, self.message]
        return [*row, self.joint, self.other, self.impulse, self.effort, self.force] if self.joint else row


@dataclass(frozen=True, eq=False)
class ActorTake(Portable):
    """One actor over F frames. World axes unless said otherwise.

    root (F, 3) m; rotations (F, J, 4); velocity (F, 3) m/s; angular_velocity (F, J, 3) rad/s in body axes
    torque (F, J, 3) N m    at each joint on its body, body axes: what drivers gave where physical, less what dampers
                            took; what the motion asks for where kinematic
    effort (F, J)           torque over strength
    center (F, 3) m, center_velocity (F, 3) m/s      centre of mass
    margin (F,) m           of the centre of mass inside the support; NaN where nothing stands
    feet (F, 2, 3) N        ground's force on the left and the right foot
    pressure (F, 2, 3) m    its centre; NaN for a foot in the air
    soles (F, 2, 4, 3) m    corners of the soles
    connectors              labels of the bodies that carried kinematic parts, in any frame
    wrench (F, C, 6)        [torque, force] of the coupling on each connector about its joint; NaN while it was none
    shifts (F, J, 3) m      as of a clip; None where every bone keeps its length
    """

    name: str
    character: Character
    root: np.ndarray
    rotations: np.ndarray
    velocity: np.ndarray
    angular_velocity: np.ndarray
    torque: np.ndarray
    effort: np.ndarray
    center: np.ndarray
    center_velocity: np.ndarray
    margin: np.ndarray
    feet: np.ndarray
    pressure: np.ndarray
    soles: np.ndarray
    connectors: tuple[str, ...]
    wrench: np.ndarray
    shifts: np.ndarray | None = None


FORMAT = "poise-take 1"
# Names become parts of names in a zip; these would be read as folders or as an end.
_UNFIT = "/\\\0"
ARRAYS = (
    "root", "rotations", "velocity", "angular_velocity", "torque", "effort", "center", "center_velocity", "margin",
    "feet", "pressure", "soles", "wrench",
)  # fmt: skip


@dataclass(frozen=True, eq=False)
class Take(Portable):
    """What a stage recorded.

    times   (F,) s on the stage's clock
    actors  by name
    props   name -> (F, 7) position and orientation
    events  in order
    """

    times: np.ndarray
    actors: dict[str, ActorTake]
    props: dict[str, np.ndarray] = field(default_factory=dict)
    events: tuple[Event, ...] = ()
    wall_seconds: float = 0.0

    def __len__(self) -> int:
        return len(self.times)

    def actor(self, name: str | None = None) -> ActorTake:
        """One actor's record; the only one's where there is only one."""
        if name is None:
            if len(self.actors) != 1:
                raise InputError(f"this take has {len(self.actors)} actors: {', '.join(self.actors)}. Name one.")
            return next(iter(self.actors.values()))
        if name not in self.actors:
            raise unknown_name("actor", name, self.actors, "this take")
        return self.actors[name]

    def clip(self, name: str | None = None, start: float = 0.0) -> Clip:
        """An actor's motion; its times are the take's, less `start`."""
        actor = self.actor(name)
        return Clip(actor.character.skeleton, self.times - start, actor.root, actor.rotations, actor.name, actor.shifts)

    def fell_at(self, name: str | None = None) -> float | None:
        """s, when an actor fell; None if it stood."""
        actor = self.actor(name).name
        return next((event.time for event in self.events if event.kind == "fell" and event.actor == actor), None)

    def save(self, path: str | PathLike[str], actor: str | None = None) -> None:
        """Write the take (`.take.npz`), or one actor's motion in any format that clips are written in.

        The motion of a character that was loaded from a model is written onto that model, as commands do it.
        """
        if str(path).endswith(".take.npz"):
            save_take(self, path)
        else:
            from poise.files.formats.gltf.character import find_reading
            from poise.files.registry import check_can_save
            from poise.files.writing.writing import write_result

            character = self.actor(actor).character
            reading = find_reading(character)
            check_can_save(path, () if reading is None else (reading.recording.path,))
            write_result(self.clip(actor), reading, Path(path), character.mass)


def save_take(take: Take, path: str | PathLike[str]) -> None:
    """Write a take. The same take gives the same bytes; how long the simulation took is not written.

    What is in the file is said in `files.py`, which reads it.
    """
    from poise.files.arrays import write_npz
    from poise.files.character import format_character

    arrays: dict[str, Any] = {"format": np.array(FORMAT), "times": take.times}
    events = [event.row for event in take.events]
    arrays["events"] = np.array(json.dumps(events))
    for name, poses in take.props.items():
        arrays[f"prop/{_check_name(name)}"] = poses
    for name, actor in take.actors.items():
        arrays[f"actor/{_check_name(name)}/character"] = np.array(format_character(actor.character))
        arrays[f"actor/{name}/connectors"] = np.array(json.dumps(list(actor.connectors)))
        for array in ARRAYS:
            arrays[f"actor/{name}/{array}"] = getattr(actor, array)
        if actor.shifts is not None:
            arrays[f"actor/{name}/shifts"] = actor.shifts
    write_npz(path, arrays)


def _check_name(name: str) -> str:
    if not name or any(mark in name for mark in _UNFIT) or valid_text(name) != name:
        raise InputError(f"'{valid_text(name)}' cannot be saved: a name in a take is text without slash, backslash or "
                         "zero byte.")  # fmt: skip
    return name
