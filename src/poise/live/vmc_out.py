"""Poses out as VMC (Virtual Motion Capture protocol), over UDP: other programs show the puppet.

Every pose is one root, a bone a role, the time, and that all is well (protocol.vmc.info, "Marionette" to "Performer"):

    /VMC/Ext/Root/Pos   name, x y z (m), x y z w        where the whole stands: at the origin
    /VMC/Ext/Bone/Pos   name, x y z, x y z w            against the bone that carries it
    /VMC/Ext/T          s
    /VMC/Ext/OK         1

A body whose rest pose is no T is sent as it is: its arms are off by what its rest is.
"""

from __future__ import annotations

import socket
from types import TracebackType

import numpy as np

from poise.body.skeleton import Skeleton
from poise.errors import InputError
from poise.live.osc import encode_bundles, encode_message
from poise.live.places import find_address
from poise.live.unity import name_bone, to_unity_place, to_unity_turn
from poise.motion.motion import Pose
from poise.spatial import rotation

PORT = 39539  # that performers listen on
MOST_BYTES = 1400  # of a packet: what networks do not cut


class VmcSender:
    """Sends poses of one skeleton.

    address  (host, port);  sent, failed: packets
    """

    def __init__(self, skeleton: Skeleton, host: str = "127.0.0.1", port: int = PORT):
        self.skeleton, self.address = skeleton, find_address(host, port)
        self.sent = self.failed = 0
        self._bones = [(name_bone(role), skeleton.index(role)) for role in skeleton.roles]
        if not self._bones:
            raise InputError("VMC names bones by their roles, and this skeleton has none. Give it roles.")
        of = {joint for _, joint in self._bones}
        self._carriers = [next((i for i in reversed(skeleton.chain(j)[:-1]) if i in of), -1) for _, j in self._bones]
        self._socket = socket.socket(self.address[0], socket.SOCK_DGRAM)
        self._socket.setblocking(False)

    def pack(self, pose: Pose, time: float) -> list[bytes]:
        """The packets of a pose at a time (s)."""
        places, turns = self.skeleton.pose(pose.root, pose.rotations, pose.shifts)
        messages = [encode_message("/VMC/Ext/Root/Pos", "root", *_numbers(np.zeros(3), rotation.identity()))]
        for (name, joint), carrier in zip(self._bones, self._carriers, strict=True):
            place, turn = places[joint], turns[joint]
            if carrier >= 0:
                back = rotation.conjugate(turns[carrier])
                place, turn = rotation.rotate(back, place - places[carrier]), rotation.multiply(back, turn)
            messages.append(encode_message("/VMC/Ext/Bone/Pos", name, *_numbers(place, turn)))
        messages += [encode_message("/VMC/Ext/T", float(time)), encode_message("/VMC/Ext/OK", 1)]
        return encode_bundles(messages, MOST_BYTES)

    def send(self, pose: Pose, time: float) -> None:
        """Send a pose. Nobody may listen: that is no failure of ours."""
        for packet in self.pack(pose, time):
            try:
                self._socket.sendto(packet, self.address[1])
                self.sent += 1
            except OSError:
                self.failed += 1

    def close(self) -> None:
        """Close it."""
        self._socket.close()

    def __enter__(self) -> VmcSender:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _numbers(place: np.ndarray, turn: np.ndarray) -> list[float]:
    return [*map(float, to_unity_place(place)), *map(float, to_unity_turn(turn))]
