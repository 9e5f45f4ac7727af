// Takes workers back: the player chooses which, and what to pay, in any order. Nothing is sent before they confirm.

import { button, tag } from "./elements.js";
import { placeName, withSymbols } from "./moves.js";
import { worker } from "./seats.js";

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
    const { way } = this;
    const chip = (id, on, change, more, ...content) =>
      tag.button(
        {
          type: "button",
          class: "chip",
          id,
          "aria-pressed": String(on),
          ...more,
          onclick: () => {
            change();
            redraw();
          },
        },
        content,
      );
    const payments = state.moves.filter((move) => this.retrievals.some((one) => one.payment === move.action));
    return [
      tag.h2({ id: "question" }, "Take workers back"),
      payments.length > 1 &&
        tag.div(
          { class: "chips", role: "group", "aria-label": "payment" },
          payments.map((move) =>
            chip(
              `pay-${move.action}`,
              this.payment === move.action,
              () => (this.payment = move.action),
              { title: move.text },
              tag.span(withSymbols(move.cost || "nothing"), move.gain && ["→", withSymbols(move.gain)]),
            ),
          ),
        ),
      tag.div(
        { class: "chips", role: "group", "aria-label": "workers to take back" },
        this.dice.map((die, k) =>
          chip(
            `worker-${k}`,
            this.chosen.has(die),
            () => this.toggle(die),
            { "data-space": die.where },
            worker(seat, die.face),
            tag.span(placeName(facts, state.view, die.where)),
          ),
        ),
      ),
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
}
