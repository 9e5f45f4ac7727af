// The legend: what each symbol means. The help and the menus show it.

import { icon, svg, tag } from "./elements.js";

const SYMBOLS = {
  energy: "energy, the commodity of Euphoria",
  water: "water, the commodity of Subterra",
  food: "food, the commodity of the Wastelands",
  bliss: "bliss, the commodity of Icarus",
  commodity: "any commodity",
  "other commodity": "energy, water or food",
  gold: "gold, the resource of Euphoria",
  stone: "stone, the resource of Subterra",
  clay: "clay, the resource of the Wastelands",
  resource: "any resource",
  artifact: "an artifact card",
  pair: "a pair: two artifacts of one kind",
  balloons: "an artifact: balloons",
  bat: "an artifact: a bat",
  bear: "an artifact: a bear",
  bifocals: "an artifact: bifocals",
  book: "an artifact: a book",
  box: "an artifact: a box",
  star: "a star: place ten to win",
  knowledge: "knowledge: keep it low",
  morale: "morale: how many artifacts you may hold",
  worker: "a new worker",
  flag: "allegiance: the track of the region advances one step",
  miner: "the miner, who digs the tunnel",
  eye: "hidden recruits of the region become active",
  lock: "not open yet",
  tick: "chosen",
  cross: "taken away",
};
const PIECES = [
  ["worker-1-5", "0 0 40 26", "a worker: the number of its player, and its own"],
  ["token-1", "0 0 24 24", "a star of a player, with their number"],
];
const MARKS = [
  ["legal", "you can place there"],
  ["best", "the advice"],
  ["changed", "something happened there since your last move"],
];

const line = (sign, words) => tag.li(tag.span({ class: "sign" }, sign), words);

export const legend = () =>
  tag.ul(
    { class: "legend" },
    Object.entries(SYMBOLS).map(([name, words]) => line(icon(name), words)),
    PIECES.map(([id, viewBox, words]) =>
      line(svg("svg", { viewBox, class: "piece", "aria-hidden": "true" }, svg("use", { href: `#${id}` })), words),
    ),
    MARKS.map(([colour, words]) => line(tag.i({ class: `ring ${colour}` }), words)),
  );
