"""What the tests of readers do with a file."""

import pytest

from epivote import EpivoteError, read_export


def ballots_of(found):
    return {key: set(ticks) for key, ticks in found.ballots.items()}


def refused(path, **options):
    """The sentence with which a file is refused."""
    with pytest.raises(EpivoteError) as told:
        read_export(path, **options)
    return str(told.value)
