"""Checks an installed euphoria_env: `python check_installed.py REPOSITORY RECORD...`, outside the repository.

It must come from elsewhere than the repository, import lightly, play in every interface, and replay the records.
"""

from __future__ import annotations

import sys
from pathlib import Path

HEAVY = ("torch", "matplotlib")


def main(repository: str, *records: str) -> None:
    import euphoria_env

    place = Path(euphoria_env.__file__).resolve()
    assert Path(repository).resolve() not in place.parents, f"{place} is in the repository"
    loaded = [name for name in HEAVY if name in sys.modules]
    assert not loaded, f"importing euphoria_env imports {loaded}"

    game = euphoria_env.Game(euphoria_env.Rules(num_players=3, max_turns=20), seed=1)
    while game.legal():
        game.play(game.legal()[-1])
    assert game.truncated and euphoria_env.Game.from_record(game.to_record()) == game
    assert str(game) and game._repr_svg_().lstrip().startswith("<")
    batch = euphoria_env.Batch(2, seed=1)
    for _ in range(20):
        batch.step(batch.mask.argmax(axis=1))
    environment = euphoria_env.env(num_players=2)
    environment.reset(seed=1)
    environment.step(int(environment.observe(environment.agent_selection)["action_mask"].argmax()))
    for record in records:
        euphoria_env.Game.from_record(Path(record).read_text())
    version = ".".join(map(str, sys.version_info[:3]))
    print(f"euphoria_env works with Python {version} from {place.parent}; {len(records)} records replayed")


if __name__ == "__main__":
    main(*sys.argv[1:])
