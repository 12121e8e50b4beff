//! Points at which a test may kill the daemon, to show that what is half done is done in full later.

/// Ends the process as a crash would, if it was told to by `OCMEMD_TEST_FAULT=<name>`. Release builds have no such points.
///
/// Names read `<act>.<what has just been done>`, such as `rollup.page_written`.
pub fn point(name: &str) {
    if cfg!(debug_assertions) && std::env::var_os("OCMEMD_TEST_FAULT").is_some_and(|fault| fault == name) {
        std::process::abort();
    }
}
