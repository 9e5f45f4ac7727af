"""Afterstates: what each legal move of a decision changes, as an input for networks (docs/environment.md#afterstates).

A move is played once, up to the next decision, in a copy of the game in which all that its player cannot know is dealt again; so
games that the player cannot tell apart have the same afterstates (R19). The module `engine.features` writes them.
"""

from __future__ import annotations

from euphoria_env.board import MAX_PLAYERS

# The features of a player, name and meaning; trained networks depend on their order.
FEATURES = (
    ("placed", "stars placed, those not needed to win (R17.5) included"),
    ("placed_squared", "a tenth of their square"),
    ("second_worker", "owns at least two workers"),
    ("third_worker", "at least three"),
    ("fourth_worker", "four"),
    ("available", "available workers"),
    ("equal", "available workers that could follow an equal one in the same turn (R3.3)"),
    ("knowledge", "step of the knowledge marker"),
    ("at_risk", "knowledge above 3 for each worker above 2 (R5.3)"),
    ("morale", "step of the morale marker"),
    ("commodities", "energy, water and food, up to 1 each"),
    ("more_commodities", "the second to fourth of each"),
    ("first_bliss", "up to 1"),
    ("more_bliss", "the second to fourth"),
    ("resources", "gold, stone and clay, up to 1 each"),
    ("more_resources", "the second and third of each"),
    ("cards", "cards, up to 3"),
    ("more_cards", "cards beyond the third"),
    ("pair", "pairs among them"),
    ("stake_one", "sites that lack one worker and where one has one already"),
    ("stake_more", "sites that lack more"),
    ("active", "active recruits without their star"),
    ("active_progress", "for each of them the square of the share its track has gone"),
    ("hidden_progress", "the same for hidden recruits"),
    ("commodity_bonus", "factions with an active recruit and step 2 (R7.2)"),
    ("tunnel_bonus", "and step 5 (R7.3)"),
    ("dilemma", "the dilemma can be resolved for a star"),
    ("dilemma_open", "it is not yet resolved"),
    ("penalties", "market penalties in force"),
    ("ready", "a star is affordable: by an available worker"),
    ("ready_later", "by a worker that must first be retrieved"),
    ("to_move", "it is the player's turn"),
)
# What else is told of a move, as 0 or 1.
FACTS = (
    ("again", "the same player decides next, in the same turn"),
    ("asks_another", "another player must decide before the turn goes on"),
    ("chance", "something was drawn, shuffled or rolled"),
    ("ends", "the game has ended or was cut off"),
    ("wins", "the player who moved has won"),
)
# The columns of `Game.afterstates`: how the features of each player change, from the one who decides on, in turn order.
NAMES = tuple(f"player_{k}.{name}" for k in range(MAX_PLAYERS) for name, _ in FEATURES) + tuple(name for name, _ in FACTS)


def table() -> list[tuple[str, str]]:
    """Returns the name and the meaning of every column; features that depend on hidden cards change for player_0 alone."""
    meanings = [*(f"change of: {meaning}" for _, meaning in MAX_PLAYERS * FEATURES), *(meaning for _, meaning in FACTS)]
    return [*zip(NAMES, meanings, strict=True)]
