//! ocmemd: memory that lasts for an OpenClaw agent, on the user's own machine.
//!
//! The library is laid out in floors; a module imports only from lower floors, and modules of one floor do not
//! import each other. `ARCHITECTURE.md` draws the house and `tests/suite/layers.rs` keeps it standing.
#![warn(missing_docs)]

// F0
pub mod clock;
// F1
pub mod memory;
// F3
pub mod store;
