// Many games between agents, or from records: how they stand, and the tables of what happened in them.

import { badge } from "./board.js";
import { call, el, fail, get, loadSymbols, many, post, refill, svg } from "./common.js";
import { choose, readRules, ruleLines, spaceTitle } from "./forms.js";

const at = (id) => document.getElementById(id);
const MOST = 6;
const KEPT = 20; // batches that this browser remembers
const batch = location.pathname.split("/")[2];
const api = `/api/batches/${batch}`;
let facts = null;
let agents = null; // by seat
let shown = 0; // games in the tables

const button = (id, text, onclick, off = false) => el("button", { type: "button", id, disabled: off, onclick }, text);

// ------------------------------------------------------------------------------------------------------------- beginning

function drawAgents() {
  const options = facts.agents.map((spec) => [spec, facts.agent_words[spec]]);
  refill(at("agents"), agents.map((spec, k) => el("div", { class: "seatline" }, badge(k), choose(`agent-${k}`, `agent ${k}`, options, spec, (value) => (agents[k] = value)))),
    el("div", { class: "row" },
      button("more", "One more player", () => { agents.push(facts.agents[0]); drawAgents(); }, agents.length >= MOST),
      button("fewer", "One fewer", () => { agents.pop(); drawAgents(); }, agents.length <= 2)));
}

function drawForm() {
  agents = [facts.agents[0], facts.agents.at(-1)];
  at("play").append(
    el("fieldset", {}, el("legend", {}, "Who plays"), el("div", { id: "agents", class: "stack" })),
    el("div", { class: "options" },
      el("label", {}, el("input", { id: "games", type: "number", min: 1, max: 1000, value: 40, required: true }), "games"),
      el("label", {}, el("input", { id: "seed", type: "number", min: 0, value: 0, required: true }), "seed: equal seeds give equal games")),
    el("p", { class: "label" }, "Each deal is played once from every seat, so there may be a few games more."),
    el("details", {}, el("summary", {}, "Rules of these games"), ruleLines(facts)),
    el("p", {}, el("button", { class: "main", id: "begin" }, "Begin")));
  at("play").addEventListener("submit", (event) => {
    event.preventDefault();
    make({ agents, games: at("games").valueAsNumber, seed: at("seed").valueAsNumber, rules: readRules(facts) }, `${agents.join(", ")}: ${at("games").value} games`);
  });
  at("files").addEventListener("change", async (event) => {
    const files = [...event.target.files];
    if (files.length) make({ records: await Promise.all(files.map((file) => file.text())) }, many(files.length, "record"));
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
  const line = ({ id, title, when }) => el("li", {}, el("a", { href: `/statistics/${id}`, "aria-current": id === batch && "page" }, title), el("span", { class: "label" }, ` ${new Date(when).toLocaleString()}`));
  at("batches").replaceChildren(...(kept().length ? kept().map(line) : [el("li", { class: "label" }, "None yet.")]));
}

// --------------------------------------------------------------------------------------------------------------- looking

const STATES = { waiting: "is being played, or waits for its turn", done: "is finished", stopped: "was stopped", failed: "failed" };

async function look() {
  const found = await get(api);
  const steer = (what) => () => post(`${api}/${what}`).then(look).catch(fail);
  const forget = async () => {
    await call("DELETE", api);
    localStorage.setItem("batches", JSON.stringify(kept().filter((one) => one.id !== batch)));
    location.href = "/statistics";
  };
  refill(at("state"),
    el("h2", {}, found.agents.length ? found.agents.join(", ") : "Recorded games"),
    el("p", {}, el("progress", { max: found.games, value: found.done, "aria-label": "games" }), ` ${found.done} of ${many(found.games, "game")}; it ${STATES[found.state]}`, found.trouble ? el("span", { class: "bad" }, `: ${found.trouble}`) : ""),
    found.host && el("div", { class: "row" },
      found.state === "waiting" && button("stop", "Stop", steer("stop")),
      ["stopped", "failed"].includes(found.state) && button("go-on", "Go on", steer("go-on")),
      button("forget", "Delete", () => forget().catch(fail))));
  const status = `The batch ${STATES[found.state]}.`;
  if (at("status").textContent !== status) at("status").textContent = status;
  if (found.done !== shown) refill(at("tables"), found.tables.map(table));
  shown = found.done;
  if (found.state === "waiting") setTimeout(() => look().catch(fail), 1000);
}

const NAMES = { recruit: (name) => facts.recruits[name].title, tile: (name) => facts.tiles[name].title, space: (name) => spaceTitle(facts, name), text: String, count: String, mean: (x) => x.toFixed(2), share: (x) => `${(100 * x).toFixed(1)} %` };

function bar(value, most, low, high) {
  const part = (kind, from, to, y, height) => svg("rect", { class: kind, x: (100 * from) / most, y, width: (100 * (to - from)) / most, height });
  return svg("svg", { class: "bar", viewBox: "0 0 100 10", preserveAspectRatio: "none", "aria-hidden": "true" }, part("length", 0, value, 0, 10), low == null ? "" : part("interval", low, high, 3.5, 3));
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
  return el("section", { class: "panel", id: `table-${name}` },
    el("div", { class: "scroll", id: `scroll-${name}`, tabindex: 0, role: "group", "aria-label": caption },
      el("table", {}, el("caption", {}, caption),
        el("thead", {}, el("tr", {}, columns.map(([heading, kind], k) => el("th", { scope: "col", class: k ? "number" : null }, heading)))),
        el("tbody", {}, rows.map((row) => el("tr", {}, row.map(cell(row))))))),
    note && el("p", { class: "label" }, note),
    el("p", {}, el("a", { class: "button", href: `${api}/${name}.csv`, download: `${name}.csv` }, "CSV", el("span", { class: "unseen" }, ` of: ${caption}`))));
}

try {
  [facts] = await Promise.all([get("/api/facts"), loadSymbols()]);
  drawForm();
  drawKept();
  if (batch) await look();
} catch (error) {
  fail(error);
}
