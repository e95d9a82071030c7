"""The middle of a body whose limbs are known: hips, trunk, neck and head; and the one arm of who lost the other."""

from __future__ import annotations

from poise.body.limb_pairs import ARM, LEG_TO_ARM, LEG_TO_ARM_WIDTH, Limb, Pair, bell, best_triple, rank_bones
from poise.body.named_roles import common_ancestor
from poise.body.shape_tree import Shape
from poise.body.shape_view import View, are_twins, compute_height

_TOP_OF_HEAD = 1.2
_RISES = 0.1  # how far a head is above the chest, as a share of its chain's length (hair hangs on it)
# Arms are this share of their length from the middle, at least: a cape's folds and hair are less.
SHOULDERS = 0.14


def find_head_chain(shape: Shape, hub: int, other: int, limbs: set[int], view: View) -> list[int]:
    """The chain on a hub that goes up in the middle and is no limb and no way to the other hub; empty if there is none.

    Capes hang, wings and second arms come in pairs: of what is left, the head is on top.
    """
    leading = set(shape.skeleton.chain(other))
    free = [c for c in shape.children[hub] if c not in limbs and c not in leading]
    free = [c for c in free if shape.reach[c] + shape.bones[c] > 0.02 * shape.span]
    single = [c for c in free if not any(are_twins(shape, c, d, hub, view) for d in free if d != c)]
    # Backpacks and tails stick out behind.
    reach = {c: float(shape.reach[c] + shape.bones[c]) for c in single}
    single = [c for c in single if compute_height(shape, c, hub, view) > _RISES * reach[c]]
    if not single:
        return []
    return _neck_to_head(shape, max(single, key=lambda c: compute_height(shape, c, hub, view)))


def _neck_to_head(shape: Shape, joint: int) -> list[int]:
    """From the neck's joint up to the head's: the first with an end site or a branch (eyes, hair), or the last."""
    chain = [joint]
    while shape.tips[chain[-1]] == 0.0 and len(shape.children[chain[-1]]) == 1:
        chain.append(shape.children[chain[-1]][0])
    is_bare = not shape.children[chain[-1]] and shape.tips[chain[-1]] == 0.0
    # The top of a head is farther from its joint than that is from the joint before; a head is not.
    is_end = is_bare and len(chain) > 2 and shape.bones[chain[-1]] > _TOP_OF_HEAD * shape.bones[chain[-2]]
    return chain[:-1] if is_end else chain


def find_middle(shape: Shape, legs: Pair, arms: Pair | None, view: View) -> tuple[int, list[int], dict[str, int]]:
    """The hips, the trunk's joints above them, and head and neck by role."""
    skeleton = shape.skeleton
    if arms is None:
        chain = find_way_up(shape, legs, view)
        if len(chain) < 2:
            return legs.hub, chain, {}
        top = {"head": chain[-1]} | ({"neck": chain[-2]} if len(chain) > 2 else {})
        return legs.hub, chain[: -len(top)], top
    hips = common_ancestor(skeleton, [legs.hub, arms.hub])
    hips = legs.hub if hips == arms.hub else hips
    path = skeleton.chain(arms.hub)
    trunk = path[path.index(hips) + 1 :] if hips in path else []
    neck = find_head_chain(shape, arms.hub, legs.hub, arms.joints, view)
    head = {"head": neck[-1]} if neck else {}
    return hips, trunk, head | ({"neck": neck[0]} if len(neck) > 1 else {})


def find_way_up(shape: Shape, legs: Pair, view: View) -> list[int]:
    """The joints from the pelvis up the middle to the head of a body without a pair of arms."""
    chain: list[int] = []
    joint = legs.hub
    while free := [c for c in shape.children[joint] if c not in legs.joints]:
        single = [c for c in free if not any(are_twins(shape, c, d, joint, view) for d in free if d != c)]
        long = [c for c in single if chain == [] or shape.reach[c] + shape.bones[c] > 0.02 * shape.span]
        if not long or (chain and len(free) > 1 and max(compute_height(shape, c, joint, view) for c in long) <= 0.0):
            break
        joint = max(long, key=lambda c: compute_height(shape, c, joint, view))
        chain.append(joint)
        if shape.tips[joint] > 0.0:
            break
    return chain


def find_lone_arm(shape: Shape, legs: Pair, way: list[int], view: View) -> tuple[Limb, bool] | None:
    """The one arm of a body that lost the other, and whether it is on the first leg's side; None where it has none.

    way  the joints from the pelvis to the head
    """
    best: tuple[float, Limb, bool] | None = None
    for hub in way[:-1]:
        for c in shape.children[hub]:
            ranks = rank_bones(shape, shape.main_chain(c), ARM) if c not in way and view.up is not None else {}
            if not ranks:
                continue
            chain = shape.main_chain(c)
            i, j, k = best_triple(ranks)
            profile = shape.profile(chain)
            limb = Limb(chain, chain[i], chain[j], chain[k], float(profile[k] - profile[i]), ranks[i, j, k][1])
            side = float((view.places[0, limb.upper] - view.places[0, hub]) @ view.across[0])
            worth = limb.score * bell(legs.length / limb.length / LEG_TO_ARM, LEG_TO_ARM_WIDTH)
            if abs(side) > SHOULDERS * limb.length and worth > 0.3 and (best is None or worth > best[0]):
                best = (worth, limb, side > 0.0)
    return None if best is None else best[1:]
