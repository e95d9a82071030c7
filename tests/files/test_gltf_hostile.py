"""glTF files that are cut off, contradict themselves or mean harm: one sentence, in bounded memory."""

from __future__ import annotations

import json
import struct
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from helpers.files.gltf import Builder, pack
from poise.errors import FileError, InputError
from poise.files.formats.gltf.document import MAX_NUMBERS
from poise.files.formats.gltf.nodes import MAX_DEPTH
from poise.files.formats.gltf.read import read_gltf


def small() -> Builder:
    """Two joints, a skinned triangle, one animation with a cubic channel, a sparse accessor."""
    b = Builder()
    root = b.node(name="hips", rotation=[0.0, 0.6, 0.0, 0.8])
    knee = b.node(root, name="knee", translation=[0.0, 1.0, 0.0], scale=[2.0] * 3)
    binds = np.tile(np.eye(4).reshape(16), (2, 1))
    b.json["skins"] = [{"joints": [root, knee], "inverseBindMatrices": b.accessor(binds)}]
    weights = b.accessor([[1, 0, 0, 0]] * 3)
    b.json["accessors"][weights]["sparse"] = {
        "count": 1,
        "indices": {"bufferView": b.view(b"\1"), "componentType": 5121},
        "values": {"bufferView": b.view(np.array([0.5, 0.5, 0, 0], "<f4").tobytes())},
    }
    b.json["meshes"] = [
        {
            "primitives": [
                {
                    "attributes": {
                        "POSITION": b.accessor(np.eye(3)),
                        "JOINTS_0": b.accessor([[0, 1, 0, 0]] * 3, "u1"),
                        "WEIGHTS_0": weights,
                    },
                    "indices": b.accessor(np.arange(3), "u2"),
                }
            ]
        }
    ]
    b.node(root, mesh=0, skin=0)
    animation, times = b.animation("wave"), np.arange(4) / 30
    turns = np.array([[0, 0, 0, 1], [0, 0.6, 0, 0.8], [1, 0, 0, 0], [0, 0, 1, 0]], float)
    b.channel(animation, knee, "rotation", times, turns)
    b.channel(animation, root, "translation", times, np.ones((12, 3)), "CUBICSPLINE")
    return b


def change(*path: Any, to: Any) -> Callable[[dict], None]:
    def apply(document: dict) -> None:
        place = document
        for key in path[:-1]:
            place = place[key]
        place[path[-1]] = to

    return apply


def many_nodes(document: dict) -> None:
    document["nodes"] = [{"children": [i + 1]} for i in range(999_999)] + [{}]


def deep_nodes(document: dict) -> None:
    document["nodes"] = [{"children": [i + 1]} for i in range(MAX_DEPTH + 9)] + [{}]


def large_scales(document: dict) -> None:
    document["nodes"] = [{"children": [i + 1], "scale": [1e29] * 3} for i in range(15)] + [{}]


def many_joints(document: dict) -> None:
    document["nodes"] = [{"children": list(range(1, 9000))}, *({} for _ in range(9000))]
    document["skins"][0] = {"joints": list(range(9000))}


SKIN, NODE = ("skins", 0), ("nodes", 1)
CASES: dict[str, tuple[Callable[[dict], None], str]] = {
    "cycle": (change("nodes", 1, "children", to=[0]), "circle"),
    "own child": (change("nodes", 1, "children", to=[1]), "hangs on itself"),
    "two parents": (change("nodes", 1, "children", to=[2]), "already hangs on node"),
    "child out of range": (change("nodes", 0, "children", to=[77]), "node 0 has 'children' 77, but there are only 3"),
    "no nodes": (change("nodes", to=[]), "no nodes"),
    "million nodes": (many_nodes, "items|nodes"),
    "deep nodes": (deep_nodes, "deeper than"),
    "many joints": (many_joints, "9000 joints"),
    "joint out of range": (change(*SKIN, "joints", to=[0, 9]), "skin 0 has 'joints' 9"),
    "joints not numbers": (change(*SKIN, "joints", to=["a"]), "not a whole number"),
    "huge index": (change(*SKIN, "joints", to=[10**400]), "beyond all bounds"),
    "nothing moves": (lambda d: (d.pop("skins"), d.pop("animations")), "no skeleton"),
    "zero rotation": (change(*NODE, "rotation", to=[0, 0, 0, 0]), "no direction"),
    "huge rotation": (change(*NODE, "rotation", to=[1e308] * 4), "finite"),
    "short rotation": (change(*NODE, "rotation", to=[0, 0, 1]), "node 1 has a 'rotation'"),
    "infinite translation": (change(*NODE, "translation", to=[1e999, 0, 0]), "Infinity"),
    "overflowing scales": (large_scales, "beyond all bounds"),
    "accessor out of range": (change("animations", 0, "samplers", 0, "input", to=999), "'input' 999"),
    "sampler out of range": (change("animations", 0, "channels", 0, "sampler", to=5), "'sampler' 5"),
    "wrong type": (change("animations", 0, "samplers", 0, "output", to=0), "VEC4 is needed"),
    "count too large": (
        lambda d: [a.update(count=10**9) for a in d["accessors"]],
        "bytes of buffer view|numbers in all",
    ),
    "zeros without end": (
        lambda d: [(a.pop("bufferView"), a.update(count=MAX_NUMBERS)) for a in d["accessors"]],
        "numbers",
    ),
    "count zero": (lambda d: [a.update(count=0) for a in d["accessors"]], "0 times"),
    "view beyond buffer": (lambda d: [v.update(byteLength=10**12) for v in d["bufferViews"]], "cut off"),
    "stride too small": (lambda d: [v.update(byteStride=1) for v in d["bufferViews"]], "damaged"),
    "buffer longer than file": (change("buffers", 0, "byteLength", to=10**15), "Cut off"),
    "no buffer": (change("buffers", to=[]), "'buffer' 0, but there are only 0"),
    "component type": (lambda d: [a.update(componentType=5130) for a in d["accessors"]], "component type 5130"),
    "interpolation": (change("animations", 0, "samplers", 0, "interpolation", to="BEZIER"), "interpolation 'BEZIER'"),
    "nodes is an object": (change("nodes", to={}), "'nodes' that is not a list"),
    "node is a number": (change("nodes", 1, to=7), "node 1 must be a JSON object"),
    "old": (change("asset", "version", to="1.0"), "version 1.0"),
    "no asset": (lambda d: d.pop("asset"), "version unknown"),
    "long": (change("animations", 0, "samplers", 0, "input", to="long"), ""),
    "http": (change("buffers", 0, "uri", to="http://example.com/x.bin"), "outside the file's own folder"),
    "file": (change("buffers", 0, "uri", to="file:///etc/passwd"), "outside"),
    "absolute": (change("buffers", 0, "uri", to="/etc/passwd"), "outside"),
    "above": (change("buffers", 0, "uri", to="../x.bin"), "outside"),
    "hidden above": (change("buffers", 0, "uri", to="a/%2e%2e/%2e%2e/x.bin"), "outside"),
    "windows": (change("buffers", 0, "uri", to="C:\\x.bin"), "outside"),
    "null byte": (change("buffers", 0, "uri", to="x\0.bin"), "outside"),
    "missing": (change("buffers", 0, "uri", to="missing.bin"), "'missing.bin', which is not beside"),
    "long name": (change("buffers", 0, "uri", to="x" * 5000 + ".bin"), "not beside"),
    "folder": (change("buffers", 0, "uri", to="."), "not beside"),
    "bad base64": (change("buffers", 0, "uri", to="data:;base64,@@@"), "data: URI that is damaged"),
    "no base64": (change("buffers", 0, "uri", to="data:,abc"), "not base64"),
    "short data uri": (change("buffers", 0, "uri", to="data:;base64,AAAA"), "3 are there"),
    "uri is a number": (change("buffers", 0, "uri", to=5), "not text"),
}


def long_animation(document: dict, binary: bytearray) -> None:
    """A key at nine million years."""
    accessor = document["accessors"][document["animations"][0]["samplers"][0]["input"]]
    struct.pack_into("<f", binary, document["bufferViews"][accessor["bufferView"]]["byteOffset"] + 12, 3e14)


HEAVY = ("million nodes", "zeros without end")


@pytest.mark.parametrize("case", [case for case in CASES if case not in HEAVY])
def test_one_sentence(case, tmp_path):
    b = small()
    document, binary = b.document(), bytearray(b.data)
    if case == "long":
        long_animation(document, binary)
        message = "too long to be read"
    else:
        mutate, message = CASES[case]
        mutate(document)
    path = tmp_path / "x.glb"
    path.write_bytes(pack(document, bytes(binary)))
    with pytest.raises(FileError, match=message) as error:
        read_gltf(path)
    assert str(error.value).startswith(str(path))
    assert len(str(error.value)) < 400 + len(str(path))


@pytest.mark.parametrize("case", HEAVY)
@pytest.mark.slow
def test_memory_is_bounded(case, tmp_path):
    b = small()
    document = b.document()
    mutate, message = CASES[case]
    mutate(document)
    (tmp_path / "x.glb").write_bytes(pack(document, bytes(b.data)))
    tracemalloc.start()
    with pytest.raises(FileError, match=message):
        read_gltf(tmp_path / "x.glb")
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 600e6


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda d: b"", "the file is empty. Export it again"),
        (lambda d: b"x", "byte 0"),
        (lambda d: d[:10], "byte 10: is cut off"),
        (lambda d: d[: len(d) // 2], "declares"),
        (lambda d: d[:4] + struct.pack("<I", 1) + d[8:], "version 1"),
        (lambda d: d[:12] + struct.pack("<I", 10**9) + d[16:], "byte 12: a chunk"),
        (lambda d: d[:16] + b"BIN\0" + d[20:], "no JSON chunk"),
        (lambda d: d[:30] + b"\xff" + d[31:], "UTF-8"),
        (lambda d: d[:20] + b"[" * (len(d) - 20), "goes beyond"),
        (lambda d: b"{" + b'"a":[' * 100_000, "nested|damaged"),
        (lambda d: b'{"asset":{"version":"2.0"},"nodes":[{"scale":[NaN,1,1]}]}', "NaN"),
        (lambda d: b'{"asset":{"version":' + b"9" * 5000 + b"}}", "damaged|not text"),
        (lambda d: b'{"asset":{"version":"2.0"},"nodes":' + b"[" + b"{}," * 3_000_000 + b"{}]}", "items"),
        (lambda d: b"HIERARCHY\nROOT", "neither"),
        (lambda d: bytes(range(256)) * 10, "neither"),
    ],
)
def test_what_is_no_glb(make, message, tmp_path):
    path = tmp_path / "x.glb"
    path.write_bytes(make(small().glb()))
    with pytest.raises(FileError, match=message):
        read_gltf(path)


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_numbers_that_are_none(value, tmp_path):
    b = small()
    document, binary = b.document(), bytearray(b.data)
    for part, key in (("output", 4), ("input", 4)):
        accessor = document["animations"][0]["samplers"][0][part]
        at = document["bufferViews"][document["accessors"][accessor]["bufferView"]]["byteOffset"] + key
        spoilt = bytearray(binary)
        struct.pack_into("<f", spoilt, at, value)
        (tmp_path / "x.glb").write_bytes(pack(document, bytes(spoilt)))
        with pytest.raises(FileError, match=rf"accessor {accessor} holds a value that is not a finite"):
            read_gltf(tmp_path / "x.glb")


def test_a_damaged_mesh_costs_the_mesh_only(tmp_path):
    b = small()
    b.json["meshes"][0]["primitives"][0]["attributes"]["JOINTS_0"] = b.accessor([[9, 9, 0, 0]] * 3, "u1")
    recording = read_gltf(b.save(tmp_path / "x.glb"))
    assert recording.skin is None and len(recording.clip) == 4
    assert recording.warnings[:1] == (
        "lost mesh: it could not be read: mesh 0, primitive 0 is moved by joint 9 of its skin, which has only 2.",
    )


def test_links_out_of_the_folder_are_not_followed(tmp_path):
    (tmp_path / "secret.bin").write_bytes(bytes(small().data))
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "x.bin").symlink_to(tmp_path / "secret.bin")
    document = small().document()
    document["buffers"][0]["uri"] = "x.bin"
    (tmp_path / "in" / "x.gltf").write_text(json.dumps(document))
    with pytest.raises(FileError, match="outside the file's own folder"):
        read_gltf(tmp_path / "in" / "x.gltf")


def try_reading(path: Path) -> None:
    try:
        recording = read_gltf(path)
    except InputError as error:
        assert str(error)
    else:
        assert np.isfinite(recording.clip.positions).all()


FUZZ = settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


@given(data=st.data())
@FUZZ
def test_bytes_at_random(data, tmp_path):
    raw = bytearray(small().glb())
    for _ in range(data.draw(st.integers(1, 8))):
        raw[data.draw(st.integers(0, len(raw) - 1))] = data.draw(st.integers(0, 255))
    (tmp_path / "x.glb").write_bytes(
        bytes(raw[: data.draw(st.integers(0, len(raw)))]) if data.draw(st.booleans()) else raw
    )
    try_reading(tmp_path / "x.glb")


def list_places(value: Any, path: tuple = ()) -> list[tuple]:
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path, *(place for key, child in items for place in list_places(child, (*path, key)))]


ODD = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-3, 20),
    st.sampled_from([10**9, 2**31, 2**63, 10**30, -1, 1.5, 1e308, -1e308, 1e-300, 5e-324, "", "x", "VEC3", "MAT4"]),
    st.floats(allow_nan=False, allow_infinity=False),
    st.lists(st.integers(-1, 4), max_size=5),
    st.just({}),
)


@given(data=st.data())
@FUZZ
@pytest.mark.slow
def test_json_at_random(data, tmp_path):
    b = small()
    document = b.document()
    for _ in range(data.draw(st.integers(1, 3))):
        place = data.draw(st.sampled_from(list_places(document)[1:]))
        holder = document
        for key in place[:-1]:
            holder = holder[key]
        if data.draw(st.booleans()) and isinstance(holder, dict):
            del holder[place[-1]]
        else:
            holder[place[-1]] = data.draw(ODD)
    (tmp_path / "x.glb").write_bytes(pack(document, bytes(b.data)))
    try_reading(tmp_path / "x.glb")


@given(values=st.lists(st.floats(width=32), min_size=1, max_size=6), seed=st.integers(0, 2**32 - 1))
@FUZZ
@pytest.mark.slow
def test_floats_at_random(values, seed, tmp_path):
    rng = np.random.default_rng(seed)
    b = small()
    binary = bytearray(b.data)
    for value in values:
        struct.pack_into("<f", binary, 4 * int(rng.integers(len(binary) // 4)), value)
    (tmp_path / "x.glb").write_bytes(pack(b.document(), bytes(binary)))
    try_reading(tmp_path / "x.glb")
