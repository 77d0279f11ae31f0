"""Tasks made from a folder of pictures or a table."""

import pytest
from typer.testing import CliRunner

from epivote import FileError, InputError
from epivote.cli import app
from epivote.web.task import check_task
from epivote.web.task.importing import task_from


def read(tmp_path, made):
    quiz = tmp_path / "my_quiz.toml"
    quiz.write_text(made.text, encoding="utf-8")
    task, mistakes = check_task(quiz)
    assert mistakes == []
    return task


@pytest.fixture
def pictures(tmp_path):
    for name in ("p/10.png", "p/9.png", "p/in/a.JPG", "p/in/b.ogg", "p/b.mp4", "p/notes.txt", "p/.hidden.png"):
        (tmp_path / name).parent.mkdir(exist_ok=True, parents=True)
        (tmp_path / name).touch()
    return tmp_path / "p"


def test_a_folder_of_pictures(tmp_path, pictures):
    made = task_from(pictures, tmp_path / "my_quiz.toml", ["cat", 'a "big" dog'], "1..2")
    task = read(tmp_path, made)
    assert (made.instances, made.ignored, made.needs_alternatives) == (5, 1, False)
    assert [(each.name, each.picture or each.audio or each.video) for each in task.instances] == [
        ("9", "p/9.png"),
        ("10", "p/10.png"),
        ("b.mp4", "p/b.mp4"),
        ("a", "p/in/a.JPG"),
        ("in/b.ogg", "p/in/b.ogg"),
    ]
    assert [each.name for each in task.alternatives] == ["cat", 'a "big" dog']
    assert (str(task.size), task.title) == ("1..2", "my quiz")


def test_a_table(tmp_path):
    (tmp_path / "x.png").touch()
    (tmp_path / "items.csv").write_text(
        "\ufeffInstance;question;image;alternatives;gold;size;link\n"
        'one;"Who; \\""where\\""?\nHere";x.png;cat|dog;cat;1;\n'
        ";Nobody;;;;;https://example.org/\n"
        ";;;;;;\n",
        encoding="utf-8",
    )
    made = task_from(tmp_path / "items.csv", tmp_path / "my_quiz.toml")
    one, two = read(tmp_path, made).instances
    assert (one.name, one.text, one.picture) == ("one", 'Who; \\"where\\"?\nHere', "x.png")
    assert (one.menu, one.gold, str(one.size)) == (("cat", "dog"), {"cat"}, "1")
    assert (two.name, two.text, two.link, two.gold) == ("instance 2", "Nobody", "https://example.org/", None)


def test_without_alternatives_two_are_there_to_be_replaced(tmp_path, pictures):
    made = task_from(pictures, tmp_path / "my_quiz.toml")
    assert made.needs_alternatives
    assert len(read(tmp_path, made).alternatives) == 2


def test_what_cannot_be_imported(tmp_path, pictures):
    with pytest.raises(FileError, match=r"does not exist; name a folder of pictures or a CSV file"):
        task_from(tmp_path / "none", tmp_path / "quiz.toml")
    with pytest.raises(InputError, match=r"is outside .*; move it there, or write the task beside it"):
        task_from(pictures, pictures / "in" / "quiz.toml")
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match="holds no instances"):
        task_from(tmp_path / "empty", tmp_path / "quiz.toml")
    (tmp_path / "x.csv").write_text("name,colour\na,b\n")
    with pytest.raises(InputError, match="has an unknown column 'colour'; use name, text"):
        task_from(tmp_path / "x.csv", tmp_path / "quiz.toml")
    (tmp_path / "x.csv").write_bytes(b"name\n\xff\n")
    with pytest.raises(FileError, match="save it as CSV in UTF-8"):
        task_from(tmp_path / "x.csv", tmp_path / "quiz.toml")


def test_the_command(tmp_path, pictures):
    target = tmp_path / "quiz.toml"
    told = CliRunner().invoke(app, ["collect", "new", str(target), "--from", str(pictures)])
    assert told.exit_code == 0, told.stderr
    assert f"Found 5 instances in {pictures}.\n1 file ignored" in told.stdout
    assert "name them with --alternatives" in told.stdout
    refused = CliRunner().invoke(app, ["collect", "new", str(tmp_path / "b.toml"), "--from", str(tmp_path / "none")])
    assert (refused.exit_code, (tmp_path / "b.toml").exists()) == (1, False)
