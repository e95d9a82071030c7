"""The way back: a motion in metres and Y up, expressed again in the units, axes and rest pose of the file it is from.

The joints of the motion may be fewer or more than the file's, as those of a result on the user's character are.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

import numpy as np

from poise.body.skeleton import Skeleton
from poise.files.normalise import Reading
from poise.files.reframe import Reframe
from poise.motion.clip import Clip


@dataclass(frozen=True, eq=False)
class Placement:
    """How what was read lies in the coordinates of its file.

    frame   the scale and turns from the file's clip to the one that was made of it
    joints  the file's, in the order of `frame.rest`
    """

    frame: Reframe
    joints: Skeleton

    @property
    def scale(self) -> float:
        """Metres a unit of the file."""
        return self.frame.scale

    @property
    def turn(self) -> np.ndarray:
        """(4,) from the file's axes at rest to Poise's: the root's, where joints differ."""
        return np.asarray(self.frame.rest[0])

    def to_file(self, clip: Clip) -> Clip:
        """A clip in the file's units, axes and rest pose. Its skeleton keeps its own joints and lengths of bones."""
        return self._fit(clip.skeleton).undo(clip)

    def from_file(self, clip: Clip) -> Clip:
        """A clip that has the file's units, axes and rest pose in metres, Y up: `to_file` backwards."""
        return self._fit(clip.skeleton).apply(clip)

    def _fit(self, skeleton: Skeleton) -> Reframe:
        """The frame with a rest turn for each joint of a skeleton."""
        known = {name: i for i, name in enumerate(self.joints.names)}
        rest = np.empty((len(skeleton), 4))
        for i, (name, parent) in enumerate(zip(skeleton.names, skeleton.parents, strict=True)):
            if name in known:
                rest[i] = self.frame.rest[known[name]]
            else:  # a joint that the file does not have goes with the one that carries it
                rest[i] = rest[parent] if parent >= 0 else self.frame.rest[0]
        return dataclasses.replace(self.frame, rest=rest)


def find_placement(reading: Reading) -> Placement:
    """How a reading's clip lies in the coordinates of its recording, in the reading's own scale."""
    frame = dataclasses.replace(reading.frame, scale=reading.scale)
    if len(frame.rest) != len(reading.clip.skeleton):
        frame = dataclasses.replace(frame, rest=np.tile(frame.rest[:1], (len(reading.clip.skeleton), 1)))
    return Placement(frame, reading.clip.skeleton)
