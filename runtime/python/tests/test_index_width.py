"""Ranges that overlap: there are few elements, and more of them in all ranges than 32 bits count."""

import numpy as np
import pytest

import segfold as sf

ELEMENTS, MANY = 60000, 36000  # 2.16e9 in all
MOST = 2013265920  # that indices of 32 bits are chosen for


def whole(count, end=ELEMENTS):
    return np.zeros(count, np.int64), np.full(count, end)


@pytest.fixture(scope="module")
def ones():
    return np.ones(ELEMENTS, np.uint8)


@pytest.fixture(scope="module")
def count():
    return sf.operator("operator count(x: u8) -> i64 { state n: i64 = 0  lift i64(x)  combine(a, b) a + b  laws commutative }")


@pytest.mark.parametrize("backend", ["cpu", "simt"])
def test_ranges_may_have_more_elements_than_32_bits_count(count, backend):
    # The border itself is where the indices of a simulated GPU would be too slow to reach.
    sizes = [(33554, 25920), (33554, 25921), (MANY, 0)] if backend == "cpu" else [(40, 1)]
    x = np.ones(ELEMENTS, np.uint8)
    for many, rest in sizes:
        begins, ends = whole(many)
        begins, ends = np.append(begins, 0), np.append(ends, rest)
        result = count(x, ranges=(begins, ends), backend=backend)
        np.testing.assert_array_equal(result, ends)


def test_each_call_has_a_plan_that_counts_its_ranges(ones, count):
    for many in (MANY, 33000, MANY, 2):
        np.testing.assert_array_equal(count(ones, ranges=whole(many), backend="cpu"), np.full(many, ELEMENTS))
    # As many ranges of as many bits, on both sides of the border.
    for end in (55900, ELEMENTS):
        np.testing.assert_array_equal(count(ones, ranges=whole(MANY, end), backend="cpu"), np.full(MANY, end))


def test_a_plan_counts_the_ranges_that_it_was_made_for(ones, count):
    plan = sf.plan(count, ones, ranges=whole(MANY), backend="cpu")
    np.testing.assert_array_equal(plan(ones, ranges=whole(MANY)), np.full(MANY, ELEMENTS))
    np.testing.assert_array_equal(plan(ones, ranges=whole(MANY, 3)), np.full(MANY, 3))


def test_a_plan_refuses_ranges_of_more_elements_than_it_counts(ones, count):
    plan = sf.plan(count, ones, ranges=whole(MANY, 3), backend="cpu")
    out = np.full(MANY, 7)
    with pytest.raises(sf.InputError, match=f"is for ranges of at most {MOST} elements in all, and is given ranges of 2160000000"):
        plan(ones, ranges=whole(MANY), out=out)
    assert (out == 7).all()
    np.testing.assert_array_equal(plan(ones, ranges=whole(MANY, 3)), np.full(MANY, 3))


def test_a_rolling_mean_over_long_windows():
    window, size = 5000, 450000
    ends = np.arange(window, size + 1)
    np.testing.assert_array_equal(sf.standard.mean(np.ones(size, np.float32), ranges=(ends - window, ends), backend="cpu"), 1)


def test_rows_of_many_features_count_numbers():
    # 2.3e9 numbers in all ranges of 70 rows.
    rows = np.ones((70, 70000), np.uint8)
    total = sf.operator("operator total(x: row u8) -> u8 { state n: u8 = 0  lift x  combine(a, b) max(a, b)  laws commutative }")
    result = total(rows, ranges=whole(470, 70), backend="cpu")
    assert result.shape == (470, 70000) and (result == 1).all()


def test_a_length_counts_though_there_are_no_elements():
    x = np.zeros(0, np.float32)
    assert sf.standard.sum(x, uniform=1 << 32).shape == (0,)
    assert sf.plan(sf.standard.sum, x, uniform=1 << 32)(x, uniform=1 << 32).shape == (0,)
