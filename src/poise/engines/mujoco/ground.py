"""The ground in MuJoCo: planes, boxes and a height field, of the world or of a body that carries what stands on it.

MuJoCo has no velocity for what it does not integrate, so that a mocap body would slide away under one's feet. A ground
that moves is a very heavy body on three sliders, whose place and velocity are written before every step, with the force
that gives it the velocity after it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from poise.body.geometry.primitives import Box
from poise.spatial import rotation
from poise.world.ground.ground import Ground, Plane
from poise.world.ground.height_map import HeightMap
from poise.world.ground.moving import MovingGround

NAME = "ground"
_MASS = 1e7  # kg: a person's weight moves it by a ten-thousandth of a millimetre a second
_BASE = 10.0  # m, how far a height field is solid below its lowest point
_CELL, _MOST = 0.1, 2000  # m and rows of a height field: half a foot's length or less
_UP = np.array([0.0, 1.0, 0.0])
# From MuJoCo's planes, which face +Z, to level ground; and its height fields (columns x, rows y, up z) to columns z and
# rows x, which keeps their handedness and which way each cell is cut.
_LEVEL = np.array([np.sqrt(0.5), -np.sqrt(0.5), 0.0, 0.0])
_FIELD = np.array([0.5, -0.5, -0.5, -0.5])


def add_ground(spec: Any, ground: Ground, group: int, more: dict[str, Any] | None = None) -> None:
    """All pieces of a ground into a specification.

    group  the bit that says what it is to those that touch it;  more: of MuJoCo's options of its shapes
    """
    import mujoco

    body = spec.worldbody
    if ground.moves:
        body = spec.worldbody.add_body(name=NAME)
        body.explicitinertial, body.mass, body.inertia = True, _MASS, [_MASS] * 3
        for axis in np.eye(3):
            body.add_joint(type=mujoco.mjtJoint.mjJNT_SLIDE, axis=axis)
    options: dict[str, Any] = {"friction": [ground.friction, 0.005, 0.0001], "contype": group, "conaffinity": 0}
    options |= more or {}
    kinds = mujoco.mjtGeom
    for k, piece in enumerate(ground.pieces()):
        options["name"] = NAME if k == 0 else f"{NAME} {k}"
        if isinstance(piece, Plane):
            turn = _LEVEL
            if np.any(piece.normal != _UP):
                turn = rotation.multiply(rotation.between(_UP, piece.normal), _LEVEL)
            # A plane turns with the body that it is on, but MuJoCo has it static or not at all: a huge box instead.
            if ground.moves:
                _add_slab(body, piece, options)
            else:
                body.add_geom(type=kinds.mjGEOM_PLANE, size=[0, 0, 1], pos=piece.point, quat=turn, **options)
        elif isinstance(piece, Box):
            body.add_geom(type=kinds.mjGEOM_BOX, size=piece.half, pos=piece.center, quat=piece.turn, **options)
        elif isinstance(piece, HeightMap):
            _add_field(spec, body, piece, options)


def _add_slab(body: Any, plane: Plane, options: dict[str, Any]) -> None:
    import mujoco

    from poise.world.ground.ground import FAR

    turn = rotation.between(_UP, plane.normal)
    half = np.array([FAR, _BASE, FAR])
    body.add_geom(
        type=mujoco.mjtGeom.mjGEOM_BOX, size=half, pos=plane.point - _BASE * plane.normal, quat=turn, **options
    )


def _add_field(spec: Any, body: Any, piece: HeightMap, options: dict[str, Any]) -> None:
    import mujoco

    rows, columns = piece.heights.shape
    tall = float(np.ptp(piece.heights))
    if tall == 0.0:
        return  # the plane round it is all there is
    half_x, half_z = 0.5 * (columns - 1) * piece.spacing, 0.5 * (rows - 1) * piece.spacing
    corner = piece.corner or (0.0, 0.0)
    fine = _refine(piece).T
    spec.add_hfield(
        name=options["name"], nrow=fine.shape[0], ncol=fine.shape[1], size=[half_z, half_x, tall, _BASE],
        userdata=np.ascontiguousarray(fine).ravel(),
    )  # fmt: skip
    body.add_geom(
        type=mujoco.mjtGeom.mjGEOM_HFIELD, hfieldname=options["name"], quat=_FIELD,
        pos=[corner[0] + half_x, piece.lowest, corner[1] + half_z], **options,
    )  # fmt: skip


def _refine(piece: HeightMap) -> np.ndarray:
    """(R, C) m, a map's heights on a grid of `_CELL` or less, of the same surface.

    MuJoCo finds one contact a triangle: a box that lies on a single one rocks on it and sinks in by millimetres.
    """
    rows, columns = piece.heights.shape
    parts = min(int(np.ceil(piece.spacing / _CELL - 1e-9)), max(_MOST // max(rows, columns), 1))
    if parts <= 1:
        return piece.heights
    corner = piece.corner or (0.0, 0.0)
    x = corner[0] + piece.spacing * np.linspace(0.0, columns - 1, (columns - 1) * parts + 1)
    z = corner[1] + piece.spacing * np.linspace(0.0, rows - 1, (rows - 1) * parts + 1)
    inner = piece.spacing * 1e-9  # round-off must not take the last row for what is round the map
    low, high = np.array([x[0], z[0]]), np.array([x[-1], z[-1]])
    x, z = np.clip(x, low[0] + inner, high[0] - inner), np.clip(z, low[1] + inner, high[1] - inner)
    return piece.height_at(x[None, :], z[:, None]) - piece.height


class MujocoCarrier:
    """Moves a ground that moves, in MuJoCo's data."""

    def __init__(self, model: Any, ground: MovingGround, gravity: np.ndarray, dt: float):
        import mujoco

        body = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_BODY, NAME)
        self._q, self._v = int(model.jnt_qposadr[model.body_jntadr[body]]), int(model.body_dofadr[body])
        self._ground, self._gravity, self._dt = ground, np.asarray(gravity, float), dt

    def place(self, data: Any) -> None:
        """Put the ground where it is at the data's time, with the force that takes it through the next step."""
        t = data.time
        speed, after = self._ground.speed(t), self._ground.speed(t + self._dt)
        data.qpos[self._q : self._q + 3] = self._ground.shift(t)
        data.qvel[self._v : self._v + 3] = speed
        data.qfrc_applied[self._v : self._v + 3] = _MASS * ((after - speed) / self._dt - self._gravity)
