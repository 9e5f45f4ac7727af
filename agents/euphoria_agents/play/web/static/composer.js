// Takes workers back: the player chooses which, and what to pay, in any order. Nothing is sent before they confirm.

import { button, tag } from "./elements.js";
import { placeName, withSymbols } from "./moves.js";
import { worker } from "./seats.js";
import { t } from "./texts.js";

// Buttons that are on or off.
const chips = (label, all, props, content) =>
  all.length > 0 &&
  tag.div(
    { class: "chips", role: "group", "aria-label": label },
    all.map((one, k) => tag.button({ type: "button", class: "chip", ...props(one, k) }, content(one))),
  );

const named = (die) => `${die.face} ${die.where}`;

export class Composer {
  // `retrievals`: the ways that the server lists; `dice`: the player's dice on the board; `payment`: the action chosen first.
  constructor(retrievals, dice, payment) {
    const offered = retrievals.map((one) => one.payment);
    Object.assign(this, { retrievals, dice, chosen: new Set(dice) });
    this.payment = offered.includes(payment) ? payment : offered[0];
  }

  // The way that is chosen, if there is one.
  get way() {
    const wanted = [...this.chosen].map(named).sort().join();
    return this.retrievals.find((one) => one.payment === this.payment && [...one.workers].sort().join() === wanted);
  }

  toggle(die) {
    if (!this.chosen.delete(die)) this.chosen.add(die);
  }

  // The panel; `redraw` after a choice, `send(actions)` to confirm, `back` to leave.
  panel({ facts, state, seat, redraw, send, back }) {
    const changing = (change) => () => {
      change();
      redraw();
    };
    const { way } = this;
    return [
      tag.h2({ id: "question" }, "Take workers back"),
      this.#payments(state, changing),
      this.#workers((die) => placeName(facts, state.view, die.where), seat, changing),
      tag.div(
        { class: "row confirm" },
        back && button("back", "Back", back),
        tag.button(
          { type: "button", id: "roll", class: "main", disabled: !way, onclick: () => send(way.actions) },
          way ? way.text : this.chosen.size ? "These cannot be taken back together" : "Choose a worker",
          way?.risk && tag.span({ class: "risk" }, way.risk),
        ),
      ),
    ];
  }

  #payments(state, changing) {
    const offered = state.moves.filter((move) => this.retrievals.some((one) => one.payment === move.action));
    return chips(
      "payment",
      offered.length < 2 ? [] : offered,
      (move) => ({
        id: `pay-${move.action}`,
        title: move.text,
        "aria-pressed": String(this.payment === move.action),
        onclick: changing(() => (this.payment = move.action)),
      }),
      (move) => tag.span(withSymbols(move.cost || t("pay nothing")), move.gain && ["→", withSymbols(move.gain)]),
    );
  }

  #workers(placeOf, seat, changing) {
    return chips(
      "workers to take back",
      this.dice,
      (die, k) => ({
        id: `worker-${k}`,
        "data-space": die.where,
        "aria-pressed": String(this.chosen.has(die)),
        onclick: changing(() => this.toggle(die)),
      }),
      (die) => [worker(seat, die.face), tag.span(placeOf(die))],
    );
  }
}
