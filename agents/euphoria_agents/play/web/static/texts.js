// The texts of the pages in their language. A text is written in English, and is then the key of its translation in a catalogue,
// such as texts.es.json. What the game tells comes from the server, in the language of the page. Needs no server, so pages that
// are files can use it too.

const ATTRIBUTES = ["title", "aria-label", "placeholder", "label", "aria-valuetext"];
const NOT_TRANSLATED = "bdi, code, script, style, textarea, [translate=no]";

let catalogue = new Map(); // empty: the pages are in English

// Shows the pages in another language from now on.
export function useCatalogue(entries, code) {
  catalogue = new Map(Object.entries(entries));
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

// A text in the language of the page. {name} in its key stands for the part of that name; if a part is a list, the text is one too.
export function t(key, parts = null) {
  if (!parts) return catalogue.get(key) ?? key;
  const found = (catalogue.get(key) ?? key).split(/\{(\w+)\}/).map((one, k) => (k % 2 ? parts[one] : one));
  return found.some(Array.isArray) ? found.flat() : found.join("");
}

// The same for a number, {n}, of things.
export const plural = (n, one, many) => t(n === 1 ? one : many, { n });

// Translates the whole texts and labels of a node and all in it; others stay, among them those that are translated already.
export function translateTree(root) {
  if (!catalogue.size || (root.closest ? root : root.parentElement)?.closest(NOT_TRANSLATED)) return;
  const skip = (node) => (node.matches?.(NOT_TRANSLATED) ? NodeFilter.FILTER_REJECT : NodeFilter.FILTER_ACCEPT);
  const walker = document.createTreeWalker(root, NodeFilter.SHOW_ELEMENT | NodeFilter.SHOW_TEXT, skip);
  for (let node = root; node; node = walker.nextNode()) {
    const texts = node.getAttributeNode ? ATTRIBUTES.map((name) => node.getAttributeNode(name)) : [node];
    for (const text of texts.filter(Boolean)) {
      const english = text.nodeValue.trim();
      const said = english && find(english.split(/\s+/).join(" "));
      if (said) text.nodeValue = text.nodeValue.replace(english, () => said);
    }
  }
}

// The translation of a text, which may begin with a small letter where the key has a capital, or the other way round.
function find(text) {
  const [first, rest] = [text[0], text.slice(1)];
  const small = first === first.toLowerCase();
  const other = catalogue.get((small ? first.toUpperCase() : first.toLowerCase()) + rest);
  const said = other && (small ? other[0].toLowerCase() : other[0].toUpperCase()) + other.slice(1);
  return catalogue.get(text) ?? said;
}
