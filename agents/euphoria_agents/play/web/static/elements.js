// Elements of pages. Nothing here needs a server, so pages that are files can use it too. A text may be a list, in which amounts
// of things with a symbol stand apart as { n, symbol, words }.

import { t } from "./texts.js";

function element(name, props, children) {
  const made = document.createElement(name);
  for (const [name, value] of Object.entries(props)) {
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else if (value === true) made.setAttribute(name, "");
    else if (value !== false && value != null) made.setAttribute(name, Array.isArray(value) ? plain(value) : value);
  }
  const shown = children.flat(9).filter((child) => child != null && child !== false);
  made.append(...shown.map((child) => child.words ?? child));
  return made;
}

const isProps = (one) => one?.constructor === Object && !("words" in one);
// The words of a text.
export const plain = (text) =>
  [text]
    .flat()
    .map((part) => part.words ?? part)
    .join("");

// Elements by their tags, such as `tag.li({ class: "new" }, "text", tag.b("more"))`; null and false are left out.
export const tag = new Proxy(
  {},
  {
    get:
      (_, name) =>
      (first, ...rest) =>
        isProps(first) ? element(name, first, rest) : element(name, {}, [first, ...rest]),
  },
);

const SVG = "http://www.w3.org/2000/svg";

export function svg(tag, attributes, ...children) {
  const made = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

// A symbol of symbols.svg; without a label screen readers skip it.
export function symbol(name, label, kind, viewBox) {
  const told = label ? { role: "img", "aria-label": label } : { "aria-hidden": "true" };
  return svg("svg", { class: kind, viewBox, ...told }, svg("use", { href: `#${name}` }));
}

// A frame for wide content, which scrolls sideways, also by keys.
export const scrollable = (label, content, more = {}) =>
  tag.div({ class: "scroll", tabindex: 0, role: "group", "aria-label": label, ...more }, content);

export const icon = (name) => symbol(`icon-${name.replaceAll(" ", "-")}`, "", "icon", "0 0 16 16");
export const hidden = (text) => tag.span({ class: "unseen" }, text); // for screen readers
// The name of a player in a text, which is not translated unless the game gave it; the same as an element; and several names.
const GIVEN = /^(?:You|Player (\d+))$/;
export function called(name) {
  const n = GIVEN.exec(name)?.[1];
  return n ? t("Player {n}", { n }) : name === "You" ? t("You") : name;
}
export const named = (name) => (GIVEN.test(name) ? called(name) : tag.bdi(name));
export const nameList = (names) => names.flatMap((name, k) => [k > 0 && ", ", named(name)]);
export const sentence = (text) =>
  Array.isArray(text)
    ? [sentence(text[0]), ...text.slice(1)]
    : text.words
      ? text
      : text.charAt(0).toUpperCase() + text.slice(1);

// A row of elements.
export const row = (...inside) => tag.div({ class: "row" }, ...inside);

export const button = (id, text, onclick, { off = false, kind = "", label = null } = {}) =>
  tag.button({ type: "button", id, class: kind, disabled: off, "aria-label": label, title: label, onclick }, text);

// A select element; options: [value, text].
export const select = (id, label, options, value, onchange) =>
  tag.select(
    { id, "aria-label": label, onchange: (event) => onchange?.(event.target.value) },
    options.map(([key, text]) => tag.option({ value: key, selected: String(key) === String(value ?? "") }, text)),
  );

// Tabs, each [key, title]; `open`: the key of the open one; `panel(key)`: the id of its panel; `turn(key)` opens one.
export const tabList = (label, tabs, open, panel, turn) =>
  tag.div(
    { class: "tabs", role: "tablist", "aria-label": label },
    tabs.map(([key, title]) =>
      tag.button(
        {
          type: "button",
          role: "tab",
          id: `tab-${key}`,
          "aria-selected": String(key === open),
          "aria-controls": panel(key),
          onclick: () => turn(key),
        },
        title,
      ),
    ),
  );

// Replaces the content of an element; focus and open details stay, matched by id.
export function render(parent, ...children) {
  const focused = parent.contains(document.activeElement) ? document.activeElement.id : "";
  const open = [...parent.querySelectorAll("details[open][id]")].map((one) => one.id);
  parent.replaceChildren(...children.flat(9).filter(Boolean));
  for (const id of open) document.getElementById(id)?.setAttribute("open", "");
  if (focused) document.getElementById(focused)?.focus({ preventScroll: true });
}

export function download(name, text) {
  const link = tag.a({
    href: URL.createObjectURL(new Blob([text], { type: "text/plain;charset=utf-8" })),
    download: name,
  });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}
