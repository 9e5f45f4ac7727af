// The list of games, and a form for a new one.

import { Failure, el, get, many, post, refill, say } from "./common.js";
import { readRules, ruleLines } from "./forms.js";

const at = (id) => document.getElementById(id);
const MOST = 6;
let facts = null;
const people = ["Ann", "Bob", "Cleo", "Dan", "Eve", "Finn"];
const seats = [{ name: "You", spec: null, here: true }, { name: "", spec: "" }]; // an empty spec: the first agent

function seatLine(seat, k) {
  const who = seat.spec !== null ? seat.spec : seat.here ? "here" : "link";
  const options = [["here", "a person at this screen"], ["link", "a person with a link"], ...facts.agents.map((spec) => [spec, facts.agent_words[spec]])];
  return el("div", { class: "seatline" }, el("span", { class: `badge seat${k}`, "aria-hidden": "true" }, String(k)),
    el("select", { "aria-label": `who plays seat ${k}`, id: `who-${k}`, onchange: (event) => {
      const value = event.target.value;
      const person = value === "here" || value === "link";
      Object.assign(seat, { spec: person ? null : value, here: value === "here" });
      if (person === facts.agents.includes(seat.name) || !seat.name) seat.name = person ? people[k] : "";
      draw();
    } }, options.map(([value, text]) => el("option", { value, selected: value === who }, text))),
    seat.spec === null && el("input", { "aria-label": `name of seat ${k}`, id: `name-${k}`, maxlength: 30, value: seat.name, onchange: (event) => (seat.name = event.target.value) }));
}

function draw() {
  for (const seat of seats) if (seat.spec === "") seat.spec = facts.agents[0];
  const button = (id, text, onclick, off) => el("button", { type: "button", id, disabled: off, onclick }, text);
  refill(at("seats"), seats.map(seatLine), el("div", { class: "row" },
    button("more", "One more player", () => { seats.push({ name: "", spec: facts.agents[0] }); draw(); }, seats.length >= MOST),
    button("fewer", "One fewer", () => { seats.pop(); draw(); }, seats.length <= 2)));
}

async function start(event) {
  event.preventDefault();
  try {
    const body = { seats: seats.map(({ name, spec, here }) => ({ name: spec === null ? name : spec, spec, here: !!here })), rules: readRules(facts), practice: at("practice").checked };
    const made = await post("/api/games", body);
    sessionStorage.setItem(`links ${made.id}`, JSON.stringify(made.links));
    location.href = `/play/${made.id}`;
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    say(error.message, "bad");
  }
}

async function openRecord(event) {
  const [file] = event.target.files;
  if (!file) return;
  try {
    location.href = `/study/${(await post("/api/studies", { record: await file.text() })).id}`;
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    say(`${file.name}: ${error.message}`, "bad");
  }
}

async function list() {
  const { games } = await get("/api/games");
  if (!games.length) return at("games").replaceChildren(el("p", { class: "label" }, "None yet."));
  at("games").replaceChildren(el("table", {}, el("thead", {}, el("tr", {}, ["Players", "State", "Last move"].map((head) => el("th", { scope: "col" }, head)))),
    el("tbody", {}, games.map((game) => el("tr", {}, el("td", {}, el("a", { href: `/play/${game.id}` }, game.seats.map((seat) => seat.name).join(", "))), el("td", {}, game.headline + (game.practice ? " (practice)" : "")), el("td", {}, new Date(1000 * game.changed).toLocaleString()))))));
}

try {
  facts = await get("/api/facts");
  at("new").append(
    el("fieldset", {}, el("legend", {}, "Who plays"), el("div", { id: "seats", class: "stack" })),
    el("details", {}, el("summary", {}, "Rules of this game"), ruleLines(facts)),
    el("p", { class: "options" }, el("label", {}, el("input", { type: "checkbox", id: "practice" }), "practice: anything may be taken back, and the record read, at any time")),
    el("p", {}, el("button", { class: "main", id: "start" }, "Start the game")));
  at("new").addEventListener("submit", start);
  at("file").addEventListener("change", openRecord);
  draw();
  await list();
} catch (error) {
  if (!(error instanceof Failure)) throw error;
  say(error.message, "bad");
}
