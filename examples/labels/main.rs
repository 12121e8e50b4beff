//! Measures what the daemon makes of labelled notes and conversations.
//!
//! `cargo run --release --example labels -- weeks DIR [--model FOLDER] [--json FILE] [--dump DIR]`

mod normal;
mod recipes;
mod weeks;

use anyhow::Result;
use clap::{Parser, Subcommand};

/// Measures what the daemon makes of labelled notes and conversations.
#[derive(Parser)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Rolls up labelled weeks and scores their pages and `MEMORY.md`.
    Weeks(weeks::Arguments),
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<()> {
    match Arguments::parse().command {
        Command::Weeks(arguments) => weeks::run(&arguments).await,
    }
}
