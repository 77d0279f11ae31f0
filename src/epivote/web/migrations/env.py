"""Runs migrations on the connection that the store hands over, inside its transaction."""

from alembic import context

from epivote.web.store.tables import METADATA

context.configure(connection=context.config.attributes["connection"], target_metadata=METADATA, render_as_batch=True)
context.run_migrations()
