// The first page: a new game, or one that goes on from a study (#study=NAME&ply=NUMBER); the games and studies of this
// browser; all games; a board on which agents play.

import { badge } from "./board.js";
import {
  beginGame,
  call,
  showError,
  get,
  languageSelect,
  loadFacts,
  loadSymbols,
  nameList,
  named,
  post,
  render,
  row,
  showMessage,
  sentence,
  tag,
  button,
} from "./common.js";
import { showDemo } from "./demo.js";
import { seatMark } from "./judgement.js";
import { keep, kept, recall } from "./library.js";
import { t } from "./texts.js";

const at = (id) => document.getElementById(id);
const PLAYERS = [2, 3, 4, 5, 6];
const MAX_LISTED = 4; // games that go on, and studies
const STRENGTHS = ["very easy", "easy", "medium", "hard", "very hard", "hardest"];
const FIRST = "easy"; // until somebody has chosen
const NAMES = ["Ann", "Bob", "Cleo", "Dan", "Eve", "Finn"];
const PACE = 1; // seconds between the moves of agents that somebody watches
let facts = null;
let start = null; // the study and decision from which the game begins
let seats = []; // name, spec (null: a person), here (whether the person is at this screen)
let level = ""; // the spec of further agents

const person = (name, here = true) => ({ name, spec: null, here });
const agent = (name, spec = level) => ({ name, spec, here: false });
const defaultName = (k, spec) => (spec === null ? NAMES[k] : facts.agent_names[k]);
const strength = (spec) => facts.agent_words[spec].split(": ");

// The agents, the weakest first; those named by --agents come last.
function opponents() {
  const place = (spec) => STRENGTHS.indexOf(strength(spec)[0]);
  const worth = (spec) => (place(spec) < 0 ? STRENGTHS.length : place(spec));
  return [...facts.agents].sort((a, b) => worth(a) - worth(b));
}

// Radio buttons in a row, of which one may be chosen; options: [value, text].
const choices = (name, title, options, value, choose) =>
  tag.fieldset(
    { class: `choices ${name}` },
    tag.legend(title),
    options.map(([key, text]) =>
      tag.label(
        { class: "choice" },
        tag.input({
          type: "radio",
          name,
          id: `${name}-${key}`,
          value: key,
          checked: key === value,
          onchange: () => {
            choose(key);
            draw();
          },
        }),
        tag.span(text),
      ),
    ),
  );

function chooseLevel(spec) {
  level = spec;
  for (const seat of seats) if (seat.spec !== null) seat.spec = spec;
}

function choosePlayers(n) {
  seats.length = Math.min(seats.length, n);
  while (seats.length < n) seats.push(agent(facts.agent_names[seats.length]));
}

function seatLine(seat, k) {
  const who = seat.spec ?? (seat.here ? "here" : "link");
  const option = ([value, text]) => tag.option({ value, selected: value === who }, text);
  const people = [
    ["here", "at this screen"],
    ["link", "with a link"],
  ];
  const choose = ({ target: { value } }) => {
    const spec = value === "here" || value === "link" ? null : value;
    const own = seat.name !== defaultName(k, seat.spec) && (seat.spec === null) === (spec === null);
    Object.assign(seat, { spec, here: value === "here", name: start || own ? seat.name : defaultName(k, spec) });
    draw();
  };
  const name = (event) => (seat.name = event.target.value);
  return tag.div(
    { class: `seatline seat${k}` },
    badge(k),
    tag.input({
      "aria-label": t("name of player {n}", { n: k + 1 }),
      id: `name-${k}`,
      maxlength: 30,
      required: true,
      value: seat.name,
      onchange: name,
    }),
    tag.select(
      { "aria-label": t("who is player {n}", { n: k + 1 }), id: `who-${k}`, onchange: choose },
      tag.optgroup({ label: "A person" }, people.map(option)),
      tag.optgroup(
        { label: "An agent" },
        opponents().map((spec) => option([spec, facts.agent_words[spec]])),
      ),
    ),
  );
}

// Draws what depends on the seats.
function draw() {
  const specs = new Set(seats.map((seat) => seat.spec).filter((spec) => spec !== null));
  const common = specs.size === 1 ? [...specs][0] : specs.size ? "" : level;
  const levels = opponents().filter((spec) => STRENGTHS.includes(strength(spec)[0]));
  const told = specs.size > 1 ? "The opponents differ: see More options." : sentence(strength(common)[1] ?? common);
  render(
    at("table"),
    choices(
      "level",
      "Opponents",
      levels.map((spec) => [spec, strength(spec)[0]]),
      common,
      chooseLevel,
    ),
    tag.p({ class: "label", id: "level-words" }, told),
    !start &&
      choices(
        "players",
        "Players",
        PLAYERS.map((n) => [n, String(n)]),
        seats.length,
        choosePlayers,
      ),
  );
  render(at("seats"), seats.map(seatLine));
}

// An input for each option of the rules.
function ruleLine([key, rule]) {
  const shared = { id: `rule-${key}`, name: key };
  const input =
    rule.type === "flag"
      ? tag.input({ ...shared, type: "checkbox", checked: rule.value })
      : tag.input({ ...shared, type: "number", min: rule.low, max: rule.high, value: rule.value });
  return tag.label(input, sentence(t(rule.help)));
}

// The options that differ from their defaults.
function readRules() {
  const found = {};
  for (const [key, rule] of Object.entries(facts.rules)) {
    const input = at(`rule-${key}`);
    const value = rule.type === "flag" ? input.checked : Number(input.value);
    if (value !== rule.value) found[key] = value;
  }
  return found;
}

async function startGame(players, more = {}) {
  const body = { seats: players, practice: at("practice").checked, ...more };
  try {
    keep("table", { level, players: players.length });
    await beginGame({ ...body, ...(start ? { start } : { rules: readRules() }) });
  } catch (error) {
    showError(error);
  }
}

// People's seats go to agents.
function watchAgents() {
  const names = seats.map((seat, k) => (seat.spec === null && !start ? facts.agent_names[k] : seat.name));
  startGame(
    seats.map((seat, k) => agent(names[k], seat.spec ?? level)),
    { pace: PACE },
  );
}

async function chooseSeats() {
  const given = new URLSearchParams(location.hash.slice(1));
  const table = kept("table") ?? {};
  level = facts.agents.includes(table.level) ? table.level : opponents().find((spec) => strength(spec)[0] === FIRST);
  if (given.has("study")) {
    start = { study: given.get("study"), ply: Number(given.get("ply")) };
    const { names, players, turns } = await get(`/api/studies/${start.study}`);
    const mine = players[start.ply] ?? 0;
    seats = names.map((name, k) => (k === mine ? person(name) : agent(name)));
    at("new-title").textContent = t("Play on from turn {n} of a recorded game", { n: turns[start.ply] ?? "?" });
  } else {
    seats = [person("You")];
    choosePlayers(PLAYERS.includes(table.players) ? table.players : 2);
  }
}

function drawForm() {
  const rules = () => [tag.h3("Rules"), tag.div({ class: "options" }, Object.entries(facts.rules).map(ruleLine))];
  const practice = tag.input({ type: "checkbox", id: "practice" });
  at("new").append(
    tag.div({ id: "table", class: "stack" }),
    tag.button({ class: "main", id: "start" }, "Play now"),
    row(tag.a({ href: "/learn", class: "button" }, "Learn to play"), button("watch", "Watch agents", watchAgents)),
    tag.details(
      { id: "more" },
      tag.summary("More options"),
      tag.div(
        { class: "stack" },
        tag.h3("Who plays"),
        tag.div({ id: "seats", class: "stack" }),
        tag.p(
          { class: "label" },
          "Each person with a link gets one of their own, which the page of the game shows you.",
        ),
        start ? tag.p({ class: "label" }, "The cards are those of the record; dice and draws will differ.") : rules(),
        tag.label(
          { class: "check" },
          practice,
          "Practice: any move may be taken back, and the record read at any time",
        ),
      ),
    ),
  );
  at("new").addEventListener("submit", (event) => {
    event.preventDefault();
    startGame(seats);
  });
  draw();
}

// The unfinished games and the studies that this browser opened.
function drawLibrary(games) {
  const over = new Set(games.filter((game) => game.over).map((game) => game.id));
  const running = recall("games").filter((one) => !over.has(one.id));
  const line =
    (path) =>
    ({ id, names, told, when }) =>
      tag.li(
        tag.a({ href: `/${path}/${id}` }, names ? nameList(names) : "a game"),
        tag.span({ class: "label" }, ` ${told ? `${told} · ` : ""}${new Date(when).toLocaleString()}`),
      );
  at("running").replaceChildren(...running.slice(0, MAX_LISTED).map(line("play")));
  at("resume").hidden = !running.length;
  at("study").open = recall("studies").length > 0;
  at("studies").replaceChildren(...recall("studies").slice(0, MAX_LISTED).map(line("study")));
}

// The request for a study of a file: a record, a game saved in the terminal, or a position.
function studyBody(text) {
  try {
    const found = JSON.parse(text);
    if (found.format === "euphoria-session") return { record: found.record };
    if (!("format" in found)) return { position: found };
  } catch {
    // a record is lines, of which the first is JSON
  }
  return { record: text };
}

async function openFile(event) {
  const [file] = event.target.files;
  if (!file) return;
  try {
    location.href = `/study/${(await post("/api/studies", studyBody(await file.text()))).id}`;
  } catch (error) {
    event.target.value = ""; // so that the same file can be tried again
    showMessage(`${file.name}: ${error.message}`);
  }
}

// Games that cannot be read; their creators can delete them.
function drawDamaged(names) {
  const remove = (id) => call("DELETE", `/api/games/${id}`).then(() => location.reload(), showError);
  const line = (id) =>
    tag.li(
      t("The saved game {id} is damaged.", { id }),
      " ",
      tag.button({ type: "button", onclick: () => remove(id) }, "Delete it"),
    );
  at("games").append(tag.ul(names.map(line)));
}

function drawGames(games) {
  if (!games.length) return at("games").replaceChildren(tag.p({ class: "label" }, "None yet."));
  const who = (game) => game.seats.map((seat, k) => tag.span({ class: "one" }, seatMark(k), named(seat.name)));
  const row = (game) =>
    tag.tr(
      tag.td(tag.a({ href: `/play/${game.id}`, class: "readout" }, who(game))),
      tag.td(sentence(game.headline), game.practice ? ` (${t("practice")})` : ""),
      tag.td(new Date(1000 * game.changed).toLocaleString()),
    );
  const heads = ["Players", "State", "Last move"].map((head) => tag.th({ scope: "col" }, head));
  at("games").replaceChildren(tag.table(tag.thead(tag.tr(heads)), tag.tbody(games.map(row))));
}

at("file").addEventListener("change", openFile); // at once, since files can be chosen while the rest loads
try {
  [facts] = await Promise.all([loadFacts(), loadSymbols()]);
  document.querySelector("header nav").append(languageSelect());
  await chooseSeats();
  drawForm();
  const { games, damaged } = await get("/api/games");
  drawLibrary(games);
  drawGames(games);
  drawDamaged(damaged);
  await showDemo(at("demo"), facts);
} catch (error) {
  showError(error);
}
