//! The writer's thread: many requests, one commit.

use std::panic::{AssertUnwindSafe, catch_unwind};

use rusqlite::Connection;
use tokio::sync::{mpsc, oneshot};

use super::{Reader, StoreError, Writer};

/// Requests that share a commit at most.
const BATCH: usize = 256;

/// What the writer's thread is asked.
pub(super) enum Request {
    /// Run this in the next transaction.
    Work(Job),
    /// Empty the log between two transactions; answers whether it is empty.
    Checkpoint(oneshot::Sender<Result<bool, StoreError>>),
    /// Give free pages back to the disk and empty the log, as above.
    Compact(oneshot::Sender<Result<bool, StoreError>>),
    /// Finish what waits, empty the log, end.
    Close(oneshot::Sender<Result<(), StoreError>>),
}

/// Runs in the transaction, if one could be begun, and leaves an answer that waits for the transaction's fate.
pub(super) type Job = Box<dyn FnOnce(Result<&Connection, StoreError>) -> Done + Send>;

/// A request that ran, and whose caller still waits.
pub(super) struct Done {
    /// Why it changed nothing.
    failure: Option<StoreError>,
    answer: Box<dyn FnOnce(Result<(), StoreError>)>,
}

/// Wraps `work` and the way to its caller.
pub(super) fn job<T: Send + 'static>(
    work: impl FnOnce(&Writer<'_>) -> Result<T, StoreError> + Send + 'static,
    reply: oneshot::Sender<Result<T, StoreError>>,
) -> Job {
    Box::new(move |begun| {
        let outcome = begun.and_then(|connection| in_savepoint(connection, work));
        let failure = outcome.as_ref().err().cloned();
        // Whoever asked may have gone; that changes nothing.
        let answer = move |committed: Result<(), StoreError>| {
            drop(reply.send(outcome.and_then(|value| committed.map(|()| value))));
        };
        Done { failure, answer: Box::new(answer) }
    })
}

/// Runs `work`; a panic in it becomes an error.
pub(super) fn caught<T>(work: impl FnOnce() -> Result<T, StoreError>) -> Result<T, StoreError> {
    // What `work` may have left half done is in SQLite alone, and the caller undoes that.
    catch_unwind(AssertUnwindSafe(work)).unwrap_or(Err(StoreError::Panicked))
}

fn in_savepoint<T>(
    connection: &Connection,
    work: impl FnOnce(&Writer<'_>) -> Result<T, StoreError>,
) -> Result<T, StoreError> {
    connection.execute_batch("SAVEPOINT request")?;
    let outcome = caught(|| work(&Writer { reader: Reader { connection } }));
    if outcome.is_ok() {
        connection.execute_batch("RELEASE request")?;
    } else if !connection.is_autocommit()
        && connection.execute_batch("ROLLBACK TO request; RELEASE request").is_err()
    {
        // Never let half a request be committed with the others.
        connection.execute_batch("ROLLBACK")?;
    }
    outcome
}

/// The thread's body; ends when it is told to close or when the last handle is gone.
pub(super) fn run(connection: Connection, mut queue: mpsc::Receiver<Request>) {
    let mut closing = None;
    while let Some(first) = queue.blocking_recv() {
        let mut jobs = Vec::new();
        let mut next = Some(first);
        let mut upkeep = None;
        while let Some(request) = next {
            match request {
                Request::Work(job) => jobs.push(job),
                Request::Checkpoint(reply) => upkeep = Some((reply, false)),
                Request::Compact(reply) => upkeep = Some((reply, true)),
                Request::Close(reply) => {
                    queue.close();
                    closing = Some(reply);
                }
            }
            let full = jobs.len() >= BATCH || upkeep.is_some();
            next = if full { None } else { queue.try_recv().ok() };
        }
        commit(&connection, jobs);
        if let Some((reply, shrink)) = upkeep {
            let shrunk = if shrink { give_back(&connection) } else { Ok(()) };
            let _ = reply.send(shrunk.and_then(|()| empty_log(&connection)));
        }
    }
    let outcome = empty_log(&connection).map(drop);
    drop(connection);
    if let Some(reply) = closing {
        let _ = reply.send(outcome);
    }
}

/// Runs the jobs in one transaction and answers them all.
fn commit(connection: &Connection, jobs: Vec<Job>) {
    let mut done = Vec::with_capacity(jobs.len());
    for job in jobs {
        let begun = if connection.is_autocommit() {
            connection.execute_batch("BEGIN IMMEDIATE").map_err(StoreError::from)
        } else {
            Ok(())
        };
        let last = job(begun.map(|()| connection));
        let failure = last.failure.clone();
        done.push(last);
        // On a full disk and the like SQLite undoes the whole transaction, with all that came before in it.
        if connection.is_autocommit() {
            let failure =
                failure.unwrap_or_else(|| StoreError::Other("the transaction was undone".to_owned()));
            answer(&mut done, &Err(failure));
        }
    }
    if connection.is_autocommit() {
        return;
    }
    let committed = connection.execute_batch("COMMIT").map_err(StoreError::from);
    if committed.is_err() && !connection.is_autocommit() {
        // If even this fails the transaction is gone already.
        let _ = connection.execute_batch("ROLLBACK");
    }
    answer(&mut done, &committed);
}

fn answer(done: &mut Vec<Done>, committed: &Result<(), StoreError>) {
    for request in done.drain(..) {
        (request.answer)(committed.clone());
    }
}

/// Moves the last pages into the free ones and cuts the file behind them, one page a step.
fn give_back(connection: &Connection) -> Result<(), StoreError> {
    let mut statement = connection.prepare("PRAGMA incremental_vacuum")?;
    let mut steps = statement.query([])?;
    while steps.next()?.is_some() {}
    Ok(())
}

/// Whether the log could be emptied; a reader that still needs it prevents that.
fn empty_log(connection: &Connection) -> Result<bool, StoreError> {
    let busy: i64 = connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get(0))?;
    Ok(busy == 0)
}
