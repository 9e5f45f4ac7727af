// The studies and games that this browser opened, the latest first.

const KEPT = 40; // of each kind

// What was kept under a name, null if there is none; `place`: "localStorage", or "sessionStorage" for this tab alone.
export function kept(name, place = "localStorage") {
  try {
    return JSON.parse(window[place].getItem(name));
  } catch {
    return null; // the browser forbids it, or it is damaged
  }
}

export function keep(name, value, place = "localStorage") {
  try {
    window[place].setItem(name, JSON.stringify(value));
  } catch {
    // the browser forbids it, or has no room; the pages work without
  }
}

// kind: "studies", "games" or "lessons", each a list of { id, names, when } and more.
export const recall = (kind) => [kept("library")?.[kind]].flat().filter((one) => one?.id);
const write = (kind, entries) => keep("library", { ...kept("library"), [kind]: entries });

// Adds an entry, or changes it.
export function remember(kind, one) {
  const before = recall(kind).find(({ id }) => id === one.id);
  const others = recall(kind).filter(({ id }) => id !== one.id);
  write(kind, [{ ...before, ...one, when: Date.now() }, ...others].slice(0, KEPT));
}

export function forget(kind, gone) {
  write(
    kind,
    recall(kind).filter(({ id }) => id !== gone),
  );
}
