"""A few ballots as rows, without a database."""


class FewRows:
    """Rows as a store hands them out to be exported."""

    def __init__(self, rows):
        self._rows = rows

    def rows(self, order):
        place = {name: number for number, name in enumerate(order)}
        came = {name: number for number, name in enumerate(dict.fromkeys(row.voter for row in self._rows))}
        known = [row for row in self._rows if row.instance in place]
        return sorted(known, key=lambda row: (place[row.instance], came[row.voter]))

    def stamp(self):
        return len(self._rows), 1


def written(made):
    """The files of an export as texts."""
    return {name: "".join(pieces) for name, pieces in made.files.items()}
