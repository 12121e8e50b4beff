-- Times are milliseconds since the epoch in UTC; days and times of day are the user's, in ISO 8601.

CREATE TABLE meta (
    key   TEXT PRIMARY KEY,
    value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- The totals are what BM25 needs of a user's memories; the triggers below keep them.
CREATE TABLE users (
    key   INTEGER PRIMARY KEY AUTOINCREMENT,
    id    TEXT NOT NULL UNIQUE,
    memories INTEGER NOT NULL DEFAULT 0,
    terms INTEGER NOT NULL DEFAULT 0
) STRICT;

-- Keys are never used twice: what a reader holds of a deleted memory must not become another's.
CREATE TABLE memories (
    key         INTEGER PRIMARY KEY AUTOINCREMENT,
    id          TEXT NOT NULL UNIQUE,
    user        INTEGER NOT NULL REFERENCES users (key),
    session     TEXT,
    kind        TEXT NOT NULL,
    mark        TEXT NOT NULL,
    importance  INTEGER NOT NULL CHECK (importance BETWEEN 1 AND 5),
    audience    INTEGER NOT NULL CHECK (audience IN (0, 1)),
    content     TEXT NOT NULL,
    context     TEXT NOT NULL,
    day         TEXT,
    time        TEXT,
    workspace   TEXT,
    file        TEXT,
    first_line  INTEGER,
    last_line   INTEGER,
    hash        TEXT NOT NULL,
    created_at  INTEGER NOT NULL,
    expires_at  INTEGER,
    access_count     INTEGER NOT NULL DEFAULT 0,
    last_accessed_at INTEGER NOT NULL,
    terms       INTEGER NOT NULL
) STRICT;

CREATE INDEX memories_by_day ON memories (user, day);
CREATE INDEX memories_by_file ON memories (user, workspace, file);

CREATE TRIGGER memories_inserted AFTER INSERT ON memories BEGIN
    UPDATE users SET memories = memories + 1, terms = terms + new.terms WHERE key = new.user;
END;
CREATE TRIGGER memories_deleted AFTER DELETE ON memories BEGIN
    UPDATE users SET memories = memories - 1, terms = terms - old.terms WHERE key = old.user;
END;
CREATE TRIGGER memories_updated AFTER UPDATE OF terms ON memories BEGIN
    UPDATE users SET terms = terms - old.terms + new.terms WHERE key = new.user;
END;

-- Each term is stored as `<user key>~<word>`, so that a search touches one user's postings only.
-- Everything but white space belongs to a token: emoji, paths and versions stay whole.
CREATE VIRTUAL TABLE words USING fts5 (
    terms,
    tokenize = "unicode61 remove_diacritics 0 categories 'L* M* N* P* S* C*'"
);
INSERT INTO words (words, rank) VALUES ('secure-delete', 1);
CREATE VIRTUAL TABLE word_documents USING fts5vocab (words, row);

CREATE TABLE accesses (
    memory  INTEGER NOT NULL REFERENCES memories (key) ON DELETE CASCADE,
    session TEXT NOT NULL,
    day     TEXT NOT NULL,
    PRIMARY KEY (memory, session, day)
) STRICT, WITHOUT ROWID;

CREATE TABLE files (
    user        INTEGER NOT NULL REFERENCES users (key),
    workspace   TEXT NOT NULL,
    file        TEXT NOT NULL,
    hash        TEXT NOT NULL,
    ingested_at INTEGER NOT NULL,
    entries     INTEGER NOT NULL,
    notes       TEXT NOT NULL,
    PRIMARY KEY (user, workspace, file)
) STRICT, WITHOUT ROWID;

-- Forgotten entries of files that may still hold them. They say what to leave out, not what it said.
CREATE TABLE tombstones (
    user      INTEGER NOT NULL REFERENCES users (key),
    workspace TEXT NOT NULL,
    file      TEXT NOT NULL,
    hash      TEXT NOT NULL,
    count     INTEGER NOT NULL CHECK (count > 0),
    PRIMARY KEY (user, workspace, file, hash)
) STRICT, WITHOUT ROWID;

-- Each generation has a table `vec_g<id>` of its own, made when the generation begins.
CREATE TABLE generations (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    model_name TEXT NOT NULL,
    model_hash TEXT NOT NULL,
    dimension  INTEGER NOT NULL CHECK (dimension > 0),
    state      TEXT NOT NULL CHECK (state IN ('building', 'active'))
) STRICT;
CREATE UNIQUE INDEX generations_one_of_each ON generations (state);

-- A memory without a row here waits for its vectors.
CREATE TABLE embedded (
    generation INTEGER NOT NULL REFERENCES generations (id) ON DELETE CASCADE,
    memory     INTEGER NOT NULL REFERENCES memories (key) ON DELETE CASCADE,
    parts      INTEGER NOT NULL CHECK (parts BETWEEN 0 AND 64),
    PRIMARY KEY (generation, memory)
) STRICT, WITHOUT ROWID;
CREATE INDEX embedded_by_memory ON embedded (memory);

CREATE TABLE calibrations (
    user       INTEGER NOT NULL REFERENCES users (key),
    generation INTEGER NOT NULL REFERENCES generations (id) ON DELETE CASCADE,
    lang       TEXT NOT NULL,
    median     REAL NOT NULL,
    sd         REAL NOT NULL,
    n          INTEGER NOT NULL,
    PRIMARY KEY (user, generation, lang)
) STRICT, WITHOUT ROWID;
CREATE INDEX calibrations_by_generation ON calibrations (generation);
