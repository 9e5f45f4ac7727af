// A game: to play it from the seats of this browser, or to watch it.

import { STARS, badge, board, player, rival } from "./board.js";
import { call, download, el, fail, get, loadSymbols, many, post, refill, say } from "./common.js";

const game = location.pathname.split("/")[2];
const api = `/api/games/${game}`;
const at = (id) => document.getElementById(id);
let facts = null;
let state = null; // the last view
let drawnView = ""; // the same as text
let seat = null; // whose view this is; null: what everybody may see
let space = ""; // a space that was clicked
let covered = false; // the screen is being passed on
let hints = null;
let paced = Promise.resolve();
const underWay = new Set(); // requests
let drawn = 0; // lines of the log
const links = JSON.parse(sessionStorage.getItem(`links ${game}`) ?? "[]");

const name = (k) => state.seats[k].name;
const mine = () => seat !== null && state.decider === seat;

async function sit() {
  const token = new URLSearchParams(location.hash.slice(1)).get("token");
  if (!token) return;
  history.replaceState(null, "", location.pathname);
  seat = (await post(`${api}/sit`, { token })).seat;
}

async function refresh() {
  const asked = seat;
  const found = await get(`${api}/view${asked === null ? "" : `?seat=${asked}`}`);
  if (asked === seat && (!state || found.version >= state.version)) show(found);
}

function show(found) {
  const text = JSON.stringify(found);
  if (text === drawnView && state) return; // what one is about to click stays in its place
  drawnView = text;
  if (found.version !== state?.version) [space, hints] = ["", null];
  state = found;
  document.body.dataset.version = found.version;
  const here = state.mine;
  if (seat === null && here.length === 1) return take(here[0]);
  if (here.length > 1 && here.includes(state.decider) && state.decider !== seat) covered = true;
  else if (here.length > 1 && seat === null) covered = true;
  draw();
}

function take(next) {
  [seat, covered, state] = [next, false, null];
  return refresh().then(() => at("moves").focus({ preventScroll: true })).catch(fail);
}

function draw() {
  const headline = state.view.headline.replace(/player (\d)/, (_, k) => name(k));
  at("headline").textContent = headline;
  document.title = `${mine() ? "● " : ""}Euphoria: ${headline}`;
  refill(at("controls"), controls());
  if (covered) {
    const next = state.mine.includes(state.decider) ? state.decider : state.mine[0];
    refill(at("moves"), el("h2", { id: "question" }, `Pass the screen to ${name(next)}`), el("button", { class: "main", type: "button", id: "uncover", onclick: () => take(next) }, `I am ${name(next)}`));
    at("uncover").focus({ preventScroll: true });
    for (const part of ["rivals", "board", "own", "players", "log"]) at(part).replaceChildren();
    drawn = 0;
    return;
  }
  const counts = {};
  for (const move of state.moves) if (move.space) counts[move.space] = (counts[move.space] ?? 0) + 1;
  refill(at("moves"), panel());
  refill(at("board"), board(facts, state.view, { moves: counts, choose, last: state.last }));
  const panels = state.view.players.map((p) => player(facts, state.view, p, state.seats[p.seat], seat));
  refill(at("rivals"), state.view.players.filter((p) => p.seat !== seat).map((p) => rival(state.view, p, state.seats[p.seat])));
  refill(at("own"), panels[seat]);
  refill(at("players"), panels.filter((_, k) => k !== seat));
  drawLog();
}

function drawLog() {
  const log = at("log");
  const first = state.log_from;
  if (drawn < first || drawn > first + state.log.length) log.replaceChildren();
  if (!log.children.length) [drawn] = [first];
  log.append(...state.log.slice(drawn - first).map((line) => el("li", {}, line.split(/player (\d)/i).map((part, k) => (k % 2 ? [badge(part), ` ${name(part)}`] : part)))));
  drawn = first + state.log.length;
  while (log.children.length > 200) log.firstChild.remove();
  at("log-box").scrollTop = log.scrollHeight;
}

function controls() {
  const button = (id, text, onclick, off = false) => el("button", { id, type: "button", disabled: off, onclick }, text);
  const steer = state.host || state.mine.length > 0;
  const agents = !state.over && state.seats.some((one) => one.spec);
  const speeds = [["", "step by step"], ["1.5", "slow"], ["0.5", "steady"], ["0", "at once"]];
  return [
    seat !== null && (!state.over || state.can_undo) && button("undo", "Take back", undo, !state.can_undo),
    mine() && button("hint", "Hint", hint),
    steer && agents && el("label", {}, "Agents play ", el("select", { id: "pace", onchange: (event) => setPace(event.target.value) },
      speeds.map(([value, text]) => el("option", { value, selected: value === (state.pace === null ? "" : String(state.pace)) }, text)))),
    steer && agents && state.pace === null && button("step", "Step", () => act("step"), !state.waits_for_agent),
    seat !== null && !state.over && button("leave", "Hand over my seat", leave),
    (state.over || state.practice) && [button("record", "Record", save), button("study", "Study", study)],
    state.host && state.over && button("delete", "Delete", remove),
  ];
}

// ------------------------------------------------------------------------------------------------------------ the moves

function panel() {
  const help = state.trouble && el("div", { class: "trouble", role: "alert" }, el("p", {}, `The game waits: ${state.trouble}`), (state.host || state.mine.length > 0) && el("div", { class: "row" },
    el("button", { type: "button", id: "retry", onclick: () => act("retry") }, "Try again"),
    state.waits_for_agent && facts.agents.map((spec) => el("button", { type: "button", id: `give-${spec}`, onclick: () => act("seats", { seat: state.decider, spec }) }, `Let ${spec} play on`))));
  const title = state.over ? result() : state.question;
  const head = el("h2", { id: "question" }, mine() ? [badge(seat), " ", title] : title);
  const invitations = links.filter((one) => !state.seats[one.seat].spec).map((one) => el("label", { class: "invitation" }, `Link for ${name(one.seat)} `, el("input", { id: `link-${one.seat}`, readonly: true, value: `${location.origin}/play/${game}#token=${one.token}`, onfocus: (event) => event.target.select() })));
  if (!mine()) return [help, head, state.over ? outcome() : el("p", { class: "label" }, state.waits_for_agent ? `${name(state.decider)} (${state.seats[state.decider].spec}) thinks.` : seat === null ? "You are watching." : `${name(state.decider)} decides.`), invitations];
  const shown = state.moves.filter((move) => !space || move.space === space);
  const groups = Map.groupBy ? Map.groupBy(shown, (move) => move.group) : grouped(shown);
  const advice = hints && state.moves.find((move) => move.action === hints.best);
  return [help, head, advice && el("p", { class: "advice" }, `Advice: ${advice.text}`),
    space && el("p", { class: "row" }, `At the ${facts.spaces[space].title}:`, el("button", { type: "button", id: "all", onclick: () => choose("") }, "All moves")),
    el("div", { class: "groups", onkeydown: walk }, [...groups].map(([group, moves], k) => el("section", { "aria-labelledby": `group-${k}` }, el("h3", { id: `group-${k}` }, group), el("ul", {}, moves.map(button))))),
    invitations];
}

function grouped(moves) {
  const groups = new Map();
  for (const move of moves) groups.set(move.group, [...(groups.get(move.group) ?? []), move]);
  return groups;
}

function button(move) {
  const thought = hints?.moves.find((one) => one.action === move.action);
  const part = (kind, label, text) => text && el("span", { class: kind }, el("b", {}, label), " ", text);
  const share = thought && (thought.value != null ? `${Math.round(100 * thought.value)} % to win` : thought.prior != null ? `the adviser would choose this with ${Math.round(100 * thought.prior)} %` : "");
  return el("li", {}, el("button", { class: "move", type: "button", id: `move-${move.action}`, onclick: () => play(move) }, el("span", { class: "text" }, move.text), part("price", "costs", move.cost), part("gain", "gives", move.gain), part("risk", "risk", move.risk), share && el("span", { class: "hint" }, share, hints.best === move.action ? ": its advice" : "")));
}

// Arrow keys walk through the moves.
function walk(event) {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (!step) return;
  const all = [...at("moves").querySelectorAll("button.move")];
  all[Math.min(all.length - 1, Math.max(0, all.indexOf(document.activeElement) + step))]?.focus();
  event.preventDefault();
}

function choose(next) {
  space = state.moves.some((move) => move.space === next) ? next : ""; // the board may have changed under the click
  draw();
  at("moves").querySelector("button.move")?.focus({ preventScroll: true });
  at("moves").scrollIntoView({ block: "nearest" });
}

function result() {
  const winner = state.view.players.find((p) => p.rank === 1);
  if (state.view.headline.startsWith("cut off")) return "The game was cut off.";
  return winner.seat === seat ? "You have won." : `Player ${winner.seat}, ${name(winner.seat)}, has won.`;
}

function outcome() {
  const order = [...state.view.players].sort((a, b) => a.rank - b.rank);
  return el("ol", { class: "ranking" }, order.map((p) => el("li", { value: p.rank }, badge(p.seat), ` ${name(p.seat)}: ${many(STARS - p.stars, "star")}`)));
}

// -------------------------------------------------------------------------------------------------------------- requests

// The same request once more, such as a double click, counts once.
async function guarded(name, work) {
  if (underWay.has(name)) return;
  underWay.add(name);
  try {
    await work();
    say("");
  } catch (error) {
    fail(error);
    drawnView = ""; // what was chosen and refused is drawn anew
    if (error.status) await refresh().catch(fail);
  } finally {
    underWay.delete(name);
  }
}

const act = (what, body = {}) => guarded(what, async () => {
  await post(`${api}/${what}`, body);
  await refresh();
});

// The last speed that was chosen is the one that counts.
function setPace(value) {
  paced = paced.then(() => act("pace", { pace: value === "" ? null : Number(value) }));
}

const play = (move) => guarded("play", async () => {
  const found = await post(`${api}/moves`, { seat, version: state.version, action: move.action });
  show(found);
  if (!covered) at("moves").focus({ preventScroll: true });
  at("question").scrollIntoView({ block: "nearest" });
});

const undo = () => guarded("undo", async () => show(await post(`${api}/undo`, { seat, version: state.version })));

const hint = () => guarded("hint", async () => {
  const version = state.version;
  const found = await post(`${api}/hint`, { seat, version });
  const worth = (one) => one.visits ?? one.prior ?? one.value ?? 0;
  found.best = found.moves.reduce((best, one) => (worth(one) > worth(best) ? one : best)).action;
  if (state.version === version) [hints] = [found];
  draw();
  at(`move-${found.best}`)?.scrollIntoView({ block: "nearest" });
});

const leave = () => guarded("leave", async () => {
  if (!confirm("Let the computer play on in your seat, to the end? (The game is kept: to go on another time, just close this page.)")) return;
  await post(`${api}/seats`, { seat, spec: facts.agents[0] });
  seat = null;
  await refresh();
});

const save = () => guarded("save", async () => download(`${game}.record`, (await get(`${api}/record`)).record));

const study = () => guarded("study", async () => {
  location.href = `/study/${(await post("/api/studies", { game })).id}`;
});

const remove = () => guarded("remove", async () => {
  if (!confirm("Delete this game for everybody?")) return;
  await call("DELETE", api);
  location.href = "/";
});

// The stream says only that something is new.
function listen() {
  const events = new EventSource(`${api}/events`);
  let lost = false;
  events.onmessage = () => {
    if (lost) say("");
    lost = false;
    refresh().catch(fail);
  };
  events.onerror = () => {
    lost = true;
    say("The server cannot be reached; this page tries again.");
    if (events.readyState === EventSource.CLOSED) setTimeout(listen, 2000);
  };
}

try {
  await Promise.all([sit(), loadSymbols(), get("/api/facts").then((found) => (facts = found))]);
  await refresh();
  listen();
} catch (error) {
  fail(error);
  at("headline").textContent = "No game";
}
