import itertools
import math

import numpy as np
import pytest

from hardwood.shifts.sums import Amounts, Draws, distribution_of_sum, total_of


def by_hand(amounts):
    """Every combination of single amounts: the sum and its chance."""
    single = [list(zip(own.values, own.probabilities, strict=True)) for own in amounts for _ in range(own.count)]
    found = {}
    for combination in itertools.product(*single):
        total = math.fsum(value for value, _ in combination)
        found[total] = found.get(total, 0.0) + math.prod(probability for _, probability in combination)
    return found


def random_amounts(rng, lattice):
    n = int(rng.integers(1, 4))
    values = rng.integers(0, 4, n).astype(float) if lattice else np.append(0.0, rng.uniform(0.1, 3.0, n - 1))
    probabilities = rng.dirichlet(np.ones(n)) * (1.0 if rng.random() < 0.8 else rng.uniform(0.5, 1.0))
    return Amounts(values, probabilities, int(rng.integers(1, 3)))


@pytest.mark.parametrize("seed", range(60))
def test_bounds_hold_the_probability_that_all_combinations_give(seed):
    rng = np.random.default_rng(seed)
    amounts = [random_amounts(rng, lattice=seed % 3 == 0) for _ in range(int(rng.integers(1, 5)))]
    found, exact = total_of(amounts), by_hand(amounts)
    for bound in [*exact, 0.0, -1.0, *rng.uniform(0, 12, 5)]:
        at_most = sum(probability for total, probability in exact.items() if total <= bound + 1e-9)
        at_least = 1.0 - sum(probability for total, probability in exact.items() if total < bound - 1e-9)
        below, above = found.at_most(bound), found.at_least(bound)
        assert below.low - 1e-12 <= at_most <= below.high + 1e-12
        assert above.low - 1e-12 <= at_least <= above.high + 1e-12
        if found.exact:
            assert below.value == pytest.approx(at_most, abs=1e-9)


@pytest.mark.parametrize("seed", range(10))
def test_amounts_with_one_step_are_added_up_without_rounding(seed):
    rng = np.random.default_rng(seed)
    step = float(rng.uniform(0.1, 3))
    probabilities = [rng.dirichlet(np.ones(4)) for _ in range(5)]
    found = total_of([Amounts(step * np.arange(4.0), own, 7) for own in probabilities])
    assert found.exact
    pmf = np.ones(1)
    for own in probabilities:
        for _ in range(7):
            pmf = np.convolve(pmf, own)
    for k, share in enumerate(np.cumsum(pmf)):
        assert found.at_most(k * step).value == pytest.approx(share, abs=1e-12)
        assert found.at_least((k + 1) * step).value == pytest.approx(1 - share, abs=1e-12)
    assert found.mean == pytest.approx(step * (np.arange(len(pmf)) @ pmf))
    assert found.deviation == pytest.approx(step * math.sqrt((np.arange(len(pmf)) - found.mean / step) ** 2 @ pmf))
    for share in (0.01, 0.3, 0.5, 0.99):
        k = int(np.searchsorted(np.cumsum(pmf), share))
        assert found.quantile(share) == pytest.approx(k * step)


def test_a_million_people_are_added_up_like_a_binomial_distribution():
    from scipy.stats import binom

    found = total_of([Amounts(np.array([0.0, 1.0]), np.array([0.3, 0.7]), 1_000_000)])
    for k in (697_000, 699_500, 700_000, 700_321, 702_000):
        assert found.at_most(k).value == pytest.approx(binom.cdf(k, 1_000_000, 0.7), abs=1e-9)
    assert found.quantile(0.05) == binom.ppf(0.05, 1_000_000, 0.7)


def test_many_different_coins_are_added_up_alike_in_both_ways():
    rng = np.random.default_rng(1)
    probabilities = rng.random(700)
    coins = [Amounts(np.array([0.0, 1.0]), np.array([1 - p, p])) for p in probabilities]
    pmf = np.ones(1)
    for p in probabilities:
        pmf = np.convolve(pmf, [1 - p, p])
    found = total_of(coins)
    assert found.exact
    assert [found.at_most(k).value for k in range(701)] == pytest.approx(np.cumsum(pmf), abs=1e-10)


def test_real_weights_are_within_their_bounds_of_a_finer_grid(monkeypatch):
    """The same sum with 64 times as many points: its narrower bounds must lie within the wider ones."""
    from hardwood.shifts import sums

    rng = np.random.default_rng(2)
    amounts = [Amounts(np.array([0.0, w]), np.array([1 - p, p])) for w, p in rng.uniform(0.1, 1, (300, 2))]
    monkeypatch.setattr(sums, "FINENESS", 1 << 10)
    coarse = total_of(amounts)
    monkeypatch.setattr(sums, "FINENESS", 1 << 16)
    fine = total_of(amounts)
    for bound in np.linspace(fine.mean - 3 * fine.deviation, fine.mean + 3 * fine.deviation, 41):
        wide, narrow = coarse.at_most(bound), fine.at_most(bound)
        assert wide.low <= narrow.high
        assert narrow.low <= wide.high
        assert wide.low - 1e-9 <= narrow.value <= wide.high + 1e-9
        assert narrow.high - narrow.low < 1e-3


def test_an_amount_without_limit_exceeds_every_number():
    found = total_of([Amounts(np.array([0.0, 1.0]), np.array([0.5, 0.4]), 3)])  # 0.1 is left
    assert found.at_most(1e9).value == pytest.approx(0.9**3)
    assert found.quantile(0.9) == math.inf
    assert found.mean == math.inf


@pytest.mark.parametrize("seed", range(30))
def test_a_sum_that_can_be_met_exactly_is_counted_with_its_chance(seed):
    """Amounts of different steps are rounded; the value must not lose the sum 0, or all amounts together, for that."""
    rng = np.random.default_rng(seed)
    amounts = [Amounts(np.array([0.0, w]), np.array([p, 1 - p]), 2) for w, p in rng.uniform(0.6, 0.99, (4, 2))]
    found, exact = total_of(amounts), by_hand(amounts)
    least, most = min(exact), max(exact)
    assert found.at_most(least).value == pytest.approx(exact[least], abs=2e-3)
    assert found.at_least(most).value == pytest.approx(exact[most], abs=2e-3)
    assert found.at_most(most).value == pytest.approx(1.0, abs=2e-3)
    assert found.at_least(least).value == pytest.approx(1.0, abs=2e-3)


def test_steps_of_very_different_size_do_not_fill_the_memory():
    found = total_of([Amounts(np.array([0.0, 1e-7, 2.0]), np.array([0.5, 0.3, 0.2]), 30)])
    assert len(found.probabilities) < 10_000_000
    assert found.at_most(0.5).value == pytest.approx(0.8**30, abs=1e-6)


def test_nothing_at_all_is_zero():
    assert total_of([]).at_most(0.0).value == 1.0
    found = total_of([Amounts(np.array([0.0]), np.array([1.0]), 100)])
    assert found.at_most(0.0).value == 1.0
    assert found.at_most(-0.1).value == 0.0
    assert found.quantile(0.5) == 0.0


def test_a_rare_and_huge_amount_does_not_fill_the_memory():
    coins = [Amounts(np.array([0.0, 1.0 + k / 7]), np.array([0.5, 0.5])) for k in range(5)]
    found = total_of([*coins, Amounts(np.array([0.0, 1e9]), np.array([1 - 1e-12, 1e-12]))])
    assert found.at_most(1e8).low >= 1 - 1e-5


def test_too_many_kinds_are_simulated_and_say_so():
    rng = np.random.default_rng(3)
    amounts = [Amounts(np.array([0.0, w]), np.array([1 - p, p])) for w, p in rng.uniform(0.1, 1, (300, 2))]
    exact, drawn = total_of(amounts), distribution_of_sum(amounts, max_kinds=10)
    assert isinstance(drawn, Draws)
    for bound in np.linspace(exact.mean - 2 * exact.deviation, exact.mean + 2 * exact.deviation, 9):
        probability = drawn.at_most(bound)
        assert probability.draws == len(drawn.sums)
        assert probability.low - 1e-3 <= exact.at_most(bound).value <= probability.high + 1e-3
        assert float(drawn.at_least(bound)) == pytest.approx(1 - float(probability), abs=1e-3)
    assert "draws" in str(probability)
    assert drawn.quantile(0.5) == pytest.approx(exact.quantile(0.5), rel=0.01)
    assert not isinstance(distribution_of_sum(amounts), Draws)
