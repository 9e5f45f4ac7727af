// Elements of pages. Nothing here asks a server, so that a page which is a file can have it too.

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

// A frame for content that may be wider than the page; it is scrolled sideways, also by keys.
export const scrollable = (label, content, more = {}) =>
  el("div", { class: "scroll", tabindex: 0, role: "group", "aria-label": label, ...more }, content);

export const icon = (name) => symbol(`icon-${name.replaceAll(" ", "-")}`, "", "icon", "0 0 16 16");
export const hidden = (text) => el("span", { class: "unseen" }, text); // for those who listen
export const sentence = (text) => text.charAt(0).toUpperCase() + text.slice(1);
export const many = (n, thing) => `${n} ${thing}${n === 1 ? "" : "s"}`;

// Puts new content in an element, and the focus back on what has the same id; what was unfolded stays so.
export function refill(parent, ...children) {
  const focused = parent.contains(document.activeElement) ? document.activeElement.id : "";
  const open = [...parent.querySelectorAll("details[open][id]")].map((one) => one.id);
  parent.replaceChildren(...children.flat(9).filter(Boolean));
  for (const id of open) document.getElementById(id)?.setAttribute("open", "");
  if (focused) document.getElementById(focused)?.focus({ preventScroll: true });
}

export function download(name, text) {
  const link = el("a", {
    href: URL.createObjectURL(new Blob([text], { type: "text/plain;charset=utf-8" })),
    download: name,
  });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}
