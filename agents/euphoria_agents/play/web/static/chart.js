// The chances to win over a game, the regret of each decision below them, and a slider through the decisions.

import { called, named, svg, tag } from "./elements.js";
import { punished, term } from "./judgement.js";
import { percent } from "./opinions.js";
import { t } from "./texts.js";

const [LEFT, TOP, HIGH, LOW, AXIS] = [48, 18, 100, 26, 22]; // margins, and the heights of the parts
const STEPS = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000]; // turns between two labels of the axis
const ROOM = 64; // pixels that a label of the axis needs
const LINE = 16; // pixels between two labels of curves
const LETTER = 7.5; // pixels of a letter of a label, about
const NARROW = 500; // up to this width, labels of curves have no names

// game: names, players, turns (of each decision and of the end), result; entries: of an analysis, [] for an axis
// alone; eyes: the seat whose estimates are shown, null: those of the player to move; wrong: the mistakes; here: the
// shown decision; seek(ply): goes to another; chooser: what changes `eyes`.
export function chart({ game, entries, eyes, wrong, here, width, seek, chooser = null }) {
  const total = game.players.length;
  const bare = !entries.length;
  const [bottom, height] = bare ? [TOP, TOP + AXIS] : [TOP + HIGH + LOW, TOP + HIGH + LOW + AXIS];
  const points = knownPoints(game, entries, eyes);
  const names = width > NARROW ? game.names.map((name) => fitted(name)) : game.names.map(() => "");
  const right = points.length ? 76 + LETTER * Math.max(...names.map((name) => name.length)) : 14;
  const across = Math.max(1, width - LEFT - right);
  const x = (ply) => LEFT + (across * ply) / Math.max(1, total);
  const y = (chance) => TOP + HIGH * (1 - chance);
  const cursor = (name) => svg("line", { class: name, x1: x(here), x2: x(here), y1: TOP - 4, y2: bottom });
  const pointer = cursor("pointer");
  const labels = svg("g", {});
  const readout = tag.p({ class: "readout", "aria-live": "off" });
  const tell = (ply) => {
    readout.textContent = told(game, entries, ply);
    labels.replaceChildren(...endLabels(points, names, ply, x, y));
  };
  const drawn = svg(
    "svg",
    { class: "chart", viewBox: `0 0 ${width} ${height}`, width, height, "aria-hidden": "true" },
    ...turnAxis(game, x, x(total), bottom, bare),
    ...(bare
      ? []
      : [...chanceAxis(y, x(points.at(-1)?.ply ?? total), game.names.length), ...curves(game, points, x, y)]),
    ...regrets(entries, x, bottom),
    ...wrong.map((one) => mistakeMark(x(one.ply), one, punished(entries, game.turns, one))),
    labels,
    pointer,
    cursor("cursor"),
  );
  const move = (ply) => {
    pointer.setAttribute("x1", x(ply));
    pointer.setAttribute("x2", x(ply));
    tell(ply);
  };
  const plyAt = (share) => Math.round(((share * width - LEFT) / across) * total);
  tell(here);
  const seen =
    chooser ??
    (eyes === null ? null : tag.span({ class: "label" }, t("seen by {who}", { who: called(game.names[eyes]) })));
  const title = bare ? [tag.h2("The course of the game")] : [tag.h2(term("chances", "Chances to win")), seen];
  return [tag.div({ class: "line" }, title, readout), slider(drawn, game, here, { plyAt, seek, move })];
}

// A slider through the decisions; `plyAt(share)`: the decision at this share of the width; `move(ply)`: points at one.
function slider(drawn, game, here, { plyAt, seek, move }) {
  const total = game.players.length;
  const under = ({ clientX }) => {
    const box = drawn.getBoundingClientRect();
    return Math.max(0, Math.min(total, plyAt((clientX - box.left) / box.width)));
  };
  return tag.div(
    {
      id: "slider",
      class: "slider",
      role: "slider",
      tabindex: 0,
      "aria-label": "decision",
      "aria-valuemin": 0,
      "aria-valuemax": total,
      "aria-valuenow": here,
      "aria-valuetext": t("decision {n} of {total}, turn {turn}", { n: here, total, turn: game.turns[here] }),
      onclick: (event) => seek(under(event)),
      onpointermove: (event) => (event.buttons ? seek(under(event)) : move(under(event))),
      onpointerleave: () => move(here),
    },
    drawn,
  );
}

const fitted = (name) => (name.length > 12 ? `${name.slice(0, 11)}…` : name);

// The chances at each decision for which they are known, as one seat saw them, and at the end.
function knownPoints(game, entries, eyes) {
  const found = entries.filter((one) => one.values && (eyes === null || one.player === eyes));
  const points = found.map(({ ply, values }) => ({ ply, values }));
  if (points.length && game.result && entries.length === game.players.length) {
    points.push({ ply: game.players.length, values: game.result });
  }
  return points;
}

function turnAxis(game, x, right, y, bare) {
  const first = new Map(); // turn -> its first decision
  for (const [ply, turn] of game.turns.entries()) if (!first.has(turn)) first.set(turn, ply);
  const most = game.turns.at(-1);
  const step = STEPS.find((one) => (most / one) * ROOM <= right - LEFT) ?? STEPS.at(-1);
  const ticks = [...first].filter(([turn]) => turn && turn % step === 0);
  return [
    svg("line", { class: "axis", x1: LEFT, x2: right, y1: y, y2: y }),
    ...ticks.flatMap(([turn, ply]) => [
      svg("line", { class: "grid", x1: x(ply), x2: x(ply), y1: bare ? y - 6 : TOP, y2: y + 4 }),
      svg("text", { x: x(ply), y: y + 17, "text-anchor": "middle" }, String(turn)),
    ]),
    svg("text", { x: LEFT - 6, y: y + 17, "text-anchor": "end" }, "turn"),
  ];
}

// The axis in percent, and the line of equal chances.
function chanceAxis(y, right, players) {
  const line = (chance, kind) => svg("line", { class: kind, x1: LEFT, x2: right, y1: y(chance), y2: y(chance) });
  const label = (chance) => svg("text", { x: LEFT - 6, y: y(chance) + 4, "text-anchor": "end" }, percent(chance));
  return [
    ...[0, 0.5, 1].flatMap((chance) => [line(chance, "grid"), label(chance)]),
    line(1 / players, "equal"),
    svg("text", { class: "equal-label", x: right - 4, y: y(1 / players) - 4, "text-anchor": "end" }, "equal chances"),
  ];
}

const at = (x, y) => `${x.toFixed(1)},${y.toFixed(1)}`;

const curves = (game, points, x, y) =>
  game.names.map((_, k) =>
    svg("polyline", {
      class: `chance seat${k}`,
      points: points.map((one) => at(x(one.ply), y(one.values[k]))).join(" "),
    }),
  );

// At the ends of the curves the players and their chances at a decision, in the order of the curves, none upon another.
function endLabels(points, names, ply, x, y) {
  const shown = points.findLast((point) => point.ply <= ply) ?? points[0];
  if (!shown) return [];
  const { ply: last, values } = points.at(-1);
  const order = names.map((_, k) => k).sort((a, b) => values[b] - values[a]);
  let least = 0;
  return order.flatMap((k, i) => {
    const top = Math.min(Math.max(y(values[k]), least), y(0) - LINE * (order.length - 1 - i));
    least = top + LINE;
    const translate = typeof named(names[k]) === "string" ? "yes" : "no";
    const text = (dx, words) => svg("text", { class: "end", translate, x: x(last) + dx, y: top + 4 }, words);
    const badge = svg("use", { href: `#badge-${k}`, x: x(last) + 6, y: top - 8, width: 16, height: 16 });
    return [badge, text(26, percent(shown.values[k])), text(72, names[k])];
  });
}

function regrets(entries, x, bottom) {
  if (!entries.some((one) => one.regret > 0)) return [];
  const most = Math.max(0.1, ...entries.map((one) => one.regret ?? 0));
  const high = (one) => Math.max(1, ((LOW - 8) * one.regret) / most);
  return [
    svg("line", { class: "axis", x1: LEFT, x2: x(entries.length), y1: bottom - LOW, y2: bottom - LOW }),
    svg("text", { x: LEFT - 6, y: bottom - 6, "text-anchor": "end" }, "regret"),
    ...entries
      .filter((one) => one.regret > 0.001)
      .map((one) =>
        svg("rect", {
          class: `regret seat${one.player}`,
          x: x(one.ply) - 1,
          y: bottom - high(one),
          width: 2,
          height: high(one),
        }),
      ),
  ];
}

// A triangle that points at the decision, filled if the mistake was punished.
function mistakeMark(x, one, full) {
  const made = svg("path", {
    class: `mistake${full ? " full" : ""}`,
    d: `M${x - 6},2 h12 l-6,11 z`,
    "data-ply": one.ply,
  });
  made.append(svg("title", {}, t(full ? "a mistake, {n}, punished" : "a mistake, {n}", { n: percent(one.cost, 1) })));
  return made;
}

// The turn and the decision, who decides, and the regret.
function told(game, entries, ply) {
  const over = ply === game.players.length;
  const who = over ? t("the end") : t("{who} decides", { who: called(game.names[game.players[ply]]) });
  const { regret } = entries[ply] ?? {};
  return [
    t("Turn {n}", { n: game.turns[ply] }),
    t("decision {n}", { n: ply }),
    who,
    regret > 0.001 && t("regret {n}", { n: percent(regret, 1) }),
  ]
    .filter(Boolean)
    .join(" · ");
}
