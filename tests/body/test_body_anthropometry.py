"""The tables: what they add up to, and that what they say can be a body."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from poise.body.segments import tables as deleva
from poise.body.segments import tables as jensen
from poise.body.segments.solid import SegmentSolid, solid_profile
from poise.body.segments.tables import AGES, DENSITIES, SEGMENTS, SEXES, TRUNK, get_table, sides
from poise.errors import InputError
from poise.spatial.inertia import RigidInertia

TABLES = ("deleva", "winter")
ages = st.floats(*AGES)
tables = st.builds(get_table, st.sampled_from(TABLES), st.sampled_from(SEXES), ages)


@given(tables)
def test_shares_add_up_to_one(table):
    assert sum(row.mass * sides(segment) for segment, row in table.rows.items()) == pytest.approx(1.0, abs=1e-14)
    assert all(row.mass > 0.0 and 0.0 < row.center < 1.0 for row in table.rows.values())


@given(tables)
def test_radii_are_those_of_some_body(table):
    for row in table.rows.values():
        sagittal, transverse, longitudinal = np.square(row.radii)
        assert sagittal <= transverse + longitudinal
        assert transverse <= sagittal + longitudinal
        assert longitudinal <= sagittal + transverse


@pytest.mark.parametrize("sex", ["male", "female"])
def test_de_leva_agrees_with_his_own_whole_trunk(sex):
    """Table 4 also has the trunk in one piece, C7 to mid-hip: centre and radii must follow from the three slabs.

    For men the printed centres themselves disagree by 3 mm (0.5188 against 0.5138), from either cranial end point.
    """
    whole = {"male": (0.4346, 0.5138, (0.328, 0.306, 0.169)), "female": (0.4257, 0.4964, (0.307, 0.292, 0.147))}[sex]
    table = deleva.get_de_leva_table(sex)
    length = sum(table[part].length for part in TRUNK)
    x = 0.0
    parts = []
    for part in TRUNK:
        start, end = np.array([0.0, -x, 0.0]), np.array([0.0, -x - table[part].length, 0.0])
        parts.append(SegmentSolid.from_row(table[part], 1.0, start, end, np.array([0.0, 0.0, 1.0])).whole())
        x += table[part].length
    trunk = RigidInertia.total(parts)
    assert trunk.mass == pytest.approx(whole[0], abs=1e-4)
    assert -trunk.center[1] / length == pytest.approx(whole[1], abs={"male": 5.1e-3, "female": 5e-4}[sex])
    radii = np.sqrt(np.diag(trunk.inertia)[[2, 0, 1]] / trunk.mass) / length
    np.testing.assert_allclose(radii, whole[2], atol=6e-3)


def test_children_have_large_heads_and_light_legs_and_grow_into_adults():
    for name in TABLES:
        adult = get_table(name, "male", 18.0)
        child = get_table(name, "male", 5.0)
        assert child["head"].mass > 2.0 * adult["head"].mass
        assert child["thigh"].mass < 0.8 * adult["thigh"].mass
        almost = get_table(name, "male", 18.0 - 1e-9)
        for segment in SEGMENTS:
            assert almost[segment].mass == pytest.approx(adult[segment].mass, rel=1e-8)


@pytest.mark.parametrize("age", [4.0, 6.0, 9.0, 12.0, 15.0, 18.0])
def test_jensen_shares_add_up_to_nearly_one(age):
    """The head's quadratic and the others' are from different samples of the boys: they disagree by up to 3 %."""
    parts = {"head": 1, "middleTrunk": 1} | {s: 2 for s in SEGMENTS if sides(s) == 2}
    assert sum(n * jensen.compute_share(s, age) for s, n in parts.items()) == pytest.approx(1.0, abs=0.03)


def test_winter_keeps_his_printed_shares_and_trunk_centre():
    table = get_table("winter", "male")
    assert table["thigh"].mass == pytest.approx(0.100)
    assert sum(table[part].mass for part in TRUNK) == pytest.approx(0.497)
    total = sum(table[part].length for part in TRUNK)
    tops = np.cumsum([0.0] + [table[part].length for part in TRUNK])[:-1]
    centre = (
        sum(table[p].mass * (top + table[p].center * table[p].length) for p, top in zip(TRUNK, tops, strict=True))
        / 0.497
    )
    # Half-way between hips and shoulders, measured from C7 down.
    assert centre == pytest.approx(total * (1.0 - 0.5 * deleva.shoulder_height("male")), rel=1e-12)
    assert set(DENSITIES) == set(SEGMENTS)


def test_neutral_is_the_mean():
    male, female, neutral = (get_table("deleva", sex) for sex in SEXES)
    assert neutral["hand"].center == pytest.approx(0.5 * (male["hand"].center + female["hand"].center))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("delava", "male", 30), "Did you mean 'deleva'"),
        (("deleva", "man", 30), "sex 'man' is not known"),
        (("deleva", "male", 3), "age is 3 years"),
        (("deleva", "male", float("nan")), "age is nan"),
    ],
)
def test_bad_tables(arguments, message):
    with pytest.raises(InputError, match=message):
        get_table(*arguments)


fractions = st.lists(st.floats(0.0, 1.0), max_size=5).map(sorted)
vectors = st.lists(st.floats(-2.0, 2.0), min_size=3, max_size=3).map(np.array)


@given(tables, st.sampled_from(SEGMENTS), fractions, vectors, st.floats(0.05, 1.0), st.booleans())
def test_cutting_loses_nothing(table, segment, cuts, start, length, solid):
    row = table[segment]
    profile = {"profile": solid_profile(row)} if solid else {}
    slab = SegmentSolid.from_row(
        row, 70.0, start, start + np.array([0.6, 0.0, 0.8]) * length, np.array([0.0, 1.0, 0.3]), **profile
    )
    planes = [-np.inf, *cuts, np.inf]
    pieces = [slab.cut(low, high) for low, high in pairwise(planes)]
    assert all(piece.is_physical() for piece in pieces)
    again, whole = RigidInertia.total(pieces), slab.whole()
    assert again.mass == pytest.approx(whole.mass, rel=1e-13)
    np.testing.assert_allclose(again.center, whole.center, atol=1e-13)
    np.testing.assert_allclose(again.inertia, whole.inertia, atol=1e-13)
    assert whole.mass == pytest.approx(70.0 * row.mass)


@given(tables, st.sampled_from(SEGMENTS), st.floats(0.05, 1.0))
def test_a_slab_has_its_rows_centre_and_radii(table, segment, length):
    row = table[segment]
    whole = SegmentSolid.from_row(
        row, 70.0, np.zeros(3), np.array([0.0, -length, 0.0]), np.array([0.0, 0.0, 1.0])
    ).whole()
    assert -whole.center[1] == pytest.approx(row.center * length)
    # sagittal z, transverse x, longitudinal y
    radii = np.sqrt(np.diag(whole.inertia)[[2, 0, 1]] / whole.mass) / length
    np.testing.assert_allclose(radii, row.radii, rtol=1e-12)


def test_a_slab_needs_a_line():
    with pytest.raises(InputError, match="two different end points"):
        SegmentSolid.from_row(get_table()["head"], 70.0, np.zeros(3), np.zeros(3), np.ones(3))
