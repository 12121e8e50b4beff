//! JSON-RPC 2.0: requests, responses, notifications and errors.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A request's id, given back with its answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Id {
    /// A whole number.
    Number(i64),
    /// A text.
    Text(String),
    /// Unknown: only in answers to what could not be read.
    Null,
}

/// A request as it is sent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Request {
    /// Always `2.0`.
    pub jsonrpc: Version,
    /// The request's id.
    pub id: Id,
    /// The method's name.
    pub method: String,
    /// Its parameters, an object.
    #[serde(default)]
    pub params: Value,
}

/// An answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Response {
    /// Always `2.0`.
    pub jsonrpc: Version,
    /// The id of the request.
    pub id: Id,
    /// What came of it.
    #[serde(flatten)]
    pub outcome: Outcome,
}

/// What came of a request.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// It was done.
    Result(Value),
    /// It was not.
    Error(Error),
}

/// A message nobody asked for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Notification<T> {
    /// Always `2.0`.
    pub jsonrpc: Version,
    /// What it is: `event`.
    pub method: String,
    /// What it says.
    pub params: T,
}

/// The version of JSON-RPC, `2.0` and nothing else.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Version {
    /// The only one.
    #[default]
    #[serde(rename = "2.0")]
    V2,
}

/// Why a request was not done.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema, thiserror::Error)]
#[error("{message}")]
pub struct Error {
    /// The JSON-RPC code.
    pub code: i32,
    /// For a person: what is wrong, the limit, the way out.
    pub message: String,
    /// For a program.
    pub data: ErrorData,
}

/// What a program may rely on in an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct ErrorData {
    /// A stable word.
    pub kind: ErrorKind,
}

/// The stable words for errors.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ErrorKind {
    /// Not JSON.
    Parse,
    /// Not a request.
    InvalidRequest,
    /// No such method.
    UnknownMethod,
    /// Wrong parameters; the message names them.
    InvalidParams,
    /// Longer than the limit.
    TooLarge,
    /// Too many at once; try again.
    Busy,
    /// No such memory of this user.
    NotFound,
    /// The user's files cannot be read or written now.
    Workspace,
    /// The disk is full.
    StorageFull,
    /// The database failed.
    Storage,
    /// The daemon is going.
    ShuttingDown,
    /// A fault of ours.
    Internal,
}

impl ErrorKind {
    /// The JSON-RPC code: the specification's own where it has one, else one of the server range.
    pub fn code(self) -> i32 {
        match self {
            Self::Parse => -32700,
            Self::InvalidRequest => -32600,
            Self::UnknownMethod => -32601,
            Self::InvalidParams => -32602,
            Self::Internal => -32603,
            Self::TooLarge => -32001,
            Self::Busy => -32002,
            Self::NotFound => -32003,
            Self::Workspace => -32004,
            Self::StorageFull => -32005,
            Self::Storage => -32006,
            Self::ShuttingDown => -32007,
        }
    }
}

impl Response {
    /// The answer to a request that was not done.
    pub fn failed(id: Id, error: Error) -> Self {
        Self { jsonrpc: Version::V2, id, outcome: Outcome::Error(error) }
    }

    /// The answer to a request, done or not.
    pub fn new(id: Id, outcome: Result<Value, Error>) -> Self {
        match outcome {
            Ok(result) => Self { jsonrpc: Version::V2, id, outcome: Outcome::Result(result) },
            Err(error) => Self::failed(id, error),
        }
    }
}

impl Error {
    /// An error of that kind.
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self { code: kind.code(), message: message.into(), data: ErrorData { kind } }
    }
}
