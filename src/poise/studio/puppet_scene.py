"""The stage of a puppet in a page: the puppet, a ghost, the ground, and two handles.

The puppet is kept in the middle: the world goes by under it, and the handles stay where they are.

A body in the scene is one mesh that its joints move.

viser has a message for the place of a bone and one for its orientation, and compares each with what it was, which takes
ten times as long as to send it. Who has moved is known here: messages go to viser's queue as they are.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from poise.body.geometry.skin import SkinnedMesh
from poise.body.skeleton import Skeleton
from poise.live.puppet_session import Shown
from poise.motion.motion import Pose
from poise.studio.handles import AGAINST, ALIKE, PageHands
from poise.world.ground.ground import Ground

CLAY, PALE = (222, 198, 176), (120, 170, 230)
COLORS = ((214, 92, 60), (60, 120, 200))  # of the left hand and of the right one
_NAMES = ("left hand", "right hand")
HOMES = np.array([[0.62, 1.05, 0.55], [-0.62, 1.05, 0.55]])  # m, where hands mean nothing
CAMERA, FOV = ((1.0, 1.5, 3.7), (0.0, 0.9, 0.0)), 0.75  # m, where it is and looks to; rad, from top to bottom
BESIDE = (-0.85, 0.0, -0.5)  # m, where the ghost is seen
TUBE, LEVER = 0.3, 0.3  # m: how long a tube is; how far it is dragged to turn it by a radian
_REACH, _CELL = 6.0, 0.1  # m, of ground that is not level: how far, how fine
_EASE, _NEAR = 0.04, 1e-4  # of the way a frame, that the middle goes after the puppet; m, that are not seen
# What keys that are held do while a tube is dragged: whether it turns, and what the other hand does.
_HELD: dict[str | None, tuple[bool, str | None]] = {
    None: (False, None), "shift": (True, None), "cmd/ctrl": (False, ALIKE), "cmd/ctrl+shift": (True, ALIKE),
    "alt": (False, AGAINST), "alt+shift": (True, AGAINST),
}  # fmt: skip


class PuppetScene:
    """What is seen, and what is dragged in it."""

    def __init__(
        self, server: Any, skeleton: Skeleton, skin: SkinnedMesh, ground: Ground | None, hands: PageHands,
    ):  # fmt: skip
        self.hands, scene = hands, server.scene
        self._server, self._middle, self.follows = server, np.zeros(2), True
        self._seen: Pose | None = None
        scene.set_up_direction("+y")
        server.initial_camera.position, server.initial_camera.look_at = CAMERA
        server.initial_camera.fov = FOV
        scene.add_light_directional("/sun", position=(2.0, 4.0, 3.0), intensity=1.5, cast_shadow=True)
        self.world = scene.add_frame("/world", show_axes=False)
        self.grid = scene.add_grid(
            "/ground", width=16.0, height=16.0, plane="xz", cell_size=0.5, section_size=1.0, shadow_opacity=0.25,
            plane_opacity=1.0 if _is_level(ground) else 0.0, plane_color=(236, 236, 232),
        )  # fmt: skip
        if not _is_level(ground):
            self.grid.visible = False
            vertices, faces = _build_ground(ground)
            scene.add_mesh_simple("/world/ground", vertices, faces, color=(214, 214, 208), flat_shading=True)
        self.figure = FigureNode(scene, "/world/puppet", skeleton, skin, CLAY)
        self.ghost = FigureNode(scene, "/world/ghost", skeleton, skin, PALE, 0.35)
        self.ghost.visible, self.ghost.node.position = False, BESIDE
        self.handles = [self._add_handle(scene, hand) for hand in range(2)]

    def _add_handle(self, scene: Any, hand: int) -> Any:
        name = f"/hands/{_NAMES[hand].split()[0]}"
        control = scene.add_transform_controls(
            name, scale=0.34, line_width=3.0, position=HOMES[hand], depth_test=False, opacity=0.9
        )
        tube = scene.add_cylinder(f"{name}/tube", radius=0.03, height=TUBE, color=COLORS[hand])
        _stand_upright(tube)
        scene.add_label(f"{name}/label", _NAMES[hand], position=(0.0, 0.22, 0.0))

        async def drag(event: Any) -> None:
            target = event.target
            self.hands.move(hand, np.array(target.position) - HOMES[hand], np.array(target.wxyz))
            self.show_hands(but=hand)

        control.on_update(drag)
        for modifier, (turns, way) in _HELD.items():
            tube.on_drag("left", modifier=modifier)(self._make_drag(hand, turns, way))
        return control

    def _make_drag(self, hand: int, turns: bool, way: str | None) -> Callable[[Any], Any]:
        """What dragging a tube does: it goes along, or its lower end is pulled."""
        held: dict[str, Any] = {}

        async def drag(event: Any) -> None:
            here = np.array(event.end_position, float)
            if event.phase == "start" or not held:
                held.update(here=here, place=self.hands.place(hand), turn=self.hands.turn(hand))
            by = here - held["here"]
            if turns:
                self.hands.move(hand, held["place"], pull_tube(held["turn"], by), way)
            else:
                self.hands.move(hand, held["place"] + by, held["turn"], way)
            if event.phase == "end":
                held.clear()
            self.show_hands()

        return drag

    def show_hands(self, but: int | None = None) -> None:
        """Have the handles be where the hands are; but for one that is dragged."""
        for hand, control in enumerate(self.handles):
            if hand == but:
                continue
            place, turn = HOMES[hand] + self.hands.place(hand), self.hands.turn(hand)
            if np.abs(np.array(control.position) - place).max() > 1e-6:
                control.position = tuple(place)
            if np.abs(np.array(control.wxyz) - turn).max() > 1e-6:
                control.wxyz = tuple(turn)

    def show(self, shown: Shown, with_ghost: bool = True) -> None:
        """Be in a pose."""
        ghost = shown.ghost if with_ghost else None
        aim = shown.pose.root[[0, 2]] if self.follows else np.zeros(2)
        if shown.pose is self._seen and ghost is None and np.abs(aim - self._middle).max() < _NEAR:
            return  # it is at rest
        self._seen = shown.pose
        with self._server.atomic():
            self.figure.show(*shown.world)
            self.ghost.visible = ghost is not None
            if ghost is not None:
                self.ghost.show(*self.ghost.skeleton.pose(ghost.root, ghost.rotations, ghost.shifts))
            self._middle += _EASE * (aim - self._middle)
            x, z = self._middle
            if np.abs(np.array(self.world.position) + (x, 0.0, z)).max() > _NEAR:
                self.world.position = (-x, 0.0, -z)
                self.grid.position = (-(x % 1.0), 0.0, -(z % 1.0))
        self._server.flush()


def pull_tube(turn: np.ndarray, by: np.ndarray) -> np.ndarray:
    """How a tube is turned (4,) after its lower end was pulled by (3,) m; up and down is ahead and back."""
    from poise.spatial import rotation

    swing = np.array([-by[2] - by[1], 0.0, by[0]]) / LEVER
    return np.asarray(rotation.multiply(rotation.exp(swing), turn))


def _stand_upright(tube: Any) -> None:
    """viser's cylinders lie along z."""
    half = np.sqrt(0.5)
    tube.wxyz = (half, half, 0.0, 0.0)


def _is_level(ground: Ground | None) -> bool:
    return ground is None or not hasattr(ground, "height_at") or type(ground) is Ground


def _build_ground(ground: Ground | None) -> tuple[np.ndarray, np.ndarray]:
    """Triangles of the ground around the beginning."""
    assert ground is not None
    line = np.arange(-_REACH, _REACH + 0.5 * _CELL, _CELL)
    x, z = np.meshgrid(line, line, indexing="ij")
    y = np.asarray(ground.height_at(x.ravel(), z.ravel()), float)
    vertices = np.stack([x.ravel(), np.nan_to_num(y, nan=-1.0), z.ravel()], axis=1).astype(np.float32)
    n = len(line)
    corner = (np.arange(n - 1)[:, None] * n + np.arange(n - 1)[None]).ravel()
    faces = np.concatenate(
        [np.stack([corner, corner + 1, corner + n], 1), np.stack([corner + 1, corner + n + 1, corner + n], 1)]
    )
    return vertices, faces


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
