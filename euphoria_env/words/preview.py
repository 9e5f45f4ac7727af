"""What a move would cost and give, and what it risks: the rules of R3 to R12 said of one position.

Nothing here looks at what the player who decides may not see (R19).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache

import numpy as np

from euphoria_env.board import (
    ALLEGIANCE_END,
    ARTIFACT_SET,
    BLISS,
    COMMODITIES,
    ENERGY,
    FACTIONS,
    FIRST_SLOT,
    FOOD,
    GOLD,
    GOODS,
    ICARITE,
    KNOWLEDGE_ITEM,
    KNOWLEDGE_LIMIT,
    MARKETS,
    MAX_WORKERS,
    MINER_END,
    MOST_GOODS,
    NUM_AREAS,
    RESOURCES,
    SLOT_SET,
    SLOTS_PER_SITE,
    SPACES,
    STARS,
    TERRITORIES,
    TRACK_END,
    WORKERS_TO_BUILD,
)
from euphoria_env.cards.recruits import (
    AMANDA,
    BRIAN,
    CURTIS,
    FACTION_CARDS,
    FACTION_OF,
    GIDGET,
    JACKO,
    NICK,
    RAY,
    RECRUIT_NAMES,
    RECRUITS,
    ROW,
)
from euphoria_env.cards.spaces import SPACE_PROGRAM
from euphoria_env.cards.tiles import (
    ACADEMY,
    CAFETERIA,
    COURTHOUSE,
    FACE_PENALTY,
    LABORATORY,
    REGISTRY,
    THEATER,
    TILES,
)
from euphoria_env.cards.vocabulary import CHOICES, Ability, Effect, Event, Price, When
from euphoria_env.engine.allegiance import REVEALING_ALLEGIANCE, REVEALING_MINER
from euphoria_env.engine.placement_preview import acting, affordable, price
from euphoria_env.engine.state import RETRIEVE_BLISS, RETRIEVE_ENERGY, RETRIEVE_FOOD, RETRIEVE_FREE, copy_rows
from euphoria_env.words.card_text import A_GOOD, condition_words, price_words, step_words, tile_words
from euphoria_env.words.names import amount, faction, gains, listed, short_name, signed, space_name, territory_name, units

ABILITIES: list[Ability] = [ability for recruit in RECRUITS for ability in recruit.abilities]  # as `ROW_EVENT` numbers them
# Conditions that depend on what will be paid or chosen.
_IF = (When.PAID_GOLD, When.PAID_ARTIFACT, When.PAID_ONE_ARTIFACT, When.PAID_FOOD_FOR_BLISS, When.TOOK_RESOURCE)
_BEFORE_PAYING = (Event.BUMPED, Event.BUMPING)
_ON_THEATER = f"on {space_name(MARKETS[0], TILES[THEATER])}"


# ------------------------------------------------------------------------------------------------------------ looking up


def under(g: np.void, p: int, tile: int) -> bool:
    """Whether the penalty of a market is in force for a player (R12.1)."""
    return bool(int(g["penalty"][p]) >> tile & 1)


def has(g: np.void, p: int, card: int) -> bool:
    """Whether a player has the ability of a recruit now (R1.7, R12.3)."""
    return bool(int(g["active_cards"][p]) >> card & 1) and not under(g, p, ACADEMY)


def bonus(g: np.void, p: int, of: int, tier: int) -> bool:
    """Whether a player has an allegiance bonus for a placement that begins now (R7.2, R7.3, R12.4)."""
    member = int(g["active_cards"][p]) & int(FACTION_CARDS[of])
    return bool(g["allegiance"][of] >= tier and member) and not under(g, p, REGISTRY)


def revealed(g: np.void, of: int) -> bool:
    """Whether the hidden recruits of a faction have become active (R7.4, R7.5)."""
    return bool(g["allegiance"][of] >= REVEALING_ALLEGIANCE or (of < len(RESOURCES) and g["miners"][of] >= REVEALING_MINER))


def faces(g: np.void, p: int) -> list[int]:
    """The available workers of a player."""
    return [face for face in range(1, 7) for _ in range(int(g["available"][p, face - 1]))]


def tile_at(g: np.void, space: int) -> str | None:
    """The tile of a built market space; None elsewhere, and before it is built."""
    name = SPACES[space]
    market = MARKETS.index(name) if name in MARKETS else -1
    return TILES[int(g["tile"][market])] if market >= 0 and g["built"][market] else None


def named(g: np.void, space: int) -> str:
    """A space by its name in this game."""
    return space_name(SPACES[space], tile_at(g, space))


# ------------------------------------------------------------------------------------------------------------- the dice


@cache
def sums(dice: int) -> tuple[float, ...]:
    """The chance of each sum of so many dice, from 0 on."""
    if dice == 0:
        return (1.0,)
    before = sums(dice - 1)
    return tuple(sum(before[s - f] for f in range(1, 7) if 0 <= s - f < len(before)) / 6 for s in range(len(before) + 6))


def loss_chance(g: np.void, p: int, knowledge: int, others: Iterable[int], dice: int) -> float:
    """The chance to lose a worker to the knowledge check of a roll of so many dice, with others available (R5.3)."""
    if g["lost_worker"][p]:
        return 0.0
    base = knowledge + sum(others)
    return sum(chance for total, chance in enumerate(sums(dice)) if base + total >= KNOWLEDGE_LIMIT)


def percent(chance: float) -> str:
    """A chance as it is said, to a tenth: "33.3 %"."""
    return f"{100 * chance:.1f}".removesuffix(".0") + " %"


def check_words(chance: float, whose: str = "") -> str:
    """The knowledge check as a risk; "" if there is none."""
    return f"{whose}knowledge check: {percent(chance)} to lose the highest worker" if chance > 0 else ""


def roll_penalty(g: np.void, p: int) -> str:
    """What a roll of a player may cost by the markets (R12.2); "" if nothing."""
    punished = [str(face) for face in range(1, 7) if under(g, p, int(FACE_PENALTY[face]))]
    if not punished or not g["goods"][p].any():
        return ""
    return f"each {listed(punished, 'or')} rolled: lose {A_GOOD}"


def joined(parts: Iterable[str]) -> str:
    """What is not empty, as one text."""
    return "; ".join(part for part in parts if part)


# ------------------------------------------------------------------------------------------------------------ the account


class Account:
    """What a player has while the parts of a move happen to them; each method says what really changes.

    `sure` are changes that happen, `notes` what may, or must be known beside.
    """

    def __init__(self, g: np.void, p: int) -> None:
        self.g, self.p = g, p
        self.track = {"knowledge": int(g["knowledge"][p]), "morale": int(g["morale"][p])}
        self.stars, self.hand, self.owned = int(g["stars"][p]), int(g["hand_size"][p]), int(g["owned"][p])
        self.allegiance = [int(step) for step in g["allegiance"]]
        self.goods = [int(n) for n in g["goods"][p]]
        self.star_placed = self.gets_worker = False
        self.ends = ""
        self.theater = under(g, p, THEATER)  # as far as it is sure
        self.may_lose = False  # a worker, before one is gained
        self.discards = 0
        self.limit_sure = True  # unless morale depends on how something is paid
        self.learns_if: dict[When, int] = {}  # knowledge that hangs on a condition
        self.sure: list[str] = []
        self.notes: list[str] = []

    def _move(self, track: str, n: int) -> int:
        old = self.track[track]
        self.track[track] = min(max(old + n, 1), TRACK_END)
        return self.track[track] - old

    def marker(self, track: str, n: int, why: str = "") -> None:
        """Moves a marker, to the end of its track at most; Nick and Curtis act with every step (R5.1, R13.10)."""
        steps = self._move(track, n)
        if steps:
            self.sure.append(signed(track, steps) + why)
        if track == "knowledge" and steps > 0 and has(self.g, self.p, NICK):
            if more := self._move("morale", steps):
                self.sure.append(f"{signed('morale', more)} (Nick)")
        if track == "morale" and steps < 0 and has(self.g, self.p, CURTIS):
            if more := self._move("knowledge", steps):
                self.sure.append(f"{signed('knowledge', more)} (Curtis)")

    def good(self, item: int, n: int, why: str = "") -> None:
        """Gains goods, as many as one can have (R1.2)."""
        n = min(n, MOST_GOODS - self.goods[item])
        self.goods[item] += n
        if n:
            self.sure.append(amount(n, GOODS[item]) + why)

    def draw(self, n: int, why: str = "") -> None:
        """Draws artifacts, as many as there are (R5.7)."""
        n = min(n, int(self.g["deck"].sum()) + int(self.g["discards"].sum()))
        self.hand += n
        if n:
            self.sure.append(amount(n, "artifact") + why)

    def star(self, *places: str) -> bool:
        """Places a star on one of the places, with what the Theater makes of it (R1.5, R12.5)."""
        if not self.stars:
            self.notes.append("no star is left to place")
            return False
        self.stars -= 1
        self.sure.append(f"1 star {listed(places, 'or')}")
        if STARS - self.stars == self.g["stars_to_win"]:
            self.ends = "ends the game"
        if self.theater and _ON_THEATER not in places:
            self.marker("knowledge", 1, " (Theater)")
        elif self.theater:
            self.theater = False
            if len(places) > 1:
                self.notes.append("then knowledge +1 for each star, unless one goes on the Theater")
        return True

    def pay_due(self) -> None:
        """Pays the markers that are due with the cost of a placement, of which the placement has told (R4.3)."""
        sure = self.sure.copy()
        self.marker("morale", -int(self.g["due_morale"]))
        self.marker("knowledge", int(self.g["due_knowledge"]))
        self.sure = sure

    def bliss_words(self) -> str:
        """A bliss as it can be paid."""
        ways = ["bliss"] if self.goods[BLISS] else []
        return f"1 {listed([*ways, 'food'] if self.goods[FOOD] and has(self.g, self.p, BRIAN) else ways, 'or')}"

    def pay_price(self, price: Price) -> None:
        """Pays what an ability costs besides markers; of bliss and food, which is paid may be open."""
        if price == Price.ENERGY:
            self.goods[ENERGY] -= 1
        elif price == Price.GOLD_TO_BUMPED:
            self.goods[GOLD] -= 1
        elif price == Price.BLISS and not (self.goods[BLISS] and self.goods[FOOD] and has(self.g, self.p, BRIAN)):
            self.goods[BLISS if self.goods[BLISS] else FOOD] -= 1

    def limit(self) -> None:
        """The hand limit (R5.6)."""
        excess = max(0, self.hand - self.track["morale"])
        self.hand -= excess
        self.discards += excess

    def limit_words(self) -> str:
        """What the hand limit takes; "" if nothing."""
        sure = "discard" if self.limit_sure else "perhaps discard"
        return f"hand limit: {sure} {amount(self.discards, 'artifact')}" if self.discards else ""

    def has_bliss(self) -> bool:
        """Whether a bliss, or the food that Brian takes for it, can be paid."""
        return self.goods[BLISS] > 0 or (self.goods[FOOD] > 0 and has(self.g, self.p, BRIAN))

    def room(self, ability: Ability) -> bool:
        """Whether the price of an optional ability can be paid now (`engine.abilities.affords`)."""
        morale, knowledge = self.track["morale"], self.track["knowledge"]
        if (ability.morale and morale - ability.morale < 1) or knowledge + ability.knowledge > TRACK_END:
            return False
        if ability.price == Price.ENERGY:
            return self.goods[ENERGY] > 0
        if ability.price == Price.BLISS:
            return self.has_bliss()
        if ability.price == Price.GOLD_TO_BUMPED:
            return self.goods[GOLD] > 0
        if ability.price == Price.ARTIFACT:
            return self.hand > 0
        return ability.price == Price.NONE or self.owned > 1

    def text(self) -> str:
        """What changes, then the notes."""
        return joined([", ".join(self.sure), *self.notes, self.ends])

    # ------------------------------------------------------------------------------------------- steps of cards and spaces

    def step(self, step: Sequence[int], space: int, why: str = "") -> None:
        """Carries out a step of a card or a space (`engine.effects`)."""
        op, a, b = (int(value) for value in step)
        g, p = self.g, self.p
        if op == Effect.MORALE:
            self.marker("morale", a, why)
        elif op == Effect.KNOWLEDGE:
            self.marker("knowledge", a, why)
        elif op == Effect.GOODS:
            self.good(a, b, why)
        elif op == Effect.CHOOSE:
            self.sure.append(gains(b, CHOICES[a]) + why)
        elif op == Effect.DRAW:
            self.draw(a, why)
        elif op == Effect.AREA:
            self.area(space)
        elif op == Effect.TUNNEL_RESOURCE:
            self.good(len(COMMODITIES) + self._tunnel(space), a, why)
        elif op == Effect.TUNNEL_CHOICE:
            self.tunnel(self._tunnel(space))
        elif op == Effect.MINER:
            self.miner(self._tunnel(space), why)
        elif op == Effect.ADVANCE:
            self.advance(a, why)
        elif op == Effect.STAR_IN_TERRITORY:
            self.star_in_territory(a)
        elif op == Effect.STAR_IN_REGION:
            self.star_in_region(a)
        elif op == Effect.ICARITE_BONUS:
            if self.star_placed and bonus(g, p, ICARITE, 5):
                self.draw(1, " (allegiance 5)")
        elif op == Effect.NEW_WORKER:
            self.worker()
        elif op == Effect.BUILDER:
            self.marker("morale", 2, why)
        elif words := step_words(step):  # type: ignore[arg-type]
            self.notes.append(words + why)

    def _tunnel(self, space: int) -> int:
        return space - NUM_AREAS

    def area(self, area: int) -> None:
        """A commodity area whose newest worker is counted already (R6.1, R7.2)."""
        total = self.area_sum
        self.good(area, 2 if total >= 9 else 1)
        if bonus(self.g, self.p, area, 2):
            self.good(area, 1, " (allegiance 2)")
        if total <= 4:
            self.advance(area)
        else:
            self.marker("knowledge", 1 if total >= 9 else -1)

    area_sum = 0  # with the worker that is placed

    def tunnel(self, tunnel: int) -> None:
        """The gain of a tunnel (R8.1, R7.3)."""
        resource = RESOURCES[tunnel]
        if bonus(self.g, self.p, tunnel, 5):
            self.good(GOODS.index(resource), 1)
            self.draw(1, " (allegiance 5)")
        else:
            self.sure.append(f"1 {resource} or 1 artifact")

    def miner(self, tunnel: int, why: str = "") -> None:
        """The miner of a tunnel (R8.1, R8.2, R7.5)."""
        step = int(self.g["miners"][tunnel])
        if step == MINER_END:
            return
        self.sure.append(f"{faction(tunnel)} miner +1{why}")
        if step + 1 == MINER_END:
            self.notes.append(f"{space_name(f'{FACTIONS[tunnel]}_tunnel_end')} opens")
        if step + 1 == REVEALING_MINER:
            self._reveal(tunnel, self.allegiance[tunnel] >= REVEALING_ALLEGIANCE)

    def advance(self, of: int, why: str = "") -> None:
        """An allegiance marker (R7.1, R7.4, R7.6)."""
        if self.allegiance[of] == ALLEGIANCE_END:
            return
        self.allegiance[of] += 1
        self.sure.append(f"{faction(of)} allegiance +1{why}")
        if self.allegiance[of] == REVEALING_ALLEGIANCE:
            self._reveal(of, of < len(RESOURCES) and int(self.g["miners"][of]) >= REVEALING_MINER)
        if self.allegiance[of] == ALLEGIANCE_END:
            for card in self.active():
                if FACTION_OF[card] == of and not int(self.g["starred"]) >> card & 1:
                    self.star(f"on {short_name(RECRUIT_NAMES[card])}")
            self.notes.append(f"every player places a star on each active {faction(of)} recruit")

    def _reveal(self, of: int, already: bool) -> None:
        if not already:
            self.notes.append(f"hidden {faction(of)} recruits become active")

    def active(self) -> list[int]:
        """The active recruits of the player, in the order in which they became active."""
        return [int(card) for card in self.g["recruits"][self.p, : int(self.g["num_active"][self.p])]]

    def star_in_territory(self, of: int) -> None:
        """The star of a built market, the wind salon or the nimbus loft (R10.2, R11.1)."""
        if not self.territory_has_room(of):
            self.notes.append(f"no star: {territory_name(TERRITORIES[of])} is full")
        else:
            self.star_placed = self.star(f"in {territory_name(TERRITORIES[of])}")

    def territory_has_room(self, of: int) -> bool:
        """Whether a territory has a free star space (R2.4)."""
        return bool(self.g["territory"][of].sum() < self.g["num_players"])

    def star_in_region(self, of: int) -> None:
        """The star of an artifact market (R10.1)."""
        places = [f"in {territory_name(TERRITORIES[of])}"] if self.territory_has_room(of) else []
        lifted = []
        for market in (2 * of, 2 * of + 1):
            if self.g["built"][market] and not int(self.g["market_stars"][market]) >> self.p & 1:
                lifted.append(TILES[int(self.g["tile"][market])])
                places.append(f"on {space_name(MARKETS[market], lifted[-1])}")
        if not places:
            self.notes.append("no star: there is no free place")
        else:
            self.star_placed = self.star(*places)
            if self.star_placed and lifted and len(places) == 1:
                self.notes.append(f"its penalty ends: {tile_words(lifted[0])}")

    def worker(self) -> None:
        """A new worker (R6.3, R12.7)."""
        unless = " (unless one is lost before)" if self.may_lose else ""
        if self.owned >= MAX_WORKERS:
            self.notes.append(f"no worker: one owns {MAX_WORKERS}{unless}")
        elif self.owned >= 2 and under(self.g, self.p, LABORATORY):
            self.notes.append(f"no worker: Laboratory{unless if self.owned == 2 else ''}")
        else:
            self.gets_worker = True
            self.sure.append("1 worker")


# ------------------------------------------------------------------------------------------------------------- placements

Foreseen = tuple[str, str, str]  # cost, gain, risk


def placement(rows: np.ndarray, p: int, face: int, space: int, extra_morale: int) -> Foreseen:
    """A worker of this face placed there; `extra_morale`: due for a further worker (R17.4)."""
    g = rows[0]
    account = Account(g, p)
    others = faces(g, p)
    others.remove(face)
    owner = int(g["occupant"][space]) if space >= NUM_AREAS else -1
    risks = _bump_risks(g, p, space, owner, others)
    account.may_lose = owner == p and loss_chance(g, p, int(g["knowledge"][p]), others, 1) > 0

    cost = _pay(rows, account, space, extra_morale)
    cost_text, account.sure = cost, []
    account.limit()

    if space < NUM_AREAS:
        account.area_sum = face + sum((f + 1) * int(n) for seat in g["area"][space] for f, n in enumerate(seat))
    for step in SPACE_PROGRAM[space]:
        if step[0] >= 0:
            account.step(step, space)
    account.limit()
    _recruits(rows, account, face, space)
    account.limit()
    if SLOT_SET >> space & 1:
        risks += _construction(g, account, space, others)
    elif account.gets_worker:
        risks += _new_worker(g, account, owner, others)
    return cost_text, account.text(), joined([*risks, account.limit_words()])


def _bump_risks(g: np.void, p: int, space: int, owner: int, others: list[int]) -> list[str]:
    """Whom a placement bumps, and what the roll may do (R4.2)."""
    if owner < 0:
        return []
    face = int(g["face"][space])
    if owner == p:
        chance = loss_chance(g, p, int(g["knowledge"][p]), others, 1)
        sets = "its face may be set instead (Amanda)" if has(g, p, AMANDA) and Account(g, p).has_bliss() else ""
        penalty = roll_penalty(g, p)
        missing = "what is lost may be missing for the cost" if penalty else ""  # R4.3
        return [f"own {face} is bumped and rolled", check_words(chance), penalty, missing, sets]
    chance = loss_chance(g, owner, int(g["knowledge"][owner]), faces(g, owner), 1)
    sets = f"player {owner} may set its face (Amanda)" if has(g, owner, AMANDA) and Account(g, owner).has_bliss() else ""
    return [f"bumps player {owner}'s {face}", check_words(chance, "their "), sets]


def _pay(rows: np.ndarray, account: Account, space: int, extra_morale: int) -> str:
    """The cost of a space for a player, with the recruits that are another way to pay; it is taken from the account."""
    out = np.zeros(6, np.int64)
    artifacts = price(rows, 0, account.p, space, out)
    units_a, set_a, units_b, set_b, morale, knowledge = (int(value) for value in out)
    parts = [_artifact_ways(account, space)] if artifacts else []
    parts += [units(n, items) for n, items in ((units_a, set_a), (units_b, set_b)) if n]
    account.limit_sure = not ((set_a | set_b) >> KNOWLEDGE_ITEM & 1 and has(account.g, account.p, NICK))
    if artifacts:
        account.hand -= 2
    for n, items in ((units_a, set_a), (units_b, set_b)):
        if n and items & ARTIFACT_SET == items:
            account.hand -= n
        elif n and items & (items - 1) == 0:
            account.goods[items.bit_length() - 1] -= n
    if morale + extra_morale:
        account.marker("morale", -(morale + extra_morale))
    if knowledge:
        account.marker("knowledge", knowledge)
    return ", ".join([*parts, *account.sure])


def _artifact_ways(account: Account, space: int) -> str:
    """The ways to pay 3 artifacts or a pair that the player has (R10.1)."""
    g, p = account.g, account.p
    ways = ["3 artifacts"] if account.hand >= 3 else []
    if (g["artifacts"][p] >= 2).any() and not under(g, p, COURTHOUSE):
        ways.append("a pair of artifacts")
    if SPACES[space] == "ark_of_fractured_memories" and has(g, p, JACKO) and account.hand:
        ways.append("1 artifact")
    return listed(ways, "or")


def _recruits(rows: np.ndarray, account: Account, face: int, space: int) -> None:
    """The recruits that act on a placement, in the order in which they became active (R4.5, R4.11)."""
    scratch, acts = copy_rows(rows), np.zeros(len(ABILITIES), np.int8)
    acting(scratch, 0, account.p, face, space, int(account.star_placed), acts)
    before = Account(account.g, account.p)
    for card in account.active():
        for event in (*_BEFORE_PAYING, Event.PLACED):
            row = int(ROW[event, card])
            if row < 0 or not acts[row]:
                continue
            ability, why = ABILITIES[row], f" ({short_name(RECRUIT_NAMES[card])})"
            if ability.when == When.NO_ARTIFACT and account.hand or ability.when == When.TOOK_RESOURCE and account.hand:
                continue
            if ability.may:
                if (before if event in _BEFORE_PAYING else account).room(ability):
                    account.notes.append(offer_words(account, ability, card, space))
            elif ability.when in _IF:
                account.notes.append(f"{condition_words(ability.when)}: {effects_words(account, ability, space)}{why}")
                account.learns_if[ability.when] = sum(a for op, a, _ in ability.do if op == Effect.KNOWLEDGE)
            else:
                for step in ability.do:
                    account.step(step, space, why)


def answered(account: Account, space: int, met: set[When]) -> None:
    """The automatic abilities that act on a placement by how it was paid or what was taken, which fulfils these conditions."""
    for card in account.active():
        row = int(ROW[Event.PLACED, card])
        if row < 0 or not has(account.g, account.p, card):
            continue
        ability = ABILITIES[row]
        if ability.when in met and ability.at >> space & 1:
            for step in ability.do:
                account.step(step, space, f" ({short_name(RECRUIT_NAMES[card])})")


def offer_words(account: Account, ability: Ability, card: int, space: int) -> str:
    """An ability that will be asked: "optional: 1 artifact, for knowledge +2 (Kyle)"."""
    what = price_words(ability)
    price = f", for {what}" if what else ""
    return f"optional: {effects_words(account, ability, space)}{price} ({short_name(RECRUIT_NAMES[card])})"


def effects_words(account: Account, ability: Ability, space: int) -> str:
    """What an ability does here: the tunnel's resource by its name."""
    words = []
    for op, a, b in ability.do:
        if op == Effect.TUNNEL_RESOURCE:
            words.append(amount(a, RESOURCES[space - NUM_AREAS]))
        elif op == Effect.MINER:
            words.append(f"{faction(space - NUM_AREAS)} miner +1")
        else:
            words.append(step_words((op, a, b)))
    return ", ".join(filter(None, words))


def _construction(g: np.void, account: Account, space: int, others: list[int]) -> list[str]:
    """What a worker on a site does for its market (R9): how many are missing, or that it is built; the rolls that follow."""
    first = FIRST_SLOT + SLOTS_PER_SITE * ((space - FIRST_SLOT) // SLOTS_PER_SITE)
    owners = [int(owner) for owner in g["occupant"][first : first + SLOTS_PER_SITE] if owner >= 0] + [account.p]
    missing = int(WORKERS_TO_BUILD[int(g["num_players"])]) - len(owners)
    if missing > 0:
        account.notes.append(f"a star when {amount(missing, 'more worker')} {'have' if missing > 1 else 'has'} come")
        return []
    account.notes.insert(0, "the market is built")
    risks = []
    for q in sorted(set(owners), key=lambda seat: (seat != account.p, seat)):
        mine = q == account.p
        builder = account if mine else Account(g, q)
        builder.star("on the new market")
        if has(g, q, RAY):
            builder.marker("morale", 2, " (Ray)")
        builder.limit()
        knowledge, left, rolled = builder.track["knowledge"], others if mine else faces(g, q), owners.count(q)
        chance = loss_chance(g, q, knowledge, left, rolled)
        whose = "own" if mine else f"player {q}'s"
        risks.append(f"{whose} {amount(rolled, 'worker')} there {'are' if rolled > 1 else 'is'} rolled")
        risks += [check_words(chance, "" if mine else "their "), roll_penalty(g, q) if mine else ""]
        for when, more in builder.learns_if.items():
            wiser = loss_chance(g, q, min(knowledge + more, TRACK_END), left, rolled)
            risks += [check_words(wiser, f"{condition_words(when)}, ")] if wiser != chance else []
    return risks


def _new_worker(g: np.void, account: Account, owner: int, others: list[int]) -> list[str]:
    """The roll of a worker from the tank, after that of an own worker bumped there (R4.8)."""
    knowledge = account.track["knowledge"]
    if owner != account.p:
        chance = loss_chance(g, account.p, knowledge, others, 1)
    else:  # the bumped worker's roll comes first; it may be the one that costs a worker in this turn
        old = int(g["knowledge"][account.p])
        chance = sum(
            loss_chance(g, account.p, knowledge, [*others, f], 1) / 6
            for f in range(1, 7)
            if old + sum(others) + f < KNOWLEDGE_LIMIT
        )
    return ["the new worker is rolled", check_words(chance), roll_penalty(g, account.p)]


def out_of_reach(rows: np.ndarray, account: Account, ability: Ability) -> str:
    """The risk of an ability that acts before the placement is paid: that too little is left for its cost (R4.3)."""
    if ability.on not in (*_BEFORE_PAYING, Event.GETTING_BUMPED) or rows[0]["turn_player"] != account.p:
        return ""
    after = copy_rows(rows)
    g, p = after[0], account.p
    g["goods"][p] = account.goods
    g["knowledge"][p], g["morale"][p] = account.track["knowledge"], account.track["morale"]
    lost = affordable(rows, 0, p) and not affordable(after, 0, p)
    return "perhaps too little is left for the cost of the space" if lost else ""


# ------------------------------------------------------------------------------------------------------------- retrievals


def retrieval_account(g: np.void, p: int, payment: int) -> tuple[Account, str]:
    """The account after a retrieval is paid, and the cost (R3.4)."""
    account = Account(g, p)
    cost = ""
    if payment == RETRIEVE_FREE:
        account.marker("morale", -1 - under(g, p, CAFETERIA))
        cost, account.sure = ", ".join(account.sure), []
    elif payment == RETRIEVE_ENERGY:
        cost = "1 energy"
        account.marker("knowledge", -1)
        account.marker("morale", 1)
    else:
        cost = "1 food" if payment == RETRIEVE_FOOD else "1 bliss"
        if payment == RETRIEVE_BLISS and has(g, p, GIDGET):
            account.sure.append("morale +2 or knowledge -2 (Gidget)")
        else:
            account.marker("morale", 2)
    account.limit()
    return account, cost


def retrieval(g: np.void, p: int, payment: int) -> Foreseen:
    """A retrieval of any workers with this payment."""
    account, cost = retrieval_account(g, p, payment)
    on_board = int(g["owned"][p]) - len(faces(g, p))
    chances = [loss_chance(g, p, account.track["knowledge"], faces(g, p), n) for n in range(1, on_board + 1)]
    each = [f"{percent(chance)} with {amount(n, 'worker')}" for n, chance in enumerate(chances, 1) if chance]
    check = f"knowledge check, to lose the highest worker: {', '.join(each)}" if each else ""
    account.notes.append("the workers chosen are rolled")
    _retrieving_recruits(account, payment)
    return cost, account.text(), joined([check, roll_penalty(g, p), account.limit_words()])


def _retrieving_recruits(account: Account, payment: int) -> None:
    """The recruits that act on a retrieval."""
    for card in account.active():
        for event in (Event.RETRIEVING, Event.BEFORE_ROLL, Event.RETRIEVED):
            row = int(ROW[event, card])
            if row < 0 or not has(account.g, account.p, card):
                continue
            ability = ABILITIES[row]
            if ability.when == When.FREE_RETRIEVAL and payment != RETRIEVE_FREE:
                continue
            if ability.may:
                if account.room(ability):
                    account.notes.append(offer_words(account, ability, card, 0))
            else:
                effects = effects_words(account, ability, 0)
                account.notes.append(f"{condition_words(ability.when)}: {effects} ({short_name(RECRUIT_NAMES[card])})")


def retrieved_check(g: np.void, p: int, workers: int) -> str:
    """The risk of the retrieval under way with so many workers in all (R3.5: it is paid when all are chosen)."""
    account, _ = retrieval_account(g, p, int(g["payment"]))
    chance = loss_chance(g, p, account.track["knowledge"], faces(g, p), workers)
    return joined([check_words(chance), roll_penalty(g, p), account.limit_words()])
