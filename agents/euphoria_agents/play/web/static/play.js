// The page of a game, to play it from the seats of this browser or to watch it.

import { badge, finishAnimations, motionIsOff } from "./board.js";
import {
  beginGame,
  button,
  call,
  called,
  languageSelect,
  select,
  download,
  showError,
  get,
  hidden,
  loadFacts,
  loadSymbols,
  post,
  render,
  row,
  sentence,
  tabList,
  tag,
} from "./common.js";
import { adviceInWords } from "./coach.js";
import { Composer } from "./composer.js";
import { connect } from "./connection.js";
import { Dragging } from "./drag.js";
import { legend } from "./legend.js";
import { keep, kept, recall, remember } from "./library.js";
import { Log, recent } from "./log.js";
import { animateEvents } from "./motion.js";
import {
  confirmDialog,
  explain,
  faceOf,
  isRetrieval,
  markSpaces,
  moveRows,
  placeName,
  showPopover,
  spaceDetails,
  wayList,
  waysAreListed,
  withSymbols,
} from "./moves.js";
import { asRows, best, priced } from "./opinions.js";
import { ranking, savePicture } from "./outcome.js";
import { addPointing } from "./pointing.js";
import { t } from "./texts.js";
import { Table, playerDetails } from "./seats.js";
import { Playback, stepButtons } from "./walking.js";

const game = location.pathname.split("/")[2];
const api = `/api/games/${game}`;
const at = (id) => document.getElementById(id);
const COMPILED_ONCE =
  "The agent {agent} is being prepared; the first time, its code is compiled, once for this machine.";
const SPEEDS = [
  ["", "step by step"],
  ["1.5", "slow"],
  ["0.5", "steady"],
  ["0", "at once"],
];
const TABS = [
  ["log", "Log"],
  ["cards", "Cards"],
];

let facts = null;
let state = null; // the last view
let drawnView = ""; // the same, as JSON
let seat = null; // whose view this is; null: what everybody may see
let face = 0; // of the chosen worker; 0: none
let armed = null; // the action of a move that plays when it is chosen again
let composer = null; // while the player takes workers back
let screenHidden = false; // while the screen is passed to another player
let hints = null;
let table = null;
let viewOnBoard = null; // what the board shows, which may be past
let tab = "log";
let past = null; // the number of the past decision that is shown; null: the present
let paceBefore = "0.5"; // the speed of the agents, to go on with after a pause
let scrolledFor = ""; // the decision to whose moves the panel was scrolled
let shownAtClick = ""; // what the page showed when it was clicked last
const coached = recall("games").some((one) => one.id === game && one.coached); // a first game, with advice at each decision
const log = new Log(at("log"));
const links = kept(`links ${game}`, "sessionStorage") ?? [];

// Returns the name of a player: "You" only where that is clear.
const nameOf = (k) => {
  const { name } = state.seats[k];
  return name === "You" && (k !== seat || state.mine.length > 1) ? t("Player {n}", { n: k + 1 }) : called(name);
};
const isMyDecision = () => seat !== null && state.decider === seat;
const mayChoose = () => past === null && isMyDecision() && !screenHidden;
const mayControl = () => state.host || state.mine.length > 0;

const { claimSeat, viewOf, refresh, once, decide, postAction, setPace } = connect(api, {
  seat: () => seat,
  shown: () => state,
  sit: (taken) => {
    seat = taken;
  },
  loseSeat: () => {
    [seat, state, table] = [null, null, null];
  },
  show: showView,
  refused: () => {
    drawnView = ""; // so that the refused choice is drawn again
  },
});

// Shows a view; `live`: it follows soon after the one before, so that what has changed is animated.
function showView(found, live) {
  const text = JSON.stringify(found);
  if (text === drawnView && state) return; // so that buttons stay where the player is about to click
  drawnView = text;
  const before = state;
  if (asked(found) !== asked(state)) {
    [face, armed, composer, hints] = [0, null, null, null];
    at("popover").hidePopover();
    dragging.cancel();
    stopPointing();
  }
  state = found;
  document.body.dataset.version = found.version;
  const here = state.mine;
  if (here.length > 1 && ((here.includes(state.decider) && state.decider !== seat) || seat === null))
    screenHidden = true;
  draw(Boolean(before) && live && past === null ? before : null);
  coach();
}

// Asks for advice in a first game; again if the game has gone on meanwhile.
function coach() {
  const { version } = state;
  if (coached && isMyDecision() && !hints && !state.over) hint().then(() => state.version !== version && coach());
}

// All that a choice begun depends on; a view that leaves it as it was disturbs nobody.
const asked = (one) => one && JSON.stringify([one.seat, one.decisions, one.board, one.moves]);

function takeSeat(next) {
  [seat, screenHidden, state, table] = [next, false, null, null];
  return refresh().then(focusMoves).catch(showError);
}

function draw(before = null) {
  if (past === null) drawTable(state, before && eventsSince(before)); // first, since it measures where things are
  const headline = sentence(state.view.headline);
  at("headline").replaceChildren(...title(headline));
  at("banner").className = state.decider === null ? "" : `seat${state.decider}`;
  document.title = `${isMyDecision() ? "● " : ""}Euphoria: ${headline}`;
  render(at("controls"), controls());
  if (mayChoose() && !composer && state.moves[0].notation.startsWith("take ")) startComposer(null);
  if (screenHidden) drawCover();
  else drawMoves();
  updateMarks();
  drawTabs(before !== null);
}

function title(headline) {
  if (past !== null) return [t("Decision {n} of {total}, seen again", { n: past + 1, total: state.decisions })];
  const whose = isMyDecision()
    ? t("your decision")
    : state.decider === null
      ? ""
      : t("{who} decides", { who: nameOf(state.decider) });
  const { players, turn } = state.view;
  const said = players[state.decider]?.active ? t("Turn {n}", { n: turn }) : headline; // which names the player on turn
  return [
    state.decider === null ? null : badge(state.decider),
    tag.span([said, whose].filter(Boolean).join(" · ")),
  ].filter(Boolean);
}

// While the screen is passed on, private things are hidden.
function drawCover() {
  const next = state.mine.includes(state.decider) ? state.decider : state.mine[0];
  render(
    at("moves"),
    tag.h2({ id: "question" }, t("Pass the screen to {who}", { who: nameOf(next) })),
    button("uncover", t("I am {who}", { who: nameOf(next) }), () => takeSeat(next), { kind: "main" }),
  );
  at("uncover").focus({ preventScroll: true });
}

// Shows the table of a view; `told`: the events that led to it, which are animated.
function drawTable(found, told = null) {
  const { view } = found;
  viewOnBoard = view;
  const parents = { players: at("players"), board: at("board"), tray: at("tray") };
  table ??= new Table(facts, view.players.length, parents, { seat, explain, hold: prepareWorker, decorate });
  const own = screenHidden && seat !== null ? publicPart(view.players[seat]) : view.players[seat];
  const stars = table.show(view, found.board, state.seats, told !== null, own);
  table.board.pick();
  if (told) animateEvents(told, table, stars);
  drawRegions();
}

// What everybody sees of a player.
const publicPart = (p) => ({
  ...p,
  artifacts: null,
  recruits: p.recruits.filter((one) => one.active),
  dilemma: p.resolved && p.dilemma,
});

// The events of the decisions made since an earlier view.
const eventsSince = (before) => state.events.slice(Math.max(0, before.decisions - state.log_from)).flat();

// Prepares the frame of a worker in a hand; the player's own workers can be chosen.
function prepareWorker(node, k, shown) {
  node.style.order = shown;
  node.dataset.face = shown;
  if (k !== seat) return;
  Object.assign(node, { tabIndex: 0, role: "button", onclick: () => chooseFace(shown) });
  node.setAttribute("role", "button");
  node.setAttribute("aria-pressed", String(face === shown));
  node.setAttribute("aria-label", t("a worker of yours: {n}", { n: shown }));
}

// The moves with the chosen worker, and those without a worker.
const fittingMoves = () =>
  state.moves.filter((move) => !face || !move.notation.startsWith("place ") || faceOf(move) === face);

// Marks the spaces of a drawing.
function decorate(drawing) {
  const moves = mayChoose() && !composer ? fittingMoves() : [];
  const best = moves.length && hints && state.moves.find((move) => move.action === hints.best)?.space;
  for (const [node, n] of markSpaces(drawing, moves)) {
    node.classList.toggle("cannot", !n && (face > 0 || composer !== null));
    node.classList.toggle("best", Boolean(best) && node.dataset.space === best);
    node.classList.toggle("last", past === null && node.dataset.space === state.last);
  }
}

// Marks the spaces and workers again after a choice.
function updateMarks() {
  if (!table) return;
  decorate(table.board.svg);
  if (composer) table.board.pick(composer.dice, composer.chosen, pickDie);
  else table.board.pick();
  for (const node of table.tray?.hand.children ?? [])
    node.setAttribute("aria-pressed", String(face === Number(node.dataset.face)));
}

// Buttons that scroll to the regions of the board where it is wider than the window, with a dot where there are moves.
function drawRegions() {
  const moves = new Set(isMyDecision() ? state.moves.map((move) => move.space) : []);
  const parts = [...table.board.svg.querySelectorAll(".region")].map((node) => [
    node.dataset.region,
    node.getAttribute("aria-label"),
    node,
  ]);
  render(
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
        () => node.scrollIntoView({ behavior: motionIsOff() ? "auto" : "smooth", block: "nearest", inline: "center" }),
        { kind: id },
      ),
    ),
  );
}

// What happened, and the cards; `moving`: new lines of the log appear with what they tell of.
function drawTabs(moving = false) {
  const since = lastOwn();
  if (screenHidden) at("log").replaceChildren();
  else log.draw(state, seat === null ? Infinity : since, moving);
  at("log-box").scrollTop = at("log").scrollHeight;
  render(at("tabs"), tabs(since));
  at("log-box").hidden = tab !== "log";
  at("cards-box").hidden = tab !== "cards";
  if (screenHidden) at("cards-box").replaceChildren();
  else if (tab === "cards") {
    render(
      at("cards-box"),
      state.view.players.map((p) => playerDetails(facts, state.view, p, state.seats[p.seat], seat)),
    );
  }
}

// The player's last decision; -1 if the log does not have it.
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
        drawTabs();
      },
    ),
    button(
      "again",
      seat === null ? "Replay" : t("Since my move ({n})", { n: missed }),
      () => replay(Math.max(0, lastOwn())),
      {
        off: missed < 1 || past !== null,
      },
    ),
  ];
}

function controls() {
  const agents = !state.over && state.seats.some((one) => one.spec);
  const paused = state.pace === null;
  return [
    mayControl() &&
      agents && [
        select("pace", "speed of the agents", SPEEDS, paused ? "" : String(state.pace), setPace),
        button("hold", paused ? "▶" : "❚❚", hold, { label: paused ? "let the agents play on" : "pause the agents" }),
        paused && button("step", "Step", () => postAction("step"), { off: !state.waits_for_agent }),
      ],
    seat !== null && !state.over && button("hint", "Hint", hint, { off: !isMyDecision() || screenHidden }),
    seat !== null && (!state.over || state.can_undo) && button("undo", "Undo", undo, { off: !state.can_undo }),
    button("drawer", "Moves", () => document.body.classList.toggle("closed")),
    button("menu", "Menu", (event) => showPopover(at("popover"), event.currentTarget, menuItems())),
  ];
}

function hold() {
  if (state.pace === null) return setPace(paceBefore);
  paceBefore = String(state.pace);
  setPace("");
}

function menuItems() {
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
          close(() => go(state.decisions - 1)),
        ),
      (state.over || state.practice) && [
        button("record", "Save the record", close(saveRecord)),
        button("study", "Study this game", close(openStudy)),
      ],
      seat !== null && !state.over && button("leave", "Hand over my seat", close(handOverSeat)),
      button("keys", "Keys", close(showKeys)),
      button("symbols", "Symbols", close(showSymbols)),
      tag.a({ href: "/help", class: "button" }, "How to play"),
      languageSelect(),
      state.host && state.over && button("delete", "Delete this game", close(deleteGame)),
    ),
  ];
}

const KEYS = [
  ["1 to 9", "plays the move with this number"],
  ["↓ ↑", "walk through the moves"],
  ["Space, Enter", "plays the chosen move"],
  ["H", "hint"],
  ["U", "undo"],
  ["Esc", "shows all moves again, ends a drag"],
  ["?", "this list"],
];

function showSymbols() {
  explain(at("menu"), "Symbols", legend());
}

function showKeys() {
  const lines = KEYS.map(([key, what]) => [tag.dt(tag.kbd(key)), tag.dd(what)]);
  explain(at("menu"), "Keys", tag.dl({ class: "keys" }, lines));
}

function drawMoves() {
  table?.board.point();
  render(at("moves"), panel());
  const shown = `${state.version} ${past} ${composer !== null}`;
  if (scrolledFor !== shown) for (const part of ["moves", "side"]) at(part).scrollTop = 0;
  scrolledFor = shown;
}

function panel() {
  if (past !== null) return playbackControls();
  const head = tag.h2({ id: "question" }, state.over ? resultText() : question());
  const invitations = links
    .filter((one) => state.seats[one.seat].spec === null)
    .map((one) =>
      tag.label(
        { class: "invitation" },
        t("Link for {who}", { who: nameOf(one.seat) }),
        " ",
        tag.input({
          id: `link-${one.seat}`,
          readonly: true,
          value: `${location.origin}/play/${game}#token=${one.token}`,
          onfocus: (event) => event.target.select(),
        }),
      ),
    );
  if (!isMyDecision())
    return [
      trouble(),
      head,
      state.over ? outcome() : [tag.p({ class: "label" }, waiting()), recent(state)],
      invitations,
    ];
  if (composer) return [trouble(), composerPanel(), invitations];
  const shown = fittingMoves();
  const narrowed = shown.length < state.moves.length;
  const advice = hints && state.moves.find((move) => move.action === hints.best);
  return [
    trouble(),
    head,
    state.view.offer && tag.p({ class: "label" }, withSymbols(state.view.offer)),
    advice && tag.div({ class: "advice" }, adviceInWords(facts, state, seat, advice)),
    advice && !coached && tag.p({ class: "label" }, priced(hints.moves) ? CHANCES : CHOICES),
    narrowed && button("all", t("All {n} moves", { n: state.moves.length }), showAll),
    tag.div(
      { class: "groups" },
      waysAreListed(state) ? wayList(state, send) : moveRows(facts, state, { hints, shown, play, seat, armed }),
    ),
    invitations,
  ];
}

const CHANCES = "Beside each move: your chance to win after it.";
const CHOICES = "This adviser does not search. Beside each move: how often it would choose it.";

// The question; the player who is asked need not be told so.
function question() {
  return isMyDecision() ? sentence(state.asks) : state.question;
}

function waiting() {
  if (state.prepares) return t(COMPILED_ONCE, { agent: state.prepares });
  if (state.waits_for_agent) return t("{who} thinks.", { who: nameOf(state.decider) });
  return seat === null ? "You are watching." : t("{who} decides.", { who: nameOf(state.decider) });
}

// Why a game waits.
const inWords = ({ trouble: said, told: { key, parts } }) => (key ? t(key, { ...parts, why: t(parts.why) }) : t(said));

function trouble() {
  if (!state.trouble) return null;
  return tag.div(
    { class: "trouble", role: "alert" },
    tag.p(t("The game waits: {why}", { why: inWords(state) })),
    mayControl() &&
      row(
        button("retry", "Try again", () => postAction("retry")),
        state.waits_for_agent &&
          facts.agents.map((spec) =>
            button(`give-${spec}`, t("Let {spec} play on", { spec }), () =>
              postAction("seats", { seat: state.decider, spec }),
            ),
          ),
        state.waits_for_agent && state.host && button("invite", "Let a person play on", invite),
      ),
  );
}

const choices = () => [...at("moves").querySelectorAll("button.move, button.chip")];

function showChoice() {
  drawMoves();
  updateMarks();
}

function showAll() {
  [face, armed] = [0, null];
  showChoice();
}

const canPlace = (shown) =>
  mayChoose() && !composer && state.moves.some((move) => move.notation.startsWith(`place ${shown} `));

function chooseFace(next) {
  if (!mayChoose() || composer) return;
  face = face === next || !canPlace(next) ? 0 : next;
  showChoice();
}

// Plays a move. What gives up a placement must be chosen twice, and workers are taken back in a composer.
function play(move) {
  if (isRetrieval(move)) return compose(move.action);
  if (move.notation !== "end" || armed === move.action) return send([move.action]);
  armed = move.action;
  showChoice();
}

function startComposer(payment) {
  [face, armed] = [0, null];
  composer = new Composer(state.retrievals, table.board.diceOf(seat), payment);
}

function compose(payment) {
  startComposer(payment);
  showChoice();
  focusMoves();
}

function leaveComposer() {
  composer = null;
  showChoice();
  focusMoves();
}

function pickDie(die) {
  composer.toggle(die);
  showChoice();
}

// In the middle of a choice that was begun elsewhere there is no way back.
const mayLeave = () => state.moves.some(isRetrieval);

const composerPanel = () =>
  composer.panel({ facts, state, seat, redraw: showChoice, send, back: mayLeave() && leaveComposer });

const movesTo = (wanted) => (mayChoose() && !composer ? fittingMoves().filter((move) => move.space === wanted) : []);

// Plays the only move of a clicked space, or offers its moves beside it.
function clickSpace(node) {
  const { space: wanted } = node.dataset;
  const moves = movesTo(wanted);
  stopPointing();
  if (moves.length === 1) return play(moves[0]);
  if (!moves.length) return showPopover(at("popover"), node, about(wanted));
  const chosen = (move) => {
    at("popover").hidePopover();
    play(move);
  };
  const rows = moveRows(facts, state, { seat, hints, shown: moves, play: chosen });
  explain(node, placeName(facts, state.view, wanted), tag.div({ class: "groups" }, rows));
  at("popover").querySelector("button").focus({ preventScroll: true });
}

const about = (wanted) =>
  spaceDetails(facts, viewOnBoard, {
    space: wanted,
    label: table.board.space(wanted).getAttribute("aria-label"),
    moves: movesTo(wanted),
    seat,
  });

function resultText() {
  const winner = state.view.players.find((p) => p.rank === 1);
  if (state.cut_off) return "The game was cut off.";
  return winner.seat === seat ? "You have won." : t("{who} has won.", { who: nameOf(winner.seat) });
}

const outcome = () => [
  tag.div(
    { class: "row ending" },
    mayControl() && button("rematch", "Rematch", rematch, { kind: "main" }),
    button("study-now", "Study", openStudy),
    button("look-back", "Watch it again", () => replay(0)),
    button("picture", "Save the picture", () => savePicture(table.board.svg, `euphoria-${game}`)),
  ),
  ranking(state.view, state.seats, state.stars),
];

const rematch = () =>
  once("rematch", async () => {
    const seats = state.seats.map(({ name: called, spec }, k) => ({
      name: called,
      spec,
      here: state.mine.includes(k),
    }));
    await beginGame({ seats, rules: state.rules, practice: state.practice, pace: state.pace });
  });

// Shows the game before a decision, or as it is now.
async function showPast(decision) {
  if (decision >= state.decisions) {
    past = null;
    return draw();
  }
  const found = await viewOf(`&decision=${decision}`);
  const next = past !== null && decision === past + 1;
  [past, composer] = [decision, null];
  at("headline").replaceChildren(...title(""));
  drawTable(found, next ? (state.events[past - 1 - state.log_from] ?? []) : null);
  drawMoves();
}

const step = (decision) => showPast(decision).catch(showError);
const playback = new Playback({ here: () => past, total: Infinity, step, draw: drawMoves });

function go(decision) {
  playback.stop();
  return step(decision);
}

const replay = (decision) => go(decision).then(() => playback.toggle());

const playbackControls = () => [
  tag.h2({ id: "question" }, "What has been"),
  tag.div(
    { class: "row transport" },
    playback.controls(),
    stepButtons(past, state.decisions, go),
    button("present", "Now", () => go(Infinity), { kind: "main" }),
  ),
  tag.input({
    type: "range",
    id: "scrub",
    "aria-label": "decision",
    min: 0,
    max: state.decisions,
    value: past,
    oninput: (event) => go(Number(event.target.value)),
  }),
  tag.p({ class: "label" }, withSymbols(state.log[past - state.log_from]?.text ?? "")),
];

// Plays several moves in one request.
const send = ([action, ...then]) =>
  decide("moves", { action, ...(then.length ? { then } : {}) }, () => screenHidden || focusMoves());

const focusMoves = () => at("moves").focus({ preventScroll: true });

const undo = () => decide("undo");

const hint = () =>
  once("hint", async () => {
    const version = state.version;
    const found = await post(`${api}/hint`, { seat, version, ...(coached && { spec: facts.agents[0] }) }); // which is quick
    if (state.version !== version) return;
    const moves = asRows(found.moves);
    hints = { moves, best: best(moves)[0] };
    showChoice();
    if (!coached) at(`move-${hints.best}`)?.scrollIntoView({ block: "nearest" });
  });

const handOverSeat = () =>
  once("leave", async () => {
    if (
      !(await confirmDialog(
        "Let the computer play on in your seat, to the end? To go on another time, just close this page.",
        "Hand over",
      ))
    )
      return;
    await post(`${api}/seats`, { seat, spec: facts.agents[0] });
    [seat, table] = [null, null];
    await refresh();
  });

// Makes a link to the seat of an agent.
const invite = () =>
  once("invite", async () => {
    links.push(...(await post(`${api}/seats`, { seat: state.decider, spec: null })).links);
    keep(`links ${game}`, links, "sessionStorage");
    await refresh();
  });

const saveRecord = () => once("save", async () => download(`${game}.record`, (await get(`${api}/record`)).record));

const openStudy = () =>
  once("study", async () => {
    const { id } = await post("/api/studies", { game });
    remember("games", { id: game, study: id });
    location.href = `/study/${id}`;
  });

const deleteGame = () =>
  once("remove", async () => {
    if (!(await confirmDialog("Delete this game for everybody?", "Delete"))) return;
    await call("DELETE", api);
    location.href = "/";
  });

// Returns the function that a key calls; null if it calls none.
function workOf(key, target) {
  const all = choices();
  const on = (what) => target.closest?.(what);
  const step = { ArrowDown: 1, ArrowUp: -1 }[key];
  if (key >= "1" && key <= "9" && all[key - 1]) return () => all[key - 1].click();
  if (/^h$/i.test(key) && isMyDecision() && !screenHidden) return hint;
  if (/^u$/i.test(key) && state.can_undo) return undo;
  if (key === "?") return showKeys;
  if (key === "Escape" && composer) return mayLeave() ? leaveComposer : null;
  if (key === "Escape") return face || armed !== null ? showAll : null;
  if (step && all.length && !on("[role=tabpanel]"))
    return () => all[Math.min(all.length - 1, Math.max(0, all.indexOf(document.activeElement) + step))].focus();
  if (key !== " " && key !== "Enter") return null;
  const space = on(".space, .held");
  if (space) return () => space.dispatchEvent(new MouseEvent("click", { bubbles: true }));
  if (on("button, a, summary")) return null;
  if (past !== null && key === " ") return () => playback.toggle();
  return () => (at("moves").querySelector("button.main") ?? (all.length === 1 ? all[0] : null))?.click();
}

function handleKey(event) {
  const typing = /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName);
  if (typing || event.ctrlKey || event.metaKey || event.altKey || !state || document.querySelector("dialog[open]"))
    return;
  if (event.repeat && /^(.|Enter)$/.test(event.key)) return event.preventDefault(); // a key that is held down acts once
  const work = workOf(event.key, event.target);
  if (!work) return;
  event.preventDefault();
  work();
}

// The second click of a double click plays nothing if the first one has changed what it meets.
function dropSecondClick(event) {
  const shown = `${state?.version} ${Boolean(composer)} ${armed}`;
  if (event.detail < 2) shownAtClick = shown;
  else if (shown !== shownAtClick && event.target.closest("#moves, #board, #popover")) event.stopPropagation();
}

const dragging = new Dragging({
  begin(shown) {
    if (!canPlace(shown)) return false;
    face = shown;
    showChoice();
    return true;
  },
  drop: (wanted) => movesTo(wanted).slice(0, 1).forEach(play),
  end: showAll,
});

const stopPointing = addPointing({ point: (wanted, shown) => table?.board.point(wanted, seat, shown), about });

function addListeners() {
  addEventListener("click", dropSecondClick, { capture: true });
  at("board").addEventListener("click", (event) => {
    const space = table.board.clicked(event);
    if (space) clickSpace(space);
  });
  addEventListener("keydown", handleKey);
  addEventListener("pointerdown", finishAnimations, { capture: true });
  document.addEventListener("visibilitychange", () => !document.hidden && state && refresh().catch(showError));
}

try {
  await Promise.all([claimSeat(), loadSymbols(), loadFacts().then((found) => (facts = found))]);
  addListeners();
  await refresh();
} catch (error) {
  showError(error);
  at("headline").textContent = "No game";
}
