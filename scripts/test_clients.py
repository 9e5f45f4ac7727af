"""Uses the environments through real clients, each in an environment of its own under build/clients, and prints what worked.

    python scripts/test_clients.py [name ...]

Installs from the package index (and PIP_FIND_LINKS etc., as pip does); an environment that is there is used again.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "build" / "clients"
TORCH = "torch==2.13.0"

PRELUDE = """
import warnings; warnings.simplefilter("ignore")
import time, numpy as np, gymnasium, euphoria_env
ID, RULES = "euphoria_env/Euphoria-v0", dict(num_players=2, max_turns=20)
class First:
    def act(self, observation, mask, rng): return int(mask.argmax())
SINGLE = dict(opponents=First(), mask="observation", **RULES)
began = time.perf_counter()
def done(steps): print(f"{steps / (time.perf_counter() - began):.0f}")
"""
AEC = """
from pettingzoo.test import api_test
e = euphoria_env.env(**RULES); api_test(e, num_cycles=200)
steps = 0
for seed in range(5):
    e.reset(seed=seed)
    for agent in e.agent_iter():
        o, _, over, cut, _ = e.last()
        e.step(None if over or cut else int(o["action_mask"].argmax())); steps += 1
"""
VECTOR = """
e = gymnasium.make_vec(ID, num_envs=4, opponents=First(), **RULES); _, infos = e.reset(seed=1)
for _ in range(200): *_, infos = e.step(infos["action_mask"].argmax(axis=1))
done(steps + 800)
"""
# Name: what to install beside the package, and a short real use that prints steps a second.
CLIENTS: dict[str, tuple[list[str], str]] = {
    "bounds": (["numpy==1.26.0", "numba==0.61.0", "gymnasium==1.1.0", "pettingzoo==1.24.3"], AEC + VECTOR),
    "torchrl": (
        [TORCH, "torchrl"],
        """
from torchrl.envs import ActionMask, GymEnv, GymWrapper, PettingZooWrapper, TransformedEnv
from torchrl.envs.utils import check_env_specs
e = TransformedEnv(GymEnv(ID, **SINGLE), ActionMask()); check_env_specs(e); steps = e.rollout(200).batch_size[0]
e = GymWrapper(gymnasium.make_vec(ID, num_envs=3, illegal="end", autoreset_mode="Disabled", **SINGLE))
steps += e.rollout(50, break_when_any_done=False).numel()
e = PettingZooWrapper(euphoria_env.env(**RULES), use_mask=True, done_on_any=True); check_env_specs(e)
done(steps + e.rollout(200).batch_size[0])
""",
    ),
    "supersuit": (
        ["supersuit"],
        """
import supersuit
e = euphoria_env.env(**RULES)
e = supersuit.sticky_actions_v0(supersuit.pad_action_space_v0(supersuit.clip_reward_v0(e, -1, 1)), 0)
steps = 0
for seed in range(5):
    e.reset(seed=seed)
    for agent in e.agent_iter():
        o, _, over, cut, info = e.last()
        e.step(None if over or cut else int(o["action_mask"].argmax())); steps += 1
done(steps)
""",
    ),
    "sb3": (
        [TORCH, "sb3-contrib>=2.6", "safetensors"],
        """
from sb3_contrib import MaskablePPO
from euphoria_agents.training.vec_env import EuphoriaVecEnv
MaskablePPO("MultiInputPolicy", EuphoriaVecEnv(8, **SINGLE), n_steps=32, device="cpu").learn(512)
done(512)
""",
    ),
    "tianshou": (
        [TORCH, "tianshou"],
        """
from tianshou.env.pettingzoo_env import PettingZooEnv
e = PettingZooEnv(euphoria_env.env(**RULES)); o, _ = e.reset()
for steps in range(500):
    o, _, over, cut, _ = e.step(int(np.argmax(o["mask"])))
    if over or cut: o, _ = e.reset()
done(500)
""",
    ),
    "agilerl": (
        [TORCH, "agilerl"],
        """
from agilerl.algorithms import PPO
e = gymnasium.make_vec(ID, num_envs=4, opponents=First(), autoreset_mode="NextStep", **RULES)
agent = PPO(e.single_observation_space, e.single_action_space)
o, infos = e.reset()
for _ in range(20):
    action, *_ = agent.get_action(o, action_mask=np.maximum(infos["action_mask"], ~infos["action_mask"].any(axis=1)[:, None]))
    o, *_, infos = e.step(action)
done(80)
""",
    ),
}


def check(name: str, packages: list[str], use: str) -> str:
    """What came of a client: steps a second, or the last line of what went wrong."""
    python = FOLDER / name / "bin" / "python"
    steps = [] if python.exists() else [[sys.executable, "-m", "venv", FOLDER / name]]
    steps.append([python, "-m", "pip", "install", "-q", "--disable-pip-version-check", *packages, "-e", ROOT])
    steps.append([python, "-c", PRELUDE + use])
    for step in steps:
        done = subprocess.run([str(part) for part in step], capture_output=True, text=True, cwd=FOLDER)
        if done.returncode:
            return "failed: " + (done.stderr.strip().splitlines() or ["?"])[-1][:200]
    return done.stdout.strip().splitlines()[-1] + " steps/s"


def main() -> int:
    names = sys.argv[1:] or list(CLIENTS)
    unknown = [name for name in names if name not in CLIENTS]
    if unknown:
        print(f"no such client: {', '.join(unknown)}; there are {', '.join(CLIENTS)}", file=sys.stderr)
        return 2
    FOLDER.mkdir(parents=True, exist_ok=True)
    print("| client | result |\n|---|---|", flush=True)
    results = []
    for name in names:
        results.append(check(name, *CLIENTS[name]))
        print(f"| {name} | {results[-1]} |", flush=True)
    return int(any(result.startswith("failed") for result in results))


if __name__ == "__main__":
    sys.exit(main())
