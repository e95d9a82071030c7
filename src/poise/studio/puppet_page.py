"""The page of `poise puppet`: a puppet that is played, recorded layer by layer, and exported.   [marionette, 4]"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from poise.errors import InputError, printable
from poise.files.registry import FORMATS
from poise.files.reporting import SILENT, Reporter
from poise.jobs.puppet.job import puppet
from poise.jobs.shared.body import build_loaded_body
from poise.jobs.shared.body_options import BodyOptions
from poise.jobs.shared.outputs import FILMS
from poise.live.puppet_loop import PuppetLoop
from poise.live.puppet_session import PuppetSession, Shown
from poise.puppetry.device import HandsDevice
from poise.puppetry.performance import Rehearsal
from poise.studio.handles import PageHands
from poise.studio.puppet_panel import PuppetPanel
from poise.studio.puppet_scene import PuppetScene
from poise.studio.server import ALONE, HOST, PageServer, find_port, get_viser
from poise.studio.touch_hands import TouchHands
from poise.studio.touch_page import PATH, TouchRoom, describe_hands
from poise.world.scenery import find_ground

FOLDER = "puppet-performance"
_USUAL = (".glb", ".bvh")
_SHOW, _TELL = 2, 12  # ticks a picture, where no hand moved; ticks between what touch pages are told


@dataclass(frozen=True)
class PuppetPageRecipe:
    """What is played, on whom, and where the page is.

    folder     of the performance; made where it is not there
    terrain, body, height, mass, character   as of `PlayOptions`
    host, port   that the page is served at; a port of None: one that is free
    """

    folder: Path = Path(FOLDER)
    terrain: str = "flat"
    body: str | None = None
    height: float | None = None
    mass: float | None = None
    character: Path | None = None
    host: str = HOST
    port: int | None = None


class PuppetPage:
    """A page that is open.

    devices  that are offered beside its own handles; the first of all is read
    loop     what plays; whoever wants every pose joins its `watchers`
    """

    def __init__(
        self, asked: PuppetPageRecipe, devices: Sequence[HandsDevice] = (), audience: Reporter = SILENT,
    ):  # fmt: skip
        get_viser()
        options = BodyOptions(body=asked.body, height=asked.height, mass=asked.mass, character=asked.character)
        self.asked, self.body = asked, build_loaded_body(options, (), audience)
        character, skin = self.body.character, self.body.skin
        ground = find_ground(asked.terrain)
        find_port(asked.host, asked.port)  # before a folder is made
        self.session = PuppetSession(Rehearsal(asked.folder), character, ground)
        self.hands, self._pushed, self._number = PageHands(), 0.0, 0
        self.touch = TouchHands()
        self.devices = [*devices, self.hands, self.touch]
        self.loop = PuppetLoop(self.session, self.devices[0])
        self.room = TouchRoom(self.touch, self._act)
        self.server = PageServer(asked.host, asked.port, "Poise puppet", [self.room])
        self.touch.address = self.server.address_of(PATH, for_others=True)
        self.touch.lets_others_in = asked.host not in ALONE
        try:
            with self.server.viser.atomic():
                self.scene = PuppetScene(self.server.viser, character.skeleton, skin, ground, self.hands)
                self.panel = PuppetPanel(
                    self.server.viser, self.loop, self.hands, self.devices, self.export, list_suffixes(),
                    self.scene.show_hands, lambda on: setattr(self.scene, "follows", on),
                )  # fmt: skip
        except BaseException:
            self.server.stop()
            raise
        self.loop.tell = self.panel.tell
        self.loop.watchers.append(self.show)

    @property
    def address(self) -> str:
        """What a browser is given."""
        return self.server.address

    def show(self, shown: Shown) -> None:
        """Send what is to be seen: at once where a hand moved, else every other tick; to nobody, nothing."""
        received = self.loop.heard
        if self.server.viser.get_clients() and (received > self._pushed or shown.number - self._number >= _SHOW):
            if self.loop.device is self.touch:
                self.hands.mirror(self.touch)
                self.scene.show_hands()
            self.scene.show(shown, self.panel.shows_ghosts)
            self._pushed, self._number = received, shown.number
        self.panel.show(shown)
        self._hand_over()
        if shown.number % _TELL == 0:
            self._tell_screens(shown)

    def _act(self, deed: str, name: str) -> None:
        """Do what a touch page asks for."""
        self.panel.act(deed, name)

    def _hand_over(self) -> None:
        """Have the handles be read where they were moved last, and touch where fingers moved last; others stay."""
        panel, played = self.panel, self.loop.device
        if played is self.hands and self.touch.touched > max(self.hands.moved, panel.chosen):
            panel.select(self.touch)
        elif played is self.touch and self.hands.moved > max(self.touch.touched, panel.chosen):
            panel.select(self.hands)

    def _tell_screens(self, shown: Shown) -> None:
        """Say to touch pages how it goes."""
        panel, session, latency = self.panel, self.session, self.loop.latency
        self.room.state = {
            "mode": shown.mode, "time": round(max(shown.time, 0.0), 1), "is_heard": shown.is_heard,
            "layer": printable(session.layer), "layers": list(panel.choices), "means": describe_hands(session.meaning),
            "message": panel.message, "device": printable(self.loop.device.name),
            "plays": self.loop.device is self.touch, "told": panel.told,
            "latency_ms": None if latency is None else round(1000.0 * latency, 1),
        }  # fmt: skip

    def export(self, name: Path) -> str:
        """Write the performance into its folder; the name of the file, with what is worth to know."""
        path = self.asked.folder / name
        if path.exists():
            raise InputError(f"{name} is there already. Give another name.")
        asked = self.asked
        found = puppet(
            asked.folder, terrain=asked.terrain, body=asked.body, height=asked.height, mass=asked.mass,
            character=asked.character, outputs=path,
        )  # fmt: skip
        return f"{path} ({found.figures['duration_s']:.1f} s)"

    def start(self) -> None:
        """Play."""
        self.loop.start()

    def close(self) -> None:
        """End the take, if there is one, and close the page."""
        self.loop.stop()
        for device in self.devices:
            device.close()
        self.server.stop()


def list_suffixes() -> list[str]:
    """What a performance is exported as."""
    motions = [each.suffix for each in FORMATS if each.save is not None]
    return list(dict.fromkeys([*_USUAL, *motions, ".png", *FILMS]))
