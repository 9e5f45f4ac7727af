"""The server's data in one SQLite file: each change is one transaction, so that a restart finds the last whole one."""

from __future__ import annotations

import hashlib
import json
import os
import sqlite3
import time
from pathlib import Path
from typing import Any

VERSION = 3  # of the tables
HOST = -1  # the seat of whoever made something, beside the seats that play

_TABLES = """
CREATE TABLE game (id TEXT PRIMARY KEY, changed REAL, version INTEGER, over INTEGER, summary TEXT, state TEXT, client TEXT);
CREATE TABLE token (game TEXT, seat INTEGER, hash BLOB, PRIMARY KEY (game, seat));
CREATE TABLE study (id TEXT PRIMARY KEY, changed REAL, names TEXT, record TEXT, client TEXT);
CREATE TABLE analysis (study TEXT, spec TEXT, header TEXT, entries TEXT, PRIMARY KEY (study, spec));
CREATE TABLE batch (id TEXT PRIMARY KEY, changed REAL, state TEXT, trouble TEXT, settings TEXT, client TEXT);
CREATE TABLE counted (batch TEXT, number INTEGER, game TEXT, PRIMARY KEY (batch, number));
"""
_INDEXES = """
CREATE INDEX IF NOT EXISTS game_of_client ON game (client, over, changed);
CREATE INDEX IF NOT EXISTS study_of_client ON study (client);
CREATE INDEX IF NOT EXISTS batch_of_client ON batch (client);
"""
_PARTS = {"study": ("analysis WHERE study",), "batch": ("counted WHERE batch",)}
_FROM_2 = "".join(f"ALTER TABLE {kind} ADD COLUMN client TEXT NOT NULL DEFAULT '';" for kind in ("game", "study", "batch"))


class CannotSave(OSError):
    """The disk is full, or the file cannot be written; nothing is changed."""


class Store:
    """The file of a server, which nobody else can use meanwhile, and only its owner can read: it has the secrets of all games.

    Args:
        path: the file; made if it does not exist. ":memory:" keeps nothing.

    Raises:
        ValueError: another server uses it, it is not a file of this server, or is of a later version.
        OSError: it cannot be made.
    """

    def __init__(self, path: str | Path) -> None:
        if str(path) != ":memory:":
            _make_private(Path(path))
        self._db = sqlite3.connect(path, isolation_level=None, timeout=0)
        try:
            self._db.execute("PRAGMA locking_mode = EXCLUSIVE")
            self._db.execute("BEGIN EXCLUSIVE")  # the lock is kept until the end
            found = self._db.execute("PRAGMA user_version").fetchone()[0]
            if found not in (0, 2, VERSION):
                raise ValueError(f"{path} is of version {found}; this is version {VERSION}")
            for statement in ({0: _TABLES, 2: _FROM_2}.get(found, "") + _INDEXES).split(";"):
                self._db.execute(statement)
            self._db.execute(f"PRAGMA user_version = {VERSION}")
            self._db.execute("COMMIT")
            self._db.execute("PRAGMA journal_mode = WAL")
            self._db.execute("PRAGMA synchronous = NORMAL")
        except (sqlite3.Error, ValueError) as error:
            self._db.close()
            if isinstance(error, ValueError):
                raise
            locked = getattr(error, "sqlite_errorcode", None) == sqlite3.SQLITE_BUSY
            raise ValueError(f"{path} is in use by another server" if locked else f"{path} cannot be used: {error}") from error

    def close(self) -> None:
        """Ends the use of the file."""
        self._db.close()

    # -------------------------------------------------------------------------------------------------------------- games

    def add_game(
        self, name: str, client: str, tokens: dict[int, str], version: int, over: bool, summary: Any, state: Any
    ) -> None:
        """Keeps a new game with the tokens of its seats.

        Raises:
            CannotSave: what it says.
        """
        row = (name, time.time(), version, over, _text(summary), _text(state), client)
        self._write(("INSERT INTO game VALUES (?, ?, ?, ?, ?, ?, ?)", [row]), _tokens(name, tokens))

    def save_game(self, name: str, version: int, over: bool, summary: Any, state: Any) -> None:
        """Keeps a game as it is now; raises as `add_game`, also if it has been deleted or is newer in the file."""
        change = "UPDATE game SET changed = ?, version = ?, over = ?, summary = ?, state = ? WHERE id = ? AND version <= ?"
        if not self._write((change, [(time.time(), version, over, _text(summary), _text(state), name, version)])):
            raise CannotSave("the game has been deleted, or changed by somebody else; look again")

    def game(self, name: str) -> Any:
        """The state of a game; None if no game has this name."""
        row = self._db.execute("SELECT state FROM game WHERE id = ?", (name,)).fetchone()
        return row and json.loads(row[0])

    def games(self, most: int) -> list[dict[str, Any]]:
        """The summaries of the games that changed last."""
        rows = self._db.execute("SELECT id, changed, over, summary FROM game ORDER BY changed DESC LIMIT ?", (most,))
        return [{"id": i, "changed": changed, "over": bool(over), **json.loads(text)} for i, changed, over, text in rows]

    def may_leave(self, client: str | None, before: float) -> list[str]:
        """The games that nobody plays: first those that are over, then those unchanged since a time, the oldest first each.

        Args:
            client: whose games; None: anybody's.
            before: the time, in seconds.
        """
        rows = self._db.execute(
            "SELECT id FROM game WHERE (over OR changed < ?) AND (? IS NULL OR client = ?) ORDER BY over DESC, changed",
            (before, client, client),
        )
        return [name for (name,) in rows]

    def unfinished(self, before: float) -> list[str]:
        """The games without an end that nobody has changed since a time."""
        return [name for (name,) in self._db.execute("SELECT id FROM game WHERE NOT over AND changed < ?", (before,))]

    # ------------------------------------------------------------------------------------------------------- all of a kind

    def count(self, kind: str, client: str | None = None) -> int:
        """The number of rows in the table `kind`: "game", "study" or "batch"; those of a client, if one is named."""
        of_client = "WHERE client = ?" if client is not None else ""
        rows = self._db.execute(f"SELECT count(*) FROM {kind} {of_client}", () if client is None else (client,))
        return int(rows.fetchone()[0])

    def delete(self, kind: str, name: str) -> None:
        """Forgets a game, a study or a batch, with all that belongs to it; raises as `add_game`."""
        places = [f"{kind} WHERE id", "token WHERE game", *_PARTS.get(kind, ())]
        self._write(*((f"DELETE FROM {place} = ?", [(name,)]) for place in places))

    def hashes(self, name: str) -> dict[int, bytes]:
        """The hashed tokens of a game, a study or a batch, by seat."""
        return dict(self._db.execute("SELECT seat, hash FROM token WHERE game = ?", (name,)))

    # ------------------------------------------------------------------------------------------------------------ studies

    def add_study(self, name: str, client: str, tokens: dict[int, str], names: list[str], record: str) -> None:
        """Keeps a record to study, with the names of the seats; raises as `add_game`."""
        row = (name, time.time(), _text(names), record, client)
        self._write(("INSERT INTO study VALUES (?, ?, ?, ?, ?)", [row]), _tokens(name, tokens))

    def study(self, name: str) -> tuple[list[str], str] | None:
        """The names of the seats and the record of a study; None if no study has this name."""
        row = self._db.execute("SELECT names, record FROM study WHERE id = ?", (name,)).fetchone()
        return row and (json.loads(row[0]), row[1])

    def study_of(self, names: list[str], record: str) -> str | None:
        """The name of a study of this record, with these names of the seats."""
        row = self._db.execute("SELECT id FROM study WHERE record = ? AND names = ?", (record, _text(names))).fetchone()
        return row and str(row[0])

    def save_analysis(self, study: str, spec: str, header: Any, entries: list[Any]) -> None:
        """Keeps the finished part of an analysis; raises as `add_game`."""
        change = "INSERT OR REPLACE INTO analysis SELECT ?, ?, ?, ? WHERE EXISTS (SELECT 1 FROM study WHERE id = ?)"
        self._write((change, [(study, spec, _text(header), _text(entries), study)]))

    def analysis(self, study: str, spec: str) -> tuple[Any, list[Any]]:
        """The header of an analysis, None if there is none, and the entries that there are of it."""
        found = self._db.execute("SELECT header, entries FROM analysis WHERE study = ? AND spec = ?", (study, spec)).fetchone()
        return (json.loads(found[0]), json.loads(found[1])) if found else (None, [])

    # ------------------------------------------------------------------------------------------------------------ batches

    def add_batch(self, name: str, client: str, tokens: dict[int, str], state: str, settings: Any, games: list[Any]) -> None:
        """Keeps a new batch with the games that are counted already; raises as `add_game`."""
        self._write(
            ("INSERT INTO batch VALUES (?, ?, ?, '', ?, ?)", [(name, time.time(), state, _text(settings), client)]),
            _tokens(name, tokens),
            ("INSERT INTO counted VALUES (?, ?, ?)", [(name, k, _text(game)) for k, game in enumerate(games)]),
        )

    def add_counted(self, batch: str, first: int, games: list[Any]) -> None:
        """Keeps more games of a batch, the first of which has this number; raises as `add_game`."""
        rows = [(batch, number, _text(game)) for number, game in enumerate(games, first)]
        self._write(("INSERT INTO counted VALUES (?, ?, ?)", rows))

    def set_batch(self, name: str, state: str, trouble: str = "") -> None:
        """Keeps how a batch stands; raises as `add_game`."""
        change = "UPDATE batch SET changed = ?, state = ?, trouble = ? WHERE id = ?"
        self._write((change, [(time.time(), state, trouble, name)]))

    def batch(self, name: str) -> dict[str, Any] | None:
        """The state and the plan of a batch; None if no batch has this name."""
        row = self._db.execute("SELECT state, trouble, settings FROM batch WHERE id = ?", (name,)).fetchone()
        return row and {"state": row[0], "trouble": row[1], **json.loads(row[2])}

    def batches(self, state: str) -> list[str]:
        """The names of the batches in a state, those first that came first."""
        return [name for (name,) in self._db.execute("SELECT id FROM batch WHERE state = ? ORDER BY changed", (state,))]

    def counted(self, batch: str) -> list[Any]:
        """The games of a batch that are counted."""
        rows = self._db.execute("SELECT game FROM counted WHERE batch = ? ORDER BY number", (batch,))
        return [json.loads(game) for (game,) in rows]

    def count_counted(self, batch: str) -> int:
        """The number of games of a batch that are counted."""
        return int(self._db.execute("SELECT count(*) FROM counted WHERE batch = ?", (batch,)).fetchone()[0])

    # ------------------------------------------------------------------------------------------------------------ writing

    def _write(self, *changes: tuple[str, list[tuple[Any, ...]]]) -> int:
        """Makes several changes in one transaction; says how many rows the last one changed.

        Raises:
            CannotSave: what it says.
        """
        changed = 0
        try:
            self._db.execute("BEGIN IMMEDIATE")
            for change, rows in changes:
                changed = self._db.executemany(change, rows).rowcount
            self._db.execute("COMMIT")
        except sqlite3.Error as error:
            if self._db.in_transaction:
                self._db.execute("ROLLBACK")
            raise CannotSave(f"the server cannot save this ({error}); nothing has changed") from error
        return changed


def token_hash(token: str) -> bytes:
    """The hash of a token, which is stored instead of it."""
    return hashlib.sha256(token.encode(errors="replace")).digest()


def _make_private(path: Path) -> None:
    """Makes the file if it is not there; only its owner may read it, and what SQLite puts beside it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.exists():
        os.close(os.open(path, os.O_CREAT | os.O_WRONLY, 0o600))
    for file in (path, path.with_name(f"{path.name}-wal"), path.with_name(f"{path.name}-shm")):
        if file.is_file():
            file.chmod(0o600)


def _tokens(name: str, tokens: dict[int, str]) -> tuple[str, list[tuple[Any, ...]]]:
    return "INSERT INTO token VALUES (?, ?, ?)", [(name, seat, token_hash(token)) for seat, token in tokens.items()]


def _text(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"))
