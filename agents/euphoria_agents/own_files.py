"""Which files commands write, and the check before one begins that it replaces nothing else.

The files of a path option are a table: by the pattern of a name, how the files begin that commands wrote under it before. Names
are relative to the folder that the option names; "" is the path itself, ".csv" the file beside it with that suffix. A text in
place of a beginning says why no such file may be there. The table of an option that is only read is empty.
"""

from __future__ import annotations

import itertools
import os
import re
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from euphoria_agents.files import check_folder, check_writable

Owned = Mapping[str, bytes | str]

_BEGINNING = 2**14  # bytes that are compared
_TENSORS = rb'.{8}\{"__metadata__":\{"euphoria":"\{\\"format\\": \\"euphoria-'
_CHECKPOINT, _RECORD, _JOURNAL = _TENSORS + rb'ppo\\"', rb'\{"format": "euphoria-record"', rb'\{"chunk": \{"lineup": '
_STANDINGS = rb'\{\s*"seed": \d+,\s*"rules": \[\s*\{\s*"num_players": |\[\s*\{\s*"agent": "[^\n]*",\s*"against": '
TRANSCRIPT = rb'\{"version": ?\d+, ?"key": ?"[0-9a-f]{24}", ?"prompt": ?"'

READ: Owned = {}
_SEED: Owned = {r"_seed\.txt": rb"\d+\n\Z"}
MATCHES: Owned = {
    **_SEED,
    r"chunks\.jsonl": _JOURNAL,
    r"results\.json": _STANDINGS,
    r"table\.md": rb"\*\*[^\n]* players[^\n]*\*\*\n\n\| agent \|",
    r"plot\.png": rb"\x89PNG.{,100}Software\0euphoria-env",
}
RECORDS: Owned = {r"\d{5,}-[0-9a-f]{8}-\d{3,}_.*\.record": _RECORD}
TRANSCRIPTS: Owned = {**_SEED, r".*\.jsonl": TRANSCRIPT}
RESULT: Owned = {
    r"unfinished\.jsonl": _JOURNAL,
    r"result\.json": rb'\{\s*"format": "euphoria-result"',
    r"games\.jsonl": rb'\{"players": \d, "against": "',
    r"row\.md": rb"\| `[^\n]*` \| [\d.]+ % \|",
    r"times\.json": rb'\{\s*"seconds": [\d.]+,\s*"processes": ',
    **{f"records/{name}": mark for name, mark in RECORDS.items()},
}
DATA_SET: Owned = {
    **_SEED,
    r"_about/plan\.json": rb'\{\s*"agents": \[.*\],\s*"rules": \{\s*"num_players": ',
    r"_about/dataset\.json": rb'\{\s*"format": "euphoria-dataset"',
    r"_about/parts\.jsonl": rb'\{"name":"part-\d{5,}\.parquet","key":',
    r"part-\d{5,}\.parquet": rb"PAR1",
}
RUN: Owned = {
    r"state\.safetensors": _TENSORS + rb'run\\"',
    r"(ppo|critic|league/\d{6,})\.safetensors": _CHECKPOINT,
    r"ratings\.json": rb'\[\s*\{\s*"players": \d,\s*"against": ',
    r"progress\.csv": rb"update,decisions,",
    r"tensorboard/": b"",
}
_TAKEN = "there is a run in this folder already, or a file that one would replace: choose another --run, or --resume it"
NEW_RUN: Owned = dict.fromkeys(RUN, _TAKEN)
PLAYER: Owned = {"": _CHECKPOINT}
BOARDS: Owned = {r"\d{5,}\.svg": rb"<svg [^>]*><title>Euphoria, "}
PAGE: Owned = {"": rb'<!doctype html>\n<html lang="en">\n.{,1000}<title>Euphoria: '}
ANALYSIS: Owned = {"": rb'\{"format": "euphoria-analysis"'}
MEASUREMENT: Owned = {"": rb'\{\s*"format": "euphoria-benchmark"'}
EVALUATION: Owned = {"": rb'\{\s*"format": "euphoria-evaluation"'}
GAMES_SERVED: Owned = {"": rb"SQLite format 3\0.{52}Euph|\Z"}  # `play.web.store` checks more


def check_outputs(outputs: Iterable[tuple[str, Path, Owned]], inputs: Sequence[tuple[str, str]]) -> None:
    """Checks that a command replaces neither files that it reads nor files that no command wrote; changes nothing.

    Args:
        outputs: the name of each option that names an output, the path, and the table of its files.
        inputs: the name of an option, and a file that it reads, for all of these.

    Raises:
        ValueError: an output is an input, by whatever path, or a file of somebody else; the message names it.
        OSError: an output cannot be written; the message names it.
    """
    there = [(flag, file, mark) for flag, path, owned in outputs for file, mark in _present(flag, path, owned)]
    for (flag, file, _), (other, read) in itertools.product(there, inputs):
        if os.path.samefile(file, read):
            raise ValueError(f"{flag} {file} would replace what {other} reads, {read}: choose another")
    for flag, file, mark in there:
        if isinstance(mark, str):
            raise ValueError(f"{file}: {mark}")
        with file.open("rb") as stream:
            if not re.match(mark, stream.read(_BEGINNING), re.DOTALL):
                raise ValueError(f"{file} is not a file that this command wrote, and stays as it is: choose another {flag}")


def _present(flag: str, path: Path, owned: Owned) -> Iterator[tuple[Path, bytes | str]]:
    """Yields the files that are there already under the names in a table, each with the entry of its name."""
    suffixes = {name: mark for name, mark in owned.items() if re.fullmatch(r"(\.\w+)?", name)}
    found = [(path.with_suffix(name) if name else path, mark) for name, mark in suffixes.items()]
    if len(suffixes) < len(owned):
        folders = {part for name in owned for part in re.findall(r"([\w-]+)/", name)}
        for below, file in _below(flag, path, folders):  # in any case, since some file systems do not tell A from a
            found += [(file, mark) for name, mark in owned.items() if re.fullmatch(name, below, re.IGNORECASE)]
    for file, mark in found:
        check_writable(file)
        if file.exists():
            yield file, mark


def _below(flag: str, folder: Path, inner: Container[str]) -> Iterator[tuple[str, Path]]:
    """Yields what is in a folder and in its folders with names in `inner`, by the path from the folder."""
    if os.path.lexists(folder) and not folder.is_dir():
        raise ValueError(f"{folder} is not a folder: choose another {flag}")
    check_folder(folder)
    for entry in sorted(folder.iterdir()) if folder.exists() else ():
        if entry.name in inner:
            yield from ((f"{entry.name}/{below}", file) for below, file in _below(flag, entry, ()))
        else:
            yield entry.name, entry
