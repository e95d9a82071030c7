"""Sends poses as VMC (Virtual Motion Capture protocol) over UDP, so that other programs show the puppet.

A pose is one root, a bone per role, the time, and a status (protocol.vmc.info, "Marionette" to "Performer"):

    /VMC/Ext/Root/Pos   name, x y z (m), x y z w        always the origin
    /VMC/Ext/Bone/Pos   name, x y z, x y z w            relative to the parent bone
    /VMC/Ext/T          s
    /VMC/Ext/OK         1

A body whose rest pose is not a T-pose is sent as it is: its arms are off by the difference.

VMC has Unity's axes and names. Unity's axes are left-handed: y up, a body faces +z and its left is -x. Poise's are
right-handed with its left +x (`docs/conventions.md`), so x changes its sign, and a rotation its y and z: a mirror.

    p_unity = (-x, y, z)        q_unity = (x, -y, -z, w)  of  q = (w, x, y, z)

Bones have the names of Unity's HumanBodyBones: VRM 1.0's with a capital, except for the thumb, whose first bone is
VRM's metacarpal. A bone's rotation is relative to its parent's, and the identity in a T-pose.
"""

from __future__ import annotations

import socket
from types import TracebackType

import numpy as np

from poise.body.skeleton import Skeleton
from poise.errors import InputError
from poise.live.osc import encode_bundles, encode_message, find_address
from poise.motion.motion import Pose
from poise.spatial import rotation

PORT = 39539  # on which VMC's performers listen
MOST_BYTES = 1400  # of a packet: networks do not fragment these


class VmcSender:
    """Sends poses of one skeleton.

    address  (host, port);  sent, failed: packets
    """

    def __init__(self, skeleton: Skeleton, host: str = "127.0.0.1", port: int = PORT):
        self.skeleton, self.address = skeleton, find_address(host, port)
        self.sent = self.failed = 0
        roles = list(skeleton.roles)
        if not roles:
            raise InputError("VMC names bones by their roles, and this skeleton has none. Give it roles.")
        self._joints = np.array([skeleton.index(role) for role in roles])
        rows = {joint: row for row, joint in enumerate(self._joints.tolist())}
        chains = [skeleton.chain(joint)[:-1] for joint in rows]
        self._carriers = np.array([next((rows[i] for i in reversed(chain) if i in rows), -1) for chain in chains])
        self._carried = np.flatnonzero(self._carriers >= 0)
        # Messages without their seven numbers, which are at the end.
        still = [0.0] * 7
        self._heads = [encode_message("/VMC/Ext/Bone/Pos", name_bone(role), *still)[:-28] for role in roles]
        self._root = encode_message("/VMC/Ext/Root/Pos", "root", *still[:-1], 1.0)
        self._well = encode_message("/VMC/Ext/OK", 1)
        self._socket = socket.socket(self.address[0], socket.SOCK_DGRAM)
        self._socket.setblocking(False)

    def pack(self, places: np.ndarray, turns: np.ndarray, time: float) -> list[bytes]:
        """Return the packets of positions (J, 3) m and orientations (J, 4) of joints at a time (s)."""
        places, turns = places[self._joints], turns[self._joints]
        held = self._carried
        back = rotation.conjugate(turns[self._carriers[held]])
        at, by = places.copy(), turns.copy()
        at[held] = rotation.rotate(back, places[held] - places[self._carriers[held]])
        by[held] = rotation.multiply(back, turns[held])
        numbers = np.concatenate([to_unity_place(at), to_unity_turn(by)], axis=1).astype(">f4")
        messages = [self._root, *(head + row.tobytes() for head, row in zip(self._heads, numbers, strict=True))]
        messages += [encode_message("/VMC/Ext/T", float(time)), self._well]
        return encode_bundles(messages, MOST_BYTES)

    def send(self, pose: Pose, time: float) -> None:
        """Send a pose. It is not an error if no program receives it."""
        self.send_world(*self.skeleton.pose(pose.root, pose.rotations, pose.shifts), time)

    def send_world(self, places: np.ndarray, turns: np.ndarray, time: float) -> None:
        """Send a pose from the joints' positions and orientations: see `pack`."""
        for packet in self.pack(places, turns, time):
            try:
                self._socket.sendto(packet, self.address[1])
                self.sent += 1
            except OSError:
                self.failed += 1

    def close(self) -> None:
        """Close the socket."""
        self._socket.close()

    def __enter__(self) -> VmcSender:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


_THUMB = {"ThumbMetacarpal": "ThumbProximal", "ThumbProximal": "ThumbIntermediate"}


def to_unity_place(place: np.ndarray) -> np.ndarray:
    """Return positions (..., 3) m in Unity's axes, or from them: the transformation is its own inverse."""
    return np.asarray(place, float) * (-1.0, 1.0, 1.0)


def to_unity_turn(turn: np.ndarray) -> np.ndarray:
    """Return rotations (..., 4) wxyz as Unity's, xyzw."""
    w, x, y, z = np.moveaxis(np.asarray(turn, float), -1, 0)
    return np.stack([x, -y, -z, w], axis=-1)


def from_unity_turn(turn: np.ndarray) -> np.ndarray:
    """Return Unity's rotations (..., 4) xyzw as Poise's, wxyz."""
    x, y, z, w = np.moveaxis(np.asarray(turn, float), -1, 0)
    return np.stack([w, x, -y, -z], axis=-1)


def name_bone(role: str) -> str:
    """Return the name of a role in Unity's HumanBodyBones."""
    for vrm, unity in _THUMB.items():
        if role.endswith(vrm):
            role = role.removesuffix(vrm) + unity
            break
    return role[0].upper() + role[1:]
