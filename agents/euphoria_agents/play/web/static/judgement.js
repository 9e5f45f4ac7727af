// The results of an analysis, for the study and the exported page: best moves, mistakes, luck, results and grades.

import { called, named, scrollable, svg, tag } from "./elements.js";
import { best, percent } from "./opinions.js";
import { plural, t } from "./texts.js";

export const signed = (x) =>
  x == null ? "–" : Math.abs(x) < 0.0005 ? "0 %" : (x > 0 ? "+" : "−") + percent(Math.abs(x), 1);

// The highest mean regret of each grade. In games of two, judged by mcts:100:ppo, ppo has 0.4 %, greedy 0.9 %, and
// weights 2.5 %.
const GRADES = [
  [0.001, "flawless"],
  [0.003, "excellent"],
  [0.006, "strong"],
  [0.012, "fair"],
  [0.02, "shaky"],
  [1, "wild"],
];
const grade = (error) => (error == null ? "–" : GRADES.find(([most]) => error <= most)[1]);

// Explanations of terms, shown beside them.
const TERMS = {
  chances:
    "The probability that each player wins, estimated from the view of the player to move: with their own " +
    "cards, and not those of the others. The chances also change when somebody else looks at the board, so a " +
    "falling curve need not mean a mistake.",
  regret:
    "The value of the best move less that of the move played, both judged by the same search. Two searches prefer " +
    "the same move in 98 of 100 decisions. A mistake is a turn whose regrets add up to more than the threshold; the " +
    "decision with the largest one stands for it.",
  punished:
    "A filled mark: by the player's next turn, their chance had fallen by at least the cost of the mistake. " +
    "A hollow mark: it went well all the same.",
  luck:
    "The effect of dice and cards: the chances afterwards, less those expected before anything was drawn or " +
    "rolled. It is independent of how well somebody plays.",
  adjusted:
    "The result, 100 % for the winner, less the luck of the whole game: what these decisions would have been " +
    "worth with even luck.",
  playouts:
    "The trained player plays on from the move played and from the best one, many times, for everybody. The two games " +
    "of a pair have the same hidden cards and the same random numbers. ± is an interval of 95 %. What is not certain " +
    "to 95 % does not count as a mistake.",
  error: "The mean regret of the decisions with more than one legal move, and a name for it.",
  visits:
    "How often the search followed this move. It follows the move that it thinks best most often, and would play it.",
  idea: "The network's choice at first sight, before any search.",
  win:
    "The chance to win of the player who decides, after this move. About equal: worse than the best move by at most two " +
    "standard errors, each of 6 % divided by the root of the visits. Faded: fewer than 8 visits, so it says little.",
};

// A term with an explanation, which a click shows in a popover.
export const term = (key, text) => tag.button({ type: "button", class: "term", popovertarget: `about-${key}` }, text);

export function addTerms() {
  document.body.append(
    ...Object.entries(TERMS).map(([key, text]) =>
      tag.div({ id: `about-${key}`, popover: "auto", class: "about" }, text),
    ),
  );
}

// The turns whose regrets add up to more than a threshold: for each the decision with the largest one, with the cost of
// the turn and the chances before it, unless playouts leave that uncertain. The decisions of a turn are those of one
// player that follow each other.
export function mistakes(entries, threshold, seat = null) {
  const turns = [];
  for (const one of entries) {
    const last = turns.at(-1)?.at(-1);
    if (last?.player === one.player && last.ply === one.ply - 1) turns.at(-1).push(one);
    else turns.push([one]);
  }
  return turns
    .map((turn) => ({
      ...turn.reduce((worst, one) => (one.regret > (worst.regret ?? 0) ? one : worst)),
      cost: sum(turn.map((one) => one.regret ?? 0)),
      before: turn[0].values,
    }))
    .filter(({ cost, player }) => cost > threshold && (seat === null || player === seat))
    .filter(({ playouts }) => playouts?.certain !== false);
}

// Whether the agent gives moves chances to win; without them nothing has a regret.
export const pricesMoves = (entries) => entries.some((one) => one.regret !== null);
export const mistakesTitle = (entries, wrong) =>
  pricesMoves(entries) ? t("Mistakes ({n})", { n: wrong.length }) : "Mistakes";

// Whether a mistake was punished: by the player's next turn their chance had fallen by at least its cost.
export function punished(entries, turns, one) {
  const next = entries.find(
    (other) => other.ply > one.ply && other.player === one.player && turns[other.ply] > turns[one.ply],
  );
  return next?.values != null && one.before != null && one.before[one.player] - next.values[one.player] >= one.cost;
}

const mean = (all) => (all.length ? sum(all) / all.length : null);
const sum = (all) => all.reduce((total, one) => total + one, 0);

// The quality of each seat's decisions, its luck, and its result without luck; `result`: by seat, null before the end.
function summary(entries, seats, threshold, result, decisions) {
  const complete = result && entries.length === decisions;
  return Array.from({ length: seats }, (_, seat) => {
    const own = entries.filter((one) => one.player === seat && one.regret !== null && one.moves.length > 1);
    const lucks = entries.filter((one) => one.luck).map((one) => one.luck[seat]);
    const [error, luck] = [mean(own.map((one) => one.regret)), lucks.length ? sum(lucks) : null];
    const causes = {};
    for (const one of entries) {
      if (!one.luck || !one.chance.length) continue;
      const what = cause(one.chance, seat);
      causes[what] = (causes[what] ?? 0) + one.luck[seat];
    }
    const adjusted = complete && luck !== null ? result[seat] - luck : null;
    return {
      seat,
      decisions: own.length,
      error,
      grade: grade(error),
      mistakes: mistakes(entries, threshold, seat).length,
      luck,
      causes,
      result: result?.[seat] ?? null,
      adjusted,
    };
  });
}

const CAUSES = {
  dice: ["own dice", "others’ dice"],
  artifacts: ["own artifacts", "others’ artifacts"],
  recruits: ["own recruits", "others’ recruits"],
  markets: ["own markets", "others’ markets"],
  dilemmas: ["own dilemmas", "others’ dilemmas"],
};

// The source of a seat's luck: one kind of outcome, its own or others', or several at once.
function cause(chance, seat) {
  const kinds = new Set(chance.map(([kind]) => kind));
  const own = new Set(chance.map(([, player]) => player === seat));
  if (kinds.size + own.size > 2) return "several at once";
  const [kind] = kinds;
  return kind === "lots" ? kind : CAUSES[kind][own.has(true) ? 0 : 1];
}

const DRAWN = {
  dice: "dice of {who}",
  artifacts: "artifacts of {who}",
  recruits: "recruits of {who}",
  markets: "markets of {who}",
  dilemmas: "dilemmas of {who}",
  lots: "lots of {who}",
};

// Names the cards drawn or dice rolled after a decision, and the players who drew or rolled them.
export const outcomes = (chance, names) =>
  chance.map(([kind, player]) => (player < 0 ? t(kind) : t(DRAWN[kind], { who: called(names[player]) }))).join(", ");

// A small square in the colour of a seat, which screen readers skip.
export const seatMark = (seat) => tag.span({ class: `mark seat${seat}`, "aria-hidden": "true" });

export function mistakeList(wrong, { turns, names, better, entries, here, seek, judge = t("The agent") }) {
  if (!pricesMoves(entries))
    return tag.p({ class: "label" }, t("{judge} does not search, so it cannot price mistakes.", { judge }));
  if (!wrong.length) return tag.p({ class: "label" }, "No mistake is above the threshold.");
  return tag.ol(
    { class: "plies" },
    wrong.map((one) => {
      const [played, instead] = better[one.ply] ?? ["", ""];
      const full = punished(entries, turns, one);
      return tag.li(
        tag.button(
          {
            type: "button",
            id: `mistake-${one.ply}`,
            "aria-current": one.ply === here ? "true" : null,
            onclick: () => seek(one.ply),
          },
          tag.span(
            { class: "when" },
            tag.span({ class: full ? "wrong full" : "wrong", title: full ? "punished" : "not punished" }),
            t("turn {n}", { n: turns[one.ply] }),
          ),
          seatMark(one.player),
          tag.span(
            { class: "what" },
            tag.b(named(names[one.player])),
            ": ",
            played,
            one.playouts && tag.span({ class: "sign" }, "certain"),
            tag.span({ class: "better" }, t("better {move}", { move: instead })),
          ),
          tag.b({ class: "cost-of" }, `−${percent(one.cost, 1)}`),
        ),
      );
    }),
  );
}

const lists = new WeakMap(); // by log: its list of moves, which is kept since it may be long, and the mistakes in it

// All decisions by turn, each with its line of the log.
export function moveList(game, wrong = []) {
  const key = wrong.map((one) => one.ply).join();
  if (lists.get(game.log)?.key !== key) lists.set(game.log, { key, turns: moveTurns(game, wrong) });
  const { turns } = lists.get(game.log);
  for (const turn of turns) {
    turn.querySelector("[aria-current]")?.removeAttribute("aria-current");
    turn.querySelector(`#ply-${game.here}`)?.setAttribute("aria-current", "true");
  }
  return turns;
}

function moveTurns({ players, turns, log, seek }, wrong) {
  const bad = new Set(wrong.map((one) => one.ply));
  const found = [];
  log.forEach((line, ply) => {
    if (!ply || turns[ply] !== turns[ply - 1]) found.push([turns[ply], []]);
    const sign = bad.has(ply) && tag.span({ class: "wrong full", title: "a mistake" });
    const button = { type: "button", id: `ply-${ply}`, onclick: () => seek(ply) };
    const told = tag.button(button, seatMark(players[ply]), tag.span({ class: "what" }, sign, line));
    found.at(-1)[1].push(tag.li(told));
  });
  return found.map(([turn, lines]) =>
    tag.section(
      { "aria-label": t("turn {n}", { n: turn }) },
      tag.h3(turn ? t("Turn {n}", { n: turn }) : "Setup"),
      tag.ol({ class: "plies" }, lines),
    ),
  );
}

// The luck of each player by what was drawn or rolled.
function luckTable(found, names) {
  const causes = [...new Set(found.flatMap((one) => Object.keys(one.causes)))].sort();
  if (!causes.length) return null;
  const cell = (one, what) => tag.td({ class: "number" }, what in one.causes ? signed(one.causes[what]) : "–");
  const row = (what) =>
    tag.tr(
      tag.th({ scope: "row" }, what),
      found.map((one) => cell(one, what)),
    );
  const head = (one) => tag.th({ scope: "col", class: "number" }, seatMark(one.seat), " ", named(names[one.seat]));
  return scrollable(
    "luck by cause",

    tag.table(
      { id: "lucks" },
      tag.thead(tag.tr(tag.th({ scope: "col" }, term("luck", "luck"), " by"), found.map(head))),
      tag.tbody(causes.map(row)),
    ),
  );
}

function summaryTable(found, names) {
  const heads = [
    ["Player"],
    ["plays", "error"],
    ["error", "error"],
    ["mistakes", "regret"],
    ["result"],
    ["luck", "luck"],
    ["without luck", "adjusted"],
  ];
  const row = (one) =>
    tag.tr(
      tag.th({ scope: "row" }, seatMark(one.seat), " ", named(names[one.seat])),
      [
        one.grade,
        percent(one.error, 2),
        one.error == null ? "–" : String(one.mistakes),
        percent(one.result),
        signed(one.luck),
        percent(one.adjusted, 1),
      ].map((cell) => tag.td({ class: "number" }, cell)),
    );
  return scrollable(
    "players",

    tag.table(
      { id: "summary" },
      tag.thead(
        tag.tr(
          heads.map(([head, key], k) =>
            tag.th({ scope: "col", class: k ? "number" : null }, key ? term(key, head) : head),
          ),
        ),
      ),
      tag.tbody(found.map(row)),
    ),
  );
}

// The tables of a whole game: the players, and their luck by cause.
export function results(entries, { names, players, result }, threshold) {
  const found = summary(entries, names.length, threshold, result, players.length);
  return [summaryTable(found, names), luckTable(found, names)];
}

// A line with the regret of a decision and what playouts found; `wrong`: the mistakes; `more` is added to it.
export function verdict(entry, wrong, more = null) {
  if (entry.regret === null && !more) return null;
  const mistake = wrong.find((one) => one.ply === entry.ply);
  const n = percent(entry.regret, 1);
  const whole = mistake?.cost > mistake?.regret + 0.0005 ? percent(mistake.cost, 1) : null;
  const said = whole
    ? t("{n}, with the rest of the turn {whole}, a mistake", { n, whole })
    : mistake
      ? t("{n}, a mistake", { n })
      : n;
  const found = entry.playouts && [" · ", term("playouts", "playouts"), ": ", certainty(entry.playouts)];
  return tag.p({ class: mistake ? "bad" : "label" }, term("regret", "regret"), " ", said, found, more);
}

function certainty({ pairs, difference, margin, certainty, certain }) {
  const parts = { n: percent(Math.abs(difference), 1), margin: percent(margin, 1) };
  const by = t(difference < 0 ? "better by {n} ± {margin}" : "worse by {n} ± {margin}", parts);
  const sure = percent(Math.min(0.999, Math.floor(1000 * certainty) / 1000), 1);
  const said = certain ? t("{by}, certain to {sure}", { by, sure }) : t("not certain: {by}", { by });
  return tag.span({ role: "status", title: plural(pairs, "1 pair", "{n} pairs") }, said);
}

const RINGS = { played: [0, "cross"], best: [3, "tick"] }; // how far inside the space, and the symbol at its corner

// Marks spaces of the board: rings around those of the best move and of the played one, if it is another, and bars for
// the share of the search.
export function showMarks(board, { moves, played }, thoughts) {
  const spaceOf = (action) => moves.find((move) => move.action === action)?.space;
  const top = thoughts.length ? best(thoughts)[0] : null;
  const visits = new Map();
  for (const [action, , n] of thoughts) visits.set(spaceOf(action), (visits.get(spaceOf(action)) ?? 0) + (n ?? 0));
  const all = sum([...visits.values()]);
  for (const [space, n] of visits) if (space && n / all > 0.01) heat(board, space, n / all);
  if (played !== top) ring(board, spaceOf(played), "played");
  if (top !== null) ring(board, spaceOf(top), "best");
}

const box = (node) => ["x", "y", "width", "height"].map((name) => Number(node.getAttribute(name)));

function ring(board, space, kind) {
  const ground = space && board.querySelector(`[id="space-${space}"] .ground`);
  if (!ground) return;
  const [x, y, w, h] = box(ground);
  const [inset, sign] = RINGS[kind];
  const rect = {
    x: x + inset,
    y: y + inset,
    width: w - 2 * inset,
    height: h - 2 * inset,
    rx: 7,
    class: `ring ${kind}`,
  };
  const right = x + w - 8 - 5 * inset;
  const symbol = svg("use", {
    href: `#icon-${sign}`,
    x: right - 5,
    y: y - 1,
    width: 10,
    height: 10,
    class: "sign-ink",
  });
  ground.parentNode.append(
    svg("rect", rect),
    svg("circle", { cx: right, cy: y + 4, r: 8, class: `seal ${kind}` }),
    symbol,
  );
}

function heat(board, space, share) {
  const ground = board.querySelector(`[id="space-${space}"] .ground`);
  if (!ground) return;
  const [x, y, w, h] = box(ground);
  const about = { x: x + 4, y: y + h - 5, width: (w - 8) * share, height: 4, rx: 2, class: "heat-bar" };
  ground.parentNode.append(svg("rect", about, svg("title", {}, t("{n} of the search", { n: percent(share) }))));
}
