"""The page of `poise puppet` in Chromium: handles dragged, layers recorded, retaken, played, exported.   [M1, M3]"""

from __future__ import annotations

import json
import signal
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import poise
from helpers.external.browser import open_browser, project, run_poise, save_picture
from poise.puppetry.hands_file import load_hands
from poise.puppetry.performance import load_performance

pytest.importorskip("viser", reason="viser is not installed")

from poise.studio.puppet_scene import CAMERA, FOV, HOMES

pytestmark = pytest.mark.slow
LOW = np.array([0.0, -0.13, 0.0])  # a place on a tube, below what turns and moves it


class Pages:
    """The page, as somebody uses it."""

    def __init__(self, page: Any, address: str):
        self.page = page
        self.errors: list[str] = []
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        page.goto(address)
        page.get_by_role("button", name="Record").wait_for(timeout=60_000)
        page.wait_for_function("document.querySelectorAll('canvas').length > 0")
        page.wait_for_timeout(3000)  # the first picture of software WebGL
        for each in page.locator(".mantine-Notification-closeButton").all():
            each.click()  # it says that it is software

    def field(self, label: str) -> Any:
        row = f"//label[normalize-space()='{label}']/ancestor::div[1]/following-sibling::*[1]"
        return self.page.locator(f"{row}/descendant-or-self::*[self::input or self::textarea]").first

    def read(self, label: str) -> str:
        return str(self.field(label).input_value())

    def press(self, name: str) -> None:
        self.page.get_by_role("button", name=name, exact=True).click()

    def wait(self, label: str, part: str, seconds: float = 60.0) -> str:
        for _ in range(int(seconds * 10)):
            found = self.read(label)
            if part in found:
                return found
            self.page.wait_for_timeout(100)
        raise AssertionError(f"{label} never said {part!r}: {self.read(label)!r}; message {self.read('message')!r}")

    def choose(self, label: str, option: str) -> None:
        self.field(label).click()
        self.page.get_by_role("option", name=option, exact=True).click()

    def find_tube(self, hand: int, at: Any = (0.0, 0.0, 0.0)) -> tuple[float, float]:
        box = self.page.locator("canvas").first.bounding_box()
        x, y = project(HOMES[hand] + LOW + at, CAMERA, FOV, box["width"], box["height"])
        return box["x"] + x, box["y"] + y

    def drag(self, hand: int, ways: list[tuple[float, float]], key: str | None = None) -> None:
        """Drag a tube from where it means nothing along px, and back."""
        mouse, (x, y) = self.page.mouse, self.find_tube(hand)
        mouse.move(x, y)
        if key:
            self.page.keyboard.down(key)
        mouse.down()
        for dx, dy in [*ways, (0.0, 0.0)]:
            mouse.move(x + dx, y + dy, steps=4)
            self.page.wait_for_timeout(30)
        mouse.up()
        if key:
            self.page.keyboard.up(key)
        self.page.wait_for_timeout(150)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "show"


def test_a_dance_is_made_in_the_page(folder: Path) -> None:
    with run_poise("puppet", str(folder), "--no-browser", "--json") as (process, told), open_browser() as page:
        used = Pages(page, json.loads(told)["address"])
        assert used.read("recorded") == "nothing yet"
        save_picture(page, "1-opened")
        # legs, one hand after the other, and both at once with a key that is held
        used.press("Record")
        used.wait("now", "record")
        used.drag(0, [(0, -90)])
        used.drag(1, [(0, -90)])
        used.drag(0, [(0, -60), (40, -60)], "Control")
        save_picture(page, "2-legs")
        used.press("Stop")
        used.wait("recorded", "legs:")
        legs = load_hands(folder / "legs-1.hands")
        left, right = legs.places[:, 0, 1], legs.places[:, 1, 1]
        assert left.max() > 0.1 and right.max() > 0.1
        alike = (left > 0.05) & (right > 0.05)
        assert alike.any() and np.allclose(left[alike], right[alike], atol=1e-6)
        assert ((left > 0.08) & (right < 0.01)).any() and ((right > 0.08) & (left < 0.01)).any()
        # arms over them: turned, with the ghost of the legs
        used.choose("hands play", "arms")
        used.wait("hands play", "arms")
        used.press("Record")
        used.wait("now", "record")
        used.drag(0, [(110, 0), (110, -40)], "Shift")
        used.drag(1, [(-110, 0)], "Shift")
        save_picture(page, "3-arms-over-legs")
        used.press("Stop")
        used.wait("recorded", "arms:")
        assert float(used.read("latency").split()[0]) > 0.0
        print("latency in the page", used.read("latency"))
        # again from a second on
        used.field("from (s)").fill("1")
        page.keyboard.press("Enter")
        used.press("Retake from")
        used.wait("now", "record")
        used.drag(0, [(-60, 0), (110, 0)], "Shift")
        used.press("Stop")
        used.wait("recorded", "2 pieces")
        performance = load_performance(folder / "performance.toml")
        assert [piece.at for piece in performance.find("arms").pieces] == [0.0, 1.0]
        page.get_by_role("button", name="Undo", exact=True).click()
        for _ in range(300):
            if "2 pieces" not in used.read("recorded"):
                break
            page.wait_for_timeout(100)
        else:
            raise AssertionError("it was not undone")
        page.get_by_role("button", name="Redo", exact=True).click()
        used.wait("recorded", "2 pieces")
        # played, and written
        used.field("from (s)").fill("0")
        page.keyboard.press("Enter")
        used.press("Play")
        used.wait("now", "play 1.")
        save_picture(page, "4-played")
        used.press("Stop")
        used.choose("as", ".bvh")
        used.press("Export")
        used.wait("wrote", "dance.bvh")
        clip = poise.load_clip(folder / "dance.bvh")
        arm = clip.rotations[:, clip.skeleton.index("leftUpperArm")]
        assert np.degrees(2.0 * np.arccos(np.clip(np.abs(arm[:, 0]), 0.0, 1.0))).max() > 30.0
        assert used.errors == []
        assert process.poll() is None


def test_a_program_that_is_killed_loses_less_than_a_second(folder: Path) -> None:
    with run_poise("puppet", str(folder), "--no-browser", "--json") as (process, told), open_browser() as page:
        used = Pages(page, json.loads(told)["address"])
        used.press("Record")
        used.wait("now", "record 1.")
        used.drag(0, [(0, -100)])
        seen = float(used.wait("now", "record").split()[1])
        process.send_signal(signal.SIGKILL)
        process.wait()
        assert load_hands(folder / "legs-1.hands").duration > seen - 0.2
        assert poise.Rehearsal(folder).now.find("legs").pieces[0].file == "legs-1.hands"


def test_what_cannot_be_is_told_in_the_page(folder: Path) -> None:
    folder.mkdir()
    (folder / "wings.toml").write_text('[[map]]\nhand = "each"\nfrom = "turn"\nto = "Wing"\n', encoding="utf-8")
    (folder / "performance.toml").write_text('[[layers]]\nname = "wings"\nmapping = "wings.toml"\n', encoding="utf-8")
    with run_poise("puppet", str(folder), "--no-browser", "--json") as (_, told), open_browser() as page:
        used = Pages(page, json.loads(told)["address"])
        used.press("Play")
        used.wait("message", "nothing is recorded")
        used.choose("hands play", "wings")
        used.wait("message", "wings.toml:1: joint 'Wing' is not known")
        save_picture(page, "5-told")
        used.press("Record")  # of the legs, as before
        used.wait("now", "record")
        used.press("Stop")
        used.wait("recorded", "legs:")


def test_a_finger_drags_a_hand_and_the_other_does_alike(folder: Path) -> None:
    with run_poise("puppet", str(folder), "--no-browser", "--json") as (_, told), open_browser(has_touch=True) as page:
        used = Pages(page, json.loads(told)["address"])
        used.press("alike")
        used.press("Record")
        used.wait("now", "record")
        touch, (x, y) = page.context.new_cdp_session(page), used.find_tube(0)

        def send(kind: str, *ways: float) -> None:
            points = [{"x": x, "y": y - way} for way in ways]
            touch.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})

        send("touchStart", 0.0)
        for way in range(0, 90, 15):
            send("touchMove", float(way))
            page.wait_for_timeout(100)
        save_picture(page, "6-touched")
        send("touchEnd")
        used.press("Stop")
        used.wait("recorded", "legs:")
        places = load_hands(folder / "legs-1.hands").places
        assert places[:, :, 1].max(axis=0).min() > 0.1
        assert np.allclose(places[-1, 0, 1], places[-1, 1, 1], atol=1e-6)
