"""Election files in detail: PrefLib, abcvoting and Pabulib, alone and in folders, and what is refused in them."""

import pytest
from trying import refused

from epivote import read_export
from epivote.formats.elections import _abc_names
from epivote.formats.source import SourceFile

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


def cat(*lines, alternatives=3, header=("# CATEGORY NAME 1: Approved", "# CATEGORY NAME 2: Not approved")):
    return "\n".join([f"# NUMBER ALTERNATIVES: {alternatives}", *header, *lines, ""])


def order(*lines, alternatives=3, header=()):
    return cat(*lines, alternatives=alternatives, header=header)


def categories(*names, first=1):
    return [f"# CATEGORY NAME {number}: {name}" for number, name in enumerate(names, start=first)]


# PrefLib


NO_VOTERS = "PrefLib files do not name voters, so the reliability of each voter rests on one file only"
APPROVED = "category 'Approved' counts as approved; 'Not approved' does not (choose with --approved)"
FIRST = "orders state no approvals: the first place counts as approved (choose with --approved, such as --approved 2)"


def times_of(ballots):
    times = [1] * ballots.n_voters if ballots.multiplicities is None else ballots.multiplicities.tolist()
    return dict(zip(ballots.voters, times, strict=True))


def test_categories_in_every_notation(write):
    lines = [
        "2: {1, 2}, 3",
        "1:3,{1,2}",
        " 1 : {} , {1, 2, 3}",
        "10: {2}, {1, 3}",
        "1: 2",
        "1: {1,3}",
        "1: {2 },{1, 3}, ",
    ]
    found = read_export(write("e.cat", cat(*lines))).ballots
    expected = [{"1", "2"}, {"3"}, set(), {"2"}, {"2"}, {"1", "3"}, {"2"}]
    assert {key: set(ticks) for key, ticks in found.items()} == {
        (f"line-{k}", "e"): ticks for k, ticks in enumerate(expected, start=1)
    }
    assert times_of(found) == {f"line-{k}": times for k, times in enumerate([2, 1, 1, 10, 1, 1, 1], start=1)}
    assert (found.total_voters, found.total_ballots, found.total_approvals, found.total_empty) == (17, 17, 19, 1)


@pytest.mark.parametrize(
    ("names", "first", "approved"),
    [
        (("Approved", "Not approved"), 1, {"1"}),
        (("Disapproved", "Neutral", "Approved"), 1, {"3"}),
        (("Disapproved", "Neutral/Skipped", "Approved"), 0, {"3"}),
        (("Vote", "Not Selected"), 0, {"1"}),
        (("Yes", "Maybe", "No"), 1, {"1"}),
        (("Yes", "No", "No1"), 1, {"1"}),
        (("NO", " yes "), 1, {"2"}),
        (("against", "for", "abstain"), 1, {"2"}),
        (("0", "1"), 1, {"2"}),
        (("-1", "0", "1"), 1, {"3"}),
        (("Unacceptable", "Acceptable"), 1, {"2"}),
        (("Approve/Agree", "Disagree"), 1, {"1"}),
        (("Approved",), 1, {"1"}),
    ],
)
def test_names_of_categories_tell_which_are_approved(write, names, first, approved):
    groups = ", ".join("123"[: len(names)])
    found = read_export(write("e.cat", cat(f"1: {groups}", header=categories(*names, first=first))))
    assert found.ballots.ballot("line-1", "e") == approved
    chosen = names[int(min(approved)) - 1].strip()
    assert found.notes[0].startswith(f"category {chosen!r} counts as approved")
    assert all(repr(name.strip()) in found.notes[0] for name in names)


@pytest.mark.parametrize(
    "names",
    [
        ("20/20", "10/20", "0/20"),
        ("1", "2", "3"),
        ("Cat_1", "Cat_2"),
        ("Approve", "Strongly approve", "Disapprove"),
        ("Normal", "Notable"),
        ("No", "Neutral"),
        ("Yes", "Whatever"),
        ("", "No"),
    ],
)
def test_names_that_leave_a_doubt_are_asked_about(write, names):
    path = write("e.cat", cat("1: 1, 2", header=categories(*names)))
    listed = ", ".join(map(repr, names))
    assert refused(path) == (
        f"e.cat does not say which categories are approvals (its categories are {listed}); name them with --approved "
        "'NAME', several joined by |"
    )


def test_the_user_says_which_categories_are_approved(write):
    path = write("e.cat", cat("1: 1, 2, 3", header=categories("Great", "Good", "Bad")))
    found = read_export(path, approved="good | GREAT")
    assert found.ballots.ballot("line-1", "e") == {"1", "2"}
    assert found.notes[0] == "categories 'Great', 'Good' count as approved; 'Bad' does not (choose with --approved)"
    assert read_export(path, approved="2").ballots.ballot("line-1", "e") == {"2"}, "by number"
    assert refused(path, approved="Goood") == (
        "e.cat: --approved 'Goood' is not a category; they are 'Great', 'Good', 'Bad'"
    )
    zero = write("z.cat", cat("1: 1, 2, 3", header=categories("No", "Yes", "Maybe", first=0)))
    assert read_export(zero, approved="1|2").ballots.ballot("line-1", "z") == {"2", "3"}, "as the header numbers them"
    nameless = write("n.cat", cat("1: 1, {2, 3}", header=()))
    assert "--approved '1', several" in refused(nameless)
    assert read_export(nameless, approved="2").ballots.ballot("line-1", "n") == {"2", "3"}
    assert refused(nameless, approved="9") == "n.cat: --approved '9' is not a category; they are numbered from 1"


def test_alternatives_in_no_category_are_told(write):
    header = categories("Disapproved", "Approved")
    path = write("e.cat", cat("2: 1, 2", "1: {}, {1, 2, 3}", "4: {}, 3", header=header))
    assert read_export(path).notes[1] == (
        "6 ballots on 'e' have alternatives in no category, which count as not approved"
    )
    alone = write("a.cat", cat("1: 1", header=categories("Approved")))
    assert not any("no category" in note for note in read_export(alone).notes)


def test_alternatives_may_be_numbered_from_0(write):
    header = [*categories("No", "Yes", first=0), *(f"# ALTERNATIVE NAME {j}: bird {j}" for j in range(3))]
    path = write("e.cat", cat("1: 0, {1, 2}", "2: {1, 2}, 0", header=header))
    found = read_export(path).ballots
    assert found.alternatives == ("bird 0", "bird 1", "bird 2")
    assert [set(ticks) for _, ticks in found.items()] == [{"bird 1", "bird 2"}, {"bird 0"}]
    path = write("e.cat", cat("1: 0, 3", header=header))
    assert refused(path) == "e.cat, line 7: '3' is not an alternative; they are 0 to 2"


def test_orders_have_a_first_place(write):
    for ending in ("soc", "soi", "toc", "toi"):
        found = read_export(write(f"e.{ending}", order("2: {1, 2}, 3", "1: 3, 1, 2")))
        assert [set(ticks) for _, ticks in found.ballots.items()] == [{"1", "2"}, {"3"}]
        assert found.notes == (FIRST, NO_VOTERS)
        found = read_export(f"e.{ending}", approved="2")
        assert [set(ticks) for _, ticks in found.ballots.items()] == [{"1", "2", "3"}, {"1", "3"}]
        assert "the first 2 places count as approved" in found.notes[0]
        for odd in ("0", "two", "-1", ""):
            assert refused(f"e.{ending}", approved=odd) == (
                f"e.{ending} holds orders: --approved {odd!r} must say how many places count as approved, such as 2"
            )


def test_the_header_says_what_the_ending_may_not(write):
    text = order("1: 2, 1", header=["# DATA TYPE: soi"])
    found = read_export(write("e.txt", text), format="preflib")
    assert (set(found.ballots.ballot("line-1", "e")), found.notes[0]) == ({"2"}, FIRST)
    text = cat("1: 2, 1", header=["# DATA TYPE: cat", *categories("No", "Yes")])
    assert set(read_export(write("e.txt", text), format="preflib").ballots.ballot("line-1", "e")) == {"1"}


def test_names_of_alternatives_are_trimmed_and_stand_for_numbers(write):
    header = ["#ALTERNATIVE NAME 1:  wren : small ", "# ALTERNATIVE NAME 3: ", "# ALTERNATIVE NAME 4: beyond"]
    found = read_export(write("e.toi", order("1: {1, 2, 3}", header=header))).ballots
    assert found.alternatives == ("wren : small", "2", "3")
    assert found.ballot("line-1", "e") == {"wren : small", "2", "3"}


def test_stated_numbers_of_voters_are_compared(write):
    for stated, notes in (
        ("3", (APPROVED, NO_VOTERS)),
        ("4", (APPROVED, "the header of e.cat states 4 voters, but its lines add up to 3", NO_VOTERS)),
        ("", (APPROVED, "the header of e.cat states  voters, but its lines add up to 3", NO_VOTERS)),
    ):
        header = [*categories("Approved", "Not approved"), f"# NUMBER VOTERS: {stated}"]
        path = write("e.cat", cat("2: 1, 2", "1: 2, 1", alternatives=2, header=header))
        assert read_export(path).notes == notes
    assert read_export(write("e.cat", cat("2: 1, {2, 3}"))).notes == (APPROVED, NO_VOTERS)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (cat("1: 1", "", "1: {1, 4}"), "e.cat, line 6: '4' is not an alternative; they are 1 to 3"),
        (cat("1: 0, 1"), "e.cat, line 4: '0' is not an alternative; they are 1 to 3"),
        (cat("1: 1", alternatives=0), "e.cat, line 4: '1' is not an alternative; there are none"),
        (cat("1: 1", "x: 1"), "e.cat, line 5: 'x: 1' is not of the form 'count: {1, 2}, {3}'"),
        (cat("1: 1 2"), "e.cat, line 4: '1: 1 2' is not of the form 'count: {1, 2}, {3}'"),
        (cat("1: {1" * 30), f"e.cat, line 4: {('1: {1' * 30)[:60]!r} is not of the form 'count: {{1, 2}}, {{3}}'"),
        (cat("1: {1, 2}, {2, 3}"), "e.cat, line 4: alternative 2 is listed twice; list it once"),
        (cat("0: 1"), "e.cat, line 4: no voter cast this ballot; remove the line, or say how many did"),
        (cat("1: 1, 2, 3"), "e.cat, line 4: 3 categories, but the header names fewer; name them all"),
        (cat("1: 1", alternatives=100001), "e.cat: 100001 is not a valid number of alternatives; it must be "
         "a whole number of at most 100,000"),
        (cat("1: 1", alternatives="-2"), "e.cat: the line '# NUMBER ALTERNATIVES: ...' is missing or not a "
         "number; add it"),
        ("1: 1\n", "e.cat: the line '# NUMBER ALTERNATIVES: ...' is missing or not a number; add it"),
        ("2\n1,a\n2,b\n1,1,1\n1,1,2\n", "e.cat is in PrefLib's format of before 2022; download it again from "
         "preflib.org"),
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
    monkeypatch.setattr(elections, "MOST_ALIKE", 5)
    assert read_export(write("e.cat", cat("3: 1", "2: 2", alternatives=5))).ballots.total_ballots == 5
    assert "6 is not a valid number of voters" in refused(write("e.cat", cat("3: 1", "3: 2", alternatives=5)))
    assert "6 is not a valid number of alternatives" in refused(write("e.cat", cat("3: 1", alternatives=6)))
    assert read_export(write("e.abc.yaml", "profile: [[0]]\nnum_cand: 5\n")).ballots.n_alternatives == 5
    assert "6 is not a valid number of candidates" in refused(write("e.abc.yaml", "profile: [[0]]\nnum_cand: 6\n"))
    assert "6 is not a valid number of candidates" in refused(write("e.abc.yaml", "profile: [[5]]\n"))
    assert "holds no ballots" in refused(write("e.cat", cat(alternatives=0)))
    assert "-1 is not a valid number of candidates" in refused(write("e.abc.yaml", "profile: [[]]\nnum_cand: -1\n"))
    assert "True is not a valid number of candidates" in refused(write("e.abc.yaml", "profile: [[]]\nnum_cand: true\n"))


def test_a_folder_is_read_by_name_and_places_name_the_file(write):
    for name in "gcbfeadh":
        write(f"d/{name}.cat", cat("2: 1, {2, 3}", "1: 2, {1, 3}"))
    write("d/notes.txt", "")
    found = read_export("d")
    assert found.ballots.instances == tuple("abcdefgh")
    assert found.ballots.voters[:4] == ("a/line-1", "a/line-2", "b/line-1", "b/line-2")
    assert found.ballots.total_voters == 24
    assert found.notes == (f"{APPROVED} (8 times)", NO_VOTERS)
    write("d/z.toi", order("1: 4", alternatives=4))
    write("d/y.TOC", order("1: 1", alternatives=1))
    assert read_export("d").ballots.instances == (*"abcdefgh", "y", "z")
    assert read_export("d").ballots.offered("z") == ("1", "2", "3", "4")
    write("d/b.cat", cat("1: 9"))
    assert refused("d") == "d/b.cat, line 4: '9' is not an alternative; they are 1 to 3"
    write("d/b.cat", cat("1: 1"))
    write("d/b.toc", order("1: 1"))
    assert refused("d") == "d: b.cat and b.toc are one election; keep one of them there"
    write("d/x.pb", PB)
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
    assert read_export(path).notes == ("committeesize is 2; add --size 2 if that is how many are right",)
    path = write("e.abc.yaml", ABC + "voter_weights: [1, 2.5]\n")
    assert read_export(path).ballots.multiplicities is None
    assert read_export(path).notes == (
        "voter_weights are not whole numbers and were ignored; reliability is learnt from the ballots",
    )
    assert read_export(write("e.abc.yaml", ABC + "voter_weights:\n")).notes == ()


def test_whole_weights_are_multiplicities(write):
    found = read_export(write("e.abc.yaml", ABC + "voter_weights: [3, 2.0]\n"))
    assert times_of(found.ballots) == {"voter 1": 3, "voter 2": 2}
    assert found.notes == ("each voter counts as many times as voter_weights says",)
    write("d/a.abc.yaml", ABC + "voter_weights: [3, 2]\n")
    write("d/b.abc.yaml", ABC + "voter_weights: [3, 2]\n")
    assert times_of(read_export("d").ballots) == {"voter 1": 3, "voter 2": 2}
    write("d/b.abc.yaml", ABC)
    assert refused("d") == (
        "d/b.abc.yaml, voter 1: the weight is 1, but 3 in another file; give a voter the same weight everywhere"
    )


def test_ballots_in_braces_and_no_number_of_candidates(write):
    path = write("e.abc.yaml", "profile: [{0, 3}, {}, [1], !!set {2}]\n")
    assert ballots_of(path) == {
        ("voter 1", "e"): {"0", "3"},
        ("voter 2", "e"): set(),
        ("voter 3", "e"): {"1"},
        ("voter 4", "e"): {"2"},
    }
    assert read_export(path).ballots.alternatives == ("0", "1", "2", "3")


KEYS = "committeesize, compute, description, num_cand, voter_weights"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("profile: [[0, 3]]\nnum_cand: 3\n", "e.abc.yaml, voter 1: [0, 3] must list candidates from 0 to 2"),
        ("profile: [[2], [-1]]\nnum_cand: 3\n", "e.abc.yaml, voter 2: [-1] must list candidates from 0 to 2"),
        ("profile: [[0], [true]]\nnum_cand: 3\n", "e.abc.yaml, voter 2: [True] must list candidates from 0 to 2"),
        ("profile: [[0], 1]\nnum_cand: 3\n", "e.abc.yaml, voter 2: 1 is not a list of candidates; write [0, 1], or []"),
        ("profile: [{0: 1}]\n", "e.abc.yaml, voter 1: {0: 1} is not a list of candidates; write [0, 1], or []"),
        ("profile: [[], {}]\n", "e.abc.yaml: nobody approves anybody, so num_cand must say how many candidates there "
         "are"),
        (ABC + "voter_weights: [1]\n", "e.abc.yaml: voter_weights has 1 weights for 2 voters; give one per voter, or "
         "none"),
        (ABC + "voter_weights: 3\n", "e.abc.yaml: voter_weights has 3 for 2 voters; give one per voter, or none"),
        (ABC + "voter_weights: [1, -2]\n", "e.abc.yaml, voter 2: the weight -2 is not a number above 0"),
        (ABC + "voter_weights: [.nan, 2]\n", "e.abc.yaml, voter 1: the weight nan is not a number above 0"),
        ("profile: [[0], [a]]\nnum_cand: 3\n", "e.abc.yaml, voter 2: ['a'] must list candidates from 0 to 2"),
        ("profile: 3\nnum_cand: 3\n", "e.abc.yaml: profile must be a list of ballots, one for every voter"),
        ("profile: [[0]]\nnum_cand: x\n", "e.abc.yaml: 'x' is not a valid number of candidates; it must be a "
         "whole number of at most 100,000"),
        ("num_cand: 3\n", f"e.abc.yaml must be a mapping with the key profile; other keys may be {KEYS}"),
        ("- 1\n", f"e.abc.yaml must be a mapping with the key profile; other keys may be {KEYS}"),
        (ABC + "colour: red\n", f"e.abc.yaml must be a mapping with the key profile; other keys may be {KEYS}"),
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
        "remove one, or keep one with --duplicates first or last"
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
    remark = "min_length and max_length limit the ballots, not the true sets; give the size bounds with --size"
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
         "keep one with --duplicates first or last"),
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


def test_comments_that_hold_no_name_are_passed_over(tmp_path):
    lines = [
        '# candidate 1: "cat"',
        '# candidate 2: "a\\x"',
        '# voter 1: "ann"',
        '# instance: "q\\"',
        '# candidate 3: "dog"',
    ]
    path = tmp_path / "some.abc.yaml"
    path.write_text("\n".join(lines))
    assert _abc_names(SourceFile(path.name, path, ".yaml")) == ({1: "cat", 3: "dog"}, {1: "ann"}, "some.abc")
