"""MuJoCo's own library: functions that its Python bindings do not offer, and offsets of its contacts, by address.

Compiled code reads the contacts between two of MuJoCo's functions.

They are in an arena: where the arrays begin changes from step to step, where their addresses are does not.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from poise.errors import InputError

if TYPE_CHECKING:
    from poise.engines.mujoco.kernels import Offsets

# Fields of `Offsets`, by MuJoCo's names of them in `mjData` and in `mjContact`.
_ADDRESSES = ("aref", "kbip", "force", "speed", "cvel", "com", "xpos")
_OF_DATA = {
    "ncon": "ncon", "nefc": "nefc", "niter": "solver_niter", "contact": "contact", "time": "time",
    "aref": "efc_aref", "kbip": "efc_KBIP", "force": "efc_force", "speed": "efc_vel", "cvel": "cvel",
    "com": "subtree_com", "xpos": "geom_xpos",
}  # fmt: skip
_OF_CONTACT = {
    "dist": "dist", "pos": "pos", "frame": "frame", "margin": "includemargin", "dim": "dim", "geom": "geom",
    "row": "efc_address", "exclude": "exclude", "friction": "friction",
}  # fmt: skip
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
    """Stop MuJoCo reading the clock some twenty times per step for its profile (`MjData.timer`): a twentieth of a step.

    A clock that was set with `mujoco.set_mjcb_time` stays.
    """
    import ctypes

    import mujoco

    if mujoco.get_mjcb_time() is None:
        ctypes.c_void_p.in_dll(find_library(), "mjcb_time").value = None


@cache
def give_memory_back() -> None:
    """Return the memory of a simulation to the system when it is gone, if the C library is GNU's.

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


@cache
def find_offsets() -> dict[str, int]:
    """Return where MuJoCo's structures have their fields (bytes): fields of `kernels.py:Offsets`, by name.

    By MuJoCo's own description of its structures, and checked against what its bindings read in a small scene. Raises
    InputError for a version that is not understood.
    """
    import ctypes

    try:
        data, contact, option = (_describe(name) for name in ("mjData", "mjContact", "mjOption"))
        options = _find_options() - option.gravity.offset
        found = {
            **{name: getattr(data, field).offset for name, field in _OF_DATA.items()},
            **{name: getattr(contact, field).offset for name, field in _OF_CONTACT.items()},
            "size": ctypes.sizeof(contact), "solver": options + option.solver.offset,
            "iterations": options + option.iterations.offset,
        }  # fmt: skip
    except (ImportError, LookupError, AttributeError, TypeError):
        found = {}
    if not found or not _are_right(found):
        raise InputError("Poise does not understand this version of MuJoCo. Install mujoco 4.0.")
    return found


@cache
def build_offsets() -> Offsets:
    """Return the offsets as compiled code reads them."""
    from poise.engines.mujoco.kernels import Offsets

    return Offsets(**find_offsets())


def _describe(structure: str) -> Any:
    """Return a structure of MuJoCo's for ctypes."""
    import ctypes

    from mujoco.introspect.structs import STRUCTS

    plain = {
        "int": ctypes.c_int, "size_t": ctypes.c_size_t, "uintptr_t": ctypes.c_size_t, "uint64_t": ctypes.c_uint64,
        "mjtSize": ctypes.c_int64, "mjtNum": ctypes.c_double, "mjtBool": ctypes.c_bool, "mjtByte": ctypes.c_ubyte,
    }  # fmt: skip

    def find_type(kind: Any) -> Any:
        if hasattr(kind, "extents"):
            made = find_type(kind.inner_type)
            for extent in reversed(kind.extents):
                made *= extent
            return made
        if hasattr(kind, "inner_type"):
            return ctypes.c_void_p
        return plain.get(kind.name) or _describe(kind.name)

    members = [(each.name, find_type(each.type)) for each in STRUCTS[structure].fields]
    return type(structure, (ctypes.Structure,), {"_fields_": members})


def _find_options() -> int:
    """Return where gravity is in a model, which is in its options."""
    import mujoco

    model = mujoco.MjModel.from_xml_string("<mujoco/>")
    return int(model.opt.gravity.ctypes.data) - int(model._address)


def _are_right(offsets: dict[str, int]) -> bool:
    """Return whether all fields are where they should be, in a scene of two balls on the ground and one in the air."""
    import ctypes

    import mujoco

    model = _build_balls()
    model.opt.iterations = 77
    data = mujoco.MjData(model)
    data.time = 7.25
    mujoco.mj_forward(model, data)
    start, touched = int(data._address), data.contact

    def word(name: str) -> int:
        return int(ctypes.c_int64.from_address(start + offsets[name]).value)

    def number(of: int, name: str) -> int:
        return int(ctypes.c_int.from_address(of + offsets[name]).value)

    first, arrays = word("contact"), {name: getattr(touched, field) for name, field in _OF_CONTACT.items()}
    return (
        number(start, "ncon") == data.ncon == 2
        and number(start, "nefc") == data.nefc
        and number(start, "niter") == data.solver_niter[0] > 0
        and number(int(model._address), "solver") == model.opt.solver
        and number(int(model._address), "iterations") == model.opt.iterations
        and ctypes.c_double.from_address(start + offsets["time"]).value == data.time
        and all(word(name) == getattr(data, _OF_DATA[name]).ctypes.data for name in _ADDRESSES)
        and all(first + offsets[name] == array.ctypes.data for name, array in arrays.items())
        and all(array.strides[0] == offsets["size"] for array in arrays.values())
    )


def _build_balls() -> Any:
    """Return a model of two balls on the ground and one in the air."""
    import mujoco

    spec = mujoco.MjSpec()
    spec.worldbody.add_geom(type=mujoco.mjtGeom.mjGEOM_PLANE, size=[0, 0, 1])
    for k in range(3):
        ball = spec.worldbody.add_body(pos=[k, 0, 0.09 if k < 2 else 1.0])
        ball.add_freejoint()
        ball.add_geom(type=mujoco.mjtGeom.mjGEOM_SPHERE, size=[0.1, 0, 0])
    return spec.compile()
