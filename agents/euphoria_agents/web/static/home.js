// The list of games, and a form for a new one, or for one that branches off a study (#study=NAME&ply=NUMBER).

import { badge } from "./board.js";
import { el, fail, get, loadSymbols, post, refill, say } from "./common.js";
import { readRules, ruleLines } from "./forms.js";

const at = (id) => document.getElementById(id);
const MOST = 6;
const NAMES = ["Ann", "Bob", "Cleo", "Dan", "Eve", "Finn"];
let facts = null;
let start = null; // the study and its decision that the game begins with
let seats = []; // name, spec (null: a person), here (whether the person is at this screen)

const person = (name, here = true) => ({ name, spec: null, here });
const agent = (name = "") => ({ name, spec: facts.agents[0], here: false });

function seatLine(seat, k) {
  const who = seat.spec ?? (seat.here ? "here" : "link");
  const options = [["here", "a person at this screen"], ["link", "a person with a link"], ...facts.agents.map((spec) => [spec, facts.agent_words[spec]])];
  const choose = ({ target: { value } }) => {
    const spec = value === "here" || value === "link" ? null : value;
    Object.assign(seat, { spec, here: value === "here", name: seat.name || (spec === null ? NAMES[k] : "") });
    draw();
  };
  return el("div", { class: "seatline" }, badge(k),
    el("select", { "aria-label": `who plays seat ${k}`, id: `who-${k}`, onchange: choose }, options.map(([value, text]) => el("option", { value, selected: value === who }, text))),
    seat.spec === null && el("input", { "aria-label": `name of seat ${k}`, id: `name-${k}`, maxlength: 30, value: seat.name, onchange: (event) => (seat.name = event.target.value) }));
}

function draw() {
  const change = (id, text, act, off) => el("button", { type: "button", id, disabled: off, onclick: () => { act(); draw(); } }, text);
  refill(at("seats"), seats.map(seatLine), !start && el("div", { class: "row" },
    change("more", "One more player", () => seats.push(agent()), seats.length >= MOST),
    change("fewer", "One fewer", () => seats.pop(), seats.length <= 2)));
}

async function begin(event) {
  event.preventDefault();
  const body = { seats: seats.map(({ name, spec, here }) => ({ name: spec === null || start ? name : spec, spec, here })), practice: at("practice").checked };
  try {
    const made = await post("/api/games", { ...body, ...(start ? { start } : { rules: readRules(facts) }) });
    sessionStorage.setItem(`links ${made.id}`, JSON.stringify(made.links));
    location.href = `/play/${made.id}`;
  } catch (error) {
    fail(error);
  }
}

// What a file is: a record, a saved table of the terminal, or a position.
function imported(text) {
  try {
    const found = JSON.parse(text);
    if (found.format === "euphoria-session") return { record: found.record };
    if (!("format" in found)) return { position: found };
  } catch {
    // a record is lines, of which the first is JSON
  }
  return { record: text };
}

async function open(event) {
  const [file] = event.target.files;
  if (!file) return;
  try {
    location.href = `/study/${(await post("/api/studies", imported(await file.text()))).id}`;
  } catch (error) {
    event.target.value = ""; // so that the same file can be tried again
    say(`${file.name}: ${error.message}`);
  }
}

async function list() {
  const { games } = await get("/api/games");
  if (!games.length) return at("games").replaceChildren(el("p", { class: "label" }, "None yet."));
  const row = (game) => el("tr", {}, el("td", {}, el("a", { href: `/play/${game.id}` }, game.seats.map((seat) => seat.name).join(", "))),
    el("td", {}, game.headline + (game.practice ? " (practice)" : "")), el("td", {}, new Date(1000 * game.changed).toLocaleString()));
  at("games").replaceChildren(el("table", {}, el("thead", {}, el("tr", {}, ["Players", "State", "Last move"].map((head) => el("th", { scope: "col" }, head)))), el("tbody", {}, games.map(row))));
}

try {
  [facts] = await Promise.all([get("/api/facts"), loadSymbols()]);
  const given = new URLSearchParams(location.hash.slice(1));
  if (given.has("study")) {
    start = { study: given.get("study"), ply: Number(given.get("ply")) };
    const { names, players } = await get(`/api/studies/${start.study}`);
    seats = names.map((name, k) => (k === players[start.ply] || (start.ply >= players.length && k === 0) ? person(name) : agent(name)));
    at("new-title").textContent = `Play on from decision ${start.ply} of a recorded game`;
  } else seats = [person("You"), agent()];
  at("new").append(
    el("fieldset", {}, el("legend", {}, "Who plays"), el("div", { id: "seats", class: "stack" })),
    start ? el("p", { class: "label" }, "The cards are those of the record; dice and draws come anew.") : el("details", {}, el("summary", {}, "Rules of this game"), ruleLines(facts)),
    el("label", { class: "check" }, el("input", { type: "checkbox", id: "practice" }), "practice: any move may be taken back, and the record read at any time"),
    el("p", {}, el("button", { class: "main", id: "start" }, "Start the game")));
  at("new").addEventListener("submit", begin);
  at("file").addEventListener("change", open);
  draw();
  await list();
} catch (error) {
  fail(error);
}
