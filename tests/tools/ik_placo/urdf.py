"""A body of hinges (`poise.bench.hinged`) as URDF."""

from __future__ import annotations

import numpy as np

from poise.bench.hinged import Link
from poise.spatial import rotation


def write_urdf(links: list[Link]) -> str:
    """A model for those who read URDF; its root is as free as they make it."""
    parts = []
    for i, link in enumerate(links):
        inertial = (
            f'<inertial><origin xyz="{_show(link.center)}"/><mass value="{max(link.mass, 1e-9)!r}"/>'
            '<inertia ixx="1e-3" iyy="1e-3" izz="1e-3" ixy="0" ixz="0" iyz="0"/></inertial>'
        )
        parts.append(f'<link name="{link.name}">{inertial}</link>')
        if i == 0:
            continue
        before, origin = links[link.parent].name, f'xyz="{_show(link.offset)}" rpy="{_show(_find_rpy(link.turn))}"'
        if not link.hinges:
            parts.append(_write_joint(f"{link.name}_fixed", "fixed", before, link.name, origin, ""))
        for k, hinge in enumerate(link.hinges):
            is_last = k == len(link.hinges) - 1
            after = link.name if is_last else f"{hinge.name}_link"
            if not is_last:
                parts.append(f'<link name="{after}"/>')
            more = (
                f'<axis xyz="{_show(hinge.axis)}"/>'
                f'<limit lower="{hinge.low!r}" upper="{hinge.high!r}" effort="1000" velocity="100"/>'
            )
            parts.append(_write_joint(hinge.name, "revolute", before, after, origin, more))
            before, origin = after, 'xyz="0 0 0" rpy="0 0 0"'
    return '<robot name="body">' + "".join(parts) + "</robot>"


def _write_joint(name: str, kind: str, parent: str, child: str, origin: str, more: str) -> str:
    return (
        f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>'
        f"<origin {origin}/>{more}</joint>"
    )


def _find_rpy(q: np.ndarray) -> np.ndarray:
    """Roll, pitch and yaw of a rotation: Rz(y) Ry(p) Rx(r)."""
    m = rotation.to_matrix(q)
    pitch = np.arctan2(-m[2, 0], np.hypot(m[0, 0], m[1, 0]))
    if np.hypot(m[0, 0], m[1, 0]) < 1e-9:
        return np.array([0.0, pitch, np.arctan2(-m[0, 1], m[1, 1])])
    return np.array([np.arctan2(m[2, 1], m[2, 2]), pitch, np.arctan2(m[1, 0], m[0, 0])])


def _show(values: np.ndarray) -> str:
    return " ".join(repr(float(value)) for value in values)
