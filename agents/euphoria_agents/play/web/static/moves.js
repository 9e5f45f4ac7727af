// The decision: its legal moves in rows with symbols, composers for payments and trades, and a popover beside a place.

import { hidden, icon, tag } from "./elements.js";
import { worker } from "./seats.js";

const PRIMARY = /^(end|done|skip|offer|accept)$/; // moves that go on, for the golden button
const OFFERED = 3; // items from each side of an offer, R15.1
const CARDS = 6; // of a type of artifact
const LISTED = 6; // ways that are listed; of more one is composed
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
export function rows(facts, state, { hints, shown, play, trade, seat }) {
  const groups = new Map();
  for (const move of shown) groups.set(move.group, [...(groups.get(move.group) ?? []), move]);
  let n = 0;
  const button = (move) => {
    n += 1;
    const face = move.notation.startsWith("place ") ? faceOf(move) : 0;
    const part = (kind, label, text) => text && tag.span({ class: kind }, hidden(`; ${label} `), symbols(text));
    const act = /^trade \+/.test(move.notation) && trade ? () => trade(move) : () => play(move);
    return tag.li(
      tag.button(
        {
          class: `move${PRIMARY.test(move.notation) ? " main" : ""}`,
          type: "button",
          id: `move-${move.action}`,
          title: move.text,
          "data-space": move.space,
          onclick: act,
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

// Ways to answer a series at once: few are listed, of many one is composed.
export function ways(state, send) {
  if (listed(state)) {
    return tag.ul(
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
  }
  const most = {};
  for (const { items } of state.ways)
    for (const [item, n] of Object.entries(items)) most[item] = Math.max(most[item] ?? 0, n);
  const total = Object.values(state.ways[0].items).reduce((sum, n) => sum + n, 0);
  const same = (one, other) => Object.keys(most).every((item) => (one[item] ?? 0) === (other[item] ?? 0));
  return composer(most, {
    sum: (counts) => `${Object.values(counts).reduce((all, n) => all + n, 0)} of ${total}`,
    fits: (counts) => state.ways.find((way) => same(way.items, counts)),
    send: (way) => send(way.actions),
  });
}

// Steppers for items up to a number of each, the running sum, and a button that is there when it fits.
function composer(most, { sum, fits, send, prefix = "some" }) {
  const counts = Object.fromEntries(Object.keys(most).map((item) => [item, 0]));
  const running = tag.output(sum(counts));
  const done = tag.button(
    { type: "button", class: "main", id: `${prefix}-done`, disabled: true, onclick: () => send(fits(counts)) },
    "Done",
  );
  const step = (item, by) => {
    counts[item] = Math.min(most[item], Math.max(0, counts[item] + by));
    running.textContent = sum(counts);
    done.disabled = !fits(counts);
    return counts[item];
  };
  return tag.section(
    { class: "composer", "aria-label": "how many of each" },
    Object.keys(most).map((item) => stepper(item, most[item], (by) => step(item, by), prefix)),
    tag.div({ class: "line" }, running, done),
  );
}

function stepper(item, most, step, prefix) {
  const shown = tag.output("0");
  const act = (by) => () => (shown.textContent = String(step(by)));
  const button = (by, sign, word) =>
    tag.button(
      {
        type: "button",
        class: "step",
        "aria-label": `one ${item} ${word}`,
        id: `${prefix}-${item}-${word}`,
        onclick: act(by),
      },
      sign,
    );
  return tag.div(
    { class: "stepper" },
    icon(item),
    tag.span({ class: "item" }, item),
    button(-1, "−", "less"),
    shown,
    button(1, "+", "more"),
    tag.span({ class: "note" }, `of ${most}`),
  );
}

// An offer: what is given and what is asked, up to three items from each side, sent as the moves of R15.1.
export function offer(facts, state, move, seat, send) {
  const partner = state.view.players[(seat + Number(move.notation.split("+")[1])) % state.view.players.length];
  const own = state.view.players[seat];
  const items = [...facts.goods, ...facts.artifacts];
  const most = {
    give: (item) => own.goods[item] ?? own.artifacts?.[item] ?? 0,
    ask: (item) => (facts.goods.includes(item) ? (partner.goods[item] ?? 0) : Math.min(partner.hand_size, CARDS)),
  };
  const chosen = { give: {}, ask: {} };
  const sum = (verb) => Object.values(chosen[verb]).reduce((all, n) => all + n, 0);
  const moves = (verb) => items.flatMap((item) => Array(chosen[verb][item] ?? 0).fill(`${verb} ${item}`));
  const act = () => send([move.notation, ...moves("give"), ...moves("ask"), "offer"]);
  const done = tag.button({ type: "button", class: "main", id: "offer-done", disabled: true, onclick: act }, "Offer");
  const change = (verb, item) => (by) => {
    const now = chosen[verb][item] ?? 0;
    if (by < 0 || sum(verb) < OFFERED) chosen[verb][item] = Math.min(most[verb](item), Math.max(0, now + by));
    done.disabled = !sum("give") || !sum("ask");
    return chosen[verb][item] ?? 0;
  };
  const steppers = (verb) =>
    items.filter(most[verb]).map((item) => stepper(item, most[verb](item), change(verb, item), verb));
  const column = (verb, title) => tag.fieldset(tag.legend(title), steppers(verb));
  return tag.div({ class: "offer" }, column("give", "You give"), column("ask", "You ask for"), done);
}

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
