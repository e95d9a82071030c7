"""SDL, which reads gamepads and plays sound: an extra, loaded when it is used.

It never opens a window. Gamepads are read while another program has the keyboard, as is needed beside a browser.
"""

from __future__ import annotations

import os
import warnings
from typing import Any

from poise.errors import InputError


def get_sdl() -> Any:
    """The module `sdl2`; InputError where it is not installed, or finds no library."""
    os.environ.setdefault("PYGAME_HIDE_SUPPORT_PROMPT", "1")
    try:
        with warnings.catch_warnings():  # it says which library it uses
            warnings.simplefilter("ignore")
            import sdl2
    except ImportError as error:
        raise InputError(
            f"gamepads and music need SDL, which is not here ({error}). Install it: pip install 'poise[gamepad]'"
        ) from error
    return sdl2


def start(sdl: Any, part: int, what: str) -> None:
    """Start a part of it; InputError with SDL's own words where that fails."""
    for hint in (b"SDL_NO_SIGNAL_HANDLERS", b"SDL_JOYSTICK_ALLOW_BACKGROUND_EVENTS"):
        sdl.SDL_SetHint(hint, b"1")
    if sdl.SDL_InitSubSystem(part) != 0:
        said = sdl.SDL_GetError().decode(errors="replace")
        raise InputError(f"{what} cannot be used here: {said or 'SDL does not say why'}.")
