"""The game in text: it has all that a seat may know and nothing else, answers are read without guesses, and the environments."""

from __future__ import annotations

import json
import random
import re
import sys
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from pettingzoo.test import api_test

import euphoria_env
from euphoria_env import Game, IllegalMove, Rules, actions, board, observations
from euphoria_env.cards.recruits import RECRUIT_NAMES
from euphoria_env.cards.tiles import TILES
from euphoria_env.decisions import DECISIONS, VERBS
from euphoria_env.event_kinds import SECRET
from euphoria_env.position import can_be_stated
from euphoria_env.rules import OPTIONS
from euphoria_env.text import TextOptions, observation_text, read_answer, rules_text
from tests.tools.playing import all_rules, differing, prefer, random_move
from tests.tools.positions import any_position

Told = dict[str, Any]
TEXT_ID = "euphoria_env/EuphoriaText-v0"

# ------------------------------------------------------------------------------------ from the text back to the observation

COUNTS = {"goods", "artifacts", "allegiance", "miners", "discards", "allegiance_before", "due", "chosen", "requested"}
NAMED = {"recruits", "tiles"}
LISTS = {"available_workers", "this_turn", "units", "first_group", "second_group", "paid", "helped", "to_roll", "taken"}
LISTS |= {"recruits_left_out", "markets_left_out"}
FACES = {"available_workers", "units"}  # lists of numbers
CHOSEN = ("hidden", "chosen as active", "in hand", "kept in the draft", "out of the game")
PAID = ("paid", "with gold", "with an artifact", "with one artifact at the ark", "with food for bliss")


def plain(text: str) -> Any:
    return {"yes": True, "none": None}.get(text, int(text) if text.isdigit() else text)


def read_value(key: str, text: str) -> Any:
    """Reads the value that follows a key in Markdown."""
    if key in COUNTS:
        return {name: int(n) for name, n in (part.rsplit(" ", 1) for part in text.split(", "))}
    if key in NAMED:
        return dict(part.split(" ", 1) for part in text.split(", "))
    if key in LISTS:
        return [int(face) for face in text.split(" ")] if key in FACES else text.split(", ")
    return plain(text)


def read_keyed(line: str) -> Told:
    return {key: read_value(key, text) for key, text in (part.split(" ", 1) for part in line.split("; "))}


def read_places(text: str, several: bool) -> Told:
    """Workers by space and player, or stars by place and player."""
    found: Told = {}
    for place, there in (part.split(": ", 1) for part in text.split("; ")):
        owners = (re.fullmatch(r"(you|player \d) ([\d ]+)", one) for one in there.split(", "))
        found[place] = {one[1]: [*map(int, one[2].split(" "))] if several else int(one[2]) for one in owners if one}
    return found


def read_markdown(text: str) -> Told:
    """The sections of a prompt in Markdown, as JSON has them."""
    told: Told = {}
    for part in text.removeprefix("## ").split("\n\n## "):
        heading, *lines = part.split("\n")
        name = heading.lower().replace(" ", "_")
        if name in ("game", "decision"):
            told[name] = read_keyed(lines[0])
        elif name in ("players", "board", "markets", "cards"):
            told[name] = dict(line.split(": ", 1) for line in lines)
        elif name == "legal_moves":
            told[name] = [move for line in lines for move in re.findall(r"`(.*?)`", line)]
        else:
            told[name] = [line.removeprefix("- ") for line in lines] if lines[0].startswith("- ") else lines[0]
    told["players"] = {name: read_keyed(line) for name, line in told["players"].items()}
    for key, text in told["board"].items():
        told["board"][key] = read_places(text, key == "workers") if key in ("workers", "stars") else read_value(key, text)
    return told


def digits(number: int) -> list[int]:
    return [number // 128**k % 128 for k in range(3)]


def marks(names: Any, told: Any) -> list[int]:
    """A number for each name: how many, or whether it is listed."""
    return [int(told.get(name, 0) if isinstance(told, dict) else name in told) for name in names]


def rebuilt(told: Told) -> np.ndarray:
    """The observation that a prompt describes."""
    game, decision, players = told["game"], told["decision"], [*told["players"]]
    fields = rules_told(game) | board_told(told, players)
    fields |= {"turn": digits(game["turn"]), "status": [("setup", "play", "over", "cut off").index(game["status"])]}
    for name, key in (("active", "on_turn"), ("decider", "decides")):
        fields[name] = marks(players, [game.get(key)])
    for k, about in enumerate(told["players"].values()):
        fields |= {f"player_{k}.{name}": numbers for name, numbers in player_told(about, told["board"], players[k], told).items()}
    own = told["players"]["you"]
    codes = {name: CHOSEN.index(state) + 1 for name, state in own.get("recruits", {}).items() if state in CHOSEN}
    fields |= {"own_recruits": marks(RECRUIT_NAMES, codes), "own_artifacts": marks(board.ARTIFACTS, own.get("artifacts", {}))}
    tiles = {
        name: ("in hand", "put in the game", "out of the game").index(state) + 1 for name, state in own.get("tiles", {}).items()
    }
    fields |= {"own_tiles": marks(TILES, tiles), "own_dilemma": marks(board.ARTIFACTS, [own.get("dilemma")])}
    fields |= {name: decision_told(name, value, decision, players) for name, value in decision.items()}
    found = np.zeros(observations.OBS_SIZE, np.int8)
    for name, numbers in fields.items():
        found[observations.start_of(name) :][: len(numbers)] = numbers
    return found


def rules_told(game: Told) -> dict[str, list[int]]:
    given = {name: game[name] for name in OPTIONS if name in game}
    for name in ("recruits", "markets"):
        given[name] = [card for card in OPTIONS[name].names if card not in game.get(f"{name}_left_out", [])]
    return {name: option.show(getattr(Rules(**given), name)) for name, option in OPTIONS.items()}


def player_told(about: Told, table: Told, name: str, told: Told) -> dict[str, list[int]]:
    active = [recruit for recruit, state in about.get("recruits", {}).items() if state.startswith("active")]
    built = {text.split(" ")[0]: market for market, text in told.get("markets", {}).items()}
    resolved = ("", "star", "recruit").index(about.get("dilemma_became", ""))
    return {
        "present": [1],
        "stars": [10 - about["stars_placed"]],
        "goods": marks(board.GOODS, about.get("goods", {})),
        "available": [about.get("available_workers", []).count(face) for face in range(1, 7)],
        "recruits": [active.index(card) + 1 if card in active else 0 for card in RECRUIT_NAMES],
        "recruit_stars": [int(about["recruits"][card] == "active with star") for card in active],
        "hand_size": [about.get("artifact_cards", 0)],
        "resolved": [resolved],
        "resolved_dilemma": marks(board.ARTIFACTS, [about["dilemma"]] if resolved else []),
        "penalties": [int(tile in built and name not in table.get("stars", {}).get(built[tile], {})) for tile in TILES],  # R12.1
        **{key: [about.get(key, 0)] for key in ("knowledge", "morale", "workers", "hidden_recruits")},
        **{flag: [int(flag in about.get("this_turn", []))] for flag in ("lost_worker", "used_geek", "used_gambler")},
    }


def board_told(told: Told, players: list[str]) -> dict[str, list[int]]:
    table, tiles, room = told["board"], told.get("markets", {}), [*players, *["nobody"] * (6 - len(players))]
    workers, stars = table.get("workers", {}), table.get("stars", {})
    others = [next(iter(workers.get(space, {"": [0]}).items())) for space in board.SPACES[4:]]
    areas = [workers.get(area, {}).get(name, []).count(f) for area in board.AREAS for name in room for f in range(1, 7)]
    return {
        "allegiance": marks(board.FACTIONS, table["allegiance"]),
        "miners": marks(board.FACTIONS[:3], table["miners"]),
        "areas": areas,
        "occupant": [players.index(name) + 1 if name else 0 for name, _ in others],
        "occupant_face": [face for _, (face,) in others],
        "built": [int(market in tiles) for market in board.MARKETS],
        "tile": [TILES.index(tiles[market].split(" ")[0]) + 1 if market in tiles else 0 for market in board.MARKETS],
        "market_stars": [stars.get(place, {}).get(name, 0) for place in board.MARKETS for name in room],
        "territories": [stars.get(place, {}).get(name, 0) for place in board.TERRITORIES for name in room],
        "discards": marks(board.ARTIFACTS, table.get("discards", {})),
        "deck_size": [table["deck"]],
    }


def decision_told(name: str, value: Any, decision: Told, players: list[str]) -> list[int]:
    units = board.GAINS if decision.get("verb") in ("gain", "mine") else board.ITEMS
    if name in ("partner", "bumped", "roller"):
        return [players.index(value) + 1]
    if name == "to_roll":
        pairs = [(0, 0) if one == "rolled" else (players.index(one[:-2]) + 1, int(one[-1])) for one in value]
        return [owner for owner, _ in pairs] + [face for _, face in pairs]
    if name == "taken":
        return [actions.parse(f"take {worker}") - actions.TAKE + 1 for worker in value]
    if name == "last":
        return [units.index(value)]
    lists = {"asked": DECISIONS, "allegiance_before": board.FACTIONS, "due": ("morale", "knowledge"), "requested": board.ITEMS}
    lists |= {"first_group": board.STAR_PLACES if decision["asked"] == "star" else units, "second_group": units, "chosen": units}
    lists |= {"paid": PAID, "helped": players}
    if name in lists:
        return marks(lists[name], [value] if name == "asked" else value)
    numbered = {"card": RECRUIT_NAMES, "verb": VERBS, "space": board.SPACES, "resolving": ("star", "recruit")}
    numbered |= {"payment": ("free", "food", "bliss", "energy")}
    if name in numbered:
        return [numbered[name].index(value) + 1]
    return value if name == "units" else [int(value)]


# ------------------------------------------------------------------------------------------------ complete, and without leaks


def another_deal(game: Game, seat: int, rng: random.Random) -> Game:
    """The same game as far as a seat knows: all that is hidden, also in its history, is something else."""
    other, noise = game.clone(), np.random.default_rng(rng.getrandbits(30))
    other._rows = game.determinize(seat, rng.getrandbits(30)).states.copy()
    events = other._log.events().copy()
    hidden = SECRET[events[:, 0]] & (events[:, 1] != seat) & (events[:, 2] >= 0)
    events[hidden, 2] = noise.integers(0, 6, hidden.sum())
    other._log._events = [events]
    secret = [
        k for k, move in enumerate(game.decided()) if move.player != seat and actions.name(move.action).startswith("choose")
    ]
    for k in secret:
        tile = other._moves[k] >= actions.CHOOSE_TILE
        other._moves[k] = actions.CHOOSE_TILE if tile else actions.CHOOSE_RECRUIT + rng.randrange(len(RECRUIT_NAMES))
    return other


def check_prompts(decisions: int, rng: random.Random) -> None:
    while True:
        rules = rng.choice([*all_rules()])
        fresh = rng.random() < 0.3
        game = Game(rules, rng.getrandbits(30)) if fresh else Game.from_dict({**any_position(rng), "seed": rng.getrandbits(30)})
        for number in range(120 if fresh else 15):
            if (decisions := decisions - 1) < 0:
                return
            seat, since = rng.choice([game.player, rng.randrange(game.rules.num_players)]), rng.randrange(number + 1)
            texts = {form: observation_text(game, seat, TextOptions(format=form), since) for form in ("markdown", "json")}
            told, read = json.loads(texts["json"]), read_markdown(texts["markdown"])
            moves = [move["move"] for move in told.get("legal_moves", [])]
            assert moves == (game.legal() if seat == game.player else [])
            assert {*read.pop("legal_moves", [])} == {*moves} and read == {
                k: v for k, v in told.items() if k != "legal_moves" and v
            }
            assert differing(rebuilt(told), game.observation(seat)) == []
            other = another_deal(game, seat, rng)
            assert all(observation_text(other, seat, TextOptions(format=form), since) == text for form, text in texts.items())
            if not game.legal():
                break
            game.play((prefer if rng.random() < 0.5 else random_move)(game, rng))


def test_a_prompt_has_what_its_seat_may_know_and_nothing_else() -> None:
    check_prompts(300, random.Random(1))


@pytest.mark.long
def test_many_prompts_have_what_their_seats_may_know_and_nothing_else() -> None:
    check_prompts(20_000, random.Random(2))


# ------------------------------------------------------------------------------------------------------------------ answers

LEGAL = ["place 4 generator", "place 4 farm", "retrieve free"]


@pytest.mark.parametrize(
    ("answer", "move"),
    [
        ("<move>place 4 farm</move>", "place 4 farm"),
        ("First <move>retrieve free</move>, no: <MOVE>\n Place  4\u00a0FARM </Move> it is.", "place 4 farm"),
        ("<p><move>`place 4 farm`</move></move></p>", "place 4 farm"),
        ('{"move": "retrieve free", "why": "..."}', "retrieve free"),
        ('```json\n{"plan": {"move": "place 4 farm"}, "Move" : " RETRIEVE free"}\n```', "retrieve free"),
        ('<move>place 4 farm</move> {"move": "retrieve free"}', "place 4 farm"),
        ("I take the energy.\r\n\r\n **Place 4 generator.** \n", "place 4 generator"),
    ],
)
def test_an_answer_is_read_leniently(answer: str, move: str) -> None:
    assert read_answer(answer, LEGAL) == (move, "", "")


@pytest.mark.parametrize(
    ("answer", "fault", "error"),
    [
        ("", "unreadable", "no move was found"),
        ("place 4 farm\nThat is my move", "unreadable", "no move was found"),
        ("place 4 farm place 4 farm", "unreadable", "no move was found"),
        ('{"move": 4}', "unreadable", "no move was found"),
        ("{'move': 'place 4 farm'}", "unreadable", "no move was found"),
        ("<move>place 4 farm</move", "unreadable", "no move was found"),
        ("<move></move>place 4 farm", "illegal", "'' is not a move of the game"),
        ("<move>place 4 farm or retrieve free</move>", "illegal", "'place 4 farm or retrieve free' is not a move"),
        ("<move>place 5 farm</move>\nplace 4 farm", "illegal", "'place 5 farm' is not legal now"),
        ("place 5 farm", "illegal", "'place 5 farm' is not legal now"),
        ("<move>pl\u0430ce 4 farm</move>", "illegal", r"'pl\u0430ce 4 farm' is not a move"),
        ("<move>place 4 farm\0</move>", "illegal", r"'place 4 farm\x00' is not a move"),
        ("<move>\ud800</move>", "illegal", r"'\ud800' is not a move"),
        ("<move>ta\u212ae 4 farm</move>", "illegal", "is not a move"),  # a Kelvin sign, whose lower case is k
    ],
)
def test_a_wrong_answer_is_no_move(answer: str, fault: str, error: str) -> None:
    read = read_answer(answer, LEGAL)
    assert (read.move, read.fault) == ("", fault) and error in read.error and read.error.isascii()


# ------------------------------------------------------------------------------------------------------------------- rules


def test_the_short_rules_name_all_spaces_and_moves_of_the_game() -> None:
    for rules in all_rules():
        text = rules_text("short", rules)
        assert len(text.split()) < 1000 and len(text) < 6000 and text.isascii()  # about 1,490 tokens with all options
        assert all(space.rpartition("_")[0] in text for space in board.SPACES if space not in board.MARKETS)
        verbs = {line.split(" ")[1].strip(":") for line in text.partition("## Moves")[2].split("\n") if line.startswith("- ")}
        trading = {"trade", "give", "ask", "offer", "accept", "refuse"}
        left_out = (set() if rules.trading else trading) | (set() if rules.track_draft else {"morale", "knowledge"})
        assert verbs == {name.split(" ")[0] for name in actions.NAMES} - left_out
    assert rules_text("none", Rules()) == "" and "R5.3" in rules_text("whole", Rules())


# ------------------------------------------------------------------------------------------------------------ environments


class First:
    """Plays the first legal move."""

    def act(self, observation: np.ndarray, mask: np.ndarray, rng: np.random.Generator, game: Any = None) -> int:
        return int(mask.argmax())


def made(**options: Any) -> Any:
    return gymnasium.make(TEXT_ID, opponents=First(), **{"num_players": 2, "seat": 0} | options)


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("options", [{}, {"illegal": "random", "tries": 1, "format": "json", "moves": "list", "rules": "short"}])
def test_the_interfaces_check(options: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """All but that an observation has the dtype of its space, which no text can have."""
    check_env(made(**options).unwrapped, skip_render_check=True)
    compatible = "_test_observation_space_compatibility"
    monkeypatch.setattr(sys.modules["pettingzoo.test.api_test"], compatible, lambda *_, **__: None, raising=False)
    api_test(euphoria_env.text_env(num_players=3, **options), num_cycles=60)


def test_a_game_in_text_is_the_game() -> None:
    """Played by its moves, with every seat told by its own text; equal seeds give equal texts."""
    twins = [euphoria_env.text_env(num_players=3, max_turns=20, reward="rank", moves="none", rules="whole") for _ in range(2)]
    plain_env, rng = euphoria_env.env(num_players=3, max_turns=20, reward="rank"), random.Random(4)
    for one in (*twins, plain_env):
        one.reset(seed=4)
    while plain_env.agents:
        (text, *rest, info), (other, *_) = twins[0].last(), twins[1].last()
        assert text == other and rest == [*plain_env.last()[1:4]] and twins[0].observation_space("player_0").contains(text)
        assert len(info["prompt_rules"]) > 20_000 and "## Legal moves" not in text
        done = plain_env.terminations[plain_env.agent_selection] or plain_env.truncations[plain_env.agent_selection]
        move = None if done else rng.choice(info["legal"])
        for one in twins:
            one.step(move and f"<move>{move}</move>")
        plain_env.step(None if move is None else actions.parse(move))
    assert twins[0].game.decided() and not twins[0].agents


@pytest.mark.parametrize("format", ["markdown", "json"])
def test_wrong_answers_get_an_error_and_another_try(format: str) -> None:
    env = made(format=format, illegal="lose")
    first, info = env.reset(seed=1)
    assert (info["error"], info["tries"], info["prompt_rules"]) == ("", 3, "")
    for answer, left in (("hello", 2), ("<move>place 9 farm</move>", 1)):
        text, reward, *ended, info = env.step(answer)
        assert (reward, ended, info["tries"]) == (0.0, [False, False], left) and info["error"].endswith(f"tries left: {left}")
        assert info["error"] in text and (
            json.loads(text) == {"error": info["error"]} | json.loads(first) if format == "json" else text.endswith(first)
        )
        assert info["legal"]
    _, _, *ended, info = env.step(info["legal"][0])
    assert ended == [False, False] and (info["error"], info["tries"]) == ("", 3)
    for _ in range(3):
        _, reward, terminated, _, info = env.step("hello")
    assert (reward, terminated, info["legal"], info["tries"]) == (-1.0, True, [], 0) and info["error"].endswith("you have lost")
    assert info["answers"] == {"decisions": 2, "legal_first": 0, "illegal": 1, "unreadable": 4, "random": 0}
    with pytest.raises(gymnasium.error.ResetNeeded):
        env.step("hello")


def test_the_last_wrong_answer_may_be_a_random_move_or_an_error() -> None:
    texts = []
    for seed in (1, 1, 2):
        env = made(illegal="random", tries=1, seat="random")
        env.reset(seed=seed)
        texts.append([env.step("hello")[0] for _ in range(8)])
        assert env.unwrapped._info()["answers"] == {"decisions": 8, "legal_first": 0, "illegal": 0, "unreadable": 8, "random": 8}
    assert texts[0] == texts[1] != texts[2] and "the random move '" in texts[0][0]
    env = made(illegal="raise", tries=2)
    env.reset(seed=1)
    told = env.step("hello")[0]
    for _ in range(2):
        with pytest.raises(IllegalMove, match="no move was found in the answer; legal are choose"):
            env.step("hello")
    assert env.unwrapped._observed_by_learner() == told
    for wrong in (4, None, b"place 4 farm", ["place 4 farm"]):
        with pytest.raises(ValueError, match="an answer must be a string, not"):
            env.step(wrong)


def test_in_the_environment_of_all_seats_who_answers_wrongly_loses() -> None:
    env = euphoria_env.text_env(num_players=3, tries=2)
    env.reset(seed=1)
    loser = env.agent_selection
    env.step("hello")
    assert env.agent_selection == loser and env.infos[loser]["tries"] == 1 and "hello" not in env.observe("player_1")
    assert env.infos["player_1"]["legal"] == [] and not any(env.rewards.values())
    env.step("hello")
    assert all(env.terminations.values()) and env.rewards == {agent: -1.0 * (agent == loser) for agent in env.possible_agents}
    assert env.infos[loser]["answers"]["unreadable"] == 2 and env.infos[loser]["legal"] == []


@pytest.mark.parametrize("seats", ["one", "all"])
def test_wrong_answers_tell_nothing_hidden(seats: str) -> None:
    """In games that their player cannot tell apart all is told alike, whatever wrong answer is given."""
    game, rng, tried = Game(Rules(num_players=3, trading=True, stars_to_win=4), 5), random.Random(5), 0
    while not game.over and tried < 6:
        twins = [game.determinize(game.player, k) for k in (1, 2)]
        if can_be_stated(game.states[0]) and rng.random() < 0.1:
            tried += 1
            options = {"num_players": 3, "illegal": "lose", "tries": 8, "trading": True, "stars_to_win": 4}
            envs = [made(seat=game.player, **options) if seats == "one" else euphoria_env.text_env(**options) for _ in twins]
            for env, twin in zip(envs, twins, strict=True):
                env.reset(seed=3, options={"position": twin.to_dict()})
            wrong = rng.sample([name for name in actions.NAMES if name not in game.legal()], 5)
            for answer in ["hello", "<move>" + wrong[0], *(f"<move>{move}</move>" for move in wrong)]:
                told = [env.step(answer) if seats == "one" else env.step(answer) or env.last() for env in envs]
                assert told[0] == told[1]
            assert told[0][-1]["tries"] == 1
        game.play(prefer(game, rng))
    assert tried == 6


@pytest.mark.parametrize("make", [made, euphoria_env.text_env])
def test_unknown_options_name_what_is_allowed(make: Any) -> None:
    wrong = {"moves": "consequences, list, none", "rules": "none, short, whole", "format": "markdown, json"}
    for name, allowed in (wrong | {"illegal": "lose, random, raise", "tries": "must be an integer from 1 to 100"}).items():
        with pytest.raises(ValueError, match=f"{name}.*{allowed}"):
            make(**{name: "all"})
    for name in ("mask", "events", *["seat", "opponents"] * (make is euphoria_env.text_env)):
        with pytest.raises(TypeError, match=f"unexpected keyword '{name}'"):
            make(**{name: 1})
