"""`poise puppet`: a page in which two hands play a body; and a performance, played again."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, ClassVar, cast

from poise.cli.console import Report
from poise.errors import InputError
from poise.jobs.job import Run, job
from poise.jobs.puppet.job import PlayOptions, PuppetResult, play
from poise.options import File, JobOptions, Option


@dataclass(frozen=True, kw_only=True)
class PageOptions:
    """The page, its devices and its outputs."""

    title: ClassVar[str] = "The page"

    host: Annotated[
        str | None,
        Option(
            "Where the page listens; another than this machine lets others in who have the address with its key.",
            default="127.0.0.1",
        ),
    ] = None
    port: Annotated[int | None, Option("Its port.", default="one that is free")] = None
    osc: Annotated[
        str | None,
        Option(
            "Listen for hands over OSC and VMC at HOST:PORT, or PORT of this machine: phones, trackers; "
            "0.0.0.0:39540 lets phones in.",
        ),
    ] = None
    vmc: Annotated[
        str | None, Option("Send the puppet as VMC to HOST:PORT, or PORT of this machine; 39539 is usual.")
    ] = None
    gamepad: Annotated[bool, Option("Offer a gamepad as two hands (SDL).")] = False
    music: Annotated[
        File | None,
        Option("Music that is heard while layers are recorded and played, here (SDL): a .wav, or what av reads."),
    ] = None
    no_browser: Annotated[bool, Option("Only print the address.")] = False


OF_PAGE = ("folder", "host", "port", "osc", "vmc", "gamepad", "music", "no_browser")
OF_RECORDINGS = ("outputs", "seconds", "fps")


@dataclass(frozen=True, kw_only=True)
class PuppetOptions(PageOptions, PlayOptions):
    """Options of the command `puppet`: those of the page, and those of recordings that are played again."""

    title: ClassVar[str] = JobOptions.title

    folder: Annotated[
        File,
        Option(
            "The folder of the performance that the page plays and records; it is made if it is not there.",
            writes=True,
        ),
    ] = field(default=Path("puppet-performance"), kw_only=False)


@job(PuppetOptions)
def puppet(options: PuppetOptions, run: Run) -> PuppetResult | None:
    """Play a body with two hands, in a page; or play recordings of hands again (-i, -o).

    Hands pull its legs, trunk and arms, layer by layer; knees swing, feet fall flat and push off, and nobody falls
    over. All that is played is recorded into a folder as it is made. The same recordings give the same file; figures
    are measured on it.
    """
    if options.inputs:
        for name in OF_PAGE:
            if run.is_given(name):
                words = "a folder" if name == "folder" else run.spell(name)
                raise InputError(f"{words} is for the page, and -i plays recordings without one. Leave out either.")
        if not options.outputs:
            raise InputError("-o is missing: say what to write, as in -o dance.glb.")
        return play(options, run)
    for name in OF_RECORDINGS:
        if run.is_given(name):
            raise InputError(
                f"{run.spell(name)} is for recordings that are played again, and none are given. "
                "Name them with -i, or export from the page."
            )
    _open(options, run)
    return None


def _open(options: PuppetOptions, run: Run) -> None:
    """Open the page, and serve it until the command is ended."""
    import contextlib
    import threading

    from poise.live import osc_hands
    from poise.live import vmc as vmc_out
    from poise.live.music import Music, SdlSpeaker, load_sound
    from poise.live.osc import read_place
    from poise.puppetry.device import HandsDevice
    from poise.studio.puppet_page import PuppetPage, PuppetPageRecipe
    from poise.studio.server import HOST, find_port, get_viser

    asked = PuppetPageRecipe(
        Path(options.folder), options.terrain, options.body, options.height, options.mass,
        cast("Path | None", options.character), HOST if options.host is None else options.host, options.port,
    )  # fmt: skip
    # what cannot be is reported before anything is opened
    find_port(asked.host, asked.port)
    to = None if options.vmc is None else read_place(options.vmc, vmc_out.PORT)
    heard_at = None if options.osc is None else read_place(options.osc, osc_hands.PORT)
    sound = None if options.music is None else load_sound(options.music)
    get_viser()
    with contextlib.ExitStack() as open_things:
        devices: list[HandsDevice] = []
        if heard_at is not None:
            devices.append(osc_hands.OscHands(*heard_at))
            open_things.callback(devices[-1].close)
        if options.gamepad:
            from poise.live.gamepad import GamepadHands

            devices.append(GamepadHands())
        page = PuppetPage(asked, devices, run)
        open_things.callback(page.close)
        if to is not None:
            sender = open_things.enter_context(vmc_out.VmcSender(page.session.character.skeleton, *to))
            page.loop.watchers.insert(0, lambda shown: sender.send_world(*shown.world, shown.time))
        if sound is not None:
            heard = Music(sound, SdlSpeaker(sound.rate, sound.samples.shape[1]))
            open_things.callback(heard.close)
            page.loop.watchers.append(heard)
        page.start()
        assert isinstance(run.audience, Report)  # the answer is printed now: the command does not end by itself
        run.audience.result({"address": page.address, "touch": page.touch.address, "folder": str(asked.folder)})
        if page.touch.lets_others_in:
            run.note(f"two fingers, on a tablet or a phone: {page.touch.address}")
        run.note("the page is open at that address; Ctrl-C ends it. Every sample is in the folder as it is made.")
        if not options.no_browser:
            _show(page.address)
        while True:
            threading.Event().wait(3600.0)


def _show(address: str) -> None:
    """Open a browser, where there is a screen for one."""
    import os
    import sys
    import webbrowser

    if sys.platform in ("win32", "darwin") or os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"):
        webbrowser.open(address)
