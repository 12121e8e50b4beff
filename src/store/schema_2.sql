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
