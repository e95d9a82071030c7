"""Two hands out of OSC: trackers and controllers of VMC, phones, and messages of one's own.

    /poise/left/place  x y z            m, the puppet's axes;  right alike
    /poise/left/turn   w x y z
    /poise/left/grip   0..1             /poise/left/buttons  bits
    /VMC/Ext/Tra/Pos   name, x y z, x y z w      a tracker;   /VMC/Ext/Con/Pos: a controller; Unity's axes
    .../quaternion, .../quat   x y z w  a phone (ZIG SIM, GyrOSC and such): only how it is turned, from where it was
                                        calibrated: held upright, its screen to who holds it

Trackers, controllers and phones are a hand by what they are called (left, right, L, R), else in the order in which
they come: the first is the left hand. Others are left alone.

Packets come late, twice, cut off, or are no OSC: each is used whole or not at all, and counted. A
packet whose time (its bundle's, or `/VMC/Ext/T`) is before that of the last one of its sender, by less than RESTART, is
late; a longer way back is a program that was started again. A hand of which nothing came for LOST seconds is not seen.
"""

from __future__ import annotations

import re
import socket
import threading
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from poise.errors import InputError
from poise.live.osc import AT_ONCE, LOOPBACK, MOST_BYTES, OscError, OscMessage, decode_packet, find_address
from poise.live.vmc import from_unity_turn, to_unity_place
from poise.puppetry.device import HeldHands
from poise.spatial import rotation

PORT = 39540  # that marionettes of VMC listen on
LOST, RESTART = 0.5, 1.0  # s
AGAIN = 0.5  # s, after which a socket that failed is opened again
FARTHEST = 1e3  # m
MOST_NAMES = 64
_SIDES = {"left": 0, "right": 1}
_LEFT, _RIGHT = re.compile(r"(?i)left|(?<![a-z])l(?![a-z])"), re.compile(r"(?i)right|(?<![a-z])r(?![a-z])")


class OscHands(HeldHands):
    """Hands that come over UDP. See above.

    heard    messages that were used;  ignored: packets that were no OSC, or of numbers that cannot be
    late     packets that came after newer ones
    others   messages to addresses that are none of hands
    """

    def __init__(
        self, host: str = LOOPBACK, port: int = PORT, clock: Callable[[], float] = time.perf_counter,
        listens: bool = True,
    ):  # fmt: skip
        super().__init__(f"OSC and VMC at {host}:{port}", seen=False)
        self.clock = clock
        self.heard = self.ignored = self.late = self.others = 0
        self._hands: dict[str, int] = {}  # by the name of a tracker or a phone
        self._last = [-np.inf, -np.inf]
        self._times: dict[Any, float] = {}  # s, of the last packet of a sender, by its own clock
        self._raw: dict[int, np.ndarray] = {}  # the turn of a phone, as it says it
        self._from: dict[int, np.ndarray] = {}  # and where it was calibrated
        self._socket: socket.socket | None = None
        self._thread: threading.Thread | None = None
        self._stopping, self._failed = threading.Event(), ""  # why nothing is heard
        if listens:
            self._listen(host, port)

    def _listen(self, host: str, port: int) -> None:
        self._family, address = find_address(host, port)
        try:
            self._socket = self._open(address)
        except OSError as error:
            raise InputError(
                f"port {port} of {host} cannot be listened to for OSC: {error.strerror or error}. Give another."
            ) from error
        self._address = self._socket.getsockname()
        self.port = int(self._address[1])
        self._thread = threading.Thread(target=self._run, name="poise osc", daemon=True)
        self._thread.start()

    def _open(self, address: Any) -> socket.socket:
        opened = socket.socket(self._family, socket.SOCK_DGRAM)
        try:
            opened.bind(address)
        except OSError:
            opened.close()
            raise
        opened.settimeout(0.2)
        return opened

    def _run(self) -> None:
        """Hear packets until it is closed; a socket that fails is opened anew, again and again."""
        while not self._stopping.is_set():
            try:
                if self._socket is None:
                    self._socket = self._open(self._address)
                data, sender = self._socket.recvfrom(MOST_BYTES + 1)
            except TimeoutError:
                self._failed = ""
            except ConnectionResetError:
                pass  # Windows: somebody whom nothing was sent to is not there
            except OSError as error:
                self._failed = error.strerror or str(error)
                if self._socket is not None:
                    self._socket.close()
                self._socket = None
                self._stopping.wait(AGAIN)
            else:
                self._failed = ""
                self.take(data, sender)

    def take(self, data: bytes, sender: Any = None) -> None:
        """Use a packet, or count it."""
        try:
            messages = decode_packet(data)
        except OscError:
            self.ignored += 1
            return
        if self._is_late(messages, sender):
            self.late += 1
            return
        for message in messages:
            try:
                self._use(message)
            except (ValueError, TypeError, IndexError, OverflowError):
                self.ignored += 1

    def _is_late(self, messages: list[OscMessage], sender: Any) -> bool:
        """Whether a packet came after a newer one of the same sender."""
        told = [each.arguments[0] for each in messages if each.address == "/VMC/Ext/T" and each.arguments]
        times = [float(each) for each in told if isinstance(each, int | float) and np.isfinite(each)]
        times += [each.time / 2.0**32 for each in messages if each.time != AT_ONCE]
        if not times:
            return False
        if sender not in self._times and len(self._times) >= MOST_NAMES:
            self._times.clear()
        last, now = self._times.get(sender, -np.inf), times[0]
        if last - RESTART < now < last:
            return True
        self._times[sender] = now
        return False

    def _use(self, message: OscMessage) -> None:
        address, said = message.address, message.arguments
        parts = address.split("/")[1:]
        if parts[0] == "poise" and len(parts) == 3 and parts[1] in _SIDES:
            self._use_own(_SIDES[parts[1]], parts[2], said)
        elif address in ("/VMC/Ext/Tra/Pos", "/VMC/Ext/Con/Pos"):
            self._use_tracker(str(said[0]), _read(said[1:8], 7))
        elif parts[-1] in ("quaternion", "quat") and len(said) >= 4:
            self._use_phone("/".join(parts[:-1]), _read(said[:4], 4))
        else:
            self.others += 1

    def _use_own(self, hand: int, what: str, said: tuple[Any, ...]) -> None:
        if what == "place":
            self._put(hand, place=_place(_read(said, 3)))
        elif what == "turn":
            self._put(hand, turn=_turn(_read(said, 4)))
        elif what == "grip":
            self._put(hand, grip=float(np.clip(_read(said, 1)[0], 0.0, 1.0)))
        elif what == "buttons":
            self._put(hand, buttons=int(_read(said, 1)[0]))
        else:
            self.others += 1

    def _use_tracker(self, name: str, numbers: np.ndarray) -> None:
        hand = self._find_hand(name)
        if hand is None:
            self.others += 1
            return
        self._put(hand, to_unity_place(_place(numbers[:3])), _turn(from_unity_turn(numbers[3:])))

    def _use_phone(self, name: str, numbers: np.ndarray) -> None:
        hand = self._find_hand(name)
        if hand is None:
            self.others += 1
            return
        x, y, z, w = numbers
        raw = _turn(np.array([w, x, y, z]))
        self._raw[hand] = raw
        since = rotation.multiply(rotation.conjugate(self._from.setdefault(hand, raw)), raw)
        # A phone's x is to its right, y up, z out of its screen; who holds it looks the way that the puppet faces.
        place = np.zeros(3) if np.isnan(self._places[hand]).any() else None
        self._put(hand, place, since * (1.0, -1.0, 1.0, -1.0))

    def _put(self, hand: int, place: np.ndarray | None = None, turn: np.ndarray | None = None, **more: Any) -> None:
        seen = np.isfinite(self._places[hand]).all(), np.isfinite(self._turns[hand]).all()
        if place is None and not seen[0] and turn is not None:
            place = np.zeros(3)
        if turn is None and not seen[1] and place is not None:
            turn = rotation.identity()
        self.heard += 1
        self._last[hand] = self.clock()
        self.put(hand, place, turn, **more)

    def _find_hand(self, name: str) -> int | None:
        """Which hand somebody of a name is; None: neither."""
        if name not in self._hands:
            if len(self._hands) >= MOST_NAMES:
                return None
            is_left, is_right = bool(_LEFT.search(name)), bool(_RIGHT.search(name))
            free = [hand for hand in range(2) if hand not in self._hands.values()]
            self._hands[name] = int(is_right) if is_left != is_right else free[0] if free else -1
        found = self._hands[name]
        return None if found < 0 else found

    def tell(self) -> tuple[bool, str]:
        """See `HandsDevice.tell`; hands that nothing came of are not seen from then on."""
        now, there = self.clock(), []
        for hand, name in enumerate(("left", "right")):
            if now - self._last[hand] > LOST:
                self.lose(hand)
            else:
                there.append(name)
        counts = f"{self.heard} messages, {self.ignored} ignored, {self.late} late"
        if self._failed:
            return False, f"{self.name}: cannot be listened to any longer ({self._failed}). It is tried again."
        if not there:
            return False, f"{self.name}: nothing comes ({counts}). Send to it, or choose another device."
        return True, f"{self.name}: {' and '.join(there)} hand, {counts}"

    def calibrate(self) -> None:
        """See `HandsDevice.calibrate`: phones are held upright now."""
        self._from = dict(self._raw)

    def close(self) -> None:
        """See `HandsDevice.close`."""
        self._stopping.set()
        if self._thread is not None:
            self._thread.join()
        if self._socket is not None:
            self._socket.close()


def _read(said: tuple[Any, ...], count: int) -> np.ndarray:
    numbers = np.array([float(each) for each in said[:count]])
    if len(numbers) != count or not np.isfinite(numbers).all():
        raise ValueError("numbers that cannot be")
    return numbers


def _place(numbers: np.ndarray) -> np.ndarray:
    if np.abs(numbers).max() > FARTHEST:
        raise ValueError("too far away")
    return numbers


def _turn(numbers: np.ndarray) -> np.ndarray:
    size = float(np.linalg.norm(numbers))
    if not 0.5 < size < 2.0:
        raise ValueError("no rotation")
    return numbers / size
