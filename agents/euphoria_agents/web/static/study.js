// A recorded game, decision by decision, and what an agent thinks of each.

import { board, player } from "./board.js";
import { Failure, call, el, get, loadSymbols, post, refill, say } from "./common.js";

const study = location.pathname.split("/")[2];
const api = `/api/studies/${study}`;
const at = (id) => document.getElementById(id);
const percent = (x, digits = 0) => (x == null ? "–" : `${(100 * x).toFixed(digits)} %`);
let facts = null;
let game = null; // names, players, lines, mistake
let here = null; // the decision that is shown
let as = "mover"; // whose view: the mover's, a seat's, or everybody's
let spec = "mcts:300:ppo";
let found = { entries: [], running: false, summary: [] };
let wanted = 0;

// -------------------------------------------------------------------------------------------------------------- the game

async function seek(ply) {
  wanted = Math.max(0, Math.min(game.lines.length, ply));
  const asked = wanted;
  const seat = as === "mover" ? game.players[Math.min(asked, game.players.length - 1)] : as;
  const next = await get(`${api}/at/${asked}${seat === "all" ? "" : `?seat=${seat}`}`);
  if (asked !== wanted) return; // the slider has moved on
  here = next;
  history.replaceState(null, "", `#${asked}`);
  draw();
}

const go = (ply) => seek(ply).catch(fail);

function fail(error) {
  if (!(error instanceof Failure)) throw error;
  say(error.message, "bad");
}

function mistakes() {
  return found.entries.filter((one) => one.regret > game.mistake).map((one) => one.ply);
}

function draw() {
  at("headline").textContent = here.view.headline;
  refill(at("steer"), steering());
  refill(at("moves"), decision());
  refill(at("analysis"), analysis());
  refill(at("board"), board(facts, here.view));
  refill(at("players"), here.view.players.map((p) => player(facts, here.view, p, { name: game.names[p.seat], spec: "" }, null)));
}

function steering() {
  const next = mistakes().find((ply) => ply > here.ply);
  const button = (id, text, ply, off) => el("button", { type: "button", id, disabled: off, onclick: () => go(ply) }, text);
  return [
    el("label", {}, `Decision ${here.ply} of ${game.lines.length}`, el("input", { type: "range", id: "slider", min: 0, max: game.lines.length, value: here.ply, oninput: (event) => go(Number(event.target.value)) })),
    el("div", { class: "row" }, button("back", "Back", here.ply - 1, here.ply === 0), button("forward", "Forward", here.ply + 1, here.ply === game.lines.length), button("mistake", "Next mistake", next, next === undefined),
      el("label", {}, "as seen by ", el("select", { id: "as", onchange: (event) => { as = event.target.value; go(here.ply); } },
        [["mover", "who decides"], ...game.names.map((name, k) => [String(k), `${k}: ${name}`]), ["all", "everybody"]].map(([value, text]) => el("option", { value, selected: value === as }, text)))),
      el("a", { href: `/edit#${study}/${here.ply}` }, "Edit this position")),
  ];
}

function decision() {
  if (here.played === null) return el("h2", { id: "question" }, "The game has ended.");
  const entry = found.entries[here.ply];
  const thoughts = new Map((entry?.moves ?? []).map(([action, prior, visits, value]) => [action, { prior, visits, value }]));
  const most = Math.max(1, ...[...thoughts.values()].map((one) => one.visits ?? 0));
  const worth = (move) => thoughts.get(move.action)?.visits ?? thoughts.get(move.action)?.prior ?? 0;
  const order = [...here.moves].sort((a, b) => worth(b) - worth(a));
  const row = (move) => {
    const one = thoughts.get(move.action);
    const played = move.action === here.played;
    return el("tr", { class: played ? "played" : "" }, el("th", { scope: "row" }, move.text, played ? " (played)" : ""),
      one && [el("td", {}, percent(one.prior)), el("td", {}, one.visits == null ? "–" : el("meter", { min: 0, max: most, value: one.visits, "aria-label": `${one.visits} visits` })), el("td", {}, percent(one.value, 1))]);
  };
  return [
    el("h2", { id: "question" }, el("span", { class: `badge seat${here.player}` }, String(here.player)), ` ${game.names[here.player]}: ${here.question}`),
    entry && el("p", { class: entry.regret > game.mistake ? "bad" : "label" }, `Regret ${percent(entry.regret, 1)}; luck ${entry.luck ? entry.luck.map((x, k) => `${k}: ${x >= 0 ? "+" : ""}${(100 * x).toFixed(1)} %`).join(", ") : "unknown"}`),
    el("div", { class: "scroll" }, el("table", {}, el("thead", {}, el("tr", {}, el("th", { scope: "col" }, "Move"), thoughts.size ? ["first idea", "visits", "chance"].map((head) => el("th", { scope: "col" }, head)) : null)), el("tbody", {}, order.map(row)))),
  ];
}

// ----------------------------------------------------------------------------------------------------------- the analysis

function analysis() {
  const done = found.entries.length;
  const total = game.lines.length;
  return [
    el("h2", {}, "What an agent thinks"),
    el("div", { class: "row" },
      el("select", { id: "judge", "aria-label": "who judges", onchange: (event) => { spec = event.target.value; load().catch(fail); } }, ["ppo", "mcts:100:ppo", "mcts:300:ppo", "mcts:1000:ppo"].map((one) => el("option", { value: one, selected: one === spec }, one))),
      found.running ? el("button", { type: "button", id: "stop", onclick: stop }, "Stop") : done < total && el("button", { class: "main", type: "button", id: "analyse", onclick: begin }, done ? "Go on" : "Analyse")),
    done < total && (found.running || done > 0) ? el("p", {}, el("progress", { max: total, value: done, "aria-label": "decisions judged" }), ` ${done} of ${total}`) : null,
    found.trouble ? el("p", { class: "bad" }, found.trouble) : null,
    done ? [chart(), summary()] : el("p", { class: "label" }, "It judges every decision: what a mistake cost, what was luck, and the chances to win over the game."),
  ];
}

const svg = (tag, attributes, ...children) => {
  const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
};

// The chances over the game as lines, below them the regrets as bars.
function chart() {
  const [width, high, low] = [360, 130, 50];
  const x = (ply) => (width * ply) / Math.max(1, game.lines.length);
  const lines = game.names.map((_, k) => svg("polyline", { class: `chance seat${k}`, points: found.entries.filter((one) => one.values).map((one) => `${x(one.ply).toFixed(1)},${(high * (1 - one.values[k])).toFixed(1)}`).join(" ") }));
  const names = game.names.map((_, k) => {
    const last = found.entries.findLast((one) => one.values);
    return last ? svg("text", { class: `chance seat${k}`, x: Math.min(width - 8, x(last.ply) + 2), y: high * (1 - last.values[k]) + 4 }, String(k)) : "";
  });
  const most = Math.max(0.1, ...found.entries.map((one) => one.regret ?? 0));
  const bars = found.entries.filter((one) => one.regret).map((one) => svg("rect", { class: `regret seat${one.player}`, x: x(one.ply).toFixed(1), y: high + 10 + low * (1 - one.regret / most), width: 1.6, height: (low * one.regret) / most }));
  const cursor = svg("rect", { class: "cursor", x: x(here.ply), y: 0, width: 1, height: high + low + 10 });
  const made = svg("svg", { class: "chart", viewBox: `0 0 ${width} ${high + low + 12}`, role: "img", "aria-label": "Chances to win over the game, and the regret of each decision" },
    svg("line", { class: "axis", x1: 0, y1: high, x2: width, y2: high }), svg("line", { class: "axis", x1: 0, y1: high + 10 + low, x2: width, y2: high + 10 + low }), ...lines, ...names, ...bars, cursor);
  made.addEventListener("click", (event) => go(Math.round(((event.clientX - made.getBoundingClientRect().left) / made.getBoundingClientRect().width) * game.lines.length)));
  return made;
}

function summary() {
  return el("div", { class: "scroll" }, el("table", {}, el("thead", {}, el("tr", {}, ["Player", "mean regret", "mistakes", "luck"].map((head) => el("th", { scope: "col" }, head)))),
    el("tbody", {}, found.summary.map((one) => el("tr", {}, el("th", { scope: "row" }, el("span", { class: `badge seat${one.player}` }, String(one.player)), ` ${game.names[one.player]}`), el("td", {}, percent(one.mean_regret, 2)), el("td", {}, String(one.mistakes)), el("td", {}, percent(one.luck, 1)))))));
}

async function load(first = 0) {
  const next = await get(`${api}/analyses?spec=${encodeURIComponent(spec)}&from=${first}`);
  found = { ...next, entries: [...found.entries.slice(0, first), ...next.entries] };
  if (here) {
    refill(at("steer"), steering());
    refill(at("moves"), decision());
    refill(at("analysis"), analysis());
  }
  if (found.running) setTimeout(() => load(found.entries.length).catch(fail), 500);
}

const begin = () => post(`${api}/analyses`, { spec }).then(() => load(found.entries.length)).catch(fail);
const stop = () => call("DELETE", `${api}/analyses`, { spec }).then(() => load(found.entries.length)).catch(fail);

document.addEventListener("keydown", (event) => {
  const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
  if (step && here && !["INPUT", "SELECT"].includes(event.target.tagName)) go(here.ply + step);
});

try {
  await Promise.all([loadSymbols(), get("/api/facts").then((known) => (facts = known)), get(api).then((known) => (game = known))]);
  await seek(Number(location.hash.slice(1)) || 0);
  await load();
} catch (error) {
  fail(error);
  at("headline").textContent = "No study";
}
