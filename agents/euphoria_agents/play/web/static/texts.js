// Translates the pages, which are written in English. A catalogue, such as texts.es.json, has a translation for each text. In its
// keys {n} stands for a number, {who} for the name of a player, {whos} for several names, {word} for a word and any other
// {part} for a text that are translated in turn. Needs no server, so pages that are files can use it too.

const KEPT = 5000; // texts that are remembered
const ATTRIBUTES = ["title", "aria-label", "placeholder", "label", "aria-valuetext"];
const NOT_TRANSLATED = "bdi, code, script, style, textarea, [translate=no]";
const NUMBER = /^[-+−]?\d+(\.\d+)?$/;
const NAME = /^(?!.* and )([^;:,·]|:(?! )){1,30}$/;
const [DIVIDED, DIVIDES] = [/[;·]|\.$/, /[;·:]|\.$/]; // a text with such a sign fits only keys that have one too

export const untranslated = new Set(); // texts that the catalogue does not have
const known = new Map(); // text -> its translation, null if there is none
let language = "en";
let whole = null; // Map of the keys without parts; null: the pages are in English
let patterns = []; // the keys with parts: first those that begin with words, and those with the most words

// Shows the pages in another language from now on. Raises an error that names the entry which is wrong.
export function useCatalogue(entries, code) {
  const keys = Object.entries(entries).map(compile);
  language = code;
  patterns = keys.filter((one) => one.parts.length).sort((a, b) => b.weight - a.weight);
  whole = new Map(keys.filter((one) => !one.parts.length).map((one) => [one.key, one.said]));
  known.clear();
  document.documentElement.lang = code;
  translateTree(document.documentElement);
  const observer = new MutationObserver((changes) => {
    for (const { type, target, addedNodes } of changes)
      for (const node of type === "childList" ? addedNodes : [target]) translateTree(node);
    observer.takeRecords(); // of the translations
  });
  const what = { childList: true, subtree: true, characterData: true, attributeFilter: ATTRIBUTES };
  observer.observe(document.documentElement, what);
}

function compile([key, said]) {
  if (typeof said !== "string" || !said) throw new Error(`"${key}" has no translation`);
  const pieces = key.split(/\{(\w+)\}/);
  const [words, parts] = [pieces.filter((_, k) => k % 2 === 0), pieces.filter((_, k) => k % 2)];
  for (const [, part] of said.matchAll(/\{(\w+)\}/g))
    if (!parts.includes(part)) throw new Error(`"${key}" has no part {${part}}`);
  return { key, said, words, parts, weight: (words[0] ? 1000 : 0) + words.join("").length };
}

// Translates the texts and the labels of a node and all in it.
export function translateTree(root) {
  if (!whole || (root.closest ? root : root.parentElement)?.closest(NOT_TRANSLATED)) return;
  const skip = (node) => (node.matches?.(NOT_TRANSLATED) ? NodeFilter.FILTER_REJECT : NodeFilter.FILTER_ACCEPT);
  const walker = document.createTreeWalker(root, NodeFilter.SHOW_ELEMENT | NodeFilter.SHOW_TEXT, skip);
  for (let node = root; node; node = walker.nextNode()) {
    const texts = node.getAttributeNode ? ATTRIBUTES.map((name) => node.getAttributeNode(name)) : [node];
    for (const text of texts.filter(Boolean)) {
      const said = translate(text.nodeValue);
      if (said !== text.nodeValue) text.nodeValue = said;
    }
  }
}

// A text in the language of the page; the same text if the catalogue does not have it, or if it is translated already.
export function translate(text) {
  if (!whole) return text;
  const [, before, inner, after] = /^(\s*)(.*?)(\s*)$/s.exec(text);
  if (!inner) return text;
  const english = inner.replace(/\s+/g, " ");
  const found = lookUp(english);
  if (found === null && untranslated.size < KEPT) untranslated.add(english);
  return found === null ? text : before + found + after;
}

function lookUp(text) {
  if (!/\p{L}/u.test(text)) return text.replace(/\d+\.\d+/g, (n) => Number(n).toLocaleString(language));
  if (!known.has(text)) {
    if (known.size > KEPT) known.clear();
    const found = find(text) ?? otherwise(text);
    known.set(text, found);
    if (found !== null && !known.has(found)) known.set(found, found);
  }
  return known.get(text);
}

function find(text) {
  if (whole.has(text)) return whole.get(text);
  const divided = DIVIDED.test(text);
  for (const key of patterns) {
    if (!text.startsWith(key.words[0]) || (divided && !DIVIDES.test(key.key))) continue;
    const found = fit(text.slice(key.words[0].length), key, 0);
    if (found) return key.said.replace(/\{(\w+)\}/g, (_, part) => found[key.parts.indexOf(part)]);
  }
  return null;
}

// The translation of a text that begins with a small letter where the key has a capital, or the other way round.
function otherwise(text) {
  const small = text[0] === text[0].toLowerCase();
  const change = (one, up) => (up ? one[0].toUpperCase() : one[0].toLowerCase()) + one.slice(1);
  const found = find(change(text, small));
  return found && change(found, !small);
}

// The translations of the parts of a key from number `k` on, if the text fits them and the words between; otherwise null.
function fit(text, key, k) {
  const next = key.words[k + 1];
  const last = k === key.parts.length - 1;
  if (last && !text.endsWith(next)) return null;
  for (let at = last ? text.length - next.length : text.indexOf(next, 1); at > 0; at = text.indexOf(next, at + 1)) {
    const part = translatePart(key.parts[k], text.slice(0, at));
    const rest = part === null ? null : last ? [] : fit(text.slice(at + next.length), key, k + 1);
    if (rest) return [part, ...rest];
    if (last) return null;
  }
  return null;
}

function translatePart(part, text) {
  if (/^n\d?$/.test(part)) return NUMBER.test(text) ? lookUp(text) : null;
  if (part.startsWith("whos")) {
    const names = text.split(/, | and /).map((one) => translatePart("who", one));
    return names.includes(null) ? null : new Intl.ListFormat(language).format(names);
  }
  if (part.startsWith("who"))
    return NAME.test(text) ? (/^(you|player \d+)$/i.test(text) && lookUp(text)) || text : null;
  return part.startsWith("word") && text.includes(" ") ? null : lookUp(text);
}
