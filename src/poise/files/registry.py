"""File formats by suffix, and reading and writing a motion in any of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from poise.errors import FileError, InputError, valid_text
from poise.files.reporting import SILENT, Reporter
from poise.kinds import checked
from poise.registry import Entry, load_plugins

if TYPE_CHECKING:
    from poise.files.reading.options import Roles, Source
    from poise.files.reading.pipeline import Reading
    from poise.files.reading.recording import Recording
    from poise.motion.clip import Clip


@dataclass(frozen=True)
class Format:
    """A kind of animation file, found by its suffix. `read` and `save` name functions, imported when they are used.

    read  "package.module:function" of (path, clip=None) -> Recording, or None where it cannot be read
    save  "package.module:function" of (clip, path, **options), or None where it cannot be written
    needs "package.module:function" of (path) that refuses where a library or program to write with is missing

    Those of somebody else's are the functions themselves: see `register_format`.
    """

    name: str
    suffix: str
    read: str | Callable[..., Any] | None = None
    save: str | Callable[..., Any] | None = None
    needs: str | None = None


# Poise's own, and after them those that were registered.
FORMATS = [
    Format("BVH", ".bvh", "poise.files.formats.bvh.clip:read_bvh", "poise.files.formats.bvh.clip:save_bvh"),
    Format("USD", ".usd", None, "poise.files.formats.usd:save_usd", "poise.files.formats.usd:check_pxr"),
    Format("USD", ".usda", None, "poise.files.formats.usd:save_usd", "poise.files.formats.usd:check_pxr"),
    Format("USD", ".usdc", None, "poise.files.formats.usd:save_usd", "poise.files.formats.usd:check_pxr"),
    Format(
        "FBX",
        ".fbx",
        "poise.files.formats.fbx.fbx:read_fbx",
        "poise.files.formats.fbx.fbx:save_fbx",
        "poise.files.formats.fbx.fbx:check_blender",
    ),
    Format("glTF binary", ".glb", "poise.files.formats.gltf.read:read_gltf", "poise.files.formats.gltf.write:save_glb"),
    Format("glTF", ".gltf", "poise.files.formats.gltf.read:read_gltf"),
    Format("VRM", ".vrm", "poise.files.formats.gltf.read:read_gltf", "poise.files.formats.gltf.animate:save_vrm"),
    Format("VRM animation", ".vrma", "poise.files.formats.gltf.read:read_gltf"),
    Format("AMC", ".amc", "poise.files.formats.acclaim.amc:read_amc"),
    Format("ASF", ".asf", "poise.files.formats.acclaim.asf:read_asf"),
    Format("DeepMimic", ".txt", "poise.files.formats.deepmimic:read_deepmimic"),
    Format("npz", ".npz", "poise.files.formats.npz:read_npz", "poise.files.formats.npz:save_npz"),
    Format("C3D", ".c3d", "poise.files.formats.c3d.c3d:read_c3d"),
    Format("TRC", ".trc", "poise.files.formats.trc:read_trc"),
]
_OWN = tuple(FORMATS)


def register_format(
    name: str,
    suffix: str,
    read: Callable[[Path], Clip] | None = None,
    save: Callable[[Clip, Path], None] | None = None,
) -> None:
    """Have files of a suffix read and written by functions of yours, wherever Poise reads or writes motions.

    name    as people call the format
    suffix  with its dot; one that was registered before is no more
    read    of (path) -> Clip, in metres and Y up. It raises ValueError (or FileError, with a line) where a file is none
    save    of (clip, path); the file appears under its name when all of it is written
    """
    if not (isinstance(suffix, str) and suffix.startswith(".") and len(suffix) > 1 and suffix == suffix.lower()):
        raise InputError(f"a suffix begins with a dot and is in small letters, as in .bvh; {suffix!r} given.")
    if any(entry.suffix == suffix for entry in _OWN):
        raise InputError(f"'{suffix}' files are read and written by Poise. Register yours by another suffix.")
    if read is None and save is None:
        raise InputError(f"'{suffix}' files would neither be read nor written. Give `read`, `save` or both.")
    FORMATS[:] = [entry for entry in FORMATS if entry.suffix != suffix]
    FORMATS.append(Format(name, suffix, read, save))


def read_recording(path: str | PathLike[str], clip: str | None = None) -> Recording:
    """The motion in a file, as the file has it. clip: which one of several, by name or number from 0; the first."""
    entry = _find_format(path, "read")
    if callable(entry.read):
        return _read_foreign(entry.name, entry.read, path, clip)
    read: Callable[..., Recording] = _load(entry.read)
    return read(Path(path), clip)


def read_source(path: str | PathLike[str], source: Source, audience: Reporter = SILENT, whole: bool = False) -> Reading:
    """The motion in a file as a source wants it. Says what was guessed.

    whole  keep an added T-pose, which is left out otherwise
    """
    source.check(audience)
    recording = read_recording(path, None if source.clip is None else valid_text(str(source.clip)))
    return source.interpret(recording, path, audience, whole)


def read_clip(
    path: str | PathLike[str], scale: float | None = None, up: str | None = None, clip: str | int | None = None,
    *, fps: float | None = None, height: float | None = None, roles: Roles = (), bones: str | None = None,
) -> Reading:  # fmt: skip
    """The motion in a file with what was found about it: units, axes, warnings.

    scale   metres a unit of the file; found if None
    up      the file's vertical axis: "X", "Y", "Z", "-X", "-Y" or "-Z"; found if None
    clip    which clip of a file that has several, by name or number from 0; the first if None
    fps     the true frame rate, where the file's is wrong
    height  m, stature: the clip is scaled to it
    roles   role -> joint, before those that are found; or `role=joint` words, or a .toml or .json file of them
    bones   "keep" (the default) the lengths of the file's bones, or "restore" those that were lost
    """
    from poise.files.reading.options import Source

    which = None if clip is None else str(clip)
    return read_source(path, Source(height=height, fps=fps, roles=roles, clip=which, scale=scale, up=up, bones=bones))


@checked
def load_clip(
    path: str | PathLike[str], scale: float | None = None, up: str | None = None, clip: str | int | None = None,
    *, fps: float | None = None, height: float | None = None, roles: Roles = (), bones: str | None = None,
) -> Clip:  # fmt: skip
    """The motion in a file, in metres and Y up; the options as for read_clip, which are those of every command."""
    return read_clip(path, scale, up, clip, fps=fps, height=height, roles=roles, bones=bones).clip


@checked
def save_clip(clip: Clip, path: str | PathLike[str], **options: Any) -> None:
    """Write a motion in the format that the suffix names. Options go to that format's own function."""
    entry = _find_format(path, "save")
    if callable(entry.save):
        _save_foreign(entry.name, entry.save, clip, path, options)
    else:
        _load(entry.save)(clip, Path(path), **options)


def _read_foreign(name: str, read: Callable[..., Any], path: str | PathLike[str], which: str | None) -> Recording:
    """What somebody else's function reads, as a recording; what it raises at a broken file, in words."""
    from poise.files.input import check_there, find_choice, stem_of
    from poise.files.reading.recording import Recording
    from poise.motion.clip import Clip

    check_there(path)
    try:
        clip = read(Path(path))
    except FileError:
        raise
    except (ValueError, LookupError, ArithmeticError, OSError) as error:
        raise FileError(path, f"cannot be read as {name} ({type(error).__name__}: {error}).") from error
    if not isinstance(clip, Clip):
        raise InputError(f"the function that reads {name} must return a Clip; it returned a {type(clip).__name__}.")
    choice = clip.name or stem_of(path)
    find_choice(which, [choice], path)
    return Recording(clip, name, str(path), (choice,), unit=1.0, up="Y", roles=clip.skeleton.roles)


def _save_foreign(
    name: str, save: Callable[..., Any], clip: Clip, path: str | PathLike[str], options: dict[str, Any]
) -> None:
    from poise.files.output import temporary_beside

    if options:
        raise InputError(f"{name} is written without options; given {', '.join(options)}.")
    with temporary_beside(path) as draft:
        save(clip, draft)
        if not draft.is_file():
            raise InputError(f"the function that writes {name} wrote nothing to the path that it was given.")


def check_can_save(path: str | PathLike[str], read: Iterable[str | PathLike[str]] | None = None) -> None:
    """Refuse a path whose suffix names no format that can be written, or one that needs something that is not here.

    read  the files that the motion and its body are read from, if known: a .vrm is written only onto a .vrm
    """
    entry = _find_format(path, "save")
    if entry.needs is not None:
        _load(entry.needs)(path)
    if entry.suffix == ".vrm" and read is not None and all(Path(each).suffix.lower() != ".vrm" for each in read):
        raise FileError(
            path, "a .vrm file must hold a VRM character, and no input is a .vrm file. Write a .glb instead."
        )


def _load(target: str | Callable[..., Any] | None) -> Callable[..., Any]:
    assert isinstance(target, str)
    return Entry(target, "").load()


def find_format(path: str | PathLike[str]) -> Format | None:
    """The format that a path's suffix names, or None."""
    suffix = Path(path).suffix.lower()
    if suffix and all(entry.suffix != suffix for entry in FORMATS):
        load_plugins()
    return next((entry for entry in FORMATS if entry.suffix == suffix), None)


def _find_format(path: str | PathLike[str], direction: str) -> Format:
    entry = find_format(path)
    if entry is None or getattr(entry, direction) is None:
        suffix = Path(path).suffix
        if direction == "read" and (not suffix or Path(path).is_dir()):
            from poise.files.input import check_there

            check_there(path)  # what is a folder, or not there, wants no other suffix
        known = ", ".join(f"{e.suffix} ({e.name})" for e in FORMATS if getattr(e, direction) is not None)
        what = f"'{suffix}'" if suffix else "a file without suffix"
        verb = {"read": "read", "save": "written"}[direction]
        raise FileError(path, f"{what} cannot be {verb} as animation; it can be: {known}.{load_plugins()}")
    return entry
