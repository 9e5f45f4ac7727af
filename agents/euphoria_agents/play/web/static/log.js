// The log of a game: a line for each decision, with what happened and whose turn it ends with.

import { badge } from "./board.js";
import { sentence, tag } from "./elements.js";
import { withSymbols } from "./moves.js";
import { t } from "./texts.js";

const KEPT = 200; // lines
const RECENT = 4; // lines for those who wait

// What happened last.
export function recent({ log, made }) {
  const lines = log.map(({ text }, k) => [text, made[k]]).filter(([text]) => text);
  return tag.ul(
    { class: "recent" },
    lines.slice(-RECENT).map(([text, by]) => tag.li(badge(by), tag.span(withSymbols(text)))),
  );
}

// Shows the log in a list, which gets the lines that it does not have.
export class Log {
  #next = 0; // the decision of the next line

  constructor(list) {
    this.list = list;
  }

  // `since`: the decision after which lines are new; `moving`: lines appear with what they tell of.
  draw({ log, made, log_from: first }, since, moving) {
    if (this.#next < first || this.#next > first + log.length) this.list.replaceChildren();
    if (!this.list.children.length) this.#next = first;
    const line = (one, k) => this.#line(one, made[this.#next + k - first], this.#next + k, moving && k);
    this.list.append(...log.slice(this.#next - first).map(line));
    this.#next = first + log.length;
    while (this.list.children.length > KEPT) this.list.firstChild.remove();
    for (const one of this.list.children) one.classList.toggle("new", Number(one.dataset.decision) > since);
  }

  #line({ text, turn, who }, by, decision, late) {
    const made = tag.li(
      { class: `seat${by}${late === false ? "" : " told"}`, "data-decision": decision, hidden: !text && !turn },
      badge(by),
      tag.span(withSymbols(text)),
      turn && tag.b({ class: "turn" }, t("Turn {n}: {who}", { n: turn, who: sentence(who) })),
    );
    made.style.setProperty("--k", Math.min(late, 8));
    return made;
  }
}
