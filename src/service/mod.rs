//! The use cases: what the daemon does for somebody, built from the adapters below and without a socket in sight.

pub mod calendar;
pub mod calibrate;
pub mod clear;
pub mod context;
pub mod flush;
pub mod forget;
pub mod ingest;
pub mod lines;
pub mod look;
pub mod page;
pub mod promote;
pub mod recall;
pub mod remember;
pub mod rollup;
pub mod session;
pub mod sweep;
pub mod turn;
pub mod vectors;
pub mod week;
