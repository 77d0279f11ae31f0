"""The report page and the plots.

counts.py           sums over all instances, in one pass over the ballots
numbers.py          what the page and the plots show
written.py          how the page writes numbers
cards.py            what the cards of the page's first screen hold
overview.py         words and rows of the page's first screen
content.py          words and rows of its sections; changes.py those about a majority
embedded.py         what the page's scripts draw from
svg.py              small charts for the page; voter_map.py the largest of them
page.py             the page; template/ holds its HTML, style and scripts
anonymous.py        estimates without the names of voters
axes.py, plots.py, estimate_plots.py    plots with matplotlib
"""
