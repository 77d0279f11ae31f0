"""On which line of a TOML file every table and key stands, whatever is written around them."""

import tomllib

import pytest

from epivote.web.task.lines import line_of, lines_of

TEXT = '''\
# title = "a comment is no key"
title = "x"
"quoted key" = 1
'other key' = "a # no comment"   # a comment with [ and {
  indented-key_2 = 2
long = """first
title2 = "inside"
[[instances]]
last\\"""" # a comment
literal = \'\'\'
key = 1
\'\'\'
list = [
  "a", # ] a bracket in a comment
  "]",
  [1, 2],
  { x = 1 },
]
after = "\\"]["
single = '[{'
title3 = 1

[table]
name = "t"
nested = { a = [
  1 ] }
last = true

[[instances]]
name = "one"
text = \'\'\'it's
[x]\'\'\'
[[ alternatives ]]   # with a comment
name = "a"
  [[instances]]
name = "two"
gold = []
[[alternatives]]
name = "b"
[[instances]]
'''
KEYS = {
    ("title",): "title =",
    ("quoted key",): '"quoted key"',
    ("other key",): "'other key'",
    ("indented-key_2",): "  indented",
    ("long",): "long =",
    ("literal",): "literal =",
    ("list",): "list =",
    ("after",): "after =",
    ("single",): "single =",
    ("title3",): "title3 =",
    ("table",): "[table]",
    ("table", "name"): 'name = "t"',
    ("table", "nested"): "nested =",
    ("table", "last"): "last = true",
    ("instances", 0, "name"): 'name = "one"',
    ("instances", 0, "text"): "text =",
    ("alternatives",): "[[ alternatives ]]",
    ("alternatives", 0): "[[ alternatives ]]",
    ("alternatives", 0, "name"): 'name = "a"',
    ("instances", 1): "  [[instances]]",
    ("instances", 1, "name"): 'name = "two"',
    ("instances", 1, "gold"): "gold =",
    ("alternatives", 1): "[[alternatives]]",
    ("alternatives", 1, "name"): 'name = "b"',
}


def test_every_table_and_key_of_a_file():
    tomllib.loads(TEXT)
    written = TEXT.split("\n")
    (first,) = (number for number, line in enumerate(written, 1) if line == 'name = "one"')
    expected = {
        key: next(number for number, line in enumerate(written, 1) if line.startswith(beginning))
        for key, beginning in KEYS.items()
    }
    expected |= {("instances",): first - 1, ("instances", 0): first - 1, ("instances", 2): len(written) - 1}
    assert lines_of(TEXT) == expected


@pytest.mark.parametrize(
    "before",
    [
        "a = [\n]",
        "a = [[1],\n[2]]",
        "a = { b = 1 }",
        'a = """\n\n"""',
        "a = '''\n'''",
        'a = "[" # ]',
        "a = ']' # [",
        'a = [ # [\n"[",\n"]" ]',
        'a = """[{"""',
        'a = """\\"""\n"""',
        "a = 1 # {",
        "a = '''\nx = 1'''",
        'a = """x\ny = 1\nz = 1"""',
    ],
)
def test_what_stands_before_a_key_does_not_hide_it(before):
    text = f"{before}\nb = 1\nc = [\n1]\n"
    tomllib.loads(text)
    number = before.count("\n") + 2
    assert lines_of(text) == {("a",): 1, ("b",): number, ("c",): number + 1}


def test_a_bracket_too_many_hides_nothing():
    assert lines_of("a = 1 ]}\nb = 2\nc = [\nd = 1\n]\ne = 1\n") == {("a",): 1, ("b",): 2, ("c",): 3, ("e",): 6}


def test_a_key_that_is_written_twice_stands_where_it_is_first():
    assert lines_of("a = 1\na = 2\n[t]\nb = 1\n[t]\nb = 2\n") == {("a",): 1, ("t",): 3, ("t", "b"): 4}


def test_the_nearest_place_around_one_without_a_line():
    lines = {("instances",): 3, ("instances", 1): 7, ("instances", 1, "name"): 8}
    for place, line in {
        ("instances", 1, "name"): 8,
        ("instances", 1, "gold"): 7,
        ("instances", 0, "name"): 3,
        ("instances",): 3,
        ("title",): 1,
        (): 1,
    }.items():
        assert line_of(lines, place) == line
    assert line_of({("title",): 2}, ("size",)) == 1
