"""What errors say."""

import errno
import os

import pytest

from epivote.errors import reason


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "a/file.csv"), "No space left on device"),
        (OSError("the disk is gone"), "the disk is gone"),
    ],
)
def test_the_reason_is_what_the_system_says(error, said):
    assert reason(error) == said
