//! What is still to be done with conversations: at least once each, whatever happens in between.

use chrono::{DateTime, Utc};
use rusqlite::{OptionalExtension, params};

use super::rows::{self, audience_number, name_of, value_of};
use super::{StoreError, TurnKey, Writer};
use crate::memory::Scope;

/// What is to be done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum JobKind {
    /// A session's messages become a summary as far as that is due.
    Summary,
    /// All of a session's messages become a summary.
    Close,
}

const KINDS: &[(JobKind, &str)] = &[(JobKind::Summary, "summary"), (JobKind::Close, "close")];

/// A job that was claimed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Job {
    key: i64,
    revision: i64,
    /// What is to be done.
    pub kind: JobKind,
    /// Whose session it is, and of which audience.
    pub scope: Scope,
    /// The session.
    pub session: String,
    /// The turn, where it is about a single one.
    pub turn: Option<TurnKey>,
    /// How often it was claimed, this time included.
    pub attempts: u32,
}

impl Writer<'_> {
    /// Asks for a job. One that waits already is not asked for twice; one that runs will run again.
    ///
    /// # Errors
    /// What SQLite says.
    pub fn enqueue(
        &self,
        kind: JobKind,
        scope: &Scope,
        session: &str,
        turn: Option<TurnKey>,
    ) -> Result<(), StoreError> {
        let mut statement = self.connection.prepare_cached(
            "INSERT INTO jobs (kind, user, session, audience, turn, revision, attempts, running, not_before) \
             VALUES (?1, ?2, ?3, ?4, ?5, 0, 0, 0, 0) \
             ON CONFLICT DO UPDATE SET revision = revision + 1, attempts = 0, not_before = 0",
        )?;
        statement.execute(params![
            name_of(KINDS, &kind),
            self.user_key(scope)?,
            session,
            audience_number(scope.audience()),
            turn.map(|turn| turn.0)
        ])?;
        Ok(())
    }

    /// The oldest waiting job of one of these kinds, of any user, which runs from now on; `None` if none waits, or
    /// each is to be tried again later.
    ///
    /// # Errors
    /// What SQLite says.
    pub fn claim_job_of_all_users(
        &self,
        kinds: &[JobKind],
        now: DateTime<Utc>,
    ) -> Result<Option<Job>, StoreError> {
        let mut oldest: Option<i64> = None;
        let mut find = self.connection.prepare_cached(
            "SELECT min(key) FROM jobs WHERE kind = ?1 AND running = 0 AND not_before <= ?2",
        )?;
        for kind in kinds {
            let values = params![name_of(KINDS, kind), now.timestamp_millis()];
            let found: Option<i64> = find.query_row(values, |row| row.get(0))?;
            oldest = oldest.into_iter().chain(found).min();
        }
        let Some(key) = oldest else { return Ok(None) };
        self.connection
            .execute("UPDATE jobs SET running = 1, attempts = attempts + 1 WHERE key = ?1", [key])?;
        let mut statement = self.connection.prepare_cached(
            "SELECT u.id, j.audience, j.revision, j.kind, j.session, j.turn, j.attempts \
             FROM jobs j JOIN users u ON u.key = j.user WHERE j.key = ?1",
        )?;
        let job = statement.query_row([key], |row| {
            Ok(Job {
                key,
                revision: row.get(2)?,
                kind: value_of(KINDS, row, 3)?,
                scope: rows::scope(row, 0, 1)?,
                session: row.get(4)?,
                turn: row.get::<_, Option<i64>>(5)?.map(TurnKey),
                attempts: row.get(6)?,
            })
        });
        Ok(job.optional()?)
    }

    /// The job is done. If it was asked for again meanwhile, it waits again, and the answer is `false`.
    ///
    /// # Errors
    /// What SQLite says.
    pub fn finish_job(&self, job: &Job) -> Result<bool, StoreError> {
        let done = self
            .connection
            .execute("DELETE FROM jobs WHERE key = ?1 AND revision = ?2", [job.key, job.revision])?;
        self.connection.execute("UPDATE jobs SET running = 0 WHERE key = ?1", [job.key])?;
        Ok(done == 1)
    }

    /// The job failed, and waits until `not_before`.
    ///
    /// # Errors
    /// What SQLite says.
    pub fn retry_job(&self, job: &Job, not_before: DateTime<Utc>) -> Result<(), StoreError> {
        self.connection.execute(
            "UPDATE jobs SET running = 0, not_before = ?2 WHERE key = ?1",
            [job.key, not_before.timestamp_millis()],
        )?;
        Ok(())
    }

    /// Lets the jobs that ran when the daemon ended wait again.
    ///
    /// # Errors
    /// What SQLite says.
    pub fn release_jobs_of_all_users(&self) -> Result<(), StoreError> {
        self.connection.execute("UPDATE jobs SET running = 0 WHERE running = 1", [])?;
        Ok(())
    }
}
