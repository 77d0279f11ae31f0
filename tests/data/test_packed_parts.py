"""Packed ballots in several parts and blocks: every size, name and choice is that of the ballots in memory."""

import pickle
import zlib

import numpy as np
import pytest

from epivote import BallotError, Ballots, FileError, open_packed, write_packed
from epivote.data import packed as packed_module
from epivote.data import packing, stored
from epivote.data.packed import is_packed, joined
from epivote.data.stored import names_as_arrays, read_all, read_arrays, read_names, write_arrays
from epivote.engines.where import Where

VOTERS = [f"v{i}" for i in range(7)]


def crowd(alternatives, menus, seed=0):
    """Thirteen instances with one to five ballots each."""
    rng = np.random.default_rng(seed)
    names = [f"a{j}" for j in range(alternatives)]
    cast, menu = {}, {}
    for z in range(13):
        name = f"zö{z}" * (1 + z % 3)
        width = int(rng.integers(2, alternatives + 1)) if menus else alternatives
        menu[name] = sorted(rng.choice(names, width, replace=False).tolist())
        for voter in rng.permutation(VOTERS)[: rng.integers(1, 6)]:
            cast[str(voter), name] = {each for each in menu[name] if rng.random() < 0.4}
    return Ballots.from_mapping(cast, alternatives=names, menu=menu if menus else None)


@pytest.mark.parametrize(
    ("per_block", "alternatives", "menus"),
    [
        (1, 5, True),
        (1, 70, False),
        (2, 65, True),
        (2, 5, False),
        (3, 64, False),
        (3, 70, True),
        (1000, 64, True),
        (1000, 65, False),
    ],
)
def test_parts_and_blocks_of_any_size_come_back_whole(tmp_path, monkeypatch, per_block, alternatives, menus):
    monkeypatch.setattr(packing, "BALLOTS_PER_BLOCK", per_block)
    whole = crowd(alternatives, menus)
    cut = whole.instances[:4], whole.instances[4:5], whole.instances[5:]
    packed = write_packed((whole.select(instances=names) for names in cut), tmp_path / "packed")
    assert packed == whole
    assert packed.instances == whole.instances
    for name in ("n_ballots", "n_approvals", "n_pairs", "most_ballots", "n_instances", "has_menus", "coverage"):
        assert getattr(packed, name) == getattr(whole, name), name
    assert packed.ballots_per_voter.tolist() == [sum(who == v for (who, _), _ in whole.items()) for v in whole.voters]
    at = 0
    for block in packed.blocks:
        names = whole.instances[at : at + block.n_instances]
        part = whole.select(instances=names)
        assert block.instances == names
        assert block.instance_index == {name: z for z, name in enumerate(names)}
        assert block.menu_sizes.tolist() == part.menu_sizes.tolist()
        assert block.cast_per_instance.tolist() == part.ballots_per_instance.tolist()
        assert block.keys().tolist() == [zlib.crc32(name.encode()) for name in names]
        assert block.in_memory() == part
        assert (block.n_ballots, block.n_alternatives) == (part.n_ballots, alternatives)
        assert block.n_ballots <= per_block or block.n_instances == 1
        rows = np.arange(block.n_instances)[::2]
        assert block.in_memory(rows) == part.select(instances=names[::2])
        at += block.n_instances
    assert at == 13


@pytest.mark.parametrize("per_block", [1, 4, 6, 7])
def test_a_block_takes_as_many_instances_as_fit(tmp_path, monkeypatch, per_block):
    monkeypatch.setattr(packing, "BALLOTS_PER_BLOCK", per_block)
    whole = crowd(4, menus=False)
    expected, room = [], 0
    for count in whole.ballots_per_instance.tolist():
        if count > room:
            expected.append(0)
            room = per_block
        expected[-1] += 1
        room -= count
    packed = write_packed([whole], tmp_path / "packed")
    assert [block.n_instances for block in packed.blocks] == expected


def test_a_block_has_room_for_two_to_the_seventeen_ballots():
    assert packing.BALLOTS_PER_BLOCK == 131_072


@pytest.fixture
def pair(tmp_path, monkeypatch):
    monkeypatch.setattr(packing, "BALLOTS_PER_BLOCK", 5)
    whole = crowd(6, menus=True)
    return whole, write_packed([whole], tmp_path / "packed")


def test_words_say_in_how_many_blocks(pair, tmp_path):
    whole, packed = pair
    sizes = f"{whole.n_ballots} ballots, {whole.n_approvals} approvals in {len(packed.blocks)} blocks"
    assert packed.in_words() == f"7 voters, 13 instances, 6 alternatives, {sizes}"
    single = write_packed([Ballots.from_mapping({("v", "z"): {"a"}})], tmp_path / "single")
    assert repr(single) == "PackedBallots(1 voter, 1 instance, 1 alternative, 1 ballot, 1 approval in 1 block)"


def test_a_selection_within_one_block_keeps_its_order(tmp_path):
    whole = crowd(6, menus=True)
    packed = write_packed([whole], tmp_path / "packed")
    assert len(packed.blocks) == 1
    wanted = [whole.instances[z] for z in (12, 0, 6, 3, 8, 1)]
    assert packed.select(instances=wanted).instances == tuple(whole.instances[z] for z in (0, 1, 3, 6, 8, 12))


@pytest.mark.parametrize(("alternatives", "as_mask"), [(63, True), (64, True), (65, False)])
def test_up_to_64_alternatives_a_ballot_is_stored_as_one_number(tmp_path, alternatives, as_mask):
    packed = write_packed([crowd(alternatives, menus=False)], tmp_path / "packed")
    stored = read_all(packed.folder / "block-00000.npz", "")
    assert ("mask" in stored, "tick" in stored, "tick_count" in stored) == (as_mask, not as_mask, not as_mask)


def test_selections_are_those_of_ballots_in_memory(pair):
    whole, packed = pair
    names, voters = whole.instances, whole.voters
    for chosen in (
        {"instances": [names[12], names[0], names[6]]},
        {"instances": [names[3]]},
        {"voters": [voters[4], voters[1]]},
        {"voters": voters[:3], "instances": names[2:9]},
        {},
    ):
        assert packed.select(**chosen) == whole.select(**chosen)
    for wrong, message in (
        ({"instances": ["nowhere"]}, "'nowhere' is not an instance"),
        ({"instances": [names[1], "nowhere"]}, "'nowhere' is not an instance"),
        ({"voters": ["nobody"]}, "'nobody' is not a voter"),
    ):
        with pytest.raises(BallotError, match=message):
            packed.select(**wrong)


@pytest.mark.parametrize("step", [0, 1, 2, 3, 5, 97, 10**9 + 7])
def test_every_step_th_instance_is_chosen_by_its_name(pair, step):
    whole, packed = pair
    also = [whole.instances[7], "nowhere", whole.instances[2]]
    for extra in ((), also):
        wanted = [z for z in whole.instances if zlib.crc32(z.encode()) % max(step, 1) == 0 or z in extra]
        expected = whole.select(instances=wanted or whole.instances[:1])
        assert whole.sample_instances(step, extra) == expected
        assert packed.sample_instances(step, extra) == expected
        assert open_packed(packed.folder).sample_instances(step, extra) == expected


def test_a_small_sample_is_kept_and_a_large_one_is_not(pair, monkeypatch):
    _, packed = pair
    size = packed.sample_instances(2).n_instances
    assert packed.sample_instances(2) is packed.sample_instances(2)
    assert packed.sample_instances(2) is not packed.sample_instances(3)
    for most, kept in ((size, True), (size - 1, False)):
        monkeypatch.setattr(packed_module, "KEPT_SAMPLE", most)
        again = open_packed(packed.folder)
        assert (again.sample_instances(2) is again.sample_instances(2)) == kept


def test_options_of_opening_are_kept_and_a_client_stays_behind(pair):
    _, packed = pair
    opened = open_packed(str(packed.folder), client="somebody", kept_bytes=123)
    assert opened.where == Where("somebody", 123)
    sent = pickle.loads(pickle.dumps(opened))
    assert (sent.folder, sent.where) == (packed.folder, Where(None, 123))
    assert sent == packed
    assert open_packed(packed.folder).where == Where(None, 1 << 29)


def test_a_folder_is_packed_if_it_has_an_index(pair, tmp_path):
    _, packed = pair
    assert is_packed(packed.folder)
    assert is_packed(str(packed.folder))
    assert not is_packed(tmp_path)
    (tmp_path / "index.npz").mkdir()
    assert not is_packed(tmp_path)
    with pytest.raises(FileError, match="holds no packed ballots"):
        open_packed(tmp_path)


def test_joined_parts_are_the_whole():
    whole = crowd(6, menus=True)
    names = whole.instances
    parts = [whole.select(instances=each) for each in (names[:2], names[2:3], names[3:])]
    assert joined(parts) == whole
    assert joined(parts[:1]) is parts[0]
    plain = crowd(6, menus=False)
    assert joined([plain.select(instances=names[:5]), plain.select(instances=names[5:])]) == plain


def test_a_part_with_other_voters_or_alternatives_is_refused(tmp_path):
    first = Ballots.from_mapping({("v", "y"): {"a"}, ("w", "y"): {"b"}})
    for other in (
        Ballots.from_mapping({("v", "z"): {"a", "b"}}),
        Ballots.from_mapping({("v", "z"): {"a"}, ("w", "z"): {"a"}}),
    ):
        with pytest.raises(BallotError, match="must list the same voters and the same alternatives"):
            write_packed([first, other], tmp_path / "packed")
    with pytest.raises(BallotError, match="there are no ballots at all"), packing.packing(tmp_path / "p", ["v"], ["a"]):
        pass
    assert list(tmp_path.iterdir()) == []


def test_a_packed_folder_may_lie_deep_and_is_for_everybody_to_read(tmp_path):
    packed = write_packed([crowd(4, menus=False)], tmp_path / "not" / "there" / "yet")
    assert packed.folder.stat().st_mode & 0o777 == 0o755
    assert [path.name for path in packed.folder.parent.iterdir()] == ["yet"]
    (tmp_path / "file").write_text("")
    with pytest.raises(FileError, match=r"^cannot write .*file/packed: File exists; nothing was packed$"):
        write_packed([crowd(4, menus=False)], tmp_path / "file" / "packed")
    with (
        pytest.raises(FileError, match=r"^cannot write .*odd: something odd; nothing was packed$"),
        packing.packing(tmp_path / "odd", ["v"], ["a"]),
    ):
        raise OSError("something odd")
    assert not (tmp_path / "odd").exists()


@pytest.mark.parametrize(
    "change",
    [
        {"cast": np.array([2], np.uint8)},
        {"voter": np.array([0], np.uint8)},
        {"cast": np.array([2, 2], np.uint8)},
    ],
)
def test_a_block_that_does_not_fit_the_index_is_refused(tmp_path, change):
    packed = write_packed([Ballots.from_mapping({("v", "y"): {"a"}, ("v", "z"): {"a"}})], tmp_path / "packed")
    path = packed.folder / "block-00000.npz"
    write_arrays(path, {**read_all(path, ""), **change})
    with pytest.raises(FileError, match="does not belong to this folder's index; pack the ballots again"):
        open_packed(packed.folder).select()


def test_a_folder_of_a_newer_version_is_refused_and_of_this_one_opened(pair):
    _, packed = pair
    index = packed.folder / "index.npz"
    arrays = read_all(index, "")
    assert arrays["version"].tolist() == [2]
    for version, message in (
        (3, r"was packed by a newer epivote \(format 3\); update epivote"),
        (1, r"was packed by an older epivote \(format 1\); pack the ballots again"),
    ):
        write_arrays(index, {**arrays, "version": np.array([version])})
        with pytest.raises(FileError, match=message):
            open_packed(packed.folder)


# Files of arrays


def test_arrays_and_names_come_back(tmp_path):
    path = tmp_path / "some.npz"
    names = ["", "a", "größer", "😀", "\ud800", "a" * 70_000]
    table = np.arange(6, dtype=np.uint16).reshape(2, 3)
    write_arrays(path, {"table": table, "turned": table.T, **names_as_arrays("name", names)})
    found, turned = read_arrays(path, "table", "turned")
    assert (found.tolist(), found.dtype) == (table.tolist(), np.uint16)
    assert turned.tolist() == table.T.tolist()
    assert list(read_all(path, "")) == ["table", "turned", "name_text", "name_length"]
    assert np.load(path)["table"].tolist() == table.tolist()
    assert read_names(path, "name") == tuple(names)
    assert read_names(path, "name", np.array([4, 2, 2])) == ("\ud800", "größer", "größer")
    assert read_names(path, "name", np.zeros(0, int)) == ()


def test_what_cannot_be_read_is_said_with_its_remedy(tmp_path):
    path = tmp_path / "some.npz"
    with pytest.raises(FileError, match=r"some.npz is missing; make it again"):
        read_all(path, "make it again")
    with pytest.raises(FileError, match=r"some.npz is missing; pack the ballots again"):
        read_arrays(path, "table")
    write_arrays(path, {"table": np.arange(3000)})
    with pytest.raises(FileError, match=r"some.npz is damaged \(.*other.*\); pack the ballots again"):
        read_arrays(path, "other")
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)
    with pytest.raises(FileError, match=r"is damaged \(its checksum does not match\); make it again"):
        read_all(path, "make it again")
    path.write_bytes(data[:100])
    with pytest.raises(FileError, match=r"is damaged \(it is cut short or is not a packed file\)"):
        read_all(path, "")
    np.savez(path, table=np.array(["a", None], object))
    with pytest.raises(FileError, match=r"is damaged \(not an array of numbers\)"):
        read_all(path, "")
    np.savez(path, table=np.asfortranarray(np.ones((2, 3))))
    with pytest.raises(FileError, match=r"is damaged \(not an array of numbers\)"):
        read_all(path, "")
    with pytest.raises(FileError, match=r"^cannot read .*: Is a directory$"):
        read_all(tmp_path, "")


def test_objects_are_never_written_and_odd_errors_are_told(tmp_path, monkeypatch):
    with pytest.raises(ValueError, match="Object arrays cannot be saved"):
        write_arrays(tmp_path / "some.npz", {"table": np.array(["a", None], object)})

    def refuse(path):
        raise OSError("something odd")

    monkeypatch.setattr("zipfile.ZipFile", refuse)
    with pytest.raises(FileError, match=r"^cannot read .*some.npz: something odd$"):
        read_all(tmp_path / "some.npz", "")


def test_threads_parse_one_header_at_a_time(tmp_path, monkeypatch):
    write_arrays(tmp_path / "a.npz", {"x": np.arange(3), "y": np.ones((2, 2))})
    parse = stored.npy.read_array_header_1_0
    held = []

    def watched(stream):
        held.append(stored.ONE_HEADER_AT_A_TIME.locked())
        return parse(stream)

    monkeypatch.setattr(stored.npy, "read_array_header_1_0", watched)
    assert read_arrays(tmp_path / "a.npz", "y", "x")[1].tolist() == [0, 1, 2]
    assert held == [True, True]
    assert not stored.ONE_HEADER_AT_A_TIME.locked()
