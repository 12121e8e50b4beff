-- What a flush keeps, noted before it is written: one that was cut short goes on where it was, and what is delivered
-- twice is kept once. `hash` is of session, message and line; `day` and `time` are where the line stands in the notes.
CREATE TABLE flushed (
    user     INTEGER NOT NULL REFERENCES users (key),
    hash     TEXT NOT NULL,
    day      TEXT NOT NULL,
    time     TEXT NOT NULL,
    done     INTEGER NOT NULL CHECK (done IN (0, 1)),
    taken_at INTEGER NOT NULL,
    PRIMARY KEY (user, hash)
) STRICT, WITHOUT ROWID;
CREATE INDEX flushed_by_age ON flushed (taken_at);
