"""SmolLM2 plays short games against random play as the agent `llm:`, through the protocol of a server on loopback."""

import re
import subprocess
import sys

from smollm2 import NAME, served

GAMES, RULES = 2, ["--players", "2", "--stars-to-win", "1", "--max-turns", "12"]

with served() as url:
    spec = f"llm:{NAME}@{url}?moves=list&rules=none&tries=1&max_output=24"
    command = [sys.executable, "-m", "euphoria_agents", "evaluate", "--agent", spec, "--against", "random"]
    done = subprocess.run([*command, "--games", str(GAMES), *RULES], stdout=subprocess.PIPE, text=True, check=True)
print(done.stdout)
counted = re.search(r"decisions ([1-9]\d*), answers ([1-9]\d*)", done.stdout)
assert counted, "the model was never asked"
