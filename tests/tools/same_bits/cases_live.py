"""What goes in and out while somebody plays: OSC, VMC, sticks and music, without a network or a screen."""

from __future__ import annotations

import math
import pickle
import tempfile
import wave
from pathlib import Path
from typing import Any

import numpy as np

from .cases import case
from .cases_puppets import pump
from .names import find, get, poise
from .scenes import human, make_clip, stand


@case("OSC messages")
def run_osc() -> Any:
    """Messages there and back."""
    encode, decode = find("encode_message"), find("decode_packet")
    messages = [encode("/a", 1, 2.5, "text"), encode("/u", "grün", -7), encode("/x/y/z", 0.1), encode("/n")]
    packets = find("encode_bundles")(messages, 60)
    said = [[each.address, *map(str, each.arguments)] for packet in packets for each in decode(packet)]
    return {"bytes": messages + packets, "said": said}


@case("OSC hands")
def run_osc_hands() -> Any:
    """Packets that a tracker and a phone would send, handed to the reader itself."""
    encode, now, found = find("encode_message"), [0.0], []
    hands = find("OscHands")(clock=lambda: now[0], listens=False)
    for k in range(12):
        now[0] += 0.02
        for side in ("left", "right"):
            hands.take(encode(f"/poise/{side}/place", 0.1 * k, 1.0, 0.2))
            hands.take(encode(f"/poise/{side}/turn", 1.0, 0.0, 0.05 * k, 0.0))
            hands.take(encode(f"/poise/{side}/grip", 0.08 * k))
            hands.take(encode(f"/poise/{side}/buttons", k % 4))
            hands.take(encode("/VMC/Ext/Tra/Pos", f"{side} tracker", 0.1 * k, 1.0, 0.3, 0.0, 0.0, 0.1, 1.0))
            hands.take(encode(f"/zigsim/{side}/quaternion", 0.0, 0.1, 0.0, 1.0))
        hands.take(encode("/VMC/Ext/T", 0.02 * k))
        hands.take(b"no message")
        found.append(list(hands.read())[:4])  # not when it came, by this machine's clock
        if k == 6:
            hands.calibrate()
    counts = [hands.heard, hands.ignored, hands.late, hands.others]
    now[0] += 2.0
    get(hands, "status")()
    hands.close()
    return {"readings": found, "counts": counts}


@case("VMC packets")
def run_vmc() -> Any:
    """The bytes that other programs get for a pose."""
    clip = make_clip("wave", human(preset="full").skeleton, 2.0, 30.0)
    sender = find("VmcSender")(clip.skeleton, port=39540)
    places, turns = clip.world
    try:
        return [sender.pack(places[k], turns[k], k / 30.0) for k in range(0, len(clip), 10)]
    finally:
        sender.close()


@case("sticks of a gamepad")
def run_sticks() -> Any:
    turn, turns, sticks = poise.rotation.identity(), [], []
    for k in range(30):
        turn = find("turn_on")(turn, np.array([0.1 * k, 1.0, -0.5]), 0.01)
        turns.append(turn)
        sticks.append(find("read_stick")(math.cos(k), math.sin(k)))
    return {"turns": np.array(turns), "sticks": np.array(sticks)}


@case("music of a file")
def run_music() -> Any:
    """Samples of a WAV."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "tone.wav"
        with wave.open(str(path), "wb") as file:
            file.setnchannels(2)
            file.setsampwidth(2)
            file.setframerate(8000)
            file.writeframes((8000.0 * np.sin(0.3 * np.arange(4000))).astype("<i2").tobytes())
        sound = find("load_sound")(path)
        return {"samples": np.asarray(sound.samples), "rate": sound.rate, "duration": sound.duration}


@case("puppet loop")
def run_loop() -> Any:
    """The loop around a session, ticked by hand on a clock of its own."""
    with tempfile.TemporaryDirectory() as folder:
        session = find("PuppetSession")(poise.Rehearsal(folder), poise.Character.human(1.75, 75.0))
        device, now, shown = find("HeldHands")(), [0.0], []
        loop = find("PuppetLoop")(session, device, clock=lambda: now[0])
        loop.post(session.record)
        for k in range(60):
            now[0] += find("TICK")
            for hand in range(2):
                device.put(hand, *pump(now[0], hand))
            shown.append(loop.tick())
            if k == 40:
                loop.post(session.practise)
        loop.stop()
        session.close()
        return [[each.time, each.pose.root, each.pose.rotations] for each in shown if each is not None]


@case("what a user holds, pickled")
def run_pickled() -> Any:
    """Clips, bodies, drivers and takes, sent to another process and back."""
    body = human()
    stage = poise.Stage()
    stand(stage, body)
    clip = make_clip("idle", body.skeleton)
    things = [clip, clip.pose(0.3), poise.Walk(3), poise.Kinematic(clip), poise.Ground(0.1), stage.run(0.3)]
    again = [pickle.loads(pickle.dumps(thing)) for thing in things]
    character = pickle.loads(pickle.dumps(body))
    return {"clip": again[0], "pose": again[1], "take": again[5], "walk": again[2].steps, "ground": again[4].height,
            "masses": np.array([each.mass for each in character.inertias])}  # fmt: skip
