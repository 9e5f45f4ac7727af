// The legal moves of a decision, in rows with symbols; popovers and dialogs.

import { hidden, icon, tag } from "./elements.js";
import { worker } from "./seats.js";
import { translate, translateTree } from "./texts.js";

const PRIMARY = /^(end|done|skip|offer|accept)$/; // moves that finish something: golden buttons
const LISTED = 12; // at most so many ways are listed; if there are more, the player chooses one item at a time
const ITEMS = // those that have a symbol, with their plurals
  "energy,water,food,bliss,gold,stone,clay,balloons,bifocals,artifact artifacts,bat bats,bear bears,book books,box boxes," +
  "resource resources,commodity commodities,star stars,worker workers";
const MARKERS = ["knowledge", "morale"];
const words = new Map(); // the same in the language of the page -> their symbols
let pattern = null; // finds them

function findWords() {
  for (const [item, many = item] of ITEMS.split(",").map((one) => one.split(" ")))
    for (const text of [`1 ${item}`, `2 ${many}`]) words.set(translate(text).slice(2), item);
  const items = [...words.keys()].sort((a, b) => b.length - a.length).join("|");
  for (const marker of MARKERS) words.set(translate(marker), marker);
  const markers = MARKERS.map(translate).join("|");
  pattern = new RegExp(`(?<![\\p{L}\\d])(?:(\\d+) (${items})(?!\\p{L})|(${markers}) ([+-]\\d+))`, "gu");
}

// A text in the language of the page, with symbols in place of items.
export function withSymbols(english) {
  if (!pattern) findWords();
  const text = translate(english);
  const parts = [];
  let at = 0;
  for (const found of text.matchAll(pattern)) {
    const [whole, n, item, marker, step] = found;
    parts.push(
      text.slice(at, found.index),
      hidden(whole),
      tag.span(
        { "aria-hidden": "true", class: "unit", title: whole },
        n ?? step.replace("-", "−"),
        icon(words.get(item ?? marker)),
      ),
    );
    at = found.index + whole.length;
  }
  const shown = [...parts, text.slice(at)];
  return document.documentElement.lang === "en" ? shown : tag.span({ translate: "no" }, shown); // these pieces are translated already
}

export const faceOf = (move) => Number(/^(?:place|take) (\d)/.exec(move.notation)?.[1]) || 0;

// The name of a move in a row that already shows its worker.
function moveTitle(facts, view, move) {
  if (!move.notation.startsWith("place ")) return move.text;
  const tile = view.markets[move.space]?.tile;
  const region = facts.regions.find((one) => move.space.startsWith(one.faction));
  if (tile) return facts.tiles[tile].title;
  const title = facts.spaces[move.space].title;
  return /^Tunnel/.test(title) && region ? `${region.title}: ${title.toLowerCase()}` : title;
}

// The figure of a hint for a move: the chance to win, or else the probability that the adviser chooses it.
function hintLabel(hints, move) {
  const thought = hints?.moves.find((one) => one.action === move.action);
  if (!thought) return null;
  const [share, words] =
    thought.value != null ? [thought.value, "chance to win"] : [thought.prior, "the adviser's choice"];
  if (share == null) return null;
  const best = hints.best === move.action;
  return tag.span(
    { class: `hint${best ? " best" : ""}`, title: words },
    `${Math.round(100 * share)} %`,
    hidden(` ${words}`),
    best && " best",
  );
}

// The rows of the moves `shown`. `state`: the view; `hints`: the opinion of the adviser; `play(move)` plays one.
export function moveRows(facts, state, { hints, shown, play, seat }) {
  const groups = new Map();
  for (const move of shown) groups.set(move.group, [...(groups.get(move.group) ?? []), move]);
  let n = 0;
  const button = (move) => {
    n += 1;
    const face = move.notation.startsWith("place ") ? faceOf(move) : 0;
    const part = (kind, label, text) => text && tag.span({ class: kind }, hidden(`; ${label} `), withSymbols(text));
    return tag.li(
      tag.button(
        {
          class: `move${PRIMARY.test(move.notation) ? " main" : ""}`,
          type: "button",
          id: `move-${move.action}`,
          title: move.text,
          "data-space": move.space,
          onclick: () => play(move),
        },
        n < 10 && tag.kbd({ "aria-hidden": "true" }, String(n)),
        face ? worker(seat, face) : null,
        tag.span({ class: "text" }, withSymbols(moveTitle(facts, state.view, move))),
        hintLabel(hints, move),
        tag.span(
          { class: "terms" },
          part("price", "costs", move.cost),
          move.cost && move.gain && tag.span({ "aria-hidden": "true" }, "→"),
          part("gain", "gives", move.gain),
        ),
        part("risk", "risk:", move.risk),
      ),
    );
  };
  return [...groups].map(([group, moves], k) =>
    tag.section({ "aria-labelledby": `group-${k}` }, tag.h3({ id: `group-${k}` }, group), tag.ul(moves.map(button))),
  );
}

// Whether the ways to answer a series are listed in place of its single choices.
export const waysAreListed = ({ ways: all }) => all.length > 0 && all.length <= LISTED;
const itemList = (items) =>
  Object.entries(items)
    .map(([item, n]) => `${n} ${item}`)
    .join(", ");

// Buttons that answer a series of choices at once.
export const wayList = (state, send) =>
  tag.ul(
    { class: "ways" },
    state.ways.map((way, k) =>
      tag.li(
        tag.button(
          { type: "button", class: "move", id: `move-${way.actions.join("-")}`, onclick: () => send(way.actions) },
          tag.kbd({ "aria-hidden": "true" }, String(k + 1)),
          tag.span({ class: "text" }, withSymbols(itemList(way.items))),
        ),
      ),
    ),
  );

// Shows a popover beside a rectangle, within the window.
export function showPopover(popover, box, ...content) {
  popover.replaceChildren(...content.flat());
  translateTree(popover); // before it is measured
  if (!popover.matches(":popover-open")) popover.showPopover();
  const { offsetWidth: wide, offsetHeight: tall } = popover;
  const left = Math.min(innerWidth - wide - 8, Math.max(8, box.left + box.width / 2 - wide / 2));
  const above = box.top - tall - 6;
  const top =
    box.bottom + tall + 6 < innerHeight ? box.bottom + 6 : above > 8 ? above : Math.max(8, innerHeight - tall - 8);
  Object.assign(popover.style, { left: `${left}px`, top: `${top}px` });
}

// Asks for confirmation; resolves to whether it was given.
export function confirmDialog(text, yes) {
  return new Promise((tell) => {
    const dialog = tag.dialog(
      { "aria-label": yes },
      tag.p(text),
      tag.form(
        { method: "dialog", class: "row" },
        tag.button({ value: "yes", class: "main", id: "confirm" }, yes),
        tag.button({ value: "", autofocus: true }, "No"),
      ),
    );
    dialog.addEventListener("close", () => {
      tell(dialog.returnValue === "yes");
      dialog.remove();
    });
    document.body.append(dialog);
    dialog.showModal();
  });
}
