"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const root = document.documentElement;
  const byId = (id) => document.getElementById(id);
  const all = (selector, within = document) => [...within.querySelectorAll(selector)];
  root.classList.add("js");

  // ---- The tree: tracing a way -------------------------------------------------------------------------------------

  let level = data.chosen;
  const panel = () => byId(`level-${level}`);

  // Everything on the way to a place, and the card of the leaf there.
  function trace(way) {
    const parts = all("[data-way]", panel());
    for (const part of parts) part.classList.toggle("on", way !== null && way.startsWith(part.dataset.way));
    const leaf = parts.find((part) => part.dataset.way === way && part.dataset.leaf !== undefined);
    for (const card of all("[data-card]", panel())) {
      card.classList.toggle("on", leaf !== undefined && card.dataset.card === leaf.dataset.leaf);
    }
  }

  function placeOf(target) {
    return target instanceof Element ? target.closest("[data-way]") : null;
  }

  for (const name of ["pointerover", "focusin"]) {
    document.addEventListener(name, (event) => {
      const part = placeOf(event.target);
      if (part !== null) trace(part.dataset.way);
    });
  }
  for (const name of ["pointerout", "focusout"]) {
    document.addEventListener(name, (event) => {
      if (placeOf(event.target) !== null) trace(tracedRecord);
    });
  }

  // Arrow keys walk along the tree: right to yes, down to no, left back.
  document.addEventListener("keydown", (event) => {
    const part = placeOf(event.target);
    if (part === null) return;
    const way = part.dataset.way;
    const to = { ArrowRight: `${way}y`, ArrowDown: `${way}n`, ArrowLeft: way.slice(0, -1), ArrowUp: way.slice(0, -1) }[event.key];
    const next = to && panel().querySelector(`g[tabindex][data-way="${to}"]`);
    if (next) {
      event.preventDefault();
      next.focus();
    }
  });

  // ---- The slider along the path -----------------------------------------------------------------------------------

  function show(number) {
    level = number;
    for (const other of all("details.level")) {
      other.open = true;
      other.hidden = other !== panel();
    }
    for (const board of all("[data-facts]")) board.hidden = Number(board.dataset.facts) !== number;
    for (const row of all("[data-row]")) row.classList.toggle("here", Number(row.dataset.row) === number);
    const slider = byId("slider");
    if (slider !== null) {
      slider.value = number;
      const words = panel().querySelector("summary").textContent;
      byId("slider-words").textContent = words;
      slider.setAttribute("aria-valuetext", words);
    }
    judge();
  }

  // ---- Trying a record ---------------------------------------------------------------------------------------------

  let tracedRecord = null;
  const features = new Map(data.features.map((feature) => [feature.index, feature]));

  // The code of what is in a field, or null if it does not fit. An empty field is no answer, where that is known.
  function codeOf(feature) {
    const text = byId(`field-${feature.index}`).value.trim();
    const number = Number(text);
    if (text === "" && feature.missing) return data.noAnswer;
    if (text === "" || !Number.isFinite(number)) return null;
    if (feature.answers.length > 0) return number;
    if (feature.kind === "binned") return feature.edges.filter((edge) => edge < number).length;
    const moves = feature.moves ?? {};
    const outside = number < (moves.lower ?? -Infinity) || number > (moves.upper ?? Infinity);
    return Number.isInteger(number) && !outside ? number : null;
  }

  function goesLeft(node, codes) {
    const value = codes.get(node.feature);
    if (value === data.noAnswer) return node.missingLeft;
    return features.get(node.feature).ordered ? value <= node.code : value === node.code;
  }

  // Whether limits allow a code.
  function fits(code, limit) {
    if (code === data.noAnswer) return limit.missing;
    return limit.allowed ? limit.allowed.has(code) : code >= limit.low && code <= limit.high;
  }

  // The price of bringing a value within limits: { low, high, missing } or { allowed }; Infinity if it cannot.
  function priceInto(feature, value, limit) {
    const moves = feature.moves;
    if (fits(value, limit)) return { price: 0 };
    if (moves.table !== null) {
      const row = moves.table[moves.codes.indexOf(value)];
      let best = { price: Infinity };
      moves.codes.forEach((code, k) => {
        if (fits(code, limit) && row[k] !== null && row[k] < best.price) best = { price: row[k], code };
      });
      return best;
    }
    const change = moves.missing ?? Infinity;
    const other = value === data.noAnswer ? anyAnswer(feature, limit, change) : priceOfAnswer(feature, value, limit);
    return limit.missing && change < other.price ? { price: change, code: data.noAnswer } : other;
  }

  // From no answer to any that fits.
  function anyAnswer(feature, limit, price) {
    const low = Math.max(limit.low, feature.moves.lower ?? -Infinity);
    const high = Math.min(limit.high, feature.moves.upper ?? Infinity);
    return low <= high ? { price, code: Math.min(Math.max(feature.middle, low), high) } : { price: Infinity };
  }

  function priceOfAnswer(feature, value, limit) {
    const moves = feature.moves;
    const prices = moves.first === null ? moves.prices[0] : moves.prices[value - moves.first];
    const number = (price) => (price === null ? Infinity : price);
    if (limit.allowed) {
      let best = { price: Infinity };
      for (const code of limit.allowed) {
        const price = prices.length > 1 ? number(prices[value]) + number(prices[code]) : number(prices[0]);
        if (price < best.price) best = { price, code };
      }
      return best;
    }
    const code = Math.min(Math.max(value, limit.low, moves.lower ?? -Infinity), limit.high, moves.upper ?? Infinity);
    if (code === value) return { price: value < limit.low || value > limit.high ? Infinity : 0 };
    if (code < limit.low || code > limit.high) return { price: Infinity };
    const steps = Math.abs(code - value);
    const allowed = (code > value ? moves.mayRise : moves.mayFall) && steps <= (moves.steps ?? Infinity);
    return allowed ? { price: number(prices[0]) * steps, code } : { price: Infinity };
  }

  // The cheapest changes that give a record another prediction.
  function cheapestTurn(tree, codes, label) {
    let best = { price: Infinity, changes: [] };
    const visit = (node, limits) => {
      if (node.label !== undefined) {
        if (node.label === label) return;
        let price = 0;
        const changes = [];
        for (const [index, limit] of limits) {
          const move = priceInto(features.get(index), codes.get(index), limit);
          price += move.price;
          if (move.code !== undefined) changes.push({ feature: features.get(index), code: move.code });
        }
        if (price < best.price) best = { price, changes };
        return;
      }
      const feature = features.get(node.feature);
      for (const yes of [true, false]) {
        const own = new Map(limits);
        const old = own.get(node.feature) ?? {
          low: -Infinity, high: Infinity, missing: feature.missing,
          allowed: feature.ordered ? null : new Set(feature.answers.keys()),
        };
        const limit = {
          low: old.low, high: old.high, missing: old.missing && node.missingLeft === yes,
          allowed: old.allowed && new Set(old.allowed),
        };
        if (limit.allowed) {
          if (yes) limit.allowed = new Set(old.allowed.has(node.code) ? [node.code] : []);
          else limit.allowed.delete(node.code);
        } else if (yes) limit.high = Math.min(limit.high, node.code);
        else limit.low = Math.max(limit.low, node.code + 1);
        own.set(node.feature, limit);
        visit(yes ? node.yes : node.no, own);
      }
    };
    visit(tree, new Map());
    return best;
  }

  function words(feature, code) {
    if (code === data.noAnswer) return "no answer";
    if (feature.answers.length > 0) return feature.answers[code];
    if (feature.kind !== "binned") return String(code);
    if (code === 0) return `at most ${feature.edges[0]}`;
    const low = `more than ${feature.edges[code - 1]}`;
    return code === feature.edges.length ? low : `${low}, at most ${feature.edges[code]}`;
  }

  // An element with words in it. Words of others come as arrays of one: their direction of writing must stay inside.
  function line(parent, tag, ...pieces) {
    const child = document.createElement(tag);
    for (const piece of pieces) {
      if (Array.isArray(piece)) line(child, "bdi", piece[0]);
      else child.append(piece);
    }
    parent.append(child);
    return child;
  }

  function listed(names) {
    return names.flatMap((name, k) => (k > 0 ? [", ", [name]] : [[name]]));
  }

  // The features that a tree asks for.
  function askedBy(node) {
    if (node.label !== undefined) return [];
    return [...new Set([node.feature, ...askedBy(node.yes), ...askedBy(node.no)])];
  }

  function judge() {
    const form = byId("record-form");
    if (form === null) return;
    const codes = new Map();
    const missing = [];
    const tree = data.levels[level];
    const asked = askedBy(tree).sort((a, b) => a - b).map((index) => features.get(index));
    for (const feature of data.features) byId(`field-${feature.index}`).disabled = !asked.includes(feature);
    for (const feature of asked) {
      const code = codeOf(feature);
      const field = byId(`field-${feature.index}`);
      field.setAttribute("aria-invalid", String(code === null && field.value !== ""));
      if (code === null) missing.push(feature.name);
      codes.set(feature.index, code);
    }
    const result = byId("result");
    result.replaceChildren();
    tracedRecord = null;
    delete result.dataset.prediction;
    delete result.dataset.margin;
    if (missing.length > 0) {
      line(result, "p", "Waiting for an answer that fits: ", ...listed(missing));
      trace(null);
      return;
    }
    const steps = document.createElement("ol");
    let node = tree;
    let way = "t";
    while (node.label === undefined) {
      const feature = features.get(node.feature);
      const yes = goesLeft(node, codes);
      const value = words(feature, codes.get(node.feature));
      const question = panel().querySelector(`g.question[data-way="${way}"] title`).textContent;
      line(steps, "li", [question], yes ? " Yes: it is " : " No: it is ", [value], ".");
      way += yes ? "y" : "n";
      node = yes ? node.yes : node.no;
    }
    const prediction = line(result, "p", "Prediction: ");
    line(prediction, "strong", [data.classes[node.label]]);
    if (steps.children.length > 0) result.append(steps);
    result.dataset.prediction = data.classes[node.label];
    result.dataset.leaf = node.leaf;
    if (asked.every((feature) => priced(feature, codes.get(feature.index)))) sayMargin(result, tree, codes, node.label);
    else line(result, "p", "This page does not know what changes of these answers cost: there is no margin here.");
    tracedRecord = way;
    trace(way);
  }

  // Whether the page knows what a change of a value costs.
  function priced(feature, value) {
    const moves = feature.moves;
    if (moves === null) return false;
    if (moves.table !== null) return moves.codes.includes(value);
    return value === data.noAnswer || moves.first === null || value - moves.first in moves.prices;
  }

  function sayMargin(result, tree, codes, label) {
    const turn = cheapestTurn(tree, codes, label);
    result.dataset.margin = turn.price;
    if (turn.price === Infinity) {
      line(result, "p", "No change of the answers that is possible would alter this prediction.");
      return;
    }
    const changes = turn.changes.flatMap(({ feature, code }, k) => [
      k > 0 ? "; " : "", [feature.name], " from ", [words(feature, codes.get(feature.index))], " to ", [words(feature, code)],
    ]);
    const share = 100 * Math.exp(-turn.price);
    const percent = share >= 9.5 ? share.toFixed(0) : share.toPrecision(2);
    const likely = data.likely ? ` It is ${percent} % as likely as no change.` : "";
    line(
      result,
      "p",
      turn.price === 0 ? "Margin 0: a change that costs nothing alters the prediction: " : `Margin ${turn.price.toFixed(2)}: `,
      turn.price === 0 ? "" : "the cheapest change that alters the prediction is ",
      ...changes,
      turn.price === 0 ? "." : `.${likely}`,
    );
  }

  // ---- The curves --------------------------------------------------------------------------------------------------

  function readCurves(share) {
    const curves = byId("curves");
    const at = Math.min(Math.max(share, 0), 1);
    const guide = byId("guide");
    const x = Number(curves.dataset.left) + at * Number(curves.dataset.width);
    guide.setAttribute("x1", x);
    guide.setAttribute("x2", x);
    guide.setAttribute("visibility", "visible");
    const plausibility = Math.exp((-at * data.largestBudget) / data.nSamples);
    const told = Object.entries(data.curves).map(([name, values]) => {
      const value = values[Math.round(at * (values.length - 1))];
      return `${name} ${(100 * value).toFixed(1)} %`;
    });
    const words = `At plausibility ${plausibility.toFixed(3)}: ${told.join(", ")}.`;
    byId("curve-words").textContent = words;
    byId("curve-place").setAttribute("aria-valuetext", words);
  }

  const curves = byId("curves");
  if (curves !== null) {
    curves.addEventListener("pointermove", (event) => {
      const box = curves.getBoundingClientRect();
      const scale = curves.viewBox.baseVal.width / box.width;
      readCurves(((event.clientX - box.left) * scale - Number(curves.dataset.left)) / Number(curves.dataset.width));
    });
    byId("curve-place").addEventListener("input", (event) => readCurves(event.target.value / 100));
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
  if (slider !== null) slider.addEventListener("input", () => show(Number(slider.value)));
  const form = byId("record-form");
  if (form !== null) {
    form.addEventListener("input", judge);
    form.addEventListener("submit", (event) => event.preventDefault());
  }
  show(data.chosen);
})();
