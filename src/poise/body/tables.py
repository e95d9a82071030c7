"""Which tables of segments there are, and the one for a sex and an age."""

from __future__ import annotations

from collections.abc import Callable

from poise.body import deleva, jensen, winter
from poise.body.anthropometry import ADULT_AGE, BodyTable, check_sex_age
from poise.errors import unknown_name


def get_table(name: str = "deleva", sex: str = "neutral", age: float = 30.0) -> BodyTable:
    """A table for a sex and an age in years; below 18 the shares are those of a growing child (see `jensen`)."""
    check_sex_age(sex, age)
    tables: dict[str, Callable[[str], BodyTable]] = {"deleva": deleva.get_table, "winter": winter.get_table}
    if name not in tables:
        raise unknown_name("body table", name, tables)
    adult = tables[name](sex)
    return jensen.grow(adult, age) if age < ADULT_AGE else adult
