//! What a memory is and how it is read, cut, ranked and shown: pure functions and plain data, no input or output.

pub mod block;
pub mod calendar;
pub mod chunk;
pub mod conversation;
pub mod diff;
pub mod entry;
pub mod indexed;
pub mod layout;
pub mod managed;
pub mod markdown;
pub mod preview;
pub mod probes;
pub mod rank;
pub mod redact;
pub mod scope;
pub mod segment;
pub mod summary;
pub mod tokens;
pub mod window;

pub use entry::{Entry, Importance, Kind, Mark, Memory, MemoryId, NewMemory, Source};
pub use redact::Redacted;
pub use scope::{Audience, Scope, UserId};
