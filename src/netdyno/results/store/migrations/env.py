"""How Alembic reaches a store: through the connection, and inside the transaction, that opened it."""

from alembic import context

from netdyno.results.store.tables import METADATA, VERSION_TABLE

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=METADATA,
    version_table=VERSION_TABLE,
    transactional_ddl=True,
)
with context.begin_transaction():
    context.run_migrations()
