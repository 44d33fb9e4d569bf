"""Random shifts: their effect on the tree, how likely the budget covers them, and which plausibility to choose."""

from __future__ import annotations

import math

from hardwood.report.content import Content, RandomShifts
from hardwood.report.drawing.curves import levels_svg
from hardwood.report.drawing.histograms import accuracy_histogram_svg
from hardwood.report.formatting import percent
from hardwood.report.markup import Markup, element
from hardwood.report.sections.common import NO_CERTAINTIES, scroll_box
from hardwood.report.tables import table_of
from hardwood.shiftlab import PlausibilityChoice
from hardwood.shifts.sums import Probability

_ALMOST = 0.9995  # probabilities above it are given as "almost always"


def random_shifts_section(content: Content) -> list[Markup]:
    """Return what happens if answers change at random, as often as the certainties state."""
    random_shifts = content.random_shifts
    if random_shifts is None:
        return [element("p", NO_CERTAINTIES)]
    guarantee, budget = content.attack.worst_case_accuracy, content.attack.uncertainty.budget
    parts = [
        element("p", _accuracy_text(content, random_shifts, guarantee)),
        scroll_box(accuracy_histogram_svg(random_shifts.accuracy, guarantee), "Accuracy under random shifts"),
        element("p", _cost_text(random_shifts, budget), class_="soft"),
    ]
    return parts if content.choice is None else [*parts, *_choice(content.choice)]


def _accuracy_text(content: Content, random_shifts: RandomShifts, guarantee: float) -> str:
    """Describe the accuracy under random shifts."""
    accuracy = random_shifts.accuracy
    kept = accuracy.at_least(guarantee)
    is_share = content.attack.labels.class_weights is None
    mean, kept_share = percent(accuracy.mean), percent(guarantee)
    average = f"{mean} of the rows are right" if is_share else f"the {content.measure} is {mean}"
    worst = f"{kept_share} that stay right" if is_share else f"{content.measure} of {kept_share}"
    how = "Computed, not simulated." if kept.draws is None else f"Simulated, {kept.draws:,} times."
    return (
        f"The worst shift is chosen by an adversary. If answers change at random instead, as often as the certainties "
        f"below state, {average} on average, and "
        f"{percent(accuracy.quantile(0.05))} or more in 95 of 100 cases. The {worst} "
        f"after the worst shift {'are' if is_share else 'is'} kept {_probability(kept)}. ({how})"
    )


def _cost_text(random_shifts: RandomShifts, budget: float) -> str:
    """Describe what random shifts cost, and how likely the budget covers them."""
    total, used = random_shifts.all_columns, random_shifts.used_columns
    if not math.isfinite(total.cost.mean):
        return "Some changes that the certainties allow have no finite cost, so no budget covers all random shifts."
    probability_used, probability_all = (_probability(columns.within(budget)) for columns in (used, total))
    return (
        f"A random shift costs {total.cost.mean:,.4g} on average, {used.cost.mean:,.4g} of it in the columns that the "
        f"tree uses. The budget of {budget:,.4g} covers the changes of these columns {probability_used}, and those of "
        f"all columns {probability_all}. To cover the columns that the tree uses in 95 of 100 cases, plausibility "
        f"would have to be {used.plausibility_for(0.95):.3g}. Most random changes do no harm, so that is more than the "
        f"accuracy above needs."
    )


def _probability(probability: Probability) -> str:
    """Describe how likely something is."""
    if probability.low > _ALMOST:
        return "almost always"
    if probability.high < 1 - _ALMOST:
        return "almost never"
    return f"with a probability of {percent(probability.value)}"


def _choice(choice: PlausibilityChoice) -> list[Markup]:
    """Return the levels that three ways of choosing take, and the results of every level."""
    rows = [
        [
            f"{level.plausibility:g}",
            percent(level.nominal),
            percent(level.worst_case),
            percent(level.covered_asked),
            percent(level.covered),
            percent(level.kept),
            percent(level.expected),
            percent(level.validated),
        ]
        for level in choice.levels
    ]
    head = (
        "plausibility",
        "without a shift",
        "after the worst shift",
        "random shift within the budget, columns that the tree uses",
        "all columns",
        "guaranteed accuracy kept",
        "on average over random shifts",
        "the same, unseen rows",
    )
    lines = (
        "Solid: accuracy on unseen rows under random shifts. Dashed: without a shift. Dotted: after the worst shift."
    )
    return [
        element("h3", "Which plausibility?"),
        element("p", "Three ways to choose how much to hedge against, along one path of trees (training table):"),
        element("ul", *(element("li", text) for text in choice.choices)),
        scroll_box(levels_svg(choice), "Along the levels"),
        element("p", lines, class_="soft"),
        table_of("Results of each level", head, rows, numbers=range(8)),
    ]
