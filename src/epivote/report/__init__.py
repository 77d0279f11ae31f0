"""The report page and the plots.

numbers.py          what the page and the plots show
content.py          the page's words and rows
embedded.py         what the page's scripts draw from
svg.py              small charts for the page
page.py             the page; template/ holds its HTML, style and scripts
anonymous.py        estimates without the names of voters
axes.py, plots.py, estimate_plots.py    plots with matplotlib
"""
