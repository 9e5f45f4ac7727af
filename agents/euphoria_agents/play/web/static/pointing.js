// What is pointed at: a move shows its space on the board, a space tells what it is.

import { tag } from "./elements.js";
import { showPopover } from "./moves.js";

const WAIT = 250; // milliseconds until a space under the mouse, or with the focus, tells about itself
const PRESS = 500; // and under a finger

// `point(space, face)` rings a space and shows a worker there; without a space it stops. `about(space)`: what to tell.
// Returns a function that ends both.
export function addPointing({ point, about }) {
  const tip = tag.div({ id: "tip", popover: "manual", role: "tooltip" });
  document.querySelector("main").append(tip);
  let timer = 0;

  const hide = () => {
    clearTimeout(timer);
    tip.hidePopover();
  };
  const tellSoon = (node, wait) => {
    hide();
    timer = setTimeout(() => node.isConnected && showPopover(tip, node, about(node.dataset.space)), wait);
  };
  const on = (what, selector, work, capture = false) =>
    addEventListener(what, (event) => work(event.target.closest?.(selector), event), { capture });
  const ROWS = "#moves [data-space], #popover [data-space]";
  const SPACES = "#board .space";

  for (const what of ["pointerover", "focusin"])
    on(what, ROWS, (row) => row && point(row.dataset.space, Number(row.dataset.face)));
  for (const what of ["pointerout", "focusout"]) on(what, ROWS, (row) => row && point());
  on("pointerover", SPACES, (node, event) => node && event.pointerType === "mouse" && tellSoon(node, WAIT));
  on("pointerout", SPACES, (node, event) => node && event.pointerType === "mouse" && hide());
  on("focusin", SPACES, (node) => node?.matches(":focus-visible") && tellSoon(node, WAIT));
  on("focusout", SPACES, (node) => node && hide());
  on(
    "pointerdown",
    SPACES,
    (node, event) => (node && event.pointerType !== "mouse" ? tellSoon(node, PRESS) : hide()),
    true,
  );
  on("pointerup", SPACES, () => clearTimeout(timer));
  const told = (event) => event.pointerType === "touch" && tip.matches(":popover-open"); // by a long press, which is no tap
  on("click", SPACES, (_, event) => told(event) && event.stopPropagation(), true);
  on("contextmenu", SPACES, (node, event) => node && event.pointerType !== "mouse" && event.preventDefault());
  on("keydown", SPACES, (_, event) => event.key === "Escape" && hide());
  for (const what of ["pointercancel", "scroll"]) addEventListener(what, hide, { capture: true });
  return () => {
    hide();
    point();
  };
}
