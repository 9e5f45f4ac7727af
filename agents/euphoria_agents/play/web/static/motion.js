// Lets events be seen: goods fly, stars land. The events are those of the server (docs/events.md).

import { fly, outline, place, still, travel } from "./board.js";

const FLYING = { gained: 1, received: 1, paid: -1, lost: -1, given: -1, discarded: -1 };
const SPACE = new Set(["placed", "pays", "gains", "stays"]); // events that say where the next ones happen
const MOST = 8; // icons that fly at once

// Shows what events of a change did: `where`: facts of places, `item(seat, name)` and `pip(seat)` on the page.
export function tell(events, facts, board, { item, pip, stars }) {
  const { kinds, names } = facts.events;
  let space = "";
  let flying = 0;
  for (const [kind, seat, a, b] of events) {
    const name = kinds[kind];
    if (SPACE.has(name)) space = names.space[a];
    const way = FLYING[name];
    const what = way ? names.item[a] : name === "drawn" ? "artifact" : null;
    if (!what || flying >= MOST) continue;
    const kept = place(item(seat, what));
    const there =
      place(board.space(space)?.querySelector(".socket") ?? board.space(space)) ?? place(item(seat, what)?.parentNode);
    for (let k = 0; k < Math.min(way ? b : 1, 3); k += 1, flying += 1) {
      if (way === -1) fly(`icon-${what}`, kept, there, 40 * k);
      else fly(`icon-${what}`, there, kept, 120 + 40 * k);
    }
  }
  for (const star of stars) {
    if (still()) outline(star);
    else travel(star, place(pip(Number(star.dataset.seat))), { time: 420 });
  }
}
