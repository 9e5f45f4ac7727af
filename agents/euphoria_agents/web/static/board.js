// The board and the players, drawn from a view: what the server says that this seat may know.

import { el, hidden, icon, many, symbol } from "./common.js";

export const STARS = 10; // each player has
const BONUS_STEPS = { 2: "1 more commodity in the area", 5: "the tunnel gives both", 8: "hidden recruits show themselves", 11: "a star on each active recruit" };

export function die([seat, face]) {
  return symbol(`die-${seat}-${face}`, `player ${seat}'s ${face}`, "die", "0 0 40 26");
}

const star = (seat) => symbol(`token-${seat}`, "", "token", "0 0 24 24");
export const badge = (seat) => symbol(`badge-${seat}`, "", "badge", "0 0 24 24");

function stars(label, seats, places) {
  const empty = Array.from({ length: Math.max(0, places - seats.length) }, () => el("span", { class: "star empty", "aria-hidden": "true" }));
  return el("span", { class: "stars" }, hidden(`${label}: ${seats.length ? `stars of ${seats.map((k) => `player ${k}`).join(", ")}` : "no star"}`), seats.map(star), empty);
}

const GROUPS = ["artifact", "resource", "commodity", "other commodity"];

// The units that something costs, as symbols; an artifact of some kind is named besides.
function cost(facts, units) {
  return el("span", { class: "cost" }, units.map(([item, n]) => {
    const kind = facts.goods.includes(item) || GROUPS.includes(item) ? item : "artifact";
    return el("span", {}, hidden(`${n} ${item} `), el("span", { "aria-hidden": "true" }, String(n)), icon(kind), kind === item ? null : el("span", { "aria-hidden": "true" }, ` ${item}`));
  }));
}

function track(name, value, end, marks = {}) {
  const steps = Array.from({ length: end + 1 }, (_, k) => el("span", { class: `step${k <= value && value ? " reached" : ""}${k in marks ? " bonus" : ""}`, title: marks[k] ? `${k}: ${marks[k]}` : null }, k === value || k in marks ? String(k) : ""));
  return el("span", { class: "track", role: "img", "aria-label": `${name} ${value} of ${end}` }, el("span", { "aria-hidden": "true" }, steps));
}

// facts: what is printed; view: the game; moves: space -> how many legal moves; choose(space): the space was clicked; last:
// where the last worker was placed; heat: space -> the share of the visits of a search.
export function board(facts, view, { moves = {}, choose = null, last = "", heat = {} } = {}) {
  const cell = (space, { title, note = "", words, price, open = true, more = [], workers }) => {
    const inside = [
      el("span", { class: "name" }, title),
      space === last && el("span", { class: "last" }, "placed last"),
      heat[space] >= 0.005 && el("span", { class: "heat" }, `${Math.round(100 * heat[space])} %`, hidden(" of the search")),
      note && el("span", { class: "note" }, note),
      price?.length ? cost(facts, price) : null,
      el("span", { class: "dice" }, workers ?? (view.workers[space] ?? []).map(die)),
      words && el("span", { class: "words" }, words),
      ...more,
    ];
    const n = moves[space] ?? 0;
    const kind = `space${open ? "" : " closed"}`;
    const made = !n || !choose ? el("div", { class: kind, "data-space": space }, inside) : el("button", { class: `${kind} playable`, type: "button", id: `space-${space}`, "data-space": space, onclick: () => choose(space) }, inside, el("span", { class: "count" }, many(n, "move")));
    if (heat[space]) made.style.setProperty("--heat", `${Math.round(60 * heat[space])}%`);
    if (space === last) made.classList.add("latest");
    return made;
  };
  const plain = (space, extra = {}) => cell(space, { title: facts.spaces[space].title, price: facts.spaces[space].cost, words: facts.spaces[space].words, ...extra });
  const area = (space) => {
    const sum = (view.workers[space] ?? []).reduce((total, [, face]) => total + face, 0);
    return plain(space, { note: sum ? `sum ${sum}` : "empty", price: [] });
  };
  const site = (market, slots, number) => {
    const there = view.markets[market];
    if (there.tile) {
      const tile = facts.tiles[there.tile];
      return cell(market, { title: tile.title, price: tile.cost, words: `A star in the territory; for those without a star here: ${tile.words}`, more: [stars("on this market", there.stars, 0)] });
    }
    const taken = slots.filter((slot) => view.workers[slot]?.length).length;
    return el("div", { class: "space site" }, el("span", { class: "name" }, `Site ${number}`), el("span", { class: "note" }, `${taken} of ${view.workers_to_build} workers`),
      el("span", { class: "slots" }, slots.map((slot) => cell(slot, { title: hidden(facts.spaces[slot].title), price: facts.spaces[slot].cost }))), el("span", { class: "words" }, "The market lies face down until it is built."));
  };
  const region = (r) => el("section", { class: `region ${r.faction}`, "aria-labelledby": `region-${r.faction}` },
    el("header", {}, el("h3", { id: `region-${r.faction}` }, r.title), el("span", { class: "label" }, "allegiance"), track(`${r.title}: allegiance`, view.allegiance[r.faction], 11, BONUS_STEPS),
      el("span", { class: "label" }, "territory"), stars("territory", view.territories[r.territory], view.players.length)),
    el("div", { class: "cells" }, area(r.area),
      r.tunnel && plain(r.tunnel, { note: `miner ${view.miners[r.faction]} of 9`, more: [track("miner", view.miners[r.faction], 9, { 6: "hidden recruits show themselves", 9: "the tunnel's end opens" })] }),
      r.tunnel_end && plain(r.tunnel_end, { open: view.miners[r.faction] >= 9, note: view.miners[r.faction] >= 9 ? "open" : "closed" }),
      r.markets.map((market, k) => site(market, r.slots[k], k + 1)), r.spaces.map((space) => plain(space))));
  const tank = el("section", { class: "region tank", "aria-labelledby": "region-tank" }, el("header", {}, el("h3", { id: "region-tank" }, "Worker tank and cards"),
    el("span", { class: "label" }, `${many(view.deck_size, "artifact")} in the deck; discarded: ${Object.entries(view.discards).filter(([, n]) => n).map(([name, n]) => `${n} ${name}`).join(", ") || "none"}`)),
    el("div", { class: "cells" }, facts.tank.map((space) => plain(space))));
  return [...facts.regions.map(region), tank];
}

function recruit(facts, { name, active, star: starred }, seat) {
  const card = facts.recruits[name];
  return el("details", { class: `recruit ${card.faction}`, id: `recruit-${seat}-${name}` }, el("summary", {}, card.title, active ? "" : " (hidden)", starred ? [hidden(", starred"), star(seat)] : null), el("p", {}, card.words));
}

// Identifiers of cards in a line as they are called.
const inWords = (facts, line) => line.replace(/[a-z]+(_[a-z]+)*/g, (name) => (facts.recruits[name] ?? facts.tiles[name])?.title ?? name);

// What one must know of another player at any time.
export function rival(view, p, seat) {
  const known = `${STARS - p.stars} of ${view.stars_to_win} stars, knowledge ${p.knowledge || "–"}, morale ${p.morale || "–"}, ${many(p.hand_size, "artifact")}`;
  return el("p", { class: `rival seat${p.seat}` }, badge(p.seat), el("b", {}, seat.name), el("span", { class: "dice" }, p.workers.map((face) => die([p.seat, face]))), el("span", { class: "known" }, known));
}

export function player(facts, view, p, seat, you) {
  const placed = STARS - p.stars;
  const tag = p.rank ? `rank ${p.rank}` : [p.active && "on turn", p.deciding && "decides"].filter(Boolean).join(", ");
  const goods = [...facts.goods.map((name) => [name, p.goods[name] ?? 0]), ["artifact", p.hand_size]];
  const hand = p.artifacts && Object.entries(p.artifacts).filter(([, n]) => n).map(([name, n]) => `${n} ${name}`).join(", ");
  return el("section", { class: `player seat${p.seat}${p.deciding ? " deciding" : ""}`, "aria-labelledby": `player-${p.seat}` },
    el("header", {}, el("h3", { id: `player-${p.seat}` }, badge(p.seat), el("span", {}, hidden(`player ${p.seat}: `), seat.name, you === p.seat && seat.name !== "You" ? " (you)" : "")), seat.spec !== seat.name && you !== p.seat && el("span", { class: "label" }, seat.spec ?? "person"), tag && el("span", { class: "tag" }, tag)),
    el("dl", { class: "facts" },
      el("div", {}, el("dt", {}, "stars"), el("dd", {}, `${placed} of ${view.stars_to_win}`)),
      el("div", {}, el("dt", {}, "knowledge"), el("dd", {}, String(p.knowledge || "–"))),
      el("div", {}, el("dt", {}, "morale"), el("dd", {}, String(p.morale || "–"))),
      el("div", {}, el("dt", {}, "workers"), el("dd", { class: "dice" }, p.workers.map((face) => die([p.seat, face])), p.on_board ? ` + ${p.on_board} out` : p.workers.length ? null : "none"))),
    el("ul", { class: "goods", "aria-label": "goods" }, goods.map(([name, n]) => el("li", { class: n ? "" : "none", title: name }, icon(name), hidden(name + " "), String(n)))),
    hand ? el("p", {}, "hand: ", hand) : null,
    p.recruits.map((one) => recruit(facts, one, p.seat)),
    p.hidden ? el("p", { class: "label" }, many(p.hidden, "hidden recruit")) : null,
    p.dilemma ? el("details", { class: "recruit", id: `dilemma-${p.seat}` }, el("summary", {}, `dilemma: ${p.dilemma}${p.resolved ? `, resolved for a ${p.resolved}` : ""}`), el("p", {}, facts.dilemmas[p.dilemma])) : null,
    p.penalties.length ? el("details", { class: "recruit penalties", id: `penalties-${p.seat}` }, el("summary", {}, many(p.penalties.length, "penalty").replace("penaltys", "penalties")), el("ul", {}, p.penalties.map((tile) => el("li", {}, `${facts.tiles[tile].title}: ${facts.tiles[tile].words}`)))) : null,
    [...p.notes, ...p.asides].map((line) => el("p", { class: "label" }, inWords(facts, line))));
}
