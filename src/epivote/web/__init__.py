"""Collecting ballots: a task, a store, an app with pages, and live estimation beside it.

    task/          what is asked: a TOML file as frozen values, or every mistake in it at once
    store/         who answered what: SQLite or PostgreSQL, one transaction per ballot; migrations/ brings it up to date
    security/      signed cookies, tokens of forms, rate limits, headers
    estimation/    sets, voters and ranking, worked out beside the requests in a process of its own
    views/         thin: from a visit to a page; templates/, static/ and languages/ are what they show
    health.py      whether ballots can be stored, found out by storing something
    app.py         the app as a value, routes.py its addresses, interface/ the JSON interface
    serving.py     the server; addresses.py says where phones find it, notifying.py tells others who has handed in

Only public names of epivote are used here.
"""
