// What every page needs: elements, symbols, requests.

export function el(tag, props = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(props)) {
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else if (value === true) made.setAttribute(name, "");
    else if (value !== false && value != null) made.setAttribute(name, value);
  }
  made.append(...children.flat(9).filter((child) => child != null && child !== false));
  return made;
}

const SVG = "http://www.w3.org/2000/svg";

export function svg(tag, attributes, ...children) {
  const made = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

// A symbol of symbols.svg; without a label it is there for the eye alone.
export function symbol(name, label, kind, viewBox) {
  const told = label ? { role: "img", "aria-label": label } : { "aria-hidden": "true" };
  return svg("svg", { class: kind, viewBox, ...told }, svg("use", { href: `#${name}` }));
}

export const icon = (name) => symbol(`icon-${name.replaceAll(" ", "-")}`, "", "icon", "0 0 16 16");
export const hidden = (text) => el("span", { class: "unseen" }, text); // for those who listen
export const many = (n, thing) => `${n} ${thing}${n === 1 ? "" : "s"}`;

export class Failure extends Error {
  constructor(status, message) {
    super(message);
    this.status = status; // 0: the server cannot be reached
  }
}

export async function call(method, path, body) {
  const options = { method, cache: "no-store" };
  if (method !== "GET") {
    options.headers = { "Content-Type": "application/json" };
    options.body = JSON.stringify(body ?? {});
  }
  let answer;
  try {
    answer = await fetch(path, options);
  } catch {
    throw new Failure(0, "The server cannot be reached; this page tries again.");
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

// Puts new content in an element, and the focus back on what has the same id; what was unfolded stays so.
export function refill(parent, ...children) {
  const focused = parent.contains(document.activeElement) ? document.activeElement.id : "";
  const open = [...parent.querySelectorAll("details[open][id]")].map((one) => one.id);
  parent.replaceChildren(...children.flat(9).filter(Boolean));
  for (const id of open) document.getElementById(id)?.setAttribute("open", "");
  if (focused) document.getElementById(focused)?.focus({ preventScroll: true });
}

export function say(text) {
  document.getElementById("message").textContent = text;
}

// Says what went wrong with a request; anything else is a fault of ours, for the console.
export function fail(error) {
  if (!(error instanceof Failure)) throw error;
  say(error.message);
}

export function download(name, text) {
  const link = el("a", { href: URL.createObjectURL(new Blob([text], { type: "text/plain;charset=utf-8" })), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}
