"""Every mistake in a task file: refused, with its line and the way out; what is just right is taken."""

import pytest

from epivote.web.task import check_task
from epivote.web.task.lines import line_of, lines_of

HEAD = ['title = "Birds"', 'size = "1..2"']
ALTERNATIVES = ["[[alternatives]]", 'name = "wren"', "[[alternatives]]", 'name = "robin"']
INSTANCES = ["[[instances]]", 'name = "one"', 'text = "Which?"']


def checked(folder, *, head=(), alternative=(), instance=(), instead=(), end="\n"):
    """A small task with lines added to its three parts, or other lines in place of all of it."""
    lines = list(instead) or [*HEAD, *head, *ALTERNATIVES, *alternative, *INSTANCES, *instance]
    path = folder / "quiz.toml"
    path.write_bytes(end.join(lines).encode())
    task, mistakes = check_task(path)
    assert (task is None) == bool(mistakes)
    return task, [tuple(mistake) for mistake in mistakes]


def quoted(text):
    return '"' + text + '"'


def one(folder, **parts):
    """The only mistake of a task."""
    ((line, sentence),) = checked(folder, **parts)[1]
    return line, sentence


HEADED, OFFERED, ASKED = 3, 7, 10  # the line after each part
WRONG_HEADS = [
    ("privacy = 3", "privacy of the task is 3; write a text in quotes"),
    (f"instructions = {quoted('x' * 20_001)}", "instructions of the task has 20,001 characters; use at most 20,000"),
    (f"privacy = {quoted('x' * 20_001)}", "privacy of the task has 20,001 characters; use at most 20,000"),
    (r'instructions = "a\u001fb"', "instructions of the task contains control characters; remove them"),
    ("show_size = 1", "show_size is 1; write true or false, without quotes"),
    ('ranking = "true"', "ranking is 'true'; write true or false, without quotes"),
    ('order = "random"', "order is 'random'; write one of 'shuffled', 'doubtful'"),
    ("order = 3", "order is 3; write one of 'shuffled', 'doubtful'"),
    ('join = "anybody"', "join is 'anybody'; write one of 'nickname', 'invitation'"),
    ('method = "vote"', "method is 'vote'; write one of 'em', 'amle', 'auto'"),
    ("most_ballots = 0", "most_ballots is 0; write a whole number of at least 1"),
    ("most_ballots = -1", "most_ballots is -1; write a whole number of at least 1"),
    ("most_ballots = 2.0", "most_ballots is 2.0; write a whole number of at least 1"),
    ("most_ballots = true", "most_ballots is True; write a whole number of at least 1"),
    ("confidence = 0.49", "confidence is 0.49; write a probability such as 0.95, from 0.5 to below 1"),
    ("confidence = 1", "confidence is 1; write a probability such as 0.95, from 0.5 to below 1"),
    ("confidence = 1.0", "confidence is 1.0; write a probability such as 0.95, from 0.5 to below 1"),
    ("confidence = true", "confidence is True; write a probability such as 0.95, from 0.5 to below 1"),
    ("confidence = false", "confidence is False; write a probability such as 0.95, from 0.5 to below 1"),
    ('confidence = "0.9"', "confidence is '0.9'; write a probability such as 0.95, from 0.5 to below 1"),
    ("confidence = nan", "confidence is nan; write a probability such as 0.95, from 0.5 to below 1"),
    (
        "opens = 2027-03-01T09:00:00",
        "opens is '2027-03-01 09:00:00'; write date, time and offset: 2027-03-01T09:00:00+01:00",
    ),
    ("closes = 2027-03-01", "closes is '2027-03-01'; write date, time and offset: 2027-03-01T09:00:00+01:00"),
    ('closes = "soon"', "closes is 'soon'; write date, time and offset: 2027-03-01T09:00:00+01:00"),
    ('languages = "en"', """languages of the task is 'en'; write a list of names such as ["a", "b"]"""),
    ('languages = ["en", 3]', """languages of the task is ['en', 3]; write a list of names such as ["a", "b"]"""),
    ('languages = ["en", "xx"]', "language 'xx' is not available; choose from 'en', 'de', 'es', 'fr'"),
    ('languages = ["en", "en "]', "languages of the task lists a name twice; list every name once"),
    ("colour = 3", "unknown key 'colour' in the task; remove or correct it"),
    ("most_ballot = 3", "unknown key 'most_ballot' in the task (did you mean 'most_ballots'?); remove or correct it"),
]


@pytest.mark.parametrize(("line", "told"), WRONG_HEADS, ids=[line[:30] for line, _ in WRONG_HEADS])
def test_a_mistake_in_the_head_has_its_line(tmp_path, line, told):
    assert one(tmp_path, head=[line]) == (HEADED, told)
    assert one(tmp_path, head=["", "# a remark", line]) == (HEADED + 2, told)


WRONG_INSTANCES = [
    ("size = 3", "instance 'one' offers 2 alternatives, but at least 3 should be right; offer more or lower"),
    ('size = "x"', "size of instance 'one': 'x' is not a size"),
    ("size = 1.5", "size of instance 'one': '1.5' is not a size"),
    ("size = -1", "size of instance 'one': '-1' is not a size; write 2, 1..2 or 1.. (no upper bound)"),
    ("size = true", "size of instance 'one': 'True' is not a size; write 2, 1..2 or 1.. (no upper bound)"),
    ('alternatives = "wren"', "alternatives of instance 'one' is 'wren'; write a list of names"),
    ("alternatives = []", "instance 'one' offers"),
    ('alternatives = ["wren", "wren"]', "alternatives of instance 'one' lists a name twice"),
    (
        'alternatives = ["wren", "robn"]',
        "'robn' in alternatives of instance 'one' is not offered there (did you mean 'robin'?); correct it",
    ),
    ('gold = "wren"', """gold of instance 'one' is 'wren'; write a list of names such as ["a", "b"]"""),
    ("gold = []", "gold of instance 'one' has 0 names, but its size is 1..2; correct one"),
    ('gold = ["wren", "wren"]', "gold of instance 'one' lists a name twice; list every name once"),
    ('gold = ["eagle"]', "'eagle' in gold of instance 'one' is not offered there; correct it"),
    ("picture = 3", "picture of instance 'one' is 3; write a text in quotes"),
    (f"picture = {quoted('x' * 501)}", "picture of instance 'one' has 501 characters; use at most 500"),
    ('picture = "a.ogg"', "has an unknown file type; use .png, .jpg, .jpeg, .gif, .webp, .avif, .svg"),
    ('audio = "a.png"', "has an unknown file type; use .mp3, .ogg, .oga, .opus, .wav, .m4a, .flac"),
    ('picture = "none.png"', "picture 'none.png' of instance 'one' does not exist; put the file at"),
    ('picture = "folder.png"', "picture 'folder.png' of instance 'one' does not exist"),
    ('audio = "../a.ogg"', "is outside the task's folder; move the file there"),
    (r'picture = "a\\b.png"', "is outside the task's folder; move the file there"),
    (r'picture = "a\u0000.png"', "control characters"),
    ('link = "example.org"', "link 'example.org' of instance 'one' is not a web address; begin it with https://"),
    ('link = "ftp://example.org/"', "is not a web address"),
    ('link = "https://"', "is not a web address"),
    ('link = "https:///path"', "is not a web address"),
    ('link = "https://example.org/a b"', "is not a web address"),
    ('link = "https://[::1/"', "is not a web address"),
    (f"link = {quoted('https://example.org/' + 'x' * 1981)}", "has 2,001 characters; use at most 2,000"),
    ("picture_text = 3", "picture_text of instance 'one' is 3; write a text in quotes"),
    ('txt = "x"', "unknown key 'txt' in instance 'one' (did you mean 'text'?); remove or correct it"),
    ('help = "x"', "unknown key 'help' in instance 'one'; remove or correct it"),
]


@pytest.mark.parametrize(("line", "told"), WRONG_INSTANCES, ids=[line[:30] for line, _ in WRONG_INSTANCES])
def test_a_mistake_in_an_instance_has_its_line(tmp_path, line, told):
    (tmp_path / "folder.png").mkdir()
    found = checked(tmp_path, instance=["", line])[1]
    assert found[0][0] == ASKED + 1
    assert told in found[0][1]
    assert {number for number, _ in found} == {ASKED + 1}
    other = ["", "[[instances]]", 'name = "two"', line, 'text = "?"']
    found = checked(tmp_path, instance=other)[1]
    assert {number for number, _ in found} == {ASKED + 3}
    assert told.replace("'one'", "'two'") in found[0][1]


WRONG_ALTERNATIVES = [
    ("help = 3", "help of alternative 'robin' is 3; write a text in quotes"),
    ('picture = "none.png"', "picture 'none.png' of alternative 'robin' does not exist"),
    ('picture = "a.ogg"', "picture 'a.ogg' of alternative 'robin' has an unknown file type"),
    ("picture_text = 3", "picture_text of alternative 'robin' is 3; write a text in quotes"),
    ('text = "x"', "unknown key 'text' in alternative 'robin'; remove or correct it"),
]


@pytest.mark.parametrize(("line", "told"), WRONG_ALTERNATIVES)
def test_a_mistake_in_an_alternative_has_its_line(tmp_path, line, told):
    number, sentence = one(tmp_path, alternative=[line])
    assert number == OFFERED
    assert told in sentence


def test_what_is_needed_and_missing_is_told_where_it_belongs(tmp_path):
    def told(*lines):
        return checked(tmp_path, instead=lines)[1]

    assert told(*HEAD[1:], *ALTERNATIVES, *INSTANCES) == [(1, 'the task has no title; write title = "..."')]
    assert told(*HEAD[:1], *ALTERNATIVES, *INSTANCES) == [
        (1, 'the task has no size; write how many alternatives are right: size = "1..2"')
    ]
    assert told(*HEAD, *ALTERNATIVES) == [
        (1, 'the task has no instances; add some, each beginning with [[instances]] and name = "..."')
    ]
    assert (1, 'the task has no alternatives; add some, each beginning with [[alternatives]] and name = "..."') in told(
        *HEAD, *INSTANCES
    )
    assert told(*HEAD, "instances = []", *ALTERNATIVES)[0][0] == 3
    assert told(*HEAD, "instances = 3", *ALTERNATIVES) == [
        (3, "instances are not tables; begin every one with a line [[instances]]")
    ]
    assert told(*HEAD, "instances = [3]", *ALTERNATIVES) == told(*HEAD, "instances = 3", *ALTERNATIVES)
    assert told(*HEAD, *ALTERNATIVES, "[[instances]]", 'text = "?"') == [
        (7, 'instance number 1 has no name; write name = "..."')
    ]
    assert told(*HEAD, *ALTERNATIVES, *INSTANCES, "", "[[instances]]", 'name = " "', 'text = "?"') == [
        (12, 'instance number 2 has no name; write name = "..."')
    ]
    assert told(*HEAD, *ALTERNATIVES, "[[instances]]", "name = 3", 'text = "?"') == [
        (8, "name of instance number 1 is 3; write a text in quotes")
    ]
    assert told(*HEAD, *ALTERNATIVES, "[[instances]]", 'name = "x"') == [
        (8, "instance 'x' shows nothing; give it a text, picture, audio, video or link")
    ]


@pytest.mark.parametrize("shown", ["text", "picture", "audio", "video", "link"])
def test_an_instance_that_shows_one_thing_is_fine(tmp_path, shown):
    for name in ("a.png", "a.ogg", "a.mp4"):
        (tmp_path / name).touch()
    value = {"text": "?", "picture": "a.png", "audio": "a.ogg", "video": "a.mp4", "link": "https://example.org/"}[shown]
    lines = [*HEAD, *ALTERNATIVES, *INSTANCES[:2], f'{shown} = "{value}"']
    task, _ = checked(tmp_path, instead=lines)
    assert getattr(task.instances[0], shown) == value


def test_names_come_once_and_the_later_one_is_blamed(tmp_path):
    again = ["[[instances]]", 'name = "two"', 'text = "?"', *INSTANCES, *INSTANCES]
    assert checked(tmp_path, instance=again)[1] == [
        (14, "instance 'one' appears twice, first as number 1; rename one"),
        (17, "instance 'one' appears twice, first as number 1; rename one"),
    ]
    assert one(tmp_path, alternative=["[[alternatives]]", 'name = " robin "']) == (
        8,
        "alternative 'robin' appears twice, first as number 2; rename one",
    )


def test_names_are_short_and_on_one_line(tmp_path):
    def told(name):
        return checked(tmp_path, instead=[*HEAD, *ALTERNATIVES, INSTANCES[0], f"name = {quoted(name)}", INSTANCES[2]])

    assert told("x" * 200)[0].instances[0].name == "x" * 200
    assert "has 201 characters; use at most 200" in told("x" * 201)[1][0][1]
    assert "spans several lines; write it on one" in told(r"a\nb")[1][0][1]
    assert "spans several lines; write it on one" in told(r"a\tb")[1][0][1]
    assert [number for number, _ in told(r"a\tb")[1]] == [8]
    assert told("a|b")[0] is not None, "only alternatives are joined by |"
    assert told("  a b ")[0].instances[0].name == "a b"


def test_titles_and_texts_at_their_longest_are_fine(tmp_path):
    lines = [f"instructions = {quoted('x' * 20_000)}", f"privacy = {quoted('y' * 20_000)}"]
    link = f"link = {quoted('https://example.org/' + 'x' * 1980)}"
    task, _ = checked(tmp_path, head=lines, instance=[link])
    assert (task.instructions, task.privacy, len(task.instances[0].link)) == ("x" * 20_000, "y" * 20_000, 2000)
    titles = [[f"title = {quoted('x' * length)}", HEAD[1], *ALTERNATIVES, *INSTANCES] for length in (300, 301)]
    assert checked(tmp_path, instead=titles[0])[0].title == "x" * 300
    assert checked(tmp_path, instead=titles[1])[1] == [(1, "title of the task has 301 characters; use at most 300")]


def test_texts_may_hold_lines_and_tabs_but_no_control_characters(tmp_path):
    task, _ = checked(tmp_path, head=[r'instructions = " a\n\tb "'])
    assert task.instructions == "a\n\tb"
    assert checked(tmp_path, head=[r'instructions = "a\u0020b"'])[0].instructions == "a b"


def test_numbers_at_their_edges_are_fine(tmp_path):
    def task(*head, **parts):
        return checked(tmp_path, head=head, **parts)[0]

    assert task("confidence = 0.5").confidence == 0.5
    assert task("confidence = 0.999999").confidence == 0.999999
    assert task("most_ballots = 1").most_ballots == 1
    assert task(instance=["size = 2"]).instances[0].size.lower == 2
    assert task(instance=['size = "1.."', 'gold = ["wren", "robin"]']).gold == {"one": frozenset({"wren", "robin"})}
    assert task(instance=['size = "0..1"', "gold = []"]).gold == {"one": frozenset()}
    assert task(instance=['alternatives = ["wren"]', 'gold = ["wren"]']).gold == {"one": frozenset({"wren"})}
    assert task("opens = 2027-03-01T09:00:00+01:00", "closes = 2027-03-01T09:00:01+01:00").opens is not None


@pytest.mark.parametrize("closes", ["2027-03-01T09:00:00+01:00", "2027-03-01T08:00:00Z", "2027-03-01T08:59:59+01:00"])
def test_a_task_closes_after_it_opens(tmp_path, closes):
    head = ["opens = 2027-03-01T09:00:00+01:00", f"closes = {closes}"]
    assert one(tmp_path, head=head) == (4, "the task closes before it opens; correct one of the two times")


def test_gold_holds_no_more_than_its_size(tmp_path):
    assert one(tmp_path, instance=["size = 1", 'gold = ["wren", "robin"]']) == (
        11,
        "gold of instance 'one' has 2 names, but its size is 1; correct one",
    )
    assert one(tmp_path, instance=['alternatives = ["wren"]', 'gold = ["robin"]']) == (
        11,
        "'robin' in gold of instance 'one' is not offered there; correct it",
    )


def test_too_few_alternatives_are_blamed_on_the_line_that_says_so(tmp_path):
    two = [HEAD[0], "size = 2"]
    told = "instance 'one' offers 1 alternatives, but at least 2 should be right; offer more or lower the size"
    lines = [*two, *ALTERNATIVES, *INSTANCES, 'alternatives = ["wren"]']
    assert checked(tmp_path, instead=lines)[1] == [(10, told)]
    assert checked(tmp_path, instead=[*lines, "size = 2"])[1] == [(11, told)]
    assert checked(tmp_path, instead=[*lines, "size = 1"])[1] == []


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_line_ends_change_nothing(tmp_path, end):
    wrong = ['instructions = """', "a", '"""', "ranking = 3"]
    assert one(tmp_path, head=wrong, end=end) == (6, "ranking is 3; write true or false, without quotes")
    task, _ = checked(tmp_path, head=['instructions = """', "a", "", 'b"""'], end=end)
    assert task.instructions == "a\n\nb"


def test_a_byte_order_mark_is_passed_over(tmp_path):
    task, _ = checked(tmp_path, instead=["\ufeff" + HEAD[0], HEAD[1], *ALTERNATIVES, *INSTANCES])
    assert task.title == "Birds"


def test_mistakes_in_the_toml_have_their_line(tmp_path):
    line, told = one(tmp_path, head=["order = shuffled"])
    assert line == HEADED
    assert told == "this is not TOML: invalid value; check quotes and brackets here and above"
    line, told = one(tmp_path, head=['order = "shuffled"', 'order = "shuffled"'])
    assert line in (4, 5)
    assert "cannot overwrite a value" in told
    line, told = one(tmp_path, instead=["title = "])
    assert "this is not TOML: invalid value" in told
    assert "(at" not in told


def test_the_same_mistake_is_told_once_and_in_the_order_of_lines(tmp_path):
    found = checked(tmp_path, head=["ranking = 3"], alternative=["help = 3"], instance=['gold = ["x", "x"]'])[1]
    assert [number for number, _ in found] == [3, 8, 12, 12]
    assert len(set(found)) == len(found)


def test_at_most_so_many_tables(tmp_path):
    def many(kind, count):
        return [line for number in range(count) for line in (f"[[{kind}]]", f'name = "x{number}"', 'text = "?"')]

    alternatives = [line for line in many("alternatives", 201) if "text" not in line]
    assert checked(tmp_path, instead=[*HEAD, *alternatives[:-2], *INSTANCES])[1] == []
    assert checked(tmp_path, instead=[*HEAD, *alternatives, *INSTANCES])[1] == [
        (3, "the task has 201 alternatives; at most 200 are possible")
    ]
    assert checked(tmp_path, instead=[*HEAD, *ALTERNATIVES, *many("instances", 5001)])[1] == [
        (7, "the task has 5,001 instances; at most 5,000 are possible")
    ]


def test_files_of_all_kinds_are_found_whatever_the_case_of_their_ending(tmp_path):
    (tmp_path / "in").mkdir()
    for kind, endings in {
        "picture": ("png", "jpg", "jpeg", "gif", "webp", "avif", "svg", "PNG", "Jpg"),
        "audio": ("mp3", "ogg", "oga", "opus", "wav", "m4a", "flac", "MP3"),
        "video": ("mp4", "m4v", "webm", "ogv", "Mp4"),
    }.items():
        for ending in endings:
            (tmp_path / "in" / f"a.{ending}").touch()
            task, _ = checked(tmp_path, instance=[f'{kind} = "in/a.{ending}"'])
            assert task.media == {f"in/a.{ending}"}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("\"a b\" = 1\n'c'= 2\nd-e_9 =3", {("a b",): 1, ("c",): 2, ("d-e_9",): 3}),
        ("a = [\n 1,\n]\nb = 2", {("a",): 1, ("b",): 4}),
        ("a = {b = [1,\n2]}\nc = 2", {("a",): 1, ("c",): 3}),
        ("a = '''\nb = 1\n'''\nc = 2", {("a",): 1, ("c",): 4}),
        ('a = """x\\"""\nb = 1\n"""\nc = 2', {("a",): 1, ("c",): 4}),
        ("a = \"[\" # {\nb = '['\nc = 1", {("a",): 1, ("b",): 2, ("c",): 3}),
        ('a = "\\"["\nb = 2', {("a",): 1, ("b",): 2}),
        ("# a = 1\n\n  a = 2", {("a",): 3}),
        ("[x]\na = 1\n[ y ] # no\na = 2", {("x",): 1, ("x", "a"): 2, ("y",): 3, ("y", "a"): 4}),
        (
            "[[x]]\na = 1\n\n [[ x ]]\na = 2\n[[y]]\na = 3",
            {
                ("x",): 1,
                ("x", 0): 1,
                ("x", 0, "a"): 2,
                ("x", 1): 4,
                ("x", 1, "a"): 5,
                ("y",): 6,
                ("y", 0): 6,
                ("y", 0, "a"): 7,
            },
        ),
        ("a = 1\na = 2", {("a",): 1}),
        ("a = 1]\nb = [\n1]\nc = 2", {("a",): 1, ("b",): 2, ("c",): 4}),
    ],
)
def test_lines_of_keys_and_tables(text, expected):
    assert lines_of(text) == expected


def test_a_place_without_a_line_has_the_one_around_it():
    lines = {("x",): 2, ("x", 0): 2, ("x", 1): 4, ("x", 1, "a"): 5}
    assert line_of(lines, ("x", 1, "a")) == 5
    assert line_of(lines, ("x", 1, "b")) == 4
    assert line_of(lines, ("x", 2, "a")) == 2
    assert line_of(lines, ("z",)) == line_of(lines, ()) == 1
