"""The task file: what it means, and every mistake in it at once."""

from datetime import UTC, datetime, timedelta, timezone

import pytest

from epivote import FileError, InputError, SizeBounds
from epivote.web.task import EXAMPLE, check_task, read_task
from epivote.web.task.lines import line_of, lines_of

SMALL = """
title = "Birds"
size = "1..2"

[[alternatives]]
name = "wren"

[[alternatives]]
name = "robin"

[[instances]]
name = "one"
text = "Which?"
"""


def written(folder, text):
    path = folder / "quiz.toml"
    path.write_text(text, encoding="utf-8")
    return path


def mistakes_of(folder, text):
    task, mistakes = check_task(written(folder, text))
    assert task is None
    return [(mistake.line, mistake.sentence) for mistake in mistakes]


def test_what_is_not_said_has_a_usual_value(tmp_path):
    task = read_task(written(tmp_path, SMALL))
    assert (task.title, task.size, task.order, task.join, task.method) == (
        "Birds",
        SizeBounds(1, 2),
        "shuffled",
        "nickname",
        "em",
    )
    assert task.show_size
    assert not task.ranking
    assert task.languages == ("en", "de", "es", "fr")
    assert (task.most_ballots, task.confidence, task.opens, task.closes) == (None, None, None, None)
    assert (task.gold, task.menus, task.media) == ({}, None, frozenset())


def test_everything_can_be_said(tmp_path):
    (tmp_path / "pictures").mkdir()
    (tmp_path / "pictures" / "1.png").touch()
    (tmp_path / "song.ogg").touch()
    text = (
        SMALL.replace(
            'size = "1..2"', 'size = "1..2"\nopens = 2027-03-01T09:00:00+01:00\ncloses = 2027-03-02T09:00:00Z'
        )
        + """
picture = "pictures/1.png"
audio = "song.ogg"
link = "https://example.org/"
alternatives = ["robin"]
size = 1
gold = ["robin"]
"""
    )
    task = read_task(written(tmp_path, text))
    (instance,) = task.instances
    assert instance.menu == ("robin",)
    assert task.menus == {"one": ("robin",)}
    assert task.gold == {"one": frozenset({"robin"})}
    assert task.bounds.per_instance == {"one": (1, 1)}
    assert task.media == {"pictures/1.png", "song.ogg"}
    assert task.opens == datetime(2027, 3, 1, 9, tzinfo=timezone(timedelta(hours=1)))
    assert task.is_early(datetime(2027, 3, 1, 7, 59, tzinfo=UTC))
    assert not task.is_early(datetime(2027, 3, 1, 8, tzinfo=UTC))
    assert task.is_over(datetime(2027, 3, 2, 9, tzinfo=UTC))


def test_the_example_is_fine(tmp_path):
    task = read_task(written(tmp_path, EXAMPLE))
    assert len(task.instances) == 4
    assert set(task.gold) == {"zebra"}


def test_every_remark_of_the_example_can_be_used(tmp_path):
    """Each line that begins with `# key =` is taken in, so that no option of the example is out of date."""
    for name in (
        "pictures/forest.png",
        "pictures/otter.jpg",
        "sounds/otter.ogg",
        "videos/otter.mp4",
        "pictures/logo.png",
    ):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    lines = [line[2:] if line.startswith("# ") and " = " in line else line for line in EXAMPLE.splitlines()]
    task = read_task(written(tmp_path, "\n".join(lines)))
    assert (task.most_ballots, task.confidence, task.show_size) == (30, 0.95, False)
    assert task.by_name["otter"].audio == "sounds/otter.ogg"
    assert task.by_name["otter"].menu == ("forest", "fresh water", "sea")


def test_all_mistakes_are_told_at_once_with_their_lines(tmp_path):
    text = """
title = ""
size = "2..1"
ordr = "shuffled"
ranking = "yes"
opens = 2027-03-01T09:00:00
most_ballots = 0
confidence = 95
languages = ["en", "xx"]

[[alternatives]]
name = "a|b"
help = 3

[[alternatives]]
name = "wren"
picture = "../wren.png"

[[alternatives]]
name = "wren"

[[instances]]
name = "one"

[[instances]]
name = "two"
text = "x"
link = "javascript:alert(1)"
gold = ["wrenn"]
alternatives = ["wren", "eagle"]
"""
    found = mistakes_of(tmp_path, text)
    assert [line for line, _ in found] == sorted(line for line, _ in found)
    by_line = dict(found)
    assert by_line[2] == 'the task has no title; write title = "..."'
    assert "swap them" in by_line[3]
    assert by_line[4] == "unknown key 'ordr' in the task (did you mean 'order'?); remove or correct it"
    assert by_line[5] == "ranking is 'yes'; write true or false, without quotes"
    assert "offset: 2027-03-01T09:00:00+01:00" in by_line[6]
    assert "whole number of at least 1" in by_line[7]
    assert "such as 0.95" in by_line[8]
    assert by_line[9] == "language 'xx' is not available; choose from 'en', 'de', 'es', 'fr'"
    assert "separates names" in by_line[12]
    assert "write a text in quotes" in by_line[13]
    assert "outside the task's folder" in by_line[17]
    assert by_line[20] == "alternative 'wren' appears twice, first as number 2; rename one"
    assert "shows nothing" in by_line[23]
    assert "begin it with https://" in by_line[28]
    assert "did you mean 'wren'?" in by_line[29]
    assert "'eagle' in alternatives of instance 'two'" in by_line[30]
    assert len(by_line) == 16


def test_a_mistake_in_the_toml_itself_has_its_line(tmp_path):
    ((line, sentence),) = mistakes_of(tmp_path, 'title = "Birds\nsize = "1"\n')
    assert line == 1
    assert "not TOML" in sentence


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (("1..2", "3"), "offers 2 alternatives, but at least 3 should be right"),
        (('name = "one"', 'name = "one"\ngold = []'), "gold of instance 'one' has 0 names, but its size is 1..2"),
        (('text = "Which?"', 'picture = "wren.png"'), "does not exist; put the file at"),
        (('text = "Which?"', 'picture = "wren.exe"'), "has an unknown file type"),
        (('text = "Which?"', 'picture = "/etc/passwd.png"'), "outside the task's folder"),
        (('text = "Which?"', "text = 3"), "write a text in quotes"),
        (('name = "one"', 'name = "o\\u0000ne"'), "control characters"),
        (('name = "one"', 'name = "o\\nne"'), "several lines"),
        (('[[instances]]\nname = "one"', '[instances]\nname = "one"'), "begin every one with a line"),
        (('[[instances]]\nname = "one"\ntext = "Which?"', ""), "the task has no instances"),
    ],
)
def test_one_mistake(tmp_path, change, told):
    (found,) = mistakes_of(tmp_path, SMALL.replace(*change))
    assert told in found[1]


def test_a_link_out_of_the_folder_is_refused(tmp_path):
    (tmp_path / "task").mkdir()
    (tmp_path / "secret.png").touch()
    (tmp_path / "task" / "wren.png").symlink_to(tmp_path / "secret.png")
    (found,) = mistakes_of(tmp_path / "task", SMALL.replace('text = "Which?"', 'picture = "wren.png"'))
    assert "outside the task's folder" in found[1]


def test_reading_tells_all_mistakes_in_one_error(tmp_path):
    with pytest.raises(InputError, match=r"has 2 mistakes; correct the file and try again:\n  line 2: .*\n  line 3: "):
        read_task(written(tmp_path, SMALL.replace("Birds", "").replace("1..2", "x")))


def test_reading_tells_one_mistake_as_one(tmp_path):
    with pytest.raises(InputError) as told:
        read_task(written(tmp_path, SMALL.replace("Birds", "")))
    path = tmp_path / "quiz.toml"
    assert str(told.value) == (
        f'{path} has a mistake; correct the file and try again:\n  line 2: the task has no title; write title = "..."'
    )


def test_a_file_that_is_not_there_is_told_with_its_place(tmp_path):
    (found,) = mistakes_of(tmp_path, SMALL.replace('text = "Which?"', 'picture = "in/wren.png"'))
    place = tmp_path / "in" / "wren.png"
    assert found == (
        13,
        f"picture 'in/wren.png' of instance 'one' does not exist; put the file at {place} or correct the path",
    )


def test_files_that_cannot_be_read(tmp_path):
    with pytest.raises(FileError) as told:
        read_task(tmp_path / "none.toml")
    assert str(told.value) == (
        f"cannot read {tmp_path / 'none.toml'}: No such file or directory; write one with: epivote collect new"
    )
    path = tmp_path / "latin.toml"
    path.write_bytes('title = "é"'.encode("latin-1"))
    with pytest.raises(FileError, match="UTF-8"):
        read_task(path)


def test_lines_skip_what_stands_inside_texts_and_lists():
    text = '''title = """
[[instances]]
size = 3
"""
languages = [
  "en", # ]
["fr"]
]
size = "1"  # [
[[instances]]
name = 'x'
'''
    lines = lines_of(text)
    assert lines == {
        ("title",): 1,
        ("languages",): 5,
        ("size",): 9,
        ("instances",): 10,
        ("instances", 0): 10,
        ("instances", 0, "name"): 11,
    }
    assert line_of(lines, ("instances", 0, "text")) == 10
    assert line_of(lines, ("order",)) == 1
