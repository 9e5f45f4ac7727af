// The end of a game: who placed stars where, and a picture of the board.

import { badge, STARS } from "./board.js";
import { named, svg, tag } from "./elements.js";
import { plural, t } from "./texts.js";

const SOURCES = {
  construction: "{n} construction",
  market: "{n} market",
  "artifact market": "{n} artifact market",
  icarus: "{n} Icarus",
  allegiance: "{n} allegiance",
  dilemma: "{n} dilemma",
};

// The ranking, with a bar of each player's stars by source; `stars`: these numbers, by seat.
export function ranking(view, seats, stars) {
  const most = Math.max(view.stars_to_win, ...view.players.map((p) => STARS - p.stars));
  const line = (p) => {
    const counts = Object.keys(SOURCES)
      .map((source) => [source, stars?.[p.seat]?.[source]])
      .filter(([, n]) => n);
    const said = ([source, n]) => t(SOURCES[source], { n });
    return tag.li(
      { value: p.rank, class: `seat${p.seat}` },
      tag.div(
        { class: "line" },
        badge(p.seat),
        tag.b(named(seats[p.seat].name)),
        plural(STARS - p.stars, "1 star", "{n} stars"),
      ),
      tag.div(
        { class: "bar", "aria-hidden": "true" },
        counts.map(([source, n]) => {
          const part = tag.b({ title: said([source, n]) }, String(n));
          part.style.width = `${(100 * n) / most}%`;
          return part;
        }),
      ),
      tag.div(
        { class: "line sources" },
        counts.map((one) => tag.span({ class: "source" }, said(one))),
      ),
    );
  };
  return tag.ol({ class: "ranking" }, [...view.players].sort((a, b) => a.rank - b.rank).map(line));
}

// Saves the board as a picture, with the colours and symbols of the page.
export async function savePicture(board, name) {
  const copy = board.cloneNode(true);
  const { width, height } = copy.viewBox.baseVal;
  const colours = await (await fetch(new URL("colours.css", import.meta.url))).text();
  copy.prepend(svg("style", {}, colours), ...document.querySelector(".sprite").cloneNode(true).children);
  Object.assign(copy.style, { fontFamily: getComputedStyle(document.body).fontFamily });
  for (const [side, size] of Object.entries({ width: 2 * width, height: 2 * height })) copy.setAttribute(side, size);
  const image = new Image();
  image.src = `data:image/svg+xml,${encodeURIComponent(new XMLSerializer().serializeToString(copy))}`;
  await image.decode();
  const canvas = tag.canvas({ width: 2 * width, height: 2 * height });
  canvas.getContext("2d").drawImage(image, 0, 0);
  tag.a({ href: canvas.toDataURL("image/png"), download: `${name}.png` }).click();
}
