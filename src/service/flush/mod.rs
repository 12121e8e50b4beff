//! Before the host compacts a session: what was said is kept as its messages, what is worth keeping becomes lines of the
//! day's note, once, and a summary stands for what none stood for.
//!
//! A line is planned in the store, written to the note, taken in and only then marked as done, and the marker that
//! brought it goes last. Whatever is cut short is done again from the start, and finds where it was.

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use chrono::{DateTime, NaiveDate, NaiveTime, TimeDelta, Timelike, Utc};
use tokio::sync::Mutex;

use super::ingest::{Changes, Ingest, IngestError, scope_of};
use super::lines;
use super::remember::memory_alone;
use super::turn::{Spoken, Turns};
use crate::clock::Clock;
use crate::fault;
use crate::memory::block::{self, Frame};
use crate::memory::capture::{Message, Role, worthwhile};
use crate::memory::conversation;
use crate::memory::entry::ContentHash;
use crate::memory::markdown::content_hash;
use crate::memory::redact::redact;
use crate::memory::{Audience, Mark, Redacted, Scope, UserId, indexed, layout};
use crate::store::{Planned, Store, StoreError};
use crate::wire::flush::FlushMessage;
use crate::workspace::{Marker, Markers, Note, Rejection, Section, Workspace, WorkspaceError};

/// How old a flush may be to be dated as it says: a machine may have slept. An older one comes from a wrong clock.
const BELIEVED: TimeDelta = TimeDelta::days(7);

/// What kept a flush from being done. It may be done again.
#[derive(Debug, thiserror::Error)]
pub enum FlushError {
    /// The day's note.
    #[error(transparent)]
    Workspace(#[from] WorkspaceError),
    /// Taking the note in.
    #[error(transparent)]
    Ingest(#[from] IngestError),
    /// The database.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A fault of ours.
    #[error("keeping what the session held failed")]
    Panicked,
}

/// What a session held before it is compacted.
#[derive(Debug, Clone, PartialEq)]
pub struct Held {
    /// Whose session, and who was listening.
    pub scope: Scope,
    /// The session.
    pub session: Option<String>,
    /// When the flush was asked for, as the host says.
    pub at: Option<DateTime<Utc>>,
    /// What was said, oldest first.
    pub messages: Vec<FlushMessage>,
}

/// What a flush kept; all of it is durable.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Flushed {
    /// New lines or memories.
    pub captured: u32,
    /// What a flush before had kept.
    pub known: u32,
    /// Secrets that were cut out.
    pub redacted: u32,
    /// Messages that a summary stands for now and none stood for before.
    pub summarised: u32,
    /// The notes that were read again, and what they brought.
    pub changes: Vec<(String, Changes)>,
}

/// What became of the markers that were waiting.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Taken {
    /// How many were taken.
    pub markers: u32,
    /// What they brought.
    pub flushed: Flushed,
    /// What is wrong with others, without their text.
    pub troubles: Vec<String>,
}

/// A line that is worth keeping.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Line {
    /// Of session, message and text.
    hash: ContentHash,
    text: Redacted,
    mark: Mark,
}

/// Keeps what sessions hold.
#[derive(Debug, Clone)]
pub struct Flush {
    store: Store,
    ingest: Ingest,
    clock: Clock,
    frame: Frame,
    turns: Turns,
    /// One flush after the other: two that bring the same would both find it new.
    turn: Arc<Mutex<()>>,
    /// One look at the markers after the other.
    look: Arc<Mutex<()>>,
}

impl Flush {
    /// Keeps things in `store`, by way of the notes where the user has a workspace. What stands in a block of `frame`
    /// was recalled, not said. Conversations are kept by `turns`.
    pub fn new(store: Store, ingest: Ingest, clock: Clock, frame: Frame, turns: Turns) -> Self {
        Self { store, ingest, clock, frame, turns, turn: Arc::default(), look: Arc::default() }
    }

    /// Keeps what was said as messages of its session, and what is worth it with a `workspace` as lines of the day's note,
    /// which is read again in any case; else in the index alone. Then a summary stands for all that the session holds, or,
    /// where none is named, each session of the user.
    ///
    /// # Errors
    /// [`FlushError`]; the same flush may then be done again, and keeps nothing twice.
    pub async fn keep(&self, workspace: Option<&Workspace>, held: Held) -> Result<Flushed, FlushError> {
        let _turn = self.turn.lock().await;
        let frame = self.frame.clone();
        let sorted = tokio::task::spawn_blocking(move || {
            let (lines, redacted) = lines(&held, &frame);
            (held, lines, redacted)
        });
        let (held, lines, redacted) = sorted.await.map_err(|_| FlushError::Panicked)?;
        let sessions = match &held.session {
            Some(session) => {
                let spoken = held.messages.iter().map(spoken).collect();
                self.turns.keep(&held.scope, session, None, spoken).await?;
                fault::point("flush.kept");
                vec![(held.scope.clone(), session.clone())]
            }
            None => self.turns.open_sessions(Some(held.scope.user().clone())).await?,
        };
        let flushed = match workspace {
            Some(workspace) => self.write_down(workspace, held, lines).await?,
            None => self.store_alone(held, lines).await?,
        };
        let summarised = self.close(sessions).await?;
        fault::point("flush.summarised");
        Ok(Flushed { redacted, summarised, ..flushed })
    }

    /// Lets summaries stand for all that these sessions hold, and answers for how many messages. A host compacts as soon
    /// as this is done, so that they are by the rules, which keep nobody waiting.
    async fn close(&self, sessions: Vec<(Scope, String)>) -> Result<u32, StoreError> {
        let by_rules = |messages| self.turns.by_rules(messages);
        let mut summarised = 0;
        for (scope, session) in sessions {
            summarised += self.turns.close(&scope, &session, &by_rules).await? as u32;
        }
        Ok(summarised)
    }

    /// Takes the markers that wait in the workspace. Each is removed when what it carries is durable.
    pub async fn markers(&self, workspace: &Workspace) -> Taken {
        let _look = self.look.lock().await;
        let (mut taken, mut after) = (Taken::default(), None);
        loop {
            let behind = after.take();
            let found = off_thread(workspace, move |workspace| workspace.markers(behind.as_deref())).await;
            let Markers { whole, rejected, unread, more_after } = match found {
                Ok(found) => found,
                // That the workspace is away is told where its notes are looked at.
                Err(FlushError::Workspace(WorkspaceError::Unreachable(_))) => return taken,
                Err(error) => {
                    taken.troubles.push(error.to_string());
                    return taken;
                }
            };
            let aside = |name: String| format!("{name} was moved to rejected; {name}.reason.txt says why");
            taken.troubles.extend(rejected.into_iter().map(aside));
            taken.troubles.extend(unread.into_iter().map(|(name, why)| format!("{name} is left: {why}")));
            for marker in whole {
                let name = marker.name.clone();
                match self.take(workspace, marker).await {
                    Ok(Ok(flushed)) => taken.add(flushed),
                    Ok(Err(name)) => taken.troubles.push(aside(name)),
                    Err(error) => taken.troubles.push(format!("{name} is left: {error}")),
                }
            }
            match more_after {
                Some(_) => after = more_after,
                None => return taken,
            }
        }
    }

    /// Takes one marker. One that names what cannot be is moved aside: then its name there is returned.
    async fn take(
        &self,
        workspace: &Workspace,
        marker: Marker,
    ) -> Result<Result<Flushed, String>, FlushError> {
        fault::point("flush.read");
        let says = &marker.says;
        let owner = scope_of(workspace);
        let user = says.user_id.as_deref().map(UserId::new).unwrap_or(Ok(owner.user().clone()));
        let kept = match user {
            Err(error) => Err(Rejection::Names(format!("user_id: {error}"))),
            Ok(user) => {
                let held = Held {
                    scope: Scope::new(user, says.audience),
                    session: says.session_id.clone(),
                    at: says.created_at,
                    messages: says.messages.clone(),
                };
                // The note is the owner's own page: others, and what was said before a group, live in the index alone.
                let page = (held.scope == owner).then_some(workspace);
                match self.keep(page, held).await {
                    Err(FlushError::Workspace(error @ WorkspaceError::Session)) => {
                        Err(Rejection::Names(format!("session_id: {error}")))
                    }
                    kept => {
                        let mut flushed = kept?;
                        if says.session_id.is_none() && says.user_id.is_none() {
                            // It names nobody: all sessions are meant, whoever talks in them.
                            flushed.summarised += self.close(self.turns.open_sessions(None).await?).await?;
                        }
                        Ok(flushed)
                    }
                }
            }
        };
        let done = off_thread(workspace, move |workspace| match kept {
            Ok(flushed) => workspace.remove_marker(&marker).map(|()| Ok(flushed)),
            Err(why) => workspace.reject_marker(&marker, &why).map(Err),
        });
        let done = done.await?;
        fault::point("flush.removed");
        Ok(done)
    }

    async fn write_down(
        &self,
        workspace: &Workspace,
        held: Held,
        lines: Vec<Line>,
    ) -> Result<Flushed, FlushError> {
        let (scope, when, now) = (held.scope.clone(), self.when(held.at), self.clock.now());
        let planned = self
            .store
            .write(move |writer| {
                let plan = |line: Line| Ok((writer.plan_flush(&scope, &line.hash, when, now)?, line));
                lines.into_iter().map(plan).collect::<Result<Vec<(Planned, Line)>, StoreError>>()
            })
            .await?;
        fault::point("flush.planned");
        let all = planned.len();
        let open: Vec<_> = planned.into_iter().filter(|(planned, _)| !planned.done).collect();
        let hashes: Vec<ContentHash> = open.iter().map(|(_, line)| line.hash.clone()).collect();
        let mut flushed =
            Flushed { captured: open.len() as u32, known: (all - open.len()) as u32, ..Flushed::default() };
        let mut by_day: BTreeMap<NaiveDate, Vec<(Planned, Line)>> = BTreeMap::new();
        for (planned, line) in open {
            by_day.entry(planned.day).or_default().push((planned, line));
        }
        let mut files: Vec<String> = by_day.keys().map(|day| layout::daily_file(*day)).collect();
        let session = held.session;
        for (day, lines) in &by_day {
            let bullets = lines.iter().map(|(planned, line)| note(planned, line, session.as_deref()).hash());
            let bullets = bullets.collect::<Result<Vec<_>, _>>()?;
            lines::claim(&self.store, &held.scope, workspace, &layout::daily_file(*day), bullets).await?;
        }
        off_thread(workspace, move |workspace| {
            by_day.iter().try_for_each(|(day, lines)| {
                let notes: Vec<Note<'_>> =
                    lines.iter().map(|(planned, line)| note(planned, line, session.as_deref())).collect();
                workspace.append_missing(*day, &notes).map(drop)
            })
        })
        .await?;
        fault::point("flush.appended");
        if files.is_empty() {
            // The host may have written it itself.
            files.push(layout::daily_file(self.clock.today()));
        }
        for file in files {
            let changes = self.ingest.file(workspace, &file).await?;
            flushed.changes.push((file, changes));
        }
        fault::point("flush.ingested");
        if !hashes.is_empty() {
            let scope = held.scope;
            self.store.write(move |writer| writer.finish_flush(&scope, &hashes)).await?;
        }
        fault::point("flush.finished");
        Ok(flushed)
    }

    /// What users without a note held: planned, stored and done in one transaction.
    async fn store_alone(&self, held: Held, lines: Vec<Line>) -> Result<Flushed, FlushError> {
        let Held { scope, session, at, .. } = held;
        let (when, now, clock) = (self.when(at), self.clock.now(), self.clock.clone());
        let all = lines.len() as u32;
        let stored = self
            .store
            .write(move |writer| {
                let mut captured = 0;
                for Line { hash, text, mark } in lines {
                    if writer.plan_flush(&scope, &hash, when, now)?.done {
                        continue;
                    }
                    let content = content_hash(text.as_str());
                    let memory = memory_alone(&scope, text, content, (mark, session.clone()), when, &clock);
                    let terms = indexed::terms(&memory.context, &memory.content, memory.day);
                    writer.insert(&scope, &memory, &terms)?;
                    writer.finish_flush(&scope, &[hash])?;
                    captured += 1;
                }
                Ok(captured)
            })
            .await?;
        fault::point("flush.stored");
        Ok(Flushed { captured: stored, known: all - stored, ..Flushed::default() })
    }

    /// The user's day and minute of a flush: as it says where that can be, else now.
    fn when(&self, at: Option<DateTime<Utc>>) -> (NaiveDate, NaiveTime) {
        let now = self.clock.now();
        let local = self.clock.local(at.filter(|at| (now - BELIEVED..=now).contains(at)).unwrap_or(now));
        (local.date(), NaiveTime::from_hms_opt(local.hour(), local.minute(), 0).unwrap_or(NaiveTime::MIN))
    }
}

impl Taken {
    fn add(&mut self, flushed: Flushed) {
        self.markers += 1;
        self.flushed.captured += flushed.captured;
        self.flushed.known += flushed.known;
        self.flushed.redacted += flushed.redacted;
        self.flushed.summarised += flushed.summarised;
        self.flushed.changes.extend(flushed.changes);
    }
}

/// What is worth keeping, each once, and how many secrets were cut out.
fn lines(held: &Held, frame: &Frame) -> (Vec<Line>, u32) {
    let mut redacted = 0;
    let messages: Vec<Message> = held
        .messages
        .iter()
        .map(|message| {
            let role = match message.role.as_str() {
                "user" => Role::User,
                "assistant" => Role::Assistant,
                _ => Role::Other,
            };
            let (text, findings) = redact(&block::strip(&message.content, frame));
            redacted += findings.len() as u32;
            Message { role, text }
        })
        .collect();
    let session = held.session.as_deref().unwrap_or_default();
    let group = if held.scope.audience() == Audience::Shared { "shared" } else { "" };
    let mut seen = HashSet::new();
    let lines = worthwhile(&messages).into_iter().map(|captured| {
        let id = held.messages.get(captured.message).and_then(|message| message.id.as_deref());
        let said = [group, session, id.unwrap_or_default(), captured.text.as_str()].join("\n");
        Line { hash: ContentHash::of(said.as_bytes()), text: captured.text, mark: captured.mark }
    });
    (lines.filter(|line| seen.insert(line.hash.clone())).collect(), redacted)
}

/// A message as the session keeps it. It is known by its words where it came with a turn before, which has no time either.
fn spoken(message: &FlushMessage) -> Spoken {
    let role = match message.role.as_str() {
        "user" => conversation::Role::User,
        "assistant" => conversation::Role::Assistant,
        "system" | "developer" => conversation::Role::System,
        _ => conversation::Role::Tool,
    };
    Spoken { id: message.id.clone(), role, content: message.content.clone(), at: None }
}

fn note<'n>(planned: &Planned, line: &'n Line, session: Option<&'n str>) -> Note<'n> {
    let section = if line.mark == Mark::User { Section::User } else { Section::Auto };
    Note { section, time: planned.time, text: &line.text, session }
}

/// Does something with the files of a workspace where it can wait for them.
async fn off_thread<T: Send + 'static>(
    workspace: &Workspace,
    work: impl FnOnce(&Workspace) -> Result<T, WorkspaceError> + Send + 'static,
) -> Result<T, FlushError> {
    let workspace = workspace.clone();
    let done = tokio::task::spawn_blocking(move || work(&workspace)).await;
    Ok(done.map_err(|_| FlushError::Panicked)??)
}
