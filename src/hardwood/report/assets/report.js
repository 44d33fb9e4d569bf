"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const byId = (id) => document.getElementById(id);
  const all = (selector, within = document) => [...within.querySelectorAll(selector)];
  document.documentElement.classList.add("js");

  // ---- The tree: tracing a path ------------------------------------------------------------------------------------

  let level = data.chosen;
  let recordPath = null; // path of the record in the form, which is traced when the pointer leaves the tree
  const panel = () => byId(`level-${level}`);

  // Highlight everything on a path from the root, and the card of the leaf at its end.
  function trace(path) {
    const parts = all("[data-path]", panel());
    for (const part of parts) part.classList.toggle("on", path !== null && path.startsWith(part.dataset.path));
    const leaf = parts.find((part) => part.dataset.path === path && part.dataset.leaf !== undefined);
    for (const card of all("[data-card]", panel())) {
      card.classList.toggle("on", leaf !== undefined && card.dataset.card === leaf.dataset.leaf);
    }
  }

  // The node or edge of the tree that an event is about, or null.
  function partOf(target) {
    return target instanceof Element ? target.closest("[data-path]") : null;
  }

  for (const type of ["pointerover", "focusin"]) {
    document.addEventListener(type, (event) => {
      const part = partOf(event.target);
      if (part !== null) trace(part.dataset.path);
    });
  }
  for (const type of ["pointerout", "focusout"]) {
    document.addEventListener(type, (event) => {
      if (partOf(event.target) !== null) trace(recordPath);
    });
  }

  // Arrow keys move along the tree: right to yes, down to no, left and up to the parent.
  document.addEventListener("keydown", (event) => {
    const part = partOf(event.target);
    if (part === null) return;
    const path = part.dataset.path;
    const parent = path.slice(0, -1);
    const target = { ArrowRight: `${path}y`, ArrowDown: `${path}n`, ArrowLeft: parent, ArrowUp: parent }[event.key];
    const node = target && panel().querySelector(`g[tabindex][data-path="${target}"]`);
    if (node) {
      event.preventDefault();
      node.focus();
    }
  });

  // ---- The slider along the levels ---------------------------------------------------------------------------------

  function showLevel(number) {
    level = number;
    for (const details of all("details.level")) {
      details.open = true;
      details.hidden = details !== panel();
    }
    for (const facts of all("[data-facts]")) facts.hidden = Number(facts.dataset.facts) !== number;
    for (const row of all("[data-row]")) row.classList.toggle("current", Number(row.dataset.row) === number);
    const slider = byId("slider");
    if (slider !== null) {
      const summary = panel().querySelector("summary").textContent;
      slider.value = number;
      slider.setAttribute("aria-valuetext", summary);
      byId("slider-text").textContent = summary;
    }
    updateResult();
  }

  // ---- Trying a record: its values ---------------------------------------------------------------------------------

  const features = new Map(data.features.map((feature) => [feature.index, feature]));
  const fieldOf = (feature) => byId(`field-${feature.index}`);

  // The code of the value in a field, or null if it is not valid. An empty field is a missing value, where the column
  // has such values.
  function codeOf(feature) {
    const text = fieldOf(feature).value.trim();
    const number = Number(text);
    if (text === "" && feature.missing) return data.missingCode;
    if (text === "" || !Number.isFinite(number)) return null;
    if (feature.categories.length > 0) return number;
    if (feature.kind === "binned") return feature.edges.filter((edge) => edge < number).length;
    const moves = feature.moves ?? {};
    const outside = number < (moves.lower ?? -Infinity) || number > (moves.upper ?? Infinity);
    return Number.isInteger(number) && !outside ? number : null;
  }

  function valueText(feature, code) {
    if (code === data.missingCode) return data.missingText;
    if (feature.categories.length > 0) return feature.categories[code];
    if (feature.kind !== "binned") return String(code);
    if (code === 0) return `at most ${feature.edges[0]}`;
    const low = `more than ${feature.edges[code - 1]}`;
    return code === feature.edges.length ? low : `${low}, at most ${feature.edges[code]}`;
  }

  function goesLeft(node, codes) {
    const code = codes.get(node.feature);
    if (code === data.missingCode) return node.missingLeft;
    return features.get(node.feature).ordered ? code <= node.code : code === node.code;
  }

  // The features that a tree uses.
  function usedFeatures(node) {
    if (node.label !== undefined) return [];
    return [...new Set([node.feature, ...usedFeatures(node.yes), ...usedFeatures(node.no)])];
  }

  // ---- Trying a record: its margin ---------------------------------------------------------------------------------

  // A limit is what a path of the tree demands of one feature: { low, high, missing } or { allowed, missing }.
  // A move is { cost, code }: the cheapest one into a limit, and the code that it leads to. Infinity is an impossible
  // move; a value that is within the limit already needs none.
  const IMPOSSIBLE = { cost: Infinity };

  function isWithin(code, limit) {
    if (code === data.missingCode) return limit.missing;
    return limit.allowed ? limit.allowed.has(code) : code >= limit.low && code <= limit.high;
  }

  // Whether the page knows what moving a value costs.
  function hasCosts(feature, code) {
    const moves = feature.moves;
    if (moves === null) return false;
    if (moves.table !== null) return moves.codes.includes(code);
    return code === data.missingCode || moves.first === null || code - moves.first in moves.costs;
  }

  function moveInto(feature, code, limit) {
    const moves = feature.moves;
    if (isWithin(code, limit)) return { cost: 0 };
    if (moves.table !== null) return moveByTable(moves, code, limit);
    const missingCost = moves.missing ?? Infinity;
    const move = code === data.missingCode ? moveFromMissing(feature, limit, missingCost) : moveValue(moves, code, limit);
    return limit.missing && missingCost < move.cost ? { cost: missingCost, code: data.missingCode } : move;
  }

  // The costs of a pair table depend on both values.
  function moveByTable(moves, code, limit) {
    const costs = moves.table[moves.codes.indexOf(code)];
    let best = IMPOSSIBLE;
    moves.codes.forEach((other, k) => {
      if (isWithin(other, limit) && costs[k] !== null && costs[k] < best.cost) best = { cost: costs[k], code: other };
    });
    return best;
  }

  // From a missing value, all observed values cost the same; the one nearest the middle of the column is the example.
  // Only ordered features have missing values: in a categorical one, they are a category.
  function moveFromMissing(feature, limit, cost) {
    const low = Math.max(limit.low, feature.moves.lower ?? -Infinity);
    const high = Math.min(limit.high, feature.moves.upper ?? Infinity);
    return low <= high ? { cost, code: Math.min(Math.max(feature.middle, low), high) } : IMPOSSIBLE;
  }

  function moveValue(moves, code, limit) {
    const costs = (moves.first === null ? moves.costs[0] : moves.costs[code - moves.first]).map((cost) => cost ?? Infinity);
    if (limit.allowed) return moveCategory(costs, code, limit.allowed);
    const target = Math.min(Math.max(code, limit.low, moves.lower ?? -Infinity), limit.high, moves.upper ?? Infinity);
    if (target === code || target < limit.low || target > limit.high) return IMPOSSIBLE;
    const steps = Math.abs(target - code);
    const allowed = (target > code ? moves.mayRise : moves.mayFall) && steps <= (moves.steps ?? Infinity);
    return allowed ? { cost: costs[0] * steps, code: target } : IMPOSSIBLE;
  }

  // One cost for all categories, or the sum of the costs of both.
  function moveCategory(costs, code, allowed) {
    let best = IMPOSSIBLE;
    for (const other of allowed) {
      const cost = costs.length > 1 ? costs[code] + costs[other] : costs[0];
      if (cost < best.cost) best = { cost, code: other };
    }
    return best;
  }

  // What remains of a limit on one side of a split.
  function narrowed(limit, node, yes) {
    const missing = limit.missing && node.missingLeft === yes;
    if (limit.allowed) {
      return { ...limit, missing, allowed: new Set([...limit.allowed].filter((code) => (code === node.code) === yes)) };
    }
    if (yes) return { ...limit, missing, high: Math.min(limit.high, node.code) };
    return { ...limit, missing, low: Math.max(limit.low, node.code + 1) };
  }

  function wholeDomain(feature) {
    const allowed = feature.ordered ? null : new Set(feature.categories.keys());
    return { low: -Infinity, high: Infinity, missing: feature.missing, allowed };
  }

  // The cheapest changes that give a record another prediction: its margin.
  function cheapestFlip(tree, codes, label) {
    let best = { cost: Infinity, changes: [] };
    const visitLeaf = (limits) => {
      let cost = 0;
      const changes = [];
      for (const [index, limit] of limits) {
        const feature = features.get(index);
        const move = moveInto(feature, codes.get(index), limit);
        cost += move.cost;
        if (move.code !== undefined) changes.push({ feature, code: move.code });
      }
      if (cost < best.cost) best = { cost, changes };
    };
    const visit = (node, limits) => {
      if (node.label !== undefined) {
        if (node.label !== label) visitLeaf(limits);
        return;
      }
      const limit = limits.get(node.feature) ?? wholeDomain(features.get(node.feature));
      visit(node.yes, new Map(limits).set(node.feature, narrowed(limit, node, true)));
      visit(node.no, new Map(limits).set(node.feature, narrowed(limit, node, false)));
    };
    visit(tree, new Map());
    return best;
  }

  // ---- Trying a record: the result ---------------------------------------------------------------------------------

  // Append an element with text. Text from the table is given as an array of one entry and isolated, so that its
  // writing direction does not affect what surrounds it.
  function append(parent, tag, ...parts) {
    const child = document.createElement(tag);
    for (const part of parts) {
      if (Array.isArray(part)) append(child, "bdi", part[0]);
      else child.append(part);
    }
    parent.append(child);
    return child;
  }

  function commaSeparated(names) {
    return names.flatMap((name, k) => (k > 0 ? [", ", [name]] : [[name]]));
  }

  // Codes by feature of the fields that a tree uses, and the names of those that are not valid. Other fields are
  // disabled.
  function readFields(used) {
    const codes = new Map();
    const invalid = [];
    for (const feature of data.features) fieldOf(feature).disabled = !used.includes(feature);
    for (const feature of used) {
      const code = codeOf(feature);
      const field = fieldOf(feature);
      field.setAttribute("aria-invalid", String(code === null && field.value !== ""));
      if (code === null) invalid.push(feature.name);
      codes.set(feature.index, code);
    }
    return { codes, invalid };
  }

  // Follow a record to its leaf; returns the leaf, its path, and a list of the questions on the way.
  function follow(tree, codes) {
    const steps = document.createElement("ol");
    let node = tree;
    let path = "t";
    while (node.label === undefined) {
      const yes = goesLeft(node, codes);
      const value = valueText(features.get(node.feature), codes.get(node.feature));
      const question = panel().querySelector(`g.question[data-path="${path}"] title`).textContent;
      append(steps, "li", [question], yes ? " Yes: it is " : " No: it is ", [value], ".");
      path += yes ? "y" : "n";
      node = yes ? node.yes : node.no;
    }
    return { leaf: node, path, steps };
  }

  function updateResult() {
    if (byId("record-form") === null) return;
    const result = byId("result");
    const tree = data.levels[level];
    const used = usedFeatures(tree).sort((a, b) => a - b).map((index) => features.get(index));
    const { codes, invalid } = readFields(used);
    result.replaceChildren();
    delete result.dataset.prediction;
    delete result.dataset.margin;
    if (invalid.length > 0) {
      append(result, "p", "Waiting for a valid answer: ", ...commaSeparated(invalid));
      recordPath = null;
      trace(null);
      return;
    }
    const { leaf, path, steps } = follow(tree, codes);
    const prediction = data.classes[leaf.label];
    append(append(result, "p", "Prediction: "), "strong", [prediction]);
    if (steps.children.length > 0) result.append(steps);
    result.dataset.prediction = prediction;
    result.dataset.leaf = leaf.leaf;
    if (used.every((feature) => hasCosts(feature, codes.get(feature.index)))) showMargin(result, tree, codes, leaf.label);
    else append(result, "p", "This page does not know what changes of these answers cost, so it shows no margin.");
    recordPath = path;
    trace(path);
  }

  function showMargin(result, tree, codes, label) {
    const { cost, changes } = cheapestFlip(tree, codes, label);
    result.dataset.margin = cost;
    if (cost === Infinity) {
      append(result, "p", "No possible change of the answers would alter this prediction.");
      return;
    }
    const texts = changes.flatMap(({ feature, code }, k) => [
      k > 0 ? "; " : "", [feature.name],
      " from ", [valueText(feature, codes.get(feature.index))],
      " to ", [valueText(feature, code)],
    ]);
    if (cost === 0) {
      append(result, "p", "Margin 0: a change at no cost alters the prediction: ", ...texts, ".");
      return;
    }
    const share = 100 * Math.exp(-cost);
    const percent = share >= 9.5 ? share.toFixed(0) : share.toPrecision(2);
    const likelihood = data.calibrated ? ` It is ${percent} % as likely as no change.` : "";
    const opening = `Margin ${cost.toFixed(2)}: the cheapest change that alters the prediction is `;
    append(result, "p", opening, ...texts, `.${likelihood}`);
  }

  // ---- The curves --------------------------------------------------------------------------------------------------

  // Show the curves' values at a share of the largest budget.
  function readCurves(share) {
    const curves = byId("curves");
    const guide = byId("guide");
    const position = Math.min(Math.max(share, 0), 1);
    const x = Number(curves.dataset.left) + position * Number(curves.dataset.width);
    guide.setAttribute("x1", x);
    guide.setAttribute("x2", x);
    guide.setAttribute("visibility", "visible");
    const plausibility = Math.exp((-position * data.largestBudget) / data.totalWeight);
    const readings = Object.entries(data.curves).map(([name, accuracies]) => {
      const accuracy = accuracies[Math.round(position * (accuracies.length - 1))];
      return `${name} ${(100 * accuracy).toFixed(1)} %`;
    });
    const text = `At plausibility ${plausibility.toFixed(3)}: ${readings.join(", ")}.`;
    byId("curve-text").textContent = text;
    byId("curve-slider").setAttribute("aria-valuetext", text);
  }

  const curves = byId("curves");
  if (curves !== null) {
    curves.addEventListener("pointermove", (event) => {
      const box = curves.getBoundingClientRect();
      const scale = curves.viewBox.baseVal.width / box.width;
      readCurves(((event.clientX - box.left) * scale - Number(curves.dataset.left)) / Number(curves.dataset.width));
    });
    byId("curve-slider").addEventListener("input", (event) => readCurves(event.target.value / 100));
  }

  // ---- Copying rules -----------------------------------------------------------------------------------------------

  async function copy(button) {
    const source = byId(button.dataset.copy);
    try {
      await navigator.clipboard.writeText(source.textContent);
      button.textContent = "Copied";
    } catch {
      getSelection().selectAllChildren(source);
      button.textContent = "Selected: press Ctrl+C";
    }
    setTimeout(() => (button.textContent = "Copy"), 2000);
  }
  for (const button of all("[data-copy]")) button.addEventListener("click", () => copy(button));

  const slider = byId("slider");
  if (slider !== null) slider.addEventListener("input", () => showLevel(Number(slider.value)));
  const form = byId("record-form");
  if (form !== null) {
    form.addEventListener("input", updateResult);
    form.addEventListener("submit", (event) => event.preventDefault());
  }
  showLevel(data.chosen);
})();
