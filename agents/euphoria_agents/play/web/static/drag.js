// Drags a worker from the hand to a space. Whatever else ends the drag changes nothing.

import { svg, tag } from "./elements.js";

const SLACK = 6; // pixels that a click may move
const spaceAt = (event) => document.elementFromPoint(event.clientX, event.clientY)?.closest("#board .can");
const unmark = () => document.querySelector("#board .over")?.classList.remove("over");

export class Dragging {
  #held = null; // the frame of the pressed worker, and where it was pressed
  #from = null;
  #die = null; // the worker under the pointer, once it has moved
  #lifted = false; // whether the last press became a drag, so that it is no click

  // `begin(face)` returns whether this worker can be dragged; `drop(space)` plays it there; `end()` follows every drag.
  constructor(work) {
    this.work = work;
    addEventListener("pointerdown", (event) => this.#press(event));
    addEventListener("pointermove", (event) => this.#move(event));
    addEventListener("pointerup", (event) => this.#release(event));
    for (const what of ["pointercancel", "blur"]) addEventListener(what, () => this.cancel());
    // the first capture of a finger, by what is in the frame, ends as soon as the frame takes over
    addEventListener("lostpointercapture", (event) => event.target === this.#held && this.cancel());
    addEventListener("click", (event) => this.#lifted && event.detail && event.stopPropagation(), { capture: true });
    addEventListener("keydown", (event) => this.#die && event.key === "Escape" && this.cancel());
  }

  #press(event) {
    this.cancel();
    this.#lifted = false;
    if (event.button || !event.isPrimary) return;
    [this.#held, this.#from] = [event.target.closest("#tray .held"), event];
  }

  #move(event) {
    if (!this.#held || event.pointerId !== this.#from.pointerId) return;
    const way = Math.hypot(event.clientX - this.#from.clientX, event.clientY - this.#from.clientY);
    if (!this.#die && way > SLACK) this.#lift();
    if (!this.#die) return;
    this.#die.style.translate = `${event.clientX}px ${event.clientY}px`;
    unmark();
    spaceAt(event)?.classList.add("over");
  }

  #lift() {
    if (!this.work.begin(Number(this.#held.dataset.face))) return this.cancel();
    this.#held.setPointerCapture(this.#from.pointerId);
    const die = svg("svg", { viewBox: "0 0 40 26" }, this.#held.querySelector("use").cloneNode());
    this.#die = tag.div({ class: "lifted", "aria-hidden": "true" }, die);
    this.#lifted = true;
    document.body.append(this.#die);
    document.body.classList.add("dragging");
  }

  #release(event) {
    const space = this.#die && spaceAt(event);
    if (space) this.work.drop(space.dataset.space);
    this.cancel();
  }

  cancel() {
    const die = this.#die;
    [this.#held, this.#die] = [null, null];
    if (!die) return;
    die.remove();
    unmark();
    document.body.classList.remove("dragging");
    this.work.end();
  }
}
