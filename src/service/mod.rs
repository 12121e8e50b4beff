//! The use cases: what the daemon does for somebody, built from the adapters below and without a socket in sight.

pub mod forget;
pub mod ingest;
pub mod look;
pub mod remember;
pub mod vectors;
