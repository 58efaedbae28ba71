-- Posts that are stored because a user opened a profile cause notifications and are in home timelines only once they are delivered.
ALTER TABLE remote_statuses ADD COLUMN quiet INTEGER NOT NULL DEFAULT 0 CHECK (quiet IN (0, 1));
