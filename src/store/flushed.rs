//! What flushes keep: noted before it is written, and known when it comes again.

use chrono::{DateTime, NaiveDate, NaiveTime, TimeDelta, Utc};
use rusqlite::{OptionalExtension, params};

use super::{StoreError, Writer, rows};
use crate::memory::Scope;
use crate::memory::entry::ContentHash;

/// How long what was kept is known. Hosts deliver again within minutes.
const KNOWN_FOR: TimeDelta = TimeDelta::days(30);

/// Where a line stands, or is about to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Planned {
    /// The note's day.
    pub day: NaiveDate,
    /// The line's time.
    pub time: NaiveTime,
    /// Whether it is durable already.
    pub done: bool,
}

impl Writer<'_> {
    /// Notes that a line is about to be written at `day` and `time`; where it was noted before, it is said where that
    /// was. Lines of long ago are no longer known.
    ///
    /// # Errors
    /// What SQLite says.
    pub fn plan_flush(
        &self,
        scope: &Scope,
        hash: &ContentHash,
        (day, time): (NaiveDate, NaiveTime),
        now: DateTime<Utc>,
    ) -> Result<Planned, StoreError> {
        let mut forget =
            self.connection.prepare_cached("DELETE FROM flushed WHERE taken_at < ?1 AND done")?;
        forget.execute([(now - KNOWN_FOR).timestamp_millis()])?;
        let user = self.user_key(scope)?;
        let mut known = self
            .connection
            .prepare_cached("SELECT day, time, done FROM flushed WHERE user = ?1 AND hash = ?2")?;
        let known = known.query_row(params![user, hash.0], |row| {
            let (noted_day, noted_time) = (rows::parsed(row, 0)?, rows::parsed(row, 1)?);
            Ok(Planned { day: noted_day.unwrap_or(day), time: noted_time.unwrap_or(time), done: row.get(2)? })
        });
        if let Some(known) = known.optional()? {
            return Ok(known);
        }
        let mut plan = self.connection.prepare_cached(
            "INSERT INTO flushed (user, hash, day, time, done, taken_at) VALUES (?1, ?2, ?3, ?4, 0, ?5)",
        )?;
        plan.execute(params![user, hash.0, day.to_string(), time.to_string(), now.timestamp_millis()])?;
        Ok(Planned { day, time, done: false })
    }

    /// Notes that lines are durable.
    ///
    /// # Errors
    /// What SQLite says.
    pub fn finish_flush(&self, scope: &Scope, hashes: &[ContentHash]) -> Result<(), StoreError> {
        let user = self.user_key(scope)?;
        let mut finish =
            self.connection.prepare_cached("UPDATE flushed SET done = 1 WHERE user = ?1 AND hash = ?2")?;
        for hash in hashes {
            finish.execute(params![user, hash.0])?;
        }
        Ok(())
    }
}
