-- What front ends store for users, up to 500 kB, gets a table, because users is read with every request. What SQLite cannot read as JSON,
-- because it is nested more than 1000 deep, is left out.
CREATE TABLE frontend_settings (
    account_id INTEGER NOT NULL REFERENCES users (account_id) ON DELETE CASCADE,
    name       TEXT    NOT NULL,
    settings   TEXT    NOT NULL,
    PRIMARY KEY (account_id, name)
) STRICT;
INSERT OR REPLACE INTO frontend_settings (account_id, name, settings)
SELECT u.account_id, j.key,
    CASE
    WHEN j.type IN ('object', 'array') THEN j.value
    WHEN j.type IN ('true', 'false', 'null') THEN j.type
    ELSE json_quote(j.value)
    END
FROM users u
CROSS JOIN json_each(iif(json_valid(u.settings_store), u.settings_store, '{}')) j;
ALTER TABLE users DROP COLUMN settings_store;
