"""Every option of every command does something, or is refused in a sentence; every number and path is checked.

The options are asked from the parser: one that is added and stands in no table here fails the first test, and one that
is accepted and changes neither files nor figures fails the second.
"""

from __future__ import annotations

import inspect
import json
from pathlib import Path

import numpy as np
import pytest

from abuse import Run, fill, list_options, look, run
from fuzz.commands import sandbox
from leaning import lean
from poise.cli import words as cli_words
from poise.cli.app import build_app
from poise.cli.commands import COMMANDS
from poise.demos import DEMOS
from poise.spatial import rotation

DEMOS_THERE = dict(DEMOS)
MIX = ("mix", "clip.bvh", "-o", "new.npz")
# With the paper's coupling what follows the clip must not outweigh what carries it.
LIGHT = (*MIX, "--physical", "legs,trunk")
RETARGET = ("retarget", "clip.bvh", "other.bvh", "-o", "new.npz")
TO_BVH = ("convert", "clip.bvh", "new.bvh")
EDIT = ("edit", "edit.toml", "-o", "new.npz")
FORCES = ("forces", "clip.bvh", "-o", "new.csv")
POSE = ("pose", "-o", "new.npz", "--reach", "rightHand=-0.3,1.1,0.3")
MOVING = (*POSE, "--seconds", "0.2")
BALANCE = ("balance", "clip.bvh", "-o", "new.npz")
LEANING = ("balance", "leaning.npz", "-o", "new.npz")
TRACK = ("track", "clip.bvh", "-o", "new.npz")
LIFT = ("lift", "clip.bvh", "-o", "new.npz")
WALK = ("walk", "-o", "new.npz", "--steps", "2", "--fps", "20")
STAIRS = (*WALK, "--terrain", "stairs")
PUPPET = ("puppet", "-i", "legs=up.hands", "-o", "new.npz", "--fps", "20")
NEEDED = ("strength", "find", "clip.bvh")
HAND = ("strength", "show", "--joints", "leftHand", "-o", "new.png")
SAME = ("json", "quiet", "seed")  # what all commands have: tested below
SOURCE = {
    "--height": "1.5",
    "--fps": "60",
    "--scale": "0.9",
    "--up": "Z",
    "--roles": "leftToes=rightToes",
}

# command -> option -> (words without it, words with it beside those). Two runs, whose files or figures must differ.
WORKS: dict[str, dict[str, tuple[tuple[str, ...], tuple[str, ...]]]] = {
    "info": {
        **{option: (("info", "clip.bvh"), (option, value)) for option, value in SOURCE.items()},
        "--mass": (("info", "clip.bvh"), ("--mass", "51")),
        "--character": (("info", "clip.bvh"), ("--character", "body.json")),
        "--clip": (("info", "pair.bvh"), ("--clip", "1")),
        "--bones": (("info", "lost.bvh"), ("--bones", "restore")),
    },
    "convert": {
        **{option: (TO_BVH, (option, value)) for option, value in SOURCE.items() if option != "--roles"},
        "--roles": ((*TO_BVH, "--names", "vrm"), ("--roles", "leftToes=rightToes")),
        "--mass": (("convert", "clip.bvh", "new.glb"), ("--mass", "51")),
        "--character": (("convert", "clip.bvh", "new.glb"), ("--character", "body.json")),
        "--clip": (("convert", "pair.bvh", "new.bvh"), ("--clip", "1")),
        "--keep": (("convert", "seed.bvh", "new.bvh"), ("--keep",)),
        "--bones": (("convert", "lost.bvh", "new.bvh"), ("--bones", "restore")),
        "--names": (("convert", "named.bvh", "new.bvh"), ("--names", "vrm")),
        "--to": (("convert", "library", "new"), ("--to", "npz")),
        "--start": (TO_BVH, ("--start", "0.1")),
        "--end": (TO_BVH, ("--end", "0.2")),
        "--resample": (TO_BVH, ("--resample", "15")),
        "--loop": (("convert", "walk.npz", "new.npz"), ("--loop",)),
        "--root": (("convert", "walk.npz", "new.npz"), ("--root", "in-place")),
    },
    "retarget": {
        **{option: (RETARGET, (option, value)) for option, value in SOURCE.items() if option != "--scale"},
        "--scale": (("retarget", "walk.npz", "other.bvh", "-o", "new.npz", "--no-hands"), ("--scale", "3")),
        "--roles": (RETARGET, ("--roles", "leftUpperArm=rightUpperArm")),
        "--mass": (("retarget", "clip.bvh", "other.bvh", "-o", "new.glb"), ("--mass", "51")),
        "--clip": (("retarget", "pair.bvh", "other.bvh", "-o", "new.npz"), ("--clip", "1")),
        "--bones": (("retarget", "lost.bvh", "other.bvh", "-o", "new.npz"), ("--bones", "restore")),
        "--feet": (("retarget", "walk.npz", "long.bvh", "-o", "new.npz"), ("--no-feet",)),
        "--hands": (("retarget", "clap.npz", "long.bvh", "-o", "new.npz"), ("--no-hands",)),
        "--ground": (RETARGET, ("--ground", "0.5")),
        "--character-roles": (RETARGET, ("--character-roles", "leftUpperArm=rightUpperArm")),
        "--output": (RETARGET, ("-o", "new2.npz")),
    },
    "edit": {
        "--output": (EDIT, ("-o", "new2.npz")),
        "--bones": (("edit", "lost.toml", "-o", "new.npz"), ("--bones", "restore")),
    },
    "forces": {
        **{option: (FORCES, (option, value)) for option, value in SOURCE.items()},
        "--mass": (FORCES, ("--mass", "51")),
        "--character": (FORCES, ("--character", "body.json")),
        "--clip": (("forces", "pair.bvh", "-o", "new.csv"), ("--clip", "1")),
        "--bones": (("forces", "lost.bvh", "-o", "new.csv"), ("--bones", "restore")),
        "--plot": (FORCES, ("--plot", "new.png")),
        "--cutoff": (FORCES, ("--cutoff", "3")),
        "--shares": (FORCES, ("--shares", "paper")),
        "--output": (FORCES, ("-o", "new2.csv")),
    },
    "mix": {
        **{option: (MIX, (option, value)) for option, value in SOURCE.items() if option != "--up"},
        "--mass": (MIX, ("--mass", "51")),
        "--character": (MIX, ("--character", "body.json")),
        "--clip": (("mix", "pair.bvh", "-o", "new.npz"), ("--clip", "1")),
        "--bones": (("mix", "lost.bvh", "-o", "new.npz"), ("--bones", "restore")),
        "--physical": (MIX, ("--physical", "leftArm")),
        "--from": (MIX, ("--from", "arms=other.bvh")),
        "--load": (MIX, ("--load", "rightHand=2")),
        "--push": (MIX, ("--push", "t=0.1 chest 0,0,40 0.1s")),
        "--pin": (MIX, ("--pin",)),
        "--base": (MIX, ("--base", "kinematic")),
        "--stiffness": (MIX, ("--stiffness", "2")),
        "--hold": (MIX, ("--hold", "0.5")),
        "--counter-lean": ((*MIX, "--load", "leftHand=2"), ("--counter-lean", "0.5")),
        "--recipe": (MIX, ("--recipe", "stiff.toml")),
        "--save-recipe": (MIX, ("--save-recipe", "new.toml")),
        "--film": (MIX, ("--film", "new.webp")),
        "--plot": (MIX, ("--plot", "new.png")),
        "--couple": (LIGHT, ("--couple", "paper")),
        "--gain": (MIX, ("--gain", "0.5")),
        "--coupling-filter": ((*LIGHT, "--couple", "paper"), ("--coupling-filter", "0.5")),
        "--torque-only": ((*LIGHT, "--couple", "paper"), ("--torque-only",)),
        "--engine": ((*LIGHT, "--couple", "paper"), ("--engine", "bullet")),
        "--dt": (MIX, ("--dt", "0.002")),
        "--stage": (MIX, ("--stage", "stage.toml")),
        "--output": (MIX, ("-o", "new2.npz")),
    },
    "track": {
        **{option: (TRACK, (option, value)) for option, value in SOURCE.items() if option != "--up"},
        "--mass": (TRACK, ("--mass", "51")),
        "--character": (TRACK, ("--character", "body.json")),
        "--clip": (("track", "pair.bvh", "-o", "new.npz"), ("--clip", "1")),
        "--bones": (("track", "lost.bvh", "-o", "new.npz"), ("--bones", "restore")),
        "--parts": (TRACK, ("--parts", "arms")),
        "--law": (TRACK, ("--law", "paper")),
        "--stiffness": (TRACK, ("--stiffness", "50")),
        "--give": ((*TRACK, "--push", "t=0.05 rightHand 0,0,60 0.1s"), ("--give", "0.9")),
        "--touch": (("track", "clap.npz", "-o", "new.npz"), ("--touch", "leftHand=rightHand")),
        "--load": (TRACK, ("--load", "rightHand=2")),
        "--push": (TRACK, ("--push", "t=0.1 chest 0,0,40 0.1s")),
        "--base": (TRACK, ("--base", "kinematic")),
        "--film": (TRACK, ("--film", "new.webp")),
        "--plot": (TRACK, ("--plot", "new.png")),
        "--engine": (TRACK, ("--engine", "bullet")),
        "--dt": (TRACK, ("--dt", "0.002")),
        "--stage": (TRACK, ("--stage", "stage.toml")),
        "--output": (TRACK, ("-o", "new2.npz")),
    },
    "lift": {
        **{option: (LIFT, (option, value)) for option, value in SOURCE.items()},
        "--mass": (LIFT, ("--mass", "51")),
        "--character": (LIFT, ("--character", "body.json")),
        "--clip": (("lift", "pair.bvh", "-o", "new.npz"), ("--clip", "1")),
        "--bones": (("lift", "lost.bvh", "-o", "new.npz"), ("--bones", "restore")),
        "--load": (LIFT, ("--load", "rightHand=0.5")),
        "--strength": (LIFT, ("--strength", "0.8", "--strength", "rightUpperArm=0.9")),
        "--weak": (LIFT, ("--weak",)),
        "--base": (LIFT, ("--base", "kinematic")),
        "--center": (LIFT, ("--center", "none")),
        "--priorities": (LIFT, ("--priorities", "strict")),
        "--lead": (LIFT, ("--lead", "rightHand=position")),
        "--path": (LIFT, ("--path", "rightHand=hand.csv")),
        "--push": (LIFT, ("--push", "t=0.1 chest 0,0,40 0.1s")),
        "--film": (LIFT, ("--film", "new.webp")),
        "--plot": (LIFT, ("--plot", "new.png")),
        "--engine": (LIFT, ("--engine", "mujoco")),
        "--dt": (LIFT, ("--dt", "0.01")),
        "--stage": (LIFT, ("--stage", "stage.toml")),
        "--output": (LIFT, ("-o", "new2.npz")),
    },
    "pose": {
        "--reach": (POSE, ("--reach", "leftHand=0.3,1.2,0.3")),
        "--stand": (POSE, ("--stand", "left")),
        "--look": (POSE, ("--look", "1,1,1")),
        "--crouch": (POSE, ("--crouch", "0.2")),
        "--upright": ((*POSE[:-1], "rightHand=-0.3,0.4,0.3"), ("--upright",)),
        "--margin": (("pose", "-o", "new.npz", "--reach", "rightHand=-0.3,1.1,1.5"), ("--margin", "0.04")),
        "--load": (POSE, ("--load", "leftHand=3")),
        "--seconds": (POSE, ("--seconds", "0.2")),
        "--fps": (MOVING, ("--fps", "60")),
        "--picture": (POSE, ("--picture", "new.png")),
        "--film": (MOVING, ("--film", "new.webp")),
        "--plot": (MOVING, ("--plot", "new.png")),
        "--body": (POSE, ("--body", "fat")),
        "--height": (POSE, ("--height", "1.6")),
        "--mass": (POSE, ("--mass", "51")),
        "--character": (POSE, ("--character", "body.json")),
        "--start": (POSE, ("--start", "clip.bvh")),
        "--at": ((*POSE, "--start", "clip.bvh"), ("--at", "0.2")),
        "--bones": ((*POSE, "--start", "lost.bvh"), ("--bones", "restore")),
        "--weak": (POSE, ("--weak", "rightUpperArm=0.1")),
        "--output": (POSE, ("-o", "new2.npz")),
    },
    "balance": {
        **{option: (BALANCE, (option, value)) for option, value in SOURCE.items() if option != "--up"},
        "--up": (("balance", "walk.npz", "-o", "new.npz"), ("--up", "Z")),
        "--mass": (BALANCE, ("--mass", "51")),
        "--character": (BALANCE, ("--character", "body.json")),
        "--clip": (("balance", "pair.bvh", "-o", "new.npz"), ("--clip", "1")),
        "--bones": (("balance", "lost.bvh", "-o", "new.npz"), ("--bones", "restore")),
        "--by": (BALANCE, ("--by", "zmp")),
        "--keep": (LEANING, ("--keep", "hands")),
        "--margin": (LEANING, ("--margin", "0.03")),
        "--film": (BALANCE, ("--film", "new.webp")),
        "--plot": (BALANCE, ("--plot", "new.png")),
        "--output": (BALANCE, ("-o", "new2.npz")),
    },
    "walk": {
        "--terrain": (WALK, ("--terrain", "slope")),
        "--shape": (STAIRS, ("--shape", "start=0.35")),
        "--stage": (WALK, ("--stage", "kerb.toml")),
        "--steps": (("walk", "-o", "new.npz", "--fps", "20", "--goal", "0,1"), ("--steps", "1")),
        "--path": (WALK, ("--path", "-0.5,1", "0,2")),
        "--goal": (WALK, ("--goal", "-1,1")),
        "--facing": (WALK, ("--facing", "back")),
        "--fps": (WALK[:-2], ("--fps", "20")),
        "--film": (WALK, ("--film", "new.webp")),
        "--plot": (WALK, ("--plot", "new.png")),
        "--joints": (WALK, ("--joints", "new.png")),
        "--step": (WALK, ("--step", "0.3")),
        "--width": (WALK, ("--width", "0.2")),
        "--pace": (WALK, ("--pace", "0.8")),
        "--lift": (WALK, ("--lift", "0.08")),
        "--arms": (WALK, ("--arms", "0")),
        "--roll": (WALK, ("--roll", "0.5")),
        "--stretch": (WALK, ("--stretch", "0.95")),
        "--margin": (WALK, ("--margin", "0.02")),
        "--toe-out": (WALK, ("--toe-out", "0")),
        "--lean": (WALK, ("--lean", "6")),
        "--body": (WALK, ("--body", "fat")),
        "--height": (WALK, ("--height", "1.6")),
        "--mass": (WALK, ("--mass", "60")),
        "--character": (WALK, ("--character", "body.json")),
        "--load": (WALK, ("--load", "rightHand=5")),
        "--output": (WALK, ("-o", "new2.npz", "--steps", "2", "--fps", "20")),
    },
    "puppet": {
        "--input": (PUPPET, ("-i", "arms=up.hands")),
        "--seconds": (PUPPET, ("--seconds", "0.3")),
        # the first slope is 60 cm ahead: who only stands is the same there, and seen before it
        "--terrain": ((*PUPPET, "-o", "new.png"), ("--terrain", "slope")),
        "--fps": (PUPPET[:-2], ("--fps", "20")),
        "--body": (PUPPET, ("--body", "fat")),
        "--height": (PUPPET, ("--height", "1.6")),
        "--mass": (PUPPET, ("--mass", "60")),
        "--character": (PUPPET, ("--character", "body.json")),
        "--output": (PUPPET, ("-o", "new2.npz")),
    },
    "strength": {
        **{option: (NEEDED, (option, value)) for option, value in SOURCE.items()},
        "--mass": (NEEDED, ("--mass", "51")),
        "--character": (NEEDED, ("--character", "body.json")),
        "--clip": (("strength", "find", "pair.bvh"), ("--clip", "1")),
        "--bones": (("strength", "find", "lost.bvh"), ("--bones", "restore")),
        "--joints": (("strength", "show"), ("--joints", "leftHand,head")),
        "--load": (NEEDED, ("--load", "rightHand=2")),
        "--sex": (NEEDED, ("--sex", "female")),
        "--age": (NEEDED, ("--age", "70")),
        "--table": (NEEDED, ("--table", "strong.toml")),
        "--cutoff": (NEEDED, ("--cutoff", "3")),
        "--output": (HAND, ("-o", "new2.png")),
    },
    "demo": {
        "--minutes": (("demo", "tiny", "-o", "new"), ("--minutes", "2")),
        "--soak": (("demo", "tiny", "-o", "new"), ("--soak",)),
        "--clip": (("demo", "tiny", "-o", "new"), ("--clip", "clip.bvh")),
        "--count": (("demo", "tiny", "-o", "new"), ("--count", "2")),
        "--seconds": (("demo", "tiny", "-o", "new"), ("--seconds", "2")),
        "--threads": (("demo", "tiny", "-o", "new"), ("--threads", "2")),
        "--output": (("demo", "tiny", "-o", "new"), ("-o", "new2")),
    },
    "bench": {
        "--save": (("bench", "tiny"), ("--save", "new.json")),
        "--compare": (("bench", "tiny"), ("--compare", "figures.json")),
    },
}

# Words that would change nothing, or that nothing can be done with, and a piece of the sentence that says so.
REFUSED: list[tuple[tuple[str, ...], str]] = [
    (
        ("retarget", "clip.bvh", "other.bvh", "-o", "new.npz", "--character", "body.json"),
        "--character has no effect here",
    ),
    (("retarget", "clip.bvh", "other.bvh", "-o", "new.npz", "--mass", "51"), "'.npz' holds none"),
    (("retarget", "clip.bvh", "hero.glb", "-o", "new.glb", "--mass", "51"), "has a mesh of its own"),
    (("retarget", "clip.bvh", "body.json", "-o", "new.glb", "--mass", "51"), "has a mass of its own"),
    ((*MIX, "--physical", "arms", "--base", "planted"), "--base planted plants the feet of physical legs"),
    ((*TRACK, "--parts", "arms", "--base", "balance"), "--base balance plants the feet of physical legs"),
    ((*MIX, "--physical", "arms", "--gain", "0.5"), "--gain is the coupling's"),
    ((*MIX, "--physical", "body", "--gain", "0.5"), "--gain is the coupling's"),
    (("convert", "clip.bvh", "new.bvh", "--character", "mix.json", "--names", "vrm"), "joint names of its own"),
    (("convert", "clip.bvh", "new.bvh", "--character", "hero.glb", "--names", "vrm"), "joint names of its own"),
    *(
        (("convert", "clip.bvh", "new.bvh", "--keep", "--resample", "15", option, value), f"{option} has no effect")
        for option, value in SOURCE.items()
        if option != "--fps"
    ),
    ((*BALANCE, "--by", "zmp", "--margin", "0.03"), "--margin is of the centre of mass"),
    ((*WALK, "--shape", "friction=0.1"), "'friction' of a terrain has no effect"),
    ((*WALK, "--terrain", "rough", "--shape", "grain=0.5"), "'grain' of terrain 'rough' has no effect on stones"),
    ((*STAIRS, "--shape", "random=yes", "--shape", "run=0.4"), "'run' of terrain 'stairs' has no effect with random"),
    ((*STAIRS, "--shape", "random=yes", "--shape", "rise=0.1"), "'rise' of terrain 'stairs' has no effect with"),
    ((*WALK, "--terrain", "slope", "--shape", "cross=0.1", "--shape", "start=1"), "'start' of terrain 'slope' has no"),
    ((*WALK, "--terrain", "slope", "--shape", "length=0", "--shape", "landing=1"), "'landing' of terrain 'slope' has"),
    ((*WALK, "--terrain", "hills.npz", "--shape", "holes=pit"), "'holes' is for meshes"),
    ((*PUPPET, "--terrain", "props.toml"), "a puppet is played on a ground without props; got prop 'crate'"),
    ((*LIFT, "--base", "kinematic", "--center", "xyz"), "the centre of mass is led by legs"),
    (("edit", "edit.toml", "-o", "edit.toml"), "would overwrite"),
    (("edit", "edit.toml", "-o", "clip.bvh"), "would overwrite"),
    (("edit", "edit.toml", "-o", "new.txt"), "new.txt"),
    (("edit", "recipe.toml", "-o", "new.npz"), "recipe.toml:1: is no edit recipe"),
    (("edit", "clip.bvh", "-o", "new.npz"), "clip.bvh:1: is not valid TOML"),
    (("convert", "clip.bvh", "new.bvh", "--mass", "51"), "'.bvh' holds none"),
    (("convert", "clip.bvh", "new.bvh", "--character", "body.json"), "'.bvh' holds none"),
    (("convert", "clip.bvh", "new.glb", "--character", "body.json", "--mass", "51"), "a mass of its own"),
    (("info", "clip.bvh", "--character", "body.json", "--mass", "51"), "a mass of its own"),
    (("convert", "hero.glb", "new.glb", "--mass", "51"), "the input has a mesh of its own"),
    (("convert", "nobody.npz", "new.glb", "--mass", "51"), "no person's"),
    (("convert", "clip.bvh", "new.bvh", "--keep", "--mass", "51"), "--mass has no effect"),
    (("convert", "clip.bvh", "new.bvh", "--keep", "--scale", "2"), "--scale has no effect"),
    (("convert", "clip.bvh", "new.bvh", "--keep", "--up", "Z"), "--up has no effect"),
    (("convert", "lost.bvh", "new.bvh", "--keep", "--bones", "restore"), "--keep keeps the input's bones"),
    ((*POSE, "--bones", "keep"), "--bones says how the file of --start is read"),
    (("convert", "clip.bvh", "new.bvh", "--keep", "--height", "1.5"), "--height has no effect"),
    (("convert", "clip.bvh", "new.bvh", "--keep", "--roles", "leftToes=rightToes"), "--roles has no effect"),
    (("convert", "clip.bvh", "new.bvh", "--start", "99"), "after the clip's last frame"),
    (("convert", "clip.bvh", "new.bvh", "--start", "-1"), "from 0 s"),
    (("convert", "clip.bvh", "new.bvh", "--start", "0.2", "--end", "0.1"), "is before --start"),
    (("convert", "clip.bvh", "new.bvh", "--resample", "1e9"), "--resample must be from"),
    (("forces", "clip.bvh", "-o", "new.csv", "--character", "body.json", "--mass", "51"), "a mass of its own"),
    ((*MIX, "--character", "body.json", "--height", "1.5"), "a height of its own"),
    ((*MIX, "--up", "Z"), "this body lies"),
    ((*MIX, "--push", "t=9 chest 0,0,40 0.1s"), "comes after the clip's end"),
    ((*MIX, "--push", "t=0.1 chest 0,0,0 0.1s"), "has 0 N"),
    ((*MIX, "--push", "t=0.101 chest 0,0,40 0.000001s"), "between two steps"),
    ((*MIX, "--physical", "leftArm", "--push", "t=0.1 rightHand 0,0,40 0.1s"), "nothing physical feels the push"),
    ((*MIX, "--physical", "leftArm", "--load", "rightHand=2"), "nothing physical carries the load"),
    ((*MIX, "--physical", "leftArm", "--stiffness", "2"), "--stiffness is the balance's"),
    ((*MIX, "--physical", "leftArm", "--hold", "0.5"), "--hold is the balance's"),
    ((*MIX, "--hold", "2"), "--hold must be from 0 to 1; 2 given"),
    ((*MIX, "--counter-lean", "-1"), "--counter-lean must be from 0 to 10; -1 given"),
    ((*MIX, "--physical", "leftArm", "--pin"), "pinned feet are for physical legs"),
    ((*MIX, "--torque-only"), "'paper' coupling"),
    ((*MIX, "--coupling-filter", "0"), "'paper' coupling"),
    ((*LIGHT, "--couple", "paper", "--coupling-filter", "1"), "from 0 (as published) to below 1"),
    ((*TRACK, "--up", "Z"), "this body lies"),
    ((*TRACK, "--character", "body.json", "--mass", "51"), "a mass of its own"),
    ((*TRACK, "--stiffness", "0"), "from 1 to 1e+06"),
    ((*TRACK, "--stiffness", "soft"), "from 1 to 1e+06 1/s2, or auto"),
    ((*TRACK, "--give", "2"), "from 0 to 1"),
    ((*TRACK, "--parts", "tail"), "part 'tail' is not known"),
    ((*TRACK, "--parts", "hips"), "is the root"),
    ((*TRACK, "--touch", "leftHand"), "as in leftHand=drum"),
    ((*TRACK, "--touch", "leftHand=tail"), "'tail' is not in this stage"),
    ((*TRACK, "--load", "tail=1"), "tail"),
    ((*TRACK, "--push", "t=9 chest 0,0,40 0.1s"), "comes after the clip's end"),
    ((*TRACK, "--parts", "leftArm", "--push", "t=0.1 rightHand 0,0,40 0.1s"), "nothing physical feels the push"),
    ((*TRACK, "--stage", "stage.toml", "--dt", "9"), "a step of 9 s"),
    (("track", "clip.bvh", "-o", "clip.bvh"), "would overwrite"),
    (("track", "clip.bvh", "-o", "new.txt"), "cannot be written"),
    (("track", "clip.bvh", "-o", "new.npz", "--plot", "new.jpg"), "writes .png"),
    ((*LIFT, "--up", "Z", "--base", "balance"), "begins off its feet, lying"),
    ((*LIFT, "--character", "body.json", "--mass", "51"), "a mass of its own"),
    ((*LIFT, "--strength", "-1"), "from 0 to 1000 times"),
    ((*LIFT, "--strength", "rightHand=strong"), "from 0 to 1000 times"),
    ((*LIFT, "--strength", "=1"), "joint=number"),
    ((*LIFT, "--strength", "tail=1"), "'tail' is not in the degrees of freedom"),
    ((*LIFT, "--strength", "rightHand=1", "--strength", "rightHand=2"), "given twice"),
    ((*LIFT, "--lead", "rightHand=upwards"), "position, orientation, both"),
    ((*LIFT, "--lead", "tail"), "tail"),
    ((*LIFT, "--path", "rightHand"), "joint=file"),
    ((*LIFT, "--path", "rightHand=no.csv"), "no.csv"),
    ((*LIFT, "--path", "rightHand=clip.bvh"), "columns of a path"),
    ((*LIFT, "--path", "tail=hand.csv"), "tail"),
    ((*LIFT, "--path", "center=hand.csv", "--center", "none"), "axes along which it is led"),
    ((*LIFT, "--path", "rightHand=hand.csv", "--lead", "rightHand=both"), "places alone"),
    ((*LIFT, "--load", "tail=1"), "tail"),
    ((*LIFT, "--load", "rightHand=-1"), "more than 0"),
    ((*LIFT, "--load", "rightHand=nan"), "joint=kilograms"),
    ((*LIFT, "--load", "rightHand=1e9"), "at most 1000 kg"),
    ((*LIFT, "--load", "a" * 9999 + "=1"), "aaa...' is not in the skeleton"),
    ((*LIFT, "--mass", "-5"), "--mass must be from 1 to 1000 kg"),
    ((*LIFT, "--push", "t=9 chest 0,0,40 0.1s"), "comes after the clip's end"),
    ((*LIFT, "--dt", "9"), "a step of 9 s"),
    ((*LIFT, "--base", "kinematic", "--path", "center=hand.csv"), "the centre of mass is led by legs"),
    (("lift", "clip.bvh", "-o", "clip.bvh"), "would overwrite"),
    (("lift", "clip.bvh", "-o", "new.txt"), "cannot be written"),
    (("lift", "nobody.npz", "-o", "new.npz"), "no joint for hips"),
    (("demo", "tiny", "-o", "new", "--soak", "--minutes", "2"), "--soak is an hour"),
    ((*POSE, "--fps", "60"), "a pose stands still"),
    ((*POSE, "--film", "new.webp"), "a pose stands still"),
    ((*POSE, "--plot", "new.png"), "a pose stands still"),
    ((*POSE, "--at", "1"), "--at is a time of the clip"),
    ((*POSE, "--start", "clip.bvh", "--at", "99"), "--at must be from 0 to"),
    ((*POSE, "--start", "clip.bvh", "--body", "fat"), "--start has a body of its own"),
    ((*POSE, "--character", "body.json", "--body", "fat"), "--character has a body of its own"),
    ((*POSE, "--character", "body.json", "--mass", "51"), "--character has a mass of its own"),
    ((*POSE, "--upright", "--crouch", "0.2"), "--upright and --crouch say opposite things"),
    ((*POSE, "--reach", "rightHand=0,1,0"), "two targets"),
    ((*POSE, "--reach", "leftFoot=0,1,0"), "of a foot that stands"),
    ((*POSE, "--reach", "tail=0,1,0"), "'tail' is not in the skeleton"),
    ((*POSE, "--reach", "leftHand=nan,1,0"), "three finite numbers"),
    ((*POSE, "--reach", "leftHand=0,1"), "three numbers"),
    ((*POSE, "--reach", "leftHand=0,1,1e9"), "at most 100 m"),
    ((*POSE, "--reach", "leftHand"), "joint=x,y,z"),
    ((*POSE, "--look", "1,2"), "--look is three numbers"),
    ((*POSE, "--body", "giant"), "body 'giant' is not known"),
    ((*POSE, "--load", "tail=3"), "'tail' is not in the skeleton"),
    ((*POSE, "--weak", "leftHand"), "joint=share"),
    ((*POSE[:2], "new.txt"), "cannot be written"),
    ((*BALANCE[:3], "new.txt"), "cannot be written"),
    (("balance", "clip.bvh", "-o", "clip.bvh"), "would overwrite"),
    (("balance", "nobody.npz", "-o", "new.npz"), "human"),
    (("strength", "lift", "clip.bvh"), "'lift' is not known"),
    (("strength", "find"), "find needs a motion file"),
    (("strength", "show", "clip.bvh"), "show reads no motion, so that clip.bvh would do nothing"),
    (("strength", "show", "--fps", "60"), "so that --fps would do nothing"),
    (("strength", "show", "--load", "rightHand=2"), "so that --load would do nothing"),
    (("strength", "show", "--joints", "tail"), "joint 'tail' is not in the degrees of freedom"),
    (("strength", "show", "--mass", "-5"), "--mass must be from 1 to 1000 kg"),
    (("strength", "show", "--height", "9"), "--height must be from 0.3 to 3 m"),
    (("strength", "show", "--sex", "boy"), "sex 'boy' is not known"),
    (("strength", "show", "--character", "body.json", "--mass", "51"), "a mass of its own"),
    (("strength", "show", "-o", "new.pdf"), "-o writes .png"),
    (("strength", "show", "--table", "reversed.toml"), "reversed.toml:5: the lower bound of leftLowerLeg"),
    (("strength", "show", "--table", "huge.toml", "-o", "new.png"), "huge.toml:5: a strength is 1e+300 N m"),
    (("strength", "show", "--table", "long.toml", "-o", "new.png"), "at most 1000000 are read"),
    (("strength", "show", "--table", "strong.toml", "-o", "strong.toml"), "would overwrite"),
    ((*NEEDED, "--joints", "leftHand"), "--joints is for show"),
    ((*NEEDED, "--load", "tail=1"), "tail"),
    ((*NEEDED, "--load", "rightHand=-1"), "must be more than 0"),
    ((*NEEDED, "--character", "body.json", "--mass", "51"), "a mass of its own"),
    ((*NEEDED, "--table", "clip.bvh"), "clip.bvh:1: is not valid TOML"),
    ((*NEEDED, "-o", "new.png", "--table", "gaps.toml"), "gaps.toml:5: 'torque' of [upper] must be a finite number"),
    ((*NEEDED, "-o", "new.png", "--load", "rightHand=nan"), "joint=kilograms"),
    ((*NEEDED, "-o", "new.png", "--mass", "nan"), "--mass must be from 1 to 1000 kg"),
    (("strength", "find", "nobody.npz"), "human"),
    ((*WALK, "--path", "nan,1"), "finite"),
    ((*WALK, "--path", "0,inf"), "finite"),
    ((*WALK, "--path", "0"), "two numbers"),
    ((*WALK, "--goal", "0,1,2"), "two numbers"),
    ((*WALK, "--goal", "0,0"), "ends where it begins"),
    ((*WALK, "--terrain", "moon"), "terrain 'moon' is not known"),
    ((*WALK, "--terrain", "nowhere.png"), "nowhere.png"),
    ((*WALK, "--terrain", "holes.npz"), "has holes"),
    ((*WALK, "--terrain", "rough", "--shape", "spacing=0.005", "--shape", "length=2000"), "at most"),
    ((*STAIRS, "--shape", "rise=0.6"), "0.60 m"),
    ((*STAIRS, "--shape", "rise"), "name=value"),
    ((*STAIRS, "--shape", "colour=red"), "'colour' is not known"),
    ((*WALK, "--stage", "kerb.toml", "--terrain", "flat"), "--stage has a ground of its own"),
    (("walk", "-o", "new.npz", "--steps", "0"), "from 1 to 5000"),
    (("walk", "-o", "new.npz", "--steps", "1000000000"), "from 1 to 5000"),
    ((*WALK, "--load", "tail=1"), "tail"),
    ((*WALK, "--step", "9"), "0.1 to 0.8"),
    ((*WALK, "--character", "body.json", "--mass", "60"), "a mass of its own"),
    (("puppet", "-i", "up.hands", "-o", "new.npz"), "write MAPPING=FILE"),
    (("puppet", "-i", "legs=up.hands"), "-o is missing"),
    (("puppet", "new", "-i", "legs=up.hands", "-o", "new.npz"), "is for the page"),
    (("puppet", "-i", "legs=up.hands", "-o", "new.npz", "--host", "localhost"), "--host is for the page"),
    (("puppet", "-i", "legs=up.hands", "-o", "new.npz", "--port", "8200"), "--port is for the page"),
    (("puppet", "-i", "legs=up.hands", "-o", "new.npz", "--no-browser"), "--no-browser is for the page"),
    (("puppet", "-i", "legs=up.hands", "-o", "new.npz", "--osc", "39540"), "--osc is for the page"),
    (("puppet", "-i", "legs=up.hands", "-o", "new.npz", "--vmc", "39539"), "--vmc is for the page"),
    (("puppet", "-i", "legs=up.hands", "-o", "new.npz", "--gamepad"), "--gamepad is for the page"),
    (("puppet", "-i", "legs=up.hands", "-o", "new.npz", "--music", "up.hands"), "--music is for the page"),
    (("puppet", "new", "--no-browser", "--music", "clip.bvh"), "no music"),
    (("puppet", "new", "--no-browser", "--osc", "a:b:c"), "is no place"),
    (("puppet", "new", "--no-browser", "--vmc", "99999"), "from 1 to 65535"),
    (("puppet", "new", "--no-browser", "--port", "70000"), "from 0"),
    (("puppet", "new", "--no-browser", "--host", "no.such.host.invalid"), "is not known"),
    (("puppet", "new", "-o", "new.npz"), "-o is for recordings"),
    (("puppet", "new", "--seconds", "3"), "--seconds is for recordings"),
    (("puppet", "new", "--fps", "3"), "--fps is for recordings"),
    (("puppet", "-i", "wings=up.hands", "-o", "new.npz"), "mapping 'wings'"),
    (("puppet", "-i", "clip.bvh", "-o", "new.npz"), "is no performance"),
    (("puppet", "-i", "legs=clip.bvh", "-o", "new.npz"), "no recording of hands"),
    ((*PUPPET, "--seconds", "1e9"), "lasts up to 3600 s"),
    ((*PUPPET[:-2], "--fps", "0"), "from 1 to 1000"),
]


def give_all(
    folder: Path, seed: int = 0, minutes: float = 0.0, soak: bool = False, clip: Path | None = None, count: int = 0,
    seconds: float = 0.0, threads: int = 0,
) -> dict[str, object]:  # fmt: skip
    """A demo that has every option and tells what it was given."""
    given = [seed, minutes, soak, str(clip), count, seconds, threads]
    (folder / "tiny.json").write_text(json.dumps(given))
    return {"fell": False, "given": given}


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory):  # type: ignore[no-untyped-def]
    """Inputs, where the tests of this file are."""
    from poise.registry import Entry

    with sandbox(tmp_path_factory.mktemp("options")) as folder:
        write_more(folder)
        DEMOS["tiny"] = Entry(f"{__name__}:give_all", "a demo")
        yield folder


def write_more(folder: Path) -> None:
    """Inputs that give an option something to do: two people, another name, lost bones, a walk, hands that meet."""
    from abuse import make_clip
    from clips import random_clip
    from poise.body.character import Character
    from poise.files.character import save_character
    from poise.files.formats import save_clip
    from poise.jobs.hands_file import save_hands
    from poise.motion.own import walk
    from poise.puppetry.hands import HandsTake

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
    save_clip(clip.replace(skeleton=clip.skeleton.replace(offsets=offsets)), folder / "lost.bvh")
    (folder / "lost.toml").write_text('format = "poise-edit 1"\nsequence = ["a"]\n[clips.a]\nfile = "lost.bvh"\n')
    save_clip(walk(clip.skeleton, 4), folder / "walk.npz")
    hands = np.zeros((40, 2, 3))
    hands[20:, 0, 1] = 0.1
    still = rotation.identity((40, 2))
    save_hands(HandsTake(np.arange(40) / 60.0, hands, still), folder / "up.hands")
    (folder / "hand.csv").write_text("time,x,y,z\n0,0.2,0.9,0.2\n1,0.2,1.0,0.3\n", encoding="utf-8")
    (folder / "kerb.toml").write_text('[ground]\nheight = 0\nkind = "steps"\nrise = 0.1\ncount = 1\n')
    (folder / "props.toml").write_text(
        '[[props]]\nname = "crate"\nshape = "box"\nsize = [1, 1, 1]\nposition = [2, 0.5, 0]\n'
    )
    save_character(Character.human(1.6, 80.0, preset="mix"), folder / "mix.json")
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
    save_clip(clap_clip(clip), folder / "clap.npz")
    save_clip(lean(walk(clip.skeleton, 4).pick(slice(0, 8)), 16.0, (-1.0, 0.0, 0.0)), folder / "leaning.npz")
    (folder / "stiff.toml").write_text('format = "poise-recipe 1"\n[drivers]\nstiffness = 2.0\n')
    (folder / "figures.json").write_text('{"kind": "poise bench", "version": 1, "benches": {"tiny": {"ratio": 2.0}}}')
    save_clip(random_clip(np.random.default_rng(0)), folder / "nobody.npz")
    arms = ["Arm" in name or "Hand" in name for name in clip.skeleton.names]
    legs = ["Leg" in name or "Foot" in name for name in clip.skeleton.names]
    sizes = np.where(arms, 1.3, np.where(legs, 0.9, 1.0))[:, None]
    long = clip.replace(skeleton=clip.skeleton.replace(offsets=clip.skeleton.offsets * sizes))
    save_clip(long, folder / "long.bvh")


def clap_clip(clip):  # type: ignore[no-untyped-def]
    """Hands that meet before the chest."""
    turns = clip.rotations.copy()
    for side, sign in (("left", 1.0), ("right", -1.0)):
        arm, fore = (clip.skeleton.index(side + part) for part in ("UpperArm", "LowerArm"))
        turns[:, arm] = rotation.from_axis_angle(np.array([1.0, 0.0, 0.0]), np.full(len(clip), -0.6))
        inward = np.linspace(0.6, 0.95, len(clip))
        turns[:, fore] = rotation.multiply(
            rotation.from_axis_angle(np.array([0.0, 1.0, 0.0]), -sign * inward),
            rotation.from_axis_angle(np.array([1.0, 0.0, 0.0]), np.full(len(clip), -0.8)),
        )
    return clip.replace(rotations=turns)


def test_every_option_stands_in_the_table() -> None:
    for command in COMMANDS:
        options = {name for name in list_options(command) if name.removeprefix("--") not in SAME}
        refused = {word for words, _ in REFUSED if words[0] == command for word in words if word.startswith("--")}
        missing = options - set(WORKS[command]) - refused
        assert not missing, f"poise {command} has options that no test has tried: {sorted(missing)}"
        assert set(WORKS[command]) <= options


class Seen:
    """What a run left: exit code, figures, and the bytes of new files."""

    def __init__(self, place: Path, words: tuple[str, ...]):
        before = look(place)
        self.done: Run = run(*words, "--json", "--quiet")
        assert self.done.code in (0, 1), f"{words}: {self.done.err}"
        figures = json.loads(self.done.out)
        for key in ("realtime_factor", "file", "files", "solve_us", "plan_ms_a_step"):
            figures.pop(key, None)
        self.figures = figures
        after = look(place)
        self.files = {name: what for name, what in after.items() if name not in before}
        for name in sorted(self.files, key=len, reverse=True):
            (place / name).rmdir() if (place / name).is_dir() else (place / name).unlink()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Seen) and (self.figures, self.files) == (other.figures, other.files)


_known: dict[tuple[str, ...], Seen] = {}


@pytest.mark.parametrize(
    ("command", "option"), [(command, option) for command, options in WORKS.items() for option in options]
)
@pytest.mark.many(14)
def test_an_option_does_something(place: Path, command: str, option: str) -> None:
    base, more = WORKS[command][option]
    if option == "--film":
        pytest.importorskip("PIL")
    if more == ("--engine", "bullet"):
        pytest.importorskip("pybullet")
    if base not in _known:
        _known[base] = Seen(place, base)
    words = base
    if option == "--output":  # it is there already: another one
        words = base[: base.index("-o")]
    changed = Seen(place, (*words, *more))
    assert changed != _known[base], f"{' '.join(base)} is the same with {' '.join(more)}"


def test_the_same_words_do_the_same(place: Path) -> None:
    """Else every option would seem to do something."""
    for base in (MIX, TO_BVH, FORCES, RETARGET, ("info", "clip.bvh")):
        assert Seen(place, base) == Seen(place, base)


def test_an_idle_option_would_be_seen(place: Path) -> None:
    """--seed is one, where nothing is random: accepted, and the same files and figures."""
    for base in (MIX, TO_BVH, ("info", "clip.bvh")):
        assert Seen(place, (*base, "--seed", "4")) == Seen(place, base)


@pytest.mark.parametrize(("words", "sentence"), REFUSED, ids=[" ".join(words) for words, _ in REFUSED])
@pytest.mark.many(16)
def test_an_option_that_would_do_nothing_is_refused(place: Path, words: tuple[str, ...], sentence: str) -> None:
    before = look(place)
    done = run(*words, "--quiet")
    assert (done.code, done.out) == (2, ""), done
    assert sentence in done.err and done.err.count("\n") == 1
    assert look(place) == before


# Words whose effect depends on the file, where it has none, and a piece of the note that says so.
NOTED: list[tuple[tuple[str, ...], str]] = [
    ((*STAIRS, "--seed", "3"), "--seed changes nothing"),
    ((*WALK, "--terrain", "moving", "--seed", "3"), "--seed changes nothing"),
    ((*WALK, "--body", "locked-knee", "--lift", "0.08"), "--lift is 0.02 instead of 0.08"),
    ((*WALK, "--body", "locked-knee", "--step", "0.6"), "--step is 0.35 instead of 0.6"),
    (("balance", "walk.npz", "-o", "new.npz", "--margin", "0.03"), "--margin is of the centre of mass"),
    ((*FORCES, "--cutoff", "20"), "--cutoff 20 filters nothing"),
    ((*NEEDED, "--cutoff", "20"), "--cutoff 20 filters nothing"),
    ((*TO_BVH, "--end", "9"), "it leaves nothing out"),
]


@pytest.mark.parametrize(("words", "sentence"), NOTED, ids=[" ".join(words) for words, _ in NOTED])
def test_an_option_that_a_file_leaves_without_effect_is_noted(
    place: Path, words: tuple[str, ...], sentence: str
) -> None:
    before = look(place)
    done = run(*words)
    for name in look(place).keys() - before.keys():
        (place / name).unlink()
    assert done.code == 0, done.err
    assert sum(sentence in line for line in done.err.splitlines()) == 1, done.err


@pytest.mark.parametrize(
    "words",
    [
        (*STAIRS, "--shape", "start=0.35", "--shape", "random=yes", "--seed", "3"),
        (*WALK, "--terrain", "rough", "--seed", "3"),
        (*WALK, "--terrain", "moving", "--shape", "ground=rough", "--seed", "3"),
    ],
)  # fmt: skip
def test_a_seed_of_random_ground_changes_the_walk(place: Path, words: tuple[str, ...]) -> None:
    assert "--seed changes nothing" not in run(*words).err
    (place / "new.npz").unlink()
    assert Seen(place, words) != Seen(place, (*words[:-1], "4"))


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.many(3)
def test_json_quiet_and_seed_of_every_command(place: Path, command: str) -> None:
    words = {
        "info": ("info", "clip.bvh"), "convert": TO_BVH, "retarget": RETARGET, "forces": FORCES, "mix": MIX,
        "track": TRACK, "lift": LIFT,
        "pose": POSE, "balance": BALANCE,
        "demo": ("demo", "tiny", "-o", "new"), "bench": ("bench", "tiny"), "walk": WALK,
        "edit": EDIT, "strength": NEEDED, "puppet": PUPPET,
    }[command]  # fmt: skip
    plain = run(*words, "--seed", "3")
    assert plain.code == 0
    assert ("--seed changes nothing" in plain.err) == (command != "demo")
    quiet = run(*words, "--seed", "3", "--quiet")
    assert (quiet.code, quiet.err) == (0, "")
    assert quiet.out.count("\n") == plain.out.count("\n")
    assert isinstance(json.loads(run(*words, "--json").out), dict)
    for path in place.glob("new*"):
        if path.is_dir():
            (path / "tiny.json").unlink()
        path.rmdir() if path.is_dir() else path.unlink()


@pytest.mark.parametrize("fps", ["0.5", "7", "15", "24"])
@pytest.mark.many(2)
def test_a_mix_of_few_frames_a_second_is_written_as_glb(place: Path, fps: str) -> None:
    """A reader of GLB adds frames between keys that are far apart; that is no reason to refuse what was written."""
    seen = Seen(place, ("mix", "clip.bvh", "-o", "new.glb", "--fps", fps))
    assert seen.figures["frames"] == 12
    # At 7 the reader's frames lie between the keys, and what is measured is blended from them.
    assert seen.figures["kinematic_error_rad"] < (1e-3 if fps == "7" else 1e-5)


def test_every_number_and_path_is_read_in_one_way() -> None:
    """float takes 1_000 and digits of all scripts, Path takes an empty word for a folder."""
    readers = {"number": {cli_words.read_number}, "path": {cli_words.read_path, cli_words.read_input}}
    readers["path"] |= {cli_words.read_paths}  # of what may be given more than once
    readers["whole"] = {cli_words.read_whole, cli_words.read_seed}
    for command in COMMANDS:
        kinds = list_options(command)
        for argument in build_app()[command].assemble_argument_collection():
            name = next((name for name in argument.names if name in kinds), None)
            wanted = readers.get(kinds[name]) if name is not None else None
            if wanted is not None:
                assert argument.parameter.converter in wanted, f"poise {command} {name}"


BAD = ["", " ", "abc", "nan", "inf", "-inf", "-1", "1e400", "1e308", "９", "1_0", "0x10", "1,5", "--", "9" * 400]


@pytest.mark.parametrize(
    ("command", "option"),
    [
        (command, option)
        for command in COMMANDS
        for option, kind in list_options(command).items()
        if kind in ("number", "whole")
    ],
)
@pytest.mark.many(7)
def test_absurd_numbers_are_one_sentence(place: Path, command: str, option: str) -> None:
    words = {
        "info": ("info", "clip.bvh"), "convert": TO_BVH, "retarget": RETARGET, "forces": FORCES, "mix": MIX,
        "track": TRACK, "lift": LIFT,
        "pose": POSE, "balance": BALANCE,
        "demo": ("demo", "tiny", "-o", "new"), "bench": ("bench", "tiny"), "walk": WALK,
        "edit": EDIT, "strength": NEEDED, "puppet": PUPPET,
    }[command]  # fmt: skip
    # What is a good value for some: any finite height of ground, cutoffs without a limit.
    fine = {"--ground": {"-1"}, "--cutoff": {"inf", "1e308"}}
    fine |= {"--crouch": {"-1"}}  # up again
    fine |= {"--end": {"1e308"}, "--gain": {"-1"}, "--toe-out": {"-1"}, "--lean": {"-1"}}
    fine |= {"--seconds": {"nan", "inf", "-inf", "-1", "1e308"}, "--count": {"-1"}, "--threads": {"-1"}}  # see below
    for value in BAD:
        if value in fine.get(option, set()):
            continue
        before = look(place)
        done = run(*words, f"{option}={value}", "--quiet")
        assert (done.code, done.out) == (2, ""), f"{option}={value}: {done}"
        assert done.err.count("\n") == 1 and len(done.err) < 700, done.err
        assert look(place) == before


@pytest.mark.parametrize(
    ("command", "option"),
    [(command, option) for command in COMMANDS for option, kind in list_options(command).items() if kind == "path"],
)
def test_an_empty_path_is_none(place: Path, command: str, option: str) -> None:
    words = {
        "info": ("info", "clip.bvh"), "convert": TO_BVH, "retarget": RETARGET, "forces": FORCES, "mix": MIX,
        "track": TRACK, "lift": LIFT,
        "pose": POSE, "balance": BALANCE,
        "demo": ("demo", "tiny"), "bench": ("bench", "tiny"), "walk": ("walk", "--steps", "2", "-o", "new.npz"),
            "edit": EDIT, "strength": NEEDED, "puppet": PUPPET,
    }[command]  # fmt: skip
    if option == "--output":
        words = words[: words.index("-o")] if "-o" in words else words
    done = run(*words, f"{option}=", "--quiet")
    assert (done.code, done.out) == (2, "")
    assert "the path is empty" in done.err and done.err.count("\n") == 1


GIVING = [
    ("--push", "t=0.05 chest 0,0,60 0.1s"),
    ("--push", "t=0.05 hips 0,0,60 0.1s"),
    ("--push", "t=0.05 leftLowerLeg 0,0,60 0.1s"),
    ("--push", "t=0.05 chest 0,0,60 0.1s", "--base", "kinematic"),
    ("--push", "t=0.05 chest 0,0,60 0.1s", "--law", "paper"),
    ("--push", "t=0.05 chest 0,0,60 0.1s", "--law", "critical"),
    ("--push", "t=0.05 chest 0,0,60 0.1s", "--engine", "bullet"),
]


@pytest.mark.parametrize("mode", GIVING)
def test_give_changes_the_motion_after_a_blow_in_every_mode(place: Path, mode: tuple[str, ...]) -> None:
    written = []
    for give in ("0", "0.9"):
        assert run(*TRACK, *mode, "--give", give, "--quiet").code == 0
        written.append((place / "new.npz").read_bytes())
        (place / "new.npz").unlink()
    assert written[0] != written[1]


@pytest.mark.parametrize(
    "words",
    [("--count", "-1"), ("--seconds", "nan"), ("--seconds", "inf"), ("--threads", "-1"), ("--clip", "broken.bvh")],
)
def test_what_one_demo_cannot_do_is_known_before_any_is_run(
    place: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...]
) -> None:
    """All demos are asked for, and the first of them must not begin."""
    monkeypatch.setitem(DEMOS, "crowd", DEMOS_THERE["crowd"])
    before = look(place)
    done = run("demo", "all", "-o", "new", *words, "--quiet")
    assert (done.code, done.out) == (2, "")
    assert done.err.count("\n") == 1
    assert look(place) == before


def test_demos_use_what_they_are_given() -> None:
    """A parameter of a demo that its code never reads would be an idle option."""
    for name in DEMOS_THERE:
        function = DEMOS_THERE[name].load()
        code = inspect.getsource(function).split('"""', 2)[2]
        for parameter in inspect.signature(function).parameters:
            assert parameter in code, f"demo {name} never reads {parameter}"


def test_fill_gives_what_the_tables_name(tmp_path: Path) -> None:
    fill(tmp_path)
    assert {"clip.bvh", "other.bvh", "hero.glb", "body.json", "seed.bvh"} <= {path.name for path in tmp_path.iterdir()}
