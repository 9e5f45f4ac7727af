"""Games with other options among those of a training run."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("torch")
from euphoria_agents.training.config import Options  # noqa: E402
from euphoria_agents.training.rules_mixture import DRAWS, draw_options, game_parts  # noqa: E402
from euphoria_env.board import NUM_MARKETS  # noqa: E402
from euphoria_env.cards.tiles import TILES  # noqa: E402
from euphoria_env.rules import OPTIONS, Rules  # noqa: E402


def test_no_game_is_mixed_in_unless_asked_for() -> None:
    (parts,) = game_parts(Options(threads=1, players=[2, 4, 4], envs=30, game={"trading": True, "max_turns": 50}))
    assert parts == [
        (10, {"num_players": 2, "max_turns": 50, "trading": True}),
        (20, {"num_players": 4, "max_turns": 50, "trading": True}),
    ]


@pytest.mark.parametrize("share", [0.001, 0.1, 1.0])
def test_the_share_of_the_mixed_games(share: float) -> None:
    (parts,) = game_parts(Options(threads=1, players=[2, 6], envs=2000, random_rules=share))
    mixed = sum(games for games, rules in parts if set(rules) > {"num_players", "max_turns"})
    assert sum(games for games, _ in parts) == 2000 and mixed and mixed == pytest.approx(2000 * share, abs=2 * DRAWS)


def test_draws_depend_on_seed_and_number() -> None:
    one, same, other_seed = (
        game_parts(Options(threads=1, players=[3], envs=40, random_rules=1.0, seed=seed))[0] for seed in (0, 0, 1)
    )
    assert one == same and sum(games > 0 for games, _ in one) == DRAWS
    kinds = [str(rules) for parts in (one, other_seed) for games, rules in parts if games]
    assert len(set(kinds)) == len(kinds)


@pytest.mark.parametrize("n", range(2, 7))
def test_every_option_is_drawn_and_every_draw_is_allowed(n: int) -> None:
    drawn = [Rules(**draw_options(np.random.default_rng(k), n), num_players=n) for k in range(60)]
    for name in set(OPTIONS) - {"num_players", "max_turns"}:
        assert len({getattr(rules, name) for rules in drawn}) > 1, name


def test_every_thread_has_a_part_of_each_kind() -> None:
    for threads in (1, 2, 3, 5, 8):
        parts = game_parts(Options(threads=threads, players=[2, 4, 4], envs=30))
        assert len(parts) == threads
        for kind, games in ((0, 10), (1, 20)):
            sizes = [part[kind][0] for part in parts]
            assert sum(sizes) == games and max(sizes) - min(sizes) <= 1


def test_what_is_set_stays() -> None:
    fixed = {"trading": True, "stars_to_win": 7}
    for _, rules in game_parts(Options(threads=1, players=[6], envs=8, random_rules=1.0, game=fixed))[0]:
        assert rules["trading"] and rules["stars_to_win"] == 7
    given = {"markets": list(TILES[:NUM_MARKETS])}
    for seed in range(20):
        for _, rules in game_parts(Options(threads=1, players=[6], envs=8, random_rules=1.0, seed=seed, game=given))[0]:
            assert Rules(**rules).markets == tuple(given["markets"])  # too few for a draft of the tiles
