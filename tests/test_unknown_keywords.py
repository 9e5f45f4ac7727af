"""A keyword that an environment does not have: the error names what was called, and what was probably meant."""

from __future__ import annotations

from typing import Any

import gymnasium
import pytest

from euphoria_env import env, parallel_env, raw_env
from euphoria_env.envs.single import EuphoriaEnv
from euphoria_env.envs.vector import EuphoriaVectorEnv

MAKERS = [
    (env, "env"),
    (raw_env, "raw_env"),
    (parallel_env, "parallel_env"),
    (EuphoriaEnv, "EuphoriaEnv"),
    (lambda **words: EuphoriaVectorEnv(2, **words), "EuphoriaVectorEnv"),
    (lambda **words: gymnasium.make("euphoria_env/Euphoria-v0", **words), "EuphoriaEnv"),
    (lambda **words: gymnasium.make_vec("euphoria_env/Euphoria-v0", num_envs=2, **words), "EuphoriaVectorEnv"),
]
NEAR = {
    "num_player": "num_players",
    "rewards": "reward",
    "max_turn": "max_turns",
    "mask_type": "mask_dtype",
    "rendermode": "render_mode",
}


@pytest.mark.parametrize(("make", "called"), MAKERS)
def test_the_error_names_what_was_called_and_meant(make: Any, called: str) -> None:
    for wrong, meant in NEAR.items():
        with pytest.raises(TypeError) as refused:
            make(**{wrong: 2})
        assert str(refused.value).startswith(
            f"{called}() got an unexpected keyword argument {wrong!r}; did you mean {meant!r}?"
        )  # Gymnasium adds to it
    with pytest.raises(TypeError, match=rf"^{called}\(\) got an unexpected keyword argument 'frameskip'(?!;)"):
        make(frameskip=4)


def test_the_error_of_the_vectors_for_stable_baselines_names_them() -> None:
    pytest.importorskip("stable_baselines3")
    from euphoria_env.envs.sb3 import EuphoriaVecEnv

    with pytest.raises(TypeError, match=r"^EuphoriaVecEnv\(\) got an unexpected keyword argument 'num_player'; .* 'num_players'"):
        EuphoriaVecEnv(2, num_player=3)
