"""FBX in and out, by way of GLB, through the user's own Blender.

FBX has no open specification; Blender reads and writes it. It runs as a process of its own with the scripts in
`files/blender`: nothing of it is loaded here. Poise looks for it at POISE_BLENDER (the program), at POISE_BPY_PYTHON (a
Python that has Blender's module `bpy`), then for `blender` on the path.
"""

from __future__ import annotations

import dataclasses
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Mapping
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from poise.body.geometry.mesh import Mesh
from poise.body.geometry.skin import SkinnedMesh
from poise.errors import FileError
from poise.files.formats.gltf.write import save_glb
from poise.files.input import open_input, stem_of
from poise.files.output import temporary_folder, write_bytes
from poise.files.reading.recording import Recording
from poise.motion.clip import Clip
from poise.motion.edits.timing import resample

_SCRIPTS = Path(__file__).parent / "blender"
_TIMEOUT = 300.0  # s: Blender starts in 1 to 10, and converts a minute of motion in a few more
_LARGEST = 2 << 30  # bytes: FBX holds 32-bit offsets in its older versions, and nobody's character is larger
_SINGLE_FRAME_RATE = 30.0
_CARRIED = 100  # Hz: the rate of the GLB on the way from FBX, whose frames then have their own times again


def read_fbx(path: str | PathLike[str], clip: str | None = None) -> Recording:
    """The motion and the skin in an FBX file, as Blender understands it. clip: which action; the first if None."""
    _check_is_fbx(Path(path))
    from poise.files.registry import read_recording

    with temporary_folder() as folder:
        glb = folder / f"{stem_of(path) or 'clip'}.glb"
        said = _run_blender(path, "fbx_to_glb.py", [str(Path(path).resolve()), str(glb), str(_CARRIED)], glb)
        try:
            recording = read_recording(glb, clip)
        except FileError as error:  # the temporary name means nothing to anybody
            message = str(error).replace(str(glb), "as Blender converted it to GLB")
            raise FileError(path, message) from error
    rate = next((float(line[5:]) for line in said.splitlines() if line.startswith("RATE ")), float(_CARRIED))
    slowed = recording.clip.replace(times=recording.clip.times * (_CARRIED / rate))
    return dataclasses.replace(recording, clip=slowed, format="FBX", path=str(path))


def save_fbx(
    clip: Clip,
    path: str | PathLike[str],
    meshes: Mapping[str, Mesh] | SkinnedMesh | None = None,
    name: str | None = None,
) -> None:
    """Write a clip and its body as FBX: Y up, a unit is a metre and says so, a key a frame at the clip's rate.

    meshes  joint name or role -> closed mesh in that joint's frame, metres, or a skin; a lozenge a bone if None
    name    of the animation; the clip's own, or the file's, if None

    Frames at uneven times are sampled at the clip's usual rate.
    """
    _find_blender(path)
    if len(clip) > 1 and np.ptp(np.diff(clip.times)) > 1e-3 * clip.duration / (len(clip) - 1):
        clip = resample(clip, clip.fps, "slerp")
    rate = (len(clip) - 1) / clip.duration if len(clip) > 1 else _SINGLE_FRAME_RATE
    with temporary_folder() as folder:
        glb, fbx = folder / "clip.glb", folder / "clip.fbx"
        # A frame a second is exact in single precision, and so is where Blender puts it.
        save_glb(clip.replace(times=np.arange(len(clip))), glb, meshes, name or clip.name or stem_of(path))
        _run_blender(path, "glb_to_fbx.py", [str(glb), str(fbx), str(len(clip)), repr(round_rate(rate))], fbx)
        write_bytes(path, fbx.read_bytes())


def check_blender(path: str | PathLike[str]) -> None:
    """Refuse to write FBX where there is no Blender; asked before there is anything to write."""
    _find_blender(path)


def round_rate(rate: float) -> float:
    """The rate that a frame time of few digits means: 120 for 120.0005, a film's 24 / 1.001 for 23.976."""
    for usual in (round(rate), round(rate * 1.001) / 1.001):
        if abs(rate - usual) < 1e-4 * rate:
            return float(usual)
    return rate


def _check_is_fbx(path: Path) -> None:
    """Refuse what is no FBX before a program is started for it."""
    with open_input(path, _LARGEST) as stream:
        begin = stream.read(1024)
    if begin.startswith(b"Kaydara FBX Binary"):
        return
    if b"FBX" in begin and begin.lstrip()[:1] == b";":
        raise FileError(path, "is an FBX in text form, which Blender cannot read. Export it as binary FBX.")
    raise FileError(path, "byte 0: not an FBX file: it does not begin with 'Kaydara FBX Binary'.")


def _find_blender(path: str | PathLike[str]) -> list[str]:
    """The words that start Blender's Python, up to the script's path."""
    program = os.environ.get("POISE_BLENDER") or None
    python = os.environ.get("POISE_BPY_PYTHON") or None
    on_path = shutil.which("blender")
    for variable, given in (("POISE_BLENDER", program), ("POISE_BPY_PYTHON", python)):
        if given is not None and shutil.which(given) is None:
            raise FileError(path, f"{variable} is '{given}', which is no program that can be run. Correct it.")
    if program is None and python is not None:
        return [python]
    program = program or on_path
    if program is None:
        raise FileError(
            path,
            "FBX is read and written by Blender, which is not there. Install Blender, or set POISE_BLENDER to it or "
            "POISE_BPY_PYTHON to a Python that has bpy; or use glTF (.glb), which needs neither.",
        )
    return [program, "--background", "--factory-startup", "--python-exit-code", "1", "--python"]


def _run_blender(path: str | PathLike[str], script: str, words: list[str], result: Path) -> str:
    """Run one of the scripts; what it printed. `result` is there when it returns."""
    command = [*_find_blender(path), str(_SCRIPTS / script), "--", *words]
    environment = {key: value for key, value in os.environ.items() if not key.startswith("PYTHON")}
    options: dict[str, Any] = {} if sys.platform == "win32" else {"start_new_session": True}
    with subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        cwd=result.parent,
        env=environment,
        text=True,
        errors="replace",
        **options,
    ) as process:
        try:
            output, _ = process.communicate(timeout=_TIMEOUT)
        except subprocess.TimeoutExpired:
            raise FileError(path, f"Blender did not finish within {_TIMEOUT:g} s and was stopped.") from None
        finally:
            _stop(process)
    if process.returncode != 0 or not result.exists():
        raise FileError(path, f"Blender could not convert it: {_last_words(output)}")
    return output


def _stop(process: subprocess.Popen[str]) -> None:
    """End a process that still runs, and what it started."""
    if process.poll() is not None:
        return
    if sys.platform == "win32":
        process.kill()
    else:
        os.killpg(process.pid, signal.SIGKILL)  # it leads a group of its own


def _last_words(output: str) -> str:
    """What a failed run said in the end: its last line that is an error, else its last line."""
    lines = [" ".join(line.split()) for line in output.splitlines() if line.strip()]
    errors = [line for line in lines if line.startswith(("Error", "RuntimeError")) or "Error:" in line]
    said = (errors or lines or ["it said nothing"])[-1]
    return f"{said[:200].rstrip('.')}."
