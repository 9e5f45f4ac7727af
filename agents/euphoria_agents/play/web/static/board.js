// The board. The server draws it; its nodes are found again by their ids and move to their places in the next view.

import { svg, tag } from "./elements.js";
import { t } from "./texts.js";

const LAYERS = ".star, .miner, .allegiance";
const REDUCED_MOTION = matchMedia("(prefers-reduced-motion: reduce)");
const EASE = "cubic-bezier(.3, .1, .2, 1)";
const MOVE_TIME = 220; // milliseconds
const ROLL_TIME = 350;
export const STARS = 10; // each player has

export const motionIsOff = () => REDUCED_MOTION.matches || document.hidden;

// Makes a node and its children equal to another; children with ids are matched by id, others by position.
function morph(node, like) {
  for (const { name } of [...node.attributes]) if (!like.hasAttribute(name)) node.removeAttribute(name);
  for (const { name, value } of like.attributes) if (node.getAttribute(name) !== value) node.setAttribute(name, value);
  const named = new Map([...node.children].filter((child) => child.id).map((child) => [child.id, child]));
  let at = node.firstChild;
  for (const wanted of [...like.childNodes]) {
    if (!wanted.id) while (at?.id && named.get(at.id) === at && !hasChild(like, at.id)) at = removeNode(at);
    const found = wanted.id ? named.get(wanted.id) : at && !at.id && at.nodeName === wanted.nodeName ? at : null;
    if (!found) node.insertBefore(document.importNode(wanted, true), at);
    else {
      if (found !== at) node.insertBefore(found, at);
      else at = at.nextSibling;
      if (found.nodeType === Node.TEXT_NODE) {
        if (found.data !== wanted.data) found.data = wanted.data;
      } else if (!found.isEqualNode(wanted)) morph(found, wanted);
    }
  }
  while (at) at = removeNode(at);
}

const hasChild = (node, id) => [...node.children].some((child) => child.id === id);

function removeNode(node) {
  const next = node.nextSibling;
  node.remove();
  return next;
}

// Parses a drawing of the server.
export const drawing = (text) =>
  document.importNode(new DOMParser().parseFromString(text, "image/svg+xml").documentElement, true);

// A moment of a recorded game from numbers of `pieces`: its drawing, and the view of it.
export function momentOf(pieces, numbers) {
  const lines = numbers.map((line) => pieces[line]);
  const end = lines.indexOf("</svg>") + 1;
  return { drawing: lines.slice(0, end).join("\n"), view: JSON.parse(lines.slice(end).join("")) };
}

// Shows an outline for a second, in place of motion.
export function outline(node) {
  const glow = "drop-shadow(0 0 2px var(--changed)) drop-shadow(0 0 2px var(--changed))";
  node.animate([{ filter: glow }, { filter: glow }], 1000);
}

// Animates a node from its earlier place on the screen, while it turns by a number of degrees.
export function moveFrom(node, from, { time = MOVE_TIME, turn = 0, to = rectOf(node) } = {}) {
  if (!from || !node.isConnected) return;
  if (!to.width || !from.width) return;
  const [dx, dy, size] = [from.left - to.left, from.top - to.top, from.width / to.width];
  if (Math.abs(dx) + Math.abs(dy) < 1 && !turn) return;
  if (motionIsOff()) return outline(node);
  const frame = node.getScreenCTM?.() && node.parentNode.getScreenCTM?.();
  if (!frame) {
    const first = `translate(${dx}px, ${dy}px) scale(${size})`;
    return node.animate(
      [
        { transform: first, transformOrigin: "0 0" },
        { transform: "none", transformOrigin: "0 0" },
      ],
      { duration: time, easing: EASE },
    );
  }
  const own = node.transform.baseVal.consolidate()?.matrix ?? { a: 1, e: 0, f: 0 };
  const put = (x, y, scale, angle) => ({
    transform:
      `translate(${x}px, ${y}px) scale(${scale}) ` +
      `translate(20px, 13px) rotate(${angle}deg) translate(-20px, -13px)`,
  });
  const [x, y] = [own.e + dx / frame.a, own.f + dy / frame.d];
  return node.animate([put(x, y, own.a * size, -turn), put(own.e, own.f, own.a, 0)], { duration: time, easing: EASE });
}

export const rectOf = (node) => node?.getBoundingClientRect();

// Puts a worker into a frame for a hand.
const inHolder = (node) => tag.span({ class: "held" }, svg("svg", { viewBox: "0 0 40 26" }, node));

// A worker: it keeps its node, on the board or in a hand.
class Die {
  constructor(node, seat, where, face) {
    Object.assign(this, { node, seat, where, face });
  }
}

export class Board {
  // `home(seat)`: the element for the dice in the hand of a seat; `hold(holder, seat, face)`: prepares the frame of a
  // die; `decorate(svg)`: prepares a drawing before it is shown.
  constructor(parent, { home, hold = () => {}, decorate = () => {} }) {
    Object.assign(this, { parent, home, hold, decorate, svg: null, dice: [] });
    this.pointed = svg("g", { class: "pointed" });
    this.picks = svg("g", { class: "picks" });
  }

  // Shows a view: `text` is its drawing, `hands` has the faces in the hand of each seat; `moving`: whether changes are
  // animated. Returns the new stars.
  show(text, hands, moving = false) {
    const next = drawing(text);
    this.decorate(next);
    const wanted = [...next.querySelectorAll(".die")].map((node) => ({
      node,
      seat: +node.dataset.seat,
      where: node.dataset.space,
      face: +node.dataset.face,
    }));
    for (const one of wanted) one.node.remove();
    hands.forEach((faces, seat) => faces.forEach((face) => wanted.push({ node: null, seat, where: "hand", face })));
    const before = new Map();
    if (moving && this.svg) {
      for (const node of [...this.svg.querySelectorAll(LAYERS), ...this.dice.map((die) => die.node)])
        before.set(node, rectOf(node));
    }
    const stars = new Set([...(this.svg?.querySelectorAll(".star") ?? [])].map((node) => node.id));
    if (!this.svg) this.parent.append((this.svg = next));
    else {
      const layer = this.svg.querySelector(".dice");
      const dice = [...layer.children];
      layer.replaceChildren();
      for (const one of [this.pointed, this.picks]) one.remove();
      morph(this.svg, next);
      this.svg.querySelector(".dice").append(...dice);
    }
    this.svg.append(this.pointed, this.picks);
    const rolled = this.#placeDice(wanted);
    if (!moving) return [];
    const places = [...before].map(([node, from]) => [node, from, rectOf(node)]); // read at once, for one layout
    for (const [node, from, to] of places)
      moveFrom(node, from, rolled.has(node) ? { to, time: ROLL_TIME, turn: 360 } : { to });
    return [...this.svg.querySelectorAll(".star")].filter((node) => !stars.has(node.id));
  }

  // Puts every die in its place: those that fit stay, the others move to the remaining places. Returns the rolled dice.
  #placeDice(wanted) {
    const taken = new Set();
    const take = (fits) => {
      for (const one of wanted) {
        if (one.die) continue;
        one.die = this.dice.find((die) => !taken.has(die) && die.seat === one.seat && fits(die, one));
        if (one.die) taken.add(one.die);
      }
    };
    take((die, one) => die.where === one.where && die.face === one.face);
    take((die, one) => die.where !== one.where && die.face === one.face);
    take((die, one) => die.where !== one.where && one.where === "hand");
    take(() => true);
    for (const die of this.dice) if (!taken.has(die)) (die.node.closest(".held") ?? die.node).remove();
    const rolled = new Set();
    for (const one of wanted) {
      if (!one.die) one.die = new Die(one.node ?? svg("g", { class: "die", role: "img" }), one.seat, "", 0);
      if (one.die.face && one.die.face !== one.face) rolled.add(one.die.node);
      this.#settle(one);
    }
    this.dice = wanted.map((one) => one.die);
    return rolled;
  }

  #settle({ die, node, seat, where, face }) {
    const kept = die.node;
    const holder = kept.closest(".held");
    if (node && node !== kept) {
      for (const { name, value } of node.attributes)
        if (kept.getAttribute(name) !== value) kept.setAttribute(name, value);
      if (die.face !== face) kept.replaceChildren(...node.childNodes);
    } else if (!node) {
      if (die.face !== face)
        kept.replaceChildren(svg("use", { href: `#worker-${seat}-${face}`, width: 40, height: 26 }));
      for (const name of ["transform", "id"]) kept.removeAttribute(name);
      Object.assign(kept.dataset, { seat, face, space: "" });
      kept.setAttribute("aria-label", t("a {n}", { n: face }));
    }
    Object.assign(die, { where, face });
    const layer = this.svg.querySelector(".dice");
    if (node && kept.parentNode !== layer) layer.append(kept);
    if (holder && (node || holder.parentNode !== this.home(seat))) holder.remove();
    if (!node) {
      if (kept.closest(".held")?.parentNode !== this.home(seat)) this.home(seat).append(inHolder(kept));
      this.hold(kept.closest(".held"), seat, face);
    }
  }

  // The space that was clicked, also by the worker on it.
  clicked({ target }) {
    return target.closest(".space") ?? this.space(target.closest(".die")?.dataset.space);
  }

  space(name) {
    return this.svg?.querySelector(`[id="space-${name}"]`);
  }

  // Rings a space and, given a face, shows where such a worker of a seat would stand; without a space, ends that.
  point(name = "", seat = 0, face = 0) {
    const space = this.space(name);
    this.pointed.replaceChildren();
    if (!space) return;
    const ring = space.querySelector(".ground").cloneNode();
    ring.setAttribute("class", "ring");
    const [x, y] = [space.dataset.x - 20, space.dataset.y - 13];
    const ghost = { href: `#worker-${seat}-${face}`, x, y, width: 40, height: 26, class: "ghost" };
    this.pointed.append(ring, ...(face ? [svg("use", ghost)] : []));
  }

  diceOf = (seat) => this.dice.filter((die) => die.seat === seat && die.where !== "hand");

  // Lets the player pick among dice on the board: those `chosen` get a ring and a tick, a click toggles one.
  pick(dice = [], chosen = new Set(), toggle = null) {
    const marks = dice.map((die) => {
      const on = chosen.has(die);
      const mark = svg(
        "g",
        { class: on ? "pick on" : "pick", transform: die.node.getAttribute("transform"), "data-space": die.where },
        svg("rect", { x: -4, y: -4, width: 48, height: 34, rx: 8 }),
        ...(on
          ? [
              svg("circle", { cx: 42, cy: -1, r: 10 }),
              svg("use", { href: "#icon-tick", x: 34, y: -9, width: 16, height: 16 }),
            ]
          : []),
      );
      mark.addEventListener("click", (event) => {
        event.stopPropagation();
        toggle(die);
      });
      return mark;
    });
    this.picks.replaceChildren(...marks);
  }
}

// Lets an icon fly over the page from one place to another.
export function fly(kind, from, to, late = 0) {
  if (motionIsOff() || !from || !to || !to.width) return;
  const size = 20;
  const node = tag.div(
    { class: "flying", "aria-hidden": "true" },
    svg("svg", { width: size, height: size }, svg("use", { href: `#${kind}`, width: size, height: size })),
  );
  document.body.append(node);
  const put = (box) => `translate(${box.left + (box.width - size) / 2}px, ${box.top + (box.height - size) / 2}px)`;
  const flight = node.animate(
    [
      { transform: put(from), opacity: 0 },
      { opacity: 1, offset: 0.15 },
      { transform: put(to), opacity: 1 },
    ],
    { duration: MOVE_TIME + 160, delay: late, easing: EASE, fill: "both" },
  );
  flight.finished.finally(() => node.remove()).catch(() => {});
}

// Ends all animations; everything is in its place at once.
export function finishAnimations() {
  for (const one of document.getAnimations())
    if (one instanceof Animation && !(one instanceof CSSTransition)) one.finish();
}

export const badge = (seat) =>
  svg("svg", { class: "badge", viewBox: "0 0 24 24", "aria-hidden": "true" }, svg("use", { href: `#badge-${seat}` }));
