"""Plants single-line defects in the source, one at a time, and asks whether a test notices.

    defects.py     every defect that could be planted in a file: a place and what to write there
    loops.py       the same for the loops in C++
    sample.py      which of them to try: random lines by seed, some in every package
    touched.py     which tests run which line, from one run of the suite under coverage
    notes.py       what a test process notes down for touched.py, and which tests a trial runs
    trial.py       one defect in a copy of the project, and the tests that could notice it
    compiling.py   compiles the loops of such a copy
    warm.py        starts tests quickly, in copies of a process that has imported the libraries
    page.py        docs/mutants.md: what was noticed, what was not, what changes nothing
    equivalent.toml  defects that change nothing anybody could see, each with its reason

`make mutants` runs it all; `python -m mutants --help` lists the options.

Mutation testers on the package index either replace functions at run time, which compiled loops never see,
or run the whole suite for every defect. This one rewrites the file and runs only the tests that touch the line.
Coverage does not see lines of C++, so defects in the loops are tried with all tests of what calls them.
"""
