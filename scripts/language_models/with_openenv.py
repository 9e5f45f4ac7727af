"""GRPO of TRL on the OpenEnv environment: SmolLM2 begins four games of a deal, and learns from their rewards for a step."""

import socket
import sys
import time
from threading import Thread

import torch
import uvicorn
from datasets import Dataset
from openenv.core.generic_client import GenericEnvClient
from openenv_environment import app
from smollm2 import load_model
from trl import GRPOConfig, GRPOTrainer

STEPS, GAMES, TOKENS, ANSWER, HEAT = 1, 4, 720, 16, 0.7  # games of a deal; tokens of a game, and of an answer; temperature
# A small model finds the form of an answer neither by itself nor from the prompt: it sees two, and each of its own is begun.
EXAMPLES = [
    {"role": "user", "content": "## Legal moves\n- `place 4 farm`, `place 6 aquifer`, `retrieve free`"},
    {"role": "assistant", "content": "<move>place 6 aquifer</move>"},
    {"role": "user", "content": "## Legal moves\n- `choose phil_the_spy`, `choose ian_the_horticulturist`"},
    {"role": "assistant", "content": "<move>choose phil_the_spy</move>"},
]
BEGUN = "<move>"
RULES = {"num_players": 2, "stars_to_win": 1, "max_turns": 6, "moves": "list", "tries": 1, "illegal": "random"}


def play(prompts, trainer):
    """Plays a game for each prompt, whose text is the seed; a game ends early when its tokens are used up."""
    games = [game(int(prompt), trainer.model, trainer.processing_class) for prompt in prompts]
    return {name: [found[name] for found in games] for name in games[0]} | {"logprobs": None}


@torch.no_grad()
def game(seed, model, tokenizer):
    """Plays a game; only the model's own tokens count for the loss (`env_mask`)."""
    ids, own, first = [], [], 0
    with GenericEnvClient(base_url=URL).sync() as client:
        step = client.reset(seed=seed)
        while not step.done:
            messages = [*([] if ids else EXAMPLES), {"role": "user", "content": step.observation["prompt"]}]
            asked = tokenizer.apply_chat_template(messages, add_generation_prompt=True, return_dict=False) + tokenizer.encode(
                BEGUN
            )
            if ids and len(ids) + len(asked) + ANSWER > TOKENS:
                break
            first, ids, own = first or len(asked), ids + asked, own + [0] * len(asked)
            told = torch.tensor([ids])
            out = model.generate(told, max_new_tokens=ANSWER, do_sample=True, temperature=HEAT)[0, len(ids) :].tolist()
            ids, own = ids + out, own + [1] * len(out)
            step = client.step({"text": BEGUN + tokenizer.decode(out, skip_special_tokens=True)})
    gained = step.observation["rewards"]["player_0"]
    return {"prompt_ids": ids[:first], "completion_ids": ids[first:], "env_mask": own[first:], "gained": sum(gained.values())}


with socket.socket() as free:
    free.bind(("127.0.0.1", 0))
    port = free.getsockname()[1]
URL = f"http://127.0.0.1:{port}"
server = uvicorn.Server(uvicorn.Config(app(judge="mcts:32:ppo", **RULES), port=port, log_level="warning"))
Thread(target=server.run, daemon=True).start()
while not server.started:
    time.sleep(0.1)

model, tokenizer = load_model()
before = [parameter.detach().clone() for parameter in model.parameters()]
settings = GRPOConfig(
    sys.argv[1] if len(sys.argv) > 1 else "grpo",
    max_steps=STEPS,
    num_generations=GAMES,
    per_device_train_batch_size=GAMES,
    max_completion_length=TOKENS,
    temperature=HEAT,
    learning_rate=1e-5,
    use_cpu=True,
    report_to="none",
    save_strategy="no",
    logging_steps=1,
)
trainer = GRPOTrainer(
    model,
    reward_funcs=lambda completions, gained, **_: gained,
    args=settings,
    train_dataset=Dataset.from_dict({"prompt": [str(seed) for seed in range(STEPS)]}),
    processing_class=tokenizer,
    rollout_func=play,
)
trainer.train()
server.should_exit = True
(log,) = [entry for entry in trainer.state.log_history if "reward" in entry]
moved = max((old - new).abs().max().item() for old, new in zip(before, model.parameters(), strict=True))
assert moved > 0, "the step changed nothing: all games had the same reward"
print(f"reward {float(log['reward']):.3f} ± {float(log['reward_std']):.3f}; the step changed weights by up to {moved:.1e}")
