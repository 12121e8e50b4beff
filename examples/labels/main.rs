//! Measures what the daemon makes of labelled notes and conversations.
//!
//! `cargo run --release --example labels -- weeks DIR [--model FOLDER] [--cache DIR] [--json FILE] [--dump DIR]`

mod embedded;
mod normal;
mod recipes;
#[path = "../eval/vectors.rs"]
mod vectors;
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
