// What an agent thinks of the moves of a decision, each [action, prior, visits, value]: the best one, and how sure that is.

export const percent = (x, digits = 0) => (x == null ? "–" : `${decimal(100 * x, digits).replace("-", "−")} %`);
const decimal = (x, digits) =>
  x.toLocaleString(document.documentElement.lang, { minimumFractionDigits: digits, maximumFractionDigits: digits });

const ENOUGH = 8; // visits that make the value of a move reliable
const [SPREAD, LEAST] = [0.06, 0.005]; // of the standard error of a value, measured: docs/study.md
const standardError = (visits) => (visits == null ? 0 : Math.max(LEAST, SPREAD / Math.sqrt(visits)));
const difference = (a, b) => a.map((x, k) => x - b[k]).find((x) => x) ?? 0;

export const asRows = (moves) => moves.map(({ action, prior, visits, value }) => [action, prior, visits, value]);

// Sorts moves: the most visited first or, without visits, the highest value.
export function ordered(moves) {
  const worth = ([, prior, visits, value]) =>
    visits == null ? [value ?? 0, prior ?? 0, 0] : [visits, prior ?? 0, value ?? 0];
  return [...moves].sort((a, b) => difference(worth(b), worth(a)));
}

// The move that the agent would play; nothing else is called the best.
export const best = (moves) => ordered(moves)[0];

export const hardlyTried = ([, , visits]) => visits != null && visits < ENOUGH; // its value says little

// How a move compares with the best one: "best", "about equal" (within two standard errors), or "".
export function standing(one, top) {
  if (one[0] === top[0]) return "best";
  if (one[3] == null || top[3] == null || hardlyTried(one)) return "";
  const noise = 2 * Math.hypot(standardError(one[2]), standardError(top[2]));
  return top[3] - one[3] <= noise ? "about equal" : "";
}

// Whether the agent says how often a move wins; one that does not search says only how likely it plays it.
export const priced = (moves) => moves.some(([, , , value]) => value != null);

// The figure of a move in the unit that all moves of its decision share: chances to win, or else how likely the agent
// plays it; "–" if it did not try the move.
export function figure(one, moves) {
  return priced(moves) ? [percent(one[3]), "chance to win"] : [percent(one[1]), "how likely the adviser plays it"];
}
