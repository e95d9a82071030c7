"""The marker sets that are known, in the order in which ties between them are broken.

A set is a table: standard name -> the labels that mean it there. Standard names are Plug-in Gait's where it has one:

    pelvis  *ASI *PSI SACR, *ICR (iliac crest), *GTR (greater trochanter), *HJC (hip joint centre)
    thigh   *THI, *THA-*THD (a cluster), *KNE *KNM (outer, inner side of the knee), *KJC
    shank   *TIB, *SHA-*SHD, *FIB (head of the fibula), *TUB (tibial tuberosity), *ANK *ANM, *AJC
    foot    *HEE, *TOE (second metatarsal), *MT1 *MT5, *MID *MIL (instep, its outer side), *HLX (toe tip), *FJC (ball)
    trunk   C7 T10 CLAV STRN, *CLA (collar bone), *BAK (shoulder blade), LUMB (joint L5/S1), NJC (joint C7/T1)
    arm     *SHO *SJC, *UPA, *ELB *ELM *EJC, *FRM, *WRA *WRB (a bar's ends, the thumb's first), *RSP *USP (styloids),
            *WIN *WOU (inner, outer, as animators say), *WRI, *WJC, *FIN (knuckle 2 or 3), *HM2 *HM5
    head    *FHD *BHD, *HDS (side), HTOP HFRO HBAK HANY (either side), HJP (joint of the skull)
"""

from __future__ import annotations

from poise.motion.markers.sets import animation, clinical, isb, joints, opensim, words
from poise.motion.markers.sets.table import MarkerSet

SETS: tuple[MarkerSet, ...] = (*clinical.SETS, *isb.SETS, *opensim.SETS, *animation.SETS, *words.SETS)
JOINT_SETS: tuple[MarkerSet, ...] = joints.SETS

__all__ = ["JOINT_SETS", "SETS", "MarkerSet"]
