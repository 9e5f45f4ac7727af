"""Writes tests/golden again: recorded games and their digests.

Only after a wanted change of rules, of the layout of a row or of the observation, or of the numbering of the moves; look at the
difference before you commit it. `--check` writes nothing and says by exit code 1 whether something is stale.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from tests.tools import golden_games  # noqa: E402


def files() -> dict[Path, str]:
    """Every file of tests/golden with its text."""
    records = {name: golden_games.play(name).to_record() for name in golden_games.GAMES}
    records["from_a_position"] = golden_games.from_position().to_record()
    digests = {name: golden_games.digest(text) for name, text in records.items()}
    return {
        **{golden_games.FOLDER / f"{name}.record": text for name, text in records.items()},
        golden_games.DIGESTS: _lines(digests),
    }


def _lines(entries: dict) -> str:
    """An object as JSON, one entry a line."""
    return "{\n" + ",\n".join(f"  {json.dumps(name)}: {json.dumps(entry)}" for name, entry in entries.items()) + "\n}\n"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="write nothing; exit code 1 if a file is stale")
    check = parser.parse_args().check
    wanted = files()
    stale = [path for path, text in wanted.items() if not path.exists() or path.read_text() != text]
    surplus = sorted({*golden_games.FOLDER.glob("*.record")} - {*wanted})
    for path in (*stale, *surplus):
        print(("stale: " if check else "written: ") + str(path.relative_to(ROOT)))
    if not check:
        golden_games.FOLDER.mkdir(exist_ok=True)
        for path in stale:
            path.write_text(wanted[path])
        for path in surplus:
            path.unlink()
    return int(check and bool(stale or surplus))


if __name__ == "__main__":
    sys.exit(main())
