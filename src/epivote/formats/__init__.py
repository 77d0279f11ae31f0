"""Files in and out.

detect.py       any file, recognised by name and content: `read_export`
reading.py      the options of reading, declared once
export.py       what readers return
source.py       where text comes from: files, compressed files, pipes
text_table.py   delimited text as columns whose rows know their lines
plain_text.py   the same for large files of plain text, as numbers instead of text
survey_header.py    headers of several lines, as survey tools write them
joined.py       ticks that share a cell, and what joins them
options.py      questions with a column per option
file_tables.py  Parquet, JSON and JSONL the same way; `table_of` opens whichever it is, once
tables.py       tables with a row per ballot or per approval
canonical.py    the canonical files
label_studio.py, label_studio_min.py, prodigy.py, doccano.py, argilla.py, mturk.py, toloka.py, crowdflower.py, forms.py,
matrix.py       one module per tool
elections.py, preflib.py    elections: abcvoting and Pabulib; PrefLib
write.py, write_elections.py, predictions.py    writing
pack.py         from files larger than memory to packed ballots
"""
