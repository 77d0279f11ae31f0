"""Forms and surveys at their edges: which columns are questions, how many options make one, what is noted."""

import pytest
from trying import ballots_of, refused

from epivote import read_export
from epivote.formats.survey_header import SurveyHeader, survey_header


@pytest.fixture
def write(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def write(text, name="f.csv"):
        (tmp_path / name).write_text(text, encoding="utf-8")
        return name

    return write


OF_TOOLS = [
    *("Timestamp", "Horodateur", "Zeitstempel", "Marca temporal", "Start time", "Completion time"),
    *("submitdate", "lastpage", "startlanguage", "Date submitted", "Last page", "Start language"),
    *("ResponseId", "Response ID", "Respondent ID", "record_id", "Time from Start to Finish (seconds)"),
    *("Email Address", "Collector ID", "Score", "Email", "Name", "ID", "Last modified time", "Total points"),
    *("Quiz feedback", "StartDate", "EndDate", "Status", "IPAddress", "Progress", "Duration (in seconds)", "Finished"),
    *("RecordedDate", "RecipientLastName", "RecipientFirstName", "RecipientEmail", "ExternalReference"),
    *("LocationLatitude", "LocationLongitude", "DistributionChannel", "UserLanguage", "Seed", "Date started"),
    *("Date last action", "IP address", "Referrer URL", "startdate", "datestamp", "First Name", "Last Name"),
    *("Custom Data 1", "redcap_survey_identifier", "redcap_event_name", "redcap_repeat_instrument"),
    "redcap_repeat_instance",
]


@pytest.mark.parametrize("name", OF_TOOLS)
def test_what_tools_add_is_no_question(write, name):
    path = write(f"Username,{name},Birds\nann,x,robin\n")
    found = read_export(path, format="forms", voter="Username")
    assert ballots_of(found) == {("ann", "Birds"): {"robin"}}
    path = write(f"Username,{name.upper()},Birds\nann,x,robin\n")
    assert read_export(path, format="forms", voter="Username").ballots.instances == ("Birds",)
    assert read_export(path, format="forms", voter="Username", instances=name.upper()).ballots.instances == (
        name.upper(),
    )


@pytest.mark.parametrize(
    ("header", "kind"),
    [
        ("Worker ID,Task ID,labels,Timestamp", "ballots"),
        ("Worker ID,Task ID,Timestamp,Birds", "forms"),
        ("Worker ID,labels,Timestamp", "forms"),
        ("Task ID,labels,Timestamp", "forms"),
        ("worker,task,alternative,Timestamp", "ticks"),
    ],
)
def test_a_table_that_names_voters_instances_and_ticks_is_no_form(write, header, kind):
    cells = ["w", "t", "a", "b"][: header.count(",") + 1]
    assert read_export(write(f"{header}\n{','.join(cells)}\n")).format == kind


LABELLED = [
    (2, ["Which? - a", "Which? - b"], True),
    (1, ["Which? - a"], False),
    (2, ["Which? - a", "Which? - a"], False),
    (2, ["Which? - a", "What? - b"], False),
    (2, ["a", "b"], False),
    (3, ["Which? - a", "Which? - b", "Which? - c"], True),
    (3, ["Which one - or two? - a", "Which one - or two? - b", "Which one - or two? - c"], True),
]


@pytest.mark.parametrize("part", ["Q7_Part_{}", "Q7_{}"])
@pytest.mark.parametrize(("count", "labels", "told"), LABELLED)
def test_a_second_line_of_labels(part, count, labels, told):
    first = ["Duration", *(part.format(number + 1) for number in range(count))]
    second = ["Seconds", *labels]
    found = survey_header([first, second, ["5", *["x"] * count]])
    expected = SurveyHeader(first, dict(zip(first, second, strict=True)), 1) if told else SurveyHeader(first)
    assert found == expected


def test_labels_of_a_later_question_are_enough():
    first, second = ["Q1_1", "Q1_2", "Q2_1", "Q2_2"], ["a", "b", "Which? - a", "Which? - b"]
    assert survey_header([first, second]).n_more == 1
    assert survey_header([first, second[:3]]) == SurveyHeader(first)


@pytest.mark.parametrize(
    ("first", "second", "names"),
    [
        (["Birds?", "", ""], ["a", "b", "c"], ["Birds? [a]", "Birds? [b]", "Birds? [c]"]),
        (["Birds?", ""], ["a", "b"], None),
        (["Birds?", "", ""], ["a", "b", ""], None),
        (["Birds?", "", ""], ["a", "b", "b"], None),
        (["", "", ""], ["a", "b", "c"], None),
        (
            ["Id", " Birds? ", "", " ", "Name", "Why?", "Old"],
            ["", "a", " b ", "c", "Response", "Open-Ended Response", "yes"],
            ["Id", "Birds? [a]", "Birds? [b]", "Birds? [c]", "Name", "Why?", "Old [yes]"],
        ),
        (
            ["Birds?", "", "", "Why?", ""],
            ["a", "b", "c", "Response", "d"],
            ["Birds? [a]", "Birds? [b]", "Birds? [c]", "Why? [Response]", "Why? [d]"],
        ),
    ],
)
def test_options_below_a_question_and_the_blanks_to_its_right(first, second, names):
    expected = SurveyHeader(first) if names is None else SurveyHeader(names, {}, 1)
    assert survey_header([first, second]) == expected
    assert survey_header([first, second, ["x"] * len(first)]) == expected
    assert survey_header([first, [*second, "more"]]) == SurveyHeader(first)


def test_the_third_line_of_qualtrics():
    first, second = ["ResponseId", "Q5_1"], ["Response ID", "Which? - a"]
    third = ["no", '{"ImportId":"QID1"}']
    assert survey_header([first, second, third]) == SurveyHeader(first, dict(zip(first, second, strict=True)), 2)
    assert survey_header([first, second[:1], third]) == SurveyHeader(first)
    assert survey_header([first, second, ["no", 'x {"ImportId":"QID1"}']]) == SurveyHeader(first)
    assert survey_header([first]) == SurveyHeader(first)
    assert survey_header([]) == SurveyHeader([])


def test_a_column_per_option_needs_two_that_hold_marks(write):
    two = read_export(write("ResponseId,Q [a],Q [b],Other\nann,x,,robin\n"))
    assert ballots_of(two) == {("ann", "Q"): {"a"}}
    assert two.notes == (
        "1 question read: 'Q'; --question or --instances selects others",
        "a column per option was read as ticks; cells that are blank or say no are not ticked",
    )
    one = read_export(write("ResponseId,Q [a],Other\nann,x,robin\n"))
    assert one.ballots.instances == ("Q [a]", "Other")
    same = read_export(write("ResponseId,Q [a],Q [ a ],Other\nann,x,,robin\n"))
    assert "Q" not in same.ballots.instances
    blank = read_export(write("ResponseId,Q [a],Q [b],Other\nann,,,robin\nbo,,,wren\n"))
    assert blank.ballots.instances == ("Other",)


def test_an_option_may_hold_its_own_label_or_what_others_wrote(write):
    text = "ResponseId,Q7_Part_1,Q7_Part_2,Q7_OTHER\nann,Robin,,\nbo,Robin,Wren,an owl\ncy,,,a crow\n"
    found = read_export(write(text))
    assert ballots_of(found) == {
        ("ann", "Q7"): {"Robin"},
        ("bo", "Q7"): {"Robin", "Wren", "OTHER"},
        ("cy", "Q7"): {"OTHER"},
    }
    twice = read_export(write("ResponseId,Q7_Part_1,Q7_Part_2,Why\nann,Robin,Robin,x\nbo,Robin,,y\n"))
    assert "Q7" not in twice.ballots.instances


def test_two_questions_without_a_common_alternative_are_told(write):
    text = "ResponseId,A,B,C\nann,robin,wren,oak\nbo,wren,robin,elm\n"
    assert read_export(write(text)).notes[-1] == (
        "questions 'A' and 'C' have no alternative in common; name those that belong together with --question or "
        "--instances"
    )
    assert not any("in common" in note for note in read_export("f.csv", instances="*").notes)
    blank = "ResponseId,A,B,C\nann,robin,robin,\nbo,wren,robin,\n"
    assert not any("in common" in note for note in read_export(write(blank)).notes)


def test_rows_are_named_where_nothing_names_them(write):
    found = read_export(write("Timestamp,Birds\n1,robin\n1,wren\n2,robin\n"))
    assert found.ballots.voters == ("row 1", "row 2", "row 3")
    assert "every row counts as a different respondent; --voter names the column that identifies them" in found.notes
    by_time = read_export("f.csv", voter="Timestamp")
    assert by_time.ballots.voters == ("1, row 1", "1, row 2", "2")
    assert "rows with the same 'Timestamp' count as different respondents" in by_time.notes
    apart = read_export(write("Timestamp,Birds\n1,robin\n2,wren\n3,robin\n"), voter="timestamp ")
    assert apart.ballots.voters == ("1", "2", "3")
    assert not any("the same" in note for note in apart.notes)
    unnamed = read_export(write("Username,Birds\nann,robin\n,wren\nbo,robin\n"), format="forms")
    assert unnamed.ballots.voters == ("ann", "row 2", "bo")


def test_the_gold_row(write):
    text = "Username,A,B\nthe key,robin,\nann,robin;wren,wren\nbo,wren,robin;wren\n"
    found = read_export(write(text), gold_row="the key")
    assert found.gold is not None
    assert dict(found.gold) == {"A": {"robin"}}
    assert found.notes == (
        "a blank cell of the gold row counts as not known",
        "2 questions read: 'A', 'B'; --question or --instances selects others",
        "cells were split at ';' (override with --separator or --alternatives)",
    )
    assert refused("f.csv", gold_row="the kay") == (
        "f.csv: no row of column 'Username' is 'the kay' (did you mean 'the key'?); correct --gold-row"
    )


def test_a_form_with_nothing_but_the_tools_columns(write):
    assert refused(write("Timestamp,Username\n1,ann\n")) == "f.csv: no column is left to hold ticks besides 'Username'"
    assert refused("f.csv", instances="Bird*") == ("f.csv: no column matches 'Bird*'; correct --instances; there are ")


@pytest.mark.parametrize(
    ("cells", "mark"),
    [
        (["a;b", "b"], ";"),
        (["a,b,c,d", "a,e,f;g,h"], ","),
        (["a,b;c"], ";"),
        (["a", "b"], ","),
        (["x|y", "z,t|y"], "|"),
        (["a\nb", "c\nb,d"], "\n"),
    ],
)
def test_the_mark_that_is_noted(write, cells, mark):
    rows = "".join(f'v{number},"{cell}"\n' for number, cell in enumerate(cells))
    found = read_export(write(f"Username,Birds\n{rows}"), format="forms")
    assert found.notes == (f"cells were split at {mark!r} (override with --separator or --alternatives)",)
    named = read_export("f.csv", format="forms", separator=mark)
    assert ballots_of(named) == ballots_of(found)
    assert named.notes == ()


def test_questions_are_named_by_code_text_or_label(write):
    lines = [
        "ResponseId,Q5_1,Q5_2,Q6",
        "Response ID,Which? - robin,Which? - wren,Why?",
        '"{""ImportId"":""a""}","{""ImportId"":""b""}","{""ImportId"":""c""}","{""ImportId"":""d""}"',
        "ann,1,,robin",
        "bo,1,1,wren",
    ]
    path = write("\n".join(lines))
    for name in ("Q5", "Which?", "Q?", "Which*"):
        assert read_export(path, question=name).ballots.instances[0] == "Q5"
    for name in ("Q6", "Why?"):
        assert ballots_of(read_export(path, question=name)) == {("ann", "Q6"): {"robin"}, ("bo", "Q6"): {"wren"}}
    for name in ("Which? - robin", "Which? -*", "Q5_1"):
        assert refused(path, question=name).startswith(f"f.csv: no column matches {name!r}")
    assert read_export(path, format="forms", instances="Q5_1").ballots.instances == ("Q5_1",)


def test_padding_around_names_of_options(write):
    for header in ("Q [a] , Q [b]", "Q___a , Q___b", " Q_1, Q_2 ", "Q (choice=a) , Q (choice= b )"):
        found = read_export(write(f"ResponseId,{header}\nann,yes,no\nbo,yes,yes\n"), format="forms")
        assert found.ballots.instances == ("Q",)
        assert [len(ticks) for _, ticks in found.ballots.items()] == [1, 2]
    padded = read_export(write("ResponseId, Q7_Part_1 , Q7_Part_2\nann,Robin , \nbo, Robin,Wren\n"), format="forms")
    assert ballots_of(padded) == {("ann", "Q7"): {"Robin"}, ("bo", "Q7"): {"Robin", "Wren"}}


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_line_breaks_within_questions_are_kept(tmp_path, end):
    lines = [f'Respondent ID,"Birds{end}here?",,', ",robin,wren,owl", "ann,robin,,", "bo,,wren,owl", ""]
    (tmp_path / "f.csv").write_bytes(end.join(lines).encode())
    found = read_export(tmp_path / "f.csv")
    assert ballots_of(found) == {("ann", f"Birds{end}here?"): {"robin"}, ("bo", f"Birds{end}here?"): {"wren", "owl"}}
