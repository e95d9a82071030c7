"""MuJoCo's own library: functions that its Python bindings do not offer, and offsets of its contacts, by address.

Compiled code reads the contacts between two of MuJoCo's functions.

They are in an arena: where the arrays begin changes from step to step, where their addresses are does not.
"""

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


@cache
def find_offsets() -> dict[str, int] | None:
    """Where contacts are in MuJoCo's data, and what is where in one (bytes); None: this version is not understood.

    ncon, nefc, contact, aref, kbip, force  of `mjData`: counts, and addresses of arrays that move from step to step
    niter                                   of `mjData`: how often the solver went on
    solver, iterations                      of `mjModel`: which it is, and how often it may at most
    size, dist, pos, frame, margin, dim, geom, address  of `mjContact`

    By MuJoCo's own description of its structures, and checked against what its bindings read in a small scene.
    """
    import ctypes

    try:
        data, contact, option = (_describe(name) for name in ("mjData", "mjContact", "mjOption"))
        options = _find_options() - option.gravity.offset
        found = {
            "ncon": data.ncon.offset, "nefc": data.nefc.offset, "contact": data.contact.offset,
            "aref": data.efc_aref.offset, "kbip": data.efc_KBIP.offset, "force": data.efc_force.offset,
            "size": ctypes.sizeof(contact),
            "dist": contact.dist.offset, "pos": contact.pos.offset, "frame": contact.frame.offset,
            "margin": contact.includemargin.offset, "dim": contact.dim.offset, "geom": contact.geom.offset,
            "address": contact.efc_address.offset, "niter": data.solver_niter.offset,
            "solver": options + option.solver.offset, "iterations": options + option.iterations.offset,
        }  # fmt: skip
    except (ImportError, LookupError, AttributeError, TypeError):
        return None
    return found if _are_right(found) else None


@cache
def find_speed_offsets() -> dict[str, int] | None:
    """Where the addresses of velocities are in MuJoCo's data (bytes); None: this version is not understood.

    speed  of `efc_vel`;  cvel, com, at  of `cvel`, `subtree_com` and `geom_xpos`
    """
    import ctypes

    import mujoco

    names = {"speed": "efc_vel", "cvel": "cvel", "com": "subtree_com", "at": "geom_xpos"}
    try:
        described = _describe("mjData")
        found = {name: int(getattr(described, field).offset) for name, field in names.items()}
    except (ImportError, LookupError, AttributeError, TypeError):
        return None
    data = mujoco.MjData(_build_balls())
    mujoco.mj_forward(data.model, data)
    words = {name: ctypes.c_int64.from_address(int(data._address) + offset).value for name, offset in found.items()}
    return found if all(words[name] == getattr(data, field).ctypes.data for name, field in names.items()) else None


@cache
def find_inverse_offsets() -> dict[str, int] | None:
    """What `inverse` reads: contacts as in `find_offsets`, who is excluded, friction, and the time; None as there."""
    import ctypes

    import mujoco

    offsets = find_offsets()
    if offsets is None:
        return None
    contact = _describe("mjContact")
    found = {name: offsets[name] for name in ("ncon", "contact", "size", "dist", "pos", "frame", "geom")}
    found.update(exclude=contact.exclude.offset, friction=contact.friction.offset, time=_describe("mjData").time.offset)
    data = mujoco.MjData(_build_balls())
    data.time = 7.25
    mujoco.mj_forward(data.model, data)
    first = ctypes.c_int64.from_address(int(data._address) + found["contact"]).value
    time = ctypes.c_double.from_address(int(data._address) + found["time"]).value
    arrays = {"exclude": data.contact.exclude, "friction": data.contact.friction}
    is_right = time == data.time and all(first + found[name] == array.ctypes.data for name, array in arrays.items())
    return found if is_right else None


def _describe(structure: str) -> Any:
    """A structure of MuJoCo's for ctypes."""
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
    """Where gravity is in a model, which is in its options."""
    import mujoco

    model = mujoco.MjModel.from_xml_string("<mujoco/>")
    return int(model.opt.gravity.ctypes.data) - int(model._address)


def _are_right(offsets: dict[str, int]) -> bool:
    """Whether a scene's contacts are where they should be: two balls on the ground and one in the air."""
    import ctypes

    import mujoco

    model = _build_balls()
    model.opt.iterations = 77
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    start, touched = int(data._address), data.contact

    def word(name: str) -> int:
        return int(ctypes.c_int64.from_address(start + offsets[name]).value)

    def number(of: int, name: str) -> int:
        return int(ctypes.c_int.from_address(of + offsets[name]).value)

    first = word("contact")
    at = {
        "dist": touched.dist, "pos": touched.pos, "frame": touched.frame, "margin": touched.includemargin,
        "dim": touched.dim, "geom": touched.geom, "address": touched.efc_address,
    }  # fmt: skip
    return (
        number(start, "ncon") == data.ncon == 2
        and number(start, "nefc") == data.nefc
        and number(start, "niter") == data.solver_niter[0] > 0
        and number(int(model._address), "solver") == model.opt.solver
        and number(int(model._address), "iterations") == model.opt.iterations
        and word("aref") == data.efc_aref.ctypes.data
        and word("kbip") == data.efc_KBIP.ctypes.data
        and word("force") == data.efc_force.ctypes.data
        and all(first + offsets[name] == array.ctypes.data for name, array in at.items())
        and all(array.strides[0] == offsets["size"] for array in at.values())
    )


def _build_balls() -> Any:
    """Two balls on the ground and one in the air."""
    import mujoco

    spec = mujoco.MjSpec()
    spec.worldbody.add_geom(type=mujoco.mjtGeom.mjGEOM_PLANE, size=[0, 0, 1])
    for k in range(3):
        ball = spec.worldbody.add_body(pos=[k, 0, 0.09 if k < 2 else 1.0])
        ball.add_freejoint()
        ball.add_geom(type=mujoco.mjtGeom.mjGEOM_SPHERE, size=[0.1, 0, 0])
    return spec.compile()
