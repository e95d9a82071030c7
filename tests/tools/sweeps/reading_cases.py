"""Generated files, and where their joints are by code that is none of Poise's.

BVH over axes, units, channels, roots and rates; glTF over every arrangement of nodes and keys.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from helpers.bodies import make_human
from helpers.files.bvh_twins import AXES, plain_bvh, write_twin
from helpers.files.gltf import Reference
from helpers.files.gltf_bodies import SINGLE, Body, build, draw
from poise.body.role_finding.guess import with_roles
from poise.motion.clip import Clip
from poise.motion.samples import walk

UNITS = {"m": 1.0, "cm": 0.01, "mm": 0.001, "inch": 0.0254, "CMU": 0.0254 / 0.45}
RATES = (24.0, 24.0 / 1.001, 25.0, 30.0, 60.0, 100.0, 120.0)
ORDERS = ("XYZ", "XZY", "YXZ", "YZX", "ZXY", "ZYX")
# Only the joints that travel have position channels, and they are displacements: no bone tells that they are.
UNTOLD = "displacements that no bone tells"
_FRAMES = 40


@dataclass(frozen=True)
class BvhCase:
    """A walk as BVH; the fields are those of `bvh_twins.write_twin`, and the rate in Hz."""

    up: str = "Y"
    unit: str = "cm"
    above: int = 0
    carrier: int = 0
    adds: bool = False
    stretch: float = 0.0
    hips_offset: bool = True
    others: str = "three"
    orders: tuple[str, ...] = ("ZXY",)
    rate: float = 60.0

    def write(self, folder: Path) -> Path:
        """The file."""
        clip = _walk(self.rate)
        path = folder / "walk.bvh"
        path.write_text(
            write_twin(
                clip, self.above, self.carrier, self.adds, UNITS[self.unit], self.up, self.orders, self.stretch,
                self.hips_offset, self.others,
            )
        )  # fmt: skip
        return path

    def find_places(self, path: Path) -> dict[str, np.ndarray]:
        """Joint -> (F, 3) in the file's units and axes."""
        return plain_bvh(path.read_text(), self.adds)


@dataclass(frozen=True)
class GltfCase:
    """A person as GLB."""

    body: Body
    seed: int = 0

    def write(self, folder: Path) -> Path:
        """The file."""
        return build(self.body, self.seed)[0].save(folder / "person.glb")

    def find_places(self, path: Path) -> dict[str, np.ndarray]:
        """Joint -> (F, 3) in the file's units and axes, at the keys of the body."""
        reference = Reference(path)
        entry = reference.json["animations"][0]
        foreign = ("Camera", "Ball")
        keys = sorted(
            {
                float(t)
                for channel in entry["channels"]
                if channel["target"]["path"] != "weights" and reference.names[channel["target"]["node"]] not in foreign
                for t in reference.array(entry["samplers"][channel["sampler"]]["input"])[:, 0]
            }
        )
        names = tuple(name for name in reference.names if name)
        places = np.array([reference.positions(names, 0, t) for t in keys])
        return {name: places[:, j] for j, name in enumerate(names)}


Case = BvhCase | GltfCase


def _walk(rate: float) -> Clip:
    clip = walk(with_roles(make_human(1.75)), 4.0)
    return clip.pick(slice(0, _FRAMES)).replace(times=np.arange(_FRAMES) / rate)


def list_bvh() -> Iterator[tuple[str, str, BvhCase]]:
    """(what is varied, name, case)"""
    for up, unit in itertools.product(AXES, UNITS):
        yield "axes and units", f"{up} up, {unit}", BvhCase(up, unit)
    for above in range(4):
        for carrier in range(above + 1):
            for adds, others in itertools.product((False, True), ("three", "six")):
                for stretch in (0.0, 0.03):
                    way = "added to" if adds else "replacing"
                    name = f"{above} joints above the hips, travel on {carrier}, {others} channels {way} OFFSET"
                    name += f", bones stretch {1e3 * stretch:g} mm"
                    told = others == "six" or stretch > 0.0 or not adds
                    group = "channels and roots" if told else UNTOLD
                    yield group, name, BvhCase("Y", "cm", above, carrier, adds, stretch, True, others)
    for order in (*ORDERS, ORDERS):
        orders = (order,) if isinstance(order, str) else order
        yield "Euler orders", " ".join(orders), BvhCase(orders=orders)
    for rate in RATES:
        yield "rates", f"{rate:.6g} Hz", BvhCase(rate=rate)
    rng = np.random.default_rng(5)
    for k in range(30):
        above = int(rng.integers(4))
        case = BvhCase(
            str(rng.choice(list(AXES))), str(rng.choice(list(UNITS))), above, int(rng.integers(above + 1)),
            bool(rng.integers(2)), float(rng.choice([0.0, 0.02])), bool(rng.integers(2)), "six",
            tuple(rng.choice(ORDERS, 3).tolist()), float(rng.choice(RATES)),
        )  # fmt: skip
        yield "all of it at random", f"draw {k}: {_describe(case)}", case


def list_gltf(mixed: int = 40) -> Iterator[tuple[str, str, GltfCase]]:
    """(what is varied, name, case)"""
    for name, body in SINGLE.items():
        yield "glTF, one thing at a time", name, GltfCase(body)
    for seed in range(mixed):
        yield "glTF, all of it at random", f"draw {seed}", GltfCase(draw(seed), seed)


def _describe(case: BvhCase) -> str:
    return ", ".join(f"{field.name} {getattr(case, field.name)}" for field in dataclasses.fields(case))
