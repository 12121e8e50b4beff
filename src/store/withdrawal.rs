//! Taking back what was said: messages lose their words, and no summary or memory made of them stays.

use std::ops::Range;

use chrono::{DateTime, Utc};
use rusqlite::{ToSql, params};

use super::conversations::TurnKey;
use super::{JobKind, RowId, StoreError, Writer};
use crate::memory::{Memory, MemoryId, Scope};

/// What was taken back of conversations.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct TakenBack {
    /// Messages that went.
    pub messages: usize,
    /// Summaries that stood for any of them.
    pub summaries: Vec<Memory>,
}

impl Writer<'_> {
    /// Notes that a memory was made of a turn, so that [`Writer::take_back`] finds it. `false` if either is not there.
    ///
    /// # Errors
    /// What SQLite says.
    pub fn bind_to_turn(&self, scope: &Scope, turn: TurnKey, memory: &MemoryId) -> Result<bool, StoreError> {
        let Some((row, _)) = self.get(scope, memory)? else { return Ok(false) };
        let mut statement = self.connection.prepare_cached(
            "INSERT OR IGNORE INTO turn_memories (turn, memory) SELECT key, ?3 FROM turns WHERE user = ?1 AND key = ?2",
        )?;
        let user = self.user_key(scope)?;
        statement.execute(params![user, turn.0, row.0])?;
        let mut there = self
            .connection
            .prepare_cached("SELECT EXISTS (SELECT 1 FROM turn_memories WHERE turn = ?1 AND memory = ?2)")?;
        Ok(there.query_row([turn.0, row.0], |row| row.get(0))?)
    }

    /// Takes back what was stored of a turn: its messages, the memories made of it, and the summaries that stand for
    /// it too, whose other messages are open again. Answers the memories made of it, for files may hold their lines.
    ///
    /// # Errors
    /// What SQLite says.
    pub fn take_back(&self, scope: &Scope, turn: TurnKey) -> Result<Vec<Memory>, StoreError> {
        let user = self.user_key(scope)?;
        let values = params![user, turn.0];
        let made = self.memories_of(
            "SELECT memory FROM turn_memories WHERE turn = (SELECT key FROM turns WHERE user = ?1 AND key = ?2)",
            values,
            scope,
        )?;
        self.forget(scope, &ids(&made))?;
        self.withdraw(scope, "user = ?1 AND turn = ?2", values)?;
        self.connection
            .execute("UPDATE turns SET state = 'withdrawn' WHERE user = ?1 AND key = ?2", values)?;
        Ok(made.into_iter().map(|(_, memory)| memory).collect())
    }

    /// Takes back what was said before the scope's audience within those moments, with the summaries that stand for it
    /// too, whose other messages are open again and get their job.
    ///
    /// # Errors
    /// What SQLite says.
    pub fn take_back_said(&self, scope: &Scope, when: Range<DateTime<Utc>>) -> Result<TakenBack, StoreError> {
        let Some(within) = self.in_scope(scope)? else { return Ok(TakenBack::default()) };
        let (from, to) = (when.start.timestamp_millis(), when.end.timestamp_millis());
        let said =
            "user = ?1 AND audience >= ?2 AND created_at >= ?3 AND created_at < ?4 AND state <> 'withdrawn'";
        let taken = self.withdraw(scope, said, params![within.user, within.least_audience, from, to])?;
        for summary in &taken.summaries {
            if let Some(session) = &summary.session {
                let of = Scope::new(scope.user().clone(), summary.audience);
                self.enqueue(JobKind::Close, &of, session, None)?;
            }
        }
        Ok(taken)
    }

    /// Withdraws the messages that `which` names: of each its hash stays, and no summary stands for any.
    fn withdraw(&self, scope: &Scope, which: &str, values: &[&dyn ToSql]) -> Result<TakenBack, StoreError> {
        let summaries = self.memories_of(
            &format!("SELECT DISTINCT summary FROM messages WHERE {which} AND summary IS NOT NULL"),
            values,
            scope,
        )?;
        let withdraw =
            format!("UPDATE messages SET state = 'withdrawn', content = '', summary = NULL WHERE {which}");
        let messages = self.connection.execute(&withdraw, values)?;
        let mut reopen = self.connection.prepare_cached(
            "UPDATE messages SET state = 'open', summary = NULL WHERE user = ?1 AND summary = ?2",
        )?;
        let user = self.user_key(scope)?;
        for (row, _) in &summaries {
            reopen.execute(params![user, row.0])?;
        }
        self.delete(scope, &ids(&summaries))?;
        Ok(TakenBack { messages, summaries: summaries.into_iter().map(|(_, memory)| memory).collect() })
    }

    /// The memories whose keys `sql` selects.
    fn memories_of(
        &self,
        sql: &str,
        values: &[&dyn ToSql],
        scope: &Scope,
    ) -> Result<Vec<(RowId, Memory)>, StoreError> {
        let mut statement = self.connection.prepare_cached(sql)?;
        let keys =
            statement.query_map(values, |row| row.get(0).map(RowId))?.collect::<Result<Vec<_>, _>>()?;
        self.get_many(scope, &keys)
    }
}

fn ids(memories: &[(RowId, Memory)]) -> Vec<MemoryId> {
    memories.iter().map(|(_, memory)| memory.id.clone()).collect()
}
