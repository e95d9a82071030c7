"""The page of `poise puppet` without a browser: who comes in, hands that follow each other, controls.   [M1]"""

from __future__ import annotations

import socket
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from poise.errors import InputError
from poise.spatial import rotation
from poise.studio.handles import PageHands
from poise.studio.server import Door, find_port

# Hands.


def test_one_hand_moves_alone_alike_or_against() -> None:
    hands = PageHands()
    place, turn = np.array([0.1, 0.2, 0.05]), rotation.exp(np.array([-0.5, 0.2, 0.3]))
    hands.move(0, place, turn)
    assert np.array_equal(hands.place(1), np.zeros(3))
    hands.follow("alike")
    hands.move(0, place, turn)
    assert np.allclose(hands.place(1), [-0.1, 0.2, 0.05])
    assert np.allclose(rotation.log(hands.turn(1)), [-0.5, -0.2, -0.3])  # forward as the other, outward on its side
    hands.follow("against")
    hands.move(1, np.array([0.0, 0.1, 0.0]), rotation.exp(np.array([-0.4, 0.0, 0.0])))
    assert np.allclose(rotation.log(hands.turn(0)), [0.4, 0.0, 0.0])
    reading = hands.read()
    assert reading is not None and np.allclose(reading.places[0], [0.0, -0.1, 0.0])
    with pytest.raises(InputError, match="way of the other hand"):
        hands.follow("backwards")


def test_hands_stay_within_reach_and_finite() -> None:
    hands = PageHands()
    hands.move(0, np.array([50.0, -50.0, 0.0]), rotation.identity())
    assert np.abs(hands.place(0)).max() == 1.0
    hands.move(0, np.array([np.nan, 0.0, 0.0]), rotation.identity())
    hands.move(0, np.zeros(3), np.zeros(4))
    assert np.abs(hands.place(0)).max() == 1.0 and np.array_equal(hands.turn(0), rotation.identity())
    hands.calibrate()
    assert np.array_equal(hands.place(0), np.zeros(3))


def test_keys_nudge() -> None:
    hands = PageHands()
    for _ in range(5):
        hands.nudge(1, np.array([0.0, 0.02, 0.0]), np.array([-0.1, 0.0, 0.0]))
    assert np.allclose(hands.place(1), [0.0, 0.1, 0.0]) and np.allclose(rotation.log(hands.turn(1)), [-0.5, 0.0, 0.0])


# The door.


def judge(door: Door, path: str = "/", **headers: str) -> int:
    return int(door.judge(path, {"Host": "127.0.0.1:8137", **headers})[0])


def test_only_who_has_the_key_comes_in() -> None:
    door = Door("127.0.0.1", "secret")
    assert judge(door) == 401 and judge(door, "/?key=wrong") == 401
    assert door.judge("/?key=secret", {"Host": "localhost:8137"}) == (200, True)
    assert judge(door, Cookie="a=b; poise-key=secret") == 200
    assert judge(door, Cookie="poise-key=secre") == 401


def test_pages_of_others_are_kept_out() -> None:
    door = Door("127.0.0.1", "secret")
    mine = {"Cookie": "poise-key=secret"}
    assert judge(door, **mine, Origin="http://127.0.0.1:8137") == 200
    assert judge(door, **mine, Origin="http://evil.example") == 403
    assert judge(door, **mine, Origin="http://127.0.0.1:9999") == 403
    assert judge(door, **{**mine, "Host": "evil.example:8137"}) == 403  # a name of theirs that leads here
    assert judge(Door("studio.lan", "secret"), **{**mine, "Host": "studio.lan:8137"}) == 200


def test_a_port_that_is_taken_is_told() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        number = taken.getsockname()[1]
        with pytest.raises(InputError, match=f"port {number} of 127.0.0.1 cannot be had"):
            find_port("127.0.0.1", number)
    with pytest.raises(InputError, match="from 0"):
        find_port("127.0.0.1", 70_000)
    with pytest.raises(InputError, match="is not known"):
        find_port("no.such.host.invalid", None)


# The page.


@pytest.fixture
def page(tmp_path: Path) -> Any:
    pytest.importorskip("viser", reason="viser is not installed")
    from poise.studio.puppet_page import PuppetPage, PuppetPageRecipe

    found = PuppetPage(PuppetPageRecipe(tmp_path / "show", port=0))
    yield found
    found.close()


def test_nobody_gets_in_without_the_key(page: Any) -> None:
    import urllib.error
    import urllib.request

    import viser
    import websockets.sync.client as client
    from websockets.exceptions import InvalidStatus

    assert page.server.viser.get_host() == "127.0.0.1"
    bare = page.address.partition("?")[0]
    with pytest.raises(urllib.error.HTTPError, match="401"):
        urllib.request.urlopen(bare)
    with urllib.request.urlopen(page.address) as answer:
        assert answer.status == 200
        cookie = answer.headers["Set-Cookie"].partition(";")[0]
        assert "HttpOnly" in answer.headers["Set-Cookie"] and "SameSite=Strict" in answer.headers["Set-Cookie"]
    spoken: Any = [f"viser-v{viser.__version__}"]
    place = bare.replace("http", "ws")
    with pytest.raises(InvalidStatus, match="401"):
        client.connect(place, subprotocols=spoken)
    with pytest.raises(InvalidStatus, match="403"):
        client.connect(place, subprotocols=spoken, origin="http://evil.example", additional_headers={"Cookie": cookie})
    with client.connect(place, subprotocols=spoken, additional_headers={"Cookie": cookie}) as socket_:
        assert socket_.recv()
    assert page.server.viser.request_share_url() is None


def test_controls_record_retake_mute_blend_trim_and_undo(page: Any) -> None:
    panel, session, loop = page.panel, page.session, page.loop

    def ticks(count: int) -> None:
        for k in range(count):
            page.hands.move(0, np.array([0.0, 0.1 * (k % 50) / 50.0, 0.0]), rotation.identity())
            loop.tick()

    def do(task: Any) -> None:
        loop.post(lambda: panel._do(task))
        loop.tick()

    ticks(3)
    do(session.record)
    ticks(150)
    assert panel.state.value.startswith("record") and panel.latency.value.endswith("ms")
    do(session.practise)
    assert panel.listing.value.startswith("legs: 1.")
    do(lambda: session.record(0.5))
    ticks(200)
    do(session.practise)
    assert "2 pieces" in panel.listing.value
    do(lambda: panel._change(lambda now, name: now.mute(name).blend(name, 0.5)))
    assert "mute" in panel.listing.value and "blend 0.5" in panel.listing.value and panel.muted.value
    do(lambda: panel._change(lambda now, name: now.mute(name, False).trim(name, 0.2, 1.0)))
    do(lambda: session.feel(0.3, 2.0))
    assert panel.viscosity.value == 0.3 and panel.stiffness.value == 2.0
    do(session.undo)
    assert "mute" in panel.listing.value
    do(lambda: session.play(50.0))
    assert "mute" in panel.message  # nothing sounds
    do(session.undo)
    do(session.play)
    for _ in range(5):
        loop.tick()
    assert panel.state.value.startswith("play") and panel.message == ""


def test_what_is_shown_goes_to_who_is_there_and_only_what_moved(page: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from viser import _messages as messages

    sent: list[Any] = []
    page.scene.follows = False
    monkeypatch.setattr(page.server.viser.scene, "_queue_scene_message", sent.append)

    def ticks(count: int) -> int:
        sent.clear()
        for k in range(count):
            page.hands.move(0, np.array([0.0, 0.1 + 0.002 * k, 0.0]), rotation.identity())
            page.loop.tick()
        return len(sent)

    assert ticks(5) == 0  # nobody is there
    monkeypatch.setattr(page.server.viser, "get_clients", lambda: {1: None})
    first = ticks(1)
    assert first > 20 and ticks(1) < first  # all of it, and then what a leg moves
    turned = messages.SetBoneOrientationMessage
    knee = page.session.character.skeleton.index("leftLowerLeg")
    ticks(20)
    turns = [each.wxyz for each in sent if isinstance(each, turned) and each.bone_index == knee]
    shown = page.loop.tick()
    page.scene.show(shown)
    assert turns and np.allclose(page.scene.figure._turns[knee], shown.world[1][knee], atol=2e-4)
    sent.clear()
    page.scene.show(shown)
    assert sent == []  # nothing moved


def test_names_of_others_cannot_act_in_the_page(page: Any) -> None:
    page.panel.tell("<img src=x onerror=alert(1)>\x1b[31m")
    assert page.panel.says.value == "<img src=x onerror=alert(1)>\\x1b[31m"  # a text field: no markup


def test_files_that_become_bad_are_told_in_the_page_and_it_plays_on(page: Any, tmp_path: Path) -> None:
    panel, session, loop, folder = page.panel, page.session, page.loop, tmp_path / "show"
    mapping = folder / "kicks.toml"
    mapping.write_text('[[map]]\nhand = "each"\nfrom = "turn"\nto = "UpperLeg"\n', encoding="utf-8")
    loop._looked = -1.0

    def ticks(count: int) -> None:
        for _ in range(count):
            loop._looked = -1.0  # time flies
            assert loop.tick() is not None

    def do(task: Any) -> None:
        loop.post(lambda: panel._do(task))
        ticks(3)

    do(lambda: session.choose("kicks", "kicks.toml"))
    do(session.record)
    ticks(150)
    mapping.write_text("nonsense", encoding="utf-8")
    ticks(3)
    assert "kicks.toml:1:" in panel.message and "What it said before is played on." in panel.says.value
    assert panel.state.value.startswith("record")
    do(session.practise)
    assert panel.listing.value.startswith("kicks: 1.") and session.mode == "practise"
    (folder / "kicks-1.hands").unlink()
    ticks(3)
    assert "kicks-1.hands: " in panel.message and "played on" in panel.message
    do(session.play)
    ticks(200)
    assert session.mode == "practise"  # to the end, and on
    do(session.record)
    ticks(30)
    assert panel.state.value.startswith("record") and panel.message == ""
    do(session.practise)
    assert (folder / "kicks-2.hands").exists()  # a name that was taken is never taken again


def test_export_stays_in_the_folder_and_writes_over_nothing(page: Any, tmp_path: Path) -> None:
    session, loop = page.session, page.loop
    session.record()
    for _ in range(40):
        loop.tick()
    session.practise()
    told = page.export(Path("dance.bvh"))
    assert "dance.bvh" in told and (tmp_path / "show" / "dance.bvh").exists()
    with pytest.raises(InputError, match="there already"):
        page.export(Path("dance.bvh"))


def test_a_page_on_stairs_has_its_ground(tmp_path: Path) -> None:
    pytest.importorskip("viser", reason="viser is not installed")
    from poise.studio.puppet_page import PuppetPage, PuppetPageRecipe

    page = PuppetPage(PuppetPageRecipe(tmp_path / "show", terrain="stairs", port=0))
    try:
        assert not page.scene.grid.visible
        assert page.loop.tick() is not None
    finally:
        page.close()


def test_without_viser_a_sentence_says_what_to_do(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    import sys

    from helpers.commands import run

    monkeypatch.setitem(sys.modules, "viser", None)
    done = run("puppet", str(tmp_path / "show"), "--no-browser")
    assert done.code == 2 and "pip install 'poise[page]'" in done.err and done.err.count("\n") == 1
    assert not (tmp_path / "show").exists()


def test_the_qr_code_has_white_around_it() -> None:
    pytest.importorskip("segno", reason="segno is not installed")
    from poise.studio.puppet_panel import draw_qr

    picture = draw_qr("poise", 2)
    assert picture.shape == (58, 58, 3) and picture[:8].min() == 255 and picture[8, 8, 0] == 0
