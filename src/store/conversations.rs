//! Turns and their messages: stored once, read as a session, and gone after some days.

use chrono::{DateTime, Utc};
use rusqlite::{OptionalExtension, Row, params};

use super::rows::{
    COLUMNS, FROM_SCOPE, InScope, ROLES, audience, audience_number, instant, name_of, value_of,
};
use super::{JobKind, Reader, RowId, StoreError, Writer, rows};
use crate::memory::conversation::{self, Named, Role};
use crate::memory::entry::ContentHash;
use crate::memory::{Audience, Memory, Redacted, Scope};

/// A turn's key inside the store. Never used again once the turn is gone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TurnKey(pub i64);

/// A turn about to be stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewTurn {
    /// As the host names it, if it does.
    pub id: Option<String>,
    /// In the order they were said.
    pub messages: Vec<NewMessage>,
}

/// A message about to be stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewMessage {
    /// As the host names it, if it does.
    pub id: Option<String>,
    /// Who says it.
    pub role: Role,
    /// What is kept of it.
    pub content: Redacted,
    /// By which it is known again: of all that was said, also where less is kept.
    pub hash: ContentHash,
    /// When it was said, if the host says so.
    pub at: Option<DateTime<Utc>>,
}

/// What became of a delivery.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Delivered {
    /// The turn that got the new messages, if there were any.
    pub turn: Option<TurnKey>,
    /// New messages.
    pub stored: u32,
    /// Messages that were there already.
    pub known: u32,
}

/// A message of a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    /// Its key inside the store.
    pub key: i64,
    /// Its turn.
    pub turn: TurnKey,
    /// Who says it.
    pub role: Role,
    /// What is kept of it.
    pub content: String,
    /// When it was said, or arrived.
    pub at: DateTime<Utc>,
    /// Captured in private, or before a group.
    pub audience: Audience,
    /// Whether a summary stands for it.
    pub summarised: bool,
}

/// A summary of a part of a session.
#[derive(Debug, Clone, PartialEq)]
pub struct SessionSummary {
    /// The summary.
    pub memory: Memory,
    /// When the first message that it stands for was said, while that is kept.
    pub since: Option<DateTime<Utc>>,
}

/// How much of conversations there is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ConversationCounts {
    /// Sessions with messages.
    pub sessions: u64,
    /// Messages.
    pub messages: u64,
    /// Jobs that wait or run.
    pub jobs: u64,
}

/// What a sweep of conversations did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Swept {
    /// Messages that went.
    pub messages: u64,
    /// Old messages that stay until a summary stands for them.
    pub open: u64,
}

/// Messages that a delivery is compared with, beyond its own length.
const COMPARED: usize = 256;

/// Messages in scope. The plus keeps SQLite from walking over all messages of the user: a few are chosen, by key or turn.
const MESSAGE: &str = "SELECT key, turn, role, content, created_at, audience, state FROM messages \
     WHERE +user = ?1 AND audience >= ?2";

/// Keys of messages of the session `?3` in scope.
const IN_SESSION: &str = "SELECT key FROM messages WHERE user = ?1 AND audience >= ?2 AND session = ?3";
const NEWEST_FIRST: &str = "ORDER BY created_at DESC, key DESC";

fn message(row: &Row<'_>) -> rusqlite::Result<Message> {
    Ok(Message {
        key: row.get(0)?,
        turn: TurnKey(row.get(1)?),
        role: value_of(ROLES, row, 2)?,
        content: row.get(3)?,
        at: instant(row.get(4)?, 4)?,
        audience: audience(row.get(5)?),
        summarised: row.get::<_, String>(6)? == "summarised",
    })
}

impl Reader<'_> {
    /// The messages of a session that no summary stands for, and those of its newest turn, oldest first: all that can
    /// stand in its window.
    ///
    /// # Errors
    /// What SQLite says.
    pub fn open_messages(&self, scope: &Scope, session: &str) -> Result<Vec<Message>, StoreError> {
        let Some(within) = self.in_scope(scope)? else { return Ok(Vec::new()) };
        let mut statement = self.connection.prepare_cached(&format!(
            "{MESSAGE} AND key IN ({IN_SESSION} AND state = 'open' UNION SELECT key FROM messages WHERE turn = \
             (SELECT turn FROM messages WHERE key = ({IN_SESSION} AND state <> 'withdrawn' {NEWEST_FIRST} LIMIT 1)) \
             AND state <> 'withdrawn') ORDER BY created_at, key"
        ))?;
        let values = params![within.user, within.least_audience, session];
        Ok(statement.query_map(values, message)?.collect::<Result<_, _>>()?)
    }

    /// The messages of a turn, in their order; withdrawn ones are not among them.
    ///
    /// # Errors
    /// What SQLite says.
    pub fn turn(&self, scope: &Scope, turn: TurnKey) -> Result<Vec<Message>, StoreError> {
        let Some(within) = self.in_scope(scope)? else { return Ok(Vec::new()) };
        let mut statement = self.connection.prepare_cached(&format!(
            "{MESSAGE} AND turn = ?3 AND state <> 'withdrawn' ORDER BY created_at, key"
        ))?;
        let values = params![within.user, within.least_audience, turn.0];
        Ok(statement.query_map(values, message)?.collect::<Result<_, _>>()?)
    }

    /// The last `limit` summaries of a session, oldest first.
    ///
    /// # Errors
    /// What SQLite says.
    pub fn summaries(
        &self,
        scope: &Scope,
        session: &str,
        limit: usize,
    ) -> Result<Vec<SessionSummary>, StoreError> {
        let Some(within) = self.in_scope(scope)? else { return Ok(Vec::new()) };
        let mut statement = self.connection.prepare_cached(&format!(
            "SELECT {COLUMNS}, (SELECT min(s.created_at) FROM messages s WHERE s.summary = m.key) {FROM_SCOPE} \
             AND m.session = ?3 AND m.kind = 'summary' AND m.file IS NULL ORDER BY m.key DESC LIMIT ?4"
        ))?;
        let values = params![within.user, within.least_audience, session, limit as i64];
        let found = statement.query_map(values, |row| {
            let since: Option<i64> = row.get(21)?;
            let since = since.map(|millis| instant(millis, 21)).transpose()?;
            Ok(SessionSummary { memory: rows::memory(row)?.1, since })
        })?;
        let mut found = found.collect::<Result<Vec<_>, _>>()?;
        found.reverse();
        Ok(found)
    }

    /// Sessions, of all users, with messages of before `before` that no summary stands for, by audience.
    ///
    /// # Errors
    /// What SQLite says.
    pub fn open_sessions_of_all_users(
        &self,
        before: DateTime<Utc>,
    ) -> Result<Vec<(Scope, String)>, StoreError> {
        let mut statement = self.connection.prepare_cached(
            "SELECT DISTINCT u.id, m.audience, m.session FROM messages m JOIN users u ON u.key = m.user \
             WHERE m.state = 'open' AND m.created_at < ?1",
        )?;
        let found = statement
            .query_map([before.timestamp_millis()], |row| Ok((rows::scope(row, 0, 1)?, row.get(2)?)))?;
        Ok(found.collect::<Result<_, _>>()?)
    }

    /// How much of all users' conversations there is, for the status.
    ///
    /// # Errors
    /// What SQLite says.
    pub fn conversations_of_all_users(&self) -> Result<ConversationCounts, StoreError> {
        let mut statement = self.connection.prepare_cached(
            "SELECT (SELECT count(*) FROM (SELECT 1 FROM messages GROUP BY user, session)), \
             (SELECT count(*) FROM messages), (SELECT count(*) FROM jobs)",
        )?;
        let counts: (i64, i64, i64) =
            statement.query_row([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
        Ok(ConversationCounts {
            sessions: counts.0.unsigned_abs(),
            messages: counts.1.unsigned_abs(),
            jobs: counts.2.unsigned_abs(),
        })
    }

    fn turn_of(&self, within: InScope, session: &str, id: &str) -> Result<Option<(i64, bool)>, StoreError> {
        let mut statement = self.connection.prepare_cached(
            "SELECT key, state = 'kept' FROM turns WHERE user = ?1 AND session = ?2 AND audience = ?3 AND id = ?4",
        )?;
        let values = params![within.user, session, within.least_audience, id];
        Ok(statement.query_row(values, |row| Ok((row.get(0)?, row.get(1)?))).optional()?)
    }

    /// Whether a message of that host's id is there already.
    fn has_message(&self, within: InScope, session: &str, id: &str) -> Result<bool, StoreError> {
        let mut statement = self.connection.prepare_cached(
            "SELECT EXISTS (SELECT 1 FROM messages WHERE user = ?1 AND session = ?2 AND audience = ?3 AND id = ?4)",
        )?;
        Ok(statement.query_row(params![within.user, session, within.least_audience, id], |row| row.get(0))?)
    }

    /// The hashes of a session's last messages, or of one turn's, oldest first.
    fn hashes(
        &self,
        within: InScope,
        session: &str,
        turn: Option<i64>,
        limit: usize,
    ) -> Result<Vec<String>, StoreError> {
        let mut statement = self.connection.prepare_cached(&format!(
            "SELECT hash FROM messages WHERE user = ?1 AND session = ?2 AND audience = ?3 AND (?4 IS NULL OR turn = ?4) \
             {NEWEST_FIRST} LIMIT ?5"
        ))?;
        let values = params![within.user, session, within.least_audience, turn, limit as i64];
        let mut hashes = statement.query_map(values, |row| row.get(0))?.collect::<Result<Vec<_>, _>>()?;
        hashes.reverse();
        Ok(hashes)
    }
}

impl Writer<'_> {
    /// Stores what is new of a turn, for the scope's audience.
    ///
    /// A turn whose id is known only gets messages that it does not have yet, and none if its messages went or were
    /// taken back. Where messages have ids, these decide. Others are compared with the end of the session, for hosts
    /// send turns twice, and whole sessions ([`conversation::first_new`]).
    ///
    /// # Errors
    /// What SQLite says.
    pub fn put_turn(
        &self,
        scope: &Scope,
        session: &str,
        turn: NewTurn,
        now: DateTime<Utc>,
    ) -> Result<Delivered, StoreError> {
        let within = InScope {
            user: self.user_key(scope)?,
            least_audience: audience_number(scope.audience()),
            // Messages do not end; they are swept.
            ended_by: i64::MIN,
        };
        let delivered = turn.messages.len();
        let known = turn.id.as_deref().map(|id| self.turn_of(within, session, id)).transpose()?.flatten();
        let new = match known {
            Some((_, false)) => Vec::new(),
            Some((key, true)) => self.missing(within, session, (Named::Known, Some(key)), turn.messages)?,
            None if turn.id.is_some() => self.missing(within, session, (Named::New, None), turn.messages)?,
            None => self.missing(within, session, (Named::No, None), turn.messages)?,
        };
        let stored = new.len();
        let said = |message: &NewMessage| message.at.unwrap_or(now).min(now);
        let key = match (known, new.first()) {
            (_, None) => None,
            (Some((key, _)), Some(_)) => Some(key),
            (None, Some(first)) => {
                Some(self.insert_turn(within, session, turn.id.as_deref(), said(first))?)
            }
        };
        if let Some(key) = key {
            let mut at = DateTime::UNIX_EPOCH;
            for message in &new {
                // Whatever the host's clock does, a turn keeps its order.
                at = at.max(said(message));
                self.insert_message(within, session, key, message, at)?;
            }
        }
        Ok(Delivered { turn: key.map(TurnKey), stored: stored as u32, known: (delivered - stored) as u32 })
    }

    /// Lets a summary stand for messages, which leave the window; none where they say nothing.
    ///
    /// # Errors
    /// What SQLite says.
    pub fn summarised(
        &self,
        scope: &Scope,
        summary: Option<RowId>,
        messages: &[Message],
    ) -> Result<(), StoreError> {
        let user = self.user_key(scope)?;
        let mut statement = self.connection.prepare_cached(
            "UPDATE messages SET state = 'summarised', summary = ?3 WHERE user = ?1 AND key = ?2 AND state = 'open'",
        )?;
        for message in messages {
            statement.execute(params![user, message.key, summary.map(|row| row.0)])?;
        }
        Ok(())
    }

    /// Lets go of the messages, of all users, said before `messages_before`, once a summary stands for them; what has
    /// none yet stays and gets its job. Turns of before `turns_before` are not known again after that.
    ///
    /// # Errors
    /// What SQLite says.
    pub fn sweep_messages_of_all_users(
        &self,
        messages_before: DateTime<Utc>,
        turns_before: DateTime<Utc>,
    ) -> Result<Swept, StoreError> {
        let before = messages_before.timestamp_millis();
        for (scope, session) in self.open_sessions_of_all_users(messages_before)? {
            self.enqueue(JobKind::Close, &scope, &session, None)?;
        }
        let messages = self
            .connection
            .execute("DELETE FROM messages WHERE created_at < ?1 AND state <> 'open'", [before])?;
        let open: i64 = self.connection.query_row(
            "SELECT count(*) FROM messages WHERE state = 'open' AND created_at < ?1",
            [before],
            |row| row.get(0),
        )?;
        let gone = "NOT EXISTS (SELECT 1 FROM messages m WHERE m.turn = turns.key)";
        self.connection.execute(
            &format!("UPDATE turns SET state = 'expired' WHERE at < ?1 AND state = 'kept' AND {gone}"),
            [before],
        )?;
        self.connection.execute(
            &format!("DELETE FROM turns WHERE at < ?1 AND {gone}"),
            [turns_before.timestamp_millis()],
        )?;
        Ok(Swept { messages: messages as u64, open: open.unsigned_abs() })
    }

    /// Those that neither the turn, if it is known, nor the session holds yet.
    fn missing(
        &self,
        within: InScope,
        session: &str,
        turn: (Named, Option<i64>),
        mut messages: Vec<NewMessage>,
    ) -> Result<Vec<NewMessage>, StoreError> {
        let mut known = Vec::with_capacity(messages.len());
        for message in &messages {
            let id = message.id.as_deref();
            known.push(id.map(|id| self.has_message(within, session, id)).transpose()?.unwrap_or_default());
        }
        if known.contains(&true) || messages.iter().all(|message| message.id.is_some()) {
            let mut known = known.into_iter();
            messages.retain(|_| !known.next().unwrap_or_default());
            return Ok(messages);
        }
        let (named, key) = turn;
        let stored = self.hashes(within, session, None, messages.len() + COMPARED)?;
        let delivered: Vec<String> = messages.iter().map(|message| message.hash.0.clone()).collect();
        let mut new = messages.split_off(conversation::first_new(&stored, &delivered, named));
        if let Some(key) = key {
            let mut held = self.hashes(within, session, Some(key), i64::MAX as usize)?;
            new.retain(|message| {
                let same = held.iter().position(|hash| *hash == message.hash.0);
                same.map(|at| held.remove(at)).is_none()
            });
        }
        Ok(new)
    }

    fn insert_turn(
        &self,
        within: InScope,
        session: &str,
        id: Option<&str>,
        at: DateTime<Utc>,
    ) -> Result<i64, StoreError> {
        let mut statement = self.connection.prepare_cached(
            "INSERT INTO turns (user, session, audience, id, at, state) VALUES (?1, ?2, ?3, ?4, ?5, 'kept')",
        )?;
        statement.execute(params![within.user, session, within.least_audience, id, at.timestamp_millis()])?;
        Ok(self.connection.last_insert_rowid())
    }

    fn insert_message(
        &self,
        within: InScope,
        session: &str,
        turn: i64,
        message: &NewMessage,
        at: DateTime<Utc>,
    ) -> Result<(), StoreError> {
        let mut statement = self.connection.prepare_cached(
            "INSERT INTO messages (user, session, audience, turn, id, role, content, hash, created_at, state) \
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, 'open')",
        )?;
        statement.execute(params![
            within.user,
            session,
            within.least_audience,
            turn,
            message.id,
            name_of(ROLES, &message.role),
            message.content.as_str(),
            message.hash.0,
            at.timestamp_millis()
        ])?;
        Ok(())
    }
}
