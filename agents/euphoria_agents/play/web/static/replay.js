// The page of a recorded game that `euphoria replay --html` writes. Its data is in the page; it needs no server.

import { momentOf } from "./board.js";
import { called, nameList, plain, render, tabList, tag } from "./elements.js";
import {
  addTerms,
  seatMark,
  mistakeList,
  mistakes,
  mistakesTitle,
  moveList,
  results,
  showMarks,
  verdict,
} from "./judgement.js";
import { chart } from "./chart.js";
import { t, useCatalogue } from "./texts.js";
import { Playback, listen, plyOfAddress, showMarked, stepButtons, stepTo } from "./walking.js";
import { Table, holdings } from "./seats.js";

const at = (id) => document.getElementById(id);
const data = JSON.parse(at("data").textContent);
if (data.texts) useCatalogue(data.texts, data.language);
const judged = new Map(data.entries.map((one) => [one.ply, one]));
const total = data.players.length;
const wrong = mistakes(data.entries, data.mistake);
const TABS = {
  all: "Moves",
  ...(data.entries.length ? { wrong: mistakesTitle(data.entries, wrong), result: "Result" } : {}),
};
let here = Math.max(0, Math.min(total, plyOfAddress()));
const who = data.names.map((name) => ({ name, spec: "" }));
let tab = Object.keys(TABS).at(-1) === "result" ? "wrong" : "all";

// The lines of the drawing at each decision, as numbers of `pieces`; each is the one before with its changes.
const frames = [];
for (const changes of data.changes) {
  const lines = [...(frames.at(-1) ?? [])];
  for (const [place, dropped, ...added] of changes) lines.splice(place, dropped, ...added);
  frames.push(lines);
}

function drawTable(moving) {
  const { view, drawing } = momentOf(data.pieces, frames[here]);
  table.show(view, drawing, who, moving);
  render(at("holdings"), holdings(data.facts, view, who));
}

function step(ply) {
  const before = here;
  here = Math.max(0, Math.min(total, ply));
  history.replaceState(null, "", `#${here}`);
  draw(Math.abs(here - before) === 1);
}

const playback = new Playback({ here: () => here, total, step, draw: () => draw() });

function go(ply) {
  playback.stop();
  step(ply);
}

function steering() {
  const turn = data.turns[here];
  const next = data.turns.findIndex((one) => one > turn);
  const to = stepTo(here, go);
  return [
    playback.controls(),
    stepButtons(here, total, go),
    to("turn", "Next turn", null, next < 0 ? total : next),
    data.entries.length > 0 &&
      to("mistake", "Mistake →", "next mistake", wrong.find((one) => one.ply > here)?.ply ?? wrong[0]?.ply),
  ];
}

function decisionPanel() {
  const who =
    here < total
      ? [seatMark(data.players[here]), " ", t("{who} decides", { who: called(data.names[data.players[here]]) })]
      : [data.result ? "The end" : "The record ends here"];
  const entry = judged.get(here);
  const [played, better] = data.better[here] ?? [];
  return [
    tag.h2({ id: "question" }, who),
    here > 0 && tag.p({ class: "label" }, t("Before: {a}", { a: data.log[here - 1] })),
    here < total && tag.p(t("Now: {a}", { a: data.log[here] })),
    entry && verdict(entry, wrong),
    better && plain(played) !== plain(better) && tag.p({ class: "better" }, t("Better: {a}", { a: better })),
  ];
}

function shownTab() {
  const story = { ...data, here, seek: go };
  if (tab === "all") return moveList(story, wrong);
  if (tab === "wrong") return mistakeList(wrong, story);
  return results(data.entries, data, data.mistake);
}

function draw(moving = false) {
  const fixed = data.names.length > 2 ? Math.max(0, data.result?.indexOf(1) ?? 0) : null; // as the winner saw it
  const eyes = Number.isInteger(data.seat) ? data.seat : fixed;
  const width = Math.max(300, at("course").clientWidth - 24);
  const fill = (id, ...inside) => render(at(id), ...inside);
  fill("course", chart({ game: data, entries: data.entries, eyes, wrong, here, width, seek: go }));
  fill("steer", steering());
  drawTable(moving);
  fill("moves", decisionPanel());
  const turn = (key) => {
    tab = key;
    draw();
  };
  fill(
    "tabs",
    tabList("lists", Object.entries(TABS), tab, () => "shown-tab", turn),
  );
  fill("shown-tab", shownTab());
  showMarked(at("shown-tab"));
}

const viewerText =
  data.seat === "movers"
    ? "each decision as its player saw it"
    : data.seat === "everybody"
      ? "as everybody saw it"
      : t("as {who} saw it", { who: called(data.names[data.seat]) });
document.body.append(
  tag.header({ class: "top" }, tag.h1("Euphoria: ", nameList(data.names)), tag.span({ class: "label" }, viewerText)),
  tag.main(
    { class: "study" },
    tag.section({ id: "course", "aria-label": "the course of the game" }),
    tag.section({ id: "steer", "aria-label": "decisions" }),
    tag.div(
      { class: "field" },
      tag.section({ id: "players", "aria-label": "players" }),
      tag.section({ id: "board", "aria-label": "board", tabindex: 0 }),
    ),
    tag.div(
      { class: "beside" },
      tag.section({ id: "moves", class: "panel", "aria-labelledby": "question" }),
      tag.section(
        { class: "panel", "aria-label": "lists" },
        tag.div({ id: "tabs" }),
        tag.div({ id: "shown-tab", role: "tabpanel", tabindex: 0 }),
      ),
    ),
    tag.section({ id: "holdings", "aria-label": "what the players hold" }),
  ),
);
const thoughts = () => judged.get(here)?.moves ?? [];
const spaces = () => ({ moves: data.spaces[here] ?? [], played: judged.get(here)?.played });
const table = new Table(
  data.facts,
  who.length,
  { players: at("players"), board: at("board") },
  { decorate: (made) => judged.has(here) && showMarks(made, spaces(), thoughts()) },
);
addTerms();
listen({ here: () => here, go, draw, play: () => playback.toggle() });
draw();
if (here === 0 && !matchMedia("(prefers-reduced-motion: reduce)").matches) playback.toggle();
