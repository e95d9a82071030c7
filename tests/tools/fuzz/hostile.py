"""Files that were made to hurt: small on disk, large or endless in memory, or pointing where they should not."""

from __future__ import annotations

import contextlib
import io
import json
import os
import pickle
import struct
import zipfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from helpers.files.seeds import AMC, ASF, BVH, write_seed
from poise.files.registry import FORMATS


def write_hostile(folder: Path) -> Iterator[Path]:
    """Write each one, with what it needs beside it, into a folder; the paths to read."""
    for make in (_bvh, _asf_amc, _json, _gltf, _npz, _npz_bombs, _c3d, _trc, _devices, write_odd_places):
        yield from make(folder)


def _write(path: Path, data: bytes | str) -> Path:
    path.write_bytes(data if isinstance(data, bytes) else data.encode())
    return path


def write_odd_places(folder: Path) -> Iterator[Path]:
    """Good files under names that act or are no text, and links to what is no file."""
    yield _write(folder / f"{'x' * 251}.bvh", BVH)
    if os.name == "nt":
        return
    yield _write(folder / "a\x1b[31m\r\n\u202e.bvh", BVH)
    with contextlib.suppress(OSError):  # file systems that know only UTF-8
        yield _write(folder / "caf\udce9.bvh", BVH)
    for name, target in (
        ("self", "self.bvh"),
        ("nothing", "none.bvh"),
        ("endless", "/dev/zero"),
        ("full", "/dev/full"),
    ):
        (folder / f"{name}.bvh").symlink_to(target)
        yield folder / f"{name}.bvh"
    os.mkfifo(folder / "pipe.bvh")
    yield folder / "pipe.bvh"


def _bvh(folder: Path) -> Iterator[Path]:
    head = "HIERARCHY\nROOT r\n{\nOFFSET 0 0 0\nCHANNELS 1 Xrotation\n"
    motion = "MOTION\nFrames: {}\nFrame Time: 0.01\n"
    many = "".join(f"JOINT j{i} {{ OFFSET 0 1 0 CHANNELS 0 }}\n" for i in range(1_000_000))
    yield _write(folder / "million-joints.bvh", f"{head}{many}}}\n{motion.format(1)}0\n")
    deep = "JOINT j { OFFSET 0 1 0\n" * 300_000
    yield _write(folder / "deep.bvh", head + deep)
    yield _write(
        folder / "same-names.bvh", head + "JOINT j { OFFSET 0 1 0 }\n" * 9_000 + "}\n" + motion.format(1) + "0\n"
    )
    yield _write(folder / "absurd-frames.bvh", BVH.replace("Frames: 2", f"Frames: {10**17}"))
    yield _write(folder / "absurd-channels.bvh", BVH.replace("CHANNELS 6", "CHANNELS 999"))
    yield _write(folder / "one-digit-numbers.bvh", f"{head}}}\n{motion.format(1)}" + "1\n" * 5_000_000)
    yield _write(folder / "one-line.bvh", f"{head}}}\n{motion.format(1)}" + "1 " * 5_000_000)
    yield _write(folder / "one-word.bvh", f"{head}}}\n{motion.format(1)}" + "1" * 10_000_000)
    yield _write(folder / "no-numbers.bvh", f"{head}}}\n{motion.format(1)}" + "x\n" * 3_000_000)
    yield _write(folder / "exponents.bvh", f"{head}}}\n{motion.format(1)}" + "1e1\n" * 1_000_000)
    yield _write(folder / "joints-times-frames.bvh", (
        head + "".join(f"JOINT j{i} {{ OFFSET 0 1 0 }}\n" for i in range(9_900)) + "}\n"
        + motion.format(1) + "0\n" * 90_000
    ))  # fmt: skip
    yield _write(folder / "long-name.bvh", BVH.replace("spine", "x" * 5_000_000))
    yield _write(
        folder / "many-tips.bvh", BVH.replace("End Site", "End Site { OFFSET 0 0 0 }\n" * 200_000 + "End Site")
    )
    yield _write(folder / "blanks.bvh", "HIERARCHY" + "\n" * 10_000_000)


def _asf_amc(folder: Path) -> Iterator[Path]:
    _write(folder / "many.asf", ASF)
    frames = "".join(f"{i}\nroot 0 0 0 0 0 0\nlfemur 0 0 0\nltibia 0\n" for i in range(1, 100_000))
    yield _write(folder / "many.amc", AMC.split("1\n")[0] + frames)
    bone = "begin\nid {0}\nname b{0}\ndirection 0 1 0\nlength 1\naxis 0 0 0 XYZ\nend\n"
    bones = "".join(bone.format(i) for i in range(100_000))
    links = "root b0\n" + "".join(f"b{i} b{i + 1}\n" for i in range(99_999))
    start, _ = ASF.split(":bonedata")
    yield _write(folder / "chain.asf", f"{start}:bonedata\n{bones}:hierarchy\nbegin\n{links}end\n")
    yield _write(folder / "cycle.asf", ASF.replace("lfemur ltibia", "lfemur ltibia\nltibia lfemur"))
    yield _write(folder / "absurd-frame.amc", AMC.replace("\n2\n", "\n99999999999999\n"))
    _write(folder / "absurd-frame.asf", ASF)


def _json(folder: Path) -> Iterator[Path]:
    yield _write(folder / "deep.txt", "[" * 1_000_000)
    yield _write(folder / "rows.txt", '{"Frames": [' + "[1]," * 2_000_000 + "[1]]}")
    yield _write(folder / "row.txt", '{"Frames": [[' + "1," * 2_000_000 + "1]]}")
    yield _write(folder / "number.txt", '{"Frames": [[' + "1" * 100_000 + "]]}")


def _gltf(folder: Path) -> Iterator[Path]:
    seed = write_seed(".gltf", folder)
    assert seed is not None
    plain = json.loads(seed.read_text())

    def write(name: str, **changes: object) -> Path:
        return _write(folder / f"{name}.gltf", json.dumps({**json.loads(json.dumps(plain)), **changes}))

    accessors = plain["accessors"]
    yield write("absurd-count", accessors=[{**a, "count": 2**40} for a in accessors])
    yield write("sparse-only", accessors=[
        {k: v for k, v in {**a, "count": 2**33}.items() if k != "bufferView"} for a in accessors
    ])  # fmt: skip
    yield write("no-view", accessors=[{k: v for k, v in a.items() if k != "bufferView"} for a in accessors])
    yield write("absurd-buffer", buffers=[{"uri": "seed.bin", "byteLength": 2**50}])
    yield write("zero-stride", bufferViews=[{**v, "byteStride": 0} for v in plain["bufferViews"]])
    nodes = plain["nodes"]
    yield write("cycle", nodes=[{**n, "children": [(i + 1) % len(nodes)]} for i, n in enumerate(nodes)])
    yield write("self", nodes=[{**n, "children": [i]} for i, n in enumerate(nodes)])
    yield write("two-parents", nodes=[{**n, "children": [len(nodes) - 1]} for n in nodes[:-1]] + [nodes[-1]])
    million = [{"name": "n", "children": [i + 1]} for i in range(1_000_000)] + [{}]
    yield write("million-nodes", nodes=million, scenes=[{"nodes": [0]}], skins=[{"joints": [0, 1]}])
    yield write("million-joints", nodes=million, scenes=[{"nodes": [0]}], skins=[{"joints": list(range(1_000_000))}])
    for name, uri in (
        ("outside", "../../../../etc/passwd"),
        ("absolute", "/etc/passwd"),
        ("escaped", "%2e%2e/%2e%2e/etc/passwd"),
        ("network", "http://127.0.0.1:9/x.bin"),
        ("file-uri", "file:///etc/passwd"),
        ("device", "/dev/zero"),
        ("huge-data", "data:application/octet-stream;base64," + "A" * 20_000_000),
    ):
        yield write(f"uri-{name}", buffers=[{"uri": uri, "byteLength": plain["buffers"][0]["byteLength"]}])
    glb = write_seed(".glb", folder)
    assert glb is not None
    data = glb.read_bytes()
    yield _write(folder / "absurd-chunk.glb", data[:12] + struct.pack("<I", 2**32 - 1) + data[16:])
    yield _write(folder / "absurd-total.glb", data[:8] + struct.pack("<I", 2**32 - 1) + data[12:])
    yield _write(folder / "deep.glb", _glb(b'{"asset":' * 500_000))
    yield _write(folder / "deep.gltf", b'{"asset":' * 500_000)


def _glb(text: bytes) -> bytes:
    return struct.pack("<4sIII4s", b"glTF", 2, 20 + len(text), len(text), b"JSON") + text


class _Bomb:
    def __reduce__(self) -> tuple[object, tuple[str]]:
        return (open, ("/tmp/poise-fuzz-pickle-was-run",))


def _npz(folder: Path) -> Iterator[Path]:
    def write(name: str, members: dict[str, bytes], how: int = zipfile.ZIP_DEFLATED) -> Path:
        path = folder / f"{name}.npz"
        with zipfile.ZipFile(path, "w", how) as archive:
            for member, content in members.items():
                archive.writestr(member, content)
        return path

    def array(header: dict[str, object], body: bytes = b"") -> bytes:
        text = repr(header).encode()
        text += b" " * (-(len(text) + 11) % 64) + b"\n"
        return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text + body

    names = ("poses", "trans", "rotations", "root", "times", "names", "parents", "offsets", "mocap_framerate")

    def of_shape(shape: tuple[int, ...], body: bytes = b"") -> bytes:
        return array({"descr": "<f8", "fortran_order": False, "shape": shape}, body)

    stream = io.BytesIO()
    np.save(stream, np.array([_Bomb()], dtype=object), allow_pickle=True)
    for name, content in (
        ("absurd-shape", of_shape((2**60, 2**60))),
        ("negative-shape", of_shape((-1, 3))),
        ("deep-header", array({"descr": "(" * 3000, "fortran_order": False, "shape": ()})),
        ("pickle", stream.getvalue()),
        ("bare-pickle", pickle.dumps(_Bomb())),
    ):
        yield write(name, {f"{each}.npy": content for each in names})
    yield write("zip-bomb", {f"{each}.npy": of_shape((2**25,), bytes(2**28)) for each in names[:2]})
    yield write("many-members", {f"m{i}.npy": b"" for i in range(20_000)}, zipfile.ZIP_STORED)
    yield write("outside-names", {f"../../{each}.npy": of_shape(()) for each in names})


def _npz_bombs(folder: Path) -> Iterator[Path]:
    """Still poses that pack to a thousandth: valid, and many GB once they are read and worked on."""

    def write(name: str, shapes: dict[str, tuple[int, ...]], **small: np.ndarray) -> Path:
        path = folder / f"{name}.npz"
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
            for member, array in small.items():
                with archive.open(f"{member}.npy", "w") as stream:
                    np.lib.format.write_array(stream, np.asarray(array))
            for member, shape in shapes.items():
                row = np.zeros(shape[1:])
                if shape[-1] == 4:
                    row[..., 0] = 1.0
                block = row.tobytes() * 1000
                header = {"descr": "<f8", "fortran_order": False, "shape": shape}
                with archive.open(f"{member}.npy", "w", force_zip64=True) as stream:
                    np.lib.format.write_array_header_1_0(stream, header)
                    for _ in range(shape[0] // 1000):
                        stream.write(block)
        return path

    yield write("still-amass", {"poses": (300_000, 156), "trans": (300_000, 3)}, mocap_framerate=np.array(60.0))
    frames, joints = 300_000, 50
    yield write(
        "still-poses", {"rotations": (frames, joints, 4), "root": (frames, 3)},
        names=np.array([f"j{k}" for k in range(joints)]), parents=np.arange(joints) - 1,
        offsets=np.ones((joints, 3)), fps=np.array(60.0),
    )  # fmt: skip
    yield write("long-words", {"times": (1000,)}, names=np.array(["x" * 5_000_000] * 4), rotations=np.zeros((1, 4, 4)))


def _devices(folder: Path) -> Iterator[Path]:
    """What has no end, and what never begins; for every reader there is."""
    if not hasattr(os, "mkfifo"):
        return
    for entry in FORMATS:
        if entry.read is None or entry.suffix == ".fbx":
            continue
        device, pipe = folder / f"device{entry.suffix}", folder / f"pipe{entry.suffix}"
        device.symlink_to("/dev/zero")
        yield device
        os.mkfifo(pipe)
        yield pipe


def _c3d(folder: Path) -> Iterator[Path]:
    seed = write_seed(".c3d", folder)
    if seed is None:
        return
    data = bytearray(seed.read_bytes())
    for name, place, value in (
        ("points", 2, 65535), ("analog", 4, 65535), ("last-frame", 8, 65535), ("data-start", 16, 65535),
        ("first-frame", 6, 65535), ("scale", 14, 0),
    ):  # fmt: skip
        changed = bytearray(data)
        changed[place : place + 2] = struct.pack("<H", value)
        yield _write(folder / f"absurd-{name}.c3d", bytes(changed))
    yield _write(folder / "header-only.c3d", bytes(data[:512]))
    yield _write(folder / "parameters-loop.c3d", bytes(data[:516]) + b"\x01\x01G\x00\x00" * 200_000)


def _trc(folder: Path) -> Iterator[Path]:
    seed = write_seed(".trc", folder)
    assert seed is not None
    text = seed.read_text()
    seed.unlink()
    top = text.split("Frame#")[0]
    yield _write(folder / "million-markers.trc", f"{top}Frame#\tTime" + "\tM\t\t" * 1_000_000 + "\n1\t0\n")
    yield _write(
        folder / "ten-thousand-names.trc", f"{top}Frame#\tTime" + "".join(f"\ts{i}_LKNE\t\t" for i in range(9_999))
    )
    yield _write(folder / "long-label.trc", text.replace("LASI", "_" * 1_000_000 + "XASI"))
    yield _write(folder / "million-frames.trc", text + "".join(f"{i}\t{i / 100}\n" for i in range(7, 1_000_000)))
    yield _write(folder / "absurd-frames.trc", text.replace("\t6\t", f"\t{10**17}\t", 1))
    yield _write(folder / "absurd-rate.trc", text.replace("100.00", "1e308"))
    yield _write(folder / "absurd-places.trc", text.replace(".", "e99."))
