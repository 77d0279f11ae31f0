"""The `epivote` command: parse, call one public function, print.

main.py         all sub-commands
options.py      options that several commands share
estimating.py   aggregate, report, explain, review, gold, evaluate, plan
files.py        inspect, convert, simulate
demo.py         demo, with its quiz in demo_quiz/
packed.py       pack, and aggregate on packed folders
collect.py, collect_access.py, collect_preview.py, collect_task.py    collect
fitting.py      from what was read to an estimate
reporting.py    the report page of what was estimated
again.py        the command to try next
screen.py       lines that fit one screen
show.py, show_aggregate.py, show_voters.py, show_review.py, show_files.py, show_packed.py    what is printed
aggregate_json.py    what aggregate --json prints
console.py      the terminal: errors in one sentence, progress
"""

from epivote.cli.main import app

__all__ = ["app"]
