"""Sessions in files."""

from __future__ import annotations

import json
from pathlib import Path

from euphoria_agents.files import read_text, write_whole
from euphoria_agents.play.agents import Agents
from euphoria_agents.play.session import Session
from euphoria_env.json_reader import read_json


def save_game(session: Session, file: Path) -> None:
    """Writes a session to a file, whole or not at all.

    Raises:
        OSError: it cannot be written; names the file, which is then what it was before.
    """
    write_whole(file, json.dumps(session.to_dict(), indent=1) + "\n")


def load_game(file: Path, agents: Agents | None = None) -> Session:
    """A session from a file that `save_game` wrote; no code of the file is run.

    Raises:
        ValueError: it cannot be read, something in it is wrong, or an agent cannot be made; names the file.
    """
    text = read_text(file)
    try:
        session = Session.from_dict(read_json(text), agents)
        session.check_agents()
        return session
    except json.JSONDecodeError:
        raise ValueError(f"{file}: this is not a saved game") from None
    except ValueError as error:
        raise ValueError(f"{file}: {error}") from error
