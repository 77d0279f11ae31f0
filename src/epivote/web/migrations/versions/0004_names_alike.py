"""Names that look alike share a key; of voters who are there already, the later ones keep a key of their own."""

import sqlalchemy as sa
from alembic import op

from epivote.web.store.names import name_key

revision = "0004"
down_revision = "0003"

VOTERS = sa.table("voters", sa.column("id", sa.Integer), sa.column("name", sa.String), sa.column("name_key", sa.String))


def upgrade() -> None:
    """Work the keys out anew; a line break, which no name holds, tells the later ones apart."""
    connection = op.get_bind()
    taken: set[str] = set()
    changed: list[tuple[int, str]] = []
    for number, name, before in connection.execute(sa.select(VOTERS).order_by(VOTERS.c.id)).all():
        key = name_key(name)
        key = f"{key}\n{number}" if key in taken else key
        taken.add(key)
        if key != before:
            changed.append((number, key))
    for number, _ in changed:  # none of the new keys may meet an old one on the way
        connection.execute(sa.update(VOTERS).where(VOTERS.c.id == number).values(name_key=f"\n{number}"))
    for number, key in changed:
        connection.execute(sa.update(VOTERS).where(VOTERS.c.id == number).values(name_key=key))
