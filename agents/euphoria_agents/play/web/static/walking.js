// Walking through the decisions of a game: by buttons, keys, the address of the page, and by itself.

import { button } from "./elements.js";
import { t } from "./texts.js";

const KEYS = { ArrowLeft: -1, ArrowRight: 1, PageUp: -10, PageDown: 10, Home: -Infinity, End: Infinity };

// Makes buttons that go to a decision; those to none or to the shown one are disabled.
export const stepTo = (here, go) => (id, text, label, ply) =>
  button(id, text, () => go(ply), { off: ply === undefined || ply === here, label });

export function stepButtons(here, total, go) {
  const to = stepTo(here, go);
  return [
    to("first", "⇤", "to the beginning", 0),
    to("back", "←", "back", Math.max(0, here - 1)),
    to("forward", "→", "forward", Math.min(total, here + 1)),
    to("last", "⇥", "to the end", total),
  ];
}

export const plyOfAddress = () => Number(location.hash.slice(1)) || 0;

const PACES = { "1×": 800, "2×": 400, "8×": 100, "½×": 1600 }; // milliseconds between two decisions
const SPEEDS = Object.keys(PACES);

// Plays a game by itself from the shown decision to its end. `here()`: the shown decision; `step(ply)` goes to one;
// `draw()`: draws the controls again.
export class Playback {
  constructor({ here, total, step, draw }) {
    Object.assign(this, { here, total, step, draw, speed: SPEEDS[0], timer: 0 });
  }

  controls() {
    return [
      button("playback", this.timer ? "❚❚" : "▶", () => this.toggle(), {
        label: this.timer ? "pause (space bar)" : "play (space bar)",
      }),
      button("speed", this.speed, () => this.#changeSpeed(), { label: t("speed {speed}", { speed: this.speed }) }),
    ];
  }

  stop() {
    clearTimeout(this.timer);
    this.timer = 0;
  }

  async toggle() {
    if (this.timer) this.stop();
    else {
      this.#wait();
      if (this.here() === this.total) await this.step(0);
    }
    this.draw();
  }

  #changeSpeed() {
    this.speed = SPEEDS[(SPEEDS.indexOf(this.speed) + 1) % SPEEDS.length];
    if (this.timer) this.#wait();
    this.draw();
  }

  #wait() {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.#next(), PACES[this.speed]);
  }

  async #next() {
    const [mine, from] = [this.timer, this.here()];
    const away = document.hidden;
    if (!away) await this.step(from + 1);
    if (mine !== this.timer) return; // stopped meanwhile
    if (away || (this.here() > from && this.here() < this.total)) return this.#wait();
    this.stop();
    this.draw();
  }
}

// Scrolls a list or its panel, and not the page, so that the marked row is in sight.
export function showMarked(list) {
  const marked = list?.querySelector("[aria-current]");
  if (!marked) return;
  const frame = list.scrollHeight > list.clientHeight ? list : list.closest(".panel");
  frame.scrollTop += marked.getBoundingClientRect().top - frame.getBoundingClientRect().top - frame.clientHeight / 2;
}

// Goes to decisions by keys and the address, and draws again when the width of the window changes. `here()`: the shown
// decision; `play()`: plays and pauses, by the space bar; `free()`: whether keys count now. Other keys that scroll the
// page count on the slider alone.
export function listen({ here, go, draw, play, free = () => true }) {
  document.addEventListener("keydown", (event) => {
    const step = KEYS[event.key];
    const typing = ["INPUT", "SELECT", "TEXTAREA"].includes(event.target.tagName);
    const plays = event.key === " " && !event.target.closest("button, a, summary");
    if (!(step || plays) || typing || !free() || event.ctrlKey || event.altKey || event.metaKey) return;
    if (Math.abs(step) > 1 && event.target.id !== "slider") return;
    event.preventDefault();
    if (plays) play();
    else go(here() + step);
  });
  // Clicked buttons get no focus, or the space bar would press them again.
  document
    .getElementById("steer")
    .addEventListener("mousedown", (event) => event.target.closest("button") && event.preventDefault());
  addEventListener("hashchange", () => go(plyOfAddress()));
  let width = innerWidth;
  addEventListener("resize", () => {
    if (innerWidth !== width) draw();
    width = innerWidth;
  });
}
