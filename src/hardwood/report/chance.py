"""The section about random shifts: what they do to the tree, how likely the budget covers them, what to choose."""

from __future__ import annotations

import math
from collections.abc import Sequence

from hardwood.report.content import Content
from hardwood.report.markup import Markup, element
from hardwood.report.tables import Lines, percent, table_of
from hardwood.shift.totals import Chance
from hardwood.shiftlab import PlausibilityChoice

BARS = 60
WIDTH, HEIGHT, LEFT = 640, 200, 44


def chance_section(content: Content) -> list[Markup]:
    """What happens if answers change by chance, as the certainties say."""
    found = content.by_chance
    if found is None:
        words = "Prices were given, not certainties: nothing is said about how likely a change is, so nothing here."
        return [element("p", words)]
    accuracy, everything, asked = found
    attack = content.level.found
    kept, budget = accuracy.at_least(attack.worst_case_accuracy), attack.uncertainty.budget
    words = (
        f"The worst shift is the work of an adversary. If answers change by chance instead, as often as the "
        f"certainties below say, {percent(accuracy.mean)} of the rows are right on average, and "
        f"{percent(accuracy.quantile(0.05))} or more in 95 of 100 cases. The {percent(attack.worst_case_accuracy)} "
        f"that hold after the worst shift are kept {_words(kept)}. {_how(kept)}"
    )
    price = (
        f"What it takes to cover all of that: a random shift costs {everything.cost.mean:,.4g} on average, "
        f"{asked.cost.mean:,.4g} of it in the columns that the tree asks for. The budget of {budget:,.4g} covers the "
        f"columns that the tree asks for {_words(asked.within(budget))}, all columns "
        f"{_words(everything.within(budget))}. To cover the former in 95 of 100 cases, plausibility would have to be "
        f"{asked.plausibility_for(0.95):.3g}. Most random changes harm nobody, so that is more than the accuracy above "
        f"needs."
    )
    if not math.isfinite(everything.cost.mean):
        price = "Some changes that the certainties allow have no price, so no budget covers all random shifts."
    pieces = [
        element("p", words),
        element("div", _histogram(content), class_="scroll", tabindex=0, role="region", aria_label="Random shifts"),
        element("p", price, class_="soft"),
    ]
    return pieces if content.choice is None else [*pieces, *_choice(content.choice)]


def _how(chance: Chance) -> str:
    return "(Computed, not simulated.)" if chance.draws is None else f"(Simulated, {chance.draws:,} times.)"


def _words(chance: Chance) -> str:
    """How likely something is."""
    if chance.low > 0.9995:
        return "almost always"
    if chance.high < 0.0005:
        return "almost never"
    return f"with a probability of {percent(chance.value)}"


def _histogram(content: Content) -> Markup:
    """How likely each accuracy is, with the guarantee beside it."""
    found = content.by_chance
    if found is None:
        raise ValueError("there is nothing to draw without certainties")
    accuracy, guarantee = found[0], content.level.found.worst_case_accuracy
    edges, bars = accuracy.bars(BARS)
    low, high = (end(float(edges[at]), guarantee, accuracy.nominal) for end, at in ((min, 0), (max, -1)))
    low, high = math.floor(100 * low) / 100, max(math.ceil(100 * high), math.floor(100 * low) + 2) / 100
    most = float(bars.max()) or 1.0

    def x(share: float) -> float:
        return LEFT + WIDTH * (share - low) / (high - low)

    pieces = [
        element(
            "rect",
            class_="class-0",
            x=f"{x(edge):.1f}",
            y=f"{24 + HEIGHT * (1 - bar / most):.1f}",
            width=f"{max(x(after) - x(edge) - 1, 0.6):.1f}",
            height=f"{HEIGHT * bar / most:.1f}",
        )
        for bar, edge, after in zip(bars.tolist(), edges[:-1].tolist(), edges[1:].tolist(), strict=True)
        if bar > 0
    ]
    step = max(1, round(100 * (high - low) / 8))
    pieces += [
        element("text", f"{k} %", class_="tick middle", x=f"{x(k / 100):.1f}", y=24 + HEIGHT + 18)
        for k in range(round(100 * low), round(100 * high) + 1, step)
    ]
    marks = [(guarantee, "worst shift", x(guarantee) > LEFT + 80)] if guarantee < accuracy.nominal else []
    for share, words, before in [*marks, (accuracy.nominal, "as they stand", x(accuracy.nominal) > LEFT + WIDTH - 90)]:
        at = f"{x(share):.1f}"
        pieces.append(element("line", class_="budget", x1=at, x2=at, y1=18, y2=24 + HEIGHT))
        pieces.append(element("text", words, class_="tick end" if before else "tick", x=at, y=12))
    label = (
        f"How likely each accuracy is when answers change by chance: {percent(accuracy.mean)} on average, "
        f"{percent(accuracy.quantile(0.05))} to {percent(accuracy.quantile(0.95))} in 90 of 100 cases"
    )
    size = f"0 0 {LEFT + WIDTH + 30} {HEIGHT + 50}"
    return element("svg", *pieces, class_="curves", viewBox=size, role="img", aria_label=label)


def _choice(choice: PlausibilityChoice) -> list[Markup]:
    """Which plausibility to choose, on the training table."""
    lines: Lines = [
        (
            [
                f"{own.plausibility:g}",
                percent(own.nominal),
                percent(own.worst_case),
                percent(own.covered_asked),
                percent(own.covered),
                percent(own.kept),
                percent(own.expected),
                percent(own.validated),
            ],
            {},
        )
        for own in choice.levels
    ]
    head = (
        "plausibility",
        "as the data stand",
        "after the worst shift",
        "random shift within the budget, columns asked",
        "all columns",
        "guaranteed accuracy kept",
        "on average over random shifts",
        "the same, unseen rows",
    )
    return [
        element("h3", "Which plausibility?"),
        element("p", "Three ways to choose how much to hedge against, along one path of trees (training table):"),
        element("ul", *(element("li", words) for words in choice.choices)),
        element("div", _lines(choice), class_="scroll", tabindex=0, role="region", aria_label="Along the levels"),
        element(
            "p",
            "Solid: accuracy on unseen rows under random shifts. Dashed: as the data stand. Dotted: after the worst "
            "shift.",
            class_="soft",
        ),
        table_of("What each level brings", head, lines, numbers=8),
    ]


def _lines(choice: PlausibilityChoice) -> Markup:
    """Accuracies along the levels, equally spaced."""
    levels = choice.levels
    series: list[Sequence[float]] = [
        [own.validated for own in levels],
        [own.nominal for own in levels],
        [own.worst_case for own in levels],
    ]
    lowest, highest = min(map(min, series)), max(map(max, series))
    floor, ceiling = math.floor(10 * lowest - 0.2), max(math.ceil(10 * highest), math.floor(10 * lowest - 0.2) + 1)
    step = WIDTH / max(len(levels) - 1, 1)

    def y(share: float) -> float:
        return 14 + HEIGHT * (1 - (10 * share - floor) / (ceiling - floor))

    pieces = []
    for k in range(floor, ceiling + 1):
        pieces.append(
            element("line", class_="grid", x1=LEFT, x2=LEFT + WIDTH, y1=f"{y(k / 10):.1f}", y2=f"{y(k / 10):.1f}")
        )
        pieces.append(element("text", f"{10 * k} %", class_="tick end", x=LEFT - 6, y=f"{y(k / 10) + 4:.1f}"))
    for k, own in enumerate(levels):
        place = f"{LEFT + k * step:.1f}"
        pieces.append(element("text", f"{own.plausibility:g}", class_="tick middle", x=place, y=HEIGHT + 32))
    for k, values in enumerate(series):
        points = " ".join(f"{LEFT + at * step:.1f},{y(value):.1f}" for at, value in enumerate(values))
        pieces.append(element("polyline", class_=f"curve line-{k}", points=points))
    size = f"0 0 {LEFT + WIDTH + 30} {HEIGHT + 44}"
    label = "Accuracy along the levels of plausibility; the table below has the numbers"
    return element("svg", *pieces, class_="curves", viewBox=size, role="img", aria_label=label)
