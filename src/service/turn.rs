//! Turns of a conversation: durable when they are answered, a window of the last ones, and summaries of what leaves it.
//!
//! What follows from a turn is a job in the store, written with it. A job is done at least once, and doing it twice
//! changes nothing.

#[cfg(test)]
mod tests;

use chrono::{DateTime, Days, NaiveDate, NaiveTime, TimeDelta, Utc};

use super::sweep::SUMMARY_DAYS;
use crate::clock::Clock;
use crate::config::ShortTerm;
use crate::fault;
use crate::memory::block::{self, Frame};
use crate::memory::conversation::Role;
use crate::memory::entry::ContentHash;
use crate::memory::redact::redact;
use crate::memory::segment::Language;
use crate::memory::summary::{self, Said, Summary};
use crate::memory::window::{self, Item, Limits};
use crate::memory::{
    Importance, Kind, Mark, Memory, MemoryId, NewMemory, Redacted, Scope, UserId, indexed, tokens,
};
use crate::store::{
    JobKind, Message, NewMessage, NewTurn, Reader, Store, StoreError, Swept, TakenBack, TurnKey, Writer,
};

/// Days that messages are kept as they were said.
pub const MESSAGE_DAYS: u32 = 7;
/// Minutes after which a job that failed is tried again.
const RETRY_MINUTES: i64 = 1;
/// Summaries of a session that the window's one summary is folded of.
const FOLDED: usize = 8;

/// A message as a host hands it over.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Spoken {
    /// The host's id, if it has one.
    pub id: Option<String>,
    /// Who says it.
    pub role: Role,
    /// What.
    pub content: String,
    /// When, if the host says so.
    pub at: Option<DateTime<Utc>>,
}

/// What became of a turn.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Kept {
    /// New messages.
    pub stored: u32,
    /// Messages that were there already.
    pub known: u32,
    /// Messages that are no part of the conversation: the host's instructions, and those that say nothing.
    pub passed_over: u32,
    /// Secrets that were cut out.
    pub redacted: u32,
}

/// What a session remembers of itself.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Window {
    /// What stands for the messages that left the window.
    pub summary: Option<Summary>,
    /// When the first of those was said, if that is still known.
    pub since: Option<DateTime<Utc>>,
    /// The last messages, oldest first.
    pub messages: Vec<Message>,
}

/// Keeps conversations.
#[derive(Debug, Clone)]
pub struct Turns {
    store: Store,
    clock: Clock,
    limits: Limits,
    frame: Frame,
}

/// A turn made ready for the store.
struct Prepared {
    messages: Vec<NewMessage>,
    passed_over: u32,
    redacted: u32,
}

/// The open end of a session.
struct End {
    summary: Option<Summary>,
    since: Option<DateTime<Utc>>,
    messages: Vec<Message>,
    items: Vec<Item>,
    /// What the summary costs.
    tokens: usize,
}

impl Turns {
    /// Keeps conversations in `store`, within the limits of the configuration. `frame` is that of the blocks which may
    /// come back in what is said.
    pub fn new(store: Store, clock: Clock, short_term: &ShortTerm, frame: Frame) -> Self {
        let limits = Limits {
            messages: short_term.window_size as usize,
            tokens: short_term.max_tokens as usize,
            summary_at: short_term.summary_threshold as usize,
        };
        Self { store, clock, limits, frame }
    }

    /// Stores what is new of a turn, and asks for a summary if that is due. When this returns, all of that is on disk.
    /// Secrets and blocks of ours are cut out before anything else happens.
    ///
    /// # Errors
    /// What the store says; nothing was stored then.
    pub async fn keep(
        &self,
        scope: &Scope,
        session: &str,
        id: Option<String>,
        spoken: Vec<Spoken>,
    ) -> Result<Kept, StoreError> {
        let frame = self.frame.clone();
        let prepared = tokio::task::spawn_blocking(move || prepare(spoken, &frame)).await;
        let Prepared { messages, passed_over, redacted } = prepared.map_err(|_| StoreError::Panicked)?;
        let (scope, session, limits, now) =
            (scope.clone(), session.to_owned(), self.limits, self.clock.now());
        let turn = NewTurn { id, messages };
        let delivered = self
            .store
            .write(move |writer| {
                let delivered = writer.put_turn(&scope, &session, turn, now)?;
                if delivered.turn.is_some()
                    && !End::of(writer, &scope, &session, limits, true)?.due(limits).is_empty()
                {
                    writer.enqueue(JobKind::Summary, &scope, &session, None)?;
                }
                Ok(delivered)
            })
            .await?;
        fault::point("turn.stored");
        Ok(Kept { stored: delivered.stored, known: delivered.known, passed_over, redacted })
    }

    /// What the session remembers of itself, for whoever sees the scope's audience.
    ///
    /// # Errors
    /// What the store says.
    pub async fn window(&self, scope: &Scope, session: &str) -> Result<Window, StoreError> {
        let (scope, session, limits) = (scope.clone(), session.to_owned(), self.limits);
        self.store
            .read(move |reader| Ok(End::of(reader, &scope, &session, limits, false)?.window(limits)))
            .await
    }

    /// Does the oldest summary that was asked for, with `write` for its words, and answers of how many messages;
    /// `None` if nothing waits.
    ///
    /// # Errors
    /// What the store says. The job waits and is tried again later.
    pub async fn summarise_next<W: Future<Output = Result<Summary, StoreError>>>(
        &self,
        write: &impl Fn(Vec<Message>) -> W,
    ) -> Result<Option<usize>, StoreError> {
        let now = self.clock.now();
        let claim = move |writer: &Writer<'_>| {
            writer.claim_job_of_all_users(&[JobKind::Summary, JobKind::Close], now)
        };
        let Some(job) = self.store.write(claim).await? else { return Ok(None) };
        match self.summarise(&job.scope, &job.session, job.kind == JobKind::Close, write).await {
            Ok(messages) => {
                self.store.write(move |writer| writer.finish_job(&job)).await?;
                Ok(Some(messages))
            }
            Err(error) => {
                let later = now + TimeDelta::minutes(RETRY_MINUTES);
                self.store.write(move |writer| writer.retry_job(&job, later)).await?;
                Err(error)
            }
        }
    }

    /// Makes all open messages of a session a summary, with `write` for its words, and answers how many they were: when
    /// this returns, nothing of what was said is in the window alone.
    ///
    /// # Errors
    /// What the store says; the messages stay open.
    pub async fn close<W: Future<Output = Result<Summary, StoreError>>>(
        &self,
        scope: &Scope,
        session: &str,
        write: &impl Fn(Vec<Message>) -> W,
    ) -> Result<usize, StoreError> {
        self.summarise(scope, session, true, write).await
    }

    /// A summary by the rules: what writes summaries where no model does.
    ///
    /// # Errors
    /// [`StoreError::Panicked`] for a fault of ours; the messages stay open.
    pub fn by_rules(
        &self,
        messages: Vec<Message>,
    ) -> impl Future<Output = Result<Summary, StoreError>> + Send + use<> {
        let (clock, max_tokens) = (self.clock.clone(), self.limits.summary_tokens());
        let making = tokio::task::spawn_blocking(move || {
            let said = messages.iter().map(|message| Said {
                role: message.role,
                at: clock.local(message.at),
                content: &message.content,
            });
            summary::by_rules(&said.collect::<Vec<_>>(), max_tokens, &tokens::estimate)
        });
        async { making.await.map_err(|_| StoreError::Panicked) }
    }

    /// Takes back all that was stored of a turn, and answers the memories that were made of it: files may still hold
    /// their lines.
    ///
    /// # Errors
    /// What the store says; then nothing was taken back.
    pub async fn take_back(
        &self,
        scope: &Scope,
        session: &str,
        turn: TurnKey,
    ) -> Result<Vec<Memory>, StoreError> {
        let (scope, session) = (scope.clone(), session.to_owned());
        self.store
            .write(move |writer| {
                // Messages that shared a summary with it may be open again.
                writer.enqueue(JobKind::Summary, &scope, &session, None)?;
                writer.take_back(&scope, turn)
            })
            .await
    }

    /// The sessions of all users, or of one, that hold messages no summary stands for yet.
    ///
    /// # Errors
    /// What the store says.
    pub async fn open_sessions(&self, of: Option<UserId>) -> Result<Vec<(Scope, String)>, StoreError> {
        // A message may be stamped with this very millisecond.
        let soon = self.clock.now() + TimeDelta::seconds(1);
        let open = self.store.read(move |reader| reader.open_sessions_of_all_users(soon)).await?;
        let is_meant = |scope: &Scope| of.as_ref().is_none_or(|user| user == scope.user());
        Ok(open.into_iter().filter(|(scope, _)| is_meant(scope)).collect())
    }

    /// Takes back what was said to a user's agent from a day on (from the beginning without one) up to a day: messages
    /// go, and the summaries that stand for any of them; what else those stood for gets another one.
    ///
    /// # Errors
    /// What the store says; then nothing was taken back.
    pub async fn take_back_days(
        &self,
        scope: &Scope,
        from: Option<NaiveDate>,
        to: NaiveDate,
    ) -> Result<TakenBack, StoreError> {
        let begin = |day: NaiveDate| self.clock.instant(day.and_time(NaiveTime::MIN));
        let from = from.map_or(DateTime::UNIX_EPOCH, begin);
        let to = to.succ_opt().map_or(DateTime::<Utc>::MAX_UTC, begin);
        let scope = scope.clone();
        self.store.write(move |writer| writer.take_back_said(&scope, from..to)).await
    }

    /// Lets go of the messages of more than [`MESSAGE_DAYS`] of the user's days ago, once a summary stands for them, and
    /// asks for those that are missing. Turns are known again for [`SUMMARY_DAYS`].
    ///
    /// # Errors
    /// What the store says; then everything is as it was.
    pub async fn sweep(&self) -> Result<Swept, StoreError> {
        let today = self.clock.today();
        let [messages, turns] = [MESSAGE_DAYS, SUMMARY_DAYS].map(|days| {
            let day = today.checked_sub_days(Days::new(days.into())).unwrap_or(today);
            self.clock.instant(day.and_time(NaiveTime::MIN))
        });
        self.store.write(move |writer| writer.sweep_messages_of_all_users(messages, turns)).await
    }

    /// One summary after the other, until nothing is due, or of `all` nothing is open; how many messages they stand for.
    async fn summarise<W: Future<Output = Result<Summary, StoreError>>>(
        &self,
        scope: &Scope,
        session: &str,
        all: bool,
        write: &impl Fn(Vec<Message>) -> W,
    ) -> Result<usize, StoreError> {
        let mut messages = 0;
        loop {
            match self.summarise_some(scope, session, all, write).await? {
                0 => return Ok(messages),
                done => messages += done,
            }
        }
    }

    /// One summary of what is due, or of `all` that is open; how many messages it stands for.
    async fn summarise_some<W: Future<Output = Result<Summary, StoreError>>>(
        &self,
        scope: &Scope,
        session: &str,
        all: bool,
        write: &impl Fn(Vec<Message>) -> W,
    ) -> Result<usize, StoreError> {
        let (of, name, limits) = (scope.clone(), session.to_owned(), self.limits);
        let due = move |reader: &Reader<'_>| {
            let end = End::of(reader, &of, &name, limits, true)?;
            let which = if all { end.open() } else { end.due(limits) };
            Ok(which.into_iter().filter_map(|at| end.messages.get(at).cloned()).collect::<Vec<_>>())
        };
        let messages = self.store.read(due).await?;
        let Some(last) = messages.last() else { return Ok(0) };
        let last = last.at;
        let made = write(messages.clone()).await?;
        fault::point("turn.summary_made");
        let memory = (!made.text().is_empty()).then(|| self.memory_of(&made, scope, session, last));
        let terms = memory.as_ref().map(|one| indexed::terms(&one.context, &one.content, one.day));
        let (scope, session) = (scope.clone(), session.to_owned());
        let count = messages.len();
        self.store
            .write(move |writer| {
                let open = writer.open_messages(&scope, &session)?;
                if messages.iter().any(|message| !open.contains(message)) {
                    // Taken back or summarised meanwhile: the next look sees what is left.
                    return Ok(());
                }
                let row = match (&memory, &terms) {
                    (Some(memory), Some(terms)) => Some(writer.insert(&scope, memory, terms)?),
                    _ => None,
                };
                writer.summarised(&scope, row, &messages)
            })
            .await?;
        fault::point("turn.summary_stored");
        Ok(count)
    }

    fn memory_of(&self, made: &Summary, scope: &Scope, session: &str, last: DateTime<Utc>) -> NewMemory {
        let (now, said) = (self.clock.now(), self.clock.local(last));
        let content = redact(&made.text()).0;
        NewMemory {
            id: MemoryId::random(),
            user: scope.user().clone(),
            session: Some(session.to_owned()),
            kind: Kind::Summary,
            mark: Mark::Auto,
            importance: Importance::NORMAL,
            audience: scope.audience(),
            hash: ContentHash::of(content.as_str().as_bytes()),
            content,
            context: redact(made.heading()).0,
            day: Some(said.date()),
            time: Some(said.time()),
            source: None,
            created_at: now,
            expires_at: now.checked_add_days(Days::new(SUMMARY_DAYS.into())),
            access_count: 0,
            last_accessed_at: now,
        }
    }
}

impl End {
    /// The end of a session as the scope's audience sees it, or `exactly` what was said before that audience.
    fn of(
        reader: &Reader<'_>,
        scope: &Scope,
        session: &str,
        limits: Limits,
        exactly: bool,
    ) -> Result<Self, StoreError> {
        let mut messages = reader.open_messages(scope, session)?;
        let mut summaries = reader.summaries(scope, session, FOLDED)?;
        if exactly {
            messages.retain(|message| message.audience == scope.audience());
            summaries.retain(|summary| summary.memory.audience == scope.audience());
        }
        let since = summaries.first().and_then(|summary| summary.since);
        let read =
            summaries.iter().map(|summary| Summary::read(&summary.memory.context, &summary.memory.content));
        let summary =
            read.reduce(|before, next| before.fold(next, limits.summary_tokens(), &tokens::estimate));
        let items = messages.iter().map(|message| Item {
            turn: message.turn.0,
            tokens: tokens::estimate(&message.content),
            summarised: message.summarised,
        });
        let tokens = summary.as_ref().map_or(0, |summary| tokens::estimate(&summary.text()));
        Ok(Self { items: items.collect(), summary, since, messages, tokens })
    }

    fn due(&self, limits: Limits) -> Vec<usize> {
        window::due(&self.items, self.tokens, limits)
    }

    fn open(&self) -> Vec<usize> {
        self.items.iter().enumerate().filter(|(_, item)| !item.summarised).map(|(at, _)| at).collect()
    }

    fn window(self, limits: Limits) -> Window {
        let visible = window::visible(&self.items, self.tokens, limits);
        let mut messages: Vec<Message> =
            visible.into_iter().filter_map(|at| self.messages.get(at).cloned()).collect();
        if let [only] = messages.as_mut_slice() {
            let room = limits.tokens.saturating_sub(self.tokens);
            only.content = window::shorten(&only.content, room, &tokens::estimate).into_owned();
        }
        Window { summary: self.summary, since: self.since, messages }
    }
}

fn prepare(spoken: Vec<Spoken>, frame: &Frame) -> Prepared {
    let mut prepared = Prepared { messages: Vec::new(), passed_over: 0, redacted: 0 };
    for Spoken { id, role, content, at } in spoken {
        let (clean, findings) = redact(&block::strip(&content, frame));
        if role == Role::System || clean.as_str().trim().is_empty() {
            prepared.passed_over += 1;
            continue;
        }
        prepared.redacted += findings.len() as u32;
        let hash = hash(role, &clean, at);
        let content = if role == Role::Tool { stub(&clean) } else { clean };
        prepared.messages.push(NewMessage { id, role, content, hash, at });
    }
    prepared
}

/// By which a message is known when it comes again, whatever its host does to white space.
fn hash(role: Role, content: &Redacted, at: Option<DateTime<Utc>>) -> ContentHash {
    let words: Vec<&str> = content.as_str().split_whitespace().collect();
    let at = at.map_or(0, |at| at.timestamp_millis());
    ContentHash::of(format!("{role:?} {at} {}", words.join(" ")).as_bytes())
}

/// What stands for a tool's output.
fn stub(output: &Redacted) -> Redacted {
    let chars = output.as_str().chars().count();
    let stub = match Language::of(output.as_str()) {
        Language::Chinese => format!("[工具输出，{chars} 字，未保留]"),
        Language::English => format!("[tool output, {chars} characters, not kept]"),
    };
    redact(&stub).0
}
