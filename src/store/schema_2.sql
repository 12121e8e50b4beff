-- Bullets that the daemon itself writes into notes, by the hash of their very lines: those alone it may cut out again.
-- What it did cut out stays away even where a restored copy of the file holds it again.
CREATE TABLE written (
    user      INTEGER NOT NULL REFERENCES users (key),
    workspace TEXT NOT NULL,
    file      TEXT NOT NULL,
    hash      TEXT NOT NULL,
    cut       INTEGER NOT NULL CHECK (cut IN (0, 1)),
    PRIMARY KEY (user, workspace, file, hash)
) STRICT, WITHOUT ROWID;

-- When a memory ends is read from its own words now: every file is taken in once more.
UPDATE files SET hash = '';
