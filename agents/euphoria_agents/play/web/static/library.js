// The studies and games that this browser opened, the latest first.

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
