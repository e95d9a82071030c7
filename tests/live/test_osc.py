"""OSC of our own beside python-osc, packets that are broken, VMC out as another program hears it, hands in.   [M1]"""

from __future__ import annotations

import random
import socket
import struct
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import poise
from poise.errors import InputError
from poise.live import osc_hands
from poise.live.osc import OscError, decode_packet, encode_bundles, encode_message, read_place
from poise.live.osc_hands import OscHands
from poise.live.puppet_loop import PuppetLoop
from poise.live.puppet_session import PuppetSession
from poise.live.vmc import VmcSender
from poise.motion.motion import Pose
from poise.spatial import rotation

osc_bundle_builder = pytest.importorskip("pythonosc.osc_bundle_builder", reason="python-osc is not installed")
from pythonosc import osc_server  # noqa: E402
from pythonosc.dispatcher import Dispatcher  # noqa: E402
from pythonosc.osc_bundle import OscBundle  # noqa: E402
from pythonosc.osc_message import OscMessage as TheirMessage  # noqa: E402
from pythonosc.osc_message_builder import OscMessageBuilder  # noqa: E402


def theirs(address: str, *arguments: Any) -> bytes:
    builder = OscMessageBuilder(address)
    for each in arguments:
        builder.add_arg(each)
    return bytes(builder.build().dgram)


def their_bundle(*messages: bytes, time: float | None = None) -> bytes:
    builder = osc_bundle_builder.OscBundleBuilder(osc_bundle_builder.IMMEDIATELY if time is None else time)
    for each in messages:
        builder.add_content(TheirMessage(each))
    return bytes(builder.build().dgram)


# Bytes.


def test_messages_are_the_same_bytes_as_another_library_makes() -> None:
    for said in [("/a", 1, 2.5, "text"), ("/abc", "four"), ("/x/y/z", 0.1), ("/n",), ("/u", "grün", -7)]:
        assert encode_message(*said) == theirs(*said)
        (found,) = decode_packet(theirs(*said))
        assert found.address == said[0] and len(found.arguments) == len(said) - 1
        for one, other in zip(found.arguments, said[1:], strict=True):
            assert one == (pytest.approx(other) if isinstance(other, float) else other)
    packet = encode_bundles([encode_message("/a", 1), encode_message("/b", "x")], 1400)
    assert [each.address for each in OscBundle(packet[0])] == ["/a", "/b"]
    assert [each.address for each in decode_packet(their_bundle(theirs("/a", 1), theirs("/b", 2)))] == ["/a", "/b"]


def test_every_kind_of_argument_is_read() -> None:
    builder = OscMessageBuilder("/k")
    kinds = [(1, "i"), (2.5, "f"), ("t", "s"), (b"blob", "b"), (2**40, "h"), (1.25, "d"), (True, "T"), (None, "N")]
    for value, kind in kinds:
        builder.add_arg(value, kind)
    (found,) = decode_packet(bytes(builder.build().dgram))
    assert found.arguments == (1, 2.5, "t", None, 2**40, 1.25, True, None)


def test_bundles_are_as_long_as_allowed() -> None:
    messages = [encode_message("/m", k, "x" * 60) for k in range(60)]
    packets = encode_bundles(messages, 1400)
    assert max(map(len, packets)) <= 1400 and len(packets) < 6
    assert [each.arguments[0] for packet in packets for each in decode_packet(packet)] == list(range(60))


@pytest.mark.parametrize(
    "data",
    [
        b"", b"abc", b"abcd", b"/a\0\0,i\0\0", b"/a\0\0,s\0\0abcd", b"/a\0\0,q\0\0", b"#bundle\0", b"/a\0\0i\0\0\0",
        b"#bundle\0" + b"\0" * 8 + struct.pack(">i", -4), b"#bundle\0" + b"\0" * 8 + struct.pack(">i", 2**31 - 1),
        b"/a\0\0,b\0\0" + struct.pack(">i", 2**30), b"/\xff\xff\0", b"\0" * 16, b"/" * 70_000,
    ],
)  # fmt: skip
def test_what_is_no_osc_is_refused_in_a_sentence(data: bytes) -> None:
    with pytest.raises(OscError):
        decode_packet(data)


def test_bundles_in_bundles_have_an_end() -> None:
    data = encode_message("/a", 1)
    for _ in range(40):
        data = b"#bundle\0" + struct.pack(">Qi", 1, len(data)) + data
    with pytest.raises(OscError, match="depth"):
        decode_packet(data)


def test_broken_packets_are_counted_and_never_break_anything() -> None:
    rng = random.Random(5)
    hands = OscHands(listens=False)
    good = [
        theirs("/poise/left/place", 0.1, 0.2, 0.3), theirs("/poise/right/turn", 1.0, 0.0, 0.0, 0.0),
        theirs("/VMC/Ext/Tra/Pos", "left", 0.1, 0.2, 0.3, 0.0, 0.0, 0.0, 1.0), theirs("/VMC/Ext/T", 3.0),
        their_bundle(theirs("/poise/left/grip", 0.5), theirs("/ZIGSIM/phone/quaternion", 0.0, 0.0, 0.0, 1.0), time=3e8),
    ]  # fmt: skip
    for _ in range(20_000):
        data = bytearray(rng.choice(good))
        for _ in range(rng.randrange(1, 6)):
            kind = rng.randrange(4)
            at = rng.randrange(len(data)) if data else 0
            if kind == 0 and data:
                data[at] = rng.randrange(256)
            elif kind == 1:
                data = data[:at]
            elif kind == 2:
                data[at:at] = rng.randbytes(rng.randrange(9))
            elif data:
                data[at : at + 4] = rng.choice([b"\xff" * 4, b"\x7f\xf0\0\0", b"\0" * 4, b"\x7f\xc0\0\0"])
        hands.take(bytes(data))
    assert hands.ignored > 5000 and hands.heard > 500
    reading = hands.read()
    assert reading is not None
    seen = np.isfinite(reading.places).all(axis=1)
    assert np.abs(reading.places[seen]).max() <= 1000.0
    assert np.allclose(np.linalg.norm(reading.turns[seen], axis=1), 1.0)
    assert ((reading.grips >= 0.0) & (reading.grips <= 1.0)).all() and (reading.buttons < 2**16).all()
    assert len(hands.router.names) <= 64 and len(hands._times) <= 64


# Out.


def listen(count: int) -> tuple[Any, dict[str, tuple[Any, ...]], threading.Event]:
    """A server of python-osc that hears bones by their names, and says when it heard so many."""
    heard: dict[str, tuple[Any, ...]] = {}
    done = threading.Event()

    def take(address: str, *arguments: Any) -> None:
        heard[arguments[0] if address.endswith("Pos") else address] = (address, *arguments)
        if len(heard) >= count:
            done.set()

    dispatcher = Dispatcher()
    dispatcher.set_default_handler(take)
    server = osc_server.ThreadingOSCUDPServer(("127.0.0.1", 0), dispatcher)
    server.daemon_threads = True
    return server, heard, done


def unity_world(heard: dict[str, tuple[Any, ...]], chain: list[str]) -> tuple[np.ndarray, np.ndarray]:
    """Where the last bone of a chain is in Unity, by Unity's own rules: p' = p + q v q*, quaternions x y z w."""
    place, turn = np.zeros(3), np.array([0.0, 0.0, 0.0, 1.0])
    for name in chain:
        numbers = np.array(heard[name][2:], float)
        place = place + _turn_unity(turn, numbers[:3])
        x1, y1, z1, w1 = turn
        x2, y2, z2, w2 = numbers[3:]
        turn = np.array([
            w1 * x2 + x1 * w2 + y1 * z2 - z1 * y2, w1 * y2 - x1 * z2 + y1 * w2 + z1 * x2,
            w1 * z2 + x1 * y2 - y1 * x2 + z1 * w2, w1 * w2 - x1 * x2 - y1 * y2 - z1 * z2,
        ])  # fmt: skip
    return place, turn


def _turn_unity(q: np.ndarray, v: np.ndarray) -> np.ndarray:
    x, y, z, w = q
    t = 2.0 * np.cross([x, y, z], v)
    return v + w * t + np.cross([x, y, z], t)


def test_vmc_is_heard_by_another_program_with_names_axes_and_units() -> None:
    character = poise.Character.human(1.75, 75)
    skeleton = character.skeleton
    turns = rotation.identity((len(skeleton),))
    # the left arm straight up, the right one ahead; the whole turned to its left by 30 degrees, a metre to its left
    turns[skeleton.index("leftUpperArm")] = rotation.exp(np.array([0.0, 0.0, np.pi / 2]))
    turns[skeleton.index("rightUpperArm")] = rotation.exp(np.array([0.0, np.pi / 2, 0.0]))
    turns[0] = rotation.exp(np.array([0.0, np.radians(30.0), 0.0]))
    pose = Pose(np.array([1.0, 0.93, 0.2]), turns)
    server, heard, done = listen(len(skeleton) + 3)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        with VmcSender(skeleton, "127.0.0.1", server.server_address[1]) as sender:
            for _ in range(200):  # a packet may be lost
                sender.send(pose, 1.5)
                if done.wait(0.05):
                    break
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
    assert heard["/VMC/Ext/OK"][1] == 1 and heard["/VMC/Ext/T"][1] == pytest.approx(1.5)
    assert heard["root"][0] == "/VMC/Ext/Root/Pos" and heard["Hips"][0] == "/VMC/Ext/Bone/Pos"
    assert set(heard) >= {"Spine", "Head", "LeftUpperArm", "RightLowerLeg", "LeftToes", "LeftHand"}
    # Unity is left-handed: a body's left is -x. In metres.
    assert heard["Hips"][2:5] == pytest.approx((-1.0, 0.93, 0.2), abs=1e-6)
    trunk = ["Hips", "Spine", "Chest", "UpperChest"]
    arms = {side: [*trunk, *(f"{side}{stem}" for stem in ("Shoulder", "UpperArm", "LowerArm", "Hand"))]
            for side in ("Left", "Right")}  # fmt: skip
    shoulders = {side: unity_world(heard, chain[:-2])[0] for side, chain in arms.items()}
    hands = {side: unity_world(heard, chain)[0] for side, chain in arms.items()}
    up, ahead = hands["Left"] - shoulders["Left"], hands["Right"] - shoulders["Right"]
    assert up / np.linalg.norm(up) == pytest.approx([0.0, 1.0, 0.0], abs=1e-6)
    # it faces 30 degrees to its left: from +z towards -x
    facing = np.array([-np.sin(np.radians(30.0)), 0.0, np.cos(np.radians(30.0))])
    assert ahead / np.linalg.norm(ahead) == pytest.approx(facing, abs=1e-6)
    # and its left shoulder is on its left
    assert (shoulders["Left"] - shoulders["Right"]) @ np.cross(facing, [0.0, 1.0, 0.0]) > 0.3


def test_vmc_out_is_to_this_machine_and_in_packets_that_networks_carry() -> None:
    character = poise.Character.human(1.75, 75)
    with VmcSender(character.skeleton) as sender:
        assert sender.address[1][0] == "127.0.0.1"
        packets = sender.pack(character.skeleton.rest_positions(), rotation.identity((len(character.skeleton),)), 0.0)
        assert max(map(len, packets)) <= 1400
        assert sum(len(list(OscBundle(packet))) for packet in packets) == len(character.skeleton) + 3


def test_thumbs_have_unitys_names() -> None:
    from poise.live.vmc import name_bone

    assert name_bone("leftThumbMetacarpal") == "LeftThumbProximal"
    assert name_bone("leftThumbProximal") == "LeftThumbIntermediate"
    assert name_bone("rightThumbDistal") == "RightThumbDistal" and name_bone("hips") == "Hips"


# In.


class Clock:
    now = 10.0

    def __call__(self) -> float:
        return self.now


def test_trackers_are_hands_by_their_names_or_as_they_come() -> None:
    hands = OscHands(listens=False)
    hands.take(theirs("/VMC/Ext/Tra/Pos", "LHR-7", 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0))
    hands.take(theirs("/VMC/Ext/Tra/Pos", "LHR-8", 0.5, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0))
    hands.take(theirs("/VMC/Ext/Tra/Pos", "waist", 9.0, 9.0, 9.0, 0.0, 0.0, 0.0, 1.0))
    reading = hands.read()
    assert reading is not None and hands.others == 1
    assert reading.places[:, 0].tolist() == [0.0, -0.5]  # Unity's right is the puppet's, whose x is to the left
    named = OscHands(listens=False)
    named.take(theirs("/VMC/Ext/Con/Pos", "controller_right", 0.3, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0))
    found = named.read()
    assert found is not None and np.isnan(found.places[0]).all() and found.places[1, 0] == pytest.approx(-0.3)


def test_a_tracker_that_is_turned_turns_the_same_way_here() -> None:
    hands = OscHands(listens=False)
    half = np.radians(40.0) / 2
    hands.take(theirs("/VMC/Ext/Tra/Pos", "left", 0.0, 0.0, 0.0, 0.0, 0.0, float(np.sin(half)), float(np.cos(half))))
    reading = hands.read()
    assert reading is not None
    top = rotation.rotate(reading.turns[0], np.array([0.0, 1.0, 0.0]))
    there = _turn_unity(np.array([0.0, 0.0, np.sin(half), np.cos(half)]), np.array([0.0, 1.0, 0.0]))
    assert top == pytest.approx(there * (-1.0, 1.0, 1.0), abs=1e-6)


def test_a_phone_turns_a_hand_from_where_it_was_calibrated() -> None:
    hands = OscHands(listens=False)

    def say(name: str, turn: np.ndarray) -> None:
        w, x, y, z = (float(each) for each in turn)
        hands.take(theirs(f"/ZIGSIM/{name}/quaternion", x, y, z, w))

    held = rotation.exp(np.array([0.3, 0.2, 0.9]))  # somewhere in the room
    say("left phone", held)
    reading = hands.read()
    assert reading is not None and np.allclose(reading.turns[0], rotation.identity())
    # tipped ahead, away from who holds it: about its own x by a negative angle
    say("left phone", rotation.multiply(held, rotation.exp(np.array([-0.4, 0.0, 0.0]))))
    reading = hands.read()
    assert reading is not None and np.array_equal(reading.places[0], np.zeros(3))
    top = rotation.rotate(reading.turns[0], np.array([0.0, 1.0, 0.0]))
    assert top[2] == pytest.approx(np.sin(0.4)) and top[1] == pytest.approx(np.cos(0.4))  # ahead of the puppet
    hands.calibrate()
    say("left phone", rotation.multiply(held, rotation.exp(np.array([-0.4, 0.0, 0.0]))))
    reading = hands.read()
    assert reading is not None and np.allclose(reading.turns[0], rotation.identity())


def test_late_packets_are_left_out_and_a_restart_is_none() -> None:
    hands = OscHands(listens=False)

    def frame(t: float, y: float, sender: str = "a") -> None:
        place = theirs("/VMC/Ext/Tra/Pos", "left", 0.0, y, 0.0, 0.0, 0.0, 0.0, 1.0)
        hands.take(their_bundle(place, theirs("/VMC/Ext/T", t)), sender)

    def height() -> float:
        reading = hands.read()
        assert reading is not None
        return float(reading.places[0, 1])

    frame(5.0, 1.0)
    frame(5.1, 2.0)
    frame(5.05, 3.0)
    assert height() == 2.0 and hands.late == 1
    frame(0.0, 4.0)  # started again
    assert height() == 4.0
    frame(5.0, 5.0, "b")  # somebody else's clock
    assert height() == 5.0 and hands.late == 1
    hands.take(their_bundle(theirs("/poise/left/place", 0.0, 6.0, 0.0), time=1000.5), "c")
    hands.take(their_bundle(theirs("/poise/left/place", 0.0, 7.0, 0.0), time=1000.4), "c")
    assert height() == 6.0 and hands.late == 2


def test_partial_messages_move_what_they_say() -> None:
    hands = OscHands(listens=False)
    hands.take(theirs("/poise/left/place", 0.1, 0.2, 0.3))
    hands.take(theirs("/poise/left/grip", 7.0))
    hands.take(theirs("/poise/left/place", 0.1))  # cut short by its sender
    hands.take(theirs("/poise/left/turn", 0.0, 0.0, 0.0, 0.0))
    hands.take(theirs("/poise/left/place", float("nan"), 0.0, 0.0))
    hands.take(theirs("/poise/left/place", "a", "b", "c"))
    reading = hands.read()
    assert reading is not None and hands.ignored == 4
    assert reading.places[0] == pytest.approx([0.1, 0.2, 0.3]) and reading.grips[0] == 1.0
    assert reading.turns[0].tolist() == [1.0, 0.0, 0.0, 0.0] and np.isnan(reading.places[1]).all()


def test_hands_of_which_nothing_comes_are_lost_and_found() -> None:
    clock = Clock()
    hands = OscHands(listens=False, clock=clock)
    assert not hands.status()[0] and "nothing comes" in hands.status()[1]
    hands.take(theirs("/poise/left/place", 0.1, 0.2, 0.3))
    is_there, said = hands.status()
    assert is_there and "left hand" in said
    clock.now += 1.0
    assert not hands.status()[0]
    reading = hands.read()
    assert reading is not None and np.isnan(reading.places).all()
    hands.take(theirs("/poise/left/place", 0.1, 0.2, 0.3))
    assert hands.status()[0]


def test_it_listens_on_this_machine_and_a_taken_port_is_told() -> None:
    hands = OscHands(port=0)
    try:
        with pytest.raises(InputError, match="cannot be listened to"):
            OscHands(port=hands.port)
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
            for _ in range(500):
                sender.sendto(theirs("/poise/right/place", 0.0, 0.5, 0.0), ("127.0.0.1", hands.port))
                if hands.heard:
                    break
                threading.Event().wait(0.01)
        reading = hands.read()
        assert reading is not None and reading.places[1, 1] == 0.5 and reading.received > 0.0
    finally:
        hands.close()


def wait_for(found: Callable[[], object]) -> None:
    """Until something is so."""
    for _ in range(1000):
        if found():
            return
        threading.Event().wait(0.01)
    raise AssertionError("it never was")


def test_a_socket_that_fails_is_told_and_opened_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(osc_hands, "AGAIN", 0.05)
    hands = OscHands(port=0)
    try:
        receiver = hands.receiver
        assert receiver is not None and receiver.socket is not None
        first, opened = receiver.socket, receiver.open_socket

        def refuse(address: object) -> socket.socket:
            raise OSError(101, "Network is unreachable")

        monkeypatch.setattr(receiver, "open_socket", refuse)
        first.close()  # as an interface that goes away
        wait_for(lambda: "cannot be listened to any longer (" in hands.status()[1])
        assert not hands.status()[0]
        wait_for(lambda: "Network is unreachable" in hands.status()[1])
        monkeypatch.setattr(receiver, "open_socket", opened)
        wait_for(lambda: receiver.socket is not None)
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
            sender.sendto(encode_message("/poise/left/grip", 1.0), ("127.0.0.1", hands.port))  # where it was
            wait_for(lambda: hands.heard == 1)
        assert hands.status()[0]
    finally:
        hands.close()


def test_places_are_read_as_words() -> None:
    assert read_place("39539", 1) == ("127.0.0.1", 39539) and read_place("", 7) == ("127.0.0.1", 7)
    assert read_place("studio.lan:9000", 1) == ("studio.lan", 9000) and read_place("[::1]:9000", 1) == ("::1", 9000)
    for wrong in ("a:b:c", "99999", "host:", "host:99999999", "0"):
        if wrong == "host:":
            assert read_place(wrong, 7) == ("host", 7)
            continue
        with pytest.raises(InputError):
            read_place(wrong, 7)


def test_from_a_packet_in_to_packets_out(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The whole way of an input, by the clock; the figure is printed, and nothing hangs on it."""
    hands = OscHands(port=0)
    session = PuppetSession(poise.Rehearsal(tmp_path), poise.Character.human(1.75, 75))
    loop = PuppetLoop(session, hands)
    with VmcSender(session.character.skeleton, "127.0.0.1", hands.port) as out:  # our own bones are none of hands
        loop.watchers.append(lambda shown: out.send_world(*shown.world, shown.time))
        loop.start()
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
            for k in range(2000):
                sender.sendto(encode_message("/poise/left/place", 0.0, 1e-4 * k, 0.0), ("127.0.0.1", hands.port))
                threading.Event().wait(0.011)
                if len(loop._latencies) >= 100:
                    break
        loop.stop()
    hands.close()
    assert len(loop._latencies) >= 100 and hands.others > 100
    with capsys.disabled():
        print(f"\nfrom input to pose sent: {1e3 * (loop.latency or 0.0):.1f} ms in the middle")
