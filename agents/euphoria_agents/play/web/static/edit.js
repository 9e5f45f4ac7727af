// A position: written by clicks on the board, in a form, or as JSON, each in step with the others; the server says
// what is wrong, and draws what is right.

import { Board } from "./board.js";
import { button, choose, download, fail, get, loadSymbols, post, refill, row, say, tag } from "./common.js";
import { readRules, ruleLines, spaceTitle } from "./forms.js";
import { Palette, reachable } from "./palette.js";
import { cell, drawView } from "./seats.js";

const at = (id) => document.getElementById(id);
const WAIT = 250; // milliseconds after the last change, until the server is asked
const FACTIONS = ["euphorian", "subterran", "wastelander", "icarite"];
const UNDONE = 100; // changes that can be taken back
let facts = null;
let palette = null;
let board = null;
let cells = []; // of the players, in a row
const before = []; // what the position was, before each change
let position = {};
let checked = null; // what the server said of it; null while it is asked
let timer = 0;
let asked = 0;

const isObject = (value) => value !== null && typeof value === "object" && !Array.isArray(value);
const list = (value) => (Array.isArray(value) ? value : []);
const players = () => Array.from({ length: count() }, (_, k) => k);
const count = () => Math.min(6, Math.max(2, Number(read(["rules", "num_players"])) || 4));
const keyOf = (path) =>
  path.map((part, k) => (typeof part === "number" ? `[${part}]` : k ? `.${part}` : part)).join("");
const read = (path) =>
  path.reduce((value, part) => (value !== null && typeof value === "object" ? value[part] : undefined), position);

function write(path, value) {
  let holder = position;
  path.slice(0, -1).forEach((part, k) => {
    const fits = typeof path[k + 1] === "number" ? Array.isArray(holder[part]) : isObject(holder[part]);
    if (!fits) holder[part] = typeof path[k + 1] === "number" ? [] : {};
    holder = holder[part];
    while (Array.isArray(holder) && holder.length < path[k + 1]) holder.push({});
  });
  const last = path.at(-1);
  if (value === undefined) delete holder[last];
  else holder[last] = value;
  changed();
}

// As JSON: a line for each key and each player.
function asText() {
  const value = (key, one) =>
    key === "players" && Array.isArray(one)
      ? `[\n${one.map((each) => `  ${JSON.stringify(each)}`).join(",\n")}\n ]`
      : JSON.stringify(one);
  return `{\n${Object.entries(position)
    .map(([key, one]) => ` ${JSON.stringify(key)}: ${value(key, one)}`)
    .join(",\n")}\n}\n`;
}

function changed() {
  at("json").value = asText();
  check();
}

function take(next) {
  position = next;
  // The stars to place are what the others leave, so that these can be changed alone.
  if (!position.pending) for (const one of list(position.players)) if (isObject(one)) delete one.stars;
  changed();
  drawForm();
  drawPalette();
}

function typed() {
  try {
    const next = JSON.parse(at("json").value);
    if (!isObject(next)) throw new SyntaxError("a position is an object");
    position = next;
    drawForm();
    check();
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    asked += 1;
    clearTimeout(timer);
    show({ errors: [{ key: "json", message: error.message }] });
  }
}

// An input with its name, and the line for what is wrong with it; a flag or a long name stands beside the input.
function labelled(label, input) {
  input.setAttribute("aria-describedby", `fault-${input.id}`);
  const parts = [tag.label({ for: input.id }, label), input];
  const kind = (input.type === "checkbox" ? " flag" : "") + (label.length > 24 ? " wide" : "");
  return tag.div(
    { class: `field${kind}` },
    kind ? parts.reverse() : parts,
    tag.span({ class: "fault bad", id: `fault-${input.id}` }),
  );
}

function number(path, label, low, high, usual = "") {
  const input = tag.input({
    type: "number",
    id: keyOf(path),
    min: low,
    max: high,
    placeholder: usual,
    value: read(path) ?? "",
  });
  input.addEventListener("input", () => write(path, input.value === "" ? undefined : Number(input.value)));
  return labelled(label, input);
}

function numbers(path, label, usual = "") {
  const input = tag.input({ type: "text", id: keyOf(path), placeholder: usual, value: list(read(path)).join(" ") });
  input.addEventListener("input", () =>
    write(
      path,
      input.value
        .split(/[\s,]+/)
        .filter(Boolean)
        .map((part) => (Number.isNaN(Number(part)) ? part : Number(part))),
    ),
  );
  return labelled(label, input);
}

function flag(path, label) {
  const input = tag.input({ type: "checkbox", id: keyOf(path), checked: read(path) === true });
  input.addEventListener("change", () => write(path, input.checked));
  return labelled(label, input);
}

function one(path, label, options, then = (value) => write(path, value || undefined), usual = "") {
  const input = choose(keyOf(path), label, options, read(path) ?? usual, then);
  return labelled(label, input);
}

const section = (id, title, ...inside) =>
  tag.details({ id: `part-${id}` }, tag.summary(title), tag.div({ class: "fields" }, inside));
const titles = (cards) =>
  Object.entries(cards)
    .map(([name, card]) => [name, card.title])
    .sort((a, b) => a[1].localeCompare(b[1]));
const redrawn =
  (act) =>
  (...values) => {
    act(...values);
    drawForm();
  };
const names = (words) => words.map((word) => [word, word]);

function drawForm() {
  const markets = facts.regions.flatMap((region) => (region.tunnel ? region.markets : []));
  refill(
    at("form"),
    position.pending !== undefined &&
      tag.p(
        "This is the middle of a decision, and what is pending belongs to exactly this position. ",
        button("drop", "Leave out what is pending", settle),
      ),
    section(
      "turn",
      "Turn and rules",
      one(
        ["player"],
        "who must decide",
        players().map((k) => [k, `player ${k}`]),
        (value) => {
          delete position.active;
          write(["player"], Number(value));
        },
      ),
      number(["turn"], "turns begun", 1, 1e9, "1"),
      one(
        ["rules", "num_players"],
        "number of players",
        [2, 3, 4, 5, 6].map((n) => [n, n]),
        redrawn((value) => {
          if (Array.isArray(position.players)) position.players.length = Math.min(position.players.length, value);
          write(["rules", "num_players"], Number(value));
        }),
        4,
      ),
      Object.entries(facts.rules).map(([key, rule]) =>
        rule.type === "flag"
          ? flag(["rules", key], rule.help)
          : number(["rules", key], rule.help, rule.low, rule.high, rule.value),
      ),
    ),
    players().map(playerForm),
    section(
      "tracks",
      "Allegiances and tunnels",
      FACTIONS.map((name) => number(["allegiance", name], `${name} allegiance`, 0, 11, "0")),
      FACTIONS.slice(0, 3).map((name) => number(["miners", name], `${name} miner`, 0, 9, "0")),
    ),
    section(
      "markets",
      "Markets",
      markets.map((name) =>
        tag.fieldset(
          tag.legend(spaceTitle(facts, name)),
          one(["markets", name, "tile"], "tile", [["", "a random one"], ...titles(facts.tiles)], (value) => {
            if (isObject(position.tiles_out)) delete position.tiles_out[value];
            write(["markets", name, "tile"], value || undefined);
          }),
          flag(["markets", name, "built"], "built"),
          numbers(["markets", name, "stars"], "stars of players", "such as 0 2"),
        ),
      ),
    ),
    section(
      "discards",
      "Discarded artifacts; the others are in the deck",
      facts.artifacts.map((name) => number(["discards", name], name, 0, 6, "0")),
    ),
  );
  showFaults();
}

// Leaves out what is pending, and what a game has only during its setup.
function settle() {
  const setup = position.status === "setup";
  for (const key of ["pending", "active", ...(setup ? ["status", "tiles_in"] : [])]) delete position[key];
  for (const one of setup ? list(position.players) : [])
    for (const key of ["workers", "knowledge", "morale"]) delete one?.[key];
  take({ ...position, turn: Math.max(1, Number(position.turn) || 1) });
}

// A recruit that a player has is not out of the game.
function intoGame(name) {
  if (isObject(position.recruits_out)) delete position.recruits_out[name];
}

function playerForm(k) {
  const path = (...parts) => ["players", k, ...parts];
  const recruits = list(read(path("recruits")));
  const free = titles(facts.recruits).find(
    ([name]) => !list(position.players).some((other) => list(other?.recruits).some((card) => card?.name === name)),
  );
  return section(
    `player-${k}`,
    `Player ${k}`,
    number(path("knowledge"), "knowledge", 1, 6, "3"),
    number(path("morale"), "morale", 1, 6, "1"),
    number(path("stars"), "stars to place", 0, 10, "the rest"),
    numbers(path("workers"), "available workers", "such as 2 5"),
    facts.goods.map((name) => number(path("goods", name), name, 0, 10000, "0")),
    facts.artifacts.map((name) => number(path("artifacts", name), name, 0, 6, "0")),
    recruits.map((_, r) =>
      tag.fieldset(
        { class: "line" },
        tag.legend(`recruit ${r + 1}`),
        one(path("recruits", r, "name"), "card", titles(facts.recruits), (name) => {
          intoGame(name);
          write(path("recruits", r, "name"), name);
        }),
        flag(path("recruits", r, "active"), "active"),
        flag(path("recruits", r, "star"), "star"),
        button(
          `remove-${k}-${r}`,
          "Remove",
          redrawn(() =>
            write(
              path("recruits"),
              recruits.filter((_, other) => other !== r),
            ),
          ),
        ),
      ),
    ),
    button(
      `recruit-${k}`,
      "Add a recruit",
      redrawn(() => {
        intoGame(free?.[0]);
        write(path("recruits"), [...recruits, { name: free?.[0], active: true }]);
      }),
      { off: recruits.length >= 4 },
    ),
    one(path("dilemma", "artifact"), "dilemma", [["", "a random one"], ...names(facts.artifacts)]),
    one(path("dilemma", "resolved"), "dilemma resolved", [["", "not yet"], ...names(["star", "recruit"])], (value) =>
      write(path("dilemma", "resolved"), value || null),
    ),
    flag(path("lost_worker"), "lost a worker to the knowledge check this turn"),
  );
}

function check() {
  sessionStorage.setItem("position", at("json").value);
  clearTimeout(timer);
  timer = setTimeout(async () => {
    asked += 1;
    const mine = asked;
    try {
      const found = await post("/api/positions/check", { position });
      if (mine === asked) show(found);
    } catch (error) {
      fail(error);
    }
  }, WAIT);
}

function show(found) {
  checked = found;
  say("");
  showFaults();
  drawVerdict();
  if (found.errors.length) return;
  drawBoard(found);
}

function drawBoard({ view, board: drawn }) {
  if (cells.length !== view.players.length) {
    cells = view.players.map((p) => cell(facts, p.seat));
    at("players").replaceChildren(...cells.map((one) => one.node));
    at("board").replaceChildren();
    board = new Board(at("board"), { home: (seat) => cells[seat].hand, decorate: reachable });
    for (const [k, one] of cells.entries()) one.node.dataset.seat = k;
  }
  const who = (p) => ({ name: `Player ${p.seat}`, spec: "" });
  drawView(board, cells, facts, { view, drawing: drawn, who, moving: true });
}

// A click on the board or on the row of players uses the tool that is chosen.
function clicked(event) {
  const next = structuredClone(position);
  next.players = Array.from({ length: count() }, (_, k) => list(next.players)[k] ?? {});
  if (!palette.use(next, event)) return;
  keep();
  take(next);
}

function keep() {
  before.push(asText());
  before.splice(0, before.length - UNDONE);
  drawPalette();
}

function undo() {
  take(JSON.parse(before.pop()));
  drawPalette();
}

function drawPalette() {
  palette.seat = Math.min(palette.seat, count() - 1);
  refill(at("palette"), palette.draw(players(), drawPalette, before.length > 0 && undo));
}

// The error stands beside the field that its key names, or the one that it lies in.
function showFaults() {
  for (const line of document.querySelectorAll(".fault")) line.textContent = "";
  for (const input of document.querySelectorAll("[aria-invalid]")) input.removeAttribute("aria-invalid");
  const [error] = checked?.errors ?? [];
  const home = error && homeOf(error.key);
  if (!home) return;
  at(`fault-${home}`).textContent = error.message;
  at(home)?.setAttribute("aria-invalid", "true");
}

function homeOf(key) {
  for (let part = key; part; part = part.replace(/(\.[^.[]*|\[\d+\]|^[^.[]+)$/, ""))
    if (at(`fault-${part}`)) return part;
  return null;
}

function goTo(key) {
  const home = homeOf(key);
  const line = home && at(`fault-${home}`);
  if (line?.closest("details")) line.closest("details").open = true;
  (line ? line.parentElement.querySelector("input, select") : at("json")).focus();
}

function drawVerdict() {
  const [error] = checked.errors;
  const off = Boolean(error);
  const save = (name, ending, text) =>
    button(`save-${ending}`, name, () => download(`position.${ending}`, text()), { off: off && ending !== "json" });
  refill(
    at("verdict"),
    tag.div(
      { role: "status" },
      tag.h2({ class: error && "bad" }, error ? "One thing to fix" : checked.question),
      error &&
        tag.p(
          button("fix", error.key || "position", () => goTo(error.key)),
          ` ${error.message}`,
        ),
    ),
    row(
      save("Save as JSON", "json", () => at("json").value),
      save("as a record", "record", () => checked.record),
      button("complete", "Fill in what is left out", () => take(checked.position), { off }),
    ),
    row(
      button("study", "Study it", () => study((id) => `/study/${id}`), { off }),
      button("play", "Play on from here", () => study((id) => `/#study=${id}&ply=0`), { off }),
    ),
  );
}

// A study of the position leads on, to its own page or to that of a new game.
async function study(address) {
  try {
    location.href = address((await post("/api/studies", { position: checked.position })).id);
  } catch (error) {
    fail(error);
  }
}

async function begin(rules) {
  take((await post("/api/positions/new", { rules })).position);
}

function drawBegin() {
  at("begin").append(
    row(
      tag.label(
        "A new game of ",
        choose(
          "new-players",
          "players",
          [2, 3, 4, 5, 6].map((n) => [n, `${n} players`]),
          4,
        ),
      ),
      button("new", "Begin", () =>
        begin({ ...readRules(facts, "new"), num_players: Number(at("new-players").value) }).catch(fail),
      ),
    ),
    tag.details(tag.summary("Rules of this game"), ruleLines(facts, "new")),
    tag.p(
      { class: "label" },
      "Everybody has chosen recruits at random. Or paste a position as JSON; a study offers each of its positions.",
    ),
  );
}

try {
  await Promise.all([loadSymbols(), get("/api/facts").then((known) => (facts = known))]);
  drawBegin();
  at("form").addEventListener("submit", (event) => event.preventDefault());
  at("json").addEventListener("input", typed);
  palette = new Palette(facts);
  drawPalette();
  for (const id of ["board", "players"]) at(id).addEventListener("click", clicked);
  const [study, ply] = location.hash.slice(1).split("/");
  const kept = sessionStorage.getItem("position");
  if (study) take((await get(`/api/studies/${study}/at/${Number(ply)}/position`)).position);
  else if (kept) {
    at("json").value = kept;
    drawForm();
    typed();
  } else await begin({ num_players: 4 });
  history.replaceState(null, "", location.pathname);
} catch (error) {
  fail(error);
}
