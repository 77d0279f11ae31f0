"""Counts of ballots and of their changes, and slots: no page counts the ballots themselves any more."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    """Make them, and count what there is."""
    op.create_table(
        "counts",
        sa.Column("instance", sa.String(200), nullable=False),
        sa.Column("ballots", sa.Integer, nullable=False),
        sa.Column("changes", sa.BigInteger, nullable=False),
        sa.PrimaryKeyConstraint("instance", name="pk_counts"),
    )
    op.execute("INSERT INTO counts SELECT instance, count(*), count(*) FROM ballots GROUP BY instance")
    op.add_column("voters", sa.Column("ballots", sa.Integer, nullable=False, server_default="0"))
    op.execute("UPDATE voters SET ballots = (SELECT count(*) FROM ballots WHERE ballots.voter_id = voters.id)")
    op.drop_index("ix_ballots_changed_at", "ballots")
    op.create_table(
        "slots",
        sa.Column(
            "voter_id",
            sa.Integer,
            sa.ForeignKey("voters.id", ondelete="CASCADE", name="fk_slots_voter_id"),
            nullable=False,
        ),
        sa.Column("instance", sa.String(200), nullable=False),
        sa.Column("until", sa.BigInteger, nullable=False),
        sa.PrimaryKeyConstraint("voter_id", "instance", name="pk_slots"),
    )
    op.create_index("ix_slots_instance", "slots", ["instance"])
