"""How right is a trained player about who wins? Some measures of each of its sources of win probabilities:

- *log-loss* of the results of games that it plays against itself, at a quarter, half and three quarters of a game, and a table of
  reliability: the share of the seats with a chance in some range that won;
- *error* against playouts: the mover's chance in fixed test positions (`benchmarks/value_positions.npz`) against the share of 256
  games that the shipped player won from there, with the cards that the mover cannot know dealt again each time;
- *hidden cards*: whether they may be dealt again from all that are possible. The share won with the cards as they lie is fitted
  by the share with cards dealt again and by the chance: the nearer these weights are to 1 and 0, the better are such deals. How
  far the chance is off from this fit is its error without that of the deals;
- *Bellman residual*: from one decision of a seat to its next one, the square of the mean change, beside the true noise of dice,
  cards and other players. Both in squares of a percent;
- *advantages* (with `--advantages K`): how noisy are the advantages from which PPO would learn (generalized advantage estimation,
  Schulman et al. 2016, without discount), by lambda? Two moves are drawn in each test position where none has 90 % of the policy,
  and the game is played on K times after each. The difference of the shares won is how much their advantages truly differ.

The sources are its win probabilities (`outlook`), its value turned into chances (of all seats, divided by their sum) and the
evaluation of `greedy`. Only the first knows no more than the mover: the others also read the cards of the other seats.
`--make FILE` makes new test positions instead (4 minutes for two players, up to 24 for six)."""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # before numpy: the arrays are small, more threads only wait for each other

import dataclasses
import io
import itertools
from collections.abc import Callable
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.progress import track
from rich.table import Table

from euphoria_agents.dataclass_arguments import command, option, parse_options
from euphoria_agents.files import write_whole
from euphoria_agents.network.layouts import UNNAMED, description, is_present
from euphoria_agents.players.ppo import PPO, checkpoint_path
from euphoria_agents.players.search import inference
from euphoria_agents.players.search.evaluation import WEIGHTS, seat_chances
from euphoria_agents.training.play_kernels import NOBODY, show_decisions
from euphoria_agents.training.self_play import (
    MOST_TURNS,
    continued,
    dealt_again,
    play_games,
    play_until,
    playout_win_rates,
    winners,
)
from euphoria_env import Rules
from euphoria_env.actions import NUM_ACTIONS
from euphoria_env.board import MAX_PLAYERS
from euphoria_env.engine.features import NUM_FEATURES
from euphoria_env.engine.jit import entry
from euphoria_env.engine.loop import step
from euphoria_env.engine.state import GAME_DTYPE, OVER, ROWS
from euphoria_env.engine.tape import empty_tape
from euphoria_env.observations import OBS_SIZE

SET_FILES = {"": rb"PK\x03\x04.{26}phase_\d\.npy"}
TEST_SET = Path(__file__).parents[1] / "benchmarks" / "value_positions.npz"
POSITIONS, PLAYOUTS = 2000, 256  # of the test set, for each number of players
AS_THEY_LIE = 32  # further playouts of each position, with the true cards
CONTINUATIONS = 24  # of a position, for the Bellman residual
BINS = np.linspace(0, 1, 11)
MOMENTS = (0.25, 0.5, 0.75)  # of a game
NEAR = 0.05  # how far off these a position may be
SMALLEST = 1e-3  # chance that a value is taken for
LAMBDAS = (0.0, 0.5, 0.8, 0.9, 0.95, 1.0)
UNSETTLED = 0.9  # most that a move may have of the policy for the position to count for advantages
AT_ONCE = 50  # positions between two signs of progress


Judge = Callable[[np.ndarray], dict[str, np.ndarray]]  # everybody's chances, (K, n), in some positions, by their source


@dataclasses.dataclass
class Options:
    """Compares a trained player's win probabilities with results and with playouts."""

    player: str = option("", "the file of the player; the one that ships, if none is named")
    players: list[int] = option([2, 4], "numbers of players; there are test positions for each")
    games: int = option(1000, "games of each number of players for the log-loss; 0: leave it out")
    positions: int = option(2000, "test positions of each number of players; 0: leave errors and residuals out")
    advantages: int = option(0, "games played on after each of two moves in unsettled test positions; 0: leave advantages out")
    make: Path | None = option(None, "write new test positions to this file, and measure nothing", files=SET_FILES)
    seed: int = option(0, "equal seeds give equal games")


@dataclasses.dataclass
class TestSet:
    """Positions with a choice, one of a game each.

    Attributes:
        rows: (N,), the positions.
        phase: (N,), the share of the game that was played.
        won: (N, n), the share of the playouts that each seat won, hidden cards dealt again.
        true: (N,), the share that the mover won with the cards as they lie.
    """

    rows: np.ndarray
    phase: np.ndarray
    won: np.ndarray
    true: np.ndarray


@entry(inference.NETWORK, "int64", ROWS, "float64[:] float64[:,:] float64[:,:] float64[:,:]")
def judge(net, reward, positions, features, by_outlook, by_value, by_evaluation):  # type: ignore[no-untyped-def]
    """Writes everybody's chances in some positions: (K, MAX_PLAYERS) each, those of the value not yet divided by their sum."""
    for k in range(len(positions)):
        g = positions[k]
        if inference.has_win_probs(net):
            inference.encode(net, g, int(g["player"]))
            inference.win_probs(net, g, int(g["player"]), by_outlook[k])
        for p in range(int(g["num_players"])):
            inference.evaluate(net, g, p)
            by_value[k, p] = max(SMALLEST, inference.chance_to_win(g, p, inference.value(net), reward))
        seat_chances(g, WEIGHTS, features, by_evaluation[k])


def judged(net: inference.SearchNetwork, reward: int, positions: np.ndarray, n: int) -> dict[str, np.ndarray]:
    """Everybody's chances in all positions, (K, n) each, by their source."""
    found = {name: np.zeros((len(positions), MAX_PLAYERS)) for name in ("outlook", "value", "evaluation")}
    judge(net, reward, positions, np.zeros(NUM_FEATURES), *found.values())
    if not inference.has_win_probs(net):
        del found["outlook"]
    found["value"] /= found["value"].sum(1, keepdims=True)
    over = positions["status"] >= OVER
    for chances in found.values():
        chances[over] = winners(positions[over])[:, None] == np.arange(MAX_PLAYERS)
    return {name: chances[:, :n] for name, chances in found.items()}


def make_test_set(path: Path, agent: PPO, numbers: list[int], rng: np.random.Generator) -> None:
    """Writes test positions of games of the agent with itself, and its playouts of each."""
    arrays = {"layout": np.array(description()["layout"])}
    for n in numbers:
        kept = play_games(agent, POSITIONS, Rules(num_players=n, max_turns=MOST_TURNS), rng, kept=1)
        starts = track(
            range(0, len(kept.rows), AT_ONCE), f"playouts, {n} players", console=Console(stderr=True, emoji=False, markup=False)
        )
        won = [playout_win_rates(agent, kept.rows[start : start + AT_ONCE], PLAYOUTS, rng)[:, :n] for start in starts]
        arrays[f"rows_{n}"] = kept.rows.view(np.uint8).reshape(len(kept.rows), -1)
        arrays[f"phase_{n}"] = kept.shares.astype(np.float32)
        arrays[f"won_{n}"] = np.concatenate(won).astype(np.float32)
        arrays[f"true_{n}"] = true_win_rates(agent, kept.rows, rng).astype(np.float32)
    file = io.BytesIO()
    np.savez_compressed(file, **arrays)
    write_whole(path, file.getvalue())


def true_win_rates(agent: PPO, positions: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """The share, (N,), of AS_THEY_LIE games that the mover wins from each position if nothing is dealt again."""
    rows = np.repeat(positions, AS_THEY_LIE)
    rows["rng"] = rng.integers(1, 2**31 - 1, (len(rows), 2))
    play_until(agent, rows, rng, np.full(len(rows), NOBODY))
    won: np.ndarray = winners(rows).reshape(len(positions), AS_THEY_LIE) == positions["player"][:, None]
    return won.mean(1)


def read_test_set(path: Path, n: int) -> TestSet:
    """The test positions of n players.

    Raises:
        ValueError: the file has none, or is of another version of the game's state.
    """
    with np.load(path, allow_pickle=False) as file:
        if f"true_{n}" not in file:
            raise ValueError(f"{path}: no test positions of {n} players")
        rows, *shares = (file[f"{name}_{n}"] for name in ("rows", "phase", "won", "true"))
        same = rows.shape[1] == GAME_DTYPE.itemsize and is_present({"layout": str(file.get("layout", UNNAMED))})
    if not same:
        raise ValueError(f"{path}: positions of another version, whose states and cards have other numbers; --make new ones")
    return TestSet(np.ascontiguousarray(rows).view(GAME_DTYPE)[:, 0], *shares)


def add_errors(table: Table, n: int, test: TestSet, sources: dict[str, np.ndarray]) -> None:
    """Compares the mover's chances with the playouts: the root of the mean squared error, less the noise of the playouts."""
    mover = np.arange(len(test.rows)), test.rows["player"].astype(np.int64)
    won = test.won[mover]
    noise = won * (1 - won) / (PLAYOUTS - 1)
    spread = won.var() - noise.mean()
    for name, chances in sources.items():
        off = chances[mover] - won
        squares = off**2 - noise
        thirds = [squares[(test.phase >= k / 3) & (test.phase < (k + 1) / 3)].mean() for k in range(3)]
        roots = [f"{100 * max(0.0, one) ** 0.5:.1f} %" for one in [squares.mean(), *thirds]]
        table.add_row(str(n), name, *roots, f"{100 * off.mean():+.1f} %", f"{1 - squares.mean() / spread:.0%}")


def add_beliefs(table: Table, n: int, test: TestSet, sources: dict[str, np.ndarray]) -> None:
    """Fits the share won with the cards as they lie by the share with cards dealt again, the chance, and a constant."""
    mover = np.arange(len(test.rows)), test.rows["player"].astype(np.int64)
    again = test.won[mover]
    for name, chances in sources.items():
        terms = np.stack([again, chances[mover], np.ones(len(again))], 1)
        weights = np.linalg.lstsq(terms, test.true, rcond=None)[0]
        off = np.sqrt(np.mean((terms @ weights - chances[mover]) ** 2))
        means = (f"{one.mean():.1%}" for one in (test.true, again, chances[mover]))
        table.add_row(str(n), name, *means, f"{weights[0]:.2f}", f"{weights[1]:.2f}", f"{off:.1%}")


def add_residuals(table: Table, n: int, test: TestSet, judge: Judge, agent: PPO, seed: int) -> None:
    """Compares what is said at a decision with what is said at the seat's next one, over several continuations."""
    rows, rng = test.rows, np.random.default_rng(seed)
    seats = rows["player"].astype(np.int64)
    after = continued(agent, rows, CONTINUATIONS, rng, seats)
    before, later = judge(rows), judge(after)
    goes_on = (after["status"] < OVER).reshape(len(rows), -1).all(1)
    for name, chances in before.items():
        said = chances[np.arange(len(rows)), seats][goes_on]
        next_said = later[name].reshape(len(rows), CONTINUATIONS, n)[np.arange(len(rows)), :, seats][goes_on]
        noise = next_said.var(1, ddof=1)
        residual = (next_said.mean(1) - said) ** 2 - noise / CONTINUATIONS
        table.add_row(str(n), name, f"{goes_on.sum():,}", f"{1e4 * residual.mean():.1f}", f"{1e4 * noise.mean():.1f}")


def pairs_of_moves(agent: PPO, rows: np.ndarray, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """The indices, (K,), of the positions where no move has `UNSETTLED` of the policy, and two moves drawn from it, (K, 2)."""
    observations, masks = np.empty((len(rows), OBS_SIZE), np.int8), np.empty((len(rows), NUM_ACTIONS), np.bool_)
    show_decisions(rows, np.arange(len(rows)), observations, masks)
    chances = np.exp(agent.log_chances(observations, masks).astype(np.float64))
    some = np.flatnonzero(chances.max(1) < UNSETTLED)
    return some, np.array([rng.choice(NUM_ACTIONS, 2, replace=False, p=one / one.sum()) for one in chances[some]])


def said_until_the_end(
    agent: PPO, rows: np.ndarray, seats: np.ndarray, judge: Judge, rng: np.random.Generator
) -> dict[str, np.ndarray]:
    """Plays games to their ends.

    Returns:
        by source, (decisions, N): a seat's chance at each of its decisions from now on; where its game is over, whether it won.
    """
    said = dict[str, list[np.ndarray]]()
    going, ahead = np.arange(len(rows)), rows["player"] != seats
    while len(going):
        moving = going[ahead]
        played = rows[moving]
        play_until(agent, played, rng, seats[moving])
        rows[moving] = played
        for name, chances in judge(rows[going]).items():
            now = said[name][-1].copy() if name in said else np.zeros(len(rows))
            now[going] = chances[np.arange(len(going)), seats[going]]
            said.setdefault(name, []).append(now)
        going = going[rows["status"][going] < OVER]
        ahead = np.ones(len(going), np.bool_)
    return {name: np.stack(each) for name, each in said.items()}


def add_advantages(table: Table, n: int, test: TestSet, judge: Judge, agent: PPO, times: int, seed: int) -> None:
    """Compares what two moves differ in: by estimates from half of the games after each, and truly, by the other half."""
    rng = np.random.default_rng(seed)
    some, moves = pairs_of_moves(agent, test.rows, rng)
    rows, tape = dealt_again(test.rows[some], 2 * times, rng), empty_tape()
    seats = rows["player"].astype(np.int64)
    for i, move in enumerate(np.repeat(moves, times).tolist()):
        step(rows, i, move, tape)
    for name, said in said_until_the_end(agent, rows, seats, judge, rng).items():
        won, changes = said[-1].reshape(-1, 2, times), np.diff(said, axis=0)
        halves = [won[:, 0, half::2] - won[:, 1, half::2] for half in (0, 1)]
        true = halves[0].mean(1)
        deviation = np.sqrt((true * halves[1].mean(1)).mean())
        for lambda_ in LAMBDAS:
            values = (said[0] + lambda_ ** np.arange(1, len(said)) @ changes).reshape(-1, 2, times)
            differences = values[:, 0, 1::2] - values[:, 1, 1::2]
            noise = np.sqrt(differences.var(1, ddof=1).mean())
            correlation = (true * differences.mean(1)).mean() / deviation / np.sqrt((differences**2).mean())
            table.add_row(str(n), name, f"{lambda_}", f"{deviation:.2%}", f"{noise:.1%}", f"{correlation:.3f}")


def add_losses(table: Table, n: int, games: int, agent: PPO, judge: Judge, seed: int) -> dict[str, np.ndarray]:
    """Compares the chances with the results of new games; returns by source the chance of each seat, and whether it won."""
    kept = play_games(agent, games, Rules(num_players=n, max_turns=MOST_TURNS), np.random.default_rng([seed, n]))
    won, chances = kept.winners[:, None] == np.arange(n), judge(kept.rows)
    for name, found in chances.items():
        loss = -np.log(found[won])
        means = [loss[abs(kept.shares - moment) < NEAR].mean() for moment in MOMENTS]
        table.add_row(str(n), str(games), name, *(f"{mean:.3f}" for mean in [*means, loss.mean()]))
    return {name: np.stack([found.ravel(), won.ravel()]) for name, found in chances.items()}


def reliability(name: str, said: np.ndarray, won: np.ndarray) -> Table:
    """Each range of chances: the number of seats that were given one, their mean chance, and the share of them that won."""
    table = Table("chance", "seats", "said", "won", title=f"reliability of {name}")
    for low, high in itertools.pairwise(BINS):
        here = (said >= low) & ((said < high) | (high == 1))
        means = (f"{one[here].mean():.1%}" if here.any() else "" for one in (said, won))
        table.add_row(f"{low:.0%} to {high:.0%}", f"{here.sum():,}", *means)
    return table


def main() -> None:
    options, console = parse_options(Options), Console(emoji=False, markup=False)
    if options.advantages and not (options.advantages >= 4 and options.positions):
        raise ValueError("advantages must be 0 or at least 4, and they need test positions")
    path = checkpoint_path(options.player)
    agent, (net, reward) = PPO.load(path), inference.load_network(path)
    if options.make is not None:
        return make_test_set(options.make, agent, options.players, np.random.default_rng(options.seed))
    errors = Table(
        "players", "by", "all", "first third", "second", "last", "bias", "explains", title="error of the mover's chance"
    )
    beliefs = Table(
        "players", "by", "won", "dealt again", "said", "weight of again", "of said", "off from both", title="cards as they lie"
    )
    residuals = Table("players", "by", "positions", "residual", "true noise", title="Bellman residual, squares of a percent")
    advantages = Table("players", "by", "lambda", "true", "noise of one", "correlation", title="advantages of moves")
    losses = Table("players", "games", "by", *(f"at {moment:.0%}" for moment in MOMENTS), "all", title="log-loss")
    shipped, seats = PPO.load(checkpoint_path("")), dict[str, list[np.ndarray]]()
    for n in options.players:

        def judge_all(rows: np.ndarray, n: int = n) -> dict[str, np.ndarray]:
            return judged(net, reward, rows, n)

        if options.positions:
            test = read_test_set(TEST_SET, n)
            test = TestSet(*(array[: options.positions] for array in vars(test).values()))
            said = judge_all(test.rows)
            add_errors(errors, n, test, said)
            add_beliefs(beliefs, n, test, said)
            add_residuals(residuals, n, test, judge_all, shipped, options.seed)
            if options.advantages:
                add_advantages(advantages, n, test, judge_all, shipped, options.advantages, options.seed)
        if options.games:
            for name, found in add_losses(losses, n, options.games, agent, judge_all, options.seed).items():
                seats.setdefault(name, []).append(found)
    for table in (errors, beliefs, residuals, advantages, losses):
        if table.row_count:
            console.print(table)
    for name, parts in seats.items():
        console.print(reliability(name, *np.concatenate(parts, 1)))


if __name__ == "__main__":
    command(main)
