// The studies and games that this browser opened, the latest first.

import { post } from "./common.js";

const KEPT = 40; // of each kind

const read = () => JSON.parse(localStorage.getItem("library") ?? "{}");
const write = (found) => localStorage.setItem("library", JSON.stringify(found));

// kind: "studies" or "games", each a list of { id, names, when } and more.
export const recall = (kind) => read()[kind] ?? [];

// Adds an entry, or changes it.
export function remember(kind, one) {
  const before = recall(kind).find(({ id }) => id === one.id);
  const others = recall(kind).filter(({ id }) => id !== one.id);
  write({ ...read(), [kind]: [{ ...before, ...one, when: Date.now() }, ...others].slice(0, KEPT) });
}

export function forget(kind, gone) {
  write({ ...read(), [kind]: recall(kind).filter(({ id }) => id !== gone) });
}

// Makes a game, keeps `more` about it, and opens its page.
export async function beginGame(body, more = {}) {
  const { id, links } = await post("/api/games", body);
  sessionStorage.setItem(`links ${id}`, JSON.stringify(links));
  remember("games", { id, names: body.seats.map(({ name }) => name), ...more });
  location.href = `/play/${id}`;
}
