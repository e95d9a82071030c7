"""People as glTF files in every arrangement that a file may have: what holds the joints, what moves, how keys are kept.

A `Body` says which; `build` gives the file. Where its nodes are is for `gltfs.Reference` to say, which is no code of
Poise's.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

from helpers.bodies import make_human
from helpers.files.gltf import Builder

FRAMES, RATE = 12, 30.0
TURN = Rotation.from_euler("xyz", [0.4, -0.7, 0.3]).as_quat()
MATRIX = np.eye(4)
MATRIX[:3, :3] = Rotation.from_euler("x", -np.pi / 2).as_matrix() * [1.0, 1.2, 0.9]
MATRIX[:3, 3] = [0.1, 0.2, 0.3]

ABOVE: dict[str, dict[str, Any]] = {
    "plain": {},
    "turned, a hundredth": {"rotation": Rotation.from_euler("x", -np.pi / 2).as_quat(), "scale": [0.01] * 3},
    "matrix": {"matrix": MATRIX.T.reshape(-1)},
    "mirrored": {"scale": [-1.0, 1.0, 1.0]},
    "uneven": {"scale": [1.0, 1.4, 0.8], "rotation": TURN},
}


@dataclass(frozen=True)
class Body:
    """One arrangement.

    above       a key of ABOVE: what the node over the joints is like
    above_moves which of its paths are animated
    between     what lies between hips and thighs: nothing, or nodes outside the skin that are "still", "turned",
                "mirrored", "uneven" (scaled by axis) or "moving" (animated rotation, translation and scale)
    foot        the feet: in the skin ("joint"), a "plain" node outside, a "mesh" outside, either "moving" or not
    skin        "all" joints in one; "two"; "upper": spine and arms, hips and legs outside; "parts": none, a mesh each
    travels     "root": the first joint is the hips and travels; "hips": they travel under a joint on the ground
    slides      whether every joint's translation is animated
    swells      scales of the left thigh: "no", "even", "uneven"
    how         interpolation of all channels
    kept        how rotation keys are kept: "f4", "i2", "i1"; and of translations, "sparse"
    rests       whether joints have rest rotations; `matrices`: kept as matrices where nothing animates them
    clutter     a camera, a prop and morph weights that move, too
    """

    above: str = "plain"
    above_moves: tuple[str, ...] = ()
    between: str = "nothing"
    foot: str = "joint"
    skin: str = "all"
    travels: str = "root"
    slides: bool = False
    swells: str = "no"
    how: str = "LINEAR"
    kept: str = "f4"
    rests: str = "none"
    clutter: bool = False
    late: float = 0.0


# One thing at a time, each other than in a plain file; then all of it mixed.
SINGLE: dict[str, Body] = {
    "plain": Body(),
    **{f"above {name}": Body(above=name) for name in ABOVE if name != "plain"},
    **{f"above moves its {path}": Body(above_moves=(path,)) for path in ("translation", "rotation", "scale")},
    "above scaled unevenly and moving": Body("uneven", ("translation", "rotation", "scale")),
    **{f"between {name}": Body(between=name) for name in ("still", "turned", "mirrored", "uneven", "moving")},
    **{f"foot {name}": Body(foot=name) for name in ("plain", "plain moving", "mesh", "mesh moving")},
    **{f"skin {name}": Body(skin=name) for name in ("two", "upper", "parts")},
    "parts whose feet are still": Body(skin="parts", foot="mesh"),
    "hips travel": Body(travels="hips"),
    "joints slide": Body(slides=True),
    "a scale swells": Body(swells="even"),
    "a scale swells by axis": Body(swells="uneven"),
    "steps": Body(how="STEP", slides=True),
    "cubic": Body(how="CUBICSPLINE", slides=True, travels="hips"),
    "short whole numbers": Body(kept="i2"),
    "bytes": Body(kept="i1"),
    "sparse": Body(kept="sparse", slides=True),
    "rest rotations": Body(rests="turned"),
    "matrices": Body(rests="matrices"),
    "clutter": Body(clutter=True, late=0.5),
}


def draw(seed: int) -> Body:
    """An arrangement at random."""
    rng = np.random.default_rng(seed)

    def pick(*options: Any) -> Any:
        return options[int(rng.integers(len(options)))]

    return Body(
        above=pick(*ABOVE),
        above_moves=pick((), (), ("translation",), ("rotation", "translation"), ("scale",)),
        between=pick("nothing", "still", "mirrored", "uneven", "moving"),
        foot=pick("joint", "plain", "plain moving", "mesh", "mesh moving"),
        skin=pick("all", "two", "upper", "parts"),
        travels=pick("root", "hips"),
        slides=pick(False, False, True),
        swells=pick("no", "no", "even", "uneven"),
        how=pick("LINEAR", "STEP", "CUBICSPLINE"),
        kept=pick("f4", "i2", "sparse"),
        rests=pick("none", "turned", "matrices"),
        clutter=pick(False, True),
        late=pick(0.0, 1.25),
    )


def build(body: Body, seed: int = 0) -> tuple[Builder, dict[str, int]]:
    """The file, and the node of each joint of the person."""
    rng = np.random.default_rng(seed)
    b = Builder()
    if body.above in ("matrix",) and body.above_moves:  # glTF lets no matrix be animated
        body = dataclasses.replace(body, above="turned, a hundredth")
    unit = 100.0 if body.above == "turned, a hundredth" else 1.0
    scene = b.node(name="Scene", translation=[0.05, 0.0, 0.1])
    top = b.node(scene, name="Armature", **ABOVE[body.above])
    nodes, moved = _add_joints(b, body, top, unit, rng)
    _add_meshes(b, body, scene, nodes)
    _animate(b, body, top, unit, nodes, moved, rng)
    if body.clutter:
        _add_clutter(b, scene, nodes)
    return b, nodes


def _add_joints(
    b: Builder, body: Body, top: int, unit: float, rng: np.random.Generator
) -> tuple[dict[str, int], list[int]]:
    """The person's nodes by joint name, and nodes between that move."""
    human = make_human(1.75)
    nodes: dict[str, int] = {}
    moved: list[int] = []
    if body.travels == "hips":
        nodes["Root"] = b.node(top, name="Root")
    for j, name in enumerate(human.names):
        carrier = nodes.get("Root", top) if j == 0 else nodes[human.names[human.parents[j]]]
        place = unit * human.offsets[j]
        if body.between != "nothing" and name.endswith("UpperLeg"):
            carrier = _add_between(b, body, carrier, f"helper_{name}", unit)
            moved += [carrier] if body.between == "moving" else []
        turn = Rotation.from_rotvec(0.4 * rng.normal(size=3)) if body.rests != "none" else Rotation.identity()
        if body.rests == "matrices" and name.endswith(("Toes", "Hand")):
            matrix = np.eye(4)
            matrix[:3, :3], matrix[:3, 3] = turn.as_matrix(), place
            nodes[name] = b.node(carrier, name=name, matrix=matrix.T.reshape(-1))
        else:
            nodes[name] = b.node(carrier, name=name, translation=place, rotation=turn.as_quat())
    return nodes, moved


def _add_between(b: Builder, body: Body, carrier: int, name: str, unit: float) -> int:
    fields: dict[str, Any] = {"translation": np.array([0.0, 0.02, 0.01]) * unit}
    if body.between != "still":
        fields["rotation"] = TURN
    if body.between in ("uneven", "mirrored"):
        fields["scale"] = [1.0, 1.3, 0.8] if body.between == "uneven" else [-1.0, 1.0, 1.0]
    return b.node(carrier, name=name, **fields)


def _is_still(body: Body, name: str) -> bool:
    """Whether nothing animates a joint."""
    is_matrix = body.rests == "matrices" and name.endswith(("Toes", "Hand"))
    return is_matrix or (name.endswith("Foot") and body.foot in ("plain", "mesh"))


def _add_meshes(b: Builder, body: Body, scene: int, nodes: dict[str, int]) -> None:
    corner = b.accessor(np.array([[0.0, 0, 0], [0.1, 0, 0], [0, 0.1, 0]]))
    b.json["meshes"] = [{"primitives": [{"attributes": {"POSITION": corner}}], "weights": []}]
    feet = [name for name in nodes if name.endswith("Foot")]
    if body.foot.startswith("mesh"):
        for name in feet:
            b.json["nodes"][nodes[name]]["mesh"] = 0
    if body.skin == "parts":
        for node in nodes.values():
            b.json["nodes"][node]["mesh"] = 0
        return
    outside = set() if body.foot == "joint" else {name for name in nodes if name.endswith(("Foot", "Toes"))}
    inside = [name for name in nodes if name not in outside]
    legs = [name for name in inside if "Leg" in name or name.endswith(("Foot", "Toes"))]
    groups = {
        "all": [inside],
        "two": [[name for name in inside if name not in legs], legs],
        "upper": [[name for name in inside if name not in legs and name not in ("hips", "Root")]],
    }[body.skin]
    joints = {
        "JOINTS_0": b.accessor(np.zeros((3, 4), int), "u1"),
        "WEIGHTS_0": b.accessor(np.eye(3, 4) * 0 + [1, 0, 0, 0]),
    }
    b.json["meshes"].append({"primitives": [{"attributes": {"POSITION": corner, **joints}}]})
    b.json["skins"] = [{"joints": [nodes[name] for name in group]} for group in groups]
    for i in range(len(groups)):
        b.node(scene, name=f"skinned {i}", mesh=1, skin=i)


def _keys(values: np.ndarray, how: str, rng: np.random.Generator, size: float) -> np.ndarray:
    if how != "CUBICSPLINE":
        return values
    out = size * rng.normal(size=(3 * len(values), values.shape[1]))
    out[1::3] = values
    return out


def _animate(
    b: Builder, body: Body, top: int, unit: float, nodes: dict[str, int], moved: list[int], rng: np.random.Generator
) -> None:
    animation, times = b.animation("walk"), body.late + np.arange(FRAMES) / RATE
    phase = np.linspace(0.0, 2.0 * np.pi, FRAMES)[:, None]

    def turn(node: int, size: float) -> None:
        rest = Rotation.from_quat(b.json["nodes"][node].get("rotation", [0, 0, 0, 1]))
        swing = Rotation.from_rotvec(size * np.sin(phase + rng.uniform(0, 6, 3)))
        quats = _keys((rest * swing).as_quat(), body.how, rng, 0.5)
        kinds = {"i2": ("i2", 32767), "i1": ("i1", 127)}
        if body.kept in kinds and body.how != "CUBICSPLINE":
            kind, most = kinds[body.kept]
            output = b.accessor(np.round(np.clip(quats, -1, 1) * most), kind, normalized=True)
            b.channel(animation, node, "rotation", times, output, body.how)
        else:
            b.channel(animation, node, "rotation", times, quats, body.how)

    def slide(node: int, size: float, way: float = 0.0) -> None:
        rest = np.array(b.json["nodes"][node].get("translation", [0.0, 0, 0]))
        places = rest + unit * size * np.sin(phase + rng.uniform(0, 6, 3))
        places[:, 2] += unit * way * phase[:, 0]
        keys = _keys(places, body.how, rng, 0.3 * unit * size)
        if body.kept == "sparse":
            b.channel(animation, node, "translation", times, _add_sparse(b, keys), body.how)
        else:
            b.channel(animation, node, "translation", times, keys, body.how)

    def swell(node: int, factors: tuple[float, float, float]) -> None:
        rest = np.array(b.json["nodes"][node].get("scale", [1.0, 1, 1]))
        keys = rest * (1.0 + np.array(factors) * np.sin(phase))
        b.channel(animation, node, "scale", times, _keys(keys, body.how, rng, 0.1), body.how)

    scale_top = 1.0 if body.above != "turned, a hundredth" else 1.0 / unit
    for path in body.above_moves:
        if path == "rotation":
            turn(top, 0.2)
        elif path == "translation":
            slide(top, 0.2 * scale_top)
        else:
            swell(top, (0.3, 0.3, 0.3))
    for node in moved:
        turn(node, 0.3)
        slide(node, 0.03)
        swell(node, (0.2, 0.1, 0.0))
    for name, node in nodes.items():
        if _is_still(body, name):
            continue
        if name != "Root":
            turn(node, 0.4)
        if name == "hips":
            slide(node, 0.05, 0.1)
        elif body.slides and name != "Root":
            slide(node, 0.02)
    if body.swells != "no":
        swell(nodes["leftUpperLeg"], (0.2, 0.2, 0.2) if body.swells == "even" else (0.3, 0.1, -0.2))


def _add_sparse(b: Builder, keys: np.ndarray) -> int:
    """The same keys as a base of zeros with all rows but the first replaced, and that one replaced too."""
    indices = b.view(np.arange(len(keys)).astype("<u2").tobytes())
    values = b.view(keys.astype("<f4").tobytes())
    sparse = {
        "count": len(keys),
        "indices": {"bufferView": indices, "componentType": 5123},
        "values": {"bufferView": values},
    }
    return b.accessor(np.zeros_like(keys), sparse=sparse)


def _add_clutter(b: Builder, scene: int, nodes: dict[str, int]) -> None:
    """What moves and is no body: a camera in the hand, a ball in the scene and a face's weights; earlier and longer."""
    animation, times = b.json["animations"][0], np.arange(60) / RATE
    b.json["cameras"] = [{"type": "perspective", "perspective": {"yfov": 1.0, "znear": 0.1}}]
    camera = b.node(nodes["rightHand"], name="Camera", camera=0)
    ball = b.node(scene, name="Ball", mesh=0)
    path = np.linspace(0, 1, 60)[:, None] * [1.0, 0, 0]
    for node in (camera, ball):
        b.channel(animation, node, "translation", times, path)
    b.channel(animation, nodes["head"], "weights", times, np.linspace(0, 1, 60)[:, None])
