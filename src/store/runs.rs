//! What the calendar ran, and since when it is kept. Nothing here is of a memory: a run belongs to a workspace.

use chrono::{DateTime, Utc};
use rusqlite::{OptionalExtension, Row, params};

use super::rows::{instant, name_of, unreadable, value_of};
use super::{Reader, StoreError, Writer};
use crate::memory::Scope;
use crate::memory::due::{Job, JobKind, Outcome};

/// The last try of a job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Run {
    /// Which.
    pub job: Job,
    /// How it ended.
    pub outcome: Outcome,
    /// When it began.
    pub started_at: DateTime<Utc>,
    /// When it ended, whichever way.
    pub ended_at: Option<DateTime<Utc>>,
    /// What it did, or why it failed; nothing of a memory's text.
    pub detail: String,
    /// How often in a row it failed.
    pub failures: u32,
    /// When it is tried again.
    pub retry_at: Option<DateTime<Utc>>,
}

const KINDS: &[(JobKind, &str)] =
    &[(JobKind::Rollup, JobKind::Rollup.as_str()), (JobKind::Sweep, JobKind::Sweep.as_str())];

const OUTCOMES: &[(Outcome, &str)] = &[
    (Outcome::Running, "running"),
    (Outcome::Done, "done"),
    (Outcome::Failed, "failed"),
    (Outcome::Early, "early"),
];

fn run(row: &Row<'_>) -> rusqlite::Result<Run> {
    let kind = value_of(KINDS, row, 0)?;
    let period: String = row.get(1)?;
    let job = Job::parse(kind, &period)
        .ok_or_else(|| unreadable(1, StoreError::Corrupt(format!("'{period}' is no period"))))?;
    let at = |column| row.get::<_, Option<i64>>(column)?.map(|millis| instant(millis, column)).transpose();
    Ok(Run {
        job,
        outcome: value_of(OUTCOMES, row, 2)?,
        started_at: instant(row.get(3)?, 3)?,
        ended_at: at(4)?,
        detail: row.get(5)?,
        failures: row.get(6)?,
        retry_at: at(7)?,
    })
}

impl Reader<'_> {
    /// Every job that was ever begun for the workspace, each once, with its last try.
    ///
    /// # Errors
    /// What SQLite says.
    pub fn runs(&self, scope: &Scope, workspace: &str) -> Result<Vec<Run>, StoreError> {
        let Some(within) = self.in_scope(scope)? else { return Ok(Vec::new()) };
        let mut statement = self.connection.prepare_cached(
            "SELECT job, period, outcome, started_at, ended_at, detail, failures, retry_at FROM runs \
             WHERE user = ?1 AND workspace = ?2 ORDER BY job, period",
        )?;
        let found = statement.query_map(params![within.user, workspace], run)?;
        Ok(found.collect::<Result<_, _>>()?)
    }

    /// Since when the calendar is kept for the workspace; `None` if it never was.
    ///
    /// # Errors
    /// What SQLite says.
    pub fn calendar_since(
        &self,
        scope: &Scope,
        workspace: &str,
    ) -> Result<Option<DateTime<Utc>>, StoreError> {
        let Some(within) = self.in_scope(scope)? else { return Ok(None) };
        let mut statement = self
            .connection
            .prepare_cached("SELECT since FROM calendars WHERE user = ?1 AND workspace = ?2")?;
        let since = statement.query_row(params![within.user, workspace], |row| instant(row.get(0)?, 0));
        Ok(since.optional()?)
    }
}

impl Writer<'_> {
    /// Keeps a run instead of an earlier try of the same job.
    ///
    /// # Errors
    /// What SQLite says.
    pub fn put_run(&self, scope: &Scope, workspace: &str, run: &Run) -> Result<(), StoreError> {
        let mut statement = self.connection.prepare_cached(
            "INSERT OR REPLACE INTO runs (user, workspace, job, period, outcome, started_at, ended_at, detail, \
             failures, retry_at) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
        )?;
        statement.execute(params![
            self.user_key(scope)?,
            workspace,
            run.job.kind().as_str(),
            run.job.period(),
            name_of(OUTCOMES, &run.outcome),
            run.started_at.timestamp_millis(),
            run.ended_at.map(|at| at.timestamp_millis()),
            run.detail,
            run.failures,
            run.retry_at.map(|at| at.timestamp_millis()),
        ])?;
        Ok(())
    }

    /// Keeps the calendar of the workspace from that moment on.
    ///
    /// # Errors
    /// What SQLite says.
    pub fn set_calendar_since(
        &self,
        scope: &Scope,
        workspace: &str,
        since: DateTime<Utc>,
    ) -> Result<(), StoreError> {
        let mut statement = self.connection.prepare_cached(
            "INSERT OR REPLACE INTO calendars (user, workspace, since) VALUES (?1, ?2, ?3)",
        )?;
        statement.execute(params![self.user_key(scope)?, workspace, since.timestamp_millis()])?;
        Ok(())
    }
}
