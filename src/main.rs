//! The binary: everything is in the library.

use std::process::ExitCode;

use ocmemd::cli::Cli;

fn main() -> ExitCode {
    match Cli::read(std::env::args_os().collect()) {
        Ok(cli) => {
            if cli.is_daemon() {
                keep_matrices_on_one_thread();
            }
            cli.run()
        }
        Err(code) => code,
    }
}

/// The model's two threads are the daemon's parallelism: pools of their own below them would make queries wait for
/// indexing. The libraries read these variables once, before their first multiplication.
#[allow(unsafe_code)]
fn keep_matrices_on_one_thread() {
    for name in ["CANDLE_NUM_THREADS", "RAYON_NUM_THREADS"] {
        if std::env::var_os(name).is_none() {
            // SAFETY: called first thing in `main`, before any other thread exists that could read the environment.
            unsafe { std::env::set_var(name, "1") };
        }
    }
}
