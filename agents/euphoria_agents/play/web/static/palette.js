// The tools that edit the board of a position: one is chosen in a row of buttons, and a click on the board uses it.

import { svg, tag } from "./elements.js";
import { worker } from "./seats.js";

const FACES = [1, 2, 3, 4, 5, 6];
const RAIL = 11; // steps of an allegiance rail
const PIPE = { steps: 9, from: 0.07, to: 0.93 }; // of a tunnel, and where on it they lie
const WORDS = {
  die: "A click on a space puts this worker there, on a player it goes to their hand.",
  star: "A click on a territory or a market puts a star of this player there.",
  market: "A click on a site builds its market, and takes it down again.",
  remove: "A click on a worker or a star takes it away.",
};

const list = (value) => (Array.isArray(value) ? value : []);

// `draw` fills an element with the buttons; `use` changes a position by a click on its board or on the hand of a
// seat.
export class Palette {
  constructor(facts) {
    this.many = new Set(facts.regions.map((region) => region.area)); // spaces for any number of workers
    Object.assign(this, { seat: 0, face: 3, kind: "die" });
  }

  draw(players, choose, undo) {
    const tool = (id, label, pressed, inside, change) => {
      const then = () => choose(Object.assign(this, change));
      return tag.button(
        {
          type: "button",
          id,
          class: "tool",
          "aria-label": label,
          title: label,
          "aria-pressed": String(pressed),
          onclick: then,
        },
        inside,
      );
    };
    const { seat, face, kind } = this;
    const sign = (name, size) =>
      svg(
        "svg",
        { class: "badge", viewBox: `0 0 ${size} ${size}`, "aria-hidden": "true" },
        svg("use", { href: `#${name}` }),
      );
    const group = (label, ...inside) => tag.div({ class: "row", role: "group", "aria-label": label }, inside);
    return [
      group(
        "whose",
        players.map((k) => tool(`seat-${k}`, `player ${k}`, k === seat, sign(`badge-${k}`, 24), { seat: k })),
      ),
      group(
        "what",
        FACES.map((n) =>
          tool(`face-${n}`, `a worker, ${n}`, kind === "die" && n === face, worker(seat, n), { kind: "die", face: n }),
        ),
        tool("star", "a star", kind === "star", sign(`token-${seat}`, 24), { kind: "star" }),
        tool("market", "a market", kind === "market", "Market", { kind: "market" }),
        tool("remove", "take away", kind === "remove", "Take away", { kind: "remove" }),
      ),
      undo && tag.button({ type: "button", id: "undo", onclick: undo }, "Undo"),
      tag.span({ class: "label" }, WORDS[kind], " A click on an allegiance track or tunnel moves its marker."),
    ];
  }

  // Whether a click at an event changed the position.
  use(position, event) {
    const near = (selector) => event.target.closest?.(selector);
    const track = near(".rail, .pipe, .allegiance, .miner");
    if (track) return this.#mark(position, event, track);
    return this[`_${this.kind}`](position, near);
  }

  _die(position, near) {
    const space = near("[data-space]")?.dataset.space;
    const hand = near("[data-seat]:not(.die)");
    if (space) {
      const there = this.many.has(space) ? list(position.workers?.[space]) : [];
      position.workers = { ...position.workers, [space]: [...there, [this.seat, this.face]] };
    } else if (hand) {
      const one = position.players[Number(hand.dataset.seat)];
      one.workers = [...list(one.workers), this.face];
    }
    return Boolean(space || hand);
  }

  _star(position, near) {
    const territory = near("[data-territory]")?.dataset.territory;
    const market = near(".built")?.dataset.market;
    if (territory) {
      const stars = [...list(position.territories?.[territory]), this.seat].sort();
      position.territories = { ...position.territories, [territory]: stars };
    }
    if (market) {
      const built = position.markets[market];
      built.stars = [...new Set([...list(built.stars), this.seat])].sort();
    }
    return Boolean(territory || market);
  }

  _market(position, near) {
    const market = near("[data-market]")?.dataset.market;
    if (!market) return false;
    const { stars, ...one } = position.markets?.[market] ?? {};
    const turned = one.built ? { ...one, built: false } : { ...one, built: true, stars };
    position.markets = { ...position.markets, [market]: turned };
    for (const space of [market, ...this.#slots(market)]) if (position.workers) delete position.workers[space];
    return true;
  }

  #slots = (market) => FACES.slice(0, 4).map((k) => `${market.replace("market", "site")}_${k}`);

  _remove(position, near) {
    const die = near(".die");
    const star = near(".star")?.id.match(/^star-(.*?)-(\d)(-\d)?$/);
    if (star) {
      const holder = star[1] in (position.territories ?? {}) ? position.territories : position.markets[star[1]];
      const key = holder === position.territories ? star[1] : "stars";
      holder[key] = without(holder[key], (seat) => seat === Number(star[2]));
    } else if (die) {
      const [seat, face, space] = [Number(die.dataset.seat), Number(die.dataset.face), die.dataset.space];
      const one = position.players[seat];
      if (!space) one.workers = without(one.workers, (n) => n === face);
      else position.workers[space] = without(position.workers[space], ([owner, n]) => owner === seat && n === face);
      if (space && !position.workers[space].length) delete position.workers[space];
    }
    return Boolean(star || die);
  }

  // The marker of a rail or a tunnel goes where one clicks.
  #mark(position, event, track) {
    const name = event.target.closest("[data-region]")?.dataset.region ?? track.id.split("-")[1];
    const board = event.currentTarget;
    const pipe = track.matches(".pipe, .miner");
    const line = board.querySelector(
      `[data-region="${name}"] ${pipe ? ".pipe > :nth-child(2)" : ".rail > :first-child"}`,
    );
    const { left, width } = line.getBoundingClientRect();
    const share = (event.clientX - left) / width;
    const step = pipe ? ((share - PIPE.from) / (PIPE.to - PIPE.from)) * PIPE.steps : share * RAIL;
    const most = pipe ? PIPE.steps : RAIL;
    const key = pipe ? "miners" : "allegiance";
    position[key] = { ...position[key], [name]: Math.max(0, Math.min(most, Math.round(step))) };
    return true;
  }
}

// A list without the first that fits.
function without(all, fits) {
  const k = list(all).findIndex(fits);
  return list(all).filter((_, other) => other !== k);
}

// Lets Tab reach everything that can be clicked, and Enter press it.
export function reachable(drawn) {
  for (const one of drawn.querySelectorAll(".space, .territory")) {
    one.setAttribute("tabindex", "0");
    one.setAttribute("role", "button");
    one.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" && event.key !== " ") return;
      event.preventDefault();
      event.stopPropagation();
      one.dispatchEvent(new MouseEvent("click", { bubbles: true }));
    });
  }
}
