//! ocmemd: memory that lasts for an OpenClaw agent, on the user's own machine.
//!
//! The library is laid out in floors; a module imports only from lower floors, and modules of one floor do not
//! import each other. `ARCHITECTURE.md` draws the house and `tests/suite/layers.rs` keeps it standing.
#![warn(missing_docs)]
#![warn(clippy::unwrap_used, clippy::expect_used)]

rust_i18n::i18n!("src/cli/locales", fallback = "en");

// F0
pub mod checksum;
pub mod clock;
pub mod fault;
pub mod paths;
// F1
pub mod memory;
// F2
pub mod config;
pub mod telemetry;
pub mod wire;
// F3
pub mod embed;
pub mod hub;
pub mod schedule;
pub mod socket;
pub mod store;
pub mod watch;
pub mod workspace;
// F4
pub mod client;
pub mod service;
// F5
pub mod daemon;
// F6
pub mod cli;
