// Walking through the decisions of a game: by buttons, keys, and the address of the page.

import { button } from "./elements.js";

const KEYS = { ArrowLeft: -1, ArrowRight: 1, PageUp: -10, PageDown: 10, Home: -Infinity, End: Infinity };

// A button that goes to a decision; it is disabled where that is the shown one, or there is none.
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

// Lets keys and the address walk, and draws again if the window gets another width. `here()`: the shown decision;
// `free()`: whether keys may walk now. Keys that scroll walk on the slider alone.
export function listen({ here, go, draw, free = () => true }) {
  document.addEventListener("keydown", (event) => {
    const step = KEYS[event.key];
    const typing = ["INPUT", "SELECT", "TEXTAREA"].includes(event.target.tagName);
    if (!step || typing || !free() || event.ctrlKey || event.altKey || event.metaKey) return;
    if (Math.abs(step) > 1 && event.target.id !== "slider") return;
    event.preventDefault();
    go(here() + step);
  });
  addEventListener("hashchange", () => go(plyOfAddress()));
  let width = innerWidth;
  addEventListener("resize", () => {
    if (innerWidth !== width) draw();
    width = innerWidth;
  });
}
