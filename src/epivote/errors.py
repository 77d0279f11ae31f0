"""What can go wrong, as one tree.

    EpivoteError
    ├── InputError        data, bounds, rates or options that make no sense (also a ValueError)
    │   ├── BallotError       ballots that contradict themselves, their alternatives or their menus
    │   ├── BoundsError       size bounds that no set can satisfy
    │   ├── RateError         a probability that is not one
    │   ├── ColumnError       a table without the columns it needs
    │   └── FileError         a file that cannot be read or written
    ├── ClusterError      a cluster that could not finish its work
    └── NotFittedError    a result was asked for before `fit` (also an AttributeError)

    CrowdWarning          an estimate stands, but something about the crowd should be looked at (a UserWarning)

Every message is one sentence that names the place, the value and the way out.
"""

__all__ = [
    "BallotError",
    "BoundsError",
    "ClusterError",
    "ColumnError",
    "CrowdWarning",
    "EpivoteError",
    "FileError",
    "InputError",
    "NotFittedError",
    "RateError",
]


class EpivoteError(Exception):
    """Base of every error raised on purpose by epivote."""


class InputError(EpivoteError, ValueError):
    """What was given makes no sense; the message says what to change."""


class BallotError(InputError):
    """Ballots that contradict themselves, their alternatives or their menus."""


class BoundsError(InputError):
    """Size bounds that no set can satisfy."""


class RateError(InputError):
    """A hit rate, false-alarm rate or prior that is not a probability strictly between 0 and 1."""


class ColumnError(InputError):
    """A table without the columns it needs."""


class FileError(InputError):
    """A file that cannot be read or written."""


class ClusterError(EpivoteError):
    """A cluster that could not finish its work."""


class CrowdWarning(UserWarning):
    """The estimate stands, but something about the crowd should be looked at."""


class NotFittedError(EpivoteError, AttributeError):
    """A result was asked for before `fit`."""


def reason(error: OSError) -> str:
    """Why the system refused something, without the number and the path that Python puts around it."""
    return error.strerror or str(error)
