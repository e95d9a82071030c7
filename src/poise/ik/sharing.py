"""Work that is many pieces, on the cores: kernels let go of Python while they run."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

_LEAST = 8  # pieces that are worth a thread


def share_work(work: Callable[[int, int], None], size: int, threads: int | None) -> None:
    """Call work(begin, end) on parts of `size` pieces. threads: None, as many as there are cores."""
    count = max(1, min(threads or os.cpu_count() or 1, size // _LEAST)) if threads != 1 else 1
    if count == 1:
        return work(0, size)
    # Parts are smaller than a thread's share: some pieces take longer than others
    ends = [size * k // (4 * count) for k in range(4 * count + 1)]
    with ThreadPoolExecutor(count) as pool:
        for done in [pool.submit(work, begin, end) for begin, end in pairwise(ends)]:
            done.result()
    return None
