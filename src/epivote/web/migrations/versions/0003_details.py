"""Details of participants, and secrets of organisers and programs."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    """Make them."""
    op.create_table(
        "details",
        sa.Column(
            "voter_id",
            sa.Integer,
            sa.ForeignKey("voters.id", ondelete="CASCADE", name="fk_details_voter_id"),
            nullable=False,
        ),
        sa.Column("consented_at", sa.BigInteger),
        sa.Column("outside_id", sa.String(100)),
        sa.Column("link_hash", sa.String(64)),
        sa.PrimaryKeyConstraint("voter_id", name="pk_details"),
        sa.UniqueConstraint("outside_id", name="uq_details_outside_id"),
        sa.UniqueConstraint("link_hash", name="uq_details_link_hash"),
    )
    op.create_table(
        "credentials",
        sa.Column("kind", sa.String(20), nullable=False),
        sa.Column("name", sa.String(80), nullable=False),
        sa.Column("secret_hash", sa.String(64), nullable=False),
        sa.Column("made_at", sa.BigInteger, nullable=False),
        sa.PrimaryKeyConstraint("kind", "name", name="pk_credentials"),
    )
