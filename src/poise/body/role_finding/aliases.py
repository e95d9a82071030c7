"""Names of joints in programs and recordings: tables for `names.py` and `from_names.py`.

Keys are what is left of a name without side, prefix, separators and closing digits, in lower case and without accents.
Values are role stems (`UpperLeg`) or roles of the middle (`hips`), the likeliest first; the tree decides between them.

Conventions read for this table: VRM 1.0 and Unity's HumanBodyBones; Autodesk HumanIK and Mixamo; Unreal's mannequin;
3ds Max Biped and ValveBiped; H-Anim 2.0 (ISO/IEC 19774-1, joints by anatomy); the CMU database's ASF files; Daz Genesis
1 to 9; Rigify; VRoid; SMPL; Bandai-Namco; OptiTrack, Rokoko and Xsens exports; Roblox R15; MikuMikuDance; the body's
words in other languages.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from types import MappingProxyType


def fold(text: str) -> str:
    """Lower case, full-width letters made plain, accents off: `Hüfte` to `hufte`. Kana keep their voicing marks."""
    decomposed = unicodedata.normalize("NFKD", text).casefold()
    bare = "".join(c for c in decomposed if not "\u0300" <= c <= "\u036f")
    return unicodedata.normalize("NFC", bare.replace("ø", "o").replace("ł", "l"))


_NAMES: dict[tuple[str, ...], str] = {
    # `shoulder` is the clavicle where an upper arm follows, the upper arm where the elbow does.
    ("Shoulder", "UpperArm"): "shoulder shldr schulter epaule hombro spalla ombro 肩 어깨",
    ("Shoulder",): "collar collarbone clavicle clavicula clavicule clavicola schlusselbein sternoclavicular scapula "
    "shoulderblade ключица 锁骨 鎖骨",
    ("UpperArm",): "arm upperarm uparm uarm armupper humerus bicep biceps shldrbend upperarmbend oberarm bras brazo "
    "braccio braco плечо 腕 上腕 上臂 大臂 위팔",
    ("LowerArm",): "forearm lowerarm lowarm armlower elbow radius farm forearmbend lowerarmbend unterarm ellbogen "
    "avantbras coude antebrazo codo avambraccio gomito antebraco cotovelo предплечье локоть "
    "ひじ 肘 前腕 前臂 小臂 팔꿈치",
    ("Hand",): "hand wrist palm radiocarpal carpal handgelenk main poignet mano muneca polso mao pulso кисть "
    "手首 手 手腕 손 손목",
    ("UpperLeg", "hips"): "hip hufte hanche cadera anca quadril",
    ("UpperLeg",): "upleg upperleg uleg legupper thigh femur thighbend oberschenkel cuisse muslo coscia coxa бедро "
    "足 太もも 大腿 허벅지",
    ("LowerLeg", "UpperLeg"): "leg bein jambe pierna gamba perna",
    ("LowerLeg",): "lowerleg lowleg leglower knee shin calf tibia shank shinbend unterschenkel knie genou rodilla "
    "ginocchio joelho голень колено ひざ 膝 小腿 종아리 무릎",
    # SMPL has ankle and foot: there the foot is the ball.
    ("Foot", "Toes"): "foot fuss pied pie piede pe стопа 脚 발",
    ("Foot",): "ankle talocrural knochel cheville tobillo caviglia tornozelo 足首 脚踝 脚腕 발목",
    ("Toes",): "toe toes toebase ball metatarsophalangeal zehe zehen orteil orteils "
    "dedos punta つま先 足先 脚趾 脚尖 발가락",
    # Bones of the instep, where there is no ball.
    ("Instep", "Toes"): "metatarsal metatarsals midtarsal",
    (
        "hips",
    ): "hips pelvis humanoidroot sacroiliac lowertorso becken bassin hanches caderas bacino таз 腰 骨盆 盆骨 골반",
    ("neck",): "neck vc necklower neckbase lowerneck hals cou cuello collo pescoco шея 首 颈 脖子 목",
    ("head",): "head skullbase skull kopf tete cabeza testa cabeca голова 頭 头 머리",
    ("jaw",): "jaw temporomandibular kiefer machoire mandibula あご",
    ("Eye",): "eye eyeball auge oeil ojo occhio olho 目",
}
ALIASES: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {fold(word): stems for stems, words in _NAMES.items() for word in words.split()}
)
# Whole words that say a side.
SIDE_WORDS: Mapping[str, str] = MappingProxyType(
    {
        fold(word): side
        for side, words in {
            "left": "left l lft links linke linker linkes gauche izquierda izquierdo izq sinistra sinistro sx esquerda "
            "esquerdo esq vänster venstre lewa lewy lewe левый левая левое лев sol 左 왼쪽 왼",
            "right": "right r rgt rechts rechte rechter rechtes droite droit derecha derecho der destra destro dx "
            "direita direito höger højre høyre prawa prawy prawe правый правая правое прав sağ 右 오른쪽 오른",
        }.items()
        for word in words.split()
    }
)
# Joints that help a rig and are no body's: their names mention a limb's bone without being it.
_HELPERS = (
    "twist roll ik pole target tgt ctrl control controller helper hlp nub end tip site eff effector slot prop weapon "
    "socket attach attachment aux dummy null mch corrective muscle jiggle breast hair skirt cloth sec goal hint volume "
    "tweak vis parent handle marker locator 捩"
)
HELPER_WORDS = frozenset(_HELPERS.split())
FINGERS: Mapping[str, str] = MappingProxyType(
    {
        fold(word): finger
        for finger, words in {
            "Thumb": "thumb daumen pouce pulgar pollice 親指 拇指",
            "Index": "index indexfinger point zeigefinger indice 人指 人差指 食指",
            "Middle": "middle mid mittelfinger majeur medio 中指",
            "Ring": "ring ringfinger annulaire anular 薬指 无名指",
            "Little": "little pinky pinkie kleinerfinger auriculaire menique 小指",
        }.items()
        for word in words.split()
    }
)
