"""`poise puppet`: a page in which two hands play a body; and a performance, played again."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Group, Parameter

from poise.cli import console as speaking
from poise.cli.arguments import read_input, read_number, read_path, read_paths, read_whole
from poise.cli.console import Report
from poise.cli.source import MadeBody
from poise.errors import InputError

if TYPE_CHECKING:
    from poise.studio.puppet_page import PuppetPageRecipe

USUAL_BODY = MadeBody()
PAGE = Group("The page", sort_key=40)


def puppet(
    folder: Annotated[
        Path | None,
        Parameter(
            converter=read_path,
            help="The folder of the performance that the page plays and records; made where it is not there. "
            "[default: puppet-performance]",
        ),
    ] = None,
    /,
    *,
    input: Annotated[
        tuple[str, ...],
        Parameter(
            name=["-i", "--input"],
            negative="",
            show_default=False,
            help="No page, but what is played again: the folder of a performance, its .toml, or MAPPING=FILE.hands "
            "as in legs=take.hands (legs, trunk, arms, or a mapping of yours: FILE.toml); repeatable.",
        ),
    ] = (),
    output: Annotated[
        tuple[Path, ...],
        Parameter(
            name=["-o", "--output"],
            converter=read_paths,
            negative="",
            show_default=False,
            help="The motion, in any format that is written; a film (.mp4, .webm, .webp, .gif); or a .png of moments; "
            "repeatable. Needs -i.",
        ),
    ] = (),
    seconds: Annotated[
        float | None,
        Parameter(converter=read_number, help="How long. [default: to the end of the recordings] Needs -i."),
    ] = None,
    terrain: Annotated[str, Parameter(help="What it stands on: flat, slope, stairs, rough, or a file.")] = "flat",
    fps: Annotated[
        float | None,
        Parameter(converter=read_number, help="Frames a second of the motion. [default: 60] Needs -i."),
    ] = None,
    host: Annotated[
        str | None,
        Parameter(
            group=PAGE,
            help="Where the page listens; another than this machine lets others in who have the address with its key. "
            "[default: 127.0.0.1]",
        ),
    ] = None,
    port: Annotated[
        int | None, Parameter(group=PAGE, converter=read_whole, help="Its port. [default: one that is free]")
    ] = None,
    osc: Annotated[
        str | None,
        Parameter(
            group=PAGE,
            help="Listen for hands over OSC and VMC at HOST:PORT, or PORT of this machine: phones, trackers. "
            "[0.0.0.0:39540 lets phones in]",
        ),
    ] = None,
    vmc: Annotated[
        str | None,
        Parameter(group=PAGE, help="Send the puppet as VMC to HOST:PORT, or PORT of this machine; 39539 is usual."),
    ] = None,
    gamepad: Annotated[
        bool, Parameter(negative="", show_default=False, group=PAGE, help="Offer a gamepad as two hands (SDL).")
    ] = False,
    music: Annotated[
        Path | None,
        Parameter(
            group=PAGE,
            converter=read_input,
            help="Music that is heard while layers are recorded and played, here (SDL): a .wav, or what av reads.",
        ),
    ] = None,
    no_browser: Annotated[
        bool, Parameter(negative="", show_default=False, group=PAGE, help="Only print the address.")
    ] = False,
    body: MadeBody = USUAL_BODY,
    report: Report = speaking.DEFAULT,
) -> int:
    """Play a body with two hands, in a page; or play recordings of hands again (-i, -o).

    Hands pull its legs, trunk and arms, layer by layer; knees swing, feet fall flat and push off, and nobody falls
    over. All that is played is recorded into a folder as it is made. The same recordings give the same file; figures
    are measured on it.
    """
    told = {
        "host": host is not None, "port": port is not None, "osc": osc is not None, "vmc": vmc is not None,
        "gamepad": gamepad, "music": music is not None, "no_browser": no_browser,
    }  # fmt: skip
    if input:
        for option, given in {"a folder": folder is not None, **told}.items():
            if given:
                name = option if option == "a folder" else report.spell(option)
                raise InputError(f"{name} is for the page, and -i plays recordings without one. Leave out either.")
        return _play(input, output, seconds, fps, terrain, body, report)
    for option, given in {"output": bool(output), "seconds": seconds is not None, "fps": fps is not None}.items():
        if given:
            raise InputError(
                f"{report.spell(option)} is for recordings that are played again, and none are given. "
                "Name them with -i, or export from the page."
            )
    report.tell_nothing_random()
    from poise.studio.puppet_page import FOLDER, PuppetPageRecipe
    from poise.studio.server import HOST

    asked = PuppetPageRecipe(
        Path(FOLDER) if folder is None else folder, terrain, body.body, body.height, body.mass, body.character,
        HOST if host is None else host, port,
    )  # fmt: skip
    return _open(asked, osc, vmc, gamepad, music, not no_browser, report)


def _play(
    inputs: tuple[str, ...], output: tuple[Path, ...], seconds: float | None, fps: float | None, terrain: str,
    body: MadeBody, report: Report,
) -> int:  # fmt: skip
    """Play recordings into files."""
    from poise.jobs.puppet.job import FPS, PuppetRecipe, run_puppet
    from poise.jobs.walk.job import sort_outputs

    if not output:
        raise InputError("-o is missing: say what to write, as in -o dance.glb.")
    asked = PuppetRecipe(
        inputs, seconds, FPS if fps is None else fps, terrain, body.body, body.height, body.mass, body.character
    )  # fmt: skip
    report.tell_nothing_random()
    found = run_puppet(asked, sort_outputs(output), report, report.json)
    report.result({**found.figures, "files": [str(path) for path in found.files]})
    return 0


def _open(
    asked: PuppetPageRecipe, osc: str | None, vmc: str | None, gamepad: bool, music: Path | None, opens: bool,
    report: Report,
) -> int:  # fmt: skip
    """Open the page, and stay until somebody ends it."""
    import contextlib
    import threading

    from poise.live import osc_hands
    from poise.live import vmc as vmc_out
    from poise.live.music import Music, SdlSpeaker, load_sound
    from poise.live.osc import read_place
    from poise.puppetry.device import HandsDevice
    from poise.studio.puppet_page import PuppetPage
    from poise.studio.server import find_port, get_viser

    # what cannot be is told before anything is opened
    find_port(asked.host, asked.port)
    to = None if vmc is None else read_place(vmc, vmc_out.PORT)
    heard_at = None if osc is None else read_place(osc, osc_hands.PORT)
    sound = None if music is None else load_sound(music)
    get_viser()
    with contextlib.ExitStack() as open_things:
        devices: list[HandsDevice] = []
        if heard_at is not None:
            devices.append(osc_hands.OscHands(*heard_at))
            open_things.callback(devices[-1].close)
        if gamepad:
            from poise.live.gamepad import GamepadHands

            devices.append(GamepadHands())
        page = PuppetPage(asked, devices, report)
        open_things.callback(page.close)
        if to is not None:
            sender = open_things.enter_context(vmc_out.VmcSender(page.session.character.skeleton, *to))
            page.loop.watchers.insert(0, lambda shown: sender.send_world(*shown.world, shown.time))
        if sound is not None:
            heard = Music(sound, SdlSpeaker(sound.rate, sound.samples.shape[1]))
            open_things.callback(heard.close)
            page.loop.watchers.append(heard)
        page.start()
        report.result({"address": page.address, "touch": page.touch.address, "folder": str(asked.folder)})
        if page.touch.lets_others_in:
            report.note(f"two fingers, on a tablet or a phone: {page.touch.address}")
        report.note("the page is open at that address; Ctrl-C ends it. Every sample is in the folder as it is made.")
        if opens:
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
