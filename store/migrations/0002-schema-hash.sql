-- The hash with which svc made the schema, so that damage and the schema of a development version can be told apart.
ALTER TABLE meta ADD COLUMN schema_hash TEXT NOT NULL DEFAULT '';
