-- Remote groups, to which replies in their threads are addressed.
CREATE INDEX accounts_groups ON accounts (id) WHERE actor_type = 'Group' AND domain <> '';
