// A game: to play it from the seats of this browser, or to watch it.

import { Board, badge, place, skip, still } from "./board.js";
import {
  button,
  call,
  choose,
  download,
  fail,
  get,
  hidden,
  loadSymbols,
  ONCE,
  post,
  refill,
  row,
  say,
  sentence,
  tabList,
  tag,
} from "./common.js";
import { remember } from "./library.js";
import { tell } from "./motion.js";
import { beside, confirmed, faceOf, listed, rows, symbols, ways } from "./moves.js";
import { cell, player, ranking, tray } from "./seats.js";

const game = location.pathname.split("/")[2];
const api = `/api/games/${game}`;
const at = (id) => document.getElementById(id);
const SPEEDS = [
  ["", "step by step"],
  ["1.5", "slow"],
  ["0.5", "steady"],
  ["0", "at once"],
];
const STEP = 700; // milliseconds between the decisions of what is played again
const ASLEEP = 60000; // milliseconds after which nothing is played again
const LOG_LINES = 200;
const TABS = [
  ["log", "Log"],
  ["cards", "Cards"],
];

let facts = null;
let state = null; // the last view
let drawnView = ""; // the same as text
let seat = null; // whose view this is; null: what everybody may see
let face = 0; // of the worker that was chosen; 0: none
let space = ""; // a space that was clicked
let covered = false; // the screen is being passed on
let hints = null;
let board = null;
let table = []; // the cells of the players
let own = null; // one's own things
let tab = "log";
let past = null; // a decision that is looked at again; null: the present
let playing = 0; // the timer of what is played again
let paced = Promise.resolve();
let drawn = 0; // lines of the log
let asked = ""; // which decision the moves are those of
let seen = Date.now(); // when a view was shown last
let events = null; // the stream
let news; // what the stream said while a request was under way; null: something beside the version
const underWay = new Set(); // requests
const links = JSON.parse(sessionStorage.getItem(`links ${game}`) ?? "[]");

const name = (k) => state.seats[k].name;
const mine = () => seat !== null && state.decider === seat;
const steers = () => state.host || state.mine.length > 0;

async function sit() {
  const token = new URLSearchParams(location.hash.slice(1)).get("token");
  if (!token) return;
  history.replaceState(null, "", location.pathname);
  seat = (await post(`${api}/sit`, { token })).seat;
}

const viewOf = (more = "") => get(`${api}/view?${seat === null ? "" : `seat=${seat}`}${more}`);

async function refresh() {
  const asked = seat;
  const found = await viewOf().catch((error) => {
    if (error.status !== 403 || seat === null) throw error;
    [seat, state, board, own] = [null, null, null, null]; // it has been given to somebody else
    return refresh();
  });
  if (!found) return;
  if (asked === seat && (!state || found.version >= state.version)) show(found);
}

function show(found) {
  const text = JSON.stringify(found);
  if (text === drawnView && state) return; // what one is about to click stays in its place
  drawnView = text;
  const before = state;
  if (found.version !== state?.version) {
    [space, face, hints] = ["", 0, null];
    at("popover").hidePopover();
  }
  state = found;
  document.body.dataset.version = found.version;
  const here = state.mine;
  if (seat === null && here.length === 1) return take(here[0]);
  if (here.length > 1 && ((here.includes(state.decider) && state.decider !== seat) || seat === null)) covered = true;
  const awake = Date.now() - seen < ASLEEP;
  seen = Date.now();
  draw(Boolean(before) && awake && past === null ? before : null);
}

function take(next) {
  [seat, covered, state, board, own] = [next, false, null, null, null];
  return refresh().then(focusMoves).catch(fail);
}

function draw(before = null) {
  const headline = sentence(state.view.headline);
  at("headline").replaceChildren(...title(headline));
  at("banner").className = state.decider === null ? "" : `seat${state.decider}`;
  document.title = `${mine() ? "● " : ""}Euphoria: ${headline}`;
  refill(at("controls"), controls());
  if (past === null) drawBoard(state, before && eventsSince(before));
  if (covered) drawCover();
  else drawMoves();
  drawLog();
}

function title(headline) {
  if (past !== null) return [`Decision ${past + 1} of ${state.decisions}, seen again`];
  const whose = mine() ? "your decision" : state.decider === null ? "" : `${name(state.decider)} decides`;
  const { players, turn } = state.view;
  const said = players[state.decider]?.active ? `Turn ${turn}` : headline; // who is on turn is said but once
  return [
    state.decider === null ? null : badge(state.decider),
    tag.span([said, whose].filter(Boolean).join(" · ")),
  ].filter(Boolean);
}

// Passing the screen on hides what is private, the board stays.
function drawCover() {
  const next = state.mine.includes(state.decider) ? state.decider : state.mine[0];
  refill(
    at("moves"),
    tag.h2({ id: "question" }, `Pass the screen to ${name(next)}`),
    button("uncover", `I am ${name(next)}`, () => take(next), { kind: "main" }),
  );
  at("uncover").focus({ preventScroll: true });
}

// Shows the board of a view; with `told`, the events that led to it, what moved is seen moving.
function drawBoard(found, told = null) {
  const { view } = found;
  if (!board) {
    for (const part of ["board", "tray", "players"]) at(part).replaceChildren();
    table = view.players.map((p) => cell(facts, p.seat));
    at("players").append(...table.map((one) => one.node));
    at("players").style.setProperty("--seats", table.length);
    own = seat === null ? null : tray(facts, seat, explain);
    if (own) at("tray").append(own.node);
    board = new Board(at("board"), { home: (k) => (k === seat ? own.hand : table[k].hand), hold, decorate });
  }
  view.players.forEach((p, k) => table[k].update(view, p, state.seats[k], k === seat));
  own?.update(covered ? open(view.players[seat]) : view.players[seat]);
  const stars = board.show(
    found.board,
    view.players.map((p) => p.workers),
    told !== null,
  );
  if (told) tell(told, facts, board, { item, pip, stars });
  drawRegions();
}

// A player as everybody sees them.
const open = (p) => ({
  ...p,
  artifacts: null,
  recruits: p.recruits.filter((one) => one.active),
  dilemma: p.resolved && p.dilemma,
});

// The events between two views: those of the decisions that are new.
const eventsSince = (before) => state.events.slice(Math.max(0, before.decisions - state.log_from)).flat();
const holder = (k) => (k === seat ? own?.node : table[k]?.node);
const item = (k, what) =>
  holder(k)?.querySelector(`[data-item="${what}"]`) ?? table[k]?.node.querySelector(`[data-item="${what}"]`);
const pip = (k) => table[k]?.node.querySelector(".pip.on") ?? table[k]?.node;

// Prepares the frame of a worker in a hand: your own workers can be chosen.
function hold(node, k, shown) {
  node.style.order = shown;
  node.dataset.face = shown;
  if (k !== seat) return;
  Object.assign(node, { tabIndex: 0, role: "button", onclick: () => chooseFace(shown) });
  node.setAttribute("role", "button");
  node.setAttribute("aria-pressed", String(face === shown));
  node.setAttribute("aria-label", `a worker of yours: ${shown}`);
}

// The moves that fit the worker that was chosen.
const fitting = () =>
  state.moves.filter((move) => !face || !move.notation.startsWith("place ") || faceOf(move) === face);

// Makes the spaces of a drawing buttons where there is something to do, and things with words where there is not.
function decorate(drawing) {
  const moves = past === null && mine() && !covered ? fitting() : [];
  const counts = {};
  for (const move of moves) if (move.space) counts[move.space] = (counts[move.space] ?? 0) + 1;
  const best = moves.length && hints && state.moves.find((move) => move.action === hints.best)?.space;
  for (const node of drawing.querySelectorAll(".space")) {
    const n = counts[node.dataset.space] ?? 0;
    node.setAttribute("role", "button");
    node.setAttribute("tabindex", n ? "0" : "-1");
    node.classList.toggle("can", n > 0);
    node.classList.toggle("legal", n > 0);
    node.classList.toggle("best", Boolean(best) && node.dataset.space === best);
    node.classList.toggle("last", node.dataset.space === state.last);
  }
}

// Brings the looks of the page up to date with the choices made on it.
function mend() {
  if (board?.svg) decorate(board.svg);
  for (const node of own?.hand.children ?? []) {
    node.setAttribute("aria-pressed", String(face === Number(node.dataset.face)));
  }
}

// On a narrow page the board is wider than the window: these lead to its parts, with a mark where there are moves.
function drawRegions() {
  const moves = new Set(mine() ? state.moves.map((move) => move.space) : []);
  const parts = [...board.svg.querySelectorAll(".region")].map((node) => [
    node.dataset.region,
    node.getAttribute("aria-label"),
    node,
  ]);
  refill(
    at("regions"),
    parts.map(([id, label, node]) =>
      button(
        `to-${id}`,
        [
          label,
          hidden(""),
          [...node.querySelectorAll(".space")].some((one) => moves.has(one.dataset.space)) &&
            tag.i({ class: "dot", title: "moves here" }),
        ],
        () => node.scrollIntoView({ behavior: still() ? "auto" : "smooth", block: "nearest", inline: "center" }),
        { kind: id },
      ),
    ),
  );
}

function drawLog() {
  const log = at("log");
  const first = state.log_from;
  if (drawn < first || drawn > first + state.log.length || covered) log.replaceChildren();
  if (!log.children.length) drawn = first;
  const since = lastOwn();
  const told = covered ? [] : state.log.slice(drawn - first);
  log.append(
    ...told.map((line, k) => {
      const decision = drawn + k;
      const by = state.made[decision - first];
      return tag.li({ class: `seat${by}`, "data-decision": decision }, badge(by), tag.span(symbols(line)));
    }),
  );
  drawn = first + (covered ? 0 : state.log.length);
  while (log.children.length > LOG_LINES) log.firstChild.remove();
  for (const line of log.children) line.classList.toggle("new", seat !== null && Number(line.dataset.decision) > since);
  at("log-box").scrollTop = log.scrollHeight;
  refill(at("tabs"), tabs(since));
  at("log-box").hidden = tab !== "log";
  at("cards-box").hidden = tab !== "cards";
  if (covered) at("cards-box").replaceChildren();
  else if (tab === "cards") {
    refill(
      at("cards-box"),
      state.view.players.map((p) => player(facts, state.view, p, state.seats[p.seat], seat)),
    );
  }
}

// The last decision of one's own; -1 if there is none among the lines.
const lastOwn = () => (seat === null ? -1 : state.log_from + state.made.lastIndexOf(seat));

function tabs(since) {
  const missed = state.decisions - 1 - since;
  return [
    tabList(
      "what happened, cards",
      TABS,
      tab,
      (key) => `${key}-box`,
      (key) => {
        tab = key;
        drawLog();
      },
    ),
    button("again", seat === null ? "Replay" : `Since my move (${missed})`, replay, {
      off: missed < 1 || past !== null,
    }),
  ];
}

function controls() {
  const agents = !state.over && state.seats.some((one) => one.spec);
  return [
    steers() &&
      agents &&
      choose("pace", "speed of the agents", SPEEDS, state.pace === null ? "" : String(state.pace), setPace),
    steers() &&
      agents &&
      state.pace === null &&
      button("step", "Step", () => act("step"), { off: !state.waits_for_agent }),
    seat !== null && !state.over && button("hint", "Hint", hint, { off: !mine() || covered }),
    seat !== null && (!state.over || state.can_undo) && button("undo", "Take back", undo, { off: !state.can_undo }),
    button("drawer", "Moves", () => document.body.classList.toggle("closed")),
    button("menu", "Menu", (event) => beside(at("popover"), place(event.currentTarget), menu())),
  ];
}

function menu() {
  const close = (work) => () => {
    at("popover").hidePopover();
    work();
  };
  return [
    tag.div(
      { class: "menu" },
      state.decisions > 0 &&
        past === null &&
        button(
          "look",
          "Look back",
          close(() => look(state.decisions - 1)),
        ),
      (state.over || state.practice) && [
        button("record", "Save the record", close(save)),
        button("study", "Study this game", close(study)),
      ],
      seat !== null && !state.over && button("leave", "Hand over my seat", close(leave)),
      button("keys", "Keys", close(keys)),
      tag.a({ href: "/help", class: "button" }, "How to play"),
      state.host && state.over && button("delete", "Delete this game", close(remove)),
    ),
  ];
}

const KEYS = [
  ["1 to 9", "plays the move with this number"],
  ["↓ ↑", "walk through the moves"],
  ["Space, Enter", "plays the chosen move"],
  ["H", "hint"],
  ["U", "takes back"],
  ["Esc", "shows all moves again"],
  ["?", "this list"],
];

function keys() {
  beside(
    at("popover"),
    place(at("menu")),
    tag.h3("Keys"),
    tag.dl(
      { class: "keys" },
      KEYS.map(([key, what]) => [tag.dt(tag.kbd(key)), tag.dd(what)]),
    ),
  );
}

function drawMoves() {
  refill(at("moves"), panel());
  if (asked !== `${state.version} ${past}`) for (const part of ["moves", "side"]) at(part).scrollTop = 0;
  asked = `${state.version} ${past}`;
}

function panel() {
  if (past !== null) return transport();
  const head = tag.h2({ id: "question" }, state.over ? result() : question());
  const invitations = links
    .filter((one) => state.seats[one.seat].spec === null)
    .map((one) =>
      tag.label(
        { class: "invitation" },
        `Link for ${name(one.seat)} `,
        tag.input({
          id: `link-${one.seat}`,
          readonly: true,
          value: `${location.origin}/play/${game}#token=${one.token}`,
          onfocus: (event) => event.target.select(),
        }),
      ),
    );
  if (!mine()) return [trouble(), head, state.over ? outcome() : tag.p({ class: "label" }, waiting()), invitations];
  const shown = fitting().filter((move) => !space || move.space === space);
  const narrowed = shown.length < state.moves.length;
  const advice = hints && state.moves.find((move) => move.action === hints.best);
  return [
    trouble(),
    head,
    state.view.offer && tag.p({ class: "label" }, symbols(state.view.offer)),
    advice && tag.p({ class: "advice" }, "Advice: ", advice.text),
    narrowed &&
      button("all", `All ${state.moves.length} moves`, () => {
        [space, face] = ["", 0];
        showChoice();
      }),
    tag.div(
      { class: "groups", onkeydown: walk },
      listed(state) ? ways(state, send) : rows(facts, state, { hints, shown, play, seat }),
    ),
    invitations,
  ];
}

// The question, without the "You:" of "You: choose a recruit" for the player who is asked.
function question() {
  return mine() ? sentence(state.question.slice("You: ".length)) : state.question;
}

function waiting() {
  if (state.prepares) return `The agent ${state.prepares} is being prepared; ${ONCE}.`;
  if (state.waits_for_agent) return `${name(state.decider)} thinks.`;
  return seat === null ? "You are watching." : `${name(state.decider)} decides.`;
}

function trouble() {
  if (!state.trouble) return null;
  return tag.div(
    { class: "trouble", role: "alert" },
    tag.p(`The game waits: ${state.trouble}`),
    steers() &&
      row(
        button("retry", "Try again", () => act("retry")),
        state.waits_for_agent &&
          facts.agents.map((spec) =>
            button(`give-${spec}`, `Let ${spec} play on`, () => act("seats", { seat: state.decider, spec })),
          ),
        state.waits_for_agent && state.host && button("invite", "Let a person play on", invite),
      ),
  );
}

// Arrow keys walk through the moves.
function walk(event) {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (!step) return;
  const all = [...at("moves").querySelectorAll("button.move")];
  all[Math.min(all.length - 1, Math.max(0, all.indexOf(document.activeElement) + step))]?.focus();
  event.preventDefault();
}

function showChoice() {
  drawMoves();
  mend();
}

function chooseFace(next) {
  if (!mine() || covered || past !== null) return;
  const placeable = state.moves.some((move) => move.notation.startsWith(`place ${next} `));
  [face, space] = [face === next || !placeable ? 0 : next, ""];
  showChoice();
}

// A space was clicked: one move is played at once, of several one is chosen beside it.
function enter(node) {
  const { space: wanted } = node.dataset;
  const moves = past === null && mine() && !covered ? fitting().filter((move) => move.space === wanted) : [];
  if (moves.length === 1) return play(moves[0]);
  if (!moves.length) return describe(node);
  beside(
    at("popover"),
    place(node),
    tag.h3(node.getAttribute("aria-label").split(":")[0]),
    tag.div(
      { class: "groups" },
      rows(facts, state, {
        seat,
        hints,
        shown: moves,
        play: (move) => {
          at("popover").hidePopover();
          play(move);
        },
      }),
    ),
  );
  at("popover").querySelector("button").focus({ preventScroll: true });
}

function describe(node) {
  const { space: wanted } = node.dataset;
  const tile = state.view.markets[wanted]?.tile;
  const known = tile ? facts.tiles[tile] : facts.spaces[wanted];
  explain(node, known.title, known.words);
}

function explain(node, head, words) {
  beside(at("popover"), place(node), tag.h3(head), tag.p(words));
}

function result() {
  const winner = state.view.players.find((p) => p.rank === 1);
  if (state.view.headline.startsWith("cut off")) return "The game was cut off.";
  return winner.seat === seat ? "You have won." : `${name(winner.seat)} has won.`;
}

const outcome = () => [
  ranking(state.view, state.seats, state.stars),
  row(
    steers() && button("rematch", "Rematch", rematch, { kind: "main" }),
    button("study-now", "Study", study),
    button("look-back", "Watch it again", () => look(0, true)),
  ),
];

const rematch = () =>
  guarded("rematch", async () => {
    const seats = state.seats.map(({ name: called, spec }, k) => ({
      name: called,
      spec,
      here: state.mine.includes(k),
    }));
    const made = await post("/api/games", { seats, rules: state.rules, practice: state.practice, pace: state.pace });
    sessionStorage.setItem(`links ${made.id}`, JSON.stringify(made.links));
    location.href = `/play/${made.id}`;
  });

// Looks at the game as it was before a decision; `on`: goes on from there.
async function look(decision, on = false) {
  stop();
  if (decision >= state.decisions) {
    past = null;
    return draw();
  }
  const found = await viewOf(`&decision=${decision}`);
  const next = past !== null && decision === past + 1;
  past = decision;
  if (on) playing = setTimeout(() => look(decision + 1, true).catch(fail), STEP);
  at("headline").replaceChildren(...title(""));
  drawBoard(found, next ? (state.events[past - 1 - state.log_from] ?? []) : null);
  drawMoves();
}

function stop() {
  clearTimeout(playing);
  playing = 0;
}

function halt() {
  stop();
  drawMoves();
}

const replay = () => look(Math.max(0, lastOwn()), true).catch(fail);

function transport() {
  const go = (decision, on) => () => look(Math.max(0, decision), on).catch(fail);
  return [
    tag.h2({ id: "question" }, "What has been"),
    tag.div(
      { class: "row transport" },
      button("earlier", "◀", go(past - 1), { label: "one decision back" }),
      button("pause", playing ? "Pause" : "Play", () => (playing ? halt() : go(past + 1, true)())),
      button("later", "▶", go(past + 1), { label: "one decision on" }),
      button("present", "Now", go(Infinity), { kind: "main" }),
    ),
    tag.input({
      type: "range",
      id: "scrub",
      "aria-label": "decision",
      min: 0,
      max: state.decisions,
      value: past,
      oninput: (event) => look(Number(event.target.value)).catch(fail),
    }),
    tag.p({ class: "label" }, symbols(state.log[past - state.log_from] ?? "")),
  ];
}

// The same request once more, such as a double click, counts once.
async function guarded(what, work) {
  if (underWay.has(what)) return;
  underWay.add(what);
  try {
    await work();
    say("");
  } catch (error) {
    fail(error);
    drawnView = ""; // draws the choice that was refused again
    if (error.status) await refresh().catch(fail);
  } finally {
    underWay.delete(what);
    if (news !== undefined && news !== state?.version) refresh().catch(fail);
    news = undefined;
  }
}

const act = (what, body = {}) =>
  guarded(what, async () => {
    await post(`${api}/${what}`, body);
    await refresh();
  });

// The last speed that was chosen is the one that counts.
function setPace(value) {
  paced = paced.then(() => act("pace", { pace: value === "" ? null : Number(value) }));
}

const play = (move) => send([move.action]);

// Plays moves one after the other, in one request.
const send = ([action, ...then]) =>
  guarded("play", async () => {
    show(await post(`${api}/moves`, { seat, version: state.version, action, ...(then.length ? { then } : {}) }));
    if (!covered) focusMoves();
  });

const focusMoves = () => at("moves").focus({ preventScroll: true });

const undo = () => guarded("undo", async () => show(await post(`${api}/undo`, { seat, version: state.version })));

const hint = () =>
  guarded("hint", async () => {
    const version = state.version;
    const found = await post(`${api}/hint`, { seat, version });
    if (state.version !== version) return;
    found.best = best(found).action;
    hints = found;
    showChoice();
    at(`move-${found.best}`)?.scrollIntoView({ block: "nearest" });
  });

const worth = (one) => one.visits ?? one.prior ?? one.value ?? 0;
const best = ({ moves }) => moves.reduce((most, one) => (worth(one) > worth(most) ? one : most));

const leave = () =>
  guarded("leave", async () => {
    if (
      !(await confirmed(
        "Let the computer play on in your seat, to the end? To go on another time, just close this page.",
        "Hand over",
      ))
    )
      return;
    await post(`${api}/seats`, { seat, spec: facts.agents[0] });
    [seat, board] = [null, null];
    await refresh();
  });

// Gives the seat of an agent to whoever gets its link.
const invite = () =>
  guarded("invite", async () => {
    links.push(...(await post(`${api}/seats`, { seat: state.decider, spec: null })).links);
    sessionStorage.setItem(`links ${game}`, JSON.stringify(links));
    await refresh();
  });

const save = () => guarded("save", async () => download(`${game}.record`, (await get(`${api}/record`)).record));

const study = () =>
  guarded("study", async () => {
    const { id } = await post("/api/studies", { game });
    remember("games", { id: game, study: id });
    location.href = `/study/${id}`;
  });

const remove = () =>
  guarded("remove", async () => {
    if (!(await confirmed("Delete this game for everybody?", "Delete"))) return;
    await call("DELETE", api);
    location.href = "/";
  });

// The stream says only that something is new.
function listen() {
  events = new EventSource(`${api}/events`);
  let lost = false;
  const told = (version) => {
    if (lost) say("");
    lost = false;
    if (underWay.has("play") || underWay.has("undo"))
      news = version; // its answer may be newer
    else if (version !== state?.version) refresh().catch(fail);
  };
  events.onmessage = ({ data }) => told(Number(data));
  events.addEventListener("same", () => told(null)); // something else is new, such as the speed
  events.onerror = () => {
    lost = true;
    say("The server cannot be reached; this page tries again.");
    if (events.readyState === EventSource.CLOSED) setTimeout(listen, 2000);
  };
}

function press(event) {
  const typing =
    /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName) || event.ctrlKey || event.metaKey || event.altKey;
  if (typing || !state || document.querySelector("dialog[open]")) return;
  const { key } = event;
  const all = [...at("moves").querySelectorAll("button.move")];
  const chosen = all[Number(key) - 1];
  const space_ = event.target.closest?.(".space, .held");
  if (key >= "1" && key <= "9" && chosen) chosen.click();
  else if ((key === "h" || key === "H") && mine() && !covered) hint();
  else if ((key === "u" || key === "U") && state.can_undo) undo();
  else if (key === "?") keys();
  else if (key === "Escape" && (face || space)) {
    [face, space] = [0, ""];
    showChoice();
  } else if ((key === " " || key === "Enter") && space_)
    space_.dispatchEvent(new MouseEvent("click", { bubbles: true }));
  else if ((key === " " || key === "Enter") && !event.target.closest?.("button, a, summary")) {
    (at("moves").querySelector("button.main") ?? (all.length === 1 ? all[0] : null))?.click();
  } else if (
    (key === "ArrowDown" || key === "ArrowUp") &&
    !at("moves").contains(document.activeElement) &&
    !event.target.closest?.("[role=tabpanel]")
  ) {
    all[0]?.focus();
  } else return;
  event.preventDefault();
}

function wire() {
  at("board").addEventListener("click", (event) => {
    const node = event.target.closest(".space");
    const worker = event.target.closest(".die");
    const under = node ?? (worker && board.space(worker.dataset.space));
    if (under) enter(under);
  });
  at("moves").addEventListener("keydown", (event) => event.target === at("moves") && walk(event));
  addEventListener("keydown", press);
  addEventListener("pointerdown", skip, { capture: true });
  document.addEventListener("visibilitychange", () => !document.hidden && state && refresh().catch(fail));
}

try {
  await Promise.all([sit(), loadSymbols(), get("/api/facts").then((found) => (facts = found))]);
  wire();
  await refresh();
  listen();
} catch (error) {
  fail(error);
  at("headline").textContent = "No game";
}
