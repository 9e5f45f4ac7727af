// The table: the players above the board, the player's own things below it, and the texts of cards.

import { Board, STARS, badge } from "./board.js";
import { hidden, icon, named, svg, tag } from "./elements.js";
import { plural, t } from "./texts.js";

export const KNOWLEDGE_LIMIT = 16; // of the check, R5.3
const shape = (id, kind = "icon") =>
  svg("svg", { class: kind, viewBox: "0 0 16 16", "aria-hidden": "true" }, svg("use", { href: `#icon-${id}` }));
const setText = (node, text) => node.textContent !== text && (node.textContent = text);
const nonZero = (counts) => Object.entries(counts ?? {}).filter(([, n]) => n);

// How well an agent plays, or its spec.
const strength = (facts, spec) => (facts.agent_words[spec] ?? spec).split(": ")[0];

// The sum that the knowledge check compares: knowledge and available workers.
export const checkSum = (p) => p.knowledge + p.workers.reduce((sum, face) => sum + face, 0);

// A number with a symbol; `update(n)` changes its text alone, so that the page is not laid out again.
function counter(kind, label, sign = shape(kind)) {
  const text = tag.span("0");
  const node = tag.span({ class: "count", "data-item": kind, title: label }, sign, hidden(`${label} `), text);
  return {
    node,
    update: (n) => {
      setText(text, String(n));
      node.classList.toggle("none", !n);
    },
  };
}

function pips() {
  const all = Array.from({ length: STARS }, () => shape("star", "pip"));
  const node = tag.span({ class: "pips", role: "img" }, all);
  return {
    node,
    update: (placed, goal, seat) => {
      node.setAttribute("aria-label", t("{n} of {goal} stars", { n: placed, goal }));
      Object.assign(node.dataset, { seat, said: `${placed}/${goal}` });
      all.forEach((pip, k) => {
        pip.classList.toggle("on", k < placed);
        pip.style.display = k < Math.max(goal, placed) ? "" : "none";
      });
    },
  };
}

// A player above the board; `mine`: the viewer, whose dice and goods are in the tray.
function playerCell(facts, seat) {
  const [name, spec, note, out] = ["b", "span", "span", "span"].map((one) => tag[one]());
  [spec.className, note.className, out.className] = ["spec", "note", "out"];
  const stars = pips();
  const marks = {
    check: counter("check", "sum of the knowledge check", "Σ"),
    knowledge: counter("knowledge", "knowledge"),
    morale: counter("morale", "morale"),
  };
  const goods = [...facts.goods, "artifact"].map((item) => [item, counter(item, item)]);
  const hand = tag.span({ class: "hand", "data-seat": seat });
  const node = tag.article(
    { class: `cell seat${seat}`, id: `player-${seat}` },
    tag.div({ class: "line" }, badge(seat), name, spec, note),
    tag.div({ class: "line" }, stars.node, marks.knowledge.node, marks.morale.node, marks.check.node),
    tag.div({ class: "line" }, hand, out),
    tag.div(
      { class: "line goods" },
      goods.map(([, one]) => one.node),
    ),
  );
  const update = (view, p, who, mine) => {
    const placed = STARS - p.stars;
    const left = view.stars_to_win - placed;
    if (name.textContent !== who.name) name.replaceChildren(named(who.name));
    setText(spec, who.spec && who.spec !== who.name ? strength(facts, who.spec) : "");
    setText(note, p.rank ? t("rank {n}", { n: p.rank }) : left === 1 ? t("needs 1 star") : "");
    setText(out, mine ? "" : p.on_board ? `+${p.on_board}` : "");
    out.title = t("{n} on the board", { n: p.on_board });
    stars.update(placed, view.stars_to_win, p.seat);
    marks.check.update(`${checkSum(p)}/${KNOWLEDGE_LIMIT}`);
    marks.check.node.classList.toggle("near", checkSum(p) >= KNOWLEDGE_LIMIT - 3);
    marks.knowledge.update(p.knowledge);
    marks.morale.update(p.morale);
    for (const [item, one] of goods) one.update(item === "artifact" ? p.hand_size : (p.goods[item] ?? 0));
    node.classList.toggle("deciding", p.deciding);
    node.classList.toggle("mine", mine);
    node.classList.toggle("close", left === 1 && !p.rank);
    if (p.deciding) node.setAttribute("aria-current", "true");
    else node.removeAttribute("aria-current");
  };
  return { node, hand, update };
}

// The player's own things, below the board.
function ownTray(facts, seat, explain) {
  const dice = tag.span({ class: "hand big", "data-seat": seat, role: "group", "aria-label": "your workers" });
  const out = tag.span({ class: "out" });
  const goods = facts.goods.map((item) => [item, counter(item, item)]);
  const hand = facts.artifacts.map((item) => [item, counter(item, item)]);
  const meter = tag.span(
    { class: "meter", role: "img" },
    Array.from({ length: KNOWLEDGE_LIMIT }, () => tag.i()),
  );
  const said = tag.span({ class: "said" });
  const cards = tag.div({ class: "cards" });
  const box = (title, ...parts) => tag.div({ class: "box" }, tag.h3(title), parts);
  const node = tag.div(
    { class: `own seat${seat}` },
    box("Workers", dice, out),
    box(
      "Goods",
      tag.div(
        { class: "line goods" },
        goods.map(([, one]) => one.node),
      ),
    ),
    box(
      "Artifacts",
      tag.div(
        { class: "line goods" },
        hand.map(([, one]) => one.node),
      ),
    ),
    box("Knowledge check", meter, said),
    tag.div({ class: "box grow" }, tag.h3("Cards"), cards),
    tag.button({ type: "button", id: "sheet", onclick: () => document.body.classList.toggle("sheet") }, "Your things"),
  );
  let drawn = "";
  const update = (p) => {
    setText(out, p.on_board ? t("{n} on the board", { n: p.on_board }) : "");
    for (const [item, one] of goods) one.update(p.goods[item] ?? 0);
    for (const [item, one] of hand) one.update(p.artifacts?.[item] ?? 0);
    const sum = checkSum(p);
    [...meter.children].forEach((step, k) => (step.className = k < p.knowledge ? "known" : k < sum ? "dice" : ""));
    const parts = { n: p.knowledge, sum, limit: KNOWLEDGE_LIMIT, morale: p.morale };
    meter.setAttribute("aria-label", t("knowledge {n}, with the workers {sum} of {limit}", parts));
    setText(said, t("{n} + workers = {sum} of {limit} · morale {morale}", parts));
    const key = JSON.stringify([p.recruits, p.dilemma, p.resolved, p.penalties]);
    if (key !== drawn) cards.replaceChildren(...ownCards(facts, p, explain));
    drawn = key;
  };
  return { node, hand: dice, update };
}

function ownCards(facts, p, explain) {
  const card = (id, kind, title, note, words) =>
    tag.button(
      {
        type: "button",
        class: `card ${kind}`,
        id,
        onclick: (event) => explain(event.currentTarget, title, tag.p(words)),
      },
      tag.b(title),
      tag.span(note),
    );
  return [
    ...p.recruits.map((one) =>
      card(
        `card-${one.name}`,
        facts.recruits[one.name].faction,
        facts.recruits[one.name].title,
        [one.star && "★ ", t(one.active ? "active" : "hidden")].filter(Boolean).join(""),
        facts.recruits[one.name].words,
      ),
    ),
    p.dilemma &&
      card("card-dilemma", "plain", "Dilemma", p.resolved ? became(p) : t(p.dilemma), facts.dilemmas[p.dilemma]),
    ...p.penalties.map((tile) =>
      card(`card-${tile}`, "penalty", facts.tiles[tile].title, "penalty", facts.tiles[tile].words),
    ),
  ].filter(Boolean);
}

const became = ({ resolved }) => t(resolved === "star" ? "became a star" : "became a recruit");

// A card with its text.
function recruit(facts, { name, active, star }, seat) {
  const card = facts.recruits[name];
  return tag.details(
    { class: `recruit ${card.faction}`, id: `recruit-${seat}-${name}` },
    tag.summary(card.title, active ? "" : " (hidden)", star ? " ★" : ""),
    tag.p(card.words),
  );
}

const ASIDES = {
  recruits_out: "recruits put out: {cards}",
  tiles_out: "tiles put out: {cards}",
  tiles_in: "tiles put in: {cards}",
};

// The cards that the viewer put out of the game or into it.
const asides = (facts, p) =>
  Object.entries(p.asides).map(([key, names]) =>
    t(ASIDES[key], { cards: names.map((name) => (facts.recruits[name] ?? facts.tiles[name]).title).join(", ") }),
  );

// All that the viewer may know of a player, in words; `you`: the seat of the viewer.
export function playerDetails(facts, view, p, who, you) {
  const placed = STARS - p.stars;
  const told = p.rank
    ? t("rank {n}", { n: p.rank })
    : [p.active && t("on turn"), p.deciding && t("decides")].filter(Boolean).join(", ");
  const hand = nonZero(p.artifacts)
    .map(([name, n]) => `${n} × ${t(name)}`)
    .join(", ");
  const goods = [...facts.goods.map((name) => [name, p.goods[name] ?? 0]), ["artifact", p.hand_size]];
  return tag.section(
    { class: `player seat${p.seat}${p.deciding ? " deciding" : ""}`, "aria-label": who.name },
    tag.header(
      tag.h3(badge(p.seat), named(who.name), you === p.seat && who.name !== "You" ? " (you)" : ""),
      who.spec && who.spec !== who.name && tag.span({ class: "label" }, strength(facts, who.spec)),
      told && tag.span({ class: "tag" }, told),
    ),
    tag.p(
      [
        t("{n} of {goal} stars", { n: placed, goal: view.stars_to_win }),
        t("knowledge {n}", { n: p.knowledge || "–" }),
        t("morale {n}", { n: p.morale || "–" }),
        t("check {n} of {limit}", { n: checkSum(p), limit: KNOWLEDGE_LIMIT }),
      ].join(" · "),
    ),
    tag.p(
      { class: "line" },
      p.workers.map((face) => worker(p.seat, face)),
      p.on_board ? t("+ {n} on the board", { n: p.on_board }) : null,
    ),
    tag.p(
      { class: "line goods" },
      goods.map(([name, n]) =>
        tag.span({ class: `count${n ? "" : " none"}`, title: name }, icon(name), hidden(`${name} `), String(n)),
      ),
    ),
    hand && tag.p(t("hand: {cards}", { cards: hand })),
    p.recruits.map((one) => recruit(facts, one, p.seat)),
    p.hidden ? tag.p({ class: "label" }, plural(p.hidden, "1 hidden recruit", "{n} hidden recruits")) : null,
    p.dilemma &&
      tag.details(
        { class: "recruit", id: `dilemma-${p.seat}` },
        tag.summary([t("dilemma: {card}", { card: t(p.dilemma) }), p.resolved && became(p)].filter(Boolean).join(", ")),
        tag.p(facts.dilemmas[p.dilemma]),
      ),
    p.penalties.length
      ? tag.details(
          { class: "recruit penalties", id: `penalties-${p.seat}` },
          tag.summary(plural(p.penalties.length, "1 penalty", "{n} penalties")),
          tag.ul(p.penalties.map((tile) => tag.li(`${facts.tiles[tile].title}: ${facts.tiles[tile].words}`))),
        )
      : null,
    [...p.notes, ...asides(facts, p)].map((line) => tag.p({ class: "label" }, line)),
  );
}

export const worker = (seat, face) =>
  svg(
    "svg",
    { class: "die", viewBox: "0 0 40 26", role: "img", "aria-label": t("a {n}", { n: face }) },
    svg("use", { href: `#worker-${seat}-${face}` }),
  );

// The players in a row, the board and, for the player of `seat`, a tray with their own things. `work`: functions for the
// board; `explain(node, title, text)` tells about a card.
export class Table {
  constructor(facts, players, parents, { seat = null, explain, ...work } = {}) {
    Object.assign(this, { facts, seat, cells: Array.from({ length: players }, (_, k) => playerCell(facts, k)) });
    this.tray = seat === null ? null : ownTray(facts, seat, explain);
    parents.players.replaceChildren(...this.cells.map((one) => one.node));
    parents.players.style.setProperty("--seats", players);
    parents.board.replaceChildren();
    parents.tray?.replaceChildren(...(this.tray ? [this.tray.node] : []));
    const home = (k) => (k === seat ? this.tray : this.cells[k]).hand;
    this.board = new Board(parents.board, { home, ...work });
  }

  // Shows a view; `who`: the name and the spec of each player; `moving`: whether changes are animated; `own`: what the
  // tray shows. Returns the new stars.
  show(view, drawing, who, moving = false, own = view.players[this.seat]) {
    for (const p of view.players) this.cells[p.seat].update(view, p, who[p.seat], p.seat === this.seat);
    this.tray?.update(own);
    const hands = view.players.map((p) => p.workers);
    return this.board.show(drawing, hands, moving);
  }

  // The element of a good of a seat.
  item(seat, name) {
    const wanted = `[data-item="${name}"]`;
    const own = seat === this.seat && this.tray.node.querySelector(wanted);
    return own || this.cells[seat]?.node.querySelector(wanted);
  }

  // The element of a star of a seat.
  pip = (seat) => this.cells[seat]?.node.querySelector(".pip.on") ?? this.cells[seat]?.node;
}

// All that a view tells of the players, in words.
export const holdings = (facts, view, who) => view.players.map((p) => playerDetails(facts, view, p, who[p.seat], null));
