"""Which tests take long: `python tests/find_long.py REPORT.xml` rewrites tests/long.txt.

The report is what `pytest --junitxml=REPORT.xml -o junit_family=xunit1` writes. A test with several parameters takes as
long as they take on average.
"""

import sys
import xml.etree.ElementTree as ElementTree
from collections import defaultdict
from pathlib import Path

LONG = 0.25  # seconds on two quiet cores; the others then fit into three minutes, also on a fresh checkout
LIST = Path(__file__).with_name("long.txt")


def long_tests(report):
    """`file::test` of every test that takes long, in order."""
    seconds = defaultdict(list)
    for case in ElementTree.parse(report).iter("testcase"):
        seconds[f"{case.get('file')}::{case.get('name').partition('[')[0]}"].append(float(case.get("time")))
    return sorted(name for name, each in seconds.items() if sum(each) / len(each) > LONG)


if __name__ == "__main__":
    LIST.write_text("\n".join(long_tests(sys.argv[1])) + "\n", encoding="utf-8")
