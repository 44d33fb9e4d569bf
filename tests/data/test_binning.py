"""Binning: columns of floats become ordered bins of about equal weight."""

import numpy as np
import pytest

import hardwood as hw


@pytest.mark.parametrize("max_bins", [1, 2, 7, 10, 1000])
def test_floats_are_binned_at_quantiles(max_bins):
    numbers = np.random.default_rng(0).normal(size=500)
    table = hw.encode(numbers.reshape(-1, 1), max_bins=max_bins)
    codes = table.values[:, 0]
    feature = table.features[0]
    assert feature.n_values == len(np.unique(codes)) == min(max_bins, 500)
    assert (np.diff(codes[np.argsort(numbers)]) >= 0).all()
    counts = np.bincount(codes)
    assert counts.max() - counts.min() <= 1 + (max_bins == 7)
    for edge_below, edge, k in zip((-np.inf, *feature.edges), (*feature.edges, np.inf), range(10**6), strict=False):
        assert ((edge_below < numbers) & (numbers <= edge) == (codes == k)).all()


def test_repeated_numbers_give_fewer_bins():
    (feature,) = hw.encode(np.array([[0.5]] * 98 + [[1.0], [2.0]]), max_bins=2).features
    assert feature.edges == (0.5,)
    (feature,) = hw.encode(np.full((5, 1), 2.5)).features
    assert (feature.n_values, feature.decode(0)) == (1, "any number")


def test_names_of_bins_have_all_digits():
    (feature,) = hw.encode(np.array([[1000000.1], [1000000.2], [1000000.3]])).features
    assert [feature.decode(k) for k in range(3)] == ["<= 1000000.1", "(1000000.1, 1000000.2]", "> 1000000.2"]


def test_max_bins_must_be_a_positive_integer():
    with pytest.raises(ValueError, match="max_bins is 0; it must be a whole number >= 1"):
        hw.encode(np.array([[1.0]]), max_bins=0)
