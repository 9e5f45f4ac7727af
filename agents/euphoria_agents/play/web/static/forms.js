// The parts that several forms have in common: the options of the rules, the agents, and names for all spaces.

import { tag } from "./common.js";

function ruleLine(prefix, [key, rule]) {
  const shared = { id: `${prefix}-${key}`, name: key };
  const input =
    rule.type === "flag"
      ? tag.input({ ...shared, type: "checkbox", checked: rule.value })
      : tag.input({ ...shared, type: "number", min: rule.low, max: rule.high, value: rule.value });
  return tag.label(input, rule.help);
}

export const ruleLines = (facts, prefix = "rule") =>
  tag.div(
    { class: "options" },
    Object.entries(facts.rules).map((one) => ruleLine(prefix, one)),
  );

// The options that are not as they usually are.
export function readRules(facts, prefix = "rule") {
  const found = {};
  for (const [key, rule] of Object.entries(facts.rules)) {
    const input = document.getElementById(`${prefix}-${key}`);
    const value = rule.type === "flag" ? input.checked : Number(input.value);
    if (value !== rule.value) found[key] = value;
  }
  return found;
}

const STRENGTHS = ["very easy", "easy", "medium", "hard", "very hard", "hardest"];

// The agents, the weakest first; those of somebody's own come last.
export function opponents(facts) {
  const place = (spec) => STRENGTHS.indexOf(facts.agent_words[spec].split(":")[0]);
  const worth = (spec) => (place(spec) < 0 ? STRENGTHS.length : place(spec));
  return [...facts.agents].sort((a, b) => worth(a) - worth(b)).map((spec) => [spec, facts.agent_words[spec]]);
}

export function spaceTitle(facts, name) {
  const region = facts.regions.find((one) => name.startsWith(`${one.faction}_`));
  const title = (facts.spaces[name] ?? facts.tiles[name])?.title ?? name.replaceAll("_", " ");
  if (!region) return title;
  const rest = title.toLowerCase().replace(region.faction, "").trim();
  return `${region.title}: ${rest}`;
}
