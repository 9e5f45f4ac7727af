// The help: pictures of the board, drawn for the positions of the lessons, and the legend.

import { drawing } from "./board.js";
import { call, loadSymbols, showError, tag } from "./common.js";
import { legend } from "./legend.js";

// A part of a drawn board: "left top width height".
function part(text, box, label) {
  const made = drawing(text);
  for (const node of made.querySelectorAll("[id]")) node.removeAttribute("id");
  for (const [name, value] of Object.entries({ viewBox: box, role: "img", "aria-label": label }))
    made.setAttribute(name, value);
  return made;
}

// Boards come as numbers of lines.
function addPictures({ pieces, frames }) {
  for (const figure of document.querySelectorAll("figure[data-lesson]")) {
    const { lesson, part: box } = figure.dataset;
    const [before, after] = frames[lesson].map((lines) => lines.map((line) => pieces[line]).join("\n"));
    figure.prepend(tag.div({ class: "pair" }, part(before, box, "before"), part(after, box, "after")));
  }
}

try {
  await loadSymbols();
  document.getElementById("legend").append(legend());
  const quiet = new AbortController().signal; // the page can be read while this loads
  addPictures(await call("GET", "/api/pictures", null, quiet));
} catch (error) {
  showError(error);
}
