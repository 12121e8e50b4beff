//! One connection: reads lines, starts a task for each request, writes answers as they come.

use std::io;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Instant;

use futures::{FutureExt, SinkExt, StreamExt};
use interprocess::local_socket::tokio::Stream;
use tokio::io::Interest;
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::{broadcast, mpsc};
use tokio::task::JoinSet;
use tokio_util::codec::{FramedRead, FramedWrite};
use tokio_util::sync::CancellationToken;

use super::lines::{Line, Lines};
use super::server::{Handler, Limits};
use crate::wire::methods::{SubscribeParams, SubscribeResult};
use crate::wire::request::{self, Call};
use crate::wire::{
    Error, ErrorKind, Event, Id, MAX_MESSAGE_BYTES, Method, Notification, Response, Version, parse_params,
};

pub(super) struct Connection<H> {
    pub handler: Arc<H>,
    pub limits: Limits,
    pub shutdown: CancellationToken,
}

type Answers = mpsc::Sender<String>;

impl<H: Handler> Connection<H> {
    /// Until the client is gone, or has said all and got its answers, or the daemon stops.
    pub async fn run(self, stream: Stream) {
        let (answers, queue) = mpsc::channel(self.limits.queue);
        let mut writing = std::pin::pin!(write(&stream, queue));
        tokio::select! {
            // Drops the requests in flight, and with them their work.
            _ = &mut writing => {}
            heard = self.read(&stream, answers) => {
                if heard == Heard::Everything {
                    let _ = writing.await;
                }
            }
        }
    }

    async fn read(self, stream: &Stream, answers: Answers) -> Heard {
        let mut lines = FramedRead::new(stream, Lines::default());
        let mut rate = Rate::new(self.limits);
        let mut tasks = JoinSet::new();
        let mut feed = JoinSet::new();
        loop {
            let line = tokio::select! {
                biased;
                () = self.shutdown.cancelled() => break,
                Some(_) = tasks.join_next() => continue,
                line = lines.next(), if tasks.len() < self.limits.in_flight => line,
            };
            let line = match line {
                Some(Ok(line)) => line,
                None if matches!(gone(stream).await, Ok(false)) => break,
                None | Some(Err(_)) => return Heard::Nobody,
            };
            if line == Line::Text(String::new()) {
                continue;
            }
            let answers = answers.clone();
            match self.admit(line, &mut rate) {
                Ok(Call { id, method: Method::Subscribe, params }) => {
                    let outcome = parse_params(params).and_then(subscribed);
                    let new = outcome.is_ok() && feed.is_empty();
                    let response = Response::new(id, outcome);
                    if new {
                        feed.spawn(subscription(response, self.handler.events(), answers));
                    } else {
                        tasks.spawn(async move { send(&answers, response).await });
                    }
                }
                Ok(call) => {
                    tasks.spawn(answer(self.handler.clone(), call, answers));
                }
                Err(refusal) => {
                    tasks.spawn(async move { send(&answers, refusal).await });
                }
            }
        }
        if self.shutdown.is_cancelled() && !feed.is_empty() {
            tasks.spawn(async move { tell(&answers, Event::Stopping).await });
        }
        // A subscription has no end of its own; requests are waited for, by the daemon no longer than it likes.
        drop(feed);
        while tasks.join_next().await.is_some() {}
        Heard::Everything
    }

    fn admit(&self, line: Line, rate: &mut Rate) -> Result<Call, Response> {
        let refused = |kind, message: String| Err(Response::failed(Id::Null, Error::new(kind, message)));
        match line {
            Line::TooLong => refused(
                ErrorKind::TooLarge,
                format!("a message has at most {MAX_MESSAGE_BYTES} bytes; send less, or in parts"),
            ),
            Line::NotText => refused(ErrorKind::Parse, "a message is UTF-8 text".into()),
            Line::Text(text) => {
                let call = request::read(&text)?;
                if rate.admits(Instant::now()) {
                    return Ok(call);
                }
                let message = format!(
                    "more than {} requests a second on this connection, which is the limit; try again in a second",
                    self.limits.per_second
                );
                Err(Response::failed(call.id, Error::new(ErrorKind::Busy, message)))
            }
        }
    }
}

#[derive(PartialEq)]
enum Heard {
    /// The client may still read what is written.
    Everything,
    /// Nobody is there any more.
    Nobody,
}

/// After the end of what a client says: whether it has left, or only has no more to say and waits for its answers
/// (as `nc -N` does). Both look alike to a reader, but only one who has left can no longer be written to.
async fn gone(stream: &Stream) -> io::Result<bool> {
    let Stream::UdSocket(socket) = stream;
    let socket = socket.inner();
    // The end may have been read before its notice came; that notice is the one that also says whether all is closed.
    while !socket.ready(Interest::READABLE).await?.is_read_closed() {
        let _ = socket.try_io(Interest::READABLE, || Err::<(), _>(io::ErrorKind::WouldBlock.into()));
    }
    Ok(socket.ready(Interest::WRITABLE).await?.is_write_closed())
}

async fn write(stream: &Stream, mut queue: mpsc::Receiver<String>) -> io::Result<()> {
    let mut lines = FramedWrite::new(stream, Lines::default());
    while let Some(line) = queue.recv().await {
        lines.send(line).await?;
    }
    Ok(())
}

async fn answer<H: Handler>(handler: Arc<H>, call: Call, answers: Answers) {
    let Call { id, method, params } = call;
    let work = AssertUnwindSafe(async { handler.call(method, params).await });
    let outcome = work.catch_unwind().await.unwrap_or_else(|_| {
        tracing::error!(method = method.name(), "a request panicked");
        Err(Error::new(ErrorKind::Internal, "the daemon failed at this request; its log says where"))
    });
    send(&answers, Response::new(id, outcome)).await;
}

fn subscribed(SubscribeParams {}: SubscribeParams) -> Result<serde_json::Value, Error> {
    serde_json::to_value(SubscribeResult { subscribed: true })
        .map_err(|error| Error::new(ErrorKind::Internal, error.to_string()))
}

/// Answers `subscribe` and then tells what happens, for as long as the connection lives.
async fn subscription(answer: Response, mut events: broadcast::Receiver<Event>, answers: Answers) {
    send(&answers, answer).await;
    loop {
        let event = match events.recv().await {
            Ok(event) => event,
            Err(RecvError::Lagged(events)) => Event::Missed { events },
            Err(RecvError::Closed) => return,
        };
        tell(&answers, event).await;
    }
}

async fn tell(answers: &Answers, event: Event) {
    let event = Notification { jsonrpc: Version::V2, method: "event".into(), params: event };
    if let Ok(line) = serde_json::to_string(&event) {
        let _ = answers.send(line).await;
    }
}

/// An answer obeys the limit of a message as a request does.
async fn send(answers: &Answers, response: Response) {
    let text = serde_json::to_string(&response).unwrap_or_default();
    let fault = match text.len() {
        0 => Some(Error::new(ErrorKind::Internal, "the answer cannot be written as JSON")),
        bytes if bytes > MAX_MESSAGE_BYTES => Some(Error::new(
            ErrorKind::TooLarge,
            format!(
                "the answer has {bytes} bytes, a message has at most {MAX_MESSAGE_BYTES}; ask for fewer memories"
            ),
        )),
        _ => None,
    };
    let line = match fault {
        Some(error) => serde_json::to_string(&Response::failed(response.id, error)).unwrap_or_default(),
        None => text,
    };
    // Fails only when the connection is closing, and then nobody reads it.
    let _ = answers.send(line).await;
}

/// Tokens that trickle back: [`Limits::burst`] at most, [`Limits::per_second`] in the long run.
struct Rate {
    limits: Limits,
    tokens: f64,
    at: Instant,
}

impl Rate {
    fn new(limits: Limits) -> Self {
        Self { limits, tokens: f64::from(limits.burst), at: Instant::now() }
    }

    fn admits(&mut self, now: Instant) -> bool {
        let back = now.saturating_duration_since(self.at).as_secs_f64() * f64::from(self.limits.per_second);
        self.tokens = (self.tokens + back).min(f64::from(self.limits.burst));
        self.at = now;
        let admitted = self.tokens >= 1.0;
        if admitted {
            self.tokens -= 1.0;
        }
        admitted
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_burst_is_admitted_and_then_as_many_as_trickle_back() {
        let mut rate = Rate::new(Limits { burst: 3, per_second: 2, ..Limits::default() });
        let start = rate.at;
        let admitted = |rate: &mut Rate, now| (0..10).filter(|_| rate.admits(now)).count();
        assert_eq!(admitted(&mut rate, start), 3);
        assert_eq!(admitted(&mut rate, start + Duration::from_secs(1)), 2);
        assert_eq!(admitted(&mut rate, start + Duration::from_secs(60)), 3);
    }
}
