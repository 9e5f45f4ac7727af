// Advice in words: what a player should see, the adviser's move, what it does, and why.

import { tag } from "./elements.js";
import { KNOWLEDGE_LIMIT, checkSum } from "./seats.js";
import { t } from "./texts.js";

const HIGH = 4; // the lowest number of a high die

// Reasons for moves: the first that fits what the move gives, or its notation.
const GIVES = {
  win: "It wins the game.",
  star: "Stars win the game.",
};
const REASONS = [
  [/^place .*_site_/, "When the market is built, each of its builders places a star and is spared its penalty."],
  [/^place .*_tunnel_end/, "It is free, and gives three goods at once."],
  [/^place .*_tunnel/, "Resources build markets, and artifacts buy stars."],
  [/^place . tank_/, "One more worker means more placements before you have to take workers back."],
  [/^place .*_(bar|lounge)/, "Artifacts and resources buy stars."],
  [/^place . generator/, "Energy pays for the tunnel of Euphoria, and three of it for another worker."],
  [/^place . aquifer/, "Water pays for the tunnel of Subterra, and three of it for another worker."],
  [/^place . farm/, "Food pays for the tunnel of the Wastelands, and for taking workers back."],
  [/^place . cloud_mine/, "Bliss pays in Icarus, and for taking workers back."],
  [/^retrieve (food|bliss|energy)/, "With more morale you may hold more artifacts."],
  [/^retrieve free/, "Workers on the board do nothing more for you until you take them back."],
  [/^take/, "The more workers you take back at once, the fewer turns that costs you."],
  [
    /^choose \D/,
    "An active recruit helps you from now on, and lets you profit from the track of its faction. A hidden one waits until that track or the tunnel reaches the eye.",
  ],
  [/^gain (gold|stone|clay)/, "Resources build markets."],
  [/^gain artifact/, "Three artifacts or a pair buy a star."],
  [/^star .*_market_/, "A star on a market frees you from its penalty."],
];

function reasons({ notation, gives }, p, facts) {
  const given = new Map(gives);
  const factions = p.recruits.filter((one) => one.active).map((one) => facts.recruits[one.name].faction);
  const kind = Object.keys(GIVES).find((one) => given.has(one));
  return [
    GIVES[kind] ?? REASONS.find(([move]) => move.test(notation))?.[1],
    given.get("knowledge") < 0 && "Lower knowledge keeps you away from 16.",
    gives.some(([what, faction]) => what === "allegiance" && factions.includes(faction)) &&
      "It moves the track of a faction of yours.",
  ];
}

// What is true of a player's workers when a turn begins.
function situation(p) {
  const sum = checkSum(p);
  const high = p.workers.filter((face) => face >= HIGH).length;
  const room = KNOWLEDGE_LIMIT - sum;
  return [
    !p.workers.length && "You have no worker in your hand.",
    high > 1 && t("You have {n} workers of 4 or more in your hand: place them before you roll others.", { n: high }),
    p.on_board > 0 &&
      room <= 6 &&
      room > 0 &&
      t("Your knowledge and workers add up to {sum}: a further {n} reaches 16, and costs a worker.", { sum, n: room }),
  ];
}

// Paragraphs about a decision of a player and the move that the adviser would make.
export function adviceInWords(facts, { view, moves }, seat, move) {
  const p = view.players[seat];
  const opens = moves.some(({ notation }) => /^(place|retrieve)/.test(notation));
  const does = /^(choose|use) /.test(move.notation)
    ? [] // its row has the words of the card
    : [
        move.cost && t("It costs {a}.", { a: move.cost }),
        move.gain && t("It gives {a}.", { a: move.gain }),
        move.risk && t("The risk: {a}.", { a: move.risk }),
      ];
  const said = [
    ...(opens ? situation(p) : []),
    tag.b(t("Advice: {a}.", { a: move.text })),
    ...does,
    ...reasons(move, p, facts),
  ];
  return said.filter(Boolean).map((one) => tag.p(typeof one === "string" ? t(one) : one));
}
