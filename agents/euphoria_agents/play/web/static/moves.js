// The legal moves of a decision, in rows with symbols; popovers and dialogs.

import { hidden, icon, tag } from "./elements.js";
import * as opinions from "./opinions.js";
import { worker } from "./seats.js";
import { t, translateTree } from "./texts.js";

const PRIMARY = /^offer$/; // the moves with golden buttons; none of them gives anything up
const AGAIN = "Press again to place no further worker";
const LISTED = 12; // at most so many ways are listed; if there are more, the player chooses one item at a time

// A text with symbols in place of amounts.
export const withSymbols = (text) => [text].flat().map((part) => (part.words ? unit(part) : part));

const unit = ({ n, symbol, words }) => [
  hidden(words),
  tag.span({ "aria-hidden": "true", class: "unit", title: words }, n, icon(symbol)),
];

export const faceOf = (move) => Number(/^(?:place|take) (\d)/.exec(move.notation)?.[1]) || 0;

export const isRetrieval = (move) => move.notation.startsWith("retrieve ");
const placedFace = (move) => (move.notation.startsWith("place ") ? faceOf(move) : 0);

// The name of a space, or of the market that was built there.
export function placeName(facts, view, space) {
  const tile = view.markets[space]?.tile;
  return (tile ? facts.tiles[tile] : facts.spaces[space]).title;
}

// The name of a move in a row that already shows its worker, below a question that says what a recruit is chosen for.
function moveTitle(facts, view, move) {
  if (isRetrieval(move)) return "Take workers back …";
  if (move.notation.startsWith("place ")) return placeName(facts, view, move.space);
  return move.title;
}

// The figure of a hint for a move, in one unit for all moves, and how the move compares with the best one.
function hintLabel(hints, move) {
  const rows = hints?.moves ?? [];
  const one = rows.find(([action]) => action === move.action);
  if (!one) return null;
  const [shown, unit] = opinions.figure(one, rows);
  const few = opinions.hardlyTried(one);
  const note = opinions.standing(one, opinions.best(rows)) || (few ? "few tries" : "");
  return tag.span(
    { class: `hint ${note === "best" ? "best" : few ? "few" : ""}`, title: unit },
    tag.span(shown),
    tag.small(note),
  );
}

function grouped(all, key) {
  const groups = new Map();
  for (const one of all) groups.set(key(one), [...(groups.get(key(one)) ?? []), one]);
  return [...groups];
}

// What a move costs, gives and risks.
function terms({ cost, gain, risk }) {
  const part = (kind, label, text) => text && tag.span({ class: kind }, hidden(label), withSymbols(text));
  return [
    tag.span(
      { class: "terms" },
      part("price", "; costs ", cost),
      cost && gain && tag.span({ "aria-hidden": "true" }, "→"),
      part("gain", "; gives ", gain),
    ),
    part("risk", "; risk: ", risk),
  ];
}

// A row, number `n`, of moves that are alike; `armed`: the action that plays when it is chosen again.
function moveRow(facts, state, { hints, play, seat, armed }, alike, n) {
  const move = alike.find((one) => one.action === hints?.best) ?? alike[0];
  const [face, many] = [placedFace(move), isRetrieval(move)];
  const about = {
    class: `move${PRIMARY.test(move.notation) ? " main" : ""}`,
    type: "button",
    id: many ? "compose" : `move-${move.action}`,
    title: many ? null : move.text,
    "data-space": move.space || null,
    "data-face": face || null,
    onclick: () => play(move),
  };
  return tag.li(
    tag.button(
      about,
      n < 10 && tag.kbd({ "aria-hidden": "true" }, String(n)),
      face ? worker(seat, face) : null,
      tag.span({ class: "text" }, armed === move.action ? AGAIN : withSymbols(moveTitle(facts, state.view, move))),
      hintLabel(hints, move),
      !many && terms(move),
    ),
  );
}

// The rows of the moves `shown`. `state`: the view; `hints`: the opinion of the adviser; `play(move)` plays one. Moves that
// differ only in the slot of a site share a row, and so do the payments for taking workers back.
export function moveRows(facts, state, { shown, ...more }) {
  const alike = (move) => {
    if (isRetrieval(move)) return "retrieve";
    return placedFace(move)
      ? JSON.stringify([moveTitle(facts, state.view, move), move.cost, move.gain, move.risk])
      : move.notation;
  };
  let n = 0;
  const row = ([, moves]) => moveRow(facts, state, more, moves, (n += 1));
  return grouped(shown, (move) => move.group).map(([group, moves], k) =>
    tag.section(
      { "aria-labelledby": `group-${k}` },
      tag.h3({ id: `group-${k}` }, group),
      tag.ul(grouped(moves, alike).map(row)),
    ),
  );
}

// A space: what it costs and gives, who stands there, and the moves to it.
export function spaceDetails(facts, view, { space, label, moves, seat }) {
  const name = placeName(facts, view, space);
  const tile = view.markets[space]?.tile;
  const there = view.workers[space] ?? [];
  return [
    tag.h3(name),
    tag.p(label.replace(`${name}: `, "")),
    tile && tag.p({ class: "label" }, t("Without a star here: {penalty}", { penalty: facts.tiles[tile].words })),
    there.length > 0 &&
      tag.p(
        { class: "line" },
        there.map(([owner, face]) => worker(owner, face)),
      ),
    moves.map((move) =>
      tag.p({ class: "line" }, placedFace(move) ? worker(seat, placedFace(move)) : tag.span(move.text), terms(move)),
    ),
  ];
}

// Makes the spaces of a drawing buttons; those with moves are marked, and can be reached by Tab. Returns the spaces, each
// with its number of moves.
export function markSpaces(drawing, moves) {
  const spaces = [...drawing.querySelectorAll(".space")].map((node) => [
    node,
    moves.filter((move) => move.space === node.dataset.space).length,
  ]);
  for (const [node, n] of spaces) {
    node.setAttribute("role", "button");
    node.setAttribute("tabindex", n ? "0" : "-1");
    node.classList.toggle("can", n > 0);
  }
  return spaces;
}

// Whether the ways to answer a series are listed in place of its single choices.
export const waysAreListed = ({ ways: all }) => all.length > 0 && all.length <= LISTED;
// Buttons that answer a series of choices at once.
export const wayList = (state, send) =>
  tag.ul(
    { class: "ways" },
    state.ways.map((way, k) =>
      tag.li(
        tag.button(
          { type: "button", class: "move", id: `move-${way.actions.join("-")}`, onclick: () => send(way.actions) },
          tag.kbd({ "aria-hidden": "true" }, String(k + 1)),
          tag.span({ class: "text" }, withSymbols(way.text)),
        ),
      ),
    ),
  );

// Shows a popover beside an element, within the window.
export function showPopover(popover, node, ...content) {
  const box = node.getBoundingClientRect();
  popover.replaceChildren(...content.flat(9).filter(Boolean));
  translateTree(popover); // before it is measured
  if (!popover.matches(":popover-open")) popover.showPopover();
  popover.style.left = 0; // where it is as wide as it can be
  const { offsetWidth: wide, offsetHeight: tall } = popover;
  const left = Math.min(innerWidth - wide - 8, Math.max(8, box.left + box.width / 2 - wide / 2));
  const above = box.top - tall - 6;
  const top =
    box.bottom + tall + 6 < innerHeight ? box.bottom + 6 : above > 8 ? above : Math.max(8, innerHeight - tall - 8);
  Object.assign(popover.style, { left: `${left}px`, top: `${top}px` });
}

// Tells about an element, in the popover of the page.
export const explain = (node, title, ...content) =>
  showPopover(document.getElementById("popover"), node, tag.h3(title), content);

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
