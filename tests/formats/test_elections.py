"""Election files in detail: PrefLib, abcvoting and Pabulib, alone and in folders, and what is refused in them."""

import pytest

from epivote import EpivoteError, read_export

ABC = "profile: [[0, 1], []]\nnum_cand: 3\n"
PB = "META\nkey;value\nvote_type;approval\nPROJECTS\nproject_id;cost\np;1\nq;2\nVOTES\nvoter_id;vote\n"


@pytest.fixture
def write(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def to_file(name, text):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text, newline="")
        return name

    return to_file


def ballots_of(path, **options):
    return {key: set(ticks) for key, ticks in read_export(path, **options).ballots.items()}


def refused(path, **options):
    with pytest.raises(EpivoteError) as told:
        read_export(path, **options)
    return str(told.value)


def cat(*lines, alternatives=3, header=()):
    return "\n".join([f"# NUMBER ALTERNATIVES: {alternatives}", *header, *lines, ""])


# PrefLib


def test_first_categories_in_every_notation(write):
    lines = ["2: {1, 2}, 3", "1:3,{1,2}", " 1 : {} , {1, 2, 3}", "10: {2}, {1, 3}", "1: 2", "1: {1,3}", "1: 2, 3, 1"]
    found = read_export(write("e.cat", cat(*lines))).ballots
    expected = [{"1", "2"}] * 2 + [{"3"}, set()] + [{"2"}] * 10 + [{"2"}, {"1", "3"}, {"2"}]
    names = ["line-1.1", "line-1.2", "line-2", "line-3", *[f"line-4.{k}" for k in range(1, 11)]]
    names += ["line-5", "line-6", "line-7"]
    assert {key: set(ticks) for key, ticks in found.items()} == {
        (name, "e"): ticks for name, ticks in zip(names, expected, strict=True)
    }
    assert found.voters == tuple(names)


def test_names_of_alternatives_are_trimmed_and_stand_for_numbers(write):
    header = ["#ALTERNATIVE NAME 1:  wren : small ", "# ALTERNATIVE NAME 3: ", "# ALTERNATIVE NAME 4: beyond"]
    found = read_export(write("e.toi", cat("1: {1, 2, 3}", header=header))).ballots
    assert found.alternatives == ("wren : small", "2", "3")
    assert found.ballot("line-1", "e") == {"wren : small", "2", "3"}


def test_stated_numbers_of_voters_are_compared(write):
    usual = "PrefLib files name no voters: everyone is known from one file only, so reliability rests on little"
    for stated, notes in (
        ("3", (usual,)),
        ("4", ("the header of e.cat states 4 voters, its lines hold 3", usual)),
        ("", ("the header of e.cat states  voters, its lines hold 3", usual)),
    ):
        path = write("e.cat", cat("2: 1, 2", "1: 2, 1", alternatives=2, header=[f"# NUMBER VOTERS: {stated}"]))
        assert read_export(path).notes == notes
    assert read_export(write("e.cat", cat("2: 1, 2"))).notes == (usual,)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (cat("1: 1", "", "1: {1, 4}"), "e.cat, line 4: '4' is not an alternative; they are 1 to 3"),
        (cat("1: 0, 1"), "e.cat, line 2: '0' is not an alternative; they are 1 to 3"),
        (cat("1: 1", "x: 1"), "e.cat, line 3: 'x: 1' is not of the form 'count: {1, 2}, {3}'"),
        (cat("1: 1 2"), "e.cat, line 2: '1: 1 2' is not of the form 'count: {1, 2}, {3}'"),
        (cat("1: {1" * 30), f"e.cat, line 2: {('1: {1' * 30)[:60]!r} is not of the form 'count: {{1, 2}}, {{3}}'"),
        (cat("1: 1", alternatives=5000001), "e.cat: 5000001 is no number of alternatives that can be read; it must be "
         "at most 5,000,000"),
        (cat("1: 1", alternatives="-2"), "e.cat: there is no line '# NUMBER ALTERNATIVES: ...'; it must say how many "
         "there are"),
        ("1: 1\n", "e.cat: there is no line '# NUMBER ALTERNATIVES: ...'; it must say how many there are"),
        (cat("1: 1", header=["# ALTERNATIVE NAME 2: 1"]), "e.cat: two alternatives have the same name; rename one"),
        (cat(), "e.cat holds no ballots; check that it is the file you meant"),
    ],
    ids=lambda value: value[:20],
)  # fmt: skip
def test_preflib_files_that_are_refused(write, text, message):
    assert refused(write("e.cat", text)) == message


def test_as_many_as_can_be_read_can_be_read(write, monkeypatch):
    from epivote.formats import elections

    monkeypatch.setattr(elections, "MAX_COUNT", 5)
    assert read_export(write("e.cat", cat("3: 1", "2: 2", alternatives=5))).ballots.n_ballots == 5
    assert "6 is no number of voters" in refused(write("e.cat", cat("3: 1", "3: 2", alternatives=5)))
    assert "6 is no number of alternatives" in refused(write("e.cat", cat("3: 1", alternatives=6)))
    assert read_export(write("e.abc.yaml", "profile: [[0]]\nnum_cand: 5\n")).ballots.n_alternatives == 5
    assert "6 is no number of candidates" in refused(write("e.abc.yaml", "profile: [[0]]\nnum_cand: 6\n"))
    assert "holds no ballots" in refused(write("e.cat", cat(alternatives=0)))
    assert "-1 is no number of candidates" in refused(write("e.abc.yaml", "profile: [[]]\nnum_cand: -1\n"))
    assert "True is no number of candidates" in refused(write("e.abc.yaml", "profile: [[]]\nnum_cand: true\n"))


def test_a_folder_is_read_by_name_and_places_name_the_file(write):
    for name in "gcbfeadh":
        write(f"d/{name}.cat", cat("2: 1, {2, 3}", "1: 2, {1, 3}"))
    write("d/notes.txt", "")
    found = read_export("d").ballots
    assert found.instances == tuple("abcdefgh")
    assert found.voters[:4] == ("a/line-1.1", "a/line-1.2", "a/line-2", "b/line-1.1")
    write("d/z.toi", cat("1: 4", alternatives=4))
    write("d/y.TOC", cat("1: 1", alternatives=1))
    assert read_export("d").ballots.instances == (*"abcdefgh", "y", "z")
    assert read_export("d").ballots.offered("z") == ("1", "2", "3", "4")
    write("d/b.cat", cat("1: 9"))
    assert refused("d") == "d/b.cat, line 2: '9' is not an alternative; they are 1 to 3"
    write("d/x.pb", PB)
    write("d/b.cat", cat("1: 1"))
    assert refused("d") == "d holds x.pb beside .cat files; keep one kind in a folder"


def test_one_file_in_a_folder_needs_no_names_before_its_voters(write):
    write("d/e.cat", cat("1: 1"))
    assert ballots_of("d") == {("line-1", "e"): {"1"}}


# abcvoting


def test_names_in_comments_are_read_back(write):
    text = (
        '# candidate 0: "Ä \\u00e4"\r\n# candidate 2: "two"\r\n# voter 1: "bo"\r\n# instance: "which?"\r\n'
        '# candidate 1: "broken\\"\r\n# voter 9: "nobody"\r\n  # voter 0: "padded"\r\n'
        "profile: [[0, 1], [2]]\r\nnum_cand: 3\r\n"
    )
    found = read_export(write("e.abc.yaml", text)).ballots
    assert found.alternatives == ("Ä ä", "1", "two")
    assert {key: set(ticks) for key, ticks in found.items()} == {
        ("voter 1", "which?"): {"Ä ä", "1"},
        ("bo", "which?"): {"two"},
    }
    assert read_export(write("e.abc.yaml", text.replace("\r\n", "\n"))).ballots.instances == ("which?",)


def test_remarks_on_what_is_passed_over(write):
    path = write("e.abc.yaml", ABC + "committeesize: 2\nvoter_weights: [1, 1.0]\ndescription: x\n")
    assert read_export(path).notes == ("committeesize is 2; say --size 2 if so many are right",)
    path = write("e.abc.yaml", ABC + "voter_weights: [1, 2]\n")
    assert read_export(path).notes == ("voter_weights were passed over: reliability is learnt from the ballots",)
    assert read_export(write("e.abc.yaml", ABC + "voter_weights:\n")).notes == ()


KEYS = "committeesize, compute, description, num_cand, profile, voter_weights"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("profile: [[0, 3]]\nnum_cand: 3\n", "e.abc.yaml, voter 1: [0, 3] must list candidates from 0 to 2"),
        ("profile: [[2], [-1]]\nnum_cand: 3\n", "e.abc.yaml, voter 2: [-1] must list candidates from 0 to 2"),
        ("profile: [[0], [true]]\nnum_cand: 3\n", "e.abc.yaml, voter 2: [True] must list candidates from 0 to 2"),
        ("profile: [[0], 1]\nnum_cand: 3\n", "e.abc.yaml, voter 2: 1 must list candidates from 0 to 2"),
        ("profile: [[0], [a]]\nnum_cand: 3\n", "e.abc.yaml, voter 2: ['a'] must list candidates from 0 to 2"),
        ("profile: 3\nnum_cand: 3\n", "e.abc.yaml: profile must be a list of ballots and num_cand a number"),
        ("profile: [[0]]\n", "e.abc.yaml: profile must be a list of ballots and num_cand a number"),
        ("num_cand: 3\n", f"e.abc.yaml must hold profile and num_cand, and nothing but {KEYS}"),
        ("- 1\n", f"e.abc.yaml must hold profile and num_cand, and nothing but {KEYS}"),
        (ABC + "colour: red\n", f"e.abc.yaml must hold profile and num_cand, and nothing but {KEYS}"),
        ("profile: []\nnum_cand: 3\n", "e.abc.yaml holds no ballots; check that it is the file you meant"),
        ("\n\nprofile: [[0\n", "e.abc.yaml, line 4: not YAML (expected ',' or ']', but got '<stream end>'); correct it "
         "there"),
    ],
    ids=lambda value: value[:24],
)  # fmt: skip
def test_abcvoting_files_that_are_refused(write, text, message):
    assert refused(write("e.abc.yaml", text)) == message


def test_yaml_that_holds_what_no_text_may(write):
    message = refused(write("e.abc.yaml", "profile: \x00\n"))
    assert message.startswith("e.abc.yaml is not YAML: ")
    assert "\n" not in message


def test_positions_are_the_same_voters_in_every_file_of_a_folder(write):
    write("d/b.abc.yaml", "profile: [[0], [1]]\nnum_cand: 2\n")
    write("d/a.abc.yaml", ABC)
    assert ballots_of("d") == {
        ("voter 1", "a"): {"0", "1"},
        ("voter 2", "a"): set(),
        ("voter 1", "b"): {"0"},
        ("voter 2", "b"): {"1"},
    }
    write("d/c.abc.yaml", "profile: [[5]]\nnum_cand: 2\n")
    assert refused("d") == "d/c.abc.yaml, voter 1: [5] must list candidates from 0 to 1"
    write("d/c.abc.yaml", '# instance: "a"\n' + ABC)
    assert refused("d") == (
        "d, c.abc.yaml, voter 1: voter 'voter 1' already has a ballot on instance 'a' (a.abc.yaml, voter 1); "
        "remove one, or say which one counts (--duplicates first or last)"
    )


# Pabulib


def test_sections_in_any_case_and_order_with_padding_and_quotes(write):
    text = (
        'votes;;\n voter_id ; vote ;age\n"v;1"; p , q ,;3\n\n w ;;\n'
        "Meta\nkey;value\n vote_type ; approval \nmax_length;3\nPROJECTS\nproject_id;name\np;x\nq;y\n r ;z\n"
    )
    found = read_export(write("e.pb", text))
    assert {key: set(ticks) for key, ticks in found.ballots.items()} == {("v;1", "e"): {"p", "q"}, ("w", "e"): set()}
    assert found.ballots.alternatives == ("p", "q", "r")
    remark = "min_length and max_length bound the ballots, not the number of right answers: say that with --size"
    assert found.notes == (remark,)
    assert read_export(write("e.pb", text.replace("max_length", "min_length"))).notes == (remark,)
    assert read_export(write("e.pb", PB + "v;p\n")).notes == ()
    assert ballots_of(write("e.pb", PB.replace("vote_type;approval\n", "short\n") + "v;p\n")) == {("v", "e"): {"p"}}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (PB + "\n;p\n", "e.pb, line 11: the voter_id is blank; give every vote a voter"),
        (PB + "v;p\n\nw\n", "e.pb, line 12: there is no vote; write its cell, blank for an empty ballot"),
        (PB + "v;p\nw;p,x\n", "e.pb, line 11: 'x' is not an alternative; the alternatives are 'p', 'q'"),
        (PB + "v;p\n\nv;q\n", "e.pb, line 12: voter 'v' already has a ballot on instance 'e' (line 10); remove one, or "
         "say which one counts (--duplicates first or last)"),
        ("x" * 50 + "\n" + PB, f"e.pb, line 1: {'x' * 40!r} comes before META; is it a .pb file?"),
        (PB.replace("approval", "ordinal") + "v;p\n", "e.pb: vote_type is 'ordinal'; only approval votes can be read"),
        (PB.replace("q;2", ";2") + "v;p\n", "e.pb: every project needs a project_id"),
        (PB.replace("project_id", "id") + "v;p\n", "e.pb: every project needs a project_id"),
        (PB, "e.pb: section VOTES is missing or empty"),
        (PB.replace("p;1\nq;2\n", "") + "v;p\n", "e.pb: section PROJECTS is missing or empty"),
    ],
    ids=lambda value: value[-24:],
)  # fmt: skip
def test_pabulib_files_that_are_refused(write, text, message):
    assert refused(write("e.pb", text)) == message


def test_a_line_end_of_another_kind_within_a_line_is_refused(write):
    message = refused(write("e.pb", PB + "v;p\nw;p\rx\n"))
    assert message.startswith("e.pb, line 11: new-line character seen in unquoted field")
    assert message.endswith("; check the quotes there")


def test_a_vote_for_a_project_called_like_a_section_is_a_vote(write):
    text = PB.replace("q;2", "votes;2") + "v;votes\nw;p\n"
    assert ballots_of(write("e.pb", text)) == {("v", "e"): {"votes"}, ("w", "e"): {"p"}}


def test_a_folder_of_budgets(write):
    write("d/b.pb", PB + "v;p\n")
    write("d/a.pb", PB + "v;q\n")
    assert ballots_of("d") == {("v", "a"): {"q"}, ("v", "b"): {"p"}}
    write("d/b.pb", PB + "v;p,x\n")
    assert refused("d") == "d, b.pb, line 10: 'x' is not an alternative; the alternatives are 'p', 'q'"
