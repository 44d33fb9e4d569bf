"""The sections of a report below its header."""

from __future__ import annotations

import math

from hardwood._support.arguments import by_feature
from hardwood._version import __version__
from hardwood.certificate import Certificate, class_words, is_about
from hardwood.data.features import NO_ANSWER_WORDS, Feature, Kind
from hardwood.report.content import OWN, Content, Level
from hardwood.report.drawing import amount, bar_svg, curve_svg, histogram_svg, legend, outline, tree_svg
from hardwood.report.drawing import rows as rows_of
from hardwood.report.markup import Markup, element, joined, name
from hardwood.report.tables import Lines, counted, percent, table_of
from hardwood.shift.account import WHY_MANY_ANSWERS, WHY_THEY_DIFFER, accounts_of
from hardwood.shift.calibration import Direction, Reach
from hardwood.shift.description import PLAUSIBILITIES
from hardwood.shift.tables import is_table
from hardwood.shift.uncertainty import MoveCosts
from hardwood.trees.anatomy import Part, rule_of
from hardwood.trees.export import to_python, to_sql, to_text
from hardwood.trees.tree import Branch

MOST_CHANGES = 40
LIMITS = (
    "It holds for the rows of this table and for shifts of their answers within the budget. It is no promise about "
    "other people, or about shifts that are less plausible than the level chosen.",
    "It is only as good as the certainties and prices below: if answers change more often, more rows may be lost.",
    "Labels are taken as they are. If the outcome itself is recorded differently, nothing is proved.",
    "A prediction that is right is not thereby fair or wise to act on. Who is wrong, and how often, should be looked "
    "at for each group that matters.",
    "That no tree is better holds for trees of this depth with questions about single columns, not for other models.",
)
DIRECTION_MARKS = "\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"


def seconds_of(seconds: float) -> str:
    """A time."""
    return f"{seconds:.2g} seconds" if seconds < 10 else f"{seconds:.0f} seconds"


# ---- The tree --------------------------------------------------------------------------------------------------------


def _about(content: Content) -> list[Markup]:
    """Which of several trees a section speaks of, wherever the slider stands."""
    if len(content.levels) == 1:
        return []
    return [element("p", f"About the tree of this report ({content.level.words.lower()}).", class_="soft")]


def tree_section(content: Content) -> list[Markup]:
    """The tree for each level, its leaves as cards, and the path as a table."""
    pieces = [
        element(
            "p",
            "Read from left to right: every question has two ways out, yes above and no below; the wider a way, the "
            "more rows take it. Turned are the rows that the worst shift makes wrong. ",
            element(
                "span",
                "Point at a part to trace its way, or use the keyboard: Tab to the first question, then the arrow to "
                "the right for yes, down for no, left to go back.",
                class_="keys",
            ),
            class_="wide",
        ),
        legend(content.level),
    ]
    several = len(content.levels) > 1
    if several:
        pieces.append(_slider(content))
    for number, level in enumerate(content.levels):
        chosen = number == content.chosen
        label = f"The tree. {level.words}"
        drawing = element("div", tree_svg(level, number), class_="scroll", tabindex=0, role="region", aria_label=label)
        hint = element("p", "The drawing is wider than the page: scroll it sideways.", class_="hint soft")
        inside = [
            element("summary", _level_words(level)),
            hint if level.found.tree.depth > 3 else None,
            drawing,
            outline(level),
            _questions(level),
            _leaf_cards(level),
        ]
        pieces.append(element("details", *inside, class_="level", id=f"level-{number}", open=chosen))
    if several:
        pieces.append(_path_table(content))
    return pieces


def _questions(level: Level) -> Markup | None:
    """What each question sees: the answers of the rows that come by, by class."""
    tree = level.found.tree
    cards = [
        element(
            "li",
            element("h3", name(f"{tree.condition(part.node)}?")),
            histogram_svg(level, part),
            element("p", f"{rows_of(part.n_samples)} come by", class_="soft"),
            class_="card",
        )
        for part in level.parts
        if isinstance(part.node, Branch)
    ]
    if not cards:
        return None
    words = "What each question sees: answers by class, yes before the line"
    return element("details", element("summary", words), element("ol", *cards, class_="cards", aria_label=words))


def _level_words(level: Level) -> str:
    found = level.found
    return (
        f"{level.words}: {percent(found.worst_case_accuracy)} correct after the worst shift, "
        f"{percent(found.nominal_accuracy)} as the data stand, {counted(found.tree.n_branching_nodes, 'question')}"
    )


def _slider(content: Content) -> Markup:
    return element(
        "div",
        element("label", "How much to hedge against", for_="slider"),
        element("input", type="range", id="slider", min=0, max=len(content.levels) - 1, step=1, value=content.chosen),
        element("output", "", id="slider-words", for_="slider"),
        class_="slider js-only",
    )


def _leaf_cards(level: Level) -> Markup:
    cards = [_leaf_card(level, part) for part in level.leaves]
    return element("ol", *cards, class_="cards", aria_label="The answers of the tree")


def _leaf_card(level: Level, part: Part) -> Markup:
    tree = level.found.tree
    region = tree.regions[part.leaf or 0]
    rule = [element("li", name(column), " ", name(words)) for column, words in rule_of(tree, region)]
    right = part.n_samples - part.wrong
    counts = [
        joined(amount(count), " ", name(label)) for label, count in zip(tree.classes, part.counts, strict=True) if count
    ]
    return element(
        "li",
        element("h3", "Answer: ", name(tree.classes[region.label])),
        element("ul", *rule) if rule else element("p", "For all rows."),
        bar_svg(level, part) if part.n_samples else None,
        element("p", rows_of(part.n_samples), joined(": ", _listed(counts)) if counts else "", "."),
        element(
            "p",
            f"Right as they stand: {amount(right)}. The adversary can turn {amount(part.within)} of them, each on its "
            f"own, and turns {amount(part.lost)} in the worst shift.",
            class_="soft",
        ),
        class_="card",
        data_card=part.leaf,
    )


def _listed(pieces: list[Markup]) -> Markup:
    return joined(*(joined(", " if k else "", piece) for k, piece in enumerate(pieces)))


def _path_table(content: Content) -> Markup:
    rows = []
    for number, level in enumerate(content.levels):
        found = level.found
        proved = _proved_words(level, content)
        cells = [
            level.words,
            percent(found.nominal_accuracy),
            percent(found.worst_case_accuracy),
            found.tree.n_branching_nodes,
            proved,
        ]
        rows.append((cells, {"data_row": number, "class_": "here" if number == content.chosen else None}))
    head = ("hedged against", "as the data stand", "after the worst shift", "questions", "proved")
    return table_of("One tree for each level", head, rows, numbers=3, first_number=1)


def _proved_words(level: Level, content: Content) -> str:
    certificate = level.certificate
    if certificate is None:
        return "no certificate"
    where = "" if is_about(certificate, content.table, level.found.labels) else ", on the training table"
    if certificate.gap > 0 and not (certificate.status == "optimal" and not certificate.counted):
        return f"gap {percent(certificate.gap)}{where}"
    return f"{'optimal' if certificate.status == 'optimal' else 'most robust'}{where}"


# ---- Curves ----------------------------------------------------------------------------------------------------------


def curve_section(content: Content) -> list[Markup]:
    """Worst-case accuracy over all budgets, beside what else one might use."""
    if content.level.shifts.radius is not None:
        return [element("p", "Rows move freely within their boxes: there is no budget to draw a curve against.")]
    lines = [
        element(
            "li",
            element(
                "svg",
                element("line", x1=0, x2=34, y1=7, y2=7, class_=f"curve line-{k}"),
                width=34,
                height=14,
                aria_hidden="true",
            ),
            " ",
            title,
        )
        for k, title in enumerate(content.curves)
    ]
    place = element(
        "label", "Read the curves at ", element("input", type="range", id="curve-place", min=0, max=100, value=0)
    )
    found = {OWN: content.level.found} | content.rivals
    rows: Lines = [
        ([f"{level:g}", *(percent(own.curve.accuracy_at_plausibility(level)) for own in found.values())], {})
        for level in PLAUSIBILITIES
    ]
    table = table_of(
        "Correct after the worst shift that is at least so plausible", ("plausibility", *found), rows, numbers=9
    )
    return [
        *_about(content),
        element(
            "p",
            "How many rows stay right after the worst shift, from no shift (left) to larger and less plausible ones "
            "(right), for this tree and for what else one might use.",
        ),
        element("ul", *lines, class_="legend", aria_label="Lines"),
        element("div", curve_svg(content), class_="scroll", tabindex=0, role="region", aria_label="Curves"),
        element("div", place, element("p", "", id="curve-words", aria_live="polite"), class_="js-only"),
        element("details", element("summary", "The numbers"), table),
        element(
            "p",
            "Of each answer, how many are right: as they stand, after the worst shift, and at least, whatever the "
            "shift within the budget, even if all of it is spent on them.",
        ),
        _class_table(content),
    ]


# ---- The adversary ---------------------------------------------------------------------------------------------------


def adversary_section(content: Content) -> list[Markup]:
    """What the worst shift changes."""
    found = content.level.found
    changes = content.changes()
    if not changes:
        return [
            *_about(content),
            element("p", "Within the budget, no shift makes a row wrong that is right as it stands."),
        ]
    shown = changes[:MOST_CHANGES]
    rows: Lines = [
        (
            [
                name(c["column"]),
                name(c["from"]),
                name(c["to"]),
                amount(c["rows"]),
                f"{c['price'] / c['rows']:.2f}",
                f"{c['price']:.1f}",
            ],
            {},
        )
        for c in shown
    ]
    head = ("question", "from", "to", "rows", "price of one", "price of all")
    n_rows = len(set(found.shift.rows.tolist()))
    pieces = [
        *_about(content),
        element(
            "p",
            f"The worst shift changes {len(found.shift):,} values in {n_rows:,} rows and spends {found.spent:.4g} of "
            f"{found.uncertainty.budget:.4g}. These are the answers to ask twice, or to record with care.",
        ),
        table_of("What the worst shift changes, most frequent first", head, rows, numbers=3, first_number=3),
    ]
    if len(changes) > len(shown):
        pieces.append(element("p", f"... and {len(changes) - len(shown)} other kinds of changes.", class_="soft"))
    if content.rows:
        single: Lines = [([c.row, name(c.column), name(c.old), name(c.new), f"{c.price:.2f}"], {}) for c in found.shift]
        table = table_of("Row by row, counted from 0", ("row", "question", "from", "to", "price"), single, numbers=1)
        pieces.append(element("details", element("summary", "Row by row"), table))
    return pieces


# ---- Try a record ----------------------------------------------------------------------------------------------------


def record_section(content: Content) -> list[Markup]:
    """A form to try a record."""
    if not content.asked:
        return [element("p", "This tree asks nothing: every record gets the same answer.")]
    fields = [_field(content.table.features[j], j) for j in content.asked]
    return [
        element(
            "p",
            "Give the answers of a person and see the way through the tree, the prediction, and how much misreporting "
            "it survives. Nothing leaves this page. (This form needs JavaScript; the tree can be followed by hand.)",
        ),
        element(
            "form", element("div", *fields, class_="fields"), id="record-form", autocomplete="off", class_="js-only"
        ),
        element("div", "", id="result", class_="result card js-only", role="status", aria_live="polite"),
    ]


def _field(feature: Feature, j: int) -> Markup:
    label = element("span", name(feature.name))
    key = f"field-{j}"
    none = NO_ANSWER_WORDS if feature.missing else ""
    if feature.kind is Kind.INTEGER:
        entry = element("input", id=key, type="number", step=1, inputmode="numeric", placeholder=none or None)
    elif feature.kind is Kind.BINNED:
        entry = element("input", id=key, type="number", step="any", inputmode="decimal", placeholder=none or None)
    else:
        answers = [element("option", none, value="")]
        answers += [element("option", answer, value=k) for k, answer in enumerate(feature.categories)]
        entry = element("select", *answers, id=key)
    return element("label", label, entry, for_=key)


# ---- Certainty and prices --------------------------------------------------------------------------------------------


def prices_section(content: Content) -> list[Markup]:
    """How certain answers are, and what a change costs."""
    uncertainty = content.level.found.uncertainty
    certainties = _certainties(content)
    asked = {node.feature for node in content.level.found.tree.nodes if isinstance(node, Branch)}
    rows: Lines = []
    for j, feature in enumerate(content.table.features):
        reach = uncertainty.costs.reach[j]
        low, high = uncertainty.costs.price_range(j)
        cells = [
            name(feature.name),
            str(feature.kind),
            "yes" if j in asked else "no",
            certainties[j],
            _price(low) if low == high else f"{_price(low)} to {_price(high)}",
            _chance(low) if content.likely else "not said",
            _number_paid(uncertainty.budget, low),
            _where(feature, reach, _none_price(uncertainty.costs, j)),
        ]
        rows.append((cells, {}))
    head = (
        "question",
        "kind",
        "asked by the tree",
        "certainty",
        "price of a change",
        "how likely, compared with no change",
        "changes expected by chance",
        "changes the budget pays for",
        "where values may go",
    )
    accounts = accounts_of(content.table, uncertainty, content.level.shifts, content.level.found.labels.row_people)
    expected = ["not said" if own.expected_changes is None else f"{own.expected_changes:,.0f}" for own in accounts]
    rows = [([*cells[:6], own, *cells[6:]], more) for (cells, more), own in zip(rows, expected, strict=True)]
    words = (
        "Certainty is the probability that an answer is recorded the same way when the tree is used. The price of a "
        "change follows from it: the logarithm of how unlikely the change is, compared with no change."
        if content.likely
        else "Prices were given, not certainties: nothing is said about how likely a change is."
    )
    why = [element("p", WHY_THEY_DIFFER, class_="soft"), element("p", WHY_MANY_ANSWERS, class_="soft")]
    table = table_of("A step up or down, or another answer, in each column", head, rows, numbers=0)
    return [element("p", words), table, *(why if content.likely else [])]


def _none_price(costs: MoveCosts, j: int) -> float | None:
    """What it costs at least to have no answer, or one after all; None if that is not known in the column."""
    missing = costs.missing[j]
    return None if missing is None else float(missing.min())


def _number_paid(budget: float, price: float) -> str:
    if math.isinf(price):
        return "none"
    return "any number" if price == 0 else f"{math.floor(budget / price + 1e-9):,}"


def _certainties(content: Content) -> list[str]:
    """The certainty of each column, as far as it is one number."""
    shifts, names = content.level.shifts, content.table.names
    if shifts.radius is not None or shifts.costs is not None or shifts.certainty is None:
        return ["not given"] * len(names)
    entries = by_feature("certainty", shifts.certainty, names) if not shifts.by_cell else ["by row"] * len(names)
    words = ["measured" if is_table(entry) else entry for entry in entries]
    return [entry if isinstance(entry, str) else f"{float(entry):g}" for entry in words]


def _price(price: float) -> str:
    return "never changes" if math.isinf(price) else f"{price:.3g}"


def _chance(price: float) -> str:
    share = 100 * math.exp(-price)
    return "never" if math.isinf(price) else f"{share:.0f} %" if share >= 9.5 else f"{share:.2g} %"


def _where(feature: Feature, reach: Reach, none: float | None) -> str:
    words = [] if reach.direction is Direction.BOTH else [f"only {reach.direction}"]
    if feature.kind is not Kind.INTEGER:
        words.append("among its bins" if feature.kind is Kind.BINNED else "among its answers")
    elif reach.lower is not None:
        words.append(f"not below {reach.lower}")
    if feature.kind is Kind.INTEGER and reach.upper is not None:
        words.append(f"not above {reach.upper}")
    if reach.steps is not None:
        words.append(f"at most {counted(reach.steps, 'step')}")
    where = ", ".join(words) or "anywhere"
    return f"{where}; to or from no answer at {_price(none)}" if none is not None else where


# ---- Rules and model card --------------------------------------------------------------------------------------------


def rules_section(content: Content) -> list[Markup]:
    """The tree as text, Python and SQL."""
    tree = content.level.found.tree
    pieces = _about(content)
    for title, write in (("Text", to_text), ("Python", to_python), ("SQL", to_sql)):
        key = f"rules-{title.lower()}"
        words = element("summary", "Standard SQL" if title == "SQL" else title)
        try:
            text = write(tree)
            problem = _unsafe(text) if title == "SQL" else ""
        except ValueError as error:
            text, problem = "", str(error)
        if problem:
            pieces.append(element("details", words, element("p", f"Not written: {problem}.")))
            continue
        if title == "Text":
            text = "".join(f"\\u{ord(letter):04x}" if letter in DIRECTION_MARKS else letter for letter in text)
        label = f"Copy the rules as {title}"
        button = element("button", "Copy", type="button", data_copy=key, class_="js-only", aria_label=label)
        code = element("pre", text, id=key, tabindex=0, role="region", aria_label=f"The rules as {title}")
        pieces.append(element("details", words, button, code, open=title == "Text"))
    return pieces


def _unsafe(sql: str) -> str:
    """Why SQL should not be copied from a page; empty if it may be."""
    if "\\" in sql:
        return "a name has a backslash, which some databases read as part of the next letter"
    if any(letter in DIRECTION_MARKS or (not letter.isprintable() and letter not in "\n ") for letter in sql):
        return "a name has invisible characters"
    return ""


def card_section(content: Content) -> list[Markup]:
    """Facts about the model, and what they do not mean."""
    level, certificate = content.level, content.level.certificate
    about = content.about
    said = {
        "predicts": about.target,
        "intended use": about.intended_use,
        "author": about.author,
        "source of the table": about.source,
        "date": about.date,
    }
    facts: list[tuple[str, object]] = [(term, name(words)) for term, words in said.items() if words]
    facts += [
        ("rows", f"{content.table.n_samples:,}, {'training' if content.same_data else 'not the training'} table"),
        ("columns", len(content.table.features)),
        ("answers", _listed([name(label) for label in level.found.tree.classes])),
        ("hedged against", level.words),
        ("budget", f"{level.found.uncertainty.budget:.6g}"),
        ("report written by", f"hardwood {__version__}"),
    ]
    if certificate is not None:
        facts += [
            ("learnt by", f"{certificate.solver}, hardwood {certificate.version}"),
            ("time", f"{seconds_of(certificate.seconds)}, stopped: {str(certificate.stop_reason).replace('_', ' ')}"),
            ("depth allowed", certificate.max_depth),
            ("no tree keeps more than", _of_all(certificate, certificate.upper_bound)),
            (
                "no model of any kind keeps more than",
                f"{_of_all(certificate, certificate.any_model_bound)} under these shifts",
            ),
            ("fingerprint of the training data", certificate.data_hash),
            ("is that the table of this report?", "yes" if content.same_data else "no"),
        ]
    rows: Lines = [([term, value], {}) for term, value in facts]
    check = (
        element(
            "p",
            "The certificate can be checked by anyone who has the table: ",
            element("code", "hardwood check model.certificate.json table.csv --target ..."),
        )
        if certificate is not None
        else element("p", "The model has no certificate.")
    )
    return [
        table_of("Facts", ("", ""), rows, numbers=0, head_shown=False),
        check,
    ]


def _of_all(certificate: Certificate, value: float) -> str:
    if certificate.counted:
        return f"{value:,} of {certificate.total:,} {'rows' if certificate.weights == 'none' else 'people'}"
    return f"{value / certificate.total:.2%}"


def _class_table(content: Content) -> Markup:
    """What becomes of each class: sensitivity and specificity of two."""
    found = content.level.found
    lines: Lines = [
        (
            [
                name(class_words(own, found.by_class)),
                amount(own.people),
                percent(own.nominal),
                percent(own.worst_case),
                percent(own.guaranteed),
            ],
            {},
        )
        for own in found.by_class
    ]
    head = ("answer", "people" if content.weighted else "rows", "as they stand", "after the worst shift", "at least")
    return table_of("Correct of each answer", head, lines, numbers=4, first_number=1)
