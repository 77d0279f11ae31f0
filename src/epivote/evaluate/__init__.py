"""How good an estimate is.

metrics.py       accuracies against gold
intervals.py     means with intervals, tests between rules
calibration.py   stated confidence against what was right
confusion.py     which alternatives are mistaken for which
incentive.py     the paper's ranking of voters
agreement.py     how far voters agree beyond chance
sizes.py         which size bounds ballots suggest, and whether given ones fit
looked_at.py     how many ballots are looked at together
inspection.py    what ballots look like before anything is estimated
"""
