"""What the server keeps, in one SQLite file: each change is one transaction, so that a restart finds the last whole one."""

from __future__ import annotations

import hashlib
import json
import sqlite3
import time
from pathlib import Path
from typing import Any

VERSION = 2  # of the tables
HOST = -1  # the seat of whoever made a game, beside the seats that play

_TABLES = """
CREATE TABLE game (id TEXT PRIMARY KEY, changed REAL, version INTEGER, over INTEGER, summary TEXT, state TEXT);
CREATE TABLE token (game TEXT, seat INTEGER, hash BLOB, PRIMARY KEY (game, seat));
CREATE TABLE study (id TEXT PRIMARY KEY, changed REAL, names TEXT, record TEXT);
CREATE TABLE analysis (study TEXT, spec TEXT, header TEXT, entries TEXT, PRIMARY KEY (study, spec));
CREATE TABLE batch (id TEXT PRIMARY KEY, changed REAL, state TEXT, trouble TEXT, settings TEXT);
CREATE TABLE counted (batch TEXT, number INTEGER, game TEXT, PRIMARY KEY (batch, number));
"""


class CannotSave(OSError):
    """The disk is full, or the file cannot be written; nothing is changed."""


class Store:
    """The file of a server.

    Args:
        path: the file; made if it is not there. ":memory:" keeps nothing.

    Raises:
        ValueError: it is no file of this server, or of a later version.
    """

    def __init__(self, path: str | Path) -> None:
        if str(path) != ":memory:":
            Path(path).parent.mkdir(parents=True, exist_ok=True)
        try:
            self._db = sqlite3.connect(path, isolation_level=None)
            found = self._db.execute("PRAGMA user_version").fetchone()[0]
            if found == 0:
                self._db.executescript(f"BEGIN; {_TABLES} PRAGMA user_version = {VERSION}; COMMIT;")
            elif found != VERSION:
                raise ValueError(f"{path} is of version {found}; this is version {VERSION}")
            self._db.execute("PRAGMA journal_mode = WAL")
            self._db.execute("PRAGMA synchronous = NORMAL")
        except sqlite3.Error as error:
            raise ValueError(f"{path} cannot be used: {error}") from error

    def close(self) -> None:
        """Ends the use of the file."""
        self._db.close()

    # -------------------------------------------------------------------------------------------------------------- games

    def add_game(self, name: str, tokens: dict[int, str], version: int, over: bool, summary: Any, state: Any) -> None:
        """Keeps a new game with the tokens of its seats.

        Raises:
            CannotSave: what it says.
        """
        hashes = [(name, seat, token_hash(token)) for seat, token in tokens.items()]
        self._write(
            ("INSERT INTO game VALUES (?, ?, ?, ?, ?, ?)", [(name, time.time(), version, over, _text(summary), _text(state))]),
            ("INSERT INTO token VALUES (?, ?, ?)", hashes),
        )

    def save_game(self, name: str, version: int, over: bool, summary: Any, state: Any) -> None:
        """Keeps a game as it is now; raises as `add_game`."""
        change = "UPDATE game SET changed = ?, version = ?, over = ?, summary = ?, state = ? WHERE id = ?"
        self._write((change, [(time.time(), version, over, _text(summary), _text(state), name)]))

    def delete_game(self, name: str) -> None:
        """Forgets a game; raises as `add_game`."""
        self._write(("DELETE FROM game WHERE id = ?", [(name,)]), ("DELETE FROM token WHERE game = ?", [(name,)]))

    def game(self, name: str) -> Any:
        """The state of a game; None if there is none of this name."""
        row = self._db.execute("SELECT state FROM game WHERE id = ?", (name,)).fetchone()
        return row and json.loads(row[0])

    def games(self, most: int) -> list[dict[str, Any]]:
        """The summaries of the games that changed last."""
        rows = self._db.execute("SELECT id, changed, over, summary FROM game ORDER BY changed DESC LIMIT ?", (most,))
        return [{"id": i, "changed": changed, "over": bool(over), **json.loads(text)} for i, changed, over, text in rows]

    def count_games(self) -> int:
        """How many games there are."""
        return int(self._db.execute("SELECT count(*) FROM game").fetchone()[0])

    def seat_hashes(self, name: str) -> dict[int, bytes]:
        """The hashed tokens of a game by seat."""
        return dict(self._db.execute("SELECT seat, hash FROM token WHERE game = ?", (name,)))

    # ------------------------------------------------------------------------------------------------------------ studies

    def add_study(self, name: str, names: list[str], record: str) -> None:
        """Keeps a record to study, with the names of the seats; raises as `add_game`."""
        self._write(("INSERT INTO study VALUES (?, ?, ?, ?)", [(name, time.time(), _text(names), record)]))

    def study(self, name: str) -> tuple[list[str], str] | None:
        """The names of the seats and the record of a study; None if there is none of this name."""
        row = self._db.execute("SELECT names, record FROM study WHERE id = ?", (name,)).fetchone()
        return row and (json.loads(row[0]), row[1])

    def study_of(self, names: list[str], record: str) -> str | None:
        """The name of a study of this record, with these names of the seats."""
        row = self._db.execute("SELECT id FROM study WHERE record = ? AND names = ?", (record, _text(names))).fetchone()
        return row and str(row[0])

    def delete_study(self, name: str) -> None:
        """Forgets a study and its analyses; raises as `add_game`."""
        self._write(("DELETE FROM study WHERE id = ?", [(name,)]), ("DELETE FROM analysis WHERE study = ?", [(name,)]))

    def count_studies(self) -> int:
        """How many studies there are."""
        return int(self._db.execute("SELECT count(*) FROM study").fetchone()[0])

    def save_analysis(self, study: str, spec: str, header: Any, entries: list[Any]) -> None:
        """Keeps what there is of an analysis; raises as `add_game`."""
        change = "INSERT OR REPLACE INTO analysis SELECT ?, ?, ?, ? WHERE EXISTS (SELECT 1 FROM study WHERE id = ?)"
        self._write((change, [(study, spec, _text(header), _text(entries), study)]))

    def analysis(self, study: str, spec: str) -> tuple[Any, list[Any]]:
        """The header of an analysis, None if there is none, and the entries that there are of it."""
        found = self._db.execute("SELECT header, entries FROM analysis WHERE study = ? AND spec = ?", (study, spec)).fetchone()
        return (json.loads(found[0]), json.loads(found[1])) if found else (None, [])

    # ------------------------------------------------------------------------------------------------------------ batches

    def add_batch(self, name: str, state: str, settings: Any, games: list[Any]) -> None:
        """Keeps a new batch with the games that are counted already; raises as `add_game`."""
        self._write(
            ("INSERT INTO batch VALUES (?, ?, ?, '', ?)", [(name, time.time(), state, _text(settings))]),
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

    def delete_batch(self, name: str) -> None:
        """Forgets a batch; raises as `add_game`."""
        self._write(("DELETE FROM batch WHERE id = ?", [(name,)]), ("DELETE FROM counted WHERE batch = ?", [(name,)]))

    def batch(self, name: str) -> dict[str, Any] | None:
        """How a batch stands, and what it is; None if there is none of this name."""
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
        """How many games of a batch are counted."""
        return int(self._db.execute("SELECT count(*) FROM counted WHERE batch = ?", (batch,)).fetchone()[0])

    def count_batches(self) -> int:
        """How many batches there are."""
        return int(self._db.execute("SELECT count(*) FROM batch").fetchone()[0])

    # ------------------------------------------------------------------------------------------------------------ writing

    def _write(self, *changes: tuple[str, list[tuple[Any, ...]]]) -> None:
        """Several changes in one transaction.

        Raises:
            CannotSave: what it says.
        """
        try:
            self._db.execute("BEGIN IMMEDIATE")
            for change, rows in changes:
                self._db.executemany(change, rows)
            self._db.execute("COMMIT")
        except sqlite3.Error as error:
            if self._db.in_transaction:
                self._db.execute("ROLLBACK")
            raise CannotSave(f"the server cannot save this ({error}); nothing has changed") from error


def token_hash(token: str) -> bytes:
    """What is kept of a token."""
    return hashlib.sha256(token.encode(errors="replace")).digest()


def _text(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"))
