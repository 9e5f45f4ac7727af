"""Measures how long others wait for their view of a game beside hostile uploads, and right after these have hung up.

    python -m tests.tools.beside_uploads

It starts a server on 127.0.0.1 with a file in a temporary folder, and ends it. All takes about half a minute.
"""

from __future__ import annotations

import http.client
import json
import re
import subprocess
import sys
import tempfile
import time
from contextlib import closing
from pathlib import Path
from statistics import median

from euphoria_env import Game, Rules
from tests.tools.served import ANN, BOB, Visitor, new

UPLOADS = 6
DECISIONS, LOADED = 24_000, 10_000  # of each uploaded record
VIEWS, PAUSE = 60, 0.05  # of each measurement: how many, and the seconds between two


def dull_record(seed: int) -> str:
    """A long record of dull decisions, in a game that has many outcomes loaded which it never draws."""
    game = Game(Rules(num_players=2, max_turns=10**5), seed, {"lots": [0, 1] * (LOADED // 2)})
    for _ in range(DECISIONS):
        legal = game.legal()
        game.play(next((move for move in legal if re.match("retrieve|place . cloud_mine", move)), legal[0]))
    return game.to_record()


def begun(port: int, k: int, body: bytes) -> http.client.HTTPConnection:
    """An upload that has been sent, from an address of its own."""
    line = http.client.HTTPConnection("127.0.0.1", port, source_address=(f"127.0.0.{2 + k}", 0))
    line.request("POST", "/api/studies", body, {"Content-Type": "application/json", "Origin": f"http://127.0.0.1:{port}"})
    return line


def waits(visitor: Visitor, path: str) -> str:
    """How long a visitor waits for views, in milliseconds."""
    found = []
    for _ in range(VIEWS):
        before = time.perf_counter()
        visitor.get(path)
        found.append(1000 * (time.perf_counter() - before))
        time.sleep(PAUSE)
    return f"median {median(found):.1f} ms, 9 of 10 within {sorted(found)[VIEWS * 9 // 10]:.1f} ms"


def main() -> None:
    bodies = [json.dumps({"record": dull_record(k)}).encode() for k in range(2 * UPLOADS)]
    with tempfile.TemporaryDirectory() as folder:
        data = str(Path(folder) / "games.sqlite")
        command = [sys.executable, "-m", "euphoria_agents", "serve", "--port", "0", "--no-browser", "--data", data]
        server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        try:
            assert server.stdout is not None
            port = int(re.findall(r":(\d+)/", server.stdout.readline())[0])
            with closing(Visitor(port)) as ann:
                view = f"/api/games/{new(ann, ANN, BOB)['id']}/view?seat=0"
                print("alone:", waits(ann, view))
                lines = [begun(port, k, body) for k, body in enumerate(bodies[:UPLOADS])]
                print(f"beside {UPLOADS} uploads:", waits(ann, view))
                lines += [begun(port, k, body) for k, body in enumerate(bodies[UPLOADS:])]
                time.sleep(10 * PAUSE)
                for line in lines:
                    line.close()
                print("after they have hung up:", waits(ann, view))
        finally:
            server.terminate()
            server.wait(30)


if __name__ == "__main__":
    main()
