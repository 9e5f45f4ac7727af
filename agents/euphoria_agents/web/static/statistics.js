// Many games between agents, or from records: how they stand, and the tables of what happened in them.

import { call, el, fail, get, loadSymbols, many, post, refill, scrollable, svg } from "./common.js";
import { choose, opponents, readRules, ruleLines, spaceTitle } from "./forms.js";
import { mark, percent } from "./judgement.js";

const at = (id) => document.getElementById(id);
const MOST = 6;
const KEPT = 20; // batches that this browser remembers
const batch = location.pathname.split("/")[2];
const api = `/api/batches/${batch}`;
let facts = null;
let agents = null; // by seat
let shown = 0; // games in the tables

const button = (id, text, onclick, off = false) => el("button", { type: "button", id, disabled: off, onclick }, text);

// -------------------------------------------------------------------------------------------------------------
// beginning

function drawAgents() {
  const options = opponents(facts);
  refill(
    at("agents"),
    agents.map((spec, k) =>
      el(
        "div",
        { class: "seatline" },
        mark(k),
        choose(`agent-${k}`, `agent ${k}`, options, spec, (value) => (agents[k] = value)),
      ),
    ),
    el(
      "div",
      { class: "row" },
      button(
        "more",
        "One more player",
        () => {
          agents.push(facts.agents[0]);
          drawAgents();
        },
        agents.length >= MOST,
      ),
      button(
        "fewer",
        "One fewer",
        () => {
          agents.pop();
          drawAgents();
        },
        agents.length <= 2,
      ),
    ),
  );
}

function drawForm() {
  agents = [facts.agents[0], facts.agents.at(-1)];
  at("play").append(
    el("fieldset", {}, el("legend", {}, "Who plays"), el("div", { id: "agents", class: "stack" })),
    el(
      "div",
      { class: "options" },
      el(
        "label",
        {},
        el("input", { id: "games", type: "number", min: 1, max: 1000, value: 40, required: true }),
        "games",
      ),
      el(
        "label",
        {},
        el("input", { id: "seed", type: "number", min: 0, value: 0, required: true }),
        "seed: equal seeds give equal games",
      ),
    ),
    el("p", { class: "label" }, "Each deal is played once from every seat, so there may be a few games more."),
    el("details", {}, el("summary", {}, "Rules of these games"), ruleLines(facts)),
    el("p", {}, el("button", { class: "main", id: "begin" }, "Begin")),
  );
  at("play").addEventListener("submit", (event) => {
    event.preventDefault();
    make(
      { agents, games: at("games").valueAsNumber, seed: at("seed").valueAsNumber, rules: readRules(facts) },
      `${agents.join(", ")}: ${at("games").value} games`,
    );
  });
  at("files").addEventListener("change", async (event) => {
    const files = [...event.target.files];
    if (files.length)
      make({ records: await Promise.all(files.map((file) => file.text())) }, many(files.length, "record"));
  });
  drawAgents();
}

const kept = () => JSON.parse(localStorage.getItem("batches") ?? "[]");

async function make(body, title) {
  try {
    const { id } = await post("/api/batches", body);
    localStorage.setItem("batches", JSON.stringify([{ id, title, when: Date.now() }, ...kept()].slice(0, KEPT)));
    location.href = `/statistics/${id}`;
  } catch (error) {
    fail(error);
  }
}

function drawKept() {
  const line = ({ id, title, when }) =>
    el(
      "li",
      {},
      el("a", { href: `/statistics/${id}`, "aria-current": id === batch && "page" }, title),
      el("span", { class: "label" }, ` ${new Date(when).toLocaleString()}`),
    );
  at("batches").replaceChildren(...(kept().length ? kept().map(line) : [el("li", { class: "label" }, "None yet.")]));
}

// ---------------------------------------------------------------------------------------------------------------
// looking

const STATES = {
  waiting: "is being played, or waits for its turn",
  done: "is finished",
  stopped: "was stopped",
  failed: "failed",
};

async function look() {
  const found = await get(api);
  const steer = (what) => () => post(`${api}/${what}`).then(look).catch(fail);
  const forget = async () => {
    await call("DELETE", api);
    localStorage.setItem("batches", JSON.stringify(kept().filter((one) => one.id !== batch)));
    location.href = "/statistics";
  };
  refill(
    at("state"),
    el("h2", {}, found.agents.length ? found.agents.join(", ") : "Recorded games"),
    el(
      "p",
      {},
      el("progress", { max: found.games, value: found.done, "aria-label": "games" }),
      ` ${found.done} of ${many(found.games, "game")}; it ${STATES[found.state]}`,
      found.trouble ? el("span", { class: "bad" }, `: ${found.trouble}`) : "",
    ),
    found.host &&
      el(
        "div",
        { class: "row" },
        found.state === "waiting" && button("stop", "Stop", steer("stop")),
        ["stopped", "failed"].includes(found.state) && button("go-on", "Go on", steer("go-on")),
        button("forget", "Delete", () => forget().catch(fail)),
      ),
  );
  const status = `The batch ${STATES[found.state]}.`;
  if (at("status").textContent !== status) at("status").textContent = status;
  if (found.done !== shown) {
    refill(at("story"), found.tables.length ? story(found) : []);
    refill(at("tables"), found.tables.map(table));
  }
  at("figures").hidden = !found.tables.length;
  shown = found.done;
  if (found.state === "waiting") setTimeout(() => look().catch(fail), 1000);
}

// ------------------------------------------------------------------------------------------------------------- the
// story

const tableOf = (found, name) => found.tables.find((one) => one.name === name);
const cells = ({ columns, rows }) =>
  rows.map((row) => Object.fromEntries(columns.map(([heading], k) => [heading, row[k]])));

// Tells in sentences and pictures who wins, by what, and how long it takes; the players have the colours of seats, in
// order.
function story(found) {
  const who = tableOf(found, "agents") ?? tableOf(found, "seats");
  const players = cells(who).map((one) => ({ ...one, name: one.agent ?? `seat ${one.seat}` }));
  const colour = new Map(players.map((one) => [one.name, one.seat ?? Math.max(0, found.agents.indexOf(one.agent))]));
  const equal = 1 / (tableOf(found, "seats").rows.length || 1);
  const ranked = [...players].sort((a, b) => b.rate - a.rate);
  const first = ranked[0];
  const clear = first.low > Math.max(...ranked.slice(1).map((one) => one.high), 0);
  const verdict = clear
    ? "That is clearly more than anybody else."
    : "The others are not clearly behind: the intervals meet.";
  const interval = `95 % interval: ${percent(first.low)} to ${percent(first.high)}`;
  const words = `${first.name} won ${percent(first.rate)} of ${many(first.games, "game")} (${interval}). ${verdict}`;
  return el(
    "section",
    { class: "panel", "aria-labelledby": "who-title" },
    el("h2", { id: "who-title" }, "Who wins"),
    el("p", {}, words),
    intervals(ranked, colour, equal),
    sources(tableOf(found, "stars"), colour),
    lengths(tableOf(found, "length")),
  );
}

// A line for each player: the share of games won with its interval, and where equals would be.
function intervals(players, colour, equal) {
  const [left, width, line] = [150, 760, 34];
  const x = (share) => left + (width - left - 70) * share;
  const height = players.length * line + 26;
  const drawn = players.flatMap((one, k) => {
    const y = k * line + 12;
    return [
      svg("text", { x: left - 10, y: y + 10, "text-anchor": "end" }, one.name),
      svg("rect", {
        class: `share seat${colour.get(one.name)}`,
        x: x(0),
        y,
        width: Math.max(1, x(one.rate) - x(0)),
        height: 14,
        rx: 3,
      }),
      svg("path", {
        class: "interval",
        d: `M${x(one.low)},${y + 7} H${x(one.high)} M${x(one.low)},${y + 2} v10 M${x(one.high)},${y + 2} v10`,
      }),
      svg("text", { x: x(one.high) + 8, y: y + 11 }, percent(one.rate)),
    ];
  });
  const grid = [0, 0.25, 0.5, 0.75, 1].flatMap((share) => [
    svg("line", { class: "grid", x1: x(share), x2: x(share), y1: 4, y2: height - 20 }),
    svg("text", { x: x(share), y: height - 5, "text-anchor": "middle" }, percent(share)),
  ]);
  const even = svg("line", { class: "equal", x1: x(equal), x2: x(equal), y1: 4, y2: height - 20 });
  even.append(svg("title", {}, "where equals would be"));
  const label = players.map((one) => `${one.name} ${percent(one.rate)}`).join(", ");
  return el(
    "figure",
    {},
    svg(
      "svg",
      { class: "picture", viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": label },
      ...grid,
      ...drawn,
      even,
    ),
    el(
      "figcaption",
      { class: "label" },
      `Games won, with 95 % intervals; the dashed line is where equals would be, ${percent(equal)}.`,
    ),
  );
}

// The stars a game by what placed them, a bar for each player.
function sources({ columns, rows }, colour) {
  const names = columns.slice(3).map(([heading]) => heading.replace("a game: ", ""));
  const own = (name) => colour.get(name) ?? Number(name);
  const most = Math.max(...rows.flatMap((row) => row.slice(3).map((n) => n ?? 0)), 1e-9);
  const bars = (row) =>
    names.map((name, k) => {
      const long = svg(
        "svg",
        {
          class: `star-bar seat${own(name)}`,
          viewBox: "0 0 100 8",
          preserveAspectRatio: "none",
          "aria-hidden": "true",
        },
        svg("rect", { width: (100 * (row[3 + k] ?? 0)) / most, height: 8 }),
      );
      return el(
        "span",
        { class: "star-line", title: colour.has(name) ? name : `seat ${name}` },
        long,
        el("span", {}, (row[3 + k] ?? 0).toFixed(2)),
      );
    });
  const sorted = [...rows].sort((a, b) => b[1] - a[1]);
  return [
    el("h2", {}, "By what"),
    el("p", {}, `Most stars came by ${sorted[0][0]}: ${percent(sorted[0][2])}. Stars of each player in a game:`),
    el(
      "p",
      { class: "readout" },
      names.map((name) => el("span", { class: "one" }, mark(own(name)), colour.has(name) ? name : `seat ${name}`)),
    ),
    el(
      "dl",
      { class: "sources" },
      sorted.map((row) => el("div", {}, el("dt", {}, row[0]), el("dd", {}, bars(row)))),
    ),
  ];
}

function lengths(table) {
  const turns = cells(table).find((one) => one.length === "turns");
  const [mean, low, high] = ["mean", "10 %", "90 %"].map((key) => turns[key].toFixed(0));
  return [el("h2", {}, "How long"), el("p", {}, `A game takes ${mean} turns; four of five take ${low} to ${high}.`)];
}

// ------------------------------------------------------------------------------------------------------------ all
// figures

// Puts rows that count little last: sorts by the lower end of the interval if there is one; otherwise rows below a
// tenth of the largest count go last.
function inOrder({ columns, rows }) {
  const heads = columns.map(([heading]) => heading);
  const [low, count] = [heads.indexOf("low"), columns.findIndex(([, kind]) => kind === "count")];
  if (["agent", "seat", "length", "source"].includes(heads[0]) || count < 0) return rows;
  if (low >= 0) return [...rows].sort((a, b) => b[low] - a[low]);
  const most = Math.max(...rows.map((row) => row[count]));
  return [...rows].sort((a, b) => (a[count] < most / 10) - (b[count] < most / 10));
}

const NAMES = {
  recruit: (name) => facts.recruits[name].title,
  tile: (name) => facts.tiles[name].title,
  space: (name) => spaceTitle(facts, name),
  text: String,
  count: String,
  mean: (x) => x.toFixed(2),
  share: (x) => `${(100 * x).toFixed(1)} %`,
};

function bar(value, most, low, high) {
  const part = (kind, from, to, y, height) =>
    svg("rect", { class: kind, x: (100 * from) / most, y, width: (100 * (to - from)) / most, height });
  return svg(
    "svg",
    { class: "bar", viewBox: "0 0 100 10", preserveAspectRatio: "none", "aria-hidden": "true" },
    part("length", 0, value, 0, 10),
    low == null ? "" : part("interval", low, high, 3.5, 3),
  );
}

// A table as the server tells it; its first share is drawn as bars too, with the interval that follows it.
function table({ name, caption, columns, rows, note }) {
  const kinds = columns.map(([, kind]) => kind);
  const share = kinds.indexOf("share");
  const interval = columns[share + 1]?.[0] === "low";
  const most = interval ? 1 : Math.max(...rows.map((row) => row[share]), 1e-9);
  const cell = (row) => (value, k) => {
    const text = value === null ? "–" : NAMES[kinds[k]](value);
    if (k === 0) return el("th", { scope: "row" }, text);
    const drawn = k === share && value !== null && bar(value, most, ...(interval ? row.slice(k + 1, k + 3) : []));
    return el("td", { class: "number" }, text, drawn);
  };
  return el(
    "details",
    { id: `table-${name}` },
    el("summary", {}, caption),
    scrollable(
      caption,
      el(
        "table",
        {},
        el("caption", { class: "unseen" }, caption),
        el(
          "thead",
          {},
          el(
            "tr",
            {},
            columns.map(([heading], k) => el("th", { scope: "col", class: k ? "number" : null }, heading)),
          ),
        ),
        el(
          "tbody",
          {},
          inOrder({ columns, rows }).map((row) => el("tr", {}, row.map(cell(row)))),
        ),
      ),
      { id: `scroll-${name}` },
    ),
    note && el("p", { class: "label" }, note),
    el(
      "p",
      {},
      el(
        "a",
        { class: "button", href: `${api}/${name}.csv`, download: `${name}.csv` },
        "CSV",
        el("span", { class: "unseen" }, ` of: ${caption}`),
      ),
    ),
  );
}

try {
  [facts] = await Promise.all([get("/api/facts"), loadSymbols()]);
  drawForm();
  drawKept();
  if (batch) await look();
} catch (error) {
  fail(error);
}
