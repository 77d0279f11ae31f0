"""Fast versions of what `epivote.model` says in formulas; each is tested against the plain one.

library.py      loads the compiled loops, whose sources are in the folder `loops`; decides when they pay
passes.py       the pass over a shard by compiled loops: keeps sets from pass to pass where memory allows
arguments.py    the arrays that the loops are given
masks.py        sets and ballots as the bits of 64-bit numbers
pairs.py        pairs of voters counted for the first guess
priors.py       the step to other priors: `epivote.model.priors`
texts.py        rows of text cut into cells, and different texts numbered
arranging.py    ballots put in order, and their sets collected: `epivote.data.arranging`

loops/hard.cpp        score, choose, count: `margins`, `choose` and `tally` row by row, to the last bit the same
loops/soft.cpp        score, weigh, count: `log_partition_and_inclusion` and `tally`, or `group_pass`, up to rounding
loops/weigh.hpp       the size counter, for eight instances in lockstep
loops/log.hpp         the same in logarithms, for evidence of any size
loops/words.hpp       eight bytes at a time
loops/lanes.hpp       vectors of eight numbers, in as many registers as the processor needs
loops/tables.cpp      what is asked once a fit has ended: `margins` and `log_partition_and_inclusion` of all rows
loops/masks.cpp, pairs.cpp, priors.cpp, texts.cpp, arranging.cpp      see the modules of the same names
loops/shard.hpp       what all loops over a shard share
loops/processor.cpp   which instructions this processor has
"""
