// The lessons: fixed positions in practice games, with a task at each step. `lessons.json` has them; the pupil has the seat 0.

import {
  beginGame,
  button,
  get,
  loadFacts,
  loadSymbols,
  post,
  render,
  row,
  showError,
  showMessage,
  tag,
} from "./common.js";
import { legend } from "./legend.js";
import { recall, remember } from "./library.js";
import { animateEvents } from "./motion.js";
import { explain, isRetrieval, markSpaces, moveRows, showPopover, spaceDetails } from "./moves.js";
import { Table } from "./seats.js";
import { t } from "./texts.js";

const at = (id) => document.getElementById(id);
const ME = 0;
const NAMES = ["You", "Ada", "Boole"];
const FIRST_OPPONENT = "weights";
const LEGAL_BUT = "That is a legal move, but not the one of this lesson. Take it back and try again.";
const STARTS_AGAIN = "This lesson's game was deleted, or was continued elsewhere. The lesson starts again.";
let [facts, lessons] = [null, []];
let number = 0; // of the open lesson
let step = 0; // of the lesson
let said = ""; // the answer to the last move; empty: the task waits for a move
let right = false; // whether that was a move wanted
let game = ""; // the name of the practice game
let [state, table] = [null, null];

const lesson = () => lessons[number];
const task = () => lesson().steps[step];
const isWanted = (move) => task().wanted.includes(move.notation);
const api = () => `/api/games/${game}`;
let busy = false; // while a request is under way

async function attempt(work) {
  if (busy) return;
  busy = true;
  try {
    await work();
    showMessage("");
  } catch (error) {
    showError(error);
    if (error.status === 404) game = "";
    if ([404, 409].includes(error.status)) await open(number).then(() => showMessage(STARTS_AGAIN), showError);
  } finally {
    busy = false;
  }
}

// Opens a lesson in a new game; the game of the lesson before is deleted.
async function open(next) {
  const { position } = lessons[next];
  const seats = NAMES.slice(0, position.rules.num_players).map((name) => ({ name, spec: null, here: true }));
  const made = await post("/api/games", { seats, position, practice: true });
  closeGame();
  game = made.id;
  [number, step, said, right, table] = [next, 0, "", false, null];
  show(await get(`${api()}/view?seat=${ME}`));
}

function closeGame() {
  if (game)
    fetch(api(), { method: "DELETE", keepalive: true, headers: { "Content-Type": "application/json" }, body: "{}" });
  game = "";
}

const send = (seat, action) => post(`${api()}/moves`, { seat, version: state.version, action });
const undo = () => post(`${api()}/undo`, { seat: ME, version: state.version });

async function play(move) {
  const found = await send(ME, move.notation);
  right = isWanted(move);
  said = right ? task().right : (task().wrong?.[move.notation] ?? LEGAL_BUT);
  show(found);
}

async function takeBack() {
  const found = await undo();
  [said, right] = ["", false];
  show(found);
}

// Goes on after a right move: the others move, or all is taken back; then comes the next step.
async function goOn() {
  const before = state;
  if (task().undo) state = await undo();
  for (const [seat, move] of task().then ?? []) state = await send(seat, move);
  const found = await get(`${api()}/view?seat=${ME}`);
  [step, said, right, state] = [step + 1, "", false, before];
  show(found);
}

function show(found) {
  const before = table && state;
  state = found;
  if (right && step === lesson().steps.length - 1) remember("lessons", { id: lesson().id });
  document.body.dataset.version = `${lesson().id} ${found.version}`;
  drawTable(before);
  draw();
  at("told").focus({ preventScroll: true });
  table.board.svg.querySelector(".best")?.scrollIntoView({ block: "nearest", inline: "center" }); // where the board is wider than the page
}

// Draws the table, and animates what has happened since an earlier view.
function drawTable(before) {
  const parents = { players: at("players"), board: at("board"), tray: at("tray") };
  table ??= new Table(facts, state.seats.length, parents, { seat: ME, explain, decorate });
  const stars = table.show(state.view, state.board, state.seats, Boolean(before));
  if (before) animateEvents(state.events.slice(Math.max(0, before.decisions - state.log_from)).flat(), table, stars);
}

// Marks the spaces with moves; those of the moves wanted get a ring.
function decorate(drawing) {
  const moves = said ? [] : state.moves;
  const wanted = new Set(moves.filter(isWanted).map((move) => move.space));
  for (const [node] of markSpaces(drawing, moves)) node.classList.toggle("best", wanted.has(node.dataset.space));
}

function draw() {
  decorate(table.board.svg);
  const done = new Set(recall("lessons").map(({ id }) => id));
  const chip = ({ id, title }, k) =>
    button(`lesson-${id}`, `${k + 1}${done.has(id) ? " ✓" : ""}`, () => attempt(() => open(k)), {
      kind: k === number ? "open" : "",
      label: t(done.has(id) ? "lesson {n}: {title}, done" : "lesson {n}: {title}", { n: k + 1, title: t(title) }),
    });
  render(
    at("controls"),
    lessons.map(chip),
    button("symbols", "Symbols", () => explain(at("symbols"), "Symbols", legend())),
  );
  at(`lesson-${lesson().id}`).setAttribute("aria-current", "step");
  render(at("moves"), panel());
}

function panel() {
  const head = tag.h2({ id: "question" }, `${number + 1}. ${t(lesson().title)}`);
  const text = tag.p({ id: "told", tabindex: -1, class: said && (right ? "right" : "wrong") }, said || task().task);
  if (said) return [head, text, row(answerButtons())];
  const onclick = (move) => attempt(() => play(move));
  const back = state.moves.filter(isRetrieval);
  const shown = state.moves.filter((move) => !isRetrieval(move));
  return [
    head,
    text,
    tag.div(
      { class: "groups" },
      back.map((move) => button(`move-${move.action}`, move.text, () => onclick(move))),
      moveRows(facts, state, { hints: null, shown, seat: ME, play: onclick }),
    ),
  ];
}

function answerButtons() {
  const main = (id, text, work) => button(id, text, () => attempt(work), { kind: "main" });
  if (!right) return main("back", "Take it back", takeBack);
  if (task().undo) return main("on", "Take it back and go on", goOn);
  if (step < lesson().steps.length - 1) return main("on", "Go on", goOn);
  if (number < lessons.length - 1)
    return main("next", t("Next: {title}", { title: t(lessons[number + 1].title) }), () => open(number + 1));
  return [
    main("first", "Play a first game, with advice", firstGame),
    tag.a({ href: "/help", class: "button" }, "How to play, in full"),
  ];
}

// A game against an easy agent, in which the page of the game gives advice at each decision.
function firstGame() {
  const seats = [
    { name: NAMES[ME], spec: null, here: true },
    { name: NAMES[1], spec: FIRST_OPPONENT },
  ];
  return beginGame({ seats, practice: true }, { coached: true });
}

// Plays a move of a clicked space, rather one that is wanted, or tells about the space.
function clickSpace(node) {
  const { space } = node.dataset;
  const moves = said ? [] : state.moves.filter((move) => move.space === space);
  if (moves.length) return attempt(() => play(moves.find(isWanted) ?? moves[0]));
  const label = node.getAttribute("aria-label");
  showPopover(at("popover"), node, spaceDetails(facts, state.view, { space, label, moves, seat: ME }));
}

at("board").addEventListener("click", (event) => {
  const space = table.board.clicked(event);
  if (space) clickSpace(space);
});
at("board").addEventListener("keydown", (event) => {
  if (event.key === "Enter" || event.key === " ")
    event.target.dispatchEvent(new MouseEvent("click", { bubbles: true }));
});
addEventListener("keydown", ({ key, repeat, ctrlKey, metaKey, altKey }) => {
  if (!(repeat || ctrlKey || metaKey || altKey))
    document.querySelectorAll("#moves button.move")[Number(key) - 1]?.click();
});
addEventListener("pagehide", closeGame);
addEventListener("pageshow", (event) => event.persisted && attempt(() => open(number)));
try {
  [facts, lessons] = await Promise.all([loadFacts(), get(new URL("lessons.json", import.meta.url)), loadSymbols()]);
  const done = new Set(recall("lessons").map(({ id }) => id));
  const asked = lessons.findIndex(({ id }) => id === location.hash.slice(1));
  const next = lessons.findIndex(({ id }) => !done.has(id));
  await open(Math.max(0, asked < 0 ? next : asked));
} catch (error) {
  showError(error);
}
