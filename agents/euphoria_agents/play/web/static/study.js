// A recorded game, decision by decision, what agents think of each, and what can be learned from it.

import { Board } from "./board.js";
import { chart } from "./chart.js";
import {
  button,
  call,
  choose,
  download,
  fail,
  get,
  loadSymbols,
  many,
  post,
  refill,
  row,
  say,
  scrollable,
  sentence,
  tabList,
  tag,
} from "./common.js";
import * as judgement from "./judgement.js";
import { forget, remember } from "./library.js";
import { cell, drawView } from "./seats.js";
import { listen, plyOfAddress, stepButtons, stepTo } from "./walking.js";

const { mark, percent, showMarks, signed, term } = judgement;
const study = location.pathname.split("/")[2];
const api = `/api/studies/${study}`;
const at = (id) => document.getElementById(id);
const ENOUGH = 8; // visits from which on the value of a move says something
const TABS = { wrong: "Mistakes", all: "Moves", result: "Result" };
let facts = null;
let cells = []; // of the players, in a row
let board = null;
let game = null; // names, players, turns, log, lines, record, result, mistake, judges
let here = null; // the decision that is shown
let wanted = 0; // the decision that was asked for last
let as = "mover"; // whose view: the mover's, a seat's, or everybody's
let judge = ""; // the agent whose opinions are shown
let guessing = false; // whether one tries to find the best move before it is told
let guess = null; // the move that one would play here
let lesson = null; // learning from mistakes: seat, the decisions, how many are done and found
let tab = "wrong";
let eyes = null; // the seat whose chances the chart shows; null: as whoever decides sees them
const found = {}; // by agent: entries, better, running, trouble
const asked = {}; // by agent and decision: what it said when asked of this decision alone

const NOTHING = { entries: [], better: {}, running: false, trouble: "" };
const analysis = (spec = judge) => found[spec] ?? NOTHING;
const total = () => game.lines.length;

// An agent's opinion of the moves here: [action, prior, visits, value].
function thoughts() {
  const alone = asked[`${judge} ${here.ply}`]?.moves ?? [];
  return analysis().entries[here.ply]?.moves ?? alone.map((one) => [one.action, one.prior, one.visits, one.value]);
}

const seatSeen = () => (["mover", "all"].includes(as) ? null : Number(as));
const mistakes = () => judgement.mistakes(analysis().entries, game.mistake, seatSeen());
const told = () => here.played !== null && (!guessing || guess !== null); // whether what was played may be shown

async function seek(ply) {
  const next = Math.max(0, Math.min(total(), ply));
  wanted = next;
  const seat = as === "mover" ? (game.players[next] ?? "all") : as;
  const now = await get(`${api}/at/${next}${seat === "all" ? "" : `?seat=${seat}`}`);
  if (next !== wanted) return; // somebody has moved on
  const moving = here !== null && Math.abs(next - here.ply) === 1;
  [here, guess] = [now, null];
  history.replaceState(null, "", `#${next}`);
  draw(moving);
}

const go = (ply) => seek(ply).catch(fail);

function draw(moving) {
  refill(at("links"), links());
  drawThoughts(moving);
}

function drawThoughts(moving = false) {
  const blind = guessing && guess === null;
  refill(
    at("course"),
    blind ? tag.p({ class: "label" }, "What came of it is hidden until you have chosen.") : course(),
  );
  refill(at("steer"), lesson ? lessonSteering() : steering());
  refill(at("moves"), blind ? question() : decision());
  refill(at("report"), lesson || blind ? null : report());
  at("report").hidden = Boolean(lesson || blind);
  drawBoard(moving);
}

function course() {
  const width = Math.max(300, at("course").clientWidth - 24);
  const wrong = lesson ? [] : mistakes();
  return chart({ game, entries: analysis().entries, eyes, wrong, here: here.ply, width, seek: lesson ? () => {} : go });
}

// The board, on which what moved since the decision before travels.
function drawBoard(moving = false) {
  const who = (p) => ({ name: game.names[p.seat], spec: "" });
  drawView(board, cells, facts, { view: here.view, drawing: here.board, who, moving });
}

function steering() {
  const wrong = mistakes().map((one) => one.ply);
  const to = stepTo(here.ply, go);
  const seen = [["mover", "who decides"], ...game.names.map((name, k) => [String(k), name]), ["all", "everybody"]];
  const curves = [["", "who decides"], ...game.names.map((name, k) => [String(k), name])];
  return [
    row(stepButtons(here.ply, total(), go)),
    row(
      to(
        "mistake-before",
        "Mistake before",
        null,
        wrong.findLast((ply) => ply < here.ply),
      ),
      to("mistake", "Next mistake", null, wrong.find((ply) => ply > here.ply) ?? wrong[0]),
    ),
    button("learn", "Learn from my mistakes", () => at("lesson-dialog").showModal(), {
      kind: "main",
      off: !analysis().entries.length,
    }),
    tag.label(
      "board seen by ",
      choose("as", "board seen by", seen, as, (value) => {
        as = value;
        go(here.ply);
      }),
    ),
    tag.label(
      term("chances", "chances"),
      " seen by ",
      choose("eyes", "chances seen by", curves, eyes === null ? "" : String(eyes), (value) => {
        eyes = value === "" ? null : Number(value);
        drawThoughts();
      }),
    ),
    tag.label(
      { class: "check" },
      tag.input({
        type: "checkbox",
        id: "guessing",
        checked: guessing,
        onchange: (event) => {
          [guessing, guess] = [event.target.checked, null];
          drawThoughts();
        },
      }),
      "try it first",
    ),
  ];
}

function links() {
  const page = `${api}/page?spec=${analysis().entries.length ? encodeURIComponent(judge) : ""}`;
  return [
    !here.over &&
      tag.a({ id: "branch", class: "button", href: `/#study=${study}&ply=${here.ply}` }, "Play on from here"),
    button("position", "Position", () => savePosition().catch(fail)),
    button("save", "Record", () => download("game.record", game.record)),
    tag.a(
      { id: "page", class: "button", href: page, download: "game.html", title: "one page that opens anywhere" },
      "Page",
    ),
    game.host && button("delete", "Delete", () => at("delete-dialog").showModal()),
  ];
}

function who() {
  return tag.h2({ id: "question" }, mark(here.player), ` ${here.question}`);
}

// The moves without what anybody thinks of them, for whoever wants to find the best one.
function question() {
  const shown = here.moves.filter((move) => !lesson || move.action !== here.played);
  const played = here.moves.find((move) => move.action === here.played);
  const asks = lesson
    ? `${game.names[here.player]} played: ${judgement.brief(played.text)}. Find something better.`
    : "What would you play?";
  const choice = (move) =>
    tag.li(button(`guess-${move.action}`, move.text, () => guessMove(move.action), { kind: "move" }));
  return [who(), tag.p({ class: "asks" }, asks), tag.ul({ class: "choices" }, shown.map(choice))];
}

function guessMove(action) {
  guess = action;
  if (lesson && cost(action) <= game.mistake / 2) lesson.right.add(here.ply);
  drawThoughts();
}

// The cost of a move against the best one; null if it is not known.
function cost(action) {
  const top = judgement.best(thoughts());
  const one = thoughts().find(([other]) => other === action);
  if (!one || top[0] === action) return one ? 0 : null;
  const known = one[3] != null && top[3] != null && (one[2] == null || one[2] >= ENOUGH);
  return known ? Math.max(0, top[3] - one[3]) : null;
}

function decision() {
  if (here.over) return [tag.h2({ id: "question" }, "The game has ended."), ending()];
  const opinions = judgement.ordered(thoughts());
  const rank = new Map(opinions.map(([action], k) => [action, k]));
  const order = [...here.moves].sort((a, b) => (rank.get(a.action) ?? 999) - (rank.get(b.action) ?? 999));
  const most = Math.max(1, ...opinions.map(([, , visits]) => visits ?? 0));
  const share = (visits) =>
    tag.meter({ min: 0, max: most, value: visits, title: many(visits, "visit"), "aria-label": many(visits, "visit") });
  const cells = ([, prior, visits, value] = []) => [
    tag.td({ class: "number" }, percent(prior)),
    tag.td(visits == null ? "–" : share(visits)),
    tag.td({ class: "number" }, percent(value, 1)),
  ];
  const line = (move) => {
    const signs = [
      rank.get(move.action) === 0 && tag.span({ class: "sign best" }, "best"),
      move.action === here.played && tag.span({ class: "sign played" }, "played"),
      move.action === guess && tag.span({ class: "sign" }, "yours"),
    ];
    const opinion = opinions.find(([action]) => action === move.action);
    return tag.tr(tag.th({ scope: "row" }, move.text, signs), opinions.length > 0 && cells(opinion));
  };
  const heads = opinions.length ? [term("idea", "first idea"), term("visits", "visits"), term("win", "to win")] : [];
  const head = tag.tr(["Move", ...heads].map((one) => tag.th({ scope: "col" }, one)));
  return [
    who(),
    answer(),
    verdict(),
    scrollable("moves", tag.table(tag.thead(head), tag.tbody(order.map(line)))),
    !opinions.length && row(button(`ask-${judge}`, `Ask ${judge} about this decision`, () => ask(judge))),
  ];
}

// The answer to a guess.
function answer() {
  if (guess === null) return null;
  const lost = cost(guess);
  const right = lost !== null && lost <= game.mistake / 2;
  const says =
    lost === 0
      ? "Yes, that is the best move."
      : lost === null
        ? "The search hardly looked at that."
        : right
          ? `Good: it costs ${percent(lost, 1)}.`
          : `That costs ${percent(lost, 1)}.`;
  const again = () => {
    guess = null;
    drawThoughts();
  };
  return tag.div(
    { class: `answer${right ? " right" : ""}`, role: "status" },
    says,
    lesson && !right && button("again", "Try again", again),
  );
}

function verdict() {
  const entry = analysis().entries[here.ply];
  if (!entry) return null;
  const changes =
    entry.luck?.some((x) => x) && entry.luck.map((x, k) => [k ? ", " : " ", `${game.names[k]} ${signed(x)}`]);
  return judgement.verdict(
    entry,
    game.mistake,
    changes && [" · ", term("luck", "luck"), ` (${judgement.drawn(entry.chance, game.names)})`, changes],
  );
}

function ending() {
  return tag.p(game.result ? `${sentence(game.headline)}.` : "The record ends here.");
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

function drawLessons() {
  const count = (seat) => judgement.mistakes(analysis().entries, game.mistake, seat).length;
  const choice = (name, seat) =>
    button(`learn-${seat}`, [mark(seat), ` ${name}: ${many(count(seat), "mistake")}`], () => begin(seat), {
      off: !count(seat),
    });
  refill(at("lesson-choices"), game.names.map(choice));
}

function begin(seat) {
  at("lesson-dialog").close();
  const plies = judgement.mistakes(analysis().entries, game.mistake, seat).map((one) => one.ply);
  [lesson, guessing, as] = [{ seat, plies, done: 0, right: new Set() }, true, "mover"];
  go(plies[0]);
}

function lessonSteering() {
  const { plies, done, right } = lesson;
  const next = () => {
    lesson.done += 1;
    go(plies[lesson.done]);
  };
  const last = done === plies.length - 1;
  return [
    tag.b(`Mistake ${done + 1} of ${plies.length}, turn ${game.turns[here.ply]}`),
    tag.progress({ max: plies.length, value: done + (guess === null ? 0 : 1), "aria-label": "mistakes" }),
    guess === null
      ? button("show", "Show the best move", () => guessMove(judgement.best(thoughts())[0]))
      : !last && button("next", "Next mistake", next, { kind: "main" }),
    last && guess !== null && tag.span(`You found ${right.size} of ${plies.length}.`),
    button("leave", "Leave", () => {
      [lesson, guessing, guess] = [null, false, null];
      drawThoughts();
    }),
  ];
}

function report() {
  const { entries } = analysis();
  const titles = { ...TABS, wrong: entries.length ? `Mistakes (${mistakes().length})` : "Mistakes" };
  const shown = { wrong: wrongTab, all: movesTab, result: resultTab }[tab]();
  const whole = entries.length === total();
  return [
    !whole && judging(),
    tabList(
      "analysis",
      Object.entries(titles),
      tab,
      () => "shown-tab",
      (key) => {
        tab = key;
        drawThoughts();
      },
    ),
    tag.div({ id: "shown-tab", role: "tabpanel", "aria-labelledby": `tab-${tab}`, tabindex: 0 }, shown),
    whole && judging(),
  ];
}

const story = () => ({ ...game, entries: analysis().entries, better: analysis().better, here: here.ply, seek: go });
const PROMISE =
  "An analysis judges every decision: what a mistake cost, what was luck, and the chances to win over the game.";

function wrongTab() {
  if (!analysis().entries.length) return tag.p({ class: "label" }, PROMISE);
  const above = (event) => {
    game.mistake = Number(event.target.value) / 100;
    drawThoughts();
  };
  return [
    tag.p(
      { class: "label" },
      "A mistake has a ",
      term("regret", "regret"),
      " above ",
      tag.input({
        type: "number",
        id: "threshold",
        "aria-label": "a mistake has a regret above, in percent",
        min: 1,
        max: 100,
        step: 0.5,
        value: +(100 * game.mistake).toFixed(2),
        onchange: above,
      }),
      " %. Filled marks: it was ",
      term("punished", "punished"),
      ".",
    ),
    judgement.mistakeList(mistakes(), story()),
  ];
}

const movesTab = () => judgement.moveList(story(), mistakes());

function resultTab() {
  if (!analysis().entries.length) return [ending(), tag.p({ class: "label" }, PROMISE)];
  return [game.result && ending(), judgement.results(analysis().entries, game, game.mistake)];
}

function judging() {
  const change = (spec) => {
    judge = spec;
    load(spec).catch(fail);
  };
  const options = game.judges.map((spec) => [spec, spec]);
  return [row(choose("judge", "who judges", options, judge, change)), progress(judge)];
}

function progress(spec) {
  const { entries, running, trouble } = analysis(spec);
  const done = entries.length;
  const unfinished = done < total();
  const act = running
    ? button(`stop-${spec}`, "Stop", () => change("DELETE", spec))
    : unfinished &&
      button(`analyse-${spec}`, done ? "Go on" : "Analyse the game", () => change("POST", spec), { kind: "main" });
  return [
    row(
      act,
      (running || (done > 0 && unfinished)) &&
        tag.progress({ max: total(), value: done, "aria-label": `decisions judged by ${spec}` }),
      (running || (done > 0 && unfinished)) && tag.span({ class: "label" }, `${done} of ${total()}`),
    ),
    trouble ? tag.p({ class: "bad" }, trouble) : null,
  ];
}

async function load(spec) {
  const first = analysis(spec).entries.length;
  const next = await get(`${api}/analyses?spec=${encodeURIComponent(spec)}&from=${first}`);
  if (first > analysis(spec).entries.length) return; // it was restarted meanwhile
  const { entries, better } = analysis(spec);
  found[spec] = {
    ...next,
    entries: [...entries.slice(0, first), ...next.entries],
    better: { ...better, ...next.better },
  };
  if (here && !(guessing && guess === null)) drawThoughts();
  drawLessons();
  if (next.running) setTimeout(() => judge === spec && load(spec).catch(fail), 400);
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

async function savePosition() {
  download("position.json", JSON.stringify((await get(`${api}/at/${here.ply}/position`)).position));
}

async function remove() {
  await call("DELETE", api);
  forget("studies", study);
  location.href = "/";
}

function dialogs() {
  const close = (id) => button(`${id}-close`, "Cancel", () => at(id).close());
  const made = (id, title, ...inside) =>
    tag.dialog({ id, "aria-labelledby": `${id}-title` }, tag.h2({ id: `${id}-title` }, title), inside);
  document.body.append(
    made("lesson-dialog", "Whose mistakes?", tag.div({ id: "lesson-choices", class: "stack" }), close("lesson-dialog")),
    made(
      "delete-dialog",
      "Delete this study?",
      tag.p("Its analyses go too; games that were played on from it stay."),
      row(
        button("delete-really", "Delete it", () => remove().catch(fail)),
        close("delete-dialog"),
      ),
    ),
  );
}

try {
  [, facts, game] = await Promise.all([loadSymbols(), get("/api/facts"), get(api)]);
  judge = game.judges[0];
  const watched = [game.names.indexOf("You"), game.result?.indexOf(1), 0].find((seat) => seat >= 0);
  eyes = game.names.length > 2 ? watched : null;
  at("headline").textContent = game.names.join(", ");
  document.title = `Euphoria: ${game.names.join(", ")}`;
  remember("studies", { id: study, names: game.names, told: sentence(game.headline) });
  cells = game.names.map((_, k) => cell(facts, k));
  at("players").append(...cells.map((one) => one.node));
  const decorate = (drawn) => told() && showMarks(drawn, here, thoughts());
  board = new Board(at("board"), { home: (seat) => cells[seat].hand, decorate });
  judgement.addTerms();
  dialogs();
  await seek(plyOfAddress());
  const free = () => !lesson && !document.querySelector("dialog[open]");
  listen({ here: () => wanted, go, draw: drawThoughts, free });
  await load(judge);
} catch (error) {
  fail(error);
  at("headline").textContent = "No study";
}
