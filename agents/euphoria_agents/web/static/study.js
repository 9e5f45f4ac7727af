// A recorded game, decision by decision, and what agents think of each.

import { badge, board, player } from "./board.js";
import { call, download, el, fail, get, loadSymbols, post, refill, say, svg } from "./common.js";

const study = location.pathname.split("/")[2];
const api = `/api/studies/${study}`;
const at = (id) => document.getElementById(id);
const percent = (x, digits = 0) => (x == null ? "–" : `${(100 * x).toFixed(digits)} %`);
const signed = (x) => (Math.abs(x) < 0.0005 ? "0 %" : (x > 0 ? "+" : "") + percent(x, 1));
let facts = null;
let game = null; // names, players, lines, record, mistake, judges
let here = null; // the decision that is shown
let wanted = 0; // the decision that was asked for last
let as = "mover"; // whose view: the mover's, a seat's, or everybody's
let judges = []; // one agent, or two side by side
let guessing = false; // whether one tries to find the best move before it is told
let guess = null; // the move that one would play here
const found = {}; // by agent: entries, running, trouble
const asked = {}; // by agent and decision: what it said when asked of this decision alone

const NOTHING = { entries: [], running: false, trouble: "" };
const analysis = (spec) => found[spec] ?? NOTHING;
const total = () => game.lines.length;
const thoughtless = (spec) => !thoughts(spec).length;

// What an agent thinks of the moves here: [{ action, prior, visits, value }].
function thoughts(spec) {
  const entry = analysis(spec).entries[here.ply];
  if (entry) return entry.moves.map(([action, prior, visits, value]) => ({ action, prior, visits, value }));
  return asked[`${spec} ${here.ply}`]?.moves ?? [];
}

const worth = (one) => one?.visits ?? one?.value ?? one?.prior ?? 0;
const whose = (one) => ["mover", "all", String(one.player)].includes(as); // a seat's view leads to its own mistakes
const mistakes = () => analysis(judges[0]).entries.filter((one) => one.regret > game.mistake && whose(one)).map((one) => one.ply);
const told = () => here.played !== null && (!guessing || guess !== null); // whether what was played may be shown

// ------------------------------------------------------------------------------------------------------------- the game

async function seek(ply) {
  const next = (wanted = Math.max(0, Math.min(total(), ply)));
  const seat = as === "mover" ? (game.players[next] ?? "all") : as;
  const now = await get(`${api}/at/${next}${seat === "all" ? "" : `?seat=${seat}`}`);
  if (next !== wanted) return; // the slider has moved on
  [here, guess] = [now, null];
  history.replaceState(null, "", `#${next}`);
  draw();
}

const go = (ply) => seek(ply).catch(fail);

function draw() {
  at("headline").textContent = here.view.headline;
  drawThoughts();
  refill(at("players"), here.view.players.map((p) => player(facts, here.view, p, { name: game.names[p.seat], spec: "" }, null)));
}

function drawThoughts() {
  refill(at("steer"), steering());
  refill(at("moves"), decision());
  refill(at("analysis"), report());
  refill(at("board"), board(facts, here.view, { last: here.last, heat: told() || !guessing ? heat() : {} }));
}

// The share of the visits of a search, by space.
function heat() {
  const visits = new Map(thoughts(judges[0]).map((one) => [one.action, one.visits ?? 0]));
  const all = [...visits.values()].reduce((sum, one) => sum + one, 0);
  const shares = {};
  if (all) for (const move of here.moves) if (move.space) shares[move.space] = (shares[move.space] ?? 0) + visits.get(move.action) / all;
  return shares;
}

const select = (id, label, options, value, choose) => el("select", { id, "aria-label": label, onchange: (event) => choose(event.target.value) }, options.map(([key, text]) => el("option", { value: key, selected: key === value }, text)));

function steering() {
  const wrong = mistakes();
  const button = (id, text, ply, off) => el("button", { type: "button", id, disabled: off, onclick: () => go(ply) }, text);
  const next = wrong.find((ply) => ply > here.ply) ?? wrong[0];
  return [
    el("label", {}, `Decision ${here.ply} of ${total()}`, el("input", { type: "range", id: "slider", min: 0, max: total(), value: here.ply, oninput: (event) => go(Number(event.target.value)) })),
    analysis(judges[0]).entries.length > 0 && chart(),
    el("div", { class: "row" }, button("back", "Back", here.ply - 1, here.ply === 0), button("forward", "Forward", here.ply + 1, here.ply === total()), button("mistake", "Next mistake", next, next === undefined || next === here.ply)),
    el("div", { class: "row" }, el("label", {}, "seen by ", select("as", "seen by", [["mover", "who decides"], ...game.names.map((name, k) => [String(k), name]), ["all", "everybody"]], as, (value) => { as = value; go(here.ply); })),
      el("label", { class: "check" }, el("input", { type: "checkbox", id: "guessing", checked: guessing, onchange: (event) => { [guessing, guess] = [event.target.checked, null]; drawThoughts(); } }), "try it first")),
    el("div", { class: "row links" }, !here.over && el("a", { id: "branch", href: `/#study=${study}&ply=${here.ply}` }, "Play on from here"), el("a", { href: `/edit#${study}/${here.ply}` }, "Edit this position"),
      el("button", { type: "button", id: "save", onclick: () => download("game.record", game.record) }, "Record"), game.host && el("button", { type: "button", id: "delete", onclick: remove }, "Delete")),
  ];
}

function decision() {
  if (here.over) return el("h2", { id: "question" }, "The game has ended.");
  const who = el("h2", { id: "question" }, badge(here.player), ` ${game.names[here.player]}: ${here.question.replace(/^You: /, "")}`);
  if (guessing && guess === null) {
    return [who, el("p", { class: "label" }, "What would you play?"), el("ul", { class: "stack" }, here.moves.map((move) => el("li", {}, el("button", { class: "move", type: "button", id: `guess-${move.action}`, onclick: () => { guess = move.action; drawThoughts(); } }, el("span", { class: "text" }, move.text)))))];
  }
  const columns = judges.map((spec) => new Map(thoughts(spec).map((one) => [one.action, one])));
  const order = [...here.moves].sort((a, b) => worth(columns[0].get(b.action)) - worth(columns[0].get(a.action)));
  const most = columns.map((column) => Math.max(1, ...[...column.values()].map((one) => one.visits ?? 0)));
  const alone = judges.length === 1; // two leave no room for more
  const cells = (one, k) => [
    alone && el("td", {}, percent(one?.prior)),
    el("td", {}, one?.visits == null ? "–" : el("meter", { min: 0, max: most[k], value: one.visits, title: `${one.visits} visits`, "aria-label": `${one.visits} visits` })),
    el("td", {}, percent(one?.value, 1))];
  const row = (move) => {
    const marks = [move.action === here.played && "played", move.action === guess && "yours"].filter(Boolean);
    return el("tr", { class: marks.length ? "played" : "" }, el("th", { scope: "row" }, move.text, marks.length ? ` (${marks.join(", ")})` : ""), columns.map((column, k) => column.size > 0 && cells(column.get(move.action), k)));
  };
  const heads = (alone ? ["first idea", "visits", "to win"] : ["visits", "to win"]).map((head) => el("th", { scope: "col" }, head));
  const names = !alone && el("tr", {}, el("td", {}), judges.map((spec, k) => columns[k].size > 0 && el("th", { scope: "colgroup", colspan: 2 }, spec)));
  return [who, verdict(), el("div", { class: "scroll", tabindex: 0, role: "group", "aria-label": "moves" }, el("table", {}, el("thead", {}, names, el("tr", {}, el("th", { scope: "col" }, "Move"), columns.map((column) => column.size > 0 && heads.map((head) => head.cloneNode(true))))), el("tbody", {}, order.map(row)))),
    el("div", { class: "row" }, judges.filter(thoughtless).map((spec) => el("button", { type: "button", id: `ask-${spec}`, onclick: () => ask(spec) }, `Ask ${spec} about this decision`)))];
}

function verdict() {
  const entry = analysis(judges[0]).entries[here.ply];
  if (!entry) return null;
  const changes = entry.luck?.some((x) => x) && entry.luck.map((x, k) => `${game.names[k]} ${signed(x)}`).join(", ");
  return [el("p", { class: entry.regret > game.mistake ? "bad" : "label" }, `Regret ${percent(entry.regret, 1)}${entry.regret > game.mistake ? ": a mistake" : ""}`), changes && el("p", { class: "label" }, `Luck after it: ${changes}`)];
}

async function ask(spec) {
  const { ply } = here;
  say("");
  try {
    asked[`${spec} ${ply}`] = await post(`${api}/at/${ply}`, { spec });
    if (here.ply === ply) drawThoughts();
  } catch (error) {
    fail(error);
  }
}

// ----------------------------------------------------------------------------------------------------------- the analysis

function report() {
  const options = game.judges.map((spec) => [spec, spec]);
  const change = (k) => (spec) => {
    judges = (k ? [judges[0], spec] : [spec, judges[1]]).filter((one, place, all) => one && all.indexOf(one) === place);
    Promise.all(judges.map((one) => load(one))).catch(fail);
  };
  return [
    el("h2", {}, "What agents think of it"),
    el("div", { class: "row" }, select("judge", "who judges", options, judges[0], change(0)), select("other", "and beside it", [["", "alone"], ...options], judges[1] ?? "", change(1))),
    judges.map(progress),
    analysis(judges[0]).entries.length ? [el("label", {}, "a mistake has a regret above ", el("input", { type: "number", id: "threshold", min: 0, max: 100, step: 0.5, value: +(100 * game.mistake).toFixed(2), onchange: (event) => { game.mistake = Number(event.target.value) / 100; drawThoughts(); } }), " %"), summary()]
      : el("p", { class: "label" }, "An analysis judges every decision: what a mistake cost, what was luck, and the chances to win over the game."),
  ];
}

function progress(spec) {
  const { entries, running, trouble } = analysis(spec);
  const done = entries.length;
  const button = (id, text, act, kind = "") => el("button", { class: kind, type: "button", id: `${id}-${spec}`, onclick: act }, text);
  return [
    el("div", { class: "row" }, judges.length > 1 && el("b", {}, spec),
      running ? button("stop", "Stop", () => change("DELETE", spec)) : done < total() && button("analyse", done ? "Go on" : "Analyse the game", () => change("POST", spec), "main"),
      done > 0 && button("lines", "JSON lines", () => save(spec)),
      (running || (done > 0 && done < total())) && el("progress", { max: total(), value: done, "aria-label": `decisions judged by ${spec}` }), (running || done > 0) && el("span", { class: "label" }, `${done} of ${total()}`)),
    trouble ? el("p", { class: "bad" }, trouble) : null,
  ];
}

// The chances over the game as lines, below them the regrets as bars.
function chart() {
  const { entries } = analysis(judges[0]);
  const [width, high, low] = [360, 130, 50];
  const x = (ply) => (width * ply) / Math.max(1, total());
  const known = entries.filter((one) => one.values);
  const y = (one, k) => (high * (1 - one.values[k])).toFixed(1);
  const lines = game.names.flatMap((_, k) => {
    const last = known.at(-1);
    const line = svg("polyline", { class: `chance seat${k}`, points: known.map((one) => `${x(one.ply).toFixed(1)},${y(one, k)}`).join(" ") });
    return last ? [line, svg("text", { class: `chance seat${k}`, x: Math.min(width - 8, x(last.ply) + 2), y: Math.max(10, Number(y(last, k))) }, String(k))] : [];
  });
  const most = Math.max(0.1, ...entries.map((one) => one.regret ?? 0));
  const bars = entries.filter((one) => one.regret).map((one) => svg("rect", { class: `regret seat${one.player}`, x: x(one.ply).toFixed(1), y: high + 10 + low * (1 - one.regret / most), width: 1.6, height: (low * one.regret) / most }));
  const axis = (height) => svg("line", { class: "axis", x1: 0, y1: height, x2: width, y2: height });
  const text = (height, words) => svg("text", { class: "words", x: 2, y: height }, words);
  const made = svg("svg", { class: "chart", viewBox: `0 0 ${width} ${high + low + 12}`, role: "img", "aria-label": "Chances to win over the game, and the regret of each decision" },
    axis(high / 2), axis(high), axis(high + 10 + low), ...lines, ...bars, svg("rect", { class: "cursor", x: x(here.ply), y: 0, width: 1, height: high + low + 10 }), text(10, "chance to win 100 %"), text(high / 2 - 2, "50 %"), text(high + 20, `regret, up to ${percent(most)}`));
  made.addEventListener("click", (event) => {
    const box = made.getBoundingClientRect();
    go(Math.round(((event.clientX - box.left) / box.width) * total()));
  });
  return made;
}

function summary() {
  const { entries } = analysis(judges[0]);
  const mean = (all) => (all.length ? all.reduce((sum, one) => sum + one, 0) / all.length : null);
  const row = (name, k) => {
    const regrets = entries.filter((one) => one.player === k && one.regret !== null).map((one) => one.regret);
    const luck = entries.filter((one) => one.luck).map((one) => one.luck[k]);
    return el("tr", {}, el("th", { scope: "row" }, badge(k), ` ${name}`), el("td", {}, percent(mean(regrets), 2)), el("td", {}, String(regrets.filter((one) => one > game.mistake).length)), el("td", {}, luck.length ? signed(luck.reduce((sum, one) => sum + one, 0)) : "–"));
  };
  return el("div", { class: "scroll" }, el("table", {}, el("thead", {}, el("tr", {}, ["Player", "mean regret", "mistakes", "luck"].map((head) => el("th", { scope: "col" }, head)))), el("tbody", {}, game.names.map(row))));
}

async function load(spec) {
  const first = analysis(spec).entries.length;
  const next = await get(`${api}/analyses?spec=${encodeURIComponent(spec)}&from=${first}`);
  if (first > analysis(spec).entries.length) return; // it was begun anew meanwhile
  found[spec] = { ...next, entries: [...analysis(spec).entries.slice(0, first), ...next.entries] };
  if (here) drawThoughts();
  if (next.running) setTimeout(() => judges.includes(spec) && load(spec).catch(fail), 400);
}

async function change(method, spec) {
  say("");
  try {
    await call(method, `${api}/analyses`, { spec });
    await load(spec);
  } catch (error) {
    fail(error);
  }
}

async function save(spec) {
  const answer = await fetch(`${api}/analyses/lines?spec=${encodeURIComponent(spec)}`, { cache: "no-store" });
  download("analysis.jsonl", await answer.text());
}

async function remove() {
  if (!confirm("Delete this study and its analyses?")) return;
  await call("DELETE", api).then(() => (location.href = "/")).catch(fail);
}

document.addEventListener("keydown", (event) => {
  const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
  if (step && here && !["INPUT", "SELECT"].includes(event.target.tagName)) go(here.ply + step);
});

try {
  [, facts, game] = await Promise.all([loadSymbols(), get("/api/facts"), get(api)]);
  judges = [game.judges[0]];
  await seek(Number(location.hash.slice(1)) || 0);
  addEventListener("hashchange", () => seek(Number(location.hash.slice(1)) || 0).catch(fail));
  await load(judges[0]);
} catch (error) {
  fail(error);
  at("headline").textContent = "No study";
}
