-- What the daemon wrote into the pages that are its own (hashes only), so that a hand edit shows and a line stands
-- behind the entries it was made of. While a page is being written there are two of it.
CREATE TABLE pages (
    user      INTEGER NOT NULL REFERENCES users (key),
    workspace TEXT NOT NULL,
    file      TEXT NOT NULL,
    state     TEXT NOT NULL CHECK (state IN ('writing', 'written')),
    block     TEXT NOT NULL,
    lines     TEXT NOT NULL,
    PRIMARY KEY (user, workspace, file, state)
) STRICT, WITHOUT ROWID;

-- A promotion that was decided and may not be everywhere yet: in MEMORY.md, in the archive, in the day's note.
CREATE TABLE promotions (
    user      INTEGER NOT NULL REFERENCES users (key),
    workspace TEXT NOT NULL,
    block     TEXT NOT NULL,
    day       TEXT NOT NULL,
    time      TEXT NOT NULL,
    synced    TEXT NOT NULL,
    archived  TEXT NOT NULL,
    PRIMARY KEY (user, workspace)
) STRICT, WITHOUT ROWID;

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

-- What the calendar ran: one row a job and period. What is not 'done' is still to be done.
-- 'early': done by a clock that was ahead, and to be done again.
CREATE TABLE runs (
    user       INTEGER NOT NULL REFERENCES users (key),
    workspace  TEXT NOT NULL,
    job        TEXT NOT NULL,
    period     TEXT NOT NULL,
    outcome    TEXT NOT NULL CHECK (outcome IN ('running', 'done', 'failed', 'early')),
    started_at INTEGER NOT NULL,
    ended_at   INTEGER,
    detail     TEXT NOT NULL,
    failures   INTEGER NOT NULL CHECK (failures >= 0),
    retry_at   INTEGER,
    PRIMARY KEY (user, workspace, job, period)
) STRICT, WITHOUT ROWID;

-- Since when the calendar is kept for a workspace: what lies before is not made up.
CREATE TABLE calendars (
    user      INTEGER NOT NULL REFERENCES users (key),
    workspace TEXT NOT NULL,
    since     INTEGER NOT NULL,
    PRIMARY KEY (user, workspace)
) STRICT, WITHOUT ROWID;

-- Conversations. A session is whatever its host names so; of each user it is another one.
CREATE TABLE turns (
    key      INTEGER PRIMARY KEY AUTOINCREMENT,
    user     INTEGER NOT NULL REFERENCES users (key),
    session  TEXT NOT NULL,
    audience INTEGER NOT NULL CHECK (audience IN (0, 1)),
    id       TEXT,
    at       INTEGER NOT NULL,
    state    TEXT NOT NULL CHECK (state IN ('kept', 'withdrawn', 'expired'))
) STRICT;
-- A turn that its host names is stored once; it is remembered longer than its messages are kept.
CREATE UNIQUE INDEX turns_by_id ON turns (user, session, audience, id);
CREATE INDEX turns_by_creation ON turns (at);

-- What was said, for some days. Of a withdrawn message only the hash stays, so that it is known when it comes again.
CREATE TABLE messages (
    key        INTEGER PRIMARY KEY AUTOINCREMENT,
    user       INTEGER NOT NULL REFERENCES users (key),
    session    TEXT NOT NULL,
    audience   INTEGER NOT NULL CHECK (audience IN (0, 1)),
    turn       INTEGER NOT NULL REFERENCES turns (key) ON DELETE CASCADE,
    id         TEXT,
    role       TEXT NOT NULL,
    content    TEXT NOT NULL,
    hash       TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    state      TEXT NOT NULL CHECK (state IN ('open', 'summarised', 'withdrawn')),
    summary    INTEGER
) STRICT;
-- By session, and by session and creation.
CREATE INDEX messages_by_session ON messages (user, session, created_at);
CREATE INDEX messages_by_creation ON messages (created_at);
CREATE INDEX messages_by_turn ON messages (turn);
CREATE INDEX messages_by_id ON messages (user, session, id) WHERE id IS NOT NULL;
CREATE INDEX messages_open ON messages (user, session) WHERE state = 'open';
CREATE INDEX messages_by_summary ON messages (summary) WHERE summary IS NOT NULL;
CREATE INDEX summaries_by_session ON memories (user, session) WHERE kind = 'summary';

-- The memories that were made of a turn, so that they can be taken back with it.
CREATE TABLE turn_memories (
    turn   INTEGER NOT NULL REFERENCES turns (key) ON DELETE CASCADE,
    memory INTEGER NOT NULL REFERENCES memories (key) ON DELETE CASCADE,
    PRIMARY KEY (turn, memory)
) STRICT, WITHOUT ROWID;
CREATE INDEX turn_memories_by_memory ON turn_memories (memory);

-- What is still to be done with conversations: each thing once, until it is finished. A job that is asked for again
-- while it runs gets another revision, and runs again.
CREATE TABLE jobs (
    key        INTEGER PRIMARY KEY AUTOINCREMENT,
    kind       TEXT NOT NULL,
    user       INTEGER NOT NULL REFERENCES users (key),
    session    TEXT NOT NULL,
    audience   INTEGER NOT NULL CHECK (audience IN (0, 1)),
    turn       INTEGER REFERENCES turns (key) ON DELETE CASCADE,
    revision   INTEGER NOT NULL,
    attempts   INTEGER NOT NULL,
    running    INTEGER NOT NULL CHECK (running IN (0, 1)),
    not_before INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX jobs_once ON jobs (kind, user, session, audience, coalesce(turn, 0));
CREATE INDEX jobs_waiting ON jobs (kind, running, not_before);
CREATE INDEX jobs_by_turn ON jobs (turn);

-- When a memory ends is read from its own words now: every file is taken in once more.
UPDATE files SET hash = '';
