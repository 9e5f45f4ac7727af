// The page of a study: a recorded game decision by decision, the opinions of agents, and lessons from mistakes.

import { chart } from "./chart.js";
import {
  button,
  call,
  called,
  select,
  download,
  showError,
  get,
  loadFacts,
  loadSymbols,
  nameList,
  named,
  post,
  render,
  row,
  showMessage,
  scrollable,
  sentence,
  tabList,
  tag,
} from "./common.js";
import * as judgement from "./judgement.js";
import { forget, remember } from "./library.js";
import { confirmDialog } from "./moves.js";
import * as opinions from "./opinions.js";
import { Table, holdings } from "./seats.js";
import { plural, t } from "./texts.js";
import { Playback, listen, plyOfAddress, showMarked, stepButtons, stepTo } from "./walking.js";

const { seatMark, showMarks, signed, term } = judgement;
const { percent } = opinions;
const study = location.pathname.split("/")[2];
const api = `/api/studies/${study}`;
const at = (id) => document.getElementById(id);
const RETRY = 2000; // milliseconds until a request is sent again if the server cannot be reached
const TABS = { wrong: "Mistakes", all: "Moves", result: "Result" };
let facts = null;
let who = []; // the names of the players
let table = null;
let game = null; // names, players, turns, log, lines, record, result, mistake, judges
let here = null; // the shown decision
let wantedPly = 0; // the last decision that was requested
let as = "mover"; // whose view: the mover's, a seat's, or everybody's
let judge = ""; // the agent whose opinions are shown
let guessing = false; // whether the best move is hidden until the user has guessed
let guess = null; // the move that the user guessed
let lesson = null; // seat, its mistakes (plies), how many are done, and those found (right)
let tab = "wrong";
let chartSeat = null; // the seat whose estimates the chart shows; null: those of the player to move
let waiting = false; // whether the server cannot be reached
let playback = null;
let checking = null; // the entry whose playouts are under way, and what stops them
const analyses = {}; // by agent: entries, better, running, trouble
const singleOpinions = {}; // by agent and decision: opinions of one decision

const NOTHING = { entries: [], better: {}, running: false, trouble: "" };
const analysis = (spec = judge) => analyses[spec] ?? NOTHING;
const total = () => game.lines.length;
const isWhole = () => analysis().entries.length === total();

// An agent's opinion of the moves here: [action, prior, visits, value].
function thoughts() {
  return analysis().entries[here.ply]?.moves ?? opinions.asRows(singleOpinions[`${judge} ${here.ply}`]?.moves ?? []);
}

const seatSeen = () => (["mover", "all"].includes(as) ? null : Number(as));
const mistakes = () => judgement.mistakes(analysis().entries, game.mistake, seatSeen());

// The words for an agent that judges; its spec is the title.
function judgeName(spec) {
  const [, searches] = /^mcts:(\d+):ppo$/.exec(spec) ?? [];
  return searches ? t("very hard (searches {n})", { n: searches }) : t(facts.agent_words[spec] ?? spec);
}

// Sends a request until the server can be reached, or until nobody wants its answer any more.
async function patiently(request, wanted) {
  for (;;) {
    try {
      const found = await request();
      if (waiting) showMessage("");
      waiting = false;
      return found;
    } catch (error) {
      if (error.status !== 0 || !wanted()) throw error;
      waiting = true;
      showError(error);
      await new Promise((resolve) => setTimeout(resolve, RETRY));
    }
  }
}

const playedIsShown = () => here.played !== null && (!guessing || guess !== null);

async function showDecision(ply) {
  const next = Math.max(0, Math.min(total(), ply));
  wantedPly = next;
  const seat = as === "mover" ? (game.players[next] ?? "all") : as;
  const there = `${api}/at/${next}${seat === "all" ? "" : `?seat=${seat}`}`;
  const now = await patiently(
    () => get(there),
    () => next === wantedPly,
  );
  if (next !== wantedPly) return; // another decision has been requested meanwhile
  const moving = here !== null && Math.abs(next - here.ply) === 1;
  [here, guess] = [now, null];
  history.replaceState(null, "", `#${next}`);
  draw(moving);
}

const step = (ply) => showDecision(ply).catch(showError);

function go(ply) {
  playback.stop();
  step(ply);
}

function draw(moving) {
  render(at("links"), links());
  drawThoughts(moving);
}

function drawThoughts(moving = false) {
  const blind = guessing && guess === null;
  render(
    at("course"),
    blind ? tag.p({ class: "label" }, "What came of it is hidden until you have chosen.") : course(),
  );
  render(at("steer"), lesson ? lessonSteering() : steering());
  render(at("moves"), blind ? question() : decision());
  render(at("report"), lesson || blind ? null : report());
  at("report").hidden = Boolean(lesson || blind);
  showMarked(at("shown-tab"));
  drawTable(moving);
}

function course() {
  const width = Math.max(300, at("course").clientWidth - 24);
  const wrong = lesson ? [] : mistakes();
  return chart({
    game,
    entries: analysis().entries,
    eyes: chartSeat,
    wrong,
    here: here.ply,
    width,
    seek: lesson ? () => {} : go,
    chooser: chartChooser(),
  });
}

function chartChooser() {
  const seats = [["", "who decides"], ...game.names.map((name, k) => [String(k), named(name)])];
  const choose = (value) => {
    chartSeat = value === "" ? null : Number(value);
    drawThoughts();
  };
  return tag.label({ class: "label" }, "seen by ", select("eyes", "chances seen by", seats, chartSeat, choose));
}

// Draws players and board; `moving`: and animates the changes.
function drawTable(moving = false) {
  table.show(here.view, here.board, who, moving);
  render(at("holdings"), holdings(facts, here.view, who));
}

function steering() {
  const wrong = mistakes().map((one) => one.ply);
  const learns = judgement.mistakes(analysis().entries, game.mistake).length > 0;
  const to = stepTo(here.ply, go);
  const seen = [
    ["mover", "who decides"],
    ...game.names.map((name, k) => [String(k), named(name)]),
    ["all", "everybody"],
  ];
  return [
    row(!guessing && playback.controls(), stepButtons(here.ply, total(), go)),
    row(
      to(
        "mistake-before",
        "← Mistake",
        "mistake before",
        wrong.findLast((ply) => ply < here.ply),
      ),
      to("mistake", "Mistake →", "next mistake", wrong.find((ply) => ply > here.ply) ?? wrong[0]),
    ),
    button("learn", "Learn from my mistakes", () => at("lesson-dialog").showModal(), {
      kind: learns && isWhole() ? "main" : "",
      off: !learns,
    }),
    tag.label(
      "board seen by ",
      select("as", "board seen by", seen, as, (value) => {
        as = value;
        go(here.ply);
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
          playback.stop();
          drawThoughts();
        },
      }),
      "try it first",
    ),
  ];
}

function links() {
  const spec = analysis().entries.length ? encodeURIComponent(judge) : "";
  const page = `${api}/page?spec=${spec}&language=${document.documentElement.lang}`;
  return [
    !here.over &&
      tag.a({ id: "branch", class: "button", href: `/#study=${study}&ply=${here.ply}` }, "Play on from here"),
    button("position", "Save position", () => savePosition().catch(showError)),
    button("save", "Save record", () => download("game.record", game.record)),
    tag.a(
      { id: "page", class: "button", href: page, download: "game.html", title: "a page that opens in any browser" },
      "Save as one file",
    ),
    game.host && button("delete", "Delete", () => deleteStudy().catch(showError)),
  ];
}

function decisionTitle() {
  return tag.h2({ id: "question" }, seatMark(here.player), " ", here.question);
}

// The moves without opinions, for the user to guess the best one.
function question() {
  const shown = here.moves.filter((move) => !lesson || move.action !== here.played);
  const played = here.moves.find((move) => move.action === here.played);
  const asks = lesson
    ? t("{who} played: {move}. Find something better.", { who: called(game.names[here.player]), move: played.brief })
    : "What would you play?";
  const choice = (move) =>
    tag.li(button(`guess-${move.action}`, move.text, () => guessMove(move.action), { kind: "move" }));
  return [decisionTitle(), tag.p({ class: "asks" }, asks), tag.ul({ class: "guesses" }, shown.map(choice))];
}

function guessMove(action) {
  guess = action;
  if (lesson && isGood(action)) lesson.right.add(here.ply);
  drawThoughts();
}

// The value of the best move less that of a move; null if unknown.
function cost(action) {
  const top = opinions.best(thoughts());
  const one = thoughts().find(([other]) => other === action);
  if (!one || top[0] === action) return one ? 0 : null;
  return one[3] == null || top[3] == null || opinions.hardlyTried(one) ? null : Math.max(0, top[3] - one[3]);
}

function standing(action) {
  const one = thoughts().find(([other]) => other === action);
  return one ? opinions.standing(one, opinions.best(thoughts())) : "";
}

const meter = (visits, most) => {
  const label = plural(visits, "1 visit", "{n} visits");
  return tag.meter({ min: 0, max: most, value: visits, title: label, "aria-label": label });
};

// The columns of the opinions: term, head, place of the figure in a thought, and its cell; `most`: the most visits.
const COLUMNS = [
  ["idea", "first idea", 1, ([, prior]) => percent(prior)],
  ["visits", "visits", 2, ([, , visits], most) => meter(visits, most)],
  ["win", "to win", 3, ([, , , value]) => percent(value, 1)],
];

function decision() {
  if (here.over) return [tag.h2({ id: "question" }, "The game has ended."), ending()];
  const thought = opinions.ordered(thoughts());
  const rank = new Map(thought.map(([action], k) => [action, k]));
  const order = [...here.moves].sort((a, b) => (rank.get(a.action) ?? 999) - (rank.get(b.action) ?? 999));
  const most = Math.max(1, ...thought.map(([, , visits]) => visits ?? 0));
  const few = new Set(thought.filter(opinions.hardlyTried).map(([action]) => action));
  const columns = COLUMNS.filter(([, , place]) => thought.some((one) => one[place] != null));
  const cell = (one, [, , place, shown]) => tag.td({ class: "number" }, one?.[place] == null ? "–" : shown(one, most));
  const line = (move) => {
    const told = standing(move.action);
    const signs = [
      told && tag.span({ class: `sign ${told.replace(" ", "-")}` }, told),
      move.action === here.played && tag.span({ class: "sign played" }, "played"),
      move.action === guess && tag.span({ class: "sign" }, "yours"),
    ];
    const cells = columns.map((column) => cell(thought[rank.get(move.action)], column));
    return tag.tr({ class: few.has(move.action) ? "few" : null }, tag.th({ scope: "row" }, move.text, signs), cells);
  };
  const heads = columns.map(([key, name]) => tag.th({ scope: "col", class: "number" }, term(key, name)));
  const head = tag.tr(tag.th({ scope: "col" }, "Move"), heads);
  return [
    decisionTitle(),
    answer(),
    verdict(),
    playouts(),
    scrollable("moves", tag.table(tag.thead(head), tag.tbody(order.map(line)))),
    few.size > 0 && tag.p({ class: "label" }, "Faded: fewer than 8 tries, so the figure says little."),
    !thought.length &&
      row(
        button(`ask-${judge}`, t("Ask about this decision: {judge}", { judge: judgeName(judge) }), () =>
          askAgent(judge),
        ),
      ),
  ];
}

// Whether a guess is right: it is about equal to the best move, or costs little.
function isGood(action) {
  const lost = cost(action);
  return lost !== null && (lost <= game.mistake / 2 || standing(action) === "about equal");
}

// The answer to a guess.
function answer() {
  if (guess === null) return null;
  const lost = cost(guess);
  const right = isGood(guess);
  const says =
    lost === 0
      ? "Yes, that is the best move."
      : lost === null
        ? "The search hardly tried that."
        : standing(guess) === "about equal"
          ? "That is about as good as the best move."
          : t(right ? "Good: it costs {cost}." : "That costs {cost}.", { cost: percent(lost, 1) });
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
    entry.luck?.some((x) => x) && entry.luck.map((x, k) => [k ? ", " : " ", `${called(game.names[k])} ${signed(x)}`]);
  return judgement.verdict(
    entry,
    judgement.mistakes(analysis().entries, game.mistake),
    changes && [" · ", term("luck", "luck"), ` (${judgement.outcomes(entry.chance, game.names)})`, changes],
  );
}

// The button that checks a mistake by playouts, or stops that; one mistake at a time.
function playouts() {
  const entry = analysis().entries[here.ply];
  if (!entry || entry.playouts || !mistakes().some(({ ply }) => ply === entry.ply)) return null;
  if (checking?.entry !== entry)
    return row(button("check", "Check by playouts", checkEntry, { off: checking !== null }));
  return row(
    button("check", "Stop", () => checking.stop.abort()),
    tag.progress({ "aria-label": "playouts" }),
    tag.span({ class: "label", role: "status" }, "plays on from both moves …"),
  );
}

async function checkEntry() {
  const [entry, stop] = [analysis().entries[here.ply], new AbortController()];
  checking = { entry, stop };
  showMessage("");
  drawThoughts();
  try {
    const request = () => call("POST", `${api}/at/${entry.ply}/playouts`, { spec: judge }, stop.signal);
    entry.playouts = await patiently(request, () => !stop.signal.aborted);
  } catch (error) {
    if (!stop.signal.aborted) showError(error);
  } finally {
    checking = null;
    drawThoughts();
  }
}

function ending() {
  return tag.p(game.result ? [sentence(game.headline), "."] : "The record ends here.");
}

async function askAgent(spec) {
  const { ply } = here;
  showMessage("");
  try {
    singleOpinions[`${spec} ${ply}`] = await patiently(
      () => post(`${api}/at/${ply}`, { spec }),
      () => here.ply === ply && judge === spec,
    );
    if (here.ply === ply) drawThoughts();
  } catch (error) {
    showError(error);
  }
}

function drawLessons() {
  const count = (seat) => judgement.mistakes(analysis().entries, game.mistake, seat).length;
  const choice = (name, seat) =>
    button(
      `learn-${seat}`,
      [seatMark(seat), " ", named(name), ": ", plural(count(seat), "1 mistake", "{n} mistakes")],
      () => startLesson(seat),
      {
        off: !count(seat),
      },
    );
  render(at("lesson-choices"), game.names.map(choice));
}

function startLesson(seat) {
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
    tag.b(t("Mistake {n} of {total}, turn {turn}", { n: done + 1, total: plies.length, turn: game.turns[here.ply] })),
    tag.progress({ max: plies.length, value: done + (guess === null ? 0 : 1), "aria-label": "mistakes" }),
    guess === null
      ? button("show", "Show the best move", () => guessMove(opinions.best(thoughts())[0]))
      : !last && button("next", "Next mistake", next, { kind: "main" }),
    last && guess !== null && tag.span(t("You found {n} of {total}.", { n: right.size, total: plies.length })),
    button("leave", "Leave", () => {
      [lesson, guessing, guess] = [null, false, null];
      drawThoughts();
    }),
  ];
}

function report() {
  const { entries } = analysis();
  const titles = { ...TABS, wrong: judgement.mistakesTitle(entries, mistakes()) };
  const shown = { wrong: wrongTab, all: movesTab, result: resultTab }[tab]();
  const whole = isWhole();
  return [
    !whole && judgeControls(),
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
    whole && judgeControls(),
  ];
}

const listData = () => ({
  ...game,
  judge,
  entries: analysis().entries,
  better: analysis().better,
  here: here.ply,
  seek: go,
});
const PROMISE =
  "An analysis judges every decision: what a mistake cost, what was luck, and the chances to win over the game.";

function wrongTab() {
  if (!analysis().entries.length) return tag.p({ class: "label" }, PROMISE);
  if (!judgement.pricesMoves(analysis().entries)) return judgement.mistakeList([], listData());
  const above = (event) => {
    game.mistake = Number(event.target.value) / 100;
    drawThoughts();
  };
  return [
    tag.p(
      { class: "label" },
      "A mistake is a turn with a ",
      term("regret", "regret"),
      " above ",
      tag.input({
        type: "number",
        id: "threshold",
        "aria-label": "a mistake is a turn with a regret above, in percent",
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
    judgement.mistakeList(mistakes(), listData()),
  ];
}

const movesTab = () => judgement.moveList(listData(), mistakes());

function resultTab() {
  if (!analysis().entries.length) return [ending(), tag.p({ class: "label" }, PROMISE)];
  return [game.result && ending(), judgement.results(analysis().entries, game, game.mistake)];
}

function judgeControls() {
  const changeAnalysis = (spec) => {
    judge = spec;
    loadAnalysis(spec).catch(showError);
  };
  const options = game.judges.map((spec) => [spec, judgeName(spec)]);
  return [
    tag.div({ class: "row", title: judge }, select("judge", "who judges", options, judge, changeAnalysis)),
    progress(judge),
  ];
}

function progress(spec) {
  const { entries, running, trouble } = analysis(spec);
  const done = entries.length;
  const unfinished = done < total();
  const act = running
    ? button(`stop-${spec}`, "Stop", () => changeAnalysis("DELETE", spec))
    : unfinished &&
      button(`analyse-${spec}`, done ? "Go on" : "Analyse the game", () => changeAnalysis("POST", spec), {
        kind: "main",
      });
  return [
    row(
      act,
      (running || (done > 0 && unfinished)) &&
        tag.progress({
          max: total(),
          value: done,
          "aria-label": t("decisions judged by {judge}", { judge: judgeName(spec) }),
        }),
      (running || (done > 0 && unfinished)) &&
        tag.span({ class: "label" }, t("{n} of {total}", { n: done, total: total() })),
    ),
    trouble ? tag.p({ class: "bad" }, trouble) : null,
  ];
}

async function loadAnalysis(spec) {
  const first = analysis(spec).entries.length;
  const next = await patiently(
    () => get(`${api}/analyses?spec=${encodeURIComponent(spec)}&from=${first}`),
    () => judge === spec,
  );
  if (first > Math.min(analysis(spec).entries.length, next.done)) {
    delete analyses[spec]; // the agent has changed, or the server stopped before it had saved everything
    return loadAnalysis(spec);
  }
  const { entries, better } = analysis(spec);
  analyses[spec] = {
    ...next,
    entries: [...entries.slice(0, first), ...next.entries],
    better: { ...better, ...next.better },
  };
  if (here && !(guessing && guess === null)) drawThoughts();
  drawLessons();
  if (next.running) setTimeout(() => judge === spec && loadAnalysis(spec).catch(showError), 400);
}

async function changeAnalysis(method, spec) {
  showMessage("");
  try {
    await patiently(
      () => call(method, `${api}/analyses`, { spec }),
      () => judge === spec,
    );
    await loadAnalysis(spec);
  } catch (error) {
    showError(error);
  }
}

async function savePosition() {
  download("position.json", JSON.stringify((await get(`${api}/at/${here.ply}/position`)).position));
}

async function deleteStudy() {
  const asks = ["Delete this study? ", "Its analyses go too; games that were played on from it stay."];
  if (!(await confirmDialog(asks, "Delete it"))) return;
  await call("DELETE", api);
  forget("studies", study);
  location.href = "/";
}

function addLessonDialog() {
  document.body.append(
    tag.dialog(
      { id: "lesson-dialog", "aria-labelledby": "lesson-title" },
      tag.h2({ id: "lesson-title" }, "Whose mistakes?"),
      tag.div({ id: "lesson-choices", class: "stack" }),
      button("lesson-close", "Cancel", () => at("lesson-dialog").close()),
    ),
  );
}

try {
  [, facts, game] = await Promise.all([loadSymbols(), loadFacts(), get(api)]);
  judge = game.judges[0];
  const watched = [game.names.indexOf("You"), game.result?.indexOf(1), 0].find((seat) => seat >= 0);
  chartSeat = game.names.length > 2 ? watched : null;
  render(at("headline"), ...nameList(game.names));
  document.title = `Euphoria: ${game.names.join(", ")}`;
  remember("studies", { id: study, names: game.names, told: sentence(game.headline) });
  who = game.names.map((name) => ({ name, spec: "" }));
  const decorate = (drawn) => playedIsShown() && showMarks(drawn, here, thoughts());
  table = new Table(facts, who.length, { players: at("players"), board: at("board") }, { decorate });
  judgement.addTerms();
  addLessonDialog();
  playback = new Playback({ here: () => here.ply, total: total(), step, draw: () => render(at("steer"), steering()) });
  await showDecision(plyOfAddress());
  const free = () => !lesson && !document.querySelector("dialog[open]");
  const play = () => guessing || playback.toggle();
  listen({ here: () => wantedPly, go, draw: drawThoughts, play, free });
  await loadAnalysis(judge);
} catch (error) {
  showError(error);
  at("headline").textContent = "No study";
}
