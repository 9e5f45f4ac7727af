// The memory of this browser: the studies and games that were opened here, the last one first.

const KEPT = 40; // of each kind

const read = () => JSON.parse(localStorage.getItem("library") ?? "{}");
const write = (found) => localStorage.setItem("library", JSON.stringify(found));

// kind: "studies" ({ id, names, when }) or "games" ({ id, start, study, when }; start: the study and decision it
// branched off).
export const recall = (kind) => read()[kind] ?? [];

// Adds something, or what is new about it.
export function remember(kind, one) {
  const before = recall(kind).find(({ id }) => id === one.id);
  const others = recall(kind).filter(({ id }) => id !== one.id);
  write({ ...read(), [kind]: [{ ...before, ...one, when: Date.now() }, ...others].slice(0, KEPT) });
}

export function forget(kind, gone) {
  write({ ...read(), [kind]: recall(kind).filter(({ id }) => id !== gone) });
}
