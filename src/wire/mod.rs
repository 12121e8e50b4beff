//! What is said on the socket: JSON-RPC 2.0, one message a line, UTF-8.
//!
//! A request is `{"jsonrpc":"2.0","id":1,"method":"search","params":{…}}`; its answer carries the same id and either
//! `result` or `error`. Many requests may be in flight on one connection, and answers come in any order. `subscribe`
//! is answered once and then followed by notifications `{"jsonrpc":"2.0","method":"event","params":{…}}`.
//! Errors carry the JSON-RPC code and, in `data.kind`, a stable word ([`ErrorKind`]).

pub mod clear;
pub mod envelope;
pub mod event;
pub mod flush;
pub mod method;
pub mod methods;
pub mod request;
pub mod rollup;
pub mod schema;
pub mod status;
pub mod sweep;
pub mod turn;

pub use envelope::{Error, ErrorKind, Id, Notification, Outcome, Request, Response, Version};
pub use event::Event;
pub use method::Method;
pub use request::parse_params;

/// The version of this protocol; it grows when a known method changes its meaning.
pub const PROTOCOL: u32 = 1;

/// The longest message, in bytes, its line end not counted.
pub const MAX_MESSAGE_BYTES: usize = 1 << 20;

/// The longest text that one request may carry, in characters.
pub const MAX_TEXT_CHARS: usize = 100_000;
