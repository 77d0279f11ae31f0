"""Fast versions of what `epivote.model` says in formulas; each is tested against the plain one.

compiling.py     when compiled loops pay; the only module here that decides anything
passes.py        the pass over a shard as compiled loops: gathers the arguments, keeps sets from pass to pass
arguments.py     the named groups of arrays that the loops are given
hard_loops.py    score, choose, count: `margins`, `choose` and `tally` row by row, to the last bit the same
soft_loops.py    score, weigh, count: `log_partition_and_inclusion` and `tally`, or `group_pass`, up to rounding
log_loops.py     the same in logarithms, for rows with evidence of any size and for given sets
table_loops.py   what is asked once a fit has ended: `margins` and `log_partition_and_inclusion` of all rows
lanes.py         vectors of eight numbers, by which the loops of soft passes work on eight instances in lockstep
masks.py         sets and ballots as the bits of 64-bit numbers
pairs.py         pairs of voters counted for the first guess
text_loops.py    rows of text cut into cells, and different texts numbered
texts.py         the different texts that are known so far
words.py         eight bytes of text at a time
gather.py        the lists of many rows collected: `Lists.rows`
warm.py          makes all of them ready in a thread, while a large file is being read
decorators.py    how loops are compiled; importing it loads numba
"""
