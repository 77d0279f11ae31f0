"""The tables as they are now; `migrations/versions` holds the way here from every earlier version.

Times are microseconds since 1970 (UTC), so that both databases keep and compare them alike.
"""

from sqlalchemy import BigInteger, Boolean, Column, ForeignKey, Index, Integer, MetaData, String, Table, Text

METADATA = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_name)s",
        "uq": "uq_%(table_name)s_%(column_0_name)s",
        "fk": "fk_%(table_name)s_%(column_0_name)s",
        "pk": "pk_%(table_name)s",
    }
)

SETTINGS = Table(
    "settings",
    METADATA,
    Column("name", String(40), primary_key=True),
    Column("value", Text, nullable=False),
)

VOTERS = Table(
    "voters",
    METADATA,
    Column("id", Integer, primary_key=True, autoincrement=True),
    Column("name", String(80), nullable=False),
    Column("name_key", String(1000), nullable=False, unique=True),
    Column("is_person", Boolean, nullable=False),
    Column("token", String(60), nullable=False, unique=True),
    Column("visit", String(60), nullable=False),
    Column("joined_at", BigInteger, nullable=False),
    Column("finished_at", BigInteger),
    Column("ballots", Integer, nullable=False, server_default="0"),
    sqlite_autoincrement=True,
)


def _voter() -> Column[int]:
    return Column("voter_id", Integer, ForeignKey("voters.id", ondelete="CASCADE"), primary_key=True)


BALLOTS = Table(
    "ballots",
    METADATA,
    _voter(),
    Column("instance", String(200), primary_key=True),
    Column("ticks", Text, nullable=False),
    Column("cast_at", BigInteger, nullable=False),
    Column("changed_at", BigInteger, nullable=False),
    Index("ix_ballots_instance", "instance"),
)

COUNTS = Table(
    "counts",
    METADATA,
    Column("instance", String(200), primary_key=True),
    Column("ballots", Integer, nullable=False),
    Column("changes", BigInteger, nullable=False),
)
"""Kept in the transaction of every ballot: how many there are, and how often one came, changed or went."""

SLOTS = Table(
    "slots",
    METADATA,
    _voter(),
    Column("instance", String(200), primary_key=True),
    Column("until", BigInteger, nullable=False),
    Index("ix_slots_instance", "instance"),
)
"""Questions on somebody's screen: each counts like a ballot until it is answered, skipped, or its time has passed."""

SKIPS = Table("skips", METADATA, _voter(), Column("instance", String(200), primary_key=True))

ASKED = Table(
    "asked",
    METADATA,
    _voter(),
    Column("position", Integer, primary_key=True, autoincrement=False),
    Column("instance", String(200), nullable=False),
    Index("ix_asked_voter_id_instance", "voter_id", "instance", unique=True),
)

INVITATIONS = Table(
    "invitations",
    METADATA,
    Column("token_hash", String(64), primary_key=True),
    Column("expires_at", BigInteger, nullable=False),
    Column("used_at", BigInteger),
    Column("used_by", String(60)),
)

DETAILS = Table(
    "details",
    METADATA,
    _voter(),
    Column("consented_at", BigInteger),
    Column("outside_id", String(100), unique=True),
    Column("link_hash", String(64), unique=True),
)
"""What is known of some participants besides: when they consented, who they are elsewhere, their personal link."""

CREDENTIALS = Table(
    "credentials",
    METADATA,
    Column("kind", String(20), primary_key=True),
    Column("name", String(80), primary_key=True),
    Column("secret_hash", String(64), nullable=False),
    Column("made_at", BigInteger, nullable=False),
)
"""Secrets of further organisers and of single programs, of which only hashes are kept."""
