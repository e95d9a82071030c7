"""The jobs from Python: recipes, edits, poses, goals and follow-ups that no command line says."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from helpers.clips import random_clip

from .cases import add_case
from .cases_files import describe
from .names import find, poise
from .record import read_figures, read_files
from .scenes import human, make_clip

Job = Callable[[Path], Any]
DRIVES = """format = "poise-recipe 1"
[character]
clip = "idle.bvh"
mass = 70.0
[stage]
couple = "exact"
dt = 0.004
[[drives]]
part = "leftArm"
driver = "loose"
stiffness = 0.5
[[drives]]
part = "legs"
driver = "balance"
[[pushes]]
time = 0.5
joint = "chest"
force = [0.0, 0.0, 40.0]
seconds = 0.2
[[loads]]
joint = "rightHand"
mass = 1.5
[outputs]
motion = "out.glb"
"""
SCENERY = """[ground]
kind = "tilted"
angle_degrees = 3.0
[[props]]
name = "crate"
shape = "box"
size = [0.4, 0.4, 0.4]
mass = 5.0
position = [0.0, 0.9, 1.2]
"""
EDIT = """format = "poise-edit 1"
fps = 60
transition = 0.3
sequence = ["high", "low", "high", "greet", "still"]
[clips.clap]
gesture = "clap"
seconds = 4
rate = 1.5
[clips.greet]
gesture = "wave"
seconds = 3
[clips.still]
file = "idle.bvh"
[segments.high]
clip = "clap"
from = 0.6667
to = 2.0
[segments.low]
clip = "clap"
from = 1.0
to = 2.5
speed = 1.33
mirror = true
[[offsets]]
joint = "rightHand"
point = "palm"
time = 1.2
place = [-0.1, 1.35, 0.35]
before = 0.2
after = 0.3
[[offsets]]
joint = "leftHand"
time = 4.0
place = [0.3, 1.1, 0.3]
hold = 0.4
"""


def run_job(job: Job) -> Any:
    """A job in a folder with an own clip: what it returns that is plain, its clip and its files."""
    with tempfile.TemporaryDirectory() as text:
        folder = Path(text)
        skeleton = human(preset="full").skeleton
        for name in ("idle", "squat"):
            poise.save_clip(make_clip(name, skeleton, 2.5 if name == "idle" else 3.5, 30.0), folder / f"{name}.bvh")
        (folder / "drives.toml").write_text(DRIVES)
        (folder / "stage.toml").write_text(SCENERY)
        (folder / "edit.toml").write_text(EDIT)
        before = {path.name for path in folder.iterdir()}
        found = job(folder)
        new = [path.name for path in folder.iterdir() if path.name not in before]
        return {**read_result(found, folder), "files": read_files(folder, new)}


def read_result(found: Any, folder: Path) -> dict[str, Any]:
    """Clip, take and figures of a job."""
    result: dict[str, Any] = {}
    for name in ("clip", "take", "root", "rotations", "torques", "misses", "center"):
        value = getattr(found, name, None)
        if value is not None:
            result[name] = describe(value) if name == "clip" else value
    figures = found if isinstance(found, dict) else getattr(found, "figures", None)
    return {**result, "figures": read_figures(dict(figures or {}), folder)}


JOBS: dict[str, Job] = {
    "mix by a recipe with drives": lambda f: poise.mix(recipe=f / "drives.toml"),
    "mix by a recipe, gain": lambda f: poise.mix(recipe=f / "drives.toml", gain=0.5),
    "mix on a stage file": lambda f: poise.mix(
        f / "squat.bvh", scenery=f / "stage.toml", outputs=[f / "out.take.npz", f / "out.bvh"]),
    "mix of a clip in memory": lambda f: poise.mix(make_clip("wave", human(preset="full").skeleton, 2.5)),
    "mix of two clips": lambda f: poise.mix(f / "idle.bvh", from_={"arms": f / "squat.bvh"}, outputs=f / "out.npz"),
    "mix falls": lambda f: poise.mix(f / "idle.bvh", pushes="t=0.5 hips 0,0,400 0.3s"),
    "mix with pinned feet, stiff": lambda f: poise.mix(f / "squat.bvh", pinned=True, stiffness=3.0),
    "mix by Bullet": lambda f: poise.mix(
        f / "idle.bvh", engine="bullet", couple="paper", physical=["legs", "trunk"], gain=0.0),
    "mix loose arms": lambda f: poise.mix(f / "squat.bvh", physical="arms"),
    "mix all of it": lambda f: poise.mix(f / "idle.bvh", physical="body"),
    "track": lambda f: poise.track(f / "squat.bvh", outputs=f / "out.take.npz"),
    "track by the paper's law": lambda f: poise.track(f / "idle.bvh", law="paper", stiffness=600.0),
    "track, searched": lambda f: poise.track(f / "idle.bvh", stiffness="auto"),
    "track that gives, pushed": lambda f: poise.track(f / "idle.bvh", give=0.8, pushes="t=0.4 chest 0,0,60 0.2s"),
    "lift": lambda f: poise.lift(f / "idle.bvh", loads="rightHand=3"),
    "lift, weak and strict": lambda f: poise.lift(
        f / "squat.bvh", strength=0.6, priorities="strict", lead={"rightHand": "position"}),
    "lift by MuJoCo": lambda f: poise.lift(f / "idle.bvh", engine="mujoco", dt=0.01),
    "balance": lambda f: poise.balance(f / "squat.bvh", output=f / "out.bvh"),
    "balance by pressure": lambda f: poise.balance(f / "squat.bvh", by="zmp"),
    "edit": lambda f: poise.edit(f / "edit.toml", [f / "out.glb", f / "out.bvh"]),
    "retarget": lambda f: poise.retarget(f / "squat.bvh", human(1.3, 30.0, preset="full"), output=f / "out.npz"),
    "convert": lambda f: poise.convert(f / "squat.bvh", f / "out.npz"),
    "convert in place, looped": lambda f: poise.convert(f / "squat.bvh", f / "out.bvh", loop=True, root="in-place"),
    "info": lambda f: poise.info(f / "squat.bvh"),
    "strength that a clip needs": lambda f: poise.strength(f / "squat.bvh"),
    "pose both hands": lambda f: poise.pose({"rightHand": (-0.3, 1.1, 0.4), "leftHand": (0.3, 1.3, 0.3)}),
    "pose on one leg": lambda f: poise.pose({"rightHand": (-0.3, 1.1, 0.6)}, stand="left", look=(1.0, 1.5, 2.0)),
    "pose in a crouch": lambda f: poise.pose({"leftHand": (0.2, 0.4, 0.4)}, crouch=0.3, output=f / "out.bvh"),
    "pose that moves": lambda f: poise.pose({"rightHand": (-0.3, 1.4, 0.3)}, seconds=0.8, output=f / "out.npz"),
    "pose out of reach": lambda f: poise.pose({"rightHand": (-0.3, 1.0, 1.8)}, margin=0.04),
    "pose of a weak body": lambda f: poise.pose(
        {"rightHand": (-0.3, 0.8, 0.5)}, weak={"leftLowerLeg": 0.3}, loads="rightHand=4"),
}  # fmt: skip
for _name, _job in JOBS.items():
    add_case(f"job {_name}", run_job, _job)
for _body in ("fat", "thin", "short", "child", "long-leg", "locked-knee", "one-arm", "backpack"):
    add_case(f"job pose of body {_body}", run_job, lambda f, body=_body: poise.pose(
        {"rightHand": (-0.25, 1.0, 0.3)}, body=body, stand="left"))  # fmt: skip


# Inverse kinematics, asked itself.


def solve_goals(method: str, preset: str) -> Any:
    """Both hands to random places, one foot held."""
    body = human(1.6, 60.0, preset=preset)
    pose = find("stand_pose")(body.skeleton)
    poser, rng = find("PoseSolver")(body, "leftFoot"), np.random.default_rng(1)
    poser.load({"rightHand": (2.0, (0.0, 0.0, 0.0))})
    found = []
    for _ in range(4):
        places = [(side * 0.3, 1.0, 0.3) + 0.2 * rng.normal(size=3) for side in (1.0, -1.0)]
        goals = [
            find("PositionGoal")(f"{side}Hand", place) for side, place in zip(("left", "right"), places, strict=True)
        ]
        goals += [find("LookAtGoal")(rng.normal(size=3) + [0.0, 1.5, 2.0])]
        goals += [find("OrientationGoal")("rightFoot", poise.rotation.identity())]
        found.append(poser.solve(goals, pose.root, pose.rotations, method=method))
    return found


for _method in ("rows", "blocks", "null-space"):
    add_case(f"goals by {_method}", solve_goals, _method, "mix")
    add_case(f"goals by {_method}, full body", solve_goals, _method, "full")


def solve_two_bones() -> Any:
    rng = np.random.default_rng(2)
    clip = random_clip(rng, 6, 5)
    return {"places": list(clip.world), "retargeted": describe(clip)}


add_case("world of a random clip", solve_two_bones)
