"""Marker sets as laboratories and makers publish them, and their markers on a body whose joints are known.

A set is labels and the place on the body that each means: one word a marker, `label=place`; `*` is the side's letter in
both. The body is Poise's own, walking, with skin and bone of usual size. Places are anatomical and not those that the
fit inverts: hip joints by Bell, Pedersen, Brand (1990), J. Biomechanics 23(6), 617-621 (the fit has Harrington's
regression), breadths of ANSUR II's mean man, clusters anywhere on the segment.
"""

from __future__ import annotations

import numpy as np

from poise import Character, Clip, rotation
from poise.motion.samples import walk


def expand(words: str) -> dict[str, str]:
    """Label -> place, both sides."""
    out: dict[str, str] = {}
    for word in words.split():
        label, _, place = word.partition("=")
        place = place or label
        for side, small in (("L", "l"), ("R", "r")) if "*" in place else (("", ""),):
            spelled = label.replace("*", side).replace("+", small)
            spelled = spelled.replace("%", {"L": "Left", "R": "Right", "": ""}[side])
            out[spelled] = place.replace("*", side)
    return out


_PIG_LEGS = "*ASI *PSI *THI *KNE *TIB *ANK *HEE *TOE"
_PIG_TOP = "C7 T10 CLAV STRN *SHO *UPA *ELB *FRM *WRA *WRB *FIN *FHD *BHD RBAK"
SETS: dict[str, dict[str, str]] = {
    "Plug-in Gait": expand(f"{_PIG_LEGS} {_PIG_TOP}"),
    "Plug-in Gait, lower body": expand(_PIG_LEGS),
    "CGM2.3": expand(f"{_PIG_LEGS} *KNM *MED=*ANM *THAP=*THA *THAD=*THB *TIAP=*SHA *TIAD=*SHB"),
    "CGM2.5": expand(
        "*ASI *PSI *THI *KNE *KNM *THAP=*THA *THAD=*THB *TIB *ANK *MED=*ANM *TIAP=*SHA *TIAD=*SHB *HEE *SMH=*TOE "
        f"*FMH=*MT1 *VMH=*MT5 {_PIG_TOP}"
    ),
    "Helen Hayes": expand(
        "*.ASIS=*ASI V.Sacral=SACR *.Thigh=*THI *.Knee=*KNE *.Shank=*TIB *.Ankle=*ANK *.Heel=*HEE *.Toe=*TOE "
        "*.Shoulder=*SHO *.Elbow=*ELB *.Wrist=*WJC"
    ),
    "Cleveland Clinic": expand(
        "*.ASIS=*ASI V.Sacral=SACR *.Thigh.Upper=*THA *.Thigh.Front=*THB *.Thigh.Rear=*THC *.Shank.Upper=*SHA "
        "*.Shank.Front=*SHB *.Shank.Rear=*SHC *.Heel=*HEE *.Midfoot.Sup=*MID *.Midfoot.Lat=*MIL *.Toe.Tip=*HLX "
        "*.Toe.Lat=*MT5 *.Toe.Med=*MT1 Sternum=STRN *.Acromium=*SHO *.Bicep=*UPA *.Elbow=*ELB *.Wrist.Med=*USP "
        "*.Wrist.Lat=*RSP *.Temple=*HDS Top.Head=HTOP *.Knee.Lat=*KNE *.Knee.Med=*KNM *.Ankle.Lat=*ANK *.Ankle.Med=*ANM"
    ),
    "Rajagopal": expand(
        "*ASI *PSI *HJC *TH1=*THA *TH2=*THB *TH3=*THC *LFC=*KNE *MFC=*KNM *TB1=*SHA *TB2=*SHB *TB3=*SHC *LMAL=*ANK "
        "*MMAL=*ANM *CAL=*HEE *TOE *MT5 *ACR=*SHO C7 CLAV *LEL=*ELB *MEL=*ELM *FAradius=*RSP *FAulna=*USP"
    ),
    "OpenCap": expand(
        "+.ASIS_study=*ASI +.PSIS_study=*PSI +_knee_study=*KNE +_mknee_study=*KNM +_ankle_study=*ANK "
        "+_mankle_study=*ANM +_toe_study=*MT1 +_5meta_study=*MT5 +_calc_study=*HEE C7_study=C7 +_shoulder_study=*SHO "
        "+_lelbow_study=*ELB +_melbow_study=*ELM +_lwrist_study=*RSP +_mwrist_study=*USP *HJC_study=*HJC "
        "+_thigh1_study=*THA +_thigh2_study=*THB +_thigh3_study=*THC +_sh1_study=*SHA +_sh2_study=*SHB +_sh3_study=*SHC"
    ),
    "CMU": expand(
        "*FWT=*ASI *BWT=*PSI *THI *KNE *SHN=*TIB *ANK *HEE *TOE *MT5 C7 T10 CLAV STRN RBAC=RBAK *SHO *UPA *ELB *FRM "
        "*WRA *WRB *FIN *FHD *BHD"
    ),
    "IOR": expand(
        "*_IAS=*ASI *_IPS=*PSI *_FTC=*GTR *_FLE=*KNE *_FME=*KNM *_FAX=*FIB *_TTC=*TUB *_FAL=*ANK *_TAM=*ANM *_FCC=*HEE "
        "*_FM1=*MT1 *_FM2=*TOE *_FM5=*MT5 *_SAE=*SHO CV7=C7 SJN=CLAV SXS=STRN TV10=T10 *_HLE=*ELB *_HME=*ELM "
        "*_USP=*USP *_RSP=*RSP *_HM2=*FIN"
    ),
    "Qualisys sports": expand(
        "*_HEAD=*HDS SGL=HFRO SME=CLAV CV7=C7 *_SAE=*SHO *_HLE=*ELB *_HME=*ELM *_USP=*USP *_RSP=*RSP *_HM2=*FIN "
        "*_IAS=*ASI *_IPS=*PSI *_FLE=*KNE *_TTC=*TUB *_FAL=*ANK *_FCC=*HEE *_FM1=*MT1 *_FM2=*TOE *_FM5=*MT5"
    ),
    "OptiTrack 37": expand(
        "WaistLFront=LASI WaistRFront=RASI WaistLBack=LPSI WaistRBack=RPSI BackTop=C7 Chest=CLAV BackLeft=LBAK "
        "BackRight=RBAK HeadTop=HTOP HeadFront=HFRO HeadSide=HANY *ShoulderTop=*SHO *ElbowOut=*ELB *UArmHigh=*UPA "
        "*HandOut=*HM5 *WristOut=*RSP *WristIn=*USP *KneeOut=*KNE *Thigh=*THI *AnkleOut=*ANK *Shin=*TIB *ToeOut=*MT5 "
        "*ToeIn=*MT1"
    ),
    "OptiTrack 41": expand(
        "WaistLFront=LASI WaistRFront=RASI WaistLBack=LPSI WaistRBack=RPSI BackTop=C7 Chest=CLAV HeadTop=HTOP "
        "HeadFront=HFRO HeadSide=HANY *ShoulderTop=*SHO *ElbowOut=*ELB *UArmHigh=*UPA *HandOut=*HM5 *HandIn=*HM2 "
        "*WristOut=*RSP *WristIn=*USP *KneeOut=*KNE *Thigh=*THI *AnkleOut=*ANK *Shin=*TIB *ToeOut=*MT5 *ToeIn=*MT1 "
        "*ToeTip=*HLX *Heel=*HEE"
    ),
    "Qualisys animation": expand(
        "HeadL=LHDS HeadR=RHDS HeadTop=HTOP HeadFront=HFRO *ShoulderTop=*SHO *Arm=*UPA *ElbowOut=*ELB *WristOut=*USP "
        "*WristIn=*RSP *HandOut=*HM5 *HandIn=*HM2 Chest=CLAV SpineTop=C7 WaistLFront=LASI WaistLBack=LPSI "
        "WaistRBack=RPSI WaistRFront=RASI *Thigh=*THI *KneeOut=*KNE *Shin=*TIB *AnkleOut=*ANK *HeelBack=*HEE "
        "*ForefootOut=*MT5 *ToeTip=*HLX *ForefootIn=*MT1"
    ),
    "Xsens": expand(
        "jL5S1=LUMB jT1C7=NJC jC1Head=HJP j%Hip=*HJC j%Knee=*KJC j%Ankle=*AJC j%BallFoot=*TOE j%Shoulder=*SJC "
        "j%Elbow=*EJC j%Wrist=*WJC"
    ),
    "keypoints": expand(
        "Neck=NJC *Hip=*HJC *Knee=*KJC *Ankle=*AJC *Heel=*HEE *BigToe=*HLX *SmallToe=*MT5 *Shoulder=*SJC *Elbow=*EJC "
        "*Wrist=*WJC Nose=HFRO Head=HJP"
    ),
}

HEIGHT = 1.75
RATE = 100.0
_PELVIS_TILT = np.radians(11.3)
_BALL = 0.007  # m, radius of a marker
_WIDTH = 0.137 * HEIGHT  # between the front spines
_DEPTH = 0.16


def walking_body(duration: float = 4.0, rate: float = RATE) -> Clip:
    """A walk of Poise's own body: joints with canonical names."""
    return walk(Character.human(height=HEIGHT, mass=72.0).skeleton, duration, rate)


def _spine_plane(x: float, up: float, ahead: float) -> np.ndarray:
    """A place in the axes of the four spines, whose plane sinks to the front, told in the pelvis's."""
    c, s = np.cos(_PELVIS_TILT), np.sin(_PELVIS_TILT)
    return np.array([x, c * up - s * ahead, s * up + c * ahead])


def _places(clip: Clip) -> dict[str, tuple[str, np.ndarray]]:
    """Standard name -> the joint that carries it, and its place (3,) m in that joint's axes."""
    skeleton = clip.skeleton
    rest = dict(zip(skeleton.names, skeleton.rest_positions(), strict=True))
    thigh = float(np.linalg.norm(rest["leftLowerLeg"] - rest["leftUpperLeg"]))
    shank = float(np.linalg.norm(rest["leftFoot"] - rest["leftLowerLeg"]))
    arm = float(np.linalg.norm(rest["leftLowerArm"] - rest["leftUpperArm"]))
    forearm = float(np.linalg.norm(rest["leftHand"] - rest["leftLowerArm"]))
    sole = -rest["leftFoot"][1]
    toes = rest["leftToes"][2] - rest["leftFoot"][2]
    mid_hip = 0.5 * (rest["leftUpperLeg"] + rest["rightUpperLeg"]) - rest["hips"]
    high = next(role for role in ("upperChest", "chest") if role in rest)
    neck = rest["neck"] - rest[high]
    low = np.array([0.0, 0.0, 0.0]) if high == "chest" else rest["chest"] - rest[high]
    out: dict[str, tuple[str, np.ndarray]] = {
        "SACR": ("hips", mid_hip + _spine_plane(0.0, 0.30 * _WIDTH, 0.19 * _WIDTH - _DEPTH)),
        "C7": (high, neck + [0.0, 0.0, -0.065]),
        "CLAV": (high, neck + [0.0, -0.03, 0.06]),
        "T10": (high, low + [0.0, 0.0, -0.10]),
        "STRN": (high, low + [0.0, 0.0, 0.11]),
        "HTOP": ("head", np.array([0.0, 0.074 * HEIGHT + _BALL, 0.0])),
        "HFRO": ("head", np.array([0.0, 0.06, 0.10])),
        "HANY": ("head", np.array([-0.08, 0.05, 0.0])),
        "NJC": ("neck", np.zeros(3)),
        "HJP": ("head", np.zeros(3)),
        "LUMB": ("hips", mid_hip + [0.0, 0.10, -0.03]),
    }
    for letter, side, s in (("L", "left", 1.0), ("R", "right", -1.0)):
        thigh_joint, knee, foot = side + "UpperLeg", side + "LowerLeg", side + "Foot"
        upper, fore, hand = side + "UpperArm", side + "LowerArm", side + "Hand"
        at = {
            "ASI": ("hips", mid_hip + _spine_plane(s * 0.5 * _WIDTH, 0.30 * _WIDTH, 0.19 * _WIDTH)),
            "PSI": ("hips", mid_hip + _spine_plane(s * 0.045, 0.30 * _WIDTH, 0.19 * _WIDTH - _DEPTH)),
            "GTR": (thigh_joint, [s * 0.085, -0.01, 0.0]),
            "HJC": (thigh_joint, [0.0, 0.0, 0.0]),
            "THI": (thigh_joint, [s * 0.075, -0.6 * thigh, 0.03]),
            "THA": (thigh_joint, [s * 0.03, -0.3 * thigh, 0.09]),
            "THB": (thigh_joint, [s * 0.02, -0.7 * thigh, 0.075]),
            "THC": (thigh_joint, [s * 0.07, -0.5 * thigh, -0.02]),
            "KNE": (thigh_joint, [s * (0.052 + _BALL), -thigh, 0.0]),
            "KNM": (thigh_joint, [-s * (0.052 + _BALL), -thigh, 0.0]),
            "KJC": (thigh_joint, [0.0, -thigh, 0.0]),
            "TIB": (knee, [s * 0.055, -0.5 * shank, 0.02]),
            "SHA": (knee, [s * 0.01, -0.3 * shank, 0.06]),
            "SHB": (knee, [s * 0.01, -0.7 * shank, 0.045]),
            "SHC": (knee, [s * 0.055, -0.5 * shank, -0.01]),
            "FIB": (knee, [s * 0.055, -0.05, -0.02]),
            "TUB": (knee, [0.0, -0.06, 0.06]),
            "ANK": (knee, [s * (0.037 + _BALL), -shank, 0.0]),
            "ANM": (knee, [-s * (0.034 + _BALL), -shank + 0.008, 0.008]),
            "AJC": (knee, [0.0, -shank, 0.0]),
            "HEE": (foot, [0.0, sole + 0.04, -0.06]),
            "TOE": (foot, [0.0, sole + 0.04, toes]),
            "MT1": (foot, [-s * 0.045, sole + 0.035, toes + 0.005]),
            "MT5": (foot, [s * 0.045, sole + 0.03, toes - 0.02]),
            "MID": (foot, [0.0, sole + 0.075, 0.6 * toes]),
            "MIL": (foot, [s * 0.035, sole + 0.03, 0.4 * toes]),
            "HLX": (side + "Toes", [0.0, 0.01, 0.055]),
            "SHO": (high, rest[upper] - rest[high] + [0.0, 0.05, -0.02]),
            "BAK": (high, rest[upper] - rest[high] + [-s * 0.08, -0.03, -0.09]),
            "CLA": (high, neck + [s * 0.025, -0.03, 0.06]),
            "SJC": (upper, [0.0, 0.0, 0.0]),
            "UPA": (upper, [s * 0.4 * arm, 0.035, 0.035]),
            "ELB": (upper, [s * arm, 0.035 + _BALL, 0.0]),
            "ELM": (upper, [s * arm, -0.035 - _BALL, 0.0]),
            "EJC": (upper, [s * arm, 0.0, 0.0]),
            "FRM": (fore, [s * 0.5 * forearm, 0.03, 0.0]),
            "WRA": (fore, [s * forearm, 0.02 + _BALL, 0.035]),
            "WRB": (fore, [s * forearm, 0.02 + _BALL, -0.035]),
            "RSP": (fore, [s * forearm, 0.0, 0.03 + _BALL]),
            "USP": (fore, [s * forearm, 0.0, -0.03 - _BALL]),
            "WJC": (fore, [s * forearm, 0.0, 0.0]),
            "FIN": (hand, [s * 0.09, 0.01, 0.0]),
            "HM2": (hand, [s * 0.088, 0.01, 0.03]),
            "HM5": (hand, [s * 0.08, 0.01, -0.035]),
            "FHD": ("head", [s * 0.07, 0.03 * HEIGHT, 0.09]),
            "BHD": ("head", [s * 0.07, 0.03 * HEIGHT, -0.09]),
            "HDS": ("head", [s * 0.08, 0.03, 0.0]),
        }
        out |= {letter + stem: (joint, np.asarray(place, float)) for stem, (joint, place) in at.items()}
    out["FJC"] = out["LTOE"]
    return out


def put_markers(clip: Clip, names: list[str]) -> np.ndarray:
    """(F, M, 3) m, Y up: the markers of these standard names on the body."""
    places = _places(clip)
    positions, turns = clip.positions, clip.world[1]
    columns = []
    for name in names:
        joint, place = places[name]
        k = clip.skeleton.index(joint)
        columns.append(positions[:, k] + rotation.rotate(turns[:, k], place))
    return np.stack(columns, axis=1)


def spoil(points: np.ndarray, seed: int, noise: float = 0.001, hidden: float = 0.05) -> np.ndarray:
    """The points with noise (m, standard deviation) and that share of the frames hidden, in runs of 5 to 15."""
    rng = np.random.default_rng(seed)
    out = points + rng.normal(0.0, noise, points.shape)
    frames = len(points)
    for k in range(points.shape[1]):
        while np.isnan(out[:, k, 0]).mean() < hidden:
            start = int(rng.integers(0, frames))
            out[start : start + int(rng.integers(5, 16)), k] = np.nan
    return out
