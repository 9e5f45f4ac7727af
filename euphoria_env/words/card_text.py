"""Cards and spaces in words, made from the tables that the engine interprets (`cards`)."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby

from euphoria_env.board import (
    AREAS,
    ARTIFACT_MARKETS,
    ARTIFACTS,
    COMMODITIES,
    GAIN_KNOWLEDGE,
    GAIN_MORALE,
    KNOWLEDGE_LIMIT,
    MARKET_SET,
    MARKETS,
    MAX_WORKERS,
    MINER_END,
    RESOURCES,
    SLOT_SET,
    SLOTS,
    SPACES,
    TANK,
    TANK_SET,
    TERRITORIES,
    TUNNEL_SET,
    TUNNELS,
    WORKERS_TO_BUILD,
)
from euphoria_env.cards.recruits import ANY_MARKET, RECRUIT_NAMES, RECRUITS, recruit_number
from euphoria_env.cards.spaces import SPACE_COST, SPACE_PROGRAM
from euphoria_env.cards.tiles import FACE_PENALTY, TILE_COST, TILES
from euphoria_env.cards.vocabulary import CHOICES, Ability, Effect, Event, Price, When
from euphoria_env.json_reader import shown
from euphoria_env.words.names import amount, faction, gains, listed, signed, space_name, territory_name, title, units

PAIR_SPACES = (*ARTIFACT_MARKETS, "wind_salon")
THREE_OR_PAIR = "3 artifacts or a pair"
A_GOOD = "a commodity or resource"
AREA_SUMS = (("1 to 4", 1, 0), ("5 to 8", 1, -1), ("9 or more", 2, 1))  # of faces: units, knowledge; 0: allegiance (R6.1)
RETRIEVING = "pay 1 food or 1 bliss to gain 2 morale, or retrieve for free and lose 1 morale"  # R3.4
CHECK = (  # R5.3
    f"when you roll, add your knowledge and all your available workers; at {KNOWLEDGE_LIMIT} or more "
    "you lose the highest of them (at most one a turn)"
)
HAND_LIMIT = "you may hold as many artifacts as you have morale; you discard any beyond that"  # R5.6
_NEEDED = {int(n): [str(k) for k, needed in enumerate(WORKERS_TO_BUILD) if needed == n] for n in WORKERS_TO_BUILD[2:]}
NEEDED = ", ".join(  # R9.2
    f"{n} workers with {listed(players, 'or')} players" if k == 0 else f"{n} with {listed(players, 'or')}"
    for k, (n, players) in enumerate(_NEEDED.items())
)
Step = tuple[int, int, int]

# The penalty of each tile for a player without a star on it (R12), in a few words.
PENALTY_TEXTS = {
    "academy_of_mandatory_equality": "your recruits' abilities are off",
    "apothecary_of_productive_dreams": "you may not place in Icarus, the Cloud Mine included",
    "arena_of_peaceful_conflict": "at most one of your workers in each commodity area",
    "cafeteria_of_nameless_meat": "retrieving for free costs you 1 more morale",
    "courthouse_of_hasty_judgment": "you may not pay a pair instead of 3 artifacts, the Wind Salon included",
    "fountain_of_wishful_thinking": "you may place only one worker per turn",
    "laboratory_of_selective_genetics": "you gain no worker while you have 2 or 3",
    "lounge_of_opulent_frugality": "you may not place on a site where another player has a worker",
    "plaza_of_immortalized_humility": "you may not place on a built market without your star",
    "registry_of_personal_secrets": "you have no allegiance bonuses of steps 2 and 5",
    "spa_of_fleeting_pleasure": "you may not bump your own workers",
    "theater_of_revelatory_propaganda": "each star you place, except on the Theater itself: gain 1 knowledge",
} | {TILES[int(tile)]: f"each {face} you roll: lose {A_GOOD}" for face, tile in enumerate(FACE_PENALTY) if face}
assert set(PENALTY_TEXTS) == set(TILES)

_EVENTS = {
    Event.PLACED: "When you place on {at}",
    Event.BUMPED: "When you bump another player's worker{at}",
    Event.BUMPING: "When you bump another player's worker",
    Event.GETTING_BUMPED: "When anybody bumps your worker",
    Event.OTHERS_ROLLED: "After another player's roll and knowledge check",
    Event.LOST_WORKER: "When you lose a worker to the knowledge check",
    Event.NEW_WORKER: "When you gain a worker, after its roll",
    Event.BUILT: "When anybody builds a market",
    Event.STAR: "Whenever you place a star, anywhere",
    Event.RETRIEVING: "When you retrieve, before the roll",
    Event.BEFORE_ROLL: "When you retrieve",
    Event.RETRIEVED: "After you retrieve",
}
_CONDITIONS = {
    When.ALWAYS: "",
    When.NO_ARTIFACT: " with no artifact in hand",
    When.NO_RESOURCE: " with no resource",
    When.SAME_FACE: " beside a worker that shows the same number",
    When.ALONE: ", if your worker is alone there",
    When.HIGHEST: ", if your worker is alone there or higher than every other",
    When.LOWEST: ", if your worker is alone there or lower than every other",
    When.WITHOUT_BUMPING: " without bumping a worker",
    When.STAR_PLACED: ", after you place its star",
    When.PAID_GOLD: ", if you paid gold",
    When.PAID_ARTIFACT: ", if you paid an artifact",
    When.PAID_ONE_ARTIFACT: ", if you paid 1 artifact",
    When.PAID_FOOD_FOR_BLISS: ", if you paid food for bliss",
    When.TOOK_RESOURCE: ", if you take its resource and have no artifact in hand",
    When.BUMPED_HIGHER: ", if it was higher than yours",
    When.BUMPED_NO_SUBTERRAN: ", if its owner has no active Subterran recruit",
    When.ROLLER_SHOWS_PAIR: ", if at least two of their available workers show the same number",
    When.FREE_RETRIEVAL: " for free, before the roll",
    When.ALL_FROM_SUBTERRA: ", if all those workers stood in Subterra",
}
_PAID = {
    When.PAID_GOLD: "If you pay gold for {at}",
    When.PAID_ARTIFACT: "If you pay an artifact for {at}",
    When.PAID_ONE_ARTIFACT: "If you pay 1 artifact for {at}",
    When.PAID_FOOD_FOR_BLISS: "If you pay food for bliss at {at}",
}
# The price of an optional ability besides markers: as a cost, and as the action you may take.
PRICES = {
    Price.NONE: "",
    Price.ENERGY: "1 energy",
    Price.BLISS: "1 bliss",
    Price.GOLD_TO_BUMPED: "1 gold to its owner",
    Price.ARTIFACT: "1 artifact",
    Price.PLACED_WORKER: "that worker",
    Price.RETRIEVED_WORKER: "one of those workers",
}
_PAYING = {
    Price.GOLD_TO_BUMPED: "give its owner 1 gold",
    Price.ARTIFACT: "discard 1 artifact",
    Price.PLACED_WORKER: "sacrifice that worker",
    Price.RETRIEVED_WORKER: "sacrifice one of those workers",
}
_EFFECTS = {
    Effect.TUNNEL_CHOICE: "its resource or 1 artifact",
    Effect.MINER: "that tunnel's miner +1",
    Effect.ICARITE_BONUS: "",
    Effect.NEW_WORKER: "1 worker",
    Effect.AREA: "by the sum of the faces there",
    Effect.SET_FACE: "a face set instead of rolled",
    Effect.PAY_BLISS: "",
    Effect.SACRIFICE_PLACED: "",
    Effect.SACRIFICE_RETRIEVED: "",
    Effect.BUILDER: "morale +2 if you helped, otherwise knowledge -2",
    Effect.BARGAIN: "1 energy and either knowledge -1 or morale +1; a book gives 2 energy, knowledge -2 and morale +2 instead",
    Effect.FUTURE: "2 artifacts, of which 1 is discarded",
}
_SAID_WITH_AMOUNTS = {Effect.MORALE, Effect.KNOWLEDGE, Effect.GOODS, Effect.CHOOSE, Effect.DRAW, Effect.TUNNEL_RESOURCE}
_SAID_WITH_AMOUNTS |= {Effect.ADVANCE, Effect.STAR_IN_TERRITORY, Effect.STAR_IN_REGION}  # in `step_words`
# Effects on others, as sentences of their own.
_TO_OTHERS = {
    Effect.TAKE_FACE: "that worker takes the number of yours and is not rolled, unless its owner has set it",
    Effect.BUMPED_KNOWLEDGE: "the owner of that worker gains 1 knowledge",
    Effect.OTHERS_THERE: "every other player with a worker there gains 1 knowledge",
    Effect.OPPONENTS_DRAW: "every opponent draws 1 artifact",
    Effect.OPPONENTS_BLISS: "every opponent gains 1 bliss",
}
# Your action, where it is more than gaining the result of `step_words`.
_DOING = {
    Effect.TUNNEL_CHOICE: "gain its resource or draw 1 artifact",
    Effect.MINER: "advance its miner by 1",
    Effect.BUILDER: "gain 2 morale if you helped, otherwise lose 2 knowledge",
    Effect.BARGAIN: "gain 1 energy and either lose 1 knowledge or gain 1 morale; "
    "a book instead gives you 2 energy and 2 morale, and you lose 2 knowledge",
    Effect.FUTURE: "draw 2 artifacts and discard 1 of those two",
}
_SETTING = {
    Event.GETTING_BUMPED: "set that worker to any number instead of rolling it",
    Event.BEFORE_ROLL: "set one of those workers to any number; you roll the others in the same batch",
}
# Abilities without a row in the tables, by the words of `Recruit.also`.
_ALSO = {
    "retrieves_for_energy": "You may retrieve for 1 energy: you then lose 1 knowledge and gain 1 morale instead of 2",
    "site_for_any_resource": "You may pay for a construction site with any resource",
    "places_new_worker": "When you gain a worker, after its roll: you may place a worker of its number at once, "
    "as an extra placement",
    "lost_morale_loses_knowledge": "For each morale you lose or pay: lose 1 knowledge",
    "draws_two_for_one": "Once per turn, when you draw an artifact: you may draw 2 instead; you then show your hand, "
    "and if it holds a pair every opponent draws 1",
    "food_for_bliss": "You may pay food for bliss",
    "icarus_costs_morale": "Icarus and the Cloud Mine cost you 1 more morale",
    "site_for_artifact": "You may pay for a construction site with an artifact",
    "draws_three_for_one": "Once per turn, when you draw an artifact: you may raise your knowledge by 1 to draw 3 instead, "
    "then discard 2 from your hand",
    "ark_for_one_artifact": "You may pay 1 artifact for the Ark of Fractured Memories",
    "gained_knowledge_gains_morale": "For each knowledge you gain or pay: gain 1 morale",
    "bliss_loses_knowledge": "When you retrieve with bliss: you may lose 2 knowledge instead of gaining 2 morale",
    "bliss_for_market_resource": "You may pay 1 bliss for the resource in the cost of a built market",
    "tunnel_ends_for_knowledge": "You may use an open tunnel end without an active recruit of its faction, "
    "if you raise your knowledge by 2",
    "bumping_in_tunnel_for_knowledge": "When you bump another player's worker from a tunnel: "
    "you may raise your knowledge by 1 instead of paying the tunnel's cost",
}
# How often or when exactly an ability acts, where its row cannot express it.
_REMARKS = {
    "ben_the_ludologist": "once per roll",
    "brian_the_viticulturist": "once per placement",
    "dr_nakagawa_the_tribute": "before the market is built",
}
assert {*_EVENTS} == {*Event} and {*_CONDITIONS} == {*When} and {*PRICES} == {*Price}
assert {*_EFFECTS, *_TO_OTHERS} == {effect for effect in Effect if effect not in _SAID_WITH_AMOUNTS}
assert {*_ALSO} == {word for recruit in RECRUITS for word in recruit.also} and {*_REMARKS} <= {*RECRUIT_NAMES}

_PLACES = (
    (TUNNEL_SET, "a tunnel"),
    (TANK_SET, "the Worker Tank"),
    (SLOT_SET, "a construction site"),
    (ANY_MARKET, "a built market or an artifact market"),
    (MARKET_SET, "a built market"),
)


def recruit_words(name: str) -> str:
    """The abilities of a recruit, in a sentence or several.

    Raises:
        ValueError: no such recruit.
    """
    try:
        recruit = RECRUITS[recruit_number(name)]
    except ValueError:
        raise ValueError(f"{shown(name)} is not a recruit") from None
    sentences = [*(_ALSO[word] for word in recruit.also), *map(_ability, recruit.abilities)]
    remark = f" ({_REMARKS[name]})" if name in _REMARKS else ""
    return ". ".join(sentences) + remark + "."


def _ability(ability: Ability) -> str:
    """An ability: when it acts, what you may pay, what you do, and what happens to others."""
    occasion = _PAID.get(ability.when) or _EVENTS[ability.on] + _CONDITIONS[ability.when]
    doing = _doing(step for step in ability.do if step[0] not in _TO_OTHERS and step[0] != Effect.SET_FACE)
    doing = doing or _SETTING.get(ability.on, "")
    others = "; ".join(_TO_OTHERS[Effect(step[0])] for step in ability.do if step[0] in _TO_OTHERS)
    if ability.may:
        paying = _paying(ability)
        doing = f"you may {paying} to {doing}" if paying else f"you may {doing}"
        others = others and f"if you do, {others}"
    return f"{occasion.format(at=_places(ability))}: " + "; ".join(filter(None, (doing, others)))


def _paying(ability: Ability) -> str:
    """Your payment for an ability; "" if it costs nothing."""
    parts = [f"pay {ability.morale} morale"] if ability.morale else []
    parts += [f"raise your knowledge by {ability.knowledge}"] if ability.knowledge else []
    parts += [_PAYING.get(ability.price, f"pay {PRICES[ability.price]}")] if ability.price != Price.NONE else []
    return listed(parts)


def _doing(steps: Iterable[Step]) -> str:
    """Your action in steps of a card or a space: "gain 4 food and 1 resource"."""
    said = filter(None, map(_step_done, steps))
    verbs = groupby((text.partition(" ") for text in said), key=lambda parts: parts[0])
    return listed(f"{verb} {listed(rest for _, _, rest in run)}" for verb, run in verbs)


def _step_done(step: Step) -> str:
    """Your action in one step, beginning with a verb; "" if another part of the text has it."""
    op, a, _ = (int(value) for value in step)
    if op in (Effect.MORALE, Effect.KNOWLEDGE):
        return f"{'gain' if a > 0 else 'lose'} {abs(a)} {Effect(op).name.lower()}"
    if op == Effect.CHOOSE and CHOICES[a] >> GAIN_KNOWLEDGE & 1:
        return "lose 1 knowledge or gain " + gains(1, CHOICES[a] & ~(1 << GAIN_KNOWLEDGE))
    if op == Effect.CHOOSE and CHOICES[a] >> GAIN_MORALE & 1:
        return f"gain {gains(1, CHOICES[a] & ~(1 << GAIN_MORALE))} or 1 morale"
    if op == Effect.ADVANCE:
        return f"advance the {faction(a)} allegiance by 1"
    if op == Effect.STAR_IN_TERRITORY:
        return f"place {step_words(step)} (if it has room)"
    if op == Effect.STAR_IN_REGION:
        territory, market = step_words(step).split(" or ")
        return f"place {territory} (if it has room) or {market} that lacks your star"
    said = step_words(step)
    return _DOING.get(Effect(op), said and f"{'draw' if op == Effect.DRAW else 'gain'} {said}")


def condition_words(when: When) -> str:
    """The condition of an ability, as a clause of its own."""
    return _CONDITIONS[when].removeprefix(",").strip()


def _places(ability: Ability) -> str:
    """The place where an ability acts; nothing if everywhere."""
    if ability.at == -1:
        return ""
    left, names = ability.at, []
    for spaces, name in _PLACES:
        if left & spaces == spaces:
            names.append(name)
            left &= ~spaces
    names += [space_name(SPACES[s]) for s in range(len(SPACES)) if left >> s & 1]
    return (" from " if ability.on == Event.BUMPED else "") + listed(names, "or")


def step_words(step: Step) -> str:
    """The result of a step of a card or a space, wherever it acts; "" if another part of the text has it."""
    op, a, b = (int(value) for value in step)
    if op == Effect.MORALE:
        return signed("morale", a)
    if op == Effect.KNOWLEDGE:
        return signed("knowledge", a)
    if op == Effect.GOODS:
        return amount(b, (*COMMODITIES, *RESOURCES)[a])
    if op == Effect.CHOOSE:
        return gains(b, CHOICES[a])
    if op == Effect.DRAW:
        return amount(a, "artifact")
    if op == Effect.TUNNEL_RESOURCE:
        return f"{a} of the tunnel's resource"
    if op == Effect.ADVANCE:
        return f"{faction(a)} allegiance +1"
    if op == Effect.STAR_IN_TERRITORY:
        return f"a star in {territory_name(TERRITORIES[a])}"
    if op == Effect.STAR_IN_REGION:
        return f"a star in {territory_name(TERRITORIES[a])} or on a built market there"
    return _EFFECTS.get(Effect(op)) or _TO_OTHERS.get(Effect(op), "")


def tile_words(name: str) -> str:
    """The penalty of a market tile, for whoever has no star on it.

    Raises:
        ValueError: no such tile.
    """
    if name not in PENALTY_TEXTS:
        raise ValueError(f"{shown(name)} is not a market tile")
    return PENALTY_TEXTS[name]


def dilemma_words(artifact: str) -> str:
    """The price of resolving the dilemma of an artifact, and its two results.

    Raises:
        ValueError: no such artifact.
    """
    if artifact not in ARTIFACTS:
        raise ValueError(f"{shown(artifact)} is not an artifact")
    return (
        f"Once per game, as your whole turn: pay {amount(1, artifact)} or any 2 artifacts, "
        "then place a star on this card, or draw 2 recruits and keep 1"
    )


def cost_words(space: str, tile: str | None = None) -> str:
    """The printed cost of a space; that of a built market is on its tile."""
    if space in PAIR_SPACES:
        return THREE_OR_PAIR
    row = TILE_COST[TILES.index(tile)] if space in MARKETS and tile else SPACE_COST[SPACES.index(space)]
    return groups_words(row)


def groups_words(row) -> str:  # type: ignore[no-untyped-def]
    """The groups of a cost: (units, set, units, set)."""
    return ", ".join(units(int(n), int(items)) for n, items in ((row[0], row[1]), (row[2], row[3])) if n)


def gain_words(space: str) -> str:
    """The action that a space allows, without bonuses."""
    if space in SLOTS:
        return f"place a star on the market when it is built ({NEEDED}); the workers then return and are rolled"
    if space in TUNNELS:
        return f"advance its miner by 1, then gain 1 {RESOURCES[TUNNELS.index(space)]} or draw 1 artifact"
    steps = [step for step in SPACE_PROGRAM[SPACES.index(space)] if step[0] >= 0]
    done = _doing(step for step in steps if step[0] != Effect.NEW_WORKER)
    return done + (f", then gain a worker and roll it (unless you have {MAX_WORKERS})" if space in TANK else "")  # R6.3


# In a few words, where the space itself is seen: a star goes where the space is.
_SHORT = {Effect.STAR_IN_TERRITORY: "star", Effect.STAR_IN_REGION: "star", Effect.ADVANCE: "allegiance", Effect.MINER: ""}


def short_gain(space: str) -> str:
    """The printed gain of a space, as short as on a board: "star, allegiance"."""
    if space in TUNNELS:
        return f"{RESOURCES[TUNNELS.index(space)]} or artifact"
    steps = [step for step in SPACE_PROGRAM[SPACES.index(space)] if step[0] >= 0]
    return ", ".join(filter(None, (_SHORT.get(Effect(int(step[0])), step_words(step)) for step in steps)))


def space_words(space: str, tile: str | None = None) -> str:
    """The cost and the gain of a space, with bonuses; of a market with the tile that was built there.

    Raises:
        ValueError: no such space, or no such tile.
    """
    if space not in SPACES:
        raise ValueError(f"{shown(space)} is not a space")
    if tile is not None and tile not in TILES:
        raise ValueError(f"{shown(tile)} is not a market tile")
    if space in AREAS:
        return area_words(AREAS.index(space))
    cost, gain = cost_words(space, tile), gain_words(space)
    if space in MARKETS and tile is None:
        cost = "the cost on its tile"
    text = f"Pay {cost.replace(', ', ' and ')}: {gain}" if cost else f"Free: {gain}"
    if space in TUNNELS:
        text += f"; with an active {faction(TUNNELS.index(space))} recruit and allegiance 5 or more, both"
    elif space.endswith("_tunnel_end"):
        text += f"; open once the miner is at {MINER_END}, for players with an active {title(space.split('_')[0])} recruit"
    elif space in ("wind_salon", "nimbus_loft"):
        text += "; with an active Icarite recruit and allegiance 5 or more, draw 1 artifact if you placed the star"
    elif space in SLOTS:
        text += "; what you paid is lost if you retrieve the worker before"
    return text


def area_words(area: int) -> str:
    """The gain of a commodity area, with its bonus."""
    good, of = COMMODITIES[area], faction(area)
    gains = ", ".join(f"{sums} gives {gain}" for sums, gain in area_gains(good, f"{of} allegiance +1"))
    return (
        f"Free. Add the numbers of all workers there, yours included: {gains}; "
        f"1 more {good} with an active {of} recruit and allegiance 2 or more"
    )


def area_gains(good: str, advance: str = "allegiance +1") -> list[tuple[str, str]]:
    """The gain for each sum of faces in a commodity area: ("5 to 8", "1 energy and knowledge -1")."""
    return [
        (sums, f"{amount(n, good)} and {signed('knowledge', knowledge) if knowledge else advance}")
        for sums, n, knowledge in AREA_SUMS
    ]
