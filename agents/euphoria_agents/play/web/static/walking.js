// Walking through the decisions of a game: by buttons, keys, and the address of the page.

import { button } from "./elements.js";

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

// Goes to decisions by keys and the address, and draws again when the width of the window changes. `here()`: the shown
// decision; `free()`: whether keys count now. Keys that scroll the page count on the slider alone.
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
