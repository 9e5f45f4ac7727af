"""What cards and spaces do, in words made from the tables that the engine interprets (`cards`)."""

from __future__ import annotations

from euphoria_env.board import (
    AREAS,
    ARTIFACT_MARKETS,
    ARTIFACTS,
    COMMODITIES,
    KNOWLEDGE_LIMIT,
    MARKET_SET,
    MARKETS,
    RESOURCES,
    SLOT_SET,
    SLOTS,
    SPACES,
    TANK_SET,
    TERRITORIES,
    TUNNEL_SET,
    TUNNELS,
)
from euphoria_env.cards.recruits import ANY_MARKET, RECRUITS, recruit_number
from euphoria_env.cards.spaces import SPACE_COST, SPACE_PROGRAM
from euphoria_env.cards.tiles import FACE_PENALTY, TILE_COST, TILES
from euphoria_env.cards.vocabulary import CHOICES, Ability, Effect, Event, Price, When
from euphoria_env.json_reader import shown
from euphoria_env.words.names import amount, faction, gains, listed, signed, space_name, territory_name, title, units

PAIR_SPACES = (*ARTIFACT_MARKETS, "wind_salon")
THREE_OR_PAIR = "3 artifacts or a pair"
A_GOOD = "a commodity or resource"
AREA_SUMS = (("1 to 4", 1, 0), ("5 to 8", 1, -1), ("9 and more", 2, 1))  # of faces: units, knowledge; else allegiance (R6.1)
RETRIEVING = "1 food or 1 bliss gives morale +2; for free: morale -1"  # R3.4
CHECK = f"a roll loses the highest worker in hand, if they and knowledge reach {KNOWLEDGE_LIMIT}"  # R5.3
Step = tuple[int, int, int]

# The penalty of each tile for whoever has no star on it (R12), in a few words.
PENALTY_TEXTS = {
    "academy_of_mandatory_equality": "recruits' abilities are off",
    "apothecary_of_productive_dreams": "no placing in Icarus, Cloud Mine included",
    "arena_of_peaceful_conflict": "at most one own worker in each commodity area",
    "cafeteria_of_nameless_meat": "a free retrieval costs 1 more morale",
    "courthouse_of_hasty_judgment": "no pair in place of 3 artifacts",
    "fountain_of_wishful_thinking": "at most one worker placed in a turn",
    "laboratory_of_selective_genetics": "no new worker while owning 2 or 3",
    "lounge_of_opulent_frugality": "no placing on a site where another player has a worker",
    "plaza_of_immortalized_humility": "no placing on a built market without own star",
    "registry_of_personal_secrets": "no allegiance bonuses of 2 and 5",
    "spa_of_fleeting_pleasure": "no bumping of own workers",
    "theater_of_revelatory_propaganda": "each star placed: knowledge +1",
} | {TILES[int(tile)]: f"each {face} rolled: lose {A_GOOD}" for face, tile in enumerate(FACE_PENALTY) if face}
assert set(PENALTY_TEXTS) == set(TILES)

_EVENTS = {
    Event.PLACED: "Placing on {at}",
    Event.BUMPED: "Bumping another player's worker{at}",
    Event.BUMPING: "Bumping another player's worker",
    Event.GETTING_BUMPED: "Your worker is bumped, by anybody",
    Event.OTHERS_ROLLED: "After another player's roll",
    Event.LOST_WORKER: "Losing a worker to the knowledge check",
    Event.NEW_WORKER: "Gaining a worker, after its roll",
    Event.BUILT: "A market is built, by anybody",
    Event.STAR: "Whenever you place a star, anywhere",
    Event.RETRIEVING: "Retrieving, before the roll",
    Event.BEFORE_ROLL: "Retrieving",
    Event.RETRIEVED: "After a retrieval",
}
_CONDITIONS = {
    When.ALWAYS: "",
    When.NO_ARTIFACT: " with no artifact in hand",
    When.NO_RESOURCE: " with no resource",
    When.SAME_FACE: " with another worker of the same face there",
    When.ALONE: ", if your worker is alone there",
    When.HIGHEST: ", if your worker is the highest there or alone",
    When.LOWEST: ", if your worker is the lowest there or alone",
    When.WITHOUT_BUMPING: " without bumping any worker",
    When.STAR_PLACED: ", after you place its star",
    When.PAID_GOLD: ", if you paid gold",
    When.PAID_ARTIFACT: ", if you paid an artifact",
    When.PAID_ONE_ARTIFACT: ", if you paid 1 artifact",
    When.PAID_FOOD_FOR_BLISS: ", if you paid food for bliss",
    When.TOOK_RESOURCE: ", if you take its resource and have no artifact in hand",
    When.BUMPED_HIGHER: ", if its face is higher than that of yours",
    When.BUMPED_NO_SUBTERRAN: ", if its owner has no active Subterran recruit",
    When.ROLLER_SHOWS_PAIR: ", if two of their available workers show one face",
    When.FREE_RETRIEVAL: " for free, before the roll",
    When.ALL_FROM_SUBTERRA: ", if all its workers stood in Subterra",
}
PRICES = {
    Price.NONE: "",
    Price.ENERGY: "1 energy",
    Price.BLISS: "1 bliss",
    Price.GOLD_TO_BUMPED: "1 gold to its owner",
    Price.ARTIFACT: "1 artifact",
    Price.PLACED_WORKER: "that worker",
    Price.RETRIEVED_WORKER: "one of those workers",
}
_EFFECTS = {
    Effect.TUNNEL_CHOICE: "its resource or 1 artifact",
    Effect.MINER: "that tunnel's miner +1",
    Effect.ICARITE_BONUS: "",
    Effect.NEW_WORKER: "1 worker",
    Effect.AREA: "by the sum of the faces there",
    Effect.SET_FACE: "set the face of one worker instead of rolling it",
    Effect.PAY_BLISS: "",
    Effect.SACRIFICE_PLACED: "",
    Effect.SACRIFICE_RETRIEVED: "",
    Effect.BUILDER: "morale +2 if you helped, else knowledge -2",
    Effect.BARGAIN: "1 energy and either knowledge -1 or morale +1; a book gives 2 energy, knowledge -2 and morale +2 instead",
    Effect.FUTURE: "2 artifacts of which 1 is discarded",
}
_SAID_WITH_AMOUNTS = {Effect.MORALE, Effect.KNOWLEDGE, Effect.GOODS, Effect.CHOOSE, Effect.DRAW, Effect.TUNNEL_RESOURCE}
_SAID_WITH_AMOUNTS |= {Effect.ADVANCE, Effect.STAR_IN_TERRITORY, Effect.STAR_IN_REGION}  # in `step_words`
# What happens to others, as sentences of their own.
_TO_OTHERS = {
    Effect.TAKE_FACE: "that worker takes the face of yours instead of being rolled, unless its owner has set it",
    Effect.BUMPED_KNOWLEDGE: "the owner of that worker gets knowledge +1",
    Effect.OTHERS_THERE: "every other player with a worker there gets knowledge +1",
    Effect.OPPONENTS_DRAW: "every opponent draws 1 artifact",
    Effect.OPPONENTS_BLISS: "every opponent gets 1 bliss",
}
# What no table says, by the words of `Recruit.also`.
_ALSO = {
    "retrieves_for_energy": "A retrieval may be paid with 1 energy: then knowledge -1 and morale +1",
    "site_for_any_resource": "Any resource pays for a construction site",
    "places_new_worker": "Gaining a worker, after its roll: may place a worker of its face at once",
    "lost_morale_loses_knowledge": "Each morale you lose or pay: knowledge -1",
    "draws_two_for_one": "Once a turn, drawing an artifact: may draw 2 instead; you then show your hand, and if it holds a pair "
    "every opponent draws 1",
    "food_for_bliss": "Food pays wherever bliss is asked",
    "icarus_costs_morale": "Placing in Icarus, Cloud Mine included, costs 1 morale more",
    "site_for_artifact": "An artifact pays for a construction site",
    "draws_three_for_one": "Once a turn, drawing an artifact: may pay knowledge +1 to draw 3 instead, then discard 2 from hand",
    "ark_for_one_artifact": "1 artifact pays for the Ark of Fractured Memories",
    "gained_knowledge_gains_morale": "Each knowledge you gain or pay: morale +1",
    "bliss_loses_knowledge": "Retrieving with bliss: may take knowledge -2 instead of morale +2",
    "bliss_for_market_resource": "1 bliss pays for the resource in the cost of a built market",
    "tunnel_ends_for_knowledge": "Open tunnel ends of factions without an active recruit of yours may be used for knowledge +2",
    "bumping_in_tunnel_for_knowledge": "Bumping another player's worker from a tunnel: knowledge +1 may pay for it",
}
assert {*_EVENTS} == {*Event} and {*_CONDITIONS} == {*When} and {*PRICES} == {*Price}
assert {*_EFFECTS, *_TO_OTHERS} == {effect for effect in Effect if effect not in _SAID_WITH_AMOUNTS}
assert {*_ALSO} == {word for recruit in RECRUITS for word in recruit.also}

_PLACES = (
    (TUNNEL_SET, "a tunnel"),
    (TANK_SET, "the Worker Tank"),
    (SLOT_SET, "a construction site"),
    (ANY_MARKET, "a built market or an artifact market"),
    (MARKET_SET, "a built market"),
)


def recruit_words(name: str) -> str:
    """What a recruit does, in a sentence or several.

    Raises:
        ValueError: no such recruit.
    """
    try:
        recruit = RECRUITS[recruit_number(name)]
    except ValueError:
        raise ValueError(f"{shown(name)} is no recruit") from None
    sentences = [*(_ALSO[word] for word in recruit.also), *map(_ability, recruit.abilities)]
    return "".join(f"{sentence}. " for sentence in sentences).strip()


def _ability(ability: Ability) -> str:
    """An ability: when it acts, for what, and what it does."""
    occasion = _EVENTS[ability.on].format(at=_places(ability)) + _CONDITIONS[ability.when]
    gains = listed(filter(None, (step_words(step) for step in ability.do if step[0] not in _TO_OTHERS)))
    others = "".join(f"; {_TO_OTHERS[Effect(step[0])]}" for step in ability.do if step[0] in _TO_OTHERS)
    if not ability.may:
        return f"{occasion}: {gains}{others}" if gains else f"{occasion}: {others[2:]}"
    price = price_words(ability)
    if not price:
        return f"{occasion}: {gains} if you like{others}"
    verb = "sacrifice" if ability.price in (Price.PLACED_WORKER, Price.RETRIEVED_WORKER) else "pay"
    return f"{occasion}: may {verb} {price} {'to' if gains.startswith('set ') else 'for'} {gains}{others}"


def condition_words(when: When) -> str:
    """On which condition an ability acts, as a clause of its own."""
    return _CONDITIONS[when].removeprefix(",").strip()


def _places(ability: Ability) -> str:
    """Where an ability acts; nothing if everywhere."""
    if ability.at == -1:
        return ""
    left, names = ability.at, []
    for spaces, name in _PLACES:
        if left & spaces == spaces:
            names.append(name)
            left &= ~spaces
    names += [space_name(SPACES[s]) for s in range(len(SPACES)) if left >> s & 1]
    return (" from " if ability.on == Event.BUMPED else "") + listed(names, "or")


def price_words(ability: Ability) -> str:
    """What an optional ability costs: "1 morale", "knowledge +2", "1 gold to its owner"."""
    parts = [f"{ability.morale} morale"] if ability.morale else []
    parts += [signed("knowledge", ability.knowledge)] if ability.knowledge else []
    return listed([*parts, *filter(None, [PRICES[ability.price]])])


def step_words(step: Step) -> str:
    """What a step of a card or a space gives, wherever it acts; "" if another part of the text says it."""
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
        return f"{a} of that tunnel's resource"
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
        raise ValueError(f"{shown(name)} is no market tile")
    return PENALTY_TEXTS[name]


def dilemma_words(artifact: str) -> str:
    """What resolving the dilemma of an artifact costs and gives.

    Raises:
        ValueError: no such artifact.
    """
    if artifact not in ARTIFACTS:
        raise ValueError(f"{shown(artifact)} is no artifact")
    return f"Once, as a whole turn: pay {amount(1, artifact)} or any 2 artifacts, for a star on it or for 1 of 2 recruits drawn"


def cost_words(space: str, tile: str | None = None) -> str:
    """The printed cost of a space; at a built market, its tile says."""
    if space in PAIR_SPACES:
        return THREE_OR_PAIR
    row = TILE_COST[TILES.index(tile)] if space in MARKETS and tile else SPACE_COST[SPACES.index(space)]
    return groups_words(row)


def groups_words(row) -> str:  # type: ignore[no-untyped-def]
    """The groups of a cost: (units, set, units, set)."""
    return ", ".join(units(int(n), int(items)) for n, items in ((row[0], row[1]), (row[2], row[3])) if n)


def gain_words(space: str) -> str:
    """The printed gain of a space, without bonuses."""
    if space in SLOTS:
        return "a star on the market when it is built, after which the workers come back and are rolled"
    if space in TUNNELS:
        resource = RESOURCES[TUNNELS.index(space)]
        return f"its miner +1, then 1 {resource} or 1 artifact"
    return ", ".join(filter(None, (step_words(step) for step in SPACE_PROGRAM[SPACES.index(space)] if step[0] >= 0)))


# In a few words, where the space itself is seen: a star goes where the space is.
_SHORT = {Effect.STAR_IN_TERRITORY: "star", Effect.STAR_IN_REGION: "star", Effect.ADVANCE: "allegiance", Effect.MINER: ""}


def short_gain(space: str) -> str:
    """The printed gain of a space, as a board says it: "star, allegiance"."""
    if space in TUNNELS:
        return f"{RESOURCES[TUNNELS.index(space)]} or artifact"
    steps = [step for step in SPACE_PROGRAM[SPACES.index(space)] if step[0] >= 0]
    return ", ".join(filter(None, (_SHORT.get(Effect(int(step[0])), step_words(step)) for step in steps)))


def space_words(space: str, tile: str | None = None) -> str:
    """What a space costs and gives, with bonuses; of a market with the tile that was built there.

    Raises:
        ValueError: no such space, or no such tile.
    """
    if space not in SPACES:
        raise ValueError(f"{shown(space)} is no space")
    if tile is not None and tile not in TILES:
        raise ValueError(f"{shown(tile)} is no market tile")
    if space in AREAS:
        return area_words(AREAS.index(space))
    cost, gain = cost_words(space, tile), gain_words(space)
    if space in MARKETS and tile is None:
        cost = "what its tile says"
    text = f"Pay {cost}: {gain}" if cost else f"Free: {gain}"
    if space in TUNNELS:
        text += f"; with an active {faction(TUNNELS.index(space))} recruit at allegiance 5 and more, both"
    elif space.endswith("_tunnel_end"):
        text += f"; open when the miner is at 9, for who has an active {title(space.split('_')[0])} recruit"
    elif space in ("wind_salon", "nimbus_loft"):
        text += "; with an active Icarite recruit at allegiance 5 and more, 1 artifact for the star"
    elif space in SLOTS:
        text += "; what was paid is lost if the worker is retrieved before"
    return text


def area_words(area: int) -> str:
    """What a commodity area gives, with its bonus."""
    good, of = COMMODITIES[area], faction(area)
    gains = ", ".join(f"{sums} gives {gain}" for sums, gain in area_gains(good, f"{of} allegiance +1"))
    return (
        f"Free; all faces there, the new one too, are added up: {gains}; "
        f"1 more {good} with an active {of} recruit at allegiance 2 and more"
    )


def area_gains(good: str, advance: str = "allegiance +1") -> list[tuple[str, str]]:
    """What each sum of faces gives in a commodity area: ("5 to 8", "1 energy and knowledge -1")."""
    return [
        (sums, f"{amount(n, good)} and {signed('knowledge', knowledge) if knowledge else advance}")
        for sums, n, knowledge in AREA_SUMS
    ]
