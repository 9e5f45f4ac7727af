// Drags a worker from the hand to a space. Whatever else ends the drag changes nothing.

import { svg, tag } from "./elements.js";

const SLACK = 6; // pixels that a click may move

// `begin(face)` returns whether this worker can be dragged; `drop(space)` plays it there; `end()` after every drag.
export function addDragging({ begin, drop, end }) {
  let drag = null;

  const spaceAt = ({ clientX: x, clientY: y }) => document.elementFromPoint(x, y)?.closest("#board .can");

  function cancel() {
    const { node, held, id } = drag ?? {};
    drag = null;
    if (!node) return;
    node.remove();
    document.body.classList.remove("dragging");
    document.querySelector("#board .over")?.classList.remove("over");
    if (held.hasPointerCapture(id)) held.releasePointerCapture(id);
    end();
  }

  function lift() {
    const { held } = drag;
    if (!begin(Number(held.dataset.face))) return cancel();
    held.setPointerCapture(drag.id);
    const die = held.querySelector("use").cloneNode();
    drag.node = tag.div({ class: "lifted", "aria-hidden": "true" }, svg("svg", { viewBox: "0 0 40 26" }, die));
    document.body.append(drag.node);
    document.body.classList.add("dragging");
    addEventListener("click", (event) => event.stopPropagation(), {
      capture: true,
      once: true,
      signal: drag.clicks.signal,
    });
  }

  addEventListener("pointerdown", (event) => {
    cancel();
    const held = event.target.closest?.("#tray .held");
    if (!held || event.button || !event.isPrimary) return;
    drag = { held, id: event.pointerId, x: event.clientX, y: event.clientY, clicks: new AbortController() };
  });
  addEventListener("pointermove", (event) => {
    if (!drag || event.pointerId !== drag.id) return;
    if (!drag.node && Math.hypot(event.clientX - drag.x, event.clientY - drag.y) > SLACK) lift();
    if (!drag?.node) return;
    drag.node.style.translate = `${event.clientX}px ${event.clientY}px`;
    document.querySelector("#board .over")?.classList.remove("over");
    spaceAt(event)?.classList.add("over");
  });
  addEventListener("pointerup", (event) => {
    const { node, clicks } = drag ?? {};
    const space = node && spaceAt(event);
    if (space) drop(space.dataset.space);
    cancel();
    setTimeout(() => clicks?.abort()); // the click that ends a drag comes before
  });
  for (const what of ["pointercancel", "blur"]) addEventListener(what, cancel);
  // a finger's first capture, which `lift` replaces, is lost elsewhere
  addEventListener("lostpointercapture", (event) => event.target === drag?.held && cancel());
  addEventListener(
    "keydown",
    (event) => {
      if (event.key !== "Escape" || !drag?.node) return;
      event.stopImmediatePropagation();
      cancel();
    },
    { capture: true },
  );
  return cancel;
}
