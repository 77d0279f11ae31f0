"""Where ballots are while an estimate is made.

engine.py    what every engine does: parameters in, sums out
local.py     passes on this machine, by one or more threads
memory.py    all shards in memory
disk.py      packed blocks, read in every iteration
dask.py      blocks held by the workers of a Dask cluster
where.py     which of the two, for packed ballots
cells.py     sets by name as tables of cells, and back
gold.py      gold sets, matched to blocks, as rows that keep their sets
"""
