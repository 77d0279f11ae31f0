"""The whole text of tasks that are made from a folder or a table, word by word."""

import os
import re
from pathlib import Path

import pytest

from epivote import FileError, InputError
from epivote.web.task.importing import task_from

HEAD = """# Made from {source}. `epivote collect new` without --from writes an example that explains every line.
title = "{title}"
instructions = "Tick everything that is right."
size = "{size}"             # how many alternatives are right: "2", "1..2", or "1.." for no upper bound
"""


def text_of(*tables, source, title, size="1.."):
    """A task with these lines in its tables."""
    return "\n".join([HEAD.format(source=source, title=title, size=size), *(f"{table}\n" for table in tables)])


def table_of(tmp_path, content, **given):
    source = tmp_path / "items.csv"
    source.write_text(content, encoding="utf-8", newline="")
    return task_from(source, tmp_path / "a_b.toml", **given)


def test_a_folder_with_files_of_every_kind(tmp_path):
    files = [
        "Tile 10.PNG",
        "tile 9.png",
        "b/same.png",
        "b/same.ogg",
        "c/same.mp4",
        "c/alone.webp",
        "readme",
        "b/x.txt",
        ".x.png",
    ]
    for name in files:
        path = tmp_path / "all" / name
        path.parent.mkdir(exist_ok=True, parents=True)
        path.touch()
    (tmp_path / "all" / "folder.png").mkdir()
    made = task_from(tmp_path / "all", tmp_path / "a_b.c.toml", ["x", "y|z"], "2")
    assert (made.instances, made.ignored, made.needs_alternatives) == (6, 2, False)
    assert made.text == text_of(
        '[[alternatives]]\nname = "x"',
        '[[alternatives]]\nname = "y|z"',
        '[[instances]]\nname = "b/same.ogg"\naudio = "all/b/same.ogg"',
        '[[instances]]\nname = "b/same.png"\npicture = "all/b/same.png"',
        '[[instances]]\nname = "alone"\npicture = "all/c/alone.webp"',
        '[[instances]]\nname = "c/same.mp4"\nvideo = "all/c/same.mp4"',
        '[[instances]]\nname = "tile 9"\npicture = "all/tile 9.png"',
        '[[instances]]\nname = "Tile 10"\npicture = "all/Tile 10.PNG"',
        source="all",
        title="a b.c",
        size="2",
    )


def test_a_table_with_every_column(tmp_path):
    for name in ("p.png", "in/a.ogg", "v.mp4"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    made = table_of(
        tmp_path,
        "name,text,picture,picture text,audio,video,link,alternatives,size,gold\n"
        " one , Who? ,p.png, A p. ,./in/../in/a.ogg,v.mp4,https://x/, b | a ,1, a |b\n"
        ",,,,,,,,,\n"
        ",Only text,,,,,,,,\n"
        "three,,,,,,,c|b|a,,c\n",
    )
    assert (made.instances, made.ignored, made.needs_alternatives) == (3, 0, False)
    assert made.text == text_of(
        '[[alternatives]]\nname = "b"',
        '[[alternatives]]\nname = "a"',
        '[[alternatives]]\nname = "c"',
        '[[instances]]\nname = "one"\ntext = "Who?"\npicture = "p.png"\npicture_text = "A p."\naudio = "in/a.ogg"\n'
        'video = "v.mp4"\nlink = "https://x/"\nalternatives = ["b", "a"]\nsize = "1"\ngold = ["a", "b"]',
        '[[instances]]\nname = "instance 3"\ntext = "Only text"',
        '[[instances]]\nname = "three"\ngold = ["c"]',
        source="items.csv",
        title="a b",
    )


@pytest.mark.parametrize("separator", [",", ";", "\t"])
@pytest.mark.parametrize("word", ["name", "Instance", " ID ", "item"])
def test_separators_and_words_for_columns(tmp_path, separator, word):
    rows = [[word, "question", "image", "Label"], ["a", "T,;", "", "x|y"]]
    (tmp_path / "a.png").touch()
    content = "\r\n".join(separator.join(f'"{cell}"' if "," in cell else cell for cell in row) for row in rows)
    made = table_of(tmp_path, content)
    assert made.text == text_of(
        '[[alternatives]]\nname = "x"',
        '[[alternatives]]\nname = "y"',
        '[[instances]]\nname = "a"\ntext = "T,;"\ngold = ["x", "y"]',
        source="items.csv",
        title="a b",
    )


def test_alternatives_that_are_given_count_before_those_of_the_rows(tmp_path):
    made = table_of(tmp_path, "name,text,alternatives\na,A,y|x\nb,B,x\nc,C,\n", alternatives=["x", "y"], size="0..1")
    assert made.text == text_of(
        '[[alternatives]]\nname = "x"',
        '[[alternatives]]\nname = "y"',
        '[[instances]]\nname = "a"\ntext = "A"',
        '[[instances]]\nname = "b"\ntext = "B"\nalternatives = ["x"]',
        '[[instances]]\nname = "c"\ntext = "C"',
        source="items.csv",
        title="a b",
        size="0..1",
    )
    assert not made.needs_alternatives


def test_without_any_alternative_two_stand_there_to_be_replaced(tmp_path):
    made = table_of(tmp_path, "name,text\na,A\n")
    assert made.text == text_of(
        '[[alternatives]]\nname = "first alternative"',
        '[[alternatives]]\nname = "second alternative"',
        '[[instances]]\nname = "a"\ntext = "A"',
        source="items.csv",
        title="a b",
    )
    assert made.needs_alternatives


def test_texts_are_quoted_as_toml_wants_it(tmp_path):
    made = table_of(tmp_path, 'name,text\na,"back \\ ""q"" \x01\x1f \x7f\té\n."\n')
    assert 'text = "back \\\\ \\"q\\" \\u0001\\u001f \\u007f\\u0009é\\u000a."\n' in made.text


def test_cells_beyond_the_columns_and_missing_ones_do_no_harm(tmp_path):
    made = table_of(tmp_path, "name,text,gold\na,A,x,further,cells\nb\n")
    assert made.instances == 2
    assert made.text.endswith('[[instances]]\nname = "a"\ntext = "A"\ngold = ["x"]\n\n[[instances]]\nname = "b"\n')


def test_the_first_line_alone_tells_the_separator(tmp_path):
    made = table_of(tmp_path, "name;text\na;1,2,3,4\t\nb;5,6,7,8\t\n")
    assert made.text.endswith('name = "a"\ntext = "1,2,3,4"\n\n[[instances]]\nname = "b"\ntext = "5,6,7,8"\n')


def test_files_of_the_current_folder_come_by_their_numbers_before_those_with_letters(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("a10.png", "a9.png", "10.png", "9.png", "1²3.png"):
        (tmp_path / name).touch()
    made = task_from(Path(), Path("quiz.toml"), ["x"])
    found = re.findall('^picture = "(.*)"$', made.text, re.MULTILINE)
    assert found == ["1²3.png", "9.png", "10.png", "a9.png", "a10.png"]


def test_refusals_in_full(tmp_path):
    target = tmp_path / "quiz.toml"
    with pytest.raises(FileError) as told:
        task_from(tmp_path / "none", target)
    assert str(told.value) == f"{tmp_path / 'none'} does not exist; name a folder of pictures or a CSV file"
    with pytest.raises(InputError) as told:
        table_of(tmp_path, "name,text\n,\n")
    source = tmp_path / "items.csv"
    assert str(told.value) == (
        f"{source} holds no instances; a folder needs pictures, sounds or videos, a CSV file rows"
    )
    with pytest.raises(InputError, match="items.csv holds no instances"):
        table_of(tmp_path, "")
    with pytest.raises(InputError) as told:
        table_of(tmp_path, "name,Best Colour\na,b\n")
    assert str(told.value) == (
        f"{source} has an unknown column 'Best Colour'; use name, text, picture, picture_text, audio, video, link, "
        "alternatives, size, gold"
    )
    with pytest.raises(InputError) as told:
        table_of(tmp_path, f"name,image\na,..{os.sep}x.png\n")
    assert str(told.value) == (
        f"{tmp_path / '..' / 'x.png'} is outside {tmp_path}; move it there, or write the task beside it"
    )
