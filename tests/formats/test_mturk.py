import pytest

from epivote import InputError, read_export

HEAD = "HITId,AssignmentId,WorkerId,AssignmentStatus,Input.image_url"
EXPECTED = {("W1", "H1"): {"robin", "wren"}, ("W2", "H1"): set()}
ENCODINGS = {
    "joined": "{head},Answer.birds\nH1,A1,W1,Approved,http://x/1.jpg,robin|wren\nH1,A2,W2,Submitted,http://x/1.jpg,\n",
    "boxes": "{head},Answer.robin.on,Answer.wren.on,Answer.owl.on\n"
    "H1,A1,W1,Approved,http://x/1.jpg,true,true,false\nH1,A2,W2,Approved,http://x/1.jpg,false,false,false\n",
    "labels": '{head},Answer.birds.labels\nH1,A1,W1,Approved,http://x/1.jpg,"[""robin"",""wren""]"\n'
    "H1,A2,W2,Approved,http://x/1.jpg,[]\n",
    "crowd form": '{head},Answer.taskAnswers\nH1,A1,W1,Approved,http://x/1.jpg,"[{{""birds"":{{""robin"":true,""wren"":true,'
    '""owl"":false}}}}]"\nH1,A2,W2,Approved,http://x/1.jpg,"[{{""birds"":{{""robin"":false}}}}]"\n',
}


@pytest.fixture
def write(tmp_path):
    def to_file(text):
        path = tmp_path / "batch.csv"
        path.write_text(text.format(head=HEAD))
        return path

    return to_file


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_four_encodings_of_the_same_ballots(write, encoding):
    found = read_export(write(ENCODINGS[encoding]))
    assert {key: set(ticks) for key, ticks in found.ballots.items()} == EXPECTED


def test_rejected_work_does_not_count_and_an_input_can_be_the_item(write):
    path = write("{head},Answer.birds\nH1,A1,W1,Approved,pic 1,robin\nH2,A2,W2,Rejected,pic 1,wren\n")
    found = read_export(path, instances="Input.image_url")
    assert dict(found.ballots.items()) == {("W1", "pic 1"): {"robin"}}
    assert found.notes == ("a rejected assignment counts as a missing ballot",)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "{head},Answer.birds,Answer.trees\nH1,A1,W1,Approved,x,robin,oak\n",
            "choose the question to read with --question",
        ),
        ("{head},Answer.birds.labels\nH1,A1,W1,Approved,x,[oops\n", r"batch\.csv, line 2: '\[oops' is not JSON"),
        (
            "{head},Answer.birds\nH1,A1,W1,Approved,x,robin\nH1,A2,W1,Approved,x,wren\n",
            "line 3: voter 'W1' already has a ballot on instance 'H1'",
        ),
    ],
)
def test_what_cannot_be_understood_is_refused(write, text, message):
    with pytest.raises(InputError, match=message):
        read_export(write(text))


def test_one_of_several_questions(write):
    path = write("{head},Answer.birds,Answer.trees\nH1,A1,W1,Approved,x,robin,oak\n")
    assert read_export(path, question="trees").ballots.alternatives == ("oak",)
