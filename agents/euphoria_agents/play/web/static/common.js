// The parts that every page of the server needs: elements, and requests.

export * from "./elements.js";

export class Failure extends Error {
  constructor(status, message) {
    super(message);
    this.status = status; // 0: the server cannot be reached
  }
}

export const ONCE = "the first time, its code is compiled, once for this machine";
const PATIENCE = 2000; // milliseconds until it is said what a request waits for
const WAITS = `Waiting for the server: an agent may have to be prepared; ${ONCE}.`;

export async function call(method, path, body) {
  const options = { method, cache: "no-store" };
  if (method !== "GET") {
    options.headers = { "Content-Type": "application/json" };
    options.body = JSON.stringify(body ?? {});
  }
  let answer;
  const late = setTimeout(() => say(WAITS), PATIENCE);
  try {
    answer = await fetch(path, options);
  } catch {
    throw new Failure(0, "The server cannot be reached; this page tries again.");
  } finally {
    clearTimeout(late);
    if (document.getElementById("message").textContent === WAITS) say("");
  }
  const found = await answer.json().catch(() => ({ error: answer.statusText }));
  if (!answer.ok) throw new Failure(answer.status, found.error);
  return found;
}

export const get = (path) => call("GET", path);
export const post = (path, body) => call("POST", path, body);

export async function loadSymbols() {
  const text = await (await fetch("/static/symbols.svg")).text();
  const found = new DOMParser().parseFromString(text, "image/svg+xml");
  document.body.append(document.importNode(found.documentElement, true));
}

export function say(text) {
  document.getElementById("message").textContent = text;
}

// Says what went wrong with a request; anything else is a fault of ours, for the console.
export function fail(error) {
  if (!(error instanceof Failure)) throw error;
  say(error.message);
}
