"""Catalogues: every language says everything, with the same blanks."""

import re
import string
from importlib.resources import files

import pytest

from epivote.web.languages import CODES, choose, language


def blanks(text):
    return {name for _, name, _, _ in string.Formatter().parse(text) if name}


@pytest.mark.parametrize("code", CODES)
def test_every_language_says_everything(code):
    english, other = language("en").sentences, language(code).sentences
    assert set(other) == set(english)
    for key, sentence in english.items():
        allowed = blanks(sentence) | blanks(english.get(key.replace(".one", ".many"), ""))
        assert blanks(sentence) <= blanks(other[key]) <= allowed, key
        assert other[key].strip(), key


def test_every_sentence_that_a_page_says_is_there_and_every_one_there_is_said():
    source = "".join(
        file.read_text()
        for folder in ("templates", "views", "interface")
        for file in (files("epivote.web") / folder).iterdir()
        if file.name.endswith((".html", ".py"))
    )
    known = set(language("en").sentences)
    said = set(re.findall(r"""(?:say|language)\(\s*['"]([a-z0-9.-]+)['"][,)]""", source))
    counted = set(re.findall(r"""\.counted\(\s*['"]([a-z0-9.-]+)['"]""", source))
    said |= {f"{key}.{form}" for key in counted for form in ("one", "many")}
    assert said - set(CODES) <= known
    stems = (
        "error.",
        "remedy.",
        "answers.",
        "invitation.",
        "privacy.",
        "stale.",
        "end.state-",
        "language",
        "singular",
    )
    for key in known:
        assert key in source or key in said or key.startswith(stems), f"no page says {key}"


@pytest.mark.parametrize(
    ("wished", "accepted", "chosen"),
    [
        (None, "", "en"),
        (None, "fr-CA,fr;q=0.9,en;q=0.8", "fr"),
        (None, "de, en;q=0.5, fr;q=0.7", "fr"),
        (None, "fr;q=0, en", "en"),
        (None, "de;q=x", "en"),
        (None, "FR", "fr"),
        (None, "en;q=0.5, fr;q=0.5", "en"),
        (None, "fr;q=0.5, en;q=0.5", "fr"),
        (None, "fr;q=0.5, en;q=0.6", "en"),
        (None, "en;q=0.9, fr", "fr"),
        (None, "fr;q=-1", "en"),
        (None, "fr;q=x, en;q=0.1", "en"),
        (None, "x," * 249 + "fr", "fr"),
        (None, "x," * 250 + "fr", "en"),
        (None, "x," * 249 + "frx", "fr"),
        ("fr", "en", "fr"),
        ("xx", "fr", "fr"),
    ],
)
def test_the_language_of_a_visitor(wished, accepted, chosen):
    assert choose(("en", "fr"), wished, accepted) == chosen


def test_the_first_one_offered_is_the_usual_one():
    assert choose(("fr", "en"), None, "de") == "fr"
    assert choose(("en",), "fr", "fr") == "en"


def test_languages_have_names_and_numbers_their_forms():
    assert CODES == ("en", "de", "es", "fr")
    assert [language(code).name for code in CODES] == ["English", "Deutsch", "Español", "Français"]
    english, french = language("en"), language("fr")
    assert [english.counted("end.answered", number, answered=0, total=number)[-10:-1] for number in (0, 1, 2, 11)] == [
        "questions",
        " question",
        "questions",
        "questions",
    ]
    forms = [french.counted("question.size-at-most", number, upper=number) for number in (0, 1, 2)]
    assert forms[0] == forms[1] == french("question.size-at-most.one")
    assert forms[2] == french("question.size-at-most.many", upper=2) != forms[1]
