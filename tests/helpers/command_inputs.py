"""Inputs of every kind for the commands, written into a folder.

Only public names of Poise are used, and what `tools.same_bits.names` finds: they are written by two revisions as well.
"""

from __future__ import annotations

import contextlib
import os
import shutil
from pathlib import Path
from typing import Any

import numpy as np

from helpers.bodies import make_human
from helpers.clips import lean, random_clip
from helpers.files.seeds import write_seed
from tools.same_bits.names import find, poise

FRAMES, FPS = 12, 30.0


def make_clip(stature: float = 1.75, frames: int = FRAMES) -> Any:
    """Somebody stands and moves the arms a little, 0.4 s."""
    skeleton = make_human(stature, arms_down=True)
    turns = poise.rotation.identity((frames, len(skeleton)))
    swing = 0.3 * np.sin(np.linspace(0.0, 3.0, frames))
    for side in ("left", "right"):
        turns[:, skeleton.index(side + "UpperArm")] = poise.rotation.from_axis_angle(np.array([1.0, 0.0, 0.0]), swing)
    return poise.Clip(skeleton, np.arange(frames) / FPS, np.tile(skeleton.offsets[0], (frames, 1)), turns, "stand")


def fill(folder: Path) -> None:
    """Write inputs of every kind into a folder."""
    clip = make_clip()
    poise.save_clip(clip, folder / "clip.bvh")
    poise.save_clip(clip, folder / "clip.npz")
    poise.save_clip(clip, folder / "hero.glb", meshes=find("build_mannequin")(clip.skeleton, 70.0))
    poise.save_clip(make_clip(1.6), folder / "other.bvh")
    poise.save_character(
        poise.Character.from_skeleton(poise.load_clip(folder / "clip.bvh").skeleton, 66.0), folder / "body.json"
    )
    write_seed(".c3d", folder)
    write_seed(".bvh", folder)
    (folder / "broken.bvh").write_text("HIERARCHY\nnonsense")
    (folder / "empty.bvh").write_bytes(b"")
    (folder / "notes.txt").write_text("no motion")
    (folder / "roles.toml").write_text('leftToes = "rightToes"\n')
    (folder / "stage.toml").write_text("[ground]\nfriction = 0.5\n")
    (folder / "recipe.toml").write_text('format = "poise-recipe 1"\n[character]\nclip = "clip.bvh"\n')
    (folder / "edit.toml").write_text(
        'format = "poise-edit 1"\nsequence = ["a", "a"]\ntransition = 0.1\n[clips.a]\nfile = "clip.bvh"\n'
        '[[offsets]]\njoint = "leftHand"\ntime = 0.2\nplace = [0.3, 1.0, 0.2]\n'
    )
    (folder / "library" / "deep").mkdir(parents=True)
    shutil.copy(folder / "clip.bvh", folder / "library" / "walk.bvh")
    shutil.copy(folder / "clip.npz", folder / "library" / "deep" / "walk.npz")
    (folder / "taken.glb").mkdir()
    if os.name != "nt":
        (folder / "link.bvh").symlink_to("clip.bvh")
        (folder / "nowhere.bvh").symlink_to("nothing.bvh")
        (folder / "hard.bvh").hardlink_to(folder / "clip.bvh")
        with contextlib.suppress(OSError):  # file systems that know only UTF-8
            shutil.copy(folder / "clip.bvh", folder / "caf\udce9.bvh")
        shutil.copy(folder / "clip.bvh", folder / "a\x1b[31m$b$\n.bvh")


def write_more(folder: Path) -> None:
    """Inputs that give an option something to do: two people, another name, lost bones, a walk, hands that meet."""
    text = (folder / "clip.bvh").read_text()
    head, motion = text.split("MOTION")
    rows = motion.strip().splitlines()
    second = head.removeprefix("HIERARCHY").replace("ROOT hips", "ROOT hips2")
    for line in {line.split()[-1] for line in head.splitlines() if "JOINT" in line}:
        second = second.replace(f"JOINT {line}\n", f"JOINT {line}2\n")
    second = second.replace("OFFSET 0.09", "OFFSET 0.11")
    pair = [f"{row} {other}" for row, other in zip(rows[2:], reversed(rows[2:]), strict=True)]
    (folder / "pair.bvh").write_text("\n".join([head + second, "MOTION", *rows[:2], *pair]) + "\n")
    (folder / "named.bvh").write_text(text.replace("JOINT leftFoot", "JOINT LeftAnkle"))
    clip = make_clip()
    offsets = clip.skeleton.offsets.copy()
    offsets[[clip.skeleton.index(role) for role in ("neck", "leftShoulder", "rightShoulder")]] = 0.0
    poise.save_clip(clip.replace(skeleton=clip.skeleton.replace(offsets=offsets)), folder / "lost.bvh")
    (folder / "lost.toml").write_text('format = "poise-edit 1"\nsequence = ["a"]\n[clips.a]\nfile = "lost.bvh"\n')
    poise.save_clip(find("clip_walk")(clip.skeleton, 4), folder / "walk.npz")
    hands = np.zeros((40, 2, 3))
    hands[20:, 0, 1] = 0.1
    still = poise.rotation.identity((40, 2))
    find("save_hands")(poise.HandsTake(np.arange(40) / 60.0, hands, still), folder / "up.hands")
    (folder / "hand.csv").write_text("time,x,y,z\n0,0.2,0.9,0.2\n1,0.2,1.0,0.3\n", encoding="utf-8")
    (folder / "kerb.toml").write_text('[ground]\nheight = 0\nkind = "steps"\nrise = 0.1\ncount = 1\n')
    (folder / "props.toml").write_text(
        '[[props]]\nname = "crate"\nshape = "box"\nsize = [1, 1, 1]\nposition = [2, 0.5, 0]\n'
    )
    poise.save_character(poise.Character.human(1.6, 80.0, preset="mix"), folder / "mix.json")
    heights = np.zeros((60, 60))
    np.savez(folder / "hills.npz", heights=heights)
    heights[30, 30] = np.nan
    np.savez(folder / "holes.npz", heights=heights)
    strong = 'format = "poise-strength 1"\n[[joint]]\njoint = "leftLowerLeg"\naxis = "x"\n'
    (folder / "strong.toml").write_text(strong + "lower = -9.0\n")
    (folder / "reversed.toml").write_text(strong + "lower = 9.0\nupper = -9.0\n")
    (folder / "gaps.toml").write_text(strong + "upper = { angles = [0, 60, 120], torque = [5, nan, 5] }\n")
    (folder / "huge.toml").write_text(strong + "upper = 1e300\n")
    (folder / "long.toml").write_text(strong + "lower = -9.0\n" + 20_000 * f"# {60 * 'x'}\n")
    poise.save_clip(clap_clip(clip), folder / "clap.npz")
    poise.save_clip(
        lean(find("clip_walk")(clip.skeleton, 4).pick(slice(0, 8)), 16.0, (-1.0, 0.0, 0.0)), folder / "leaning.npz"
    )
    (folder / "stiff.toml").write_text('format = "poise-recipe 1"\n[drivers]\nstiffness = 2.0\n')
    (folder / "figures.json").write_text('{"kind": "poise bench", "version": 1, "benches": {"tiny": {"ratio": 2.0}}}')
    poise.save_clip(random_clip(np.random.default_rng(0)), folder / "nobody.npz")
    arms = ["Arm" in name or "Hand" in name for name in clip.skeleton.names]
    legs = ["Leg" in name or "Foot" in name for name in clip.skeleton.names]
    sizes = np.where(arms, 1.3, np.where(legs, 0.9, 1.0))[:, None]
    long = clip.replace(skeleton=clip.skeleton.replace(offsets=clip.skeleton.offsets * sizes))
    poise.save_clip(long, folder / "long.bvh")


def clap_clip(clip):  # type: ignore[no-untyped-def]
    """Hands that meet before the chest."""
    turns = clip.rotations.copy()
    for side, sign in (("left", 1.0), ("right", -1.0)):
        arm, fore = (clip.skeleton.index(side + part) for part in ("UpperArm", "LowerArm"))
        turns[:, arm] = poise.rotation.from_axis_angle(np.array([1.0, 0.0, 0.0]), np.full(len(clip), -0.6))
        inward = np.linspace(0.6, 0.95, len(clip))
        turns[:, fore] = poise.rotation.multiply(
            poise.rotation.from_axis_angle(np.array([0.0, 1.0, 0.0]), -sign * inward),
            poise.rotation.from_axis_angle(np.array([1.0, 0.0, 0.0]), np.full(len(clip), -0.8)),
        )
    return clip.replace(rotations=turns)
