"""Every text has a template in each language, with the same arguments; none is left over. Nothing is compiled, no page opened."""

from __future__ import annotations

import subprocess
import sys
from string import Formatter

import pytest

from euphoria_agents.play.web.board_data import catalogue
from euphoria_env import actions
from euphoria_env.cards.recruits import RECRUIT_NAMES
from euphoria_env.cards.tiles import TILES
from euphoria_env.decisions import DECISIONS, VERBS
from euphoria_env.engine.tape import KINDS as OUTCOMES
from euphoria_env.event_kinds import EventKind
from euphoria_env.phrases import LANGUAGES, YOU, Phrase, arguments, listed, say, say_with_symbols, templates
from euphoria_env.words.event_text import EVENT_WORDS, _silent_choice
from euphoria_env.words.names import counted, step
from tests.tools.page_texts import known_texts, said_texts

OTHERS = LANGUAGES[1:]


@pytest.mark.parametrize("language", OTHERS)
def test_each_phrase_has_a_template_with_the_same_arguments(language: str) -> None:
    english, other = templates("en"), templates(language)
    assert [*english.keys() ^ other.keys()] == []
    differ = [id for id in english if arguments(english[id]) != arguments(other[id]) and not id.startswith("choice.")]
    assert differ == []  # choices have their notation in English; they are said below


@pytest.mark.parametrize("language", LANGUAGES)
def test_what_has_a_name_has_templates(language: str) -> None:
    found = templates(language)
    asked = {f"ask.{name}" for name in (*DECISIONS, *VERBS)} - {"ask.series", "ask.recruit", "ask.tile"}
    assert {f"card.{name}" for name in (*RECRUIT_NAMES, *TILES)} | asked <= found.keys()
    told = {id for words in EVENT_WORDS.values() for id in (words.item, words.change, words.why) if "." in id}
    assert told | {f"does.{words.says}" for words in EVENT_WORDS.values() if words.says} <= found.keys()
    assert set(EVENT_WORDS) == set(EventKind)
    for action in range(actions.NUM_ACTIONS):
        assert say(_silent_choice(0, action).item, language) or actions.NAMES[action].startswith("choose")


@pytest.mark.parametrize("language", OTHERS)
def test_a_catalogue_has_every_text_of_the_pages_and_no_other(language: str) -> None:
    entries = catalogue(language)
    assert entries and all(entries.values())
    either = {key for one in entries for key in (one, _other_case(one))}
    assert sorted(said_texts() - either - {"Euphoria", "Euphoria:", "Ada"}) == []
    known = known_texts() | set(OUTCOMES)
    assert [key for key in entries if key not in known and _other_case(key) not in known] == []
    assert [key for key, said in entries.items() if _parts(key) != _parts(said)] == []


def _other_case(text: str) -> str:
    """A text that begins with the other of a small and a capital letter."""
    return text[0].swapcase() + text[1:]


def _parts(template: str) -> set[str | None]:
    return {name for _, name, _, _ in Formatter().parse(template)} - {None}


def test_templates_choose_by_numbers_and_by_who_is_the_reader() -> None:
    said = {
        Phrase("does.gains", who=YOU, items=counted(2, "artifact")): ("gain 2 artifacts", "ganas 2 artefactos"),
        Phrase("does.gains", who="Ada", items=counted(1, "artifact")): ("gains 1 artifact", "gana 1 artefacto"),
        Phrase("does.gains", who=listed(["Ada", "Ian"]), items=step("knowledge", -2)): (
            "gain knowledge -2",
            "ganan conocimiento -2",
        ),
        listed(["Ada", "Bo", "Ian"]): ("Ada, Bo and Ian", "Ada, Bo e Ian"),
        listed([counted(1, "food"), Phrase("noun.gold", n=1)], "either"): ("1 food or gold", "1 de comida u oro"),
    }
    for phrase, texts in said.items():
        assert tuple(say(phrase, language) for language in ("en", "es")) == texts


def test_amounts_with_a_symbol_stand_apart() -> None:
    text = Phrase("does.pays", who=YOU, items=listed([counted(2, "gold"), step("knowledge", 1)]))
    units = [{"n": "2", "symbol": "gold", "words": "2 gold"}, {"n": "+1", "symbol": "knowledge", "words": "knowledge +1"}]
    assert say_with_symbols(text) == ["pay ", units[0], " and ", units[1]]
    assert say_with_symbols(Phrase("the_dilemma"), "es") == "el dilema"


def test_templates_are_read_when_a_text_is_first_said() -> None:
    program = """
import euphoria_env.render.svg, euphoria_env.words
from euphoria_env import phrases
print(phrases._language.cache_info().misses, str(phrases.YOU), phrases._language.cache_info().misses)"""
    assert subprocess.check_output([sys.executable, "-c", program], text=True).split() == ["0", "you", "1"]


def test_an_unknown_language_is_named() -> None:
    with pytest.raises(ValueError, match="must be one of en, es, not 'xx'"):
        say(YOU, "xx")
