"""A body in a page's scene: one mesh that its joints move.

viser has a message for the place of a bone and one for its orientation, and compares each with what it was, which takes
ten times as long as to send it. Who has moved is known here: messages go to viser's queue as they are.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from poise.body.skeleton import Skeleton
from poise.body.skin import SkinnedMesh

_MOVED, _TURNED = 1e-4, 1e-4  # m, and half of a rad: less is not seen


class FigureNode:
    """A body that is shown. Only joints that moved are sent."""

    def __init__(
        self, scene: Any, name: str, skeleton: Skeleton, skin: SkinnedMesh, color: tuple[int, int, int],
        opacity: float | None = None,
    ):  # fmt: skip
        self.skeleton = skeleton
        count = len(skeleton)
        weights = np.zeros((len(skin.vertices), count))
        np.add.at(weights, (np.arange(len(skin.vertices))[:, None], skin.joints), skin.weights)
        rest = skeleton.rest_positions()
        self.node = scene.add_mesh_skinned(
            name, skin.vertices.astype(np.float32), skin.faces, bone_wxyzs=np.tile([1.0, 0.0, 0.0, 0.0], (count, 1)),
            bone_positions=rest, skin_weights=weights, color=color, opacity=opacity, cast_shadow=opacity is None,
            receive_shadow=opacity is None,
        )  # fmt: skip
        used = np.flatnonzero(weights.sum(axis=0) > 0.0)
        self._is_used = np.isin(np.arange(count), used)
        self._scene, self._name = scene, name
        self._places, self._turns = rest.copy(), np.tile([1.0, 0.0, 0.0, 0.0], (count, 1))

    def show(self, places: np.ndarray, turns: np.ndarray) -> None:
        """Be in a pose: places (J, 3) m and orientations (J, 4) of its joints."""
        from viser import _messages as messages

        moved = (np.abs(places - self._places).max(axis=1) > _MOVED) & self._is_used
        turned = (np.abs(turns - self._turns).max(axis=1) > _TURNED) & self._is_used
        self._places[moved], self._turns[turned] = places[moved], turns[turned]
        queue, name = self._scene._queue_scene_message, self._name
        for i, place in zip(np.flatnonzero(moved).tolist(), places[moved].tolist(), strict=True):
            queue(messages.SetBonePositionMessage(name, i, tuple(place)))
        for i, turn in zip(np.flatnonzero(turned).tolist(), turns[turned].tolist(), strict=True):
            queue(messages.SetBoneOrientationMessage(name, i, tuple(turn)))

    @property
    def visible(self) -> bool:
        """Whether it is seen."""
        return bool(self.node.visible)

    @visible.setter
    def visible(self, seen: bool) -> None:
        if self.node.visible != seen:
            self.node.visible = seen
