"""The values everything else works on: ballots, size bounds, parameters, truths, estimates.

blocks.py       a block: some instances with all their ballots
any_ballots.py  what can be asked of ballots in memory and of packed ones
in_columns.py   what follows from the columns of ballots in memory
ballots.py      Ballots: who approved what where, in columns sorted by instance
bounds.py       SizeBounds: how many alternatives a true set may have
parameters.py   Parameters: hit rates, false-alarm rates, priors
truths.py       Truths: one set per instance
estimate.py     Estimate: what an estimator found
calibration.py  Calibration: how log-odds translate into truth
names.py        names, checked once, and suggestions for misspelt ones
numbers.py      shares and intervals as people read them
html.py         small tables for notebooks
exchange.py     to and from lists of dicts, pandas and indicator matrices
lists.py        many short lists of numbers in two columns
ordering.py     some places of a sort without sorting everything
shards.py       ballots laid out for one pass: instances with equally many alternatives
columns.py      what columns are called, and finding one
marks.py        what is written into a box for "ticked" and "not ticked"
frames.py, rows.py, build.py, arranging.py        from dataframes and rows of text to sorted columns
packed.py, packed_block.py, packing.py, stored.py    folders of ballots that outgrow memory
"""
