// Names of players in texts of the server that say "player 2".

// The verb of a line that is about oneself: "You chooses" is no English.
const SECOND = { does: "do", has: "have", is: "are" };
const second = (verb) => SECOND[verb] ?? (/(ss|sh|ch|x)es$/.test(verb) ? verb.slice(0, -2) : verb.replace(/s$/, ""));

export function named(text, seats) {
  const name = (k) => seats[k]?.name ?? `player ${k}`;
  return text
    .replace(/\bplayer (\d)('s)?/gi, (_, k, of) => (of && name(k) === "You" ? "your" : name(k) + (of ?? "")))
    .replace(/\bYou ([a-z]+s)\b/g, (_, verb) => `You ${second(verb)}`);
}
