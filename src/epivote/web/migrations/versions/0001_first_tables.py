"""The first tables."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None


def upgrade() -> None:
    """Make them."""
    op.create_table(
        "settings",
        sa.Column("name", sa.String(40), nullable=False),
        sa.Column("value", sa.Text, nullable=False),
        sa.PrimaryKeyConstraint("name", name="pk_settings"),
    )
    op.create_table(
        "voters",
        sa.Column("id", sa.Integer, primary_key=True, autoincrement=True),
        sa.Column("name", sa.String(80), nullable=False),
        sa.Column("name_key", sa.String(1000), nullable=False),
        sa.Column("is_person", sa.Boolean, nullable=False),
        sa.Column("token", sa.String(60), nullable=False),
        sa.Column("visit", sa.String(60), nullable=False),
        sa.Column("joined_at", sa.BigInteger, nullable=False),
        sa.Column("finished_at", sa.BigInteger),
        sa.UniqueConstraint("name_key", name="uq_voters_name_key"),
        sa.UniqueConstraint("token", name="uq_voters_token"),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "ballots",
        _voter("ballots"),
        sa.Column("instance", sa.String(200), nullable=False),
        sa.Column("ticks", sa.Text, nullable=False),
        sa.Column("cast_at", sa.BigInteger, nullable=False),
        sa.Column("changed_at", sa.BigInteger, nullable=False),
        sa.PrimaryKeyConstraint("voter_id", "instance", name="pk_ballots"),
    )
    op.create_index("ix_ballots_instance", "ballots", ["instance"])
    op.create_index("ix_ballots_changed_at", "ballots", ["changed_at"])
    op.create_table(
        "skips",
        _voter("skips"),
        sa.Column("instance", sa.String(200), nullable=False),
        sa.PrimaryKeyConstraint("voter_id", "instance", name="pk_skips"),
    )
    op.create_table(
        "asked",
        _voter("asked"),
        sa.Column("position", sa.Integer, nullable=False),
        sa.Column("instance", sa.String(200), nullable=False),
        sa.PrimaryKeyConstraint("voter_id", "position", name="pk_asked"),
    )
    op.create_index("ix_asked_voter_id_instance", "asked", ["voter_id", "instance"], unique=True)
    op.create_table(
        "invitations",
        sa.Column("token_hash", sa.String(64), nullable=False),
        sa.Column("expires_at", sa.BigInteger, nullable=False),
        sa.Column("used_at", sa.BigInteger),
        sa.Column("used_by", sa.String(60)),
        sa.PrimaryKeyConstraint("token_hash", name="pk_invitations"),
    )


def _voter(table: str) -> sa.Column[int]:
    return sa.Column(
        "voter_id",
        sa.Integer,
        sa.ForeignKey("voters.id", ondelete="CASCADE", name=f"fk_{table}_voter_id"),
        nullable=False,
    )
