"""MuJoCo's own library, which its Python bindings have loaded: what they do not offer, by address."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

from poise.errors import InputError


@cache
def find_library() -> Any:
    """MuJoCo's own library, which the bindings have loaded already."""
    import ctypes

    import mujoco

    folder = Path(mujoco.__file__).parent
    for pattern in ("libmujoco.so*", "libmujoco*.dylib", "mujoco.dll"):
        for library in sorted(folder.glob(pattern)):
            return ctypes.CDLL(str(library))
    raise InputError(f"MuJoCo's library is not in its package's folder {folder.name}. Install mujoco again.")


@cache
def find_function(name: str) -> int:
    """The address of a C function, such as `mj_step`."""
    import ctypes

    return int(ctypes.cast(getattr(find_library(), name), ctypes.c_void_p).value or 0)


@cache
def stop_timers() -> None:
    """Have MuJoCo not read the clock some twenty times a step for its profile (`MjData.timer`): a twentieth of a step.

    A clock that was set with `mujoco.set_mjcb_time` stays.
    """
    import ctypes

    import mujoco

    if mujoco.get_mjcb_time() is None:
        ctypes.c_void_p.in_dll(find_library(), "mjcb_time").value = None
