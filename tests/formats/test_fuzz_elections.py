"""Election files damaged at random: readers raise nothing but our errors, in one sentence.

`make test-slow` tries 4,000 inputs; `python tests/formats/test_fuzz_elections.py 0 300000` as many as it is told.
"""

import random
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

from epivote import EpivoteError, read_export

TESTS = Path(__file__).parent.parent
ENDINGS = (".cat", ".toc", ".toi", ".soc", ".soi", ".abc.yaml", ".pb")
FILES = sorted(
    path
    for folder in ("cases", "cases-refused")
    for path in (TESTS / folder).iterdir()
    if path.is_file() and path.name.endswith(ENDINGS)
)
PIECES = [
    *(
        b"{",
        b"}",
        b",",
        b":",
        b";",
        b"#",
        b"\n",
        b"\r",
        b"\r\n",
        b" ",
        b"\t",
        b'"',
        b"'",
        b"[",
        b"]",
        b"|",
        b"&",
        b"*",
        b"!",
    ),
    *(b"0", b"1", b"-1", b"1.5", b"9" * 20, b"99999999", b"1e999", b".nan", b".inf", b"null", b"true", b"~", b"\x00"),
    *(
        b"\xff",
        b"\xef\xbb\xbf",
        b"\xf0\x9f\x90\xa6",
        b"\xe2\x80\xa8",
        b"# NUMBER ALTERNATIVES: 3\n",
        b"# CATEGORY NAME 0: Yes\n",
    ),
    *(b"# ALTERNATIVE NAME 0: x\n", b"# DATA TYPE: soc\n", b"# DATA TYPE: wmd\n", b"1: {1, 2}, {3}\n", b"3: {}\n"),
    *(
        b"profile: ",
        b"num_cand: ",
        b"voter_weights: ",
        b"committeesize: ",
        b"!!set {1}",
        b"&a [*a]",
        b"<<: *a",
        b"{0: }",
    ),
    *(b"META\n", b"PROJECTS\n", b"VOTES\n", b"voter_id;vote\n", b"vote_type;ordinal\n", b"project_id;cost\n"),
]
APPROVED = (None, None, "1", "Yes", "Approved|Maybe", "", "|", "0", "9" * 30, "\ud800")


def damaged(data, rng):
    """The bytes with a few pieces put in, taken out, doubled or moved."""
    for _ in range(rng.randint(1, 4)):
        at, length = rng.randint(0, len(data)), rng.choice((0, 0, 1, 2, 5, 20, 100))
        cut = data[at : at + length]
        new = rng.choice(
            (b"", rng.choice(PIECES), rng.randbytes(rng.randint(1, 4)), cut * 2, data[: rng.randint(0, 40)])
        )
        data = data[:at] + new + data[at + length :]
    return data


def message_of(path, **options):
    try:
        read_export(path, **options)
    except EpivoteError as error:
        return str(error)
    return ""


@given(st.sampled_from(FILES), st.randoms(use_true_random=False), st.sampled_from(APPROVED))
def test_damaged_elections(tmp_path_factory, file, rng, approved):
    path = tmp_path_factory.mktemp("fuzz") / file.name
    path.write_bytes(damaged(file.read_bytes(), rng))
    assert "\n" not in message_of(path, approved=approved)


@given(st.text(max_size=80), st.sampled_from(ENDINGS))
def test_any_text_in_an_election(tmp_path_factory, text, ending):
    path = tmp_path_factory.mktemp("fuzz") / f"x{ending}"
    path.write_bytes(text.encode("utf-8", "surrogatepass"))
    assert "\n" not in message_of(path)


def fuzz(seeds, folder):
    """Read one damaged file per seed."""
    contents = {file.name: file.read_bytes() for file in FILES}
    for seed in seeds:
        rng = random.Random(seed)
        name = rng.choice(list(contents))
        (folder / name).write_bytes(damaged(contents[name], rng))
        assert "\n" not in message_of(folder / name, approved=rng.choice(APPROVED)), f"seed {seed}"


@pytest.mark.slow
def test_many_damaged_elections(tmp_path):
    fuzz(range(4_000), tmp_path)


if __name__ == "__main__":
    with TemporaryDirectory() as scratch:
        fuzz(range(int(sys.argv[1]), int(sys.argv[2])), Path(scratch))
