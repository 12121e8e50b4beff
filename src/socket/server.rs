//! Accepts connections until told to stop, and then lets what was begun come to its end.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use interprocess::local_socket::tokio::Stream;
use interprocess::local_socket::traits::StreamCommon;
use interprocess::local_socket::traits::tokio::Listener as _;
use serde_json::Value;
use tokio::io::AsyncWriteExt;
use tokio::sync::broadcast;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use super::connection::Connection;
use super::listener::{Bound, own_uid};
use super::lock::Lock;
use crate::wire::{Error, ErrorKind, Event, Id, Method, Response};

/// Who does what is asked for.
pub trait Handler: Send + Sync + 'static {
    /// Does it. The future is dropped when the client goes away, and its panic becomes an `internal` error.
    /// Never called with [`Method::Subscribe`], which the socket answers itself.
    fn call(&self, method: Method, params: Value) -> impl Future<Output = Result<Value, Error>> + Send;

    /// What subscribers are told from now on. The channel is bounded: who is too slow gets [`Event::Missed`].
    fn events(&self) -> broadcast::Receiver<Event>;
}

/// What the socket's users may cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Connections at once; one more is told `busy` and closed.
    pub connections: usize,
    /// Requests in flight on one connection; the next is not read before one is answered.
    pub in_flight: usize,
    /// Requests a second on one connection, in the long run; one more is answered `busy`.
    pub per_second: u32,
    /// Requests that may come at once on a connection that was quiet.
    pub burst: u32,
    /// Answers and events of one connection that wait to be written.
    pub queue: usize,
    /// How long a stopping daemon waits for the requests in flight.
    pub drain: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            connections: 256,
            in_flight: 64,
            per_second: 1_000,
            burst: 4_000,
            queue: 64,
            drain: Duration::from_secs(10),
        }
    }
}

/// Serves a socket until `shutdown`; then closes it to newcomers, gives the requests in flight [`Limits::drain`] to end,
/// and returns the lock, so that the caller decides when the next daemon may come.
///
/// Subscribers are told [`Event::Stopping`] when `shutdown` comes.
pub async fn serve<H: Handler>(
    bound: Bound,
    handler: Arc<H>,
    limits: Limits,
    shutdown: CancellationToken,
) -> Lock {
    let Bound { listener, lock } = bound;
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            biased;
            () = shutdown.cancelled() => break,
            Some(_) = connections.join_next() => {}
            accepted = listener.accept() => match accepted.and_then(only_own) {
                Ok(stream) if connections.len() >= limits.connections => refuse(stream, limits.connections).await,
                Ok(stream) => {
                    let connection = Connection { handler: handler.clone(), limits, shutdown: shutdown.clone() };
                    connections.spawn(connection.run(stream));
                }
                Err(error) => {
                    tracing::warn!(%error, "a connection was not accepted");
                    // Out of file descriptors, say: asking again at once would only burn the processor.
                    tokio::time::sleep(Duration::from_millis(50)).await;
                }
            },
        }
    }
    drop(listener);
    let drained = async { while connections.join_next().await.is_some() {} };
    if tokio::time::timeout(limits.drain, drained).await.is_err() {
        tracing::warn!(left = connections.len(), "connections were cut off: their requests took too long");
    }
    lock
}

/// The folder and the mode keep others out already; this holds even where somebody loosened them.
fn only_own(stream: Stream) -> io::Result<Stream> {
    match stream.peer_creds()?.euid() {
        Some(uid) if uid == own_uid() => Ok(stream),
        _ => Err(io::Error::new(io::ErrorKind::PermissionDenied, "the peer is another user")),
    }
}

async fn refuse(mut stream: Stream, limit: usize) {
    let message = format!("{limit} connections are open, which is the limit; close one or try again later");
    let refusal = Response::failed(Id::Null, Error::new(ErrorKind::Busy, message));
    if let Ok(mut line) = serde_json::to_string(&refusal) {
        line.push('\n');
        // A new connection's buffer is empty, so this does not wait; whoever left already misses nothing.
        let _ = stream.write_all(line.as_bytes()).await;
    }
}
