//! The use cases: what the daemon does for somebody, built from the adapters below and without a socket in sight.

pub mod calibrate;
pub mod context;
pub mod forget;
pub mod ingest;
pub mod look;
pub mod recall;
pub mod remember;
pub mod session;
pub mod turn;
pub mod vectors;
