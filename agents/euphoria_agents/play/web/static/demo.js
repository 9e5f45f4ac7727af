// The board of the first page, on which a recorded game of agents is replayed, while somebody looks.

import { Board, motionIsOff } from "./board.js";
import { button, call, render, tag } from "./common.js";
import { playerCell } from "./seats.js";

const TURN = 1100; // milliseconds

export async function showDemo(parent, facts) {
  render(parent, tag.p({ class: "label" }, "The board is being set up."));
  const silent = new AbortController().signal; // the page does not say that it waits for this
  const { names, pieces, frames } = await call("GET", "/api/demo", null, silent);
  const cells = names.map((_, seat) => playerCell(facts, seat));
  const place = tag.div();
  const steer = tag.div({ class: "row" });
  parent.replaceChildren(
    tag.div(
      { class: "players", inert: true },
      cells.map((one) => one.node),
    ),
    tag.div({ class: "place", inert: true }, place),
    steer,
  );
  const board = new Board(place, { home: (seat) => cells[seat].hand });
  let [turn, timer] = [Math.floor(frames.length / 2), 0];

  function show(moving) {
    const lines = frames[turn].map((line) => pieces[line]);
    const end = lines.indexOf("</svg>") + 1;
    const view = JSON.parse(lines.slice(end).join(""));
    for (const p of view.players) cells[p.seat].update(view, p, { name: names[p.seat], spec: "" }, false);
    board.show(
      lines.slice(0, end).join("\n"),
      view.players.map((p) => p.workers),
      moving,
    );
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
