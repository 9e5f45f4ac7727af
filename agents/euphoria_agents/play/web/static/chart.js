// The chances to win over a game, the regret of each decision below them, and a slider through the decisions.

import { svg, tag } from "./elements.js";
import { seatMark, percent, punished } from "./judgement.js";

const [LEFT, RIGHT, TOP, HIGH, LOW, AXIS] = [44, 14, 18, 96, 26, 22]; // margins, and the heights of the parts
const STEPS = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000]; // turns between two labels of the axis
const ROOM = 64; // pixels that a label of the axis needs

// game: names, players, turns (of each decision and of the end), result; entries: of an analysis, [] for an axis
// alone; eyes: the seat whose estimates are shown, null: those of the player to move; wrong: the mistakes; here: the
// shown decision; seek(ply): goes to another.
export function chart({ game, entries, eyes, wrong, here, width, seek }) {
  const total = game.players.length;
  const bare = !entries.length;
  const [bottom, height] = bare ? [TOP, TOP + AXIS] : [TOP + HIGH + LOW, TOP + HIGH + LOW + AXIS];
  const x = (ply) => LEFT + ((width - LEFT - RIGHT) * ply) / Math.max(1, total);
  const y = (chance) => TOP + HIGH * (1 - chance);
  const points = knownPoints(game, entries, eyes);
  const cursor = (name) => svg("line", { class: name, x1: x(here), x2: x(here), y1: TOP - 4, y2: bottom });
  const pointer = cursor("pointer");
  const readout = tag.p({ class: "readout", "aria-live": "off" });
  const tell = (ply) => readout.replaceChildren(...legend(game, points, entries, eyes, ply));
  const drawn = svg(
    "svg",
    { class: "chart", viewBox: `0 0 ${width} ${height}`, width, height, "aria-hidden": "true" },
    ...turnAxis(game, x, width, bottom, bare),
    ...(bare ? [] : [...chanceAxis(y, width), ...curves(game, points, eyes, x, y), ...regrets(entries, x, bottom)]),
    ...wrong.map((one) => mistakeMark(x(one.ply), one, punished(entries, game.turns, one))),
    pointer,
    cursor("cursor"),
  );
  const move = (ply) => {
    pointer.setAttribute("x1", x(ply));
    pointer.setAttribute("x2", x(ply));
    tell(ply);
  };
  const under = ({ clientX }) => {
    const box = drawn.getBoundingClientRect();
    const ply = Math.round(
      (((clientX - box.left) / box.width) * width - LEFT) / ((width - LEFT - RIGHT) / Math.max(1, total)),
    );
    return Math.max(0, Math.min(total, ply));
  };
  const slider = tag.div(
    {
      id: "slider",
      class: "slider",
      role: "slider",
      tabindex: 0,
      "aria-label": "decision",
      "aria-valuemin": 0,
      "aria-valuemax": total,
      "aria-valuenow": here,
      "aria-valuetext": `decision ${here} of ${total}, turn ${game.turns[here]}`,
      onclick: (event) => seek(under(event)),
      onpointermove: (event) => (event.buttons ? seek(under(event)) : move(under(event))),
      onpointerleave: () => move(here),
    },
    drawn,
  );
  tell(here);
  return [readout, slider];
}

// The chances at each decision for which they are known, as one seat saw them, and at the end.
function knownPoints(game, entries, eyes) {
  const found = entries.filter((one) => one.values && (eyes === null || one.player === eyes));
  const points = found.map(({ ply, values }) => ({ ply, values }));
  if (points.length && game.result && entries.length === game.players.length) {
    points.push({ ply: game.players.length, values: game.result });
  }
  return points;
}

function turnAxis(game, x, width, y, bare) {
  const first = new Map(); // turn -> its first decision
  for (const [ply, turn] of game.turns.entries()) if (!first.has(turn)) first.set(turn, ply);
  const most = game.turns.at(-1);
  const step = STEPS.find((one) => (most / one) * ROOM <= width - LEFT - RIGHT) ?? STEPS.at(-1);
  const ticks = [...first].filter(([turn]) => turn && turn % step === 0);
  return [
    svg("line", { class: "axis", x1: LEFT, x2: width - RIGHT, y1: y, y2: y }),
    ...ticks.flatMap(([turn, ply]) => [
      svg("line", { class: "grid", x1: x(ply), x2: x(ply), y1: bare ? y - 6 : TOP, y2: y + 4 }),
      svg("text", { x: x(ply), y: y + 17, "text-anchor": "middle" }, `${turn}`),
    ]),
    svg("text", { x: LEFT - 6, y: y + 17, "text-anchor": "end" }, "turn"),
  ];
}

function chanceAxis(y, width) {
  return [0, 0.25, 0.5, 0.75, 1].flatMap((chance) => [
    svg("line", { class: "grid", x1: LEFT, x2: width - RIGHT, y1: y(chance), y2: y(chance) }),
    svg("text", { x: LEFT - 6, y: y(chance) + 4, "text-anchor": "end" }, percent(chance)),
  ]);
}

const at = (x, y) => `${x.toFixed(1)},${y.toFixed(1)}`;

// The chances that one seat saw add up: they are areas upon each other, this seat's at the bottom. Others are lines.
function curves(game, points, eyes, x, y) {
  const seats = game.names.map((_, k) => k);
  if (eyes === null || game.names.length === 2) {
    return seats.map((k) =>
      svg("polyline", {
        class: `chance seat${k}`,
        points: points.map((one) => at(x(one.ply), y(one.values[k]))).join(" "),
      }),
    );
  }
  const below = points.map(() => 0);
  return [eyes, ...seats.filter((k) => k !== eyes)].map((k) => {
    const floor = points.map((one, i) => at(x(one.ply), y(below[i])));
    for (const [i, one] of points.entries()) below[i] += one.values[k];
    const ceiling = points.map((one, i) => at(x(one.ply), y(Math.min(1, below[i]))));
    return svg("polygon", {
      class: `share seat${k}${k === eyes ? " own" : ""}`,
      points: [...floor, ...ceiling.reverse()].join(" "),
    });
  });
}

function regrets(entries, x, bottom) {
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
  made.append(svg("title", {}, `a mistake, ${percent(one.regret, 1)}${full ? ", punished" : ""}`));
  return made;
}

// The turn, who decides, and everybody's chances: the legend of the curves.
function legend(game, points, entries, eyes, ply) {
  const one = points.findLast((point) => point.ply <= ply) ?? points[0];
  const regret = entries[ply]?.regret;
  const who = ply < game.players.length ? game.names[game.players[ply]] : "the end";
  return [
    tag.span({ class: "when" }, `Turn ${game.turns[ply]}`, tag.span({ class: "label" }, ` decision ${ply}, ${who}`)),
    ...game.names.map((name, k) =>
      tag.span({ class: "one" }, seatMark(k), `${name} `, one && tag.b(percent(one.values[k]))),
    ),
    regret > 0.001 ? tag.span({ class: "label" }, `regret ${percent(regret, 1)}`) : "",
    one && eyes !== null && game.names.length > 2 ? tag.span({ class: "label" }, `seen by ${game.names[eyes]}`) : "",
  ];
}
