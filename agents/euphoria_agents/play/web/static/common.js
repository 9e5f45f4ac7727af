// What every page of the server needs: elements and requests.

import { language } from "./language.js";
import { keep, remember } from "./library.js";

import { t } from "./texts.js";

export * from "./elements.js";
export { languageSelect } from "./language.js";

class RequestError extends Error {
  constructor(status, message, key = "") {
    super(message);
    Object.assign(this, { status, key }); // 0: the server cannot be reached
  }
}

export const LOST = "The server cannot be reached; this page goes on when it is back.";
const NO_COOKIES = "Please allow cookies for this address: by them the server knows your seat.";
const NOTICE_AFTER = 2000; // milliseconds until the page says what a request waits for
const NOTICE = "The server has not answered yet: the line may be slow, or an agent is being prepared.";

// `signal` aborts the request; a page that can do so shows by itself that it waits.
export async function call(method, path, body, signal = null) {
  if (path === "/api/games" && body && !navigator.cookieEnabled) throw new RequestError(403, NO_COOKIES);
  const options = { method, signal };
  if (method !== "GET") {
    options.headers = { "Content-Type": "application/json" };
    options.body = JSON.stringify(body ?? {});
  }
  let answer;
  const late = signal ? 0 : setTimeout(() => showMessage(NOTICE), NOTICE_AFTER);
  try {
    answer = await fetch(path, options);
  } catch {
    throw new RequestError(0, LOST);
  } finally {
    clearTimeout(late);
    endMessage(NOTICE);
  }
  const found = await answer.json().catch(() => null);
  if (!found) throw new RequestError(0, LOST); // something between here and the server has answered in its place
  endMessage(LOST);
  if (!answer.ok) throw new RequestError(answer.status, found.key ? t(found.key, found.parts) : found.error, found.key);
  return found;
}

export const get = (path) => call("GET", path);
export const post = (path, body) => call("POST", path, body);

// Makes a game, keeps `more` about it, and opens its page.
export async function beginGame(body, more = {}) {
  const { id, links } = await post("/api/games", body);
  keep(`links ${id}`, links, "sessionStorage");
  remember("games", { id, names: body.seats.map(({ name }) => name), ...more });
  location.href = `/play/${id}`;
}

export const loadFacts = () => get(new URL(`facts.${language}.json`, import.meta.url));

export async function loadSymbols() {
  const text = await (await fetch(new URL("symbols.svg", import.meta.url))).text();
  const found = new DOMParser().parseFromString(text, "image/svg+xml");
  document.body.append(document.importNode(found.documentElement, true));
}

let shown = ""; // the message

export function showMessage(text) {
  shown = text;
  document.getElementById("message").textContent = text;
}

// Removes a message whose cause has ended, unless another one has taken its place.
export function endMessage(text) {
  if (shown === text) showMessage("");
}

// Shows the error of a request; other errors are bugs, for the console.
export function showError(error) {
  if (!(error instanceof RequestError)) throw error;
  showMessage(error.message);
}
