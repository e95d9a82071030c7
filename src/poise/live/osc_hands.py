"""Two hands from OSC: trackers and controllers of VMC, phones, and Poise's own messages.

    /poise/left/place  x y z            m, the puppet's axes;  right likewise
    /poise/left/turn   w x y z
    /poise/left/grip   0..1             /poise/left/buttons  bits
    /VMC/Ext/Tra/Pos   name, x y z, x y z w      a tracker;   /VMC/Ext/Con/Pos: a controller; Unity's axes
    .../quaternion, .../quat   x y z w  a phone (ZIG SIM, GyrOSC and such): only its orientation, relative to that at
                                        calibration: held upright, its screen towards its user

The name of a tracker, controller or phone determines its hand (left, right, L, R), otherwise the order in which they
are first seen: the first is the left hand. Others are ignored.

Packets may be late, duplicated, truncated or no OSC: each is used completely or not at all, and counted. A packet whose
time (its bundle's, or `/VMC/Ext/T`) is before that of the last one of its sender, by less than RESTART, is late; a
longer step back is a program that was started again. A hand without a message for LOST seconds is not seen.
"""

from __future__ import annotations

import re
import socket
import threading
import time
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from poise.errors import InputError
from poise.live.osc import AT_ONCE, LOOPBACK, MOST_BYTES, OscError, OscMessage, decode_packet, find_address
from poise.live.vmc import from_unity_turn, to_unity_place
from poise.puppetry.device import HeldHands
from poise.spatial import rotation

PORT = 39540  # on which VMC's marionettes listen
LOST, RESTART = 0.5, 1.0  # s
AGAIN = 0.5  # s, after which a socket that failed is opened again
FARTHEST = 1e3  # m
MOST_NAMES = 64
_SIDES = {"left": 0, "right": 1}
_LEFT, _RIGHT = re.compile(r"(?i)left|(?<![a-z])l(?![a-z])"), re.compile(r"(?i)right|(?<![a-z])r(?![a-z])")


class UdpReceiver:
    """Receives UDP packets in a thread; a socket that fails is opened again.

    port      on which it listens
    failure   why nothing can be received; empty if it can
    """

    def __init__(self, host: str, port: int, receive: Callable[[bytes, Any], None]):
        self._receive, self._stopping, self.failure = receive, threading.Event(), ""
        self._family, address = find_address(host, port)
        self.socket: socket.socket | None
        try:
            self.socket = self.open_socket(address)
        except OSError as error:
            raise InputError(
                f"port {port} of {host} cannot be listened to for OSC: {error.strerror or error}. Give another."
            ) from error
        self._address = self.socket.getsockname()
        self.port = int(self._address[1])
        self._thread = threading.Thread(target=self._run, name="poise osc", daemon=True)
        self._thread.start()

    def open_socket(self, address: Any) -> socket.socket:
        """Return a socket that is bound to an address."""
        opened = socket.socket(self._family, socket.SOCK_DGRAM)
        try:
            opened.bind(address)
        except OSError:
            opened.close()
            raise
        opened.settimeout(0.2)
        return opened

    def _run(self) -> None:
        """Receive packets until it is closed."""
        while not self._stopping.is_set():
            try:
                if self.socket is None:
                    self.socket = self.open_socket(self._address)
                data, sender = self.socket.recvfrom(MOST_BYTES + 1)
            except TimeoutError:
                self.failure = ""
            except ConnectionResetError:
                pass  # Windows: an earlier packet had no receiver
            except OSError as error:
                self.failure = error.strerror or str(error)
                if self.socket is not None:
                    self.socket.close()
                self.socket = None
                self._stopping.wait(AGAIN)
            else:
                self.failure = ""
                self._receive(data, sender)

    def close(self) -> None:
        """Stop the thread and close the socket."""
        self._stopping.set()
        self._thread.join()
        if self.socket is not None:
            self.socket.close()


class HandUpdate(NamedTuple):
    """A change of one hand; None for what stays."""

    hand: int
    place: np.ndarray | None = None
    turn: np.ndarray | None = None
    grip: float | None = None
    buttons: int | None = None


class HandRouter:
    """Translates messages to changes of hands.

    names  hand of each tracker, controller or phone: 0 left, 1 right, -1 none
    """

    def __init__(self) -> None:
        self.names: dict[str, int] = {}
        self._phones: dict[int, np.ndarray] = {}  # orientation of the phone of a hand, as it was sent
        self._calibrated: dict[int, np.ndarray] = {}  # and at calibration

    def calibrate(self) -> None:
        """Make the phones' present orientations the neutral ones."""
        self._calibrated = dict(self._phones)

    def route(self, message: OscMessage) -> HandUpdate | None:
        """Return the change that a message makes; None if it is not for a hand. Raise ValueError if it is invalid."""
        address, arguments = message.address, message.arguments
        parts = address.split("/")[1:]
        if parts[0] == "poise" and len(parts) == 3 and parts[1] in _SIDES:
            return self._route_own(_SIDES[parts[1]], parts[2], arguments)
        if address in ("/VMC/Ext/Tra/Pos", "/VMC/Ext/Con/Pos"):
            return self._route_tracker(str(arguments[0]), _read(arguments[1:8], 7))
        if parts[-1] in ("quaternion", "quat") and len(arguments) >= 4:
            return self._route_phone("/".join(parts[:-1]), _read(arguments[:4], 4))
        return None

    def _route_own(self, hand: int, name: str, arguments: tuple[Any, ...]) -> HandUpdate | None:
        if name == "place":
            return HandUpdate(hand, place=_check_position(_read(arguments, 3)))
        if name == "turn":
            return HandUpdate(hand, turn=_normalize(_read(arguments, 4)))
        if name == "grip":
            return HandUpdate(hand, grip=float(np.clip(_read(arguments, 1)[0], 0.0, 1.0)))
        if name == "buttons":
            return HandUpdate(hand, buttons=int(_read(arguments, 1)[0]))
        return None

    def _route_tracker(self, name: str, numbers: np.ndarray) -> HandUpdate | None:
        hand = self._find_hand(name)
        if hand is None:
            return None
        place, turn = to_unity_place(_check_position(numbers[:3])), _normalize(from_unity_turn(numbers[3:]))
        return HandUpdate(hand, place, turn)

    def _route_phone(self, name: str, numbers: np.ndarray) -> HandUpdate | None:
        hand = self._find_hand(name)
        if hand is None:
            return None
        x, y, z, w = numbers
        sent = _normalize(np.array([w, x, y, z]))
        self._phones[hand] = sent
        turn = rotation.multiply(rotation.conjugate(self._calibrated.setdefault(hand, sent)), sent)
        # A phone's x is to its right, y up, z out of its screen; its user looks in the direction that the puppet faces.
        return HandUpdate(hand, turn=turn * (1.0, -1.0, 1.0, -1.0))

    def _find_hand(self, name: str) -> int | None:
        """Return the hand of a tracker, controller or phone; None if it has none."""
        if name not in self.names:
            if len(self.names) >= MOST_NAMES:
                return None
            is_left, is_right = bool(_LEFT.search(name)), bool(_RIGHT.search(name))
            free = [hand for hand in range(2) if hand not in self.names.values()]
            self.names[name] = int(is_right) if is_left != is_right else free[0] if free else -1
        found = self.names[name]
        return None if found < 0 else found


class OscHands(HeldHands):
    """Hands that are received over UDP. See above.

    heard    number of messages that were used
    ignored  number of packets that were no OSC, and of messages with invalid numbers
    late     number of packets that arrived after newer ones
    others   number of messages that are not for hands
    """

    def __init__(
        self, host: str = LOOPBACK, port: int = PORT, clock: Callable[[], float] = time.perf_counter,
        listens: bool = True,
    ):  # fmt: skip
        super().__init__(f"OSC and VMC at {host}:{port}", seen=False)
        self.clock, self.router = clock, HandRouter()
        self.heard = self.ignored = self.late = self.others = 0
        self._last = [-np.inf, -np.inf]  # s of the clock, of each hand's last message
        self._times: dict[Any, float] = {}  # s, of the last packet of a sender, by its own clock
        self.receiver = UdpReceiver(host, port, self.take) if listens else None

    @property
    def port(self) -> int:
        """The port on which it listens; 0 if it does not."""
        return 0 if self.receiver is None else self.receiver.port

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
                update = self.router.route(message)
            except (ValueError, TypeError, IndexError, OverflowError):
                self.ignored += 1
                continue
            if update is None:
                self.others += 1
            else:
                self._apply(update)

    def _is_late(self, messages: list[OscMessage], sender: Any) -> bool:
        """Return whether a packet arrived after a newer one of the same sender."""
        sent = [each.arguments[0] for each in messages if each.address == "/VMC/Ext/T" and each.arguments]
        times = [float(each) for each in sent if isinstance(each, int | float) and np.isfinite(each)]
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

    def _apply(self, update: HandUpdate) -> None:
        """Move a hand; one that was not seen gets a neutral position or orientation if only the other one came."""
        hand, place, turn, grip, buttons = update
        if place is None and turn is not None and not np.isfinite(self._places[hand]).all():
            place = np.zeros(3)
        if turn is None and place is not None and not np.isfinite(self._turns[hand]).all():
            turn = rotation.identity()
        self.heard += 1
        self._last[hand] = self.clock()
        self.put(hand, place, turn, grip, buttons)

    def status(self) -> tuple[bool, str]:
        """See `HandsDevice.status`; hands without messages are not seen from then on."""
        now, there = self.clock(), []
        for hand, name in enumerate(("left", "right")):
            if now - self._last[hand] > LOST:
                self.lose(hand)
            else:
                there.append(name)
        counts = f"{self.heard} messages, {self.ignored} ignored, {self.late} late"
        if self.receiver is not None and self.receiver.failure:
            failure = self.receiver.failure
            return False, f"{self.name}: cannot be listened to any longer ({failure}). It is tried again."
        if not there:
            return False, f"{self.name}: nothing comes ({counts}). Send to it, or choose another device."
        return True, f"{self.name}: {' and '.join(there)} hand, {counts}"

    def calibrate(self) -> None:
        """See `HandsDevice.calibrate`: phones are held upright now."""
        self.router.calibrate()

    def close(self) -> None:
        """See `HandsDevice.close`."""
        if self.receiver is not None:
            self.receiver.close()


def _read(arguments: tuple[Any, ...], count: int) -> np.ndarray:
    numbers = np.array([float(each) for each in arguments[:count]])
    if len(numbers) != count or not np.isfinite(numbers).all():
        raise ValueError("too few numbers, or not finite")
    return numbers


def _check_position(numbers: np.ndarray) -> np.ndarray:
    if np.abs(numbers).max() > FARTHEST:
        raise ValueError("too far away")
    return numbers


def _normalize(numbers: np.ndarray) -> np.ndarray:
    size = float(np.linalg.norm(numbers))
    if not 0.5 < size < 2.0:
        raise ValueError("not a rotation")
    return numbers / size
