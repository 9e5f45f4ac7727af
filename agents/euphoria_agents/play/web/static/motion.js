// Animates events (docs/events.md) on a table: goods fly, stars land.

import { fly, outline, rectOf, motionIsOff, moveFrom } from "./board.js";

const DIRECTION = { gained: 1, received: 1, paid: -1, lost: -1, given: -1, discarded: -1 };
const SPACE = new Set(["placed", "pays", "gains", "stays"]); // events that give the space of the next ones
const MAX_FLYING = 8; // icons that fly at once

// `stars`: the new stars on the board.
export function animateEvents(events, table, stars) {
  const { board } = table;
  const { kinds, names } = table.facts.events;
  let space = "";
  let flying = 0;
  for (const [kind, seat, a, b] of events) {
    const name = kinds[kind];
    if (SPACE.has(name)) space = names.space[a];
    const way = DIRECTION[name];
    const what = way ? names.item[a] : name === "drawn" ? "artifact" : null;
    if (!what || flying >= MAX_FLYING) continue;
    const good = table.item(seat, what);
    const kept = rectOf(good);
    const there =
      rectOf(board.space(space)?.querySelector(".socket") ?? board.space(space)) ?? rectOf(good?.parentNode);
    for (let k = 0; k < Math.min(way ? b : 1, 3); k += 1, flying += 1) {
      if (way === -1) fly(`icon-${what}`, kept, there, 40 * k);
      else fly(`icon-${what}`, there, kept, 120 + 40 * k);
    }
  }
  for (const star of stars) {
    if (motionIsOff()) outline(star);
    else moveFrom(star, rectOf(table.pip(Number(star.dataset.seat))), { time: 420 });
  }
}
