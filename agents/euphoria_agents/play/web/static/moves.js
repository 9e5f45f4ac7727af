// The decision: its legal moves in rows with symbols, and a popover beside a place.

import { hidden, icon, tag } from "./elements.js";
import { worker } from "./seats.js";

const PRIMARY = /^(end|done|skip|offer|accept)$/; // moves that go on, for the golden button
const LISTED = 12; // ways that are listed; with more, the choices are made one by one
const WORD = new RegExp(
  "(\\d+) (energy|water|food|bliss|gold|stone|clay|artifact|resource|commodity|star|balloons|bat|bear|bifocals" +
    "|book|box|worker)s?\\b|\\b(knowledge|morale) ([+-]\\d+)",
  "g",
);

// A text in which items are symbols.
export function symbols(text) {
  const parts = [];
  let at = 0;
  for (const found of text.matchAll(WORD)) {
    const [whole, n, item, marker, step] = found;
    parts.push(
      text.slice(at, found.index),
      hidden(whole),
      tag.span(
        { "aria-hidden": "true", class: "unit", title: whole },
        n ?? step.replace("-", "−"),
        icon(item ?? marker),
      ),
    );
    at = found.index + whole.length;
  }
  return [...parts, text.slice(at)];
}

export const faceOf = (move) => Number(/^(?:place|take) (\d)/.exec(move.notation)?.[1]) || 0;

// The name of a move in a row that already shows its worker.
function called(facts, view, move) {
  if (!move.notation.startsWith("place ")) return move.text;
  const tile = view.markets[move.space]?.tile;
  const region = facts.regions.find((one) => move.space.startsWith(one.faction));
  if (tile) return facts.tiles[tile].title;
  const title = facts.spaces[move.space].title;
  return /^Tunnel/.test(title) && region ? `${region.title}: ${title.toLowerCase()}` : title;
}

// The figure of a hint for a move: the chance to win, or else how often the adviser would choose it.
function advice(hints, move) {
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

// The rows of a decision. `state`: what is asked; `hints`: what an adviser thinks; `play(move)`.
export function rows(facts, state, { hints, shown, play, seat }) {
  const groups = new Map();
  for (const move of shown) groups.set(move.group, [...(groups.get(move.group) ?? []), move]);
  let n = 0;
  const button = (move) => {
    n += 1;
    const face = move.notation.startsWith("place ") ? faceOf(move) : 0;
    const part = (kind, label, text) => text && tag.span({ class: kind }, hidden(`; ${label} `), symbols(text));
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
        tag.span({ class: "text" }, symbols(called(facts, state.view, move))),
        advice(hints, move),
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

// Whether the ways to answer a series stand in the place of its single choices.
export const listed = ({ ways: all }) => all.length > 0 && all.length <= LISTED;
const told = (items) =>
  Object.entries(items)
    .map(([item, n]) => `${n} ${item}`)
    .join(", ");

// Ways to answer a series at once.
export const ways = (state, send) =>
  tag.ul(
    { class: "ways" },
    state.ways.map((way, k) =>
      tag.li(
        tag.button(
          { type: "button", class: "move", id: `move-${way.actions.join("-")}`, onclick: () => send(way.actions) },
          tag.kbd({ "aria-hidden": "true" }, String(k + 1)),
          tag.span({ class: "text" }, symbols(told(way.items))),
        ),
      ),
    ),
  );

// Puts a popover beside something, within the window.
export function beside(popover, box, ...content) {
  popover.replaceChildren(...content.flat());
  if (!popover.matches(":popover-open")) popover.showPopover();
  const { offsetWidth: wide, offsetHeight: tall } = popover;
  const left = Math.min(innerWidth - wide - 8, Math.max(8, box.left + box.width / 2 - wide / 2));
  const above = box.top - tall - 6;
  const top =
    box.bottom + tall + 6 < innerHeight ? box.bottom + 6 : above > 8 ? above : Math.max(8, innerHeight - tall - 8);
  Object.assign(popover.style, { left: `${left}px`, top: `${top}px` });
}

// Asks before something that cannot be taken back; whether it was confirmed.
export function confirmed(text, yes) {
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
