//! The daemon's socket: where it lies, who may have it, and the lines that go over it.
//!
//! One JSON-RPC 2.0 message a line (see [`crate::wire`]), between processes of one user. What a connection may cost is
//! bounded on every side ([`Limits`]): the length and depth of a message, the requests in flight (more are not read until
//! one is answered), the requests per second, the answers that wait for a slow reader, the number of connections.
//! A request is a task; it is dropped when its client goes away, and its panic is an `internal` error of that request alone.

pub mod listener;
pub mod lock;
pub mod place;
pub mod server;

mod connection;
mod lines;

pub use lines::{Line, Lines};
pub use listener::{BindError, Bound};
pub use lock::{Lock, LockError};
pub use server::{Handler, Limits, serve};
