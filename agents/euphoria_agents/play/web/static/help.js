// The help: pictures of the board, drawn for the positions of the lessons, and the legend.

import { drawing } from "./board.js";
import { call, loadSymbols, showError, svg, tag } from "./common.js";
import { legend } from "./legend.js";

const LIMIT = 16; // of the knowledge check
const CELL = 22;

// A part of a drawn board: "left top width height".
function part(text, box, label) {
  const made = drawing(text);
  for (const node of made.querySelectorAll("[id]")) node.removeAttribute("id");
  for (const [name, value] of Object.entries({ viewBox: box, role: "img", "aria-label": label }))
    made.setAttribute(name, value);
  return made;
}

// The bar of the knowledge check: knowledge, then workers of the player 0.
function bar(knowledge, faces, label) {
  const made = svg("svg", { viewBox: `-2 0 ${LIMIT * CELL + 4} 70`, role: "img", "aria-label": label });
  const cells = (from, n, fill) => {
    for (let k = from; k < from + n; k += 1)
      made.append(
        svg("rect", {
          x: k * CELL,
          y: 34,
          width: CELL - 2,
          height: 30,
          rx: 3,
          fill,
          stroke: k === LIMIT - 1 ? "var(--played)" : "var(--line)",
        }),
      );
  };
  cells(0, LIMIT, "var(--slot)");
  cells(0, knowledge, "var(--dim)");
  let at = knowledge;
  for (const face of faces) {
    cells(at, face, "var(--seat-0)");
    made.append(svg("use", { href: `#worker-0-${face}`, x: (at + face / 2) * CELL - 20, y: 2, width: 40, height: 26 }));
    at += face;
  }
  made.append(svg("use", { href: "#icon-knowledge", x: (knowledge * CELL) / 2 - 10, y: 6, width: 20, height: 20 }));
  return made;
}

function addPictures(boards) {
  for (const figure of document.querySelectorAll("figure[data-lesson]")) {
    const { lesson, part: box } = figure.dataset;
    const label = figure.querySelector("figcaption").textContent;
    const [before, after] = boards[lesson];
    figure.prepend(
      tag.div({ class: "pair" }, part(before, box, `before: ${label}`), part(after, box, `after: ${label}`)),
    );
  }
  const check = document.querySelector("figure[data-bar]");
  const [knowledge, ...faces] = check.dataset.bar.split(" ").map(Number);
  check.prepend(bar(knowledge, faces, check.querySelector("figcaption").textContent));
}

try {
  const quiet = new AbortController().signal; // the page can be read while this loads
  const [boards] = await Promise.all([call("GET", "/api/pictures", null, quiet), loadSymbols()]);
  addPictures(boards);
  document.getElementById("legend").append(legend());
} catch (error) {
  showError(error);
}
