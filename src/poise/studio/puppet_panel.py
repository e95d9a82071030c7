"""The controls of a puppet's page: layers, transport, hands, feel, files, and what is going on."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from poise.errors import InputError, printable, unknown_name
from poise.live.puppet_loop import PuppetLoop
from poise.live.puppet_session import PRACTISE, Shown, list_choices
from poise.puppetry.device import HandsDevice
from poise.puppetry.layers import STIFFNESS_RANGE
from poise.puppetry.performance import Performance, RecordedLayer
from poise.studio.handles import WAYS, PageHands
from poise.studio.touch_hands import TouchHands

STIFFEST = 4.0  # on the slider
_STEP, _ANGLE = 0.02, 0.1  # m and rad, of a key
_SOON = 24  # ticks between looks at what is told
# Keys that nudge a hand: key, hand, m to the left, up and ahead, rad about the same axes.
_KEYS = (
    ("W", 0, (0, _STEP, 0), (0, 0, 0)), ("S", 0, (0, -_STEP, 0), (0, 0, 0)), ("A", 0, (0, 0, 0), (-_ANGLE, 0, 0)),
    ("D", 0, (0, 0, 0), (_ANGLE, 0, 0)), ("Q", 0, (0, 0, 0), (0, 0, _ANGLE)), ("E", 0, (0, 0, 0), (0, 0, -_ANGLE)),
    ("I", 1, (0, _STEP, 0), (0, 0, 0)), ("K", 1, (0, -_STEP, 0), (0, 0, 0)), ("J", 1, (0, 0, 0), (-_ANGLE, 0, 0)),
    ("L", 1, (0, 0, 0), (_ANGLE, 0, 0)), ("U", 1, (0, 0, 0), (0, 0, _ANGLE)), ("O", 1, (0, 0, 0), (0, 0, -_ANGLE)),
)  # fmt: skip
Exporter = Callable[[Path], str]


def draw_qr(address: str, scale: int = 6) -> np.ndarray:
    """(H, W, 3) bytes: an address as a QR code, for cameras of phones, with white around it."""
    import segno

    dark = np.array(list(segno.make(address, micro=False, error="l").matrix_iter(scale, border=4)))
    return np.repeat(np.where(dark, 0, 255).astype(np.uint8)[..., None], 3, axis=2)


class PuppetPanel:
    """Controls. What they ask for is posted to the loop; what is told is written into them."""

    def __init__(
        self, server: Any, loop: PuppetLoop, hands: PageHands, devices: Sequence[HandsDevice],
        export: Exporter, suffixes: Sequence[str], moved: Callable[[], None], follow: Callable[[bool], None],
    ):  # fmt: skip
        self.server, self.loop, self.session, self.hands = server, loop, loop.session, hands
        self.devices = {printable(each.name): each for each in devices}
        self.touch = next((each for each in devices if isinstance(each, TouchHands)), TouchHands())
        self.told, self.chosen = 0, 0.0  # how often something was; s of `time.perf_counter`, when a device was
        self._export, self._moved = export, moved
        self.message, self._mode, self._state = "", "", ""
        gui = server.gui
        gui.configure_theme(control_width="medium", show_logo=False, show_share_button=False)
        gui.main_panel.dock_right()
        self._add_transport(gui)
        self._add_layers(gui)
        self._add_hands(gui, follow)
        self._add_touch(gui)
        self._add_export(gui, suffixes)
        self._add_keys(gui)
        self.refresh()

    # Its parts.

    def _add_transport(self, gui: Any) -> None:
        with gui.add_folder("Transport"):
            self.state = gui.add_text("now", "", disabled=True)
            self.says = gui.add_text("message", "", multiline=True, disabled=True)
            self.record = gui.add_button("Record", color="red", icon="player-record", hint="the layer, anew (R)")
            self.play = gui.add_button("Play", icon="player-play", hint="all layers, from the time below (P)")
            self.stop = gui.add_button("Stop", icon="player-stop", hint="end, and practise (space)")
            self.at = gui.add_number("from (s)", 0.0, min=0.0, max=3600.0, step=0.1)
            self.retake = gui.add_button("Retake from", hint="the layer, from the time above on; two seconds lead up")
            self.undo = gui.add_button_group("changes", ("Undo", "Redo"))
            self.physics = gui.add_button_group(
                "physics", ("Let go", "Stand", "Take back"),
                hint="it falls, keeps itself up, is drawn up again (F, B, T); recorded, too",
            )  # fmt: skip
        self._on(self.record, self.session.record)
        self._on(self.play, lambda: self.session.play(float(self.at.value)))
        self._on(self.stop, self.session.practise)
        self._on(self.retake, lambda: self.session.record(float(self.at.value)))
        self._on(self.undo, lambda: (self.session.undo if self.undo.value == "Undo" else self.session.redo)())

        self._on(self.physics, self._hand_over)

    def _add_layers(self, gui: Any) -> None:
        with gui.add_folder("Layers"):
            self.listing = gui.add_text("recorded", "", multiline=True, disabled=True)
            self.layer = gui.add_dropdown("hands play", ["legs"])
            self.muted = gui.add_checkbox("mute", False)
            self.weight = gui.add_slider("blend", 0.0, 1.0, 0.05, 1.0)
            self.trim = gui.add_vector2("trim to (s)", (0.0, 10.0), min=(0.0, 0.0), max=(3600.0, 3600.0), step=0.1)
            self.cut = gui.add_button_group("layer", ("Trim", "Remove"))
            self.viscosity = gui.add_slider("viscosity", 0.05, 1.0, 0.05, 0.45, hint="0 is honey, 1 is air")
            self.stiffness = gui.add_slider("stiffness", STIFFNESS_RANGE[0], STIFFEST, 0.1, 1.0)
            self.ghost = gui.add_checkbox("ghost of the other layers", True)
        self._on(self.layer, lambda: self.session.choose(self._names[self.layer.value]))
        self._on(self.muted, lambda: self._change(lambda now, name: now.mute(name, bool(self.muted.value))))
        self._on(self.weight, lambda: self._change(lambda now, name: now.blend(name, float(self.weight.value))))
        self._on(self.cut, self._cut)
        for slider in (self.viscosity, self.stiffness):
            self._on(slider, lambda: self.session.feel(float(self.viscosity.value), float(self.stiffness.value)))
        self._on(self.ghost, lambda: setattr(self.session, "with_ghost", bool(self.ghost.value)))

    def _add_hands(self, gui: Any, follow: Callable[[bool], None]) -> None:
        with gui.add_folder("Hands"):
            self.device = gui.add_dropdown("device", list(self.devices))
            self.tells = gui.add_text("is", "", multiline=True, disabled=True)
            self.latency = gui.add_text("latency", "", disabled=True, hint="from input to pose sent, in the middle")
            self.other = gui.add_button_group("other hand", WAYS, hint="1, 2, 3; ctrl, alt while a tube is dragged")
            self.grip = gui.add_slider("grip", 0.0, 1.0, 0.05, 0.0)
            self.calibrate = gui.add_button("Calibrate", hint="hands mean nothing where they are now (C)")
            self.follows = gui.add_checkbox("keep it in the middle", True)
        self._on(self.device, self._choose_device)
        self._on(self.other, lambda: self.hands.follow(self.other.value))
        self._on(self.grip, lambda: self.hands.grip(float(self.grip.value)))
        self._on(self.calibrate, self._calibrate)
        self._on(self.follows, lambda: follow(bool(self.follows.value)))

    def _add_touch(self, gui: Any) -> None:
        with gui.add_folder("Two fingers"):
            gui.add_text("touch page", self.touch.address, multiline=True, disabled=True,
                         hint="for a tablet, a phone or a touch screen")  # fmt: skip
            if self.touch.lets_others_in:
                with contextlib.suppress(ImportError):  # without segno the address has to do
                    gui.add_image(draw_qr(self.touch.address), format="png")
            else:
                gui.add_markdown(
                    "It is for this machine alone. Started with `--host 0.0.0.0`, tablets and phones get in."
                )

    def _add_export(self, gui: Any, suffixes: Sequence[str]) -> None:
        with gui.add_folder("Export"):
            self.name = gui.add_text("file", "dance")
            self.kind = gui.add_dropdown("as", list(suffixes))
            self.write = gui.add_button("Export", icon="download", hint="into the performance's folder")
            self.wrote = gui.add_text("wrote", "", disabled=True)
        self.write.on_click(lambda _event: self._write())

    def _add_keys(self, gui: Any) -> None:
        def add(label: str, key: str, task: Callable[[], object]) -> None:
            command = gui.add_command(label, hotkey=key)
            command.on_trigger(lambda _event: self.loop.post(lambda: self._do(task)))

        add("Record the layer", "R", self.session.record)
        add("Play", "P", lambda: self.session.play(float(self.at.value)))
        add("Stop", "space", self.session.practise)
        add("Calibrate", "C", self._calibrate)
        add("Let go", "F", self.session.let_go)
        add("Stand", "B", lambda: self.session.let_go(balances=True))
        add("Take back", "T", self.session.take_back)
        for number, way in enumerate(WAYS):
            add(f"Other hand: {way}", str(number + 1), lambda way=way: self.hands.follow(way))  # type: ignore[misc]
        words = ("left hand", "right hand")
        for key, hand, by, turn in _KEYS:
            add(f"Nudge the {words[hand]} ({key})", key, lambda h=hand, b=by, t=turn: self._nudge(h, b, t))  # type: ignore[misc]

    # What they do, in the loop's thread.

    def _on(self, handle: Any, task: Callable[[], object]) -> None:
        def called(event: Any) -> None:
            if event.client is not None:  # a person, not this program
                self.loop.post(lambda: self._do(task))

        (handle.on_click if hasattr(handle, "on_click") else handle.on_update)(called)

    def _do(self, task: Callable[[], object]) -> None:
        self.tell("")
        try:
            task()
        finally:
            self.refresh()

    def _change(self, edit: Callable[[Performance, str], Performance]) -> None:
        self.session.change(edit(self.session.rehearsal.now, self.session.layer))

    def _hand_over(self) -> None:
        if self.physics.value == "Take back":
            self.session.take_back()
        else:
            self.session.let_go(self.physics.value == "Stand")

    def _cut(self) -> None:
        if self.cut.value == "Remove":
            self._change(lambda now, name: now.remove(name))
            return
        begin, end = (float(each) for each in self.trim.value)
        self._change(lambda now, name: now.trim(name, begin, end))

    def _nudge(self, hand: int, by: Any, turn: Any) -> None:
        self.hands.nudge(hand, by, turn)
        self._moved()

    def _calibrate(self) -> None:
        self.loop.device.calibrate()
        if not self._is_home(self.loop.device):
            self.session.calibrate()
        self._moved()

    def _is_home(self, device: HandsDevice) -> bool:
        """Whether a device knows by itself where hands mean nothing."""
        return device is self.hands or device is self.touch

    def _choose_device(self) -> None:
        self.select(self.devices[self.device.value])

    def select(self, device: HandsDevice) -> None:
        """Have a device be read. In the loop's thread."""
        self.loop.device, self.chosen = device, time.perf_counter()
        self.session.hands.neutral = np.zeros((2, 3)) if self._is_home(device) else None
        _set(self.device, printable(device.name))

    def act(self, deed: str, name: str = "") -> None:
        """Do what a touch page asks for; from any thread."""
        deeds: dict[str, Callable[[], object]] = {
            "record": self.session.record, "play": lambda: self.session.play(float(self.at.value)),
            "stop": self.session.practise, "calibrate": self._calibrate, "take": lambda: self.select(self.touch),
            "layer": lambda: self._choose_layer(name),
        }  # fmt: skip
        self.loop.post(lambda: self._do(deeds[deed]))

    def _choose_layer(self, name: str) -> None:
        if name not in self._names:
            raise unknown_name("layer", name, self._names)
        self.session.choose(self._names[name])

    # What they tell.

    def tell(self, sentence: str) -> None:
        """Show a sentence; nothing: that all is well."""
        self.message, self.told = printable(sentence), self.told + 1
        self.says.value = self.message
        if sentence:
            for client in self.server.get_clients().values():
                client.add_notification("Poise", self.message, color="orange", auto_close_seconds=8.0)

    @property
    def choices(self) -> tuple[str, ...]:
        """Layers that can be played, as they are shown."""
        return tuple(self._names)

    def refresh(self) -> None:
        """Show layers as they are."""
        rehearsal, session = self.session.rehearsal, self.session
        self._names = {printable(name): name for name in list_choices(rehearsal)}
        self._names.setdefault(printable(session.layer), session.layer)
        if tuple(self.layer.options) != tuple(self._names):
            self.layer.options = tuple(self._names)
        _set(self.layer, printable(session.layer))
        _set(self.listing, "\n".join(map(self._describe, rehearsal.now.layers)) or "nothing yet")
        found = next((each for each in rehearsal.now.layers if each.name == session.layer), None)
        _set(self.muted, found is not None and found.muted)
        _set(self.weight, 1.0 if found is None else found.weight)
        _set(self.viscosity, session.alpha)
        _set(self.stiffness, 1.0 if found is None else min(found.stiffness, STIFFEST))

    def _describe(self, layer: RecordedLayer) -> str:
        try:
            end = f"{self.session.rehearsal.find_hands(layer.name).duration:.1f} s"
        except InputError as error:
            end = f"cannot be read: {error}"
        takes = f", {len(layer.pieces)} pieces" if len(layer.pieces) > 1 else ""
        words = f"{layer.name}: {end}{takes}" + (", mute" if layer.muted else "")
        return printable(words + (f", blend {layer.weight:g}" if layer.weight < 1.0 else ""))

    def show(self, shown: Shown) -> None:
        """Tell how it goes, now and then."""
        if shown.mode != self._mode:
            self.refresh()
        if shown.number % _SOON and (shown.mode, shown.state) == (self._mode, self._state):
            return
        words = "practising" if shown.mode == PRACTISE else f"{shown.mode} {max(shown.time, 0.0):.1f} s"
        if shown.mode == "record" and not shown.is_heard:
            words = f"led up to: {shown.time:.1f} s"
        if shown.state:
            words += f", {shown.state}"
        latency = self.loop.latency
        told = "" if latency is None else f"{1000.0 * latency:.1f} ms"
        is_there, sentence = self.loop.device.status()
        _set(self.state, words)
        _set(self.latency, told)
        _set(self.tells, sentence if is_there else f"GONE: {sentence}")
        self._mode, self._state = shown.mode, shown.state

    @property
    def shows_ghosts(self) -> bool:
        """Whether ghosts are wanted."""
        return self.session.with_ghost

    def _write(self) -> None:
        """Export, in a thread: the puppet plays on."""
        name, suffix = str(self.name.value).strip(), str(self.kind.value)

        def export() -> None:
            try:
                if not name or Path(name).name != name or name.startswith("."):
                    raise InputError(f"'{name:.60}' is no name of a file: give letters and digits, without a folder.")
                self.wrote.value = "working"
                self.wrote.value = printable(self._export(Path(name + suffix)))
            except Exception as error:
                self.wrote.value = ""
                self.tell(str(error))

        threading.Thread(target=export, name="poise export", daemon=True).start()


def _set(handle: Any, value: Any) -> None:
    """Set what is shown, where it is another."""
    if handle.value != value:
        handle.value = value
