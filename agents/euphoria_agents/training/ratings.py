"""Rates a finished player by games against the baselines of its run."""

from __future__ import annotations

import json
from pathlib import Path

from rich.console import Console

from euphoria_agents.files import write_whole
from euphoria_agents.matches.match import play_match
from euphoria_agents.players.ppo import PPO
from euphoria_agents.progress import Progress
from euphoria_agents.training.config import Options
from euphoria_env import Rules

RATED = {2, 4}  # the numbers of players in these games; all numbers of the run, if it has neither


def rate_player(options: Options, player: Path, out: Path, console: Console) -> None:
    """Plays `rating_games` against copies of each baseline, prints the results and writes them as JSON.

    Args:
        options: the options of the run.
        player: the checkpoint of the player.
        out: the file for the results.
        console: shows a progress bar and the results.
    """
    agent, results = PPO.load(player), list[dict[str, object]]()
    numbers = sorted(set(options.players) & RATED) or sorted(set(options.players))
    matches = [(n, name) for n in numbers for name in dict.fromkeys(options.baselines)]
    with Progress(console, "rating", "games", options.rating_games * len(matches)) as bar:
        for n, name in matches:
            rules = Rules(num_players=n, **options.game)
            score = play_match([agent, *[name] * (n - 1)], options.rating_games, rules, options.seed, bar.advance).scores[0]
            console.print(f"{n} players, against {name}: {score}")
            results.append(
                {"players": n, "against": name, "wins": score.wins, "games": score.games, "rank": round(score.mean_rank, 3)}
            )
    write_whole(out, json.dumps(results, indent=1))
