"""What all tests share, and which of them are `slow`."""

import gc
import random
from collections import defaultdict

import pytest

# In a cold cache two workers would compile the same kernels at once. The first begins with those that pose and walk;
# the second, which is given the other half, with those that simulate. What needs both comes last.
ORDER = (
    *("ik", "walking", "puppetry", "motion", "body", "files", "live", "jobs", "studio"),
    *("stage", "contracts", "engines", "drivers", "dynamics", "spatial", "world", "pictures", "project", "cli"),
    *("demos", "bench"),
)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--shuffle", metavar="SEED", help="run the tests in a random order, so that none depends on those before it"
    )


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Of a test marked `many(n)`, n cases spread evenly over all stay; the rest are `slow`. Folders go in an order."""
    items.sort(key=find_place)
    cases: dict[str, list[pytest.Item]] = defaultdict(list)
    for item in items:
        if item.get_closest_marker("many"):
            cases[item.nodeid.partition("[")[0]].append(item)
    for found in cases.values():
        mark = found[0].get_closest_marker("many")
        assert mark is not None
        stay = set(spread(len(found), *mark.args))
        for place, item in enumerate(found):
            if place not in stay:
                item.add_marker("slow")
    if config.getoption("shuffle") is not None:
        random.Random(config.getoption("shuffle")).shuffle(items)


def find_place(item: pytest.Item) -> int:
    folder = item.path.parent.name
    return ORDER.index(folder) if folder in ORDER else len(ORDER)


def spread(count: int, stay: int) -> list[int]:
    """Which of `count` cases stay: the first, the last, and others evenly between."""
    if stay >= count:
        return list(range(count))
    return [round(i * (count - 1) / max(stay - 1, 1)) for i in range(stay)]


def pytest_collection_finish() -> None:
    """Thousands of tests and their modules stay until the end: Python need not look for garbage among them."""
    gc.collect()
    gc.freeze()
