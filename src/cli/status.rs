//! `status`: is all well, and what to do if not.

use std::time::{Duration, Instant};

use anyhow::Result;
use chrono::{DateTime, Utc};

use super::app::App;
use super::args::StatusArgs;
use super::exit::{Exit, NotRunning};
use super::lang::Lang;
use super::render::{DIM, GOOD, STRONG, WARN, leg_name};
use crate::client::check_protocol;
use crate::memory::due::{JobKind, Outcome};
use crate::wire::PROTOCOL;
use crate::wire::methods::{Method, StatusParams};
use crate::wire::status::{
    Advice, AdviceCode, CalendarStatus, Conversations, Daemon, JobStatus, Percentiles, RunStatus, State,
    Status, WorkspaceStatus,
};

pub(super) async fn run(app: &App, args: &StatusArgs) -> Result<Exit> {
    let status = match args.wait {
        Some(seconds) => wait(app, Duration::from_secs(seconds)).await?,
        None => ask(app).await?,
    };
    app.answer(&status, || text(app.lang, &status))?;
    Ok(match status.state {
        State::Ok => Exit::Well,
        State::Degraded => Exit::Degraded,
        State::NotRunning => Exit::NotRunning,
    })
}

/// The daemon's answer; where there is none, that is the status.
async fn ask(app: &App) -> Result<Status> {
    let asked: Result<Status> = app.call(Method::Status, &StatusParams {}).await;
    match asked {
        Ok(status) => {
            check_protocol(status.protocol)?;
            Ok(status)
        }
        Err(error) if error.is::<NotRunning>() => not_running(app),
        Err(error) => Err(error),
    }
}

fn not_running(app: &App) -> Result<Status> {
    let socket = app.socket()?.display().to_string();
    let detail = [("socket".to_owned(), socket.clone())].into();
    Ok(Status {
        state: State::NotRunning,
        version: env!("CARGO_PKG_VERSION").to_owned(),
        protocol: PROTOCOL,
        socket,
        daemon: None,
        advice: vec![Advice { code: AdviceCode::NotRunning, degrades: false, detail }],
    })
}

/// Asks until nothing is under way any more, or the time is over.
async fn wait(app: &App, limit: Duration) -> Result<Status> {
    let spinner = app.spinner(&app.lang.say("status.waiting", &[]));
    let start = Instant::now();
    loop {
        let status = ask(app).await?;
        if is_settled(&status) || start.elapsed() >= limit {
            spinner.finish_and_clear();
            return Ok(status);
        }
        tokio::time::sleep(Duration::from_millis(250)).await;
    }
}

/// Whether the daemon runs, has compared the files once, and neither loads a model nor makes vectors.
fn is_settled(status: &Status) -> bool {
    let under_way = [AdviceCode::ModelLoading, AdviceCode::Waiting, AdviceCode::Rebuilding];
    let without_model = status
        .advice
        .iter()
        .any(|advice| matches!(advice.code, AdviceCode::NoModel | AdviceCode::ModelFailed));
    let Some(daemon) = &status.daemon else { return false };
    daemon.watch.last_reconcile_at.is_some()
        && (without_model
            || daemon.memories.waiting == 0
                && !status.advice.iter().any(|advice| under_way.contains(&advice.code)))
}

/// The page.
fn text(lang: Lang, status: &Status) -> String {
    let (style, key) = match status.state {
        State::Ok => (GOOD, "status.ok"),
        State::Degraded => (WARN, "status.degraded"),
        State::NotRunning => (WARN, "status.not_running"),
    };
    let mut lines = vec![format!("{style}{}{style:#}  ocmemd {}", lang.say(key, &[]), status.version)];
    lines.extend(status.advice.iter().map(|one| format!("{WARN}→{WARN:#} {}", advice(lang, one))));
    let rows = match &status.daemon {
        Some(daemon) => rows(lang, status, daemon),
        None => vec![("status.socket", status.socket.clone())],
    };
    for (key, value) in rows {
        let label = lang.say(key, &[]);
        lines.push(format!(
            "{STRONG}{label}{STRONG:#}{}{value}",
            " ".repeat(14usize.saturating_sub(width(&label)))
        ));
    }
    lines.join("\n")
}

/// Columns on a terminal: Chinese characters take two.
fn width(text: &str) -> usize {
    text.chars().map(|c| if c.is_ascii() { 1 } else { 2 }).sum()
}

fn rows(lang: Lang, status: &Status, daemon: &Daemon) -> Vec<(&'static str, String)> {
    let mut rows = vec![("status.process", process(lang, daemon))];
    if let Some(clock) = daemon.test_clock {
        rows.push(("status.clock", lang.say("status.clock_line", &[("at", &moment(clock))])));
    }
    for workspace in &daemon.workspaces {
        rows.push(("status.workspace", workspace_line(lang, workspace)));
        for skipped in &workspace.skipped {
            rows.push(("status.skipped", format!("{}: {}", skipped.file, skipped.reason)));
        }
        for secret in &workspace.secrets {
            rows.push(("status.secret", format!("{}:{} ({})", secret.file, secret.line, secret.kind)));
        }
    }
    rows.push(("status.watch", watch_line(lang, daemon)));
    rows.push(("status.memories", memories_line(lang, daemon)));
    for job in daemon.calendar.iter().flat_map(|calendar| &calendar.jobs) {
        let key = match job.job {
            JobKind::Rollup => "status.rollup",
            JobKind::Sweep => "status.sweep",
        };
        rows.push((key, job_line(lang, daemon.calendar.as_ref(), job)));
    }
    rows.push(("status.conversations", conversations_line(lang, daemon)));
    rows.push(("status.model", model_line(lang, daemon)));
    rows.push(("status.store", store_line(lang, daemon)));
    rows.push(("status.socket", status.socket.clone()));
    rows.push(("status.latency", latency_line(lang, daemon)));
    rows.push(("status.legs", legs_line(lang, daemon)));
    for error in &daemon.errors {
        rows.push(("status.error", format!("{} {}: {}", moment(error.at), error.during, error.message)));
    }
    rows
}

fn process(lang: Lang, daemon: &Daemon) -> String {
    let (pid, uptime) = (daemon.pid.to_string(), duration(daemon.uptime_s));
    let started = moment(daemon.started_at);
    let values = [("pid", &*pid), ("uptime", &*uptime), ("started", &*started), ("binary", &*daemon.binary)];
    lang.say("status.process_line", &values)
}

fn workspace_line(lang: Lang, workspace: &WorkspaceStatus) -> String {
    let numbers =
        [workspace.files, workspace.entries_on_disk, workspace.entries_indexed].map(|n| n.to_string());
    let values = [
        ("root", &*workspace.root),
        ("owner", &*workspace.owner),
        ("files", &*numbers[0]),
        ("on_disk", &*numbers[1]),
        ("indexed", &*numbers[2]),
    ];
    let key = if workspace.reachable { "status.workspace_line" } else { "status.workspace_away" };
    lang.say(key, &values)
}

fn watch_line(lang: Lang, daemon: &Daemon) -> String {
    let never = || lang.say("status.never", &[]);
    let event = daemon.watch.last_event_at.map_or_else(never, moment);
    let reconcile = daemon.watch.last_reconcile_at.map_or_else(never, moment);
    let values = [("mode", &*daemon.watch.mode), ("event", &*event), ("reconcile", &*reconcile)];
    lang.say("status.watch_line", &values)
}

fn memories_line(lang: Lang, daemon: &Daemon) -> String {
    let (indexed, waiting) = (daemon.memories.indexed.to_string(), daemon.memories.waiting.to_string());
    let mut line = lang.say("status.memories_line", &[("indexed", &indexed), ("waiting", &waiting)]);
    if let Some(left) = daemon.memories.rebuilding {
        line.push_str(&lang.say("status.memories_rebuilding", &[("left", &left.to_string())]));
    }
    line
}

/// When a job runs next, and how it went the last time, on the wall clock that it follows.
fn job_line(lang: Lang, calendar: Option<&CalendarStatus>, job: &JobStatus) -> String {
    let zone = calendar.and_then(|calendar| calendar.zone.parse().ok()).unwrap_or(chrono_tz::Tz::UTC);
    let shown = |at: Option<DateTime<Utc>>| {
        at.map_or_else(
            || "-".to_owned(),
            |at| at.with_timezone(&zone).format("%Y-%m-%d %H:%M %Z").to_string(),
        )
    };
    let last = job.failing.as_ref().or(job.last.as_ref());
    let last =
        last.map_or_else(|| lang.say("status.never", &[]), |run| run_line(lang, run, &shown(run.ended_at)));
    let values = [("root", &*job.workspace), ("next", &*shown(job.next)), ("last", &*last)];
    lang.say("status.job_line", &values)
}

fn run_line(lang: Lang, run: &RunStatus, ended: &str) -> String {
    let outcome = lang.say(
        match run.outcome {
            Outcome::Running => "status.run_running",
            Outcome::Done => "status.run_done",
            Outcome::Failed => "status.run_failed",
            Outcome::Early => "status.run_early",
        },
        &[],
    );
    let line = format!("{} {outcome} ({ended})", run.period);
    if run.detail.is_empty() { line } else { format!("{line}: {}", run.detail) }
}

fn conversations_line(lang: Lang, daemon: &Daemon) -> String {
    let Conversations { sessions, messages, jobs } = daemon.conversations;
    let [sessions, messages, jobs] = [sessions, messages, jobs].map(|number| number.to_string());
    let values = [("sessions", &*sessions), ("messages", &*messages), ("jobs", &*jobs)];
    lang.say("status.conversations_line", &values)
}

fn model_line(lang: Lang, daemon: &Daemon) -> String {
    let Some(model) = &daemon.model else { return lang.say("status.no_model", &[]) };
    let (dimension, load) = (model.dimension.to_string(), model.load_ms.to_string());
    let hash: String = model.hash.chars().take(12).collect();
    let values = [
        ("name", &*model.name),
        ("hash", &*hash),
        ("dimension", &*dimension),
        ("precision", &*model.precision),
        ("source", &*model.source),
        ("load", &*load),
    ];
    lang.say("status.model_line", &values)
}

fn store_line(lang: Lang, daemon: &Daemon) -> String {
    let size = indicatif::HumanBytes(daemon.store.bytes).to_string();
    let schema = daemon.store.schema.to_string();
    let generation = daemon.store.generation.map_or_else(|| "-".to_owned(), |number| number.to_string());
    let values =
        [("path", &*daemon.store.path), ("size", &*size), ("schema", &*schema), ("generation", &*generation)];
    lang.say("status.store_line", &values)
}

fn latency_line(lang: Lang, daemon: &Daemon) -> String {
    let one = |name: &str, measured: &Percentiles| match measured.count {
        0 => format!("{name} -"),
        count => format!("{name} {:.1}/{:.1} ms (n={count})", measured.p50_ms, measured.p95_ms),
    };
    let latency = &daemon.latency;
    let all =
        [one("context", &latency.context), one("search", &latency.search), one("embed", &latency.embed)];
    lang.say("status.latency_line", &[("all", &all.join(", "))])
}

fn legs_line(lang: Lang, daemon: &Daemon) -> String {
    let one = |leg: &crate::wire::status::LegStatus| {
        let name = leg_name(lang, leg.leg);
        match (leg.works, &leg.why_not) {
            (true, _) => format!("{GOOD}✓{GOOD:#} {name}"),
            (false, why) => format!("{WARN}✗{WARN:#} {name} {DIM}({}){DIM:#}", why.as_deref().unwrap_or("?")),
        }
    };
    daemon.legs.iter().map(one).collect::<Vec<_>>().join("  ")
}

/// What is not well and what to do, in one line.
fn advice(lang: Lang, advice: &Advice) -> String {
    let code = serde_json::to_value(advice.code).ok();
    let key = format!("advice.{}", code.as_ref().and_then(|code| code.as_str()).unwrap_or_default());
    let values: Vec<(&str, &str)> =
        advice.detail.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    lang.say(&key, &values)
}

/// A moment on the wall clock of whoever reads.
fn moment(at: DateTime<Utc>) -> String {
    at.with_timezone(&chrono::Local).format("%Y-%m-%d %H:%M:%S").to_string()
}

fn duration(seconds: u64) -> String {
    let (days, hours, minutes) = (seconds / 86_400, seconds / 3600 % 24, seconds / 60 % 60);
    match (days, hours, minutes) {
        (0, 0, 0) => format!("{seconds} s"),
        (0, 0, minutes) => format!("{minutes} min {} s", seconds % 60),
        (0, hours, minutes) => format!("{hours} h {minutes} min"),
        (days, hours, _) => format!("{days} d {hours} h"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every code with the details that the wire promises; a new code does not compile until it is listed.
    fn details(code: AdviceCode) -> &'static [&'static str] {
        match code {
            AdviceCode::NotRunning => &["socket"],
            AdviceCode::NoModel
            | AdviceCode::ModelFailed
            | AdviceCode::WatchPolling
            | AdviceCode::StoreFailing => &["reason"],
            AdviceCode::ModelLoading | AdviceCode::NoWorkspace => &[],
            AdviceCode::Rebuilding => &["left"],
            AdviceCode::Waiting => &["waiting"],
            AdviceCode::WorkspaceUnreachable => &["root", "reason"],
            AdviceCode::DeletionsHeld => &["root", "count"],
            AdviceCode::WorkspaceUnlisted => &["root", "owner", "count"],
            AdviceCode::FilesSkipped => &["root", "file", "reason", "count"],
            AdviceCode::SecretsInFiles => &["root", "file", "line", "kind", "count"],
            AdviceCode::StoreRepaired => &["what"],
            AdviceCode::JobFailed => &["job", "period", "root", "reason", "failures", "retry"],
            AdviceCode::ClockDoubted => &["hours", "until"],
        }
    }

    const CODES: [AdviceCode; 17] = [
        AdviceCode::NotRunning,
        AdviceCode::NoModel,
        AdviceCode::WorkspaceUnlisted,
        AdviceCode::ModelLoading,
        AdviceCode::ModelFailed,
        AdviceCode::Rebuilding,
        AdviceCode::Waiting,
        AdviceCode::WorkspaceUnreachable,
        AdviceCode::NoWorkspace,
        AdviceCode::DeletionsHeld,
        AdviceCode::FilesSkipped,
        AdviceCode::SecretsInFiles,
        AdviceCode::WatchPolling,
        AdviceCode::StoreRepaired,
        AdviceCode::StoreFailing,
        AdviceCode::JobFailed,
        AdviceCode::ClockDoubted,
    ];

    #[test]
    fn every_advice_is_one_whole_sentence_in_both_languages() {
        for code in CODES {
            let detail = details(code).iter().map(|name| ((*name).to_owned(), format!("«{name}»"))).collect();
            let one = Advice { code, degrades: true, detail };
            for lang in [Lang::Zh, Lang::En] {
                let text = advice(lang, &one);
                assert!(!text.starts_with("advice.") && !text.contains("%{"), "{code:?}: {text}");
                assert!(text.ends_with(['。', '.']) && !text.contains('\n'), "{code:?}: {text}");
            }
        }
    }

    fn status(advice: &[AdviceCode], waiting: u64) -> Status {
        let daemon = serde_json::json!({
            "pid": 7, "binary": "/bin/ocmemd", "started_at": "2026-03-07T06:00:00Z", "uptime_s": 3720,
            "test_clock": "2026-03-15T12:00:00Z",
            "calendar": { "zone": "Asia/Shanghai", "jobs": [
                { "job": "rollup", "workspace": "/笔记", "next": "2026-03-15T15:59:00Z",
                    "last": { "period": "2026-W10", "outcome": "done", "started_at": "2026-03-08T15:59:00Z",
                        "ended_at": "2026-03-08T15:59:02Z", "detail": "7 天", "failures": 0 } },
                { "job": "sweep", "workspace": "/笔记", "next": "2026-03-09T20:34:00Z",
                    "failing": { "period": "2026-03-09", "outcome": "failed", "started_at": "2026-03-08T20:30:00Z",
                        "ended_at": "2026-03-08T20:30:02Z", "detail": "磁盘已满", "failures": 3,
                        "retry_at": "2026-03-08T20:34:00Z" } }] },
            "workspaces": [{ "root": "/笔记", "owner": "小明", "reachable": true, "files": 3,
                "entries_on_disk": 12, "entries_indexed": 12,
                "skipped": [{ "file": "memory/大.md", "reason": "太大" }], "skipped_count": 1,
                "secrets": [{ "file": "USER.md", "line": 4, "kind": "api_key" }], "secrets_count": 1, "held_deletions": 0 }],
            "watch": { "mode": "inotify", "last_reconcile_at": "2026-03-07T06:00:01Z" },
            "memories": { "indexed": 12, "waiting": waiting },
            "model": { "name": "a/b", "hash": "0123456789abcdef", "dimension": 512, "source": "hub",
                "precision": "q8_0 / f32", "load_ms": 80 },
            "store": { "path": "/s/ocmemd.db", "bytes": 4096, "schema": 1, "generation": 1 },
            "latency": { "context": { "count": 2, "p50_ms": 3.25, "p95_ms": 8.0 },
                "search": { "count": 0, "p50_ms": 0.0, "p95_ms": 0.0 },
                "embed": { "count": 0, "p50_ms": 0.0, "p95_ms": 0.0 } },
            "legs": [{ "leg": "vector", "works": true },
                { "leg": "keyword", "works": false, "why_not": "坏了" }],
            "errors": [{ "at": "2026-03-07T06:00:01Z", "during": "读取", "message": "无权限" }]
        });
        let one = |code: &AdviceCode| Advice { code: *code, degrades: true, detail: Default::default() };
        Status {
            state: if advice.is_empty() { State::Ok } else { State::Degraded },
            version: "1".to_owned(),
            protocol: PROTOCOL,
            socket: "/r/s".to_owned(),
            daemon: Some(serde_json::from_value(daemon).unwrap()),
            advice: advice.iter().map(one).collect(),
        }
    }

    #[test]
    fn the_page_shows_everything_that_the_daemon_tells() {
        for lang in [Lang::Zh, Lang::En] {
            let page =
                anstream::adapter::strip_str(&text(lang, &status(&[AdviceCode::NoWorkspace], 1))).to_string();
            for part in [
                "7",
                "/bin/ocmemd",
                "1 h 2 min",
                "/笔记",
                "小明",
                "12",
                "memory/大.md: 太大",
                "USER.md:4 (api_key)",
                "inotify",
                "a/b",
                "0123456789ab",
                "512",
                "q8_0",
                "80",
                "/s/ocmemd.db",
                "4.00 KiB",
                "/r/s",
                "context 3.2/8.0 ms",
                "search -",
                "坏了",
                "读取: 无权限",
                "→ ",
                "2026-03-15 23:59 CST",
                "2026-W10",
                "(2026-03-08 23:59 CST): 7 天",
                "2026-03-09",
                "磁盘已满",
                "2026-03-15",
            ] {
                assert!(page.contains(part), "lacks {part}:\n{page}");
            }
        }
    }

    #[test]
    fn it_is_settled_once_nothing_is_under_way() {
        assert!(is_settled(&status(&[], 0)));
        assert!(!is_settled(&status(&[], 3)));
        assert!(!is_settled(&status(&[AdviceCode::ModelLoading], 0)));
        assert!(is_settled(&status(&[AdviceCode::NoModel], 3)));
    }
}
