"""Pictures as pixels equal those of the SVG, whatever was drawn before; only new parts are drawn."""

import io
import random
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from euphoria_env import Game, Rules
from euphoria_env.envs.environment import frame
from euphoria_env.render import board_array, board_svg, pixels
from euphoria_env.render.lettering import FONT_FILE
from euphoria_env.render.theme import THEMES

resvg_py = pytest.importorskip("resvg_py")
Image = pytest.importorskip("PIL.Image")

LEVELS, SHARE = 16, 0.001  # of 255: how far pixels may differ from those of the SVG; what share of them may differ by more


def whole(svg: str, width: int | None = None) -> np.ndarray:
    """An SVG, drawn at once."""
    drawn = resvg_py.svg_to_bytes(svg_string=svg, width=width, font_files=[str(FONT_FILE)])
    return np.array(Image.open(io.BytesIO(drawn)).convert("RGB"))


def assert_alike(found: np.ndarray, wanted: np.ndarray) -> None:
    assert found.shape == wanted.shape
    far = np.abs(found.astype(int) - wanted).max(axis=2) > LEVELS
    assert far.mean() <= SHARE, np.argwhere(far)[:20]


def played(num_players: int, seed: int, moves: int) -> Iterator[Game]:
    """A random game after each of its decisions."""
    game, rng = Game(Rules(num_players=num_players, trading=seed % 2 == 1), seed=seed), random.Random(seed)
    for _ in range(moves):
        yield game.clone()
        if not game.legal():
            break
        game.play(rng.choice(game.legal()))


def fresh(draw: Callable[[], np.ndarray]) -> np.ndarray:
    """A picture drawn with nothing kept."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pixels, "_IMAGES", pixels._Images())
        return draw()


@pytest.mark.parametrize("theme", THEMES)
def test_pictures_are_those_of_the_svg(theme: str) -> None:
    names = ['href="#icon-food"', "<b>&amp;", "\u0141\u00f3d\u017a \U0001f600 \u6f22\u5b57"]
    for k, game in enumerate([*played(3, 8, 500)][::97]):
        shown = {"names": names, "last": "& <so> on", "theme": theme, "changed": ["farm", "generator"]}
        shown |= {"seat": game.player, "width": (None, 1000, 333, 2000, 1299, 100)[k % 6]}
        assert_alike(board_array(game, **shown), whole(board_svg(game, **shown)))


@pytest.mark.parametrize("room", [0, 10**6, pixels._MOST_BYTES])
def test_pixels_do_not_depend_on_what_is_cached(monkeypatch: pytest.MonkeyPatch, room: int) -> None:
    monkeypatch.setattr(pixels, "_MOST_BYTES", room)
    monkeypatch.setattr(pixels, "_IMAGES", pixels._Images())
    games = [game for seed in range(2) for game in [*played(2 + seed, seed, 400)][5::97]]
    rng = random.Random(1)
    jobs = rng.sample([(game, size, theme) for game in games for size in ((320, 200), (1280, 647)) for theme in THEMES], 8)
    wanted = [fresh(lambda job=job: board_array(job[0], within=job[1], theme=job[2])) for job in jobs]
    for k in rng.choices(range(len(jobs)), k=16):
        game, size, theme = jobs[k]
        assert np.array_equal(board_array(game, within=size, theme=theme), wanted[k])
        images = pixels._IMAGES._images.values()
        assert pixels._IMAGES.bytes == sum(image.bytes for image in images) <= room


def test_threads_draw_the_same() -> None:
    games = [game for seed in range(3) for game in [*played(3, seed, 300)][::97]]
    wanted = [fresh(lambda game=game: board_array(game, within=(500, 500))) for game in games]
    with ThreadPoolExecutor(4) as threads:
        found = [*threads.map(lambda game: board_array(game, within=(500, 500)), games * 4)]
    assert all(np.array_equal(one, other) for one, other in zip(found, wanted * 4, strict=True))


@pytest.mark.parametrize("size", [(1500, 758), (1280, 720), (84, 84), (1, 1), (3, 500)])
def test_frames_are_fresh(size: tuple[int, int]) -> None:
    """Writing on a frame changes no other."""
    game = Game(seed=2)
    first = frame(game, "rgb_array", size)
    kept = first.copy()
    assert first.shape == (size[1], size[0], 3) and first.dtype == np.uint8 and first.flags.writeable
    first[:] = 7
    second = frame(game, "rgb_array", size)
    assert np.array_equal(second, kept) and not np.shares_memory(first, second)
