"""Joint names taken apart into side, stem and helper mark, and fitted to what another program can hold.

mixamorig:LeftUpLeg       left   upleg
J_Bip_R_UpperArm          right  upperarm
左足首                     left   足首
upperarm_twist_01_l       left   upperarmtwist01, a helper

A fitted name is printable, not too long, not empty, none twice and none of the other program's own.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from poise.body.role_finding.aliases import ALIASES, FINGERS, HELPER_WORDS, SIDE_WORDS, fold
from poise.body.roles import FINGER_BONES

_PREFIX = re.compile(
    r"^(mixamorig\d*|bip\d+|character\d+|valvebiped|humanoid(?=[ _.\-])|armature|def|org|jnt|bone|j[ _]?bip|j[ _]?adj)"
    r"(?![a-z])[ _.\-]*|^(mixamorig\d*)",
    re.I,
)
_SEPARATORS = " _.-"
# Words of a name: CamelHumps, runs of one case, numbers, and runs of letters of other scripts.
_WORDS = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|\d+|[^\W\dA-Za-z_]+")
# A middle joint's mark (VRoid's J_Bip_C_Hips), and words that only say that a joint is one.
_MIDDLE = "c"
_FILLER = ("joint", "jnt", "bone", "bnd", "bind", "skin")
# How often a first or last word must come among the names to be no part of any.
_SHARED = 0.7
_FINGER = re.compile(r"^(?:hand|finger|f)?(.*?)(?:finger)?(\d+)$")
_BIPED_FINGER = re.compile(r"^finger([0-4])([12])?$")


@dataclass(frozen=True)
class JointName:
    """A name taken apart: `side` or None, the rest as one lower-case word, and whether it is a rig's helper."""

    side: str | None
    key: str
    is_helper: bool = False


def read_name(name: str) -> tuple[str | None, str]:
    """A joint name's side (or None) and what is left of it: `mixamorig:LeftUpLeg` to ("left", "upleg")."""
    read = parse_name(name)
    return read.side, read.key


def parse_names(names: Sequence[str]) -> list[JointName]:
    """All names of a skeleton taken apart, without what most of them begin or end with (`Robot_`, `_jnt`)."""
    bare = [_strip_prefix(name) for name in names]
    for pattern in (r"^[^ _.\-]+[ _.\-]+(?=.)", r"(?<=.)[ _.\-]+[^ _.\-\d]+$"):
        found = [m.group().strip(_SEPARATORS).lower() if (m := re.search(pattern, name)) else "" for name in bare]
        word, count = Counter(found).most_common(1)[0]
        if word and word not in SIDE_WORDS and len(bare) > 4 and count >= _SHARED * len(bare):
            bare = [re.sub(pattern, "", name) if part == word else name for name, part in zip(bare, found, strict=True)]
    return [_parse(name) for name in bare]


def parse_name(name: str) -> JointName:
    """One name taken apart."""
    return _parse(_strip_prefix(name))


def _strip_prefix(name: str) -> str:
    bare = re.split(r"[:|/]", name)[-1] or name
    while (shorter := _PREFIX.sub("", bare)) and shorter != bare:
        bare = shorter
    return bare


def _parse(bare: str) -> JointName:
    plain = "".join(c if c.isascii() else fold(c) for c in bare)
    words = [fold(word) for word in _WORDS.findall(plain)]
    is_helper = any(word in HELPER_WORDS or "twist" in word or "捩" in word for word in words)
    at = next((i for i, word in enumerate(words) if word in SIDE_WORDS), None)
    if at is not None:
        side, key = SIDE_WORDS[words[at]], "".join(words[:at] + words[at + 1 :])
        return JointName(side, key, is_helper or _is_helper_key(key))
    side_found, key = _split_side("".join(words))
    return JointName(side_found, key, is_helper or _is_helper_key(key))


def _is_helper_key(key: str) -> bool:
    """MikuMikuDance's IK bones (足ik) and doubles (足d): Latin letters right after the Japanese."""
    return bool(re.search(r"[^\W\dA-Za-z_](ik|d|ex|s)\w*$", key))


def _split_side(key: str) -> tuple[str | None, str]:
    """The side of a name all in one case (leftupleg, armright, 左足, lfemur) and its rest."""
    for word, side in SIDE_WORDS.items():
        if len(word) > 3 or not word.isascii():
            for rest, matches in ((key.removeprefix(word), key.startswith(word)), (key.removesuffix(word), True)):
                if matches and rest != key:
                    return side, rest
    for letter, side in (("l", "left"), ("r", "right")):
        for rest in (key[1:] if key.startswith(letter) else "", key[:-1] if key.endswith(letter) else ""):
            if key not in ALIASES and _strip_digits(rest) in ALIASES:
                return side, rest
    return None, key


def _strip_digits(key: str) -> str:
    return key.strip("0123456789")


def find_stems(key: str) -> tuple[tuple[str, ...], float]:
    """The stems that a name's rest may stand for, and how plainly it says so: 1, or less with fillers (`hipjoint`)."""
    for candidate, plainness in ((key, 1.0), (_strip_digits(key), 1.0), (_strip_filler(_strip_digits(key)), 0.8)):
        if candidate in ALIASES:
            return ALIASES[candidate], plainness
    return (), 0.0


def _strip_filler(key: str) -> str:
    """Without the words that only say that it is a joint, and without the mark of the middle (`chips`: C, Hips)."""
    for word in _FILLER:
        if len(key) > len(word) + 1:
            key = key.removesuffix(word)
    key = _strip_digits(key)
    return key[1:] if key.startswith(_MIDDLE) and key[1:] in ALIASES else key


def find_finger(read: JointName) -> tuple[str, str, int] | None:
    """Side, finger and number of a finger's joint, or None: `LeftHandIndex2`, `thumb_01_l`, `Bip01 L Finger12`.

    Numbers count from 1 at the palm, in MikuMikuDance's thumbs from 0.
    """
    if read.side is None or read.is_helper:
        return None
    for finger, bones in FINGER_BONES.items():
        for number, bone in enumerate(bones, 1):
            if read.key == (finger + bone).lower():
                return read.side, finger, number
    if biped := _BIPED_FINGER.match(read.key):
        return read.side, list(FINGER_BONES)[int(biped[1])], int(biped[2] or 0) + 1
    match = _FINGER.match(read.key)
    known = FINGERS.get(match[1]) if match else None
    return (read.side, known, int(match[2])) if match and known else None


_LONGEST = 200


def fit_name(name: str, taken: set[str], otherwise: str = "joint") -> str:
    """The name itself where it can be held and is free, else the nearest that is; it is taken then.

    taken      names that are in use, or that mean something else in the other program
    otherwise  for a name without a letter
    """
    shown = name[:_LONGEST]
    if not shown.isprintable():
        shown = "".join(mark if mark.isprintable() else "_" for mark in shown)
    shown = shown or otherwise
    fitted, k = shown, 2
    while fitted in taken:
        fitted, k = f"{shown}~{k}", k + 1
    taken.add(fitted)
    return fitted
