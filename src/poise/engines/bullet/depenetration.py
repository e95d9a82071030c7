"""A limit on Bullet's depenetration velocity.

Of how deep a contact is Bullet takes back a share in every step, however short that is, so that what is d deep leaves
at share d / h. That is nothing for what has landed. A limb that a motion had by the `paper` coupling has no shapes
there, though, and may be let go 0.3 m under the ground: in a step of 1 ms it was pushed out at 15 m/s, and in parts of
it at 230, with 8 MN, and took its body along. So nothing is pushed out faster than MOST:

    share = min(share, MOST h / d)          d: m, the deepest of all contacts as the last step found them   [out, eq 1]

What is soft has a spring k and a damper c in its place, and is asked for d / (h + c / k):

    c = max(c, k d / MOST)                  d: m, the deepest of the segment's contacts                     [out, eq 2]

Whatever is less deep than that is stepped as before, with the same bits.
"""

from __future__ import annotations

from typing import Any

# m/s. Who lands is far below it: 6 mm deep, in parts of a step of 1 ms, he comes out at 0.3.
MAX_DEPTH_SPEED = 1.0
# Of its depth a step: how fast what is in something is pushed out, as Bullet has it, and where a body falls. With 0.08
# a body that lands 25 mm deep is given 3 % of its height.
USUAL, FALLING = 0.08, 0.05
CLOSE = 0.001  # m, between two that touch, at most: of a contact that bears somebody it is next to nothing
_DISTANCE = 8  # which number of a contact says how far apart its two are; less than nothing: how deep


class DepenetrationLimit:
    """Limit of the velocity at which contacts push things out of each other. falls: whether a body falls.

    soft      N/m and N s/m of what is soft, by (id, link)
    touching  (id, link) of all that touched something in the last step
    """

    def __init__(self, bullet: Any, client: int, falls: bool):
        self._bullet, self._options = bullet, {"physicsClientId": client}
        self._share, self._now = FALLING if falls else USUAL, USUAL
        self.soft: dict[tuple[int, int], tuple[float, float]] = {}
        self.touching: set[tuple[int, int]] = set()
        self._eased: set[tuple[int, int]] = set()  # soft ones that have another damper than their own
        self._depths: dict[tuple[int, int], float] = {}  # m, by (id, link)

    def look(self) -> None:
        """See what is how deep in a world that has just been built or restored."""
        self.note(self._bullet.getContactPoints(**self._options) or ())

    def note(self, contacts: Any) -> None:
        """Take Bullet's contacts, as it lists them, for those of the next step."""
        self._depths = {}
        self.touching = set()
        for point in contacts:
            for link in ((point[1], point[3]), (point[2], point[4])):
                if point[_DISTANCE] < CLOSE:
                    self.touching.add(link)
                if point[_DISTANCE] < 0.0:
                    self._depths[link] = max(self._depths.get(link, 0.0), -point[_DISTANCE])

    def ease(self, h: float) -> bool:
        """Before a step of h seconds; whether a soft one has another damper now."""
        deepest = max(self._depths.values(), default=0.0)
        share = min(self._share, MAX_DEPTH_SPEED * h / max(deepest, 1e-9))  # [out, eq 1]
        if share != self._now:
            self._now = share
            self._bullet.setPhysicsEngineParameter(contactERP=share, **self._options)
        is_other = False
        for link in self.soft.keys() & (self._depths.keys() | self._eased):
            k, c = self.soft[link]
            damping = max(c, k * self._depths.get(link, 0.0) / MAX_DEPTH_SPEED)  # [out, eq 2]
            if damping > c or link in self._eased:
                self._bullet.changeDynamics(*link, contactStiffness=k, contactDamping=damping, **self._options)
                (self._eased.add if damping > c else self._eased.discard)(link)
                is_other = True
        return is_other
