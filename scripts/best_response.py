"""How safe is a trained player? A learner that meets nobody else and begins as its copy learns to beat it; its final win rate
shows how far from unbeatable the player is. The best of several learning rates counts, chosen on other deals than those of the
result. Finished work lies in the folder and is not repeated."""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # before numpy: the arrays are small, more threads only wait for each other

import dataclasses
import json
from pathlib import Path

from rich.console import Console

from euphoria_agents import load
from euphoria_agents.dataclass_arguments import command, option, parse_options, written_folder
from euphoria_agents.files import write_whole
from euphoria_agents.matches.journal import pin_plan
from euphoria_agents.matches.match import Score, play_match
from euphoria_agents.matches.tournament import check_counts
from euphoria_agents.network.checkpoint import parts, read_checkpoint
from euphoria_agents.players.ppo import checkpoint_path
from euphoria_agents.registry import file_hashes
from euphoria_env import Rules

CHOOSING, COUNTING = 1, 2  # seeds: of the deals on which the learning rate is chosen, and of those that count


@dataclasses.dataclass
class Options:
    """Trains a learner against one frozen player, from a copy of it, and says how much it wins."""

    player: str = option("", "the file of the player; the one that ships, if none is named")
    out: Path = option(Path("runs/best_response"), "folder of the runs and the result", type=written_folder)
    players: int = option(2, "number of players")
    decisions: int = option(10_000_000, "decisions of each learner")
    learning_rates: list[float] = option([1e-4, 3e-4, 6e-4], "of the learners")
    games: int = option(1000, "games to choose, and again to count")
    threads: int = option(os.cpu_count() or 1, "threads that play and learn")
    seed: int = option(0, "of the runs; the deals that count are always the same")


def learner(options: Options, player: Path, rate: float, console: Console) -> Path:
    """The learner with this learning rate, trained unless it exists, and resumed if it is not finished."""
    from euphoria_agents.training import config, saved_run, trainer  # brings PyTorch along: not before it is needed

    folder = options.out / f"{rate:g}"
    spec = f"ppo:{player}"
    if (folder / saved_run.STATE).exists():
        choices = config.Options(resume=folder, baselines=[spec])
    else:
        network = parts(read_checkpoint(player)[1], player)
        choices = config.Options(
            run=folder, start=player, baselines=[spec], players=[options.players], self_play=0.0, newest=0.0, older=0.0,
            trunk=[len(bias) for _, bias in network.trunk], decisions=options.decisions, learning_rate=rate,
            threads=options.threads, seed=options.seed, reward="win",
            gamma=0.999, gae_lambda=0.95, epochs=3, entropy=0.002, rate=200, snapshot=100, win_probs_games=0,
        )  # fmt: skip
    trainer.train(choices, console)
    return folder / "ppo.safetensors"


def wins(response: Path, player: Path, options: Options, seed: int) -> Score:
    """The results of a learner on the deals of a seed, alone against the player."""
    line_up = [load(f"ppo:{response}"), *[load(f"ppo:{player}")] * (options.players - 1)]
    return play_match(line_up, options.games, Rules(num_players=options.players), seed).scores[0]


def main() -> None:
    options, console = parse_options(Options), Console(emoji=False, markup=False)
    check_counts(games=options.games, seed=options.seed)
    player = checkpoint_path(options.player)
    asked = {name: getattr(options, name) for name in ("players", "decisions", "seed")}
    pin_plan(options.out, {"player": file_hashes(f"ppo:{player}"), **asked})
    chosen: dict[float, Score] = {}
    for rate in options.learning_rates:
        console.print(f"learning rate {rate:g}")
        chosen[rate] = wins(learner(options, player, rate, console), player, options, CHOOSING)
        console.print(f"learning rate {rate:g}: {chosen[rate]}")
    best = max(chosen, key=lambda rate: chosen[rate].wins)
    found = wins(options.out / f"{best:g}" / "ppo.safetensors", player, options, COUNTING)
    result = {
        "player": str(player), "players": options.players, "decisions": options.decisions, "learning_rate": best,
        "chosen": {f"{rate:g}": score.to_dict() for rate, score in chosen.items()}, "counted": found.to_dict(),
    }  # fmt: skip
    write_whole(options.out / "result.json", json.dumps(result, indent=1))
    console.print(f"the best response, learning rate {best:g}, against {player.name} on other deals: {found}")
    console.print(f"written: {options.out / 'result.json'}")


if __name__ == "__main__":
    command(main)
