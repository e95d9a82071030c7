"""MuJoCo's own library, which its Python bindings have loaded: what they do not offer, by address."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

from poise.errors import InputError

_MMAP_THRESHOLD = -3  # M_MMAP_THRESHOLD of <malloc.h>
_LARGE = 1 << 20  # bytes: large arrays of NumPy's stay below it


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


@cache
def give_memory_back() -> None:
    """Have what a simulation took go back to the system when it is gone, where the C library is GNU's.

    A body's workspace is 2 to 4 MB, and one is made at every switch. The library keeps such blocks among small ones
    once it has seen one freed, up to 32 MB: of 300 MB in use, 900 were held after two hundred stages. With the limit
    fixed they are mapped one by one, and unmapped.
    """
    import ctypes
    import sys

    if sys.platform == "linux":
        mallopt = getattr(ctypes.CDLL(None), "mallopt", None)  # musl has none
        if mallopt is not None:
            mallopt(_MMAP_THRESHOLD, _LARGE)
