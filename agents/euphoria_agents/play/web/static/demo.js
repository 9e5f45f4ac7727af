// The board of the first page, on which a recorded game of agents is replayed, while somebody looks.

import { momentOf, motionIsOff } from "./board.js";
import { button, call, render, tag } from "./common.js";
import { Table } from "./seats.js";

const TURN = 1100; // milliseconds

export async function showDemo(parent, facts) {
  render(parent, tag.p({ class: "label" }, "The board is being set up."));
  const silent = new AbortController().signal; // the page does not say that it waits for this
  const { names, pieces, frames } = await call("GET", "/api/demo", null, silent);
  const [players, board] = [tag.div({ class: "players", inert: true }), tag.div()];
  const steer = tag.div({ class: "row" });
  parent.replaceChildren(players, tag.div({ class: "place", inert: true }, board), steer);
  const table = new Table(facts, names.length, { players, board });
  const who = names.map((name) => ({ name, spec: "" }));
  let [turn, timer] = [Math.floor(frames.length / 2), 0];

  function show(moving) {
    const { view, drawing } = momentOf(pieces, frames[turn]);
    table.show(view, drawing, who, moving);
  }

  function go() {
    if (document.hidden) return;
    turn = (turn + 1) % frames.length;
    show(turn > 0);
  }

  function toggle() {
    timer = timer ? clearInterval(timer) : setInterval(go, TURN);
    const label = timer ? "Pause the game on the board" : "Play the game on the board";
    render(
      steer,
      button("demo-toggle", timer ? "Pause" : "▶ Play", toggle, { label }),
      tag.span({ class: "label" }, "Agents play this game. The dice are workers, and the first with ten stars wins."),
    );
  }

  show(false);
  toggle();
  if (motionIsOff()) toggle(); // a still picture, until somebody wants more
}
