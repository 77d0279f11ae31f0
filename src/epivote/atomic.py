"""Files appear whole or not at all."""

import errno
import os
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path

from epivote.errors import FileError, reason

Write = Callable[[Path], object]


def write_files(writers: Mapping[Path, Write]) -> None:
    """Let every writer write beside its target, then put all in place; on any failure nothing is left behind."""
    written: dict[Path, Path] = {}
    target = Path()
    try:
        for target, write in writers.items():
            if target.parent.is_file():
                raise FileError(f"{target.parent} is a file; name a folder for {target.name}")
            target.parent.mkdir(parents=True, exist_ok=True)
            if target.is_dir():
                raise IsADirectoryError(errno.EISDIR, "it is a folder")
            handle, name = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
            os.close(handle)
            written[target] = Path(name)
            write(written[target])
            written[target].chmod(0o666 & ~_umask())
        for target, temporary in written.items():
            temporary.replace(target)
    except OSError as error:
        raise FileError(f"cannot write {target}: {reason(error)}; choose another place") from error
    finally:
        for temporary in written.values():
            temporary.unlink(missing_ok=True)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
