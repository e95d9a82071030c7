"""The touch page in Chromium: two fingers at once on two pads, recorded, played, and a page that is closed.   [M1]"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import poise
from helpers.external.browser import open_browser, run_poise, save_picture
from poise.puppetry.hands_file import load_hands
from poise.spatial import rotation

pytest.importorskip("viser", reason="viser is not installed")

Way = tuple[float, float]
_HANDS = ("left", "right")


class Fingers:
    """The touch page, as somebody plays it: real touch points of Chromium's, as many as he has fingers."""

    def __init__(self, page: Any, address: str, view: str = "none"):
        self.page, self.errors = page, list[str]()
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        page.goto(f"{address}&view={view}")
        self.session = page.context.new_cdp_session(page)
        self.wait("state", "practising")

    def read(self, name: str) -> str:
        return str(self.page.locator(f"#{name}").text_content())

    def wait(self, name: str, part: str, seconds: float = 60.0) -> str:
        for _ in range(int(seconds * 20)):
            if part in self.read(name):
                return self.read(name)
            self.page.wait_for_timeout(50)
        raise AssertionError(f"{name} never said {part!r}: {self.read(name)!r}; message {self.read('message')!r}")

    def press(self, name: str) -> None:
        self.page.locator(f"#{name}").tap()

    def middle(self, side: str, place: str = ".field") -> Way:
        box = self.page.locator(f"#{side} {place}").bounding_box()
        return box["x"] + 0.5 * box["width"], box["y"] + 0.5 * box["height"]

    def send(self, kind: str, *points: Way) -> None:
        told = [{"x": x, "y": y, "id": number} for number, (x, y) in enumerate(points)]
        self.session.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": told})

    def drag(self, begins: list[Way], ways: list[Way], steps: int = 12, waits: int = 16) -> None:
        """Put fingers down and bring each along a way (px), all at once; they stay down."""
        self.send("touchStart", *begins)
        for k in range(1, steps + 1):
            moved = [(x + dx * k / steps, y + dy * k / steps) for (x, y), (dx, dy) in zip(begins, ways, strict=True)]
            self.send("touchMove", *moved)
            self.page.wait_for_timeout(waits)


@contextlib.contextmanager
def open_hands(folder: Path, view: str = "none", **context: Any) -> Iterator[tuple[Fingers, Any]]:
    words = ("puppet", str(folder), "--no-browser", "--json")
    with run_poise(*words) as (process, told), open_browser(has_touch=True, **context) as page:
        page.set_viewport_size({"width": 844, "height": 390})  # a phone on its side
        yield Fingers(page, json.loads(told)["touch"], view), process


def angle(turns: np.ndarray) -> np.ndarray:
    """(N,) rad, by which a tube is tipped ahead."""
    return np.asarray(-rotation.log(turns)[..., 0])


def test_two_thumbs_play_both_legs_at_once(tmp_path: Path) -> None:
    folder = tmp_path / "show"
    with open_hands(folder) as (fingers, process):
        page = fingers.page
        fingers.press("record")
        fingers.wait("state", "recording")
        begins = [fingers.middle(side) for side in _HANDS]
        # one thigh ahead with its knee bent, the other back, at the same time
        fingers.drag(begins, [(50.0, -60.0), (-50.0, -5.0)])
        page.wait_for_timeout(500)
        save_picture(page, "touch-legs")
        fingers.send("touchEnd")
        page.wait_for_timeout(700)  # they glide back
        # and the other way round, while a third finger lifts a strip
        fingers.drag([*begins, fingers.middle("right", ".lift")], [(-50.0, 0.0), (50.0, 0.0), (0.0, -100.0)])
        page.wait_for_timeout(400)
        fingers.send("touchEnd")
        page.wait_for_timeout(700)
        print("touch to pose:", fingers.wait("latency", "ms"))
        fingers.press("stop")
        fingers.wait("state", "practising")
        take = load_hands(folder / "legs-1.hands")
        forth, up = angle(take.turns), take.places[:, :, 1]
        apart = (forth[:, 0] > 0.4) & (forth[:, 1] < -0.4) & (up[:, 0] > 0.1)
        assert apart.sum() > 20  # both hands in the same samples
        assert ((forth[:, 0] < -0.4) & (forth[:, 1] > 0.4) & (up[:, 1] > 0.08)).any()
        assert np.abs(forth[-1]).max() < 0.02 and np.abs(up[-1]).max() < 0.005  # at rest again
        # what that did to the puppet
        layers = poise.Rehearsal(folder).list_layers()
        stage = poise.Stage()
        actor = stage.add(poise.Character.human(1.75, 75))
        actor.drive("body", poise.Puppet(layers))
        motion = stage.run(take.duration).clip()
        names = [motion.skeleton.index(f"{side}UpperLeg") for side in _HANDS]
        bent = angle(motion.rotations[:, names])
        assert ((bent[:, 0] > 0.3) & (bent[:, 1] < -0.2)).any()
        # played again, and seen
        fingers.press("play")
        fingers.wait("state", "playing")
        fingers.press("stop")
        fingers.wait("state", "practising")
        assert fingers.errors == [] and process.poll() is None


def test_layers_ways_strips_and_a_second_finger(tmp_path: Path) -> None:
    folder = tmp_path / "show"
    with open_hands(folder) as (fingers, _):
        page = fingers.page
        page.locator("#layers button", has_text="arms").tap()
        page.locator("[data-way=tip].on").wait_for()  # as arms are played
        page.locator("#left .lift b", has_text="elbow").wait_for()
        fingers.press("more")
        page.locator("[data-release=stay]").tap()
        fingers.press("done")
        fingers.press("record")
        fingers.wait("state", "recording")
        x, y = fingers.middle("left")
        # the arm to a side and ahead, and with a second finger in the same pad the elbow
        fingers.drag([(x - 30, y), (x + 40, y)], [(-40.0, -40.0), (0.0, -50.0)])
        fingers.send("touchEnd")
        fingers.drag([fingers.middle("left", ".grip")], [(0.0, -120.0)])
        fingers.send("touchEnd")
        page.wait_for_timeout(500)
        save_picture(page, "touch-arms")
        fingers.press("stop")
        fingers.wait("state", "practising")
        take = load_hands(folder / "arms-1.hands")
        last = rotation.log(take.turns[-1, 0])
        assert last[0] < -0.3 and last[2] > 0.3  # to the left of who looks from behind: the puppet's left
        assert take.places[-1, 0, 1] > 0.08 and take.grips is not None and take.grips[-1, 0] > 0.4
        assert not take.places[:, 1].any()  # nobody touched the right one
        fingers.press("calibrate")
        page.wait_for_timeout(500)
        assert "left hand" in str(page.locator("#left").get_attribute("aria-label"))
        assert (
            page.evaluate("getComputedStyle(document.querySelector('#left .grip')).getPropertyValue('--value')")
            == "0.000"
        )
        assert fingers.errors == []


def test_a_phone_that_is_turned_turns_a_hand(tmp_path: Path) -> None:
    folder = tmp_path / "show"
    with open_hands(folder) as (fingers, _):
        page = fingers.page
        fingers.press("more")
        page.locator("[data-turn=right]").tap()

        def turn(beta: float) -> None:
            fingers.session.send(
                "DeviceOrientation.setDeviceOrientationOverride", {"alpha": 0, "beta": beta, "gamma": 0}
            )
            page.wait_for_timeout(400)

        turn(60.0)
        fingers.press("done")
        fingers.press("record")
        fingers.wait("state", "recording")
        turn(30.0)  # its top goes away from who holds it
        fingers.press("stop")
        fingers.wait("state", "practising")
        take = load_hands(folder / "legs-1.hands")
        assert rotation.log(take.turns[-1, 1]) == pytest.approx([np.radians(30.0), 0.0, 0.0], abs=1e-3)
        assert not take.places.any() and np.allclose(take.turns[:, 0], rotation.identity())


def test_a_page_that_is_closed_in_a_take_leaves_its_hands(tmp_path: Path) -> None:
    folder = tmp_path / "show"
    with open_hands(folder) as (fingers, process):
        fingers.press("record")
        fingers.wait("state", "recording")
        fingers.drag([fingers.middle("left")], [(0.0, -70.0)])
        address, context = fingers.page.url, fingers.page.context
        fingers.page.close()  # with a finger down
        page = context.new_page()
        page.wait_for_timeout(500)
        again = Fingers.__new__(Fingers)
        again.page, again.errors = page, []
        page.goto(address)
        again.session = context.new_cdp_session(page)
        again.wait("message", "touch: the screen that played is gone")
        save_picture(page, "touch-gone")
        again.wait("state", "recording")
        again.drag([again.middle("left")], [(0.0, -20.0)])
        again.wait("message", "touch: 1 screen is connected")
        again.send("touchEnd")
        again.press("stop")
        again.wait("state", "practising")
        heights = load_hands(folder / "legs-1.hands").places[:, 0, 1]
        assert (heights > 0.15).sum() > 60 and process.poll() is None
        # the program ends: the page says so
        process.kill()
        again.wait("message", "The connection is lost. Hands stay where they were")
        assert again.read("state") == "not connected"


def test_the_puppet_is_seen_behind_the_pads(tmp_path: Path) -> None:
    with open_hands(tmp_path / "show", "side") as (fingers, _):
        inside = fingers.page.frame_locator("#view")
        inside.locator("canvas").first.wait_for(timeout=60_000)
        fingers.page.wait_for_timeout(4000)
        # the page's panel is out of the way: the canvas is as wide as the screen
        widths = fingers.page.evaluate(
            "[window.innerWidth, document.getElementById('view').contentDocument.querySelector('canvas').clientWidth]"
        )
        assert abs(widths[0] - widths[1]) < 2
        save_picture(fingers.page, "touch-seen")
        assert fingers.errors == []
