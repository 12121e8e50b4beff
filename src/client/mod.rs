//! Asks the daemon: one connection, one request at a time, each with a deadline.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use futures::{SinkExt, StreamExt};
use interprocess::local_socket::tokio::Stream;
use interprocess::local_socket::traits::tokio::Stream as _;
use interprocess::local_socket::{GenericFilePath, ToFsName};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use tokio::time::timeout;
use tokio_util::codec::Framed;

use crate::socket::{Line, Lines};
use crate::wire::methods::{SubscribeParams, SubscribeResult};
use crate::wire::{Event, Id, MAX_MESSAGE_BYTES, Method, Outcome, PROTOCOL, Request, Response, Version};

/// How long an answer is waited for unless [`Client::with_deadline`] says otherwise.
pub const DEADLINE: Duration = Duration::from_secs(30);

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    /// Nobody listens there.
    #[error("ocmemd is not running: nobody answers on {}; start it with `ocmemd daemon`", socket.display())]
    NotRunning {
        /// The socket that was tried.
        socket: PathBuf,
    },
    /// The daemon answered with an error.
    #[error(transparent)]
    Rpc(#[from] crate::wire::Error),
    /// There was no answer in time; the daemon may still be doing what was asked.
    #[error("ocmemd did not answer `{}` within {} s", method.name(), deadline.as_secs_f32())]
    Timeout {
        /// What was asked.
        method: Method,
        /// How long was waited.
        deadline: Duration,
    },
    /// The request or the answer does not fit the protocol.
    #[error("the message does not fit the protocol: {0}")]
    Message(String),
    /// Daemon and client come from versions that do not understand each other.
    #[error(
        "the daemon speaks protocol {daemon}, this program {PROTOCOL}; restart the daemon after an update"
    )]
    Protocol {
        /// The daemon's.
        daemon: u32,
    },
    /// The connection broke.
    #[error("the connection to ocmemd broke")]
    Io(#[from] io::Error),
}

/// Checks the protocol that `status` reports.
///
/// # Errors
/// [`ClientError::Protocol`] where it is not ours.
pub fn check_protocol(daemon: u32) -> Result<(), ClientError> {
    if daemon == PROTOCOL { Ok(()) } else { Err(ClientError::Protocol { daemon }) }
}

/// A connection to the daemon.
#[derive(Debug)]
pub struct Client {
    lines: Framed<Stream, Lines>,
    last_id: i64,
    deadline: Duration,
}

impl Client {
    /// Connects to the socket at that path.
    ///
    /// # Errors
    /// [`ClientError::NotRunning`] where there is no socket or nobody behind it, [`ClientError::Io`] for all else.
    pub async fn connect(socket: &Path) -> Result<Self, ClientError> {
        let name = socket.to_fs_name::<GenericFilePath>()?;
        match Stream::connect(name).await {
            Ok(stream) => {
                Ok(Self { lines: Framed::new(stream, Lines::default()), last_id: 0, deadline: DEADLINE })
            }
            Err(error)
                if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::ConnectionRefused) =>
            {
                Err(ClientError::NotRunning { socket: socket.to_owned() })
            }
            Err(error) => Err(error.into()),
        }
    }

    /// Waits that long for each answer.
    pub fn with_deadline(self, deadline: Duration) -> Self {
        Self { deadline, ..self }
    }

    /// Asks, and waits for the answer.
    ///
    /// # Errors
    /// [`ClientError`]; after a [`ClientError::Timeout`] the connection can still be used.
    pub async fn call<P: Serialize, R: DeserializeOwned>(
        &mut self,
        method: Method,
        params: &P,
    ) -> Result<R, ClientError> {
        let deadline = self.deadline;
        let result = timeout(deadline, self.ask(method, params)).await;
        let result = result.map_err(|_| ClientError::Timeout { method, deadline })??;
        serde_json::from_value(result).map_err(message)
    }

    /// Asks for events from now on; the connection serves nothing else afterwards.
    ///
    /// # Errors
    /// [`ClientError`].
    pub async fn subscribe(mut self) -> Result<Events, ClientError> {
        let _: SubscribeResult = self.call(Method::Subscribe, &SubscribeParams {}).await?;
        Ok(Events { lines: self.lines })
    }

    async fn ask(&mut self, method: Method, params: &impl Serialize) -> Result<Value, ClientError> {
        self.last_id += 1;
        let id = Id::Number(self.last_id);
        let params = serde_json::to_value(params).map_err(message)?;
        let request =
            Request { jsonrpc: Version::V2, id: id.clone(), method: method.name().to_owned(), params };
        self.lines.send(serde_json::to_string(&request).map_err(message)?).await?;
        loop {
            let response: Response =
                serde_json::from_value(next(&mut self.lines).await?.ok_or_else(ended)?).map_err(message)?;
            match response.outcome {
                // What cannot be read, or is refused with the whole connection, has no id; here it can only be ours.
                Outcome::Error(error) if response.id == id || response.id == Id::Null => {
                    return Err(error.into());
                }
                Outcome::Result(result) if response.id == id => return Ok(result),
                // The late answer to a request whose deadline has passed.
                _ => {}
            }
        }
    }
}

/// What happens in the daemon, as it happens.
#[derive(Debug)]
pub struct Events {
    lines: Framed<Stream, Lines>,
}

impl Events {
    /// The next event; `None` when the daemon has closed the connection.
    ///
    /// # Errors
    /// [`ClientError::Io`] where the connection breaks, [`ClientError::Message`] where an event is not known.
    pub async fn next(&mut self) -> Result<Option<Event>, ClientError> {
        let Some(mut notification) = next(&mut self.lines).await? else { return Ok(None) };
        serde_json::from_value(notification["params"].take()).map(Some).map_err(message)
    }
}

async fn next(lines: &mut Framed<Stream, Lines>) -> Result<Option<Value>, ClientError> {
    match lines.next().await.transpose()? {
        None => Ok(None),
        Some(Line::Text(text)) => serde_json::from_str(&text).map(Some).map_err(message),
        Some(Line::TooLong) => Err(ClientError::Message(format!("more than {MAX_MESSAGE_BYTES} bytes"))),
        Some(Line::NotText) => Err(ClientError::Message("not UTF-8".into())),
    }
}

fn ended() -> io::Error {
    io::ErrorKind::UnexpectedEof.into()
}

fn message(error: serde_json::Error) -> ClientError {
    ClientError::Message(error.to_string())
}
