-- Lists of types that will grow are in the program alone, because SQLite cannot alter a CHECK. Removing one changes no row, so it is taken out of
-- the text of the table (https://www.sqlite.org/lang_altertable.html, section 7): what stands before CHECK, and what stands after the last type.
-- Building the tables anew would rewrite most of the database.
PRAGMA writable_schema = ON;
UPDATE sqlite_schema
SET sql = rtrim(rtrim(rtrim(substr(sql, 1, instr(sql, 'type = ''mention''') - 1), ' ('), 'CHEK'), ' ' || char(10)) ||
    ltrim(substr(sql, instr(sql, '''pending.reblog''') + 16), ' )')
WHERE name = 'notifications';
UPDATE sqlite_schema
SET sql = rtrim(rtrim(rtrim(substr(sql, 1, instr(sql, 'actor_type = ''Person''') - 1), ' ('), 'CHEK'), ' ' || char(10)) ||
    ltrim(substr(sql, instr(sql, '''Organization''') + 14), ' )')
WHERE name = 'accounts';
UPDATE sqlite_schema
SET sql = rtrim(rtrim(rtrim(substr(sql, 1, instr(sql, 'type = ''image''') - 1), ' ('), 'CHEK'), ' ' || char(10)) ||
    ltrim(substr(sql, instr(sql, '''unknown''') + 9), ' )')
WHERE name = 'media';
PRAGMA writable_schema = RESET;

-- The order of the types as the program writes it. Making an index also makes other connections read the schema again.
DROP INDEX notifications_unread_hideable;
CREATE INDEX notifications_unread_hideable ON notifications (account_id, id) WHERE read = 0 AND
    (type = 'chat_mention' OR type = 'poll' OR type = 'quote' OR type = 'report' OR type = 'status' OR type = 'update');
DROP INDEX notifications_groups;
CREATE INDEX notifications_groups ON notifications (account_id, type, status_id, id) WHERE type = 'favourite' OR type = 'follow' OR type = 'reblog';
