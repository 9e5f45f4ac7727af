// What every page of the server needs: elements and requests.

import { translate } from "./texts.js";

export * from "./elements.js";
export { languageSelect } from "./language.js";

class RequestError extends Error {
  constructor(status, message) {
    super(message);
    this.status = status; // 0: the server cannot be reached
  }
}

export const COMPILED_ONCE = "the first time, its code is compiled, once for this machine";
const NOTICE_AFTER = 2000; // milliseconds until the page says what a request waits for
const NOTICE = `Waiting for the server: an agent may have to be prepared; ${COMPILED_ONCE}.`;

// `signal` aborts the request; a page that can do so shows by itself that it waits.
export async function call(method, path, body, signal = null) {
  const options = { method, cache: "no-store", signal };
  if (method !== "GET") {
    options.headers = { "Content-Type": "application/json" };
    options.body = JSON.stringify(body ?? {});
  }
  let answer;
  const late = signal ? 0 : setTimeout(() => showMessage(NOTICE), NOTICE_AFTER);
  try {
    answer = await fetch(path, options);
  } catch {
    throw new RequestError(0, "The server cannot be reached; this page tries again.");
  } finally {
    clearTimeout(late);
    if (document.getElementById("message").textContent === translate(NOTICE)) showMessage("");
  }
  const found = await answer.json().catch(() => ({ error: answer.statusText }));
  if (!answer.ok) throw new RequestError(answer.status, found.error);
  return found;
}

export const get = (path) => call("GET", path);
export const post = (path, body) => call("POST", path, body);

export async function loadSymbols() {
  const text = await (await fetch("/static/symbols.svg")).text();
  const found = new DOMParser().parseFromString(text, "image/svg+xml");
  document.body.append(document.importNode(found.documentElement, true));
}

export function showMessage(text) {
  document.getElementById("message").textContent = text;
}

// Shows the error of a request; other errors are bugs, for the console.
export function showError(error) {
  if (!(error instanceof RequestError)) throw error;
  showMessage(error.message);
}
