"""Saves the server's data in one SQLite file. Each change is one transaction, so a restart finds all complete changes."""

from __future__ import annotations

import hashlib
import os
import sqlite3
import stat
import threading
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import msgspec

from euphoria_agents.play.study.game_analysis import SavedEntry
from euphoria_agents.validation import checked, decoded

APPLICATION = int.from_bytes(b"Euph", "big")  # SQLite's `application_id`, by which we recognise our files
VERSION = 5  # the version of the tables
HOST = -1  # stands in place of a seat for the person who made a game or study
MAX_RUN_TIME = 2.0**40  # seconds; a larger time in a damaged file is ignored

_TABLES = f"""
CREATE TABLE game (id TEXT PRIMARY KEY, changed REAL, version INTEGER, over INTEGER, summary TEXT, state TEXT, client TEXT,
    active REAL NOT NULL DEFAULT 0);
CREATE TABLE token (game TEXT, seat INTEGER, hash BLOB, PRIMARY KEY (game, seat));
CREATE TABLE study (id TEXT PRIMARY KEY, changed REAL, names TEXT, record TEXT, client TEXT);
CREATE TABLE analysis (study TEXT, spec TEXT, header TEXT, entries TEXT, PRIMARY KEY (study, spec));
CREATE INDEX game_of_client ON game (client, over, changed);
CREATE INDEX game_changed ON game (changed);
CREATE INDEX study_of_client ON study (client);
PRAGMA application_id = {APPLICATION};
PRAGMA user_version = {VERSION};
"""

# Of a record its end, which is its fingerprint; files of earlier versions get the index when they are opened.
_INDEX = "CREATE INDEX IF NOT EXISTS study_of_record ON study (substr(record, -45))"
_OF_CLIENT = "(? IS NULL OR client = ?)"


class CannotSave(OSError):
    """Something cannot be saved, since the disk is full or the file cannot be written; nothing is changed."""


class Damaged(Exception):
    """A saved game or study cannot be read; `kind`: "game" or "study"."""

    def __init__(self, kind: str) -> None:
        super().__init__(f"this saved {kind} is damaged; whoever made it can delete it")


class SavedSeat(msgspec.Struct):
    """A seat in the public entry of a game."""

    name: str
    spec: str | None


class Summary(msgspec.Struct):
    """The public entry of a game in the list of games."""

    headline: str | dict[str, str]  # by language
    seats: list[SavedSeat]
    practice: bool


class GameRow(NamedTuple):
    """A game as a row of the database; `summary` (`Summary`) is public, `state` (`SavedGame`) is secret."""

    version: int
    over: bool
    summary: Any
    state: Any


class SavedGame(msgspec.Struct):
    """The state of a game, which nobody may see."""

    session: Any
    pace: Annotated[float, msgspec.Meta(ge=0)] | None


class Store:
    """The file of a server. It has the secrets of all games, so only its owner can read it. Only one server at a time can use it.

    Args:
        path: the file, which is made if it does not exist; ":memory:" saves nothing.

    Raises:
        ValueError: another server uses the file, another program made it, or it is of another version.
        OSError: the file cannot be made.
    """

    def __init__(self, path: str | Path) -> None:
        if str(path) != ":memory:":
            _prepare(Path(path))
        self._db = sqlite3.connect(path, isolation_level=None, timeout=0, check_same_thread=False)
        self._db.text_factory = lambda text: text.decode(errors="replace")  # a damaged text then does not prevent reading others
        self._lock = threading.RLock()  # any thread may use the file, but one at a time
        try:
            self._db.execute("PRAGMA locking_mode = EXCLUSIVE")
            self._db.execute("BEGIN EXCLUSIVE")  # the lock is kept until the end
            if not self._db.execute("PRAGMA user_version").fetchone()[0]:  # a new file
                for statement in _TABLES.split(";"):
                    self._db.execute(statement)
            self._db.execute(_INDEX)
            self._db.execute("COMMIT")
            self._db.execute("PRAGMA journal_mode = WAL")
            self._db.execute("PRAGMA synchronous = NORMAL")
            ((self._ran, self._started),) = self._all(
                "SELECT coalesce(max(active), 0), ? FROM game WHERE active < ?", time.monotonic(), MAX_RUN_TIME
            )
        except sqlite3.Error as error:
            self._db.close()
            locked = getattr(error, "sqlite_errorcode", None) == sqlite3.SQLITE_BUSY
            raise ValueError(f"{path} is in use by another server" if locked else f"{path} cannot be used: {error}") from error

    def now(self) -> float:
        """Returns the seconds that servers have run with this file; unlike the time of day, this never jumps."""
        return float(self._ran) + time.monotonic() - float(self._started)

    def close(self) -> None:
        """Closes the file."""
        self._db.close()

    def add_game(self, name: str, client: str, game: GameRow, tokens: dict[int, str]) -> None:
        """Saves a new game with the tokens of its seats; raises `CannotSave`, as all methods that write do."""
        row = (name, time.time(), game.version, game.over, _text(game.summary), _text(game.state), client, self.now())
        self._write(("INSERT INTO game VALUES (?, ?, ?, ?, ?, ?, ?, ?)", [row]), _tokens(name, tokens))

    def save_game(self, name: str, game: GameRow, people: Iterable[int], tokens: dict[int, str]) -> None:
        """Saves a game; raises `CannotSave` also if it has been deleted or its version in the file is newer.

        Args:
            people: the seats that keep their tokens; the tokens of all other seats are revoked.
            tokens: new tokens by seat, which replace the old ones.
        """
        columns = ("changed", "active", "version", "over", "summary", "state")
        row = (time.time(), self.now(), game.version, game.over, _text(game.summary), _text(game.state), name, game.version)
        kept = ", ".join(str(seat) for seat in (HOST, *people))
        if not self._write(
            (f"UPDATE game SET {' = ?, '.join(columns)} = ? WHERE id = ? AND version <= ?", [row]),
            (f"DELETE FROM token WHERE game = ? AND seat NOT IN ({kept})", [(name,)]),
            _tokens(name, tokens),
        ):
            raise CannotSave("the game has been deleted, or changed by somebody else; look again")

    def game(self, name: str) -> tuple[dict[str, Any], str] | None:
        """Returns the state of a game (`SavedGame`) and its creator's address; None if there is none. Raises `Damaged`."""
        rows = self._all("SELECT state, client FROM game WHERE id = ?", name)
        return (_read("game", rows[0][0], SavedGame), str(rows[0][1])) if rows else None

    def games(self, most: int) -> tuple[list[dict[str, Any]], list[str]]:
        """Returns the summaries of the games that changed last, and the names of the damaged ones among them."""
        found, damaged = [], []
        rows = self._all("SELECT id, changed, over, summary FROM game ORDER BY changed DESC LIMIT ?", most)
        for name, changed, over, text in rows:
            try:
                summary = _read("game", text if isinstance(changed, float) else None, Summary)
                found.append({"id": name, "changed": changed, "over": bool(over), **summary})
            except Damaged:
                damaged.append(str(name))
        return found, damaged

    def idle(self, client: str | None, seconds: float) -> list[str]:
        """Returns the games of a client (None: of all) that are over, then those unchanged for `seconds`, each oldest first."""
        query = f"SELECT id FROM game WHERE (over OR active < ?) AND {_OF_CLIENT} ORDER BY over DESC, active, changed"
        return [name for (name,) in self._all(query, self.now() - seconds, client, client)]

    def count(self, kind: str, client: str | None = None) -> int:
        """Returns the number of games or studies (`kind`: "game" or "study") of a client (None: of all)."""
        return int(self._all(f"SELECT count(*) FROM {kind} WHERE {_OF_CLIENT}", client, client)[0][0])

    def exists(self, kind: str, name: str) -> bool:
        """Returns whether there is a game or a study with this name, damaged or not."""
        return bool(self._all(f"SELECT 1 FROM {kind} WHERE id = ?", name))

    def delete(self, kind: str, name: str) -> None:
        """Deletes a game or a study, with all that belongs to it."""
        places = (f"{kind} WHERE id", "token WHERE game", "analysis WHERE study")
        self._write(*((f"DELETE FROM {place} = ?", [(name,)]) for place in places))

    def hashes(self, name: str) -> dict[int, bytes]:
        """Returns the hashed tokens of a game or a study, by seat."""
        rows = self._all("SELECT seat, hash FROM token WHERE game = ? AND typeof(hash) = 'blob'", name)
        return {seat: kept for seat, kept in rows if seat in range(HOST, 6)}

    def add_study(self, name: str, client: str, tokens: dict[int, str], names: list[str], record: str) -> None:
        """Saves the record and the names of a new study."""
        row = (name, time.time(), _text(names), record, client)
        self._write(("INSERT INTO study VALUES (?, ?, ?, ?, ?)", [row]), _tokens(name, tokens))

    def study(self, name: str) -> tuple[list[str], str] | None:
        """Returns the names of the players and the record of a study; None if there is none. Raises `Damaged`."""
        rows = self._all("SELECT names, record FROM study WHERE id = ?", name)
        return (_read("study", rows[0][0], list[str]), str(rows[0][1])) if rows else None

    def study_of(self, names: list[str], record: str) -> str | None:
        """Returns the name of the study of this record with these names of players; None if there is none."""
        query = "SELECT id FROM study WHERE substr(record, -45) = substr(?, -45) AND +record = ? AND names = ?"
        rows = self._all(query, record, record, _text(names))  # without the +, SQLite would not use the index
        return str(rows[0][0]) if rows else None

    def save_analysis(self, study: str, spec: str, header: Any, entries: list[Any]) -> None:
        """Saves the finished part of an analysis."""
        change = "INSERT OR REPLACE INTO analysis SELECT ?, ?, ?, ? WHERE EXISTS (SELECT 1 FROM study WHERE id = ?)"
        self._write((change, [(study, spec, _text(header), _text(entries), study)]))

    def analysis(self, study: str, spec: str) -> tuple[Any, list[Any]]:
        """Returns the header of an analysis and its finished entries; None and no entries if there is none or it is damaged."""
        rows = self._all("SELECT header, entries FROM analysis WHERE study = ? AND spec = ?", study, spec)
        try:
            return (_read("analysis", rows[0][0], Any), _read("analysis", rows[0][1], list[SavedEntry])) if rows else (None, [])
        except Damaged:
            return None, []  # it is made again

    def _write(self, *changes: tuple[str, list[tuple[Any, ...]]]) -> int:
        """Makes several changes in one transaction, and returns how many rows the first one changed.

        If the first one changes no row, the others are left out. If any fails, all are undone (`CannotSave`).
        """
        (first, its_rows), *others = changes
        with self._lock:
            try:
                self._db.execute("BEGIN IMMEDIATE")
                changed = self._db.executemany(first, its_rows).rowcount
                for change, rows in others if changed else ():
                    self._db.executemany(change, rows)
                self._db.execute("COMMIT")
            except sqlite3.Error as error:
                if self._db.in_transaction:
                    self._db.execute("ROLLBACK")
                raise CannotSave(f"the server cannot save this ({error}); nothing has changed") from error
        return changed

    def _all(self, query: str, *values: Any) -> list[Any]:
        """Returns the rows that a query finds."""
        with self._lock:
            return self._db.execute(query, values).fetchall()


def check_place(path: Path) -> tuple[bool, list[Path]]:
    """Returns whether the file is new, and the paths of SQLite's files beside it; raises a `ValueError` if it cannot be there."""
    beside = [path.with_name(f"{path.name}{suffix}") for suffix in ("-wal", "-shm", "-journal")]
    if not path.parent.is_dir():
        raise ValueError(f"there is no folder {path.parent} for {path.name}")
    new = not os.path.lexists(path)
    if not new:
        _check_ours(path)
    if new or not path.stat().st_size:
        if taken := [file for file in beside if os.path.lexists(file)]:
            raise ValueError(f"{path} cannot be made beside {taken[0].name}, which belongs to another file")
    return new, beside


def _prepare(path: Path) -> None:
    """Makes the file if it does not exist; makes it and SQLite's files beside it readable for the owner alone."""
    new, beside = check_place(path)
    if new:
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    for file in (path, *beside):
        if file.is_file():
            file.chmod(0o600)


def _check_ours(path: Path) -> None:
    """Raises a `ValueError` unless the file can be written, and is empty or made by a server of this version; changes nothing."""
    if not path.is_file():
        raise ValueError(f"{path} is not a file")
    if not path.stat().st_mode & stat.S_IWUSR or not os.access(path, os.W_OK):
        raise ValueError(f"{path} is read-only")
    if not path.stat().st_size:
        return
    with path.open("rb") as file:
        head = file.read(100)
    version, application = (int.from_bytes(head[at : at + 4], "big") for at in (60, 68))
    if not head.startswith(b"SQLite format 3\0") or application != APPLICATION:
        raise ValueError(f"{path} is not a file of `euphoria serve`; nothing in it is changed")
    if version != VERSION:
        raise ValueError(f"{path} is of version {version}; this is version {VERSION}")


def token_hash(token: str) -> bytes:
    """Returns the hash of a token, which is stored in place of the token."""
    return hashlib.sha256(token.encode(errors="replace")).digest()


def _read(kind: str, text: Any, wanted: Any) -> Any:
    """Reads a JSON text of the file; raises `Damaged` if it does not fit the type `wanted`."""
    try:
        found = decoded(text, Any)
        checked(found, wanted)
    except (TypeError, ValueError):
        raise Damaged(kind) from None
    return found


def _tokens(name: str, tokens: dict[int, str]) -> tuple[str, list[tuple[Any, ...]]]:
    return "INSERT OR REPLACE INTO token VALUES (?, ?, ?)", [(name, seat, token_hash(token)) for seat, token in tokens.items()]


def _text(value: Any) -> str:
    return msgspec.json.encode(value).decode()
