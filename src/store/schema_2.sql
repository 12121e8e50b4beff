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
