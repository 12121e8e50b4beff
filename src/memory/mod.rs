//! What a memory is and how it is read, cut, ranked and shown: pure functions and plain data, no input or output.

pub mod block;
pub mod calendar;
pub mod capture;
pub mod chunk;
pub mod conversation;
pub mod diff;
pub mod due;
pub mod entry;
pub mod expiry;
pub mod indexed;
pub mod layout;
pub mod managed;
pub mod markdown;
pub mod preview;
pub mod probes;
pub mod promote;
pub mod rank;
pub mod redact;
pub mod rollup;
pub mod scope;
pub mod segment;
pub mod statement;
pub mod summary;
pub mod tokens;
pub mod trust;
pub mod when;
pub mod window;
pub mod worth;

pub use entry::{Entry, Importance, Kind, Mark, Memory, MemoryId, NewMemory, Source};
pub use redact::Redacted;
pub use scope::{Audience, Scope, UserId};
