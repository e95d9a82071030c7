"""Labels of marker sets as laboratories and makers publish them, and the place on the body that each means.

One word a marker, `label=place`; `*` is the side's letter in both. The places are those of `marker_figure`.
"""

from __future__ import annotations


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
