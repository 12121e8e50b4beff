//! Labelled weeks: `week-N/{memory/*.md, MEMORY.md, expect.json}`.

use std::collections::{BTreeMap, HashSet};
use std::fs;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use chrono_tz::Tz;
use ocmemd::clock::{Clock, Zone};
use ocmemd::embed::{self, Embedder, ModelFolder};
use ocmemd::memory::calendar::Week;
use ocmemd::memory::entry::ContentHash;
use ocmemd::memory::{UserId, layout, managed, promote};
use ocmemd::service::ingest::{Ingest, Reconcile};
use ocmemd::service::promote::Promote;
use ocmemd::service::rollup::Rollup;
use ocmemd::service::vectors::embed_some;
use ocmemd::service::week::Answering;
use ocmemd::store::Store;
use ocmemd::workspace::Workspace;
use serde::{Deserialize, Serialize};

use crate::normal::{holds, normal};
use crate::recipes;

/// What `weeks` is told.
#[derive(clap::Args)]
pub struct Arguments {
    /// The folder of the weeks.
    folder: PathBuf,
    /// The model's folder; without one words alone decide.
    #[arg(long, env = "OCMEMD_MODEL")]
    model: Option<PathBuf>,
    /// Writes the figures as JSON.
    #[arg(long)]
    json: Option<PathBuf>,
    /// Leaves the produced pages here.
    #[arg(long)]
    dump: Option<PathBuf>,
}

/// One wanted text, or any of several.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Wanted {
    One(String),
    Any(Vec<String>),
}

/// The labels of a week.
#[derive(Debug, Deserialize)]
struct Expect {
    week: String,
    must_keep: Vec<Wanted>,
    must_not_keep: Vec<Wanted>,
    #[serde(default)]
    merge: Vec<Vec<String>>,
    #[serde(default)]
    promote: Vec<Wanted>,
    #[serde(default)]
    not_promote: Vec<Wanted>,
    #[serde(default)]
    latest: BTreeMap<String, String>,
    #[serde(default)]
    archived: Vec<String>,
    #[serde(default)]
    already: Vec<String>,
    #[serde(default)]
    untouched: Vec<String>,
}

/// What a week became.
pub struct Produced {
    /// The weekly file.
    page: String,
    /// `MEMORY.md`.
    memory: String,
}

/// So many of so many.
#[derive(Debug, Clone, Copy, Default)]
struct Share {
    hits: usize,
    of: usize,
}

impl Share {
    fn count(&mut self, hit: bool) {
        self.hits += usize::from(hit);
        self.of += 1;
    }

    fn value(self) -> f64 {
        if self.of == 0 { 0.0 } else { self.hits as f64 / self.of as f64 }
    }
}

/// The figures of one week or of all.
#[derive(Debug, Clone, Default)]
struct Figures {
    page_chars: usize,
    note_chars: usize,
    must_keep: Share,
    must_not_keep: Share,
    merge: Share,
    promote: Share,
    not_promote: Share,
    already: Share,
    untouched: Share,
    latest: Share,
    /// Lines that say an old value as if it held, of the old values.
    archived: Share,
    misses: Vec<String>,
}

/// The figures as they are printed and written.
#[derive(Debug, Serialize)]
struct Report {
    name: String,
    length_ratio: f64,
    must_keep: f64,
    must_not_keep: f64,
    merge: f64,
    promote: f64,
    not_promote: f64,
    already: f64,
    untouched: f64,
    latest: f64,
    archived: f64,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    misses: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    weeks: Vec<Report>,
}

/// Rolls up and scores each `week-*` of the folder.
pub async fn run(arguments: &Arguments) -> Result<()> {
    let model = arguments.model.as_deref().map(load).transpose()?;
    let mut names: Vec<String> = fs::read_dir(&arguments.folder)
        .with_context(|| arguments.folder.display().to_string())?
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .filter(|name| name.starts_with("week-"))
        .collect();
    names.sort();
    if names.is_empty() {
        bail!("{} holds no week-* folder", arguments.folder.display());
    }
    let mut all = Figures::default();
    let mut weeks = Vec::new();
    for name in &names {
        let scratch = tempfile::tempdir()?;
        let labels = copy(&arguments.folder.join(name), scratch.path(), name)?;
        let expect: Expect = serde_json::from_str(&labels).with_context(|| format!("{name}/expect.json"))?;
        let before = fs::read_to_string(scratch.path().join("MEMORY.md")).unwrap_or_default();
        let notes = notes(scratch.path())?;
        let produced = produce(scratch.path(), expect.week.parse()?, model.as_ref()).await?;
        if let Some(folder) = &arguments.dump {
            let folder = folder.join(name);
            fs::create_dir_all(&folder)?;
            fs::write(folder.join("page.md"), &produced.page)?;
            fs::write(folder.join("MEMORY.md"), &produced.memory)?;
        }
        let figures = score(&expect, &notes, &before, &produced);
        all.add(&figures);
        weeks.push(figures.report(name));
    }
    let mut report = all.report("all");
    report.misses.clear();
    report.weeks = weeks;
    print(&report);
    if let Some(path) = &arguments.json {
        fs::write(path, serde_json::to_string_pretty(&report)?)
            .with_context(|| path.display().to_string())?;
    }
    Ok(())
}

fn load(folder: &Path) -> Result<Embedder> {
    let options = embed::Options { index_threads: NonZeroUsize::new(2).unwrap_or(NonZeroUsize::MIN) };
    Ok(Embedder::load(&ModelFolder::open(folder)?, options)?)
}

/// Copies a week with its recipes expanded and returns its labels, expanded alike.
fn copy(from: &Path, to: &Path, name: &str) -> Result<String> {
    fs::create_dir_all(to.join(layout::FOLDER))?;
    let mut files = vec![PathBuf::from("MEMORY.md")];
    for entry in fs::read_dir(from.join(layout::FOLDER))? {
        files.push(Path::new(layout::FOLDER).join(entry?.file_name()));
    }
    for file in files {
        let text = fs::read_to_string(from.join(&file)).with_context(|| file.display().to_string())?;
        fs::write(to.join(&file), recipes::expand(&text, name))?;
    }
    // A secret in a JSON string has to be escaped there.
    let labels = fs::read_to_string(from.join("expect.json"))?;
    let mut labels: serde_json::Value = serde_json::from_str(&labels)?;
    expand(&mut labels, name);
    Ok(labels.to_string())
}

fn expand(value: &mut serde_json::Value, name: &str) {
    match value {
        serde_json::Value::String(text) => *text = recipes::expand(text, name),
        serde_json::Value::Array(list) => list.iter_mut().for_each(|value| expand(value, name)),
        serde_json::Value::Object(map) => map.values_mut().for_each(|value| expand(value, name)),
        _ => {}
    }
}

/// The daily notes, by name.
fn notes(workspace: &Path) -> Result<BTreeMap<String, String>> {
    let mut notes = BTreeMap::new();
    for entry in fs::read_dir(workspace.join(layout::FOLDER))? {
        let name = entry?.file_name().to_string_lossy().into_owned();
        let file = format!("{}/{name}", layout::FOLDER);
        notes.insert(file.clone(), fs::read_to_string(workspace.join(&file))?);
    }
    Ok(notes)
}

/// Rolls up and promotes one week of a workspace, as the daemon does on its Sunday night.
async fn produce(workspace: &Path, week: Week, model: Option<&Embedder>) -> Result<Produced> {
    let state = tempfile::tempdir()?;
    let store = Store::open(&state.path().join("ocmemd.db"))?;
    let night = week.sunday().and_hms_opt(23, 59, 0).context("no such minute")?.and_utc();
    let clock = Clock::manual(night, Zone::Fixed(Tz::UTC));
    let ingest = Ingest::new(store.clone(), clock.clone());
    let place = Workspace::new(workspace.to_owned(), UserId::new("owner")?);
    ingest.reconcile(&place, Reconcile::default()).await?;
    let model = match model {
        Some(embedder) => Some(embed_all(&store, embedder).await?),
        None => None,
    };
    Rollup::new(store.clone(), ingest.clone(), clock.clone())
        .week(&place, week, model.as_ref(), false)
        .await?;
    Promote::new(store.clone(), ingest, clock, promote::DEFAULT_BUDGET)
        .week(&place, week, model.as_ref(), false)
        .await?;
    store.close().await?;
    let read = |file: &str| fs::read_to_string(workspace.join(file)).unwrap_or_default();
    Ok(Produced { page: read(&layout::weekly_file(week)), memory: read("MEMORY.md") })
}

/// Gives every memory its vectors, and returns the model with their generation.
async fn embed_all(store: &Store, embedder: &Embedder) -> Result<Answering> {
    let identity = embedder.identity().clone();
    let begin = move |writer: &ocmemd::store::Writer<'_>| {
        writer.begin_generation(&identity.name, &ContentHash(identity.hash), identity.dimension)
    };
    let generation = store.write(begin).await?.id;
    while embed_some(store, embedder, generation).await? > 0 {}
    Ok((embedder.clone(), generation))
}

fn score(expect: &Expect, notes: &BTreeMap<String, String>, before: &str, produced: &Produced) -> Figures {
    let Produced { page, memory } = produced;
    let mut figures = Figures {
        page_chars: page.chars().count(),
        note_chars: notes.values().map(|text| text.chars().count()).sum(),
        ..Figures::default()
    };
    for wanted in &expect.must_keep {
        figures.must_keep.count(figures_hit(wanted.is_in(page), "must_keep", wanted, &mut figures.misses));
    }
    for wanted in &expect.must_not_keep {
        let kept = wanted.is_in(page) || wanted.is_in(memory) && !wanted.is_in(before);
        figures.must_not_keep.count(!figures_hit(!kept, "must_not_keep", wanted, &mut figures.misses));
    }
    for wanted in &expect.promote {
        figures.promote.count(figures_hit(wanted.is_in(memory), "promote", wanted, &mut figures.misses));
    }
    for wanted in &expect.not_promote {
        let promoted = wanted.is_in(memory) && !wanted.is_in(before);
        figures.not_promote.count(!figures_hit(!promoted, "not_promote", wanted, &mut figures.misses));
    }
    let lines_with = |text: &str, wanted: &str| text.lines().filter(|line| holds(line, wanted)).count();
    for already in &expect.already {
        let same = lines_with(memory, already) == lines_with(before, already);
        figures.already.count(same);
        if !same {
            figures.misses.push(format!("already: {already}"));
        }
    }
    let lines: HashSet<&str> = memory.lines().collect();
    for line in &expect.untouched {
        figures.untouched.count(lines.contains(line.as_str()));
    }
    for (key, value) in &expect.latest {
        let wins = holds(page, value) || holds(memory, value);
        figures.latest.count(wins);
        if !wins {
            figures.misses.push(format!("latest: {key} {value}"));
        }
    }
    score_archived(expect, produced, &mut figures);
    score_merge(expect, notes, page, &mut figures);
    figures
}

fn figures_hit(hit: bool, what: &str, wanted: &Wanted, misses: &mut Vec<String>) -> bool {
    if !hit {
        misses.push(format!("{what}: {wanted:?}"));
    }
    hit
}

const SAID_OLD: &[&str] =
    &["旧", "原", "老", "停", "下线", "关机", "old", "former", "was", "moved from", "no longer"];

fn score_archived(expect: &Expect, produced: &Produced, figures: &mut Figures) {
    let block = managed::split(&produced.memory).ok().and_then(|parts| parts.block).unwrap_or_default();
    let lines: Vec<&str> = produced.page.lines().chain(block.lines()).collect();
    for old in &expect.archived {
        let wrong = lines.iter().find(|line| {
            let text = normal(line);
            let says_old = SAID_OLD.iter().any(|word| text.contains(&normal(word)))
                || text.find('从').is_some_and(|at| text[at..].contains('改'));
            holds(line, old) && !says_old && !expect.latest.values().any(|value| holds(line, value))
        });
        figures.archived.count(wrong.is_some());
        figures.misses.extend(wrong.map(|line| format!("archived: {old} in {line}")));
    }
}

/// Each line of the page belongs to the entry it has most in common with.
fn score_merge(expect: &Expect, notes: &BTreeMap<String, String>, page: &str, figures: &mut Figures) {
    let all: Vec<&str> = notes.values().flat_map(|text| text.lines()).collect();
    let bullets = page.lines().filter(|line| line.starts_with("- "));
    let owners: Vec<(String, &str)> = bullets
        .filter_map(|line| {
            let said = line.get(8..).unwrap_or(line);
            let best = all.iter().max_by(|a, b| common(said, a).total_cmp(&common(said, b)))?;
            Some((normal(best), line))
        })
        .collect();
    for group in &expect.merge {
        let members: Vec<String> = group.iter().map(|entry| normal(entry)).collect();
        let belongs = |owner: &str| members.iter().any(|member| owner.contains(member.as_str()));
        let lines: Vec<&str> =
            owners.iter().filter(|(owner, _)| belongs(owner)).map(|(_, line)| *line).collect();
        let surplus = lines.len().saturating_sub(1).min(group.len() - 1);
        figures.merge.hits += group.len() - 1 - surplus;
        figures.merge.of += group.len() - 1;
        if surplus > 0 {
            figures.misses.push(format!("merge: {}", lines.join(" | ")));
        }
    }
}

/// The share of pairs of neighbouring characters that two texts have in common.
fn common(a: &str, b: &str) -> f64 {
    let pairs = |text: &str| -> HashSet<(char, char)> {
        let chars: Vec<char> = normal(text).chars().collect();
        chars.windows(2).map(|pair| (pair[0], pair[1])).collect()
    };
    let (a, b) = (pairs(a), pairs(b));
    2.0 * a.intersection(&b).count() as f64 / (a.len() + b.len()).max(1) as f64
}

impl Wanted {
    fn is_in(&self, text: &str) -> bool {
        match self {
            Self::One(wanted) => holds(text, wanted),
            Self::Any(list) => list.iter().any(|wanted| holds(text, wanted)),
        }
    }
}

impl Figures {
    fn add(&mut self, other: &Self) {
        self.page_chars += other.page_chars;
        self.note_chars += other.note_chars;
        let add = |share: &mut Share, other: Share| {
            share.hits += other.hits;
            share.of += other.of;
        };
        add(&mut self.must_keep, other.must_keep);
        add(&mut self.must_not_keep, other.must_not_keep);
        add(&mut self.merge, other.merge);
        add(&mut self.promote, other.promote);
        add(&mut self.not_promote, other.not_promote);
        add(&mut self.already, other.already);
        add(&mut self.untouched, other.untouched);
        add(&mut self.latest, other.latest);
        add(&mut self.archived, other.archived);
    }

    fn report(&self, name: &str) -> Report {
        Report {
            name: name.to_owned(),
            length_ratio: self.page_chars as f64 / self.note_chars.max(1) as f64,
            must_keep: self.must_keep.value(),
            must_not_keep: self.must_not_keep.value(),
            merge: self.merge.value(),
            promote: self.promote.value(),
            not_promote: self.not_promote.value(),
            already: self.already.value(),
            untouched: self.untouched.value(),
            latest: self.latest.value(),
            archived: self.archived.value(),
            misses: self.misses.clone(),
            weeks: Vec::new(),
        }
    }
}

fn print(all: &Report) {
    println!(
        "{:8} {:>6} {:>6} {:>6} {:>6} {:>7} {:>6} {:>7} {:>9} {:>6} {:>8}",
        "", "length", "keep", "not", "merge", "promote", "not", "already", "untouched", "latest", "archived"
    );
    for report in all.weeks.iter().chain([all]) {
        let share = |value: f64| format!("{:.1}", 100.0 * value);
        println!(
            "{:8} {:>6} {:>6} {:>6} {:>6} {:>7} {:>6} {:>7} {:>9} {:>6} {:>8}",
            report.name,
            share(report.length_ratio),
            share(report.must_keep),
            share(report.must_not_keep),
            share(report.merge),
            share(report.promote),
            share(report.not_promote),
            share(report.already),
            share(report.untouched),
            share(report.latest),
            share(report.archived)
        );
        for miss in &report.misses {
            println!("         {miss}");
        }
    }
}
