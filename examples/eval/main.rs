//! Measures recall on sets of questions with known answers, through the store and the recall code of the daemon.
//!
//! `cargo run --release --example eval -- DIR --model FOLDER [--sets a,b] [--users u1,u2] [--cache DIR] [--json FILE]`

mod data;
mod metrics;
mod vectors;

use std::collections::{BTreeMap, HashSet};
use std::fs;
use std::io::Write as _;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use chrono::{DateTime, Utc};
use clap::Parser;
use ocmemd::clock::{Clock, Zone};
use ocmemd::embed::{self, Embedder, ModelFolder};
use ocmemd::memory::entry::ContentHash;
use ocmemd::memory::rank::TimeMode;
use ocmemd::memory::redact::redact;
use ocmemd::memory::{
    Audience, Importance, Kind, Mark, Memory, MemoryId, NewMemory, Redacted, Scope, UserId, indexed,
};
use ocmemd::service::recall::{Answer, Options, Recall, Settings};
use ocmemd::store::Store;

use data::{MemoryLine, QueryLine, Set};
use metrics::{Figures, Ranking, Sums};
use vectors::Vectors;

/// Measures recall on sets of questions with known answers.
#[derive(Parser)]
struct Arguments {
    /// The folder of the sets: NAME.memories.jsonl and NAME.queries.jsonl.
    folder: PathBuf,
    /// Only these sets.
    #[arg(long, value_delimiter = ',')]
    sets: Vec<String>,
    /// Only these users.
    #[arg(long, value_delimiter = ',')]
    users: Vec<String>,
    /// The model's folder.
    #[arg(long, env = "OCMEMD_MODEL")]
    model: PathBuf,
    /// Keeps vectors between runs.
    #[arg(long)]
    cache: Option<PathBuf>,
    /// Writes the figures as a JSON list.
    #[arg(long)]
    json: Option<PathBuf>,
    /// Writes each question's ranked ids and scores, a JSON object a line.
    #[arg(long)]
    run: Option<PathBuf>,
    /// Questions that no memory answers; by default those of the tests.
    #[arg(long)]
    unrelated: Vec<PathBuf>,
    /// Asks the questions of each set to the users of the others, too.
    #[arg(long)]
    cross: bool,
    /// Counts recency as the published formula does.
    #[arg(long)]
    published_recency: bool,
}

/// One set, stored.
struct Stored<'s> {
    set: &'s Set,
    recall: Recall,
    clock: Clock,
    settings: Settings,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<()> {
    let arguments = Arguments::parse();
    let sets = data::load(&arguments.folder, &arguments.sets, &arguments.users)?;
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures");
    let unrelated = match arguments.unrelated.as_slice() {
        [] => vec![fixtures.join("unrelated.zh.jsonl"), fixtures.join("unrelated.en.jsonl")],
        named => named.to_vec(),
    };
    let unrelated = unrelated.iter().map(|path| data::questions(path)).collect::<Result<Vec<_>>>()?;
    let options = embed::Options { index_threads: NonZeroUsize::new(2).unwrap_or(NonZeroUsize::MIN) };
    let embedder = Embedder::load(&ModelFolder::open(&arguments.model)?, options)?;
    let mut vectors = Vectors::open(arguments.cache.as_deref(), &embedder)?;
    let mut run = arguments.run.as_ref().map(fs::File::create).transpose()?;
    let scratch = tempfile::tempdir()?;

    println!(
        "{:16} {:>5} {:>6} {:>6} {:>6} {:>6} {:>7} {:>6} {:>6} {:>7} {:>7}  refused",
        "set", "n", "R@5", "R@10", "Hit@10", "MRR@10", "nDCG@10", "empty", "kept", "ms p50", "ms p95"
    );
    let mut all = Vec::new();
    for set in &sets {
        let time = if arguments.published_recency { TimeMode::Recency } else { TimeMode::Asked };
        let settings = Settings { time, ..Settings::default() };
        let path = scratch.path().join(format!("{}.sqlite", set.name));
        let stored = Stored::fill(set, &path, &embedder, &mut vectors, settings).await?;
        let mut sums = Sums::default();
        for query in &set.queries {
            stored.measure(query, &mut sums, run.as_mut()).await?;
        }
        let mut refused = BTreeMap::new();
        for (name, questions) in &unrelated {
            refused.insert(name.clone(), stored.refused(questions, true).await?);
        }
        for other in sets.iter().filter(|other| arguments.cross && other.name != set.name) {
            refused.insert(other.name.clone(), stored.refused(&other.queries, false).await?);
        }
        let figures = sums.figures(&set.name, refused);
        print(&figures);
        all.push(figures);
    }
    if let Some(path) = &arguments.json {
        fs::write(path, serde_json::to_string_pretty(&all)?).with_context(|| path.display().to_string())?;
    }
    Ok(())
}

impl<'s> Stored<'s> {
    async fn fill(
        set: &'s Set,
        path: &Path,
        embedder: &Embedder,
        vectors: &mut Vectors,
        settings: Settings,
    ) -> Result<Self> {
        let store = Store::open(path)?;
        let identity = embedder.identity().clone();
        let generation = store
            .write(move |writer| {
                writer.begin_generation(&identity.name, &ContentHash(identity.hash), identity.dimension)
            })
            .await?;
        for (user, lines) in &set.users {
            let scope = Scope::private(UserId::new(user)?);
            let memories = lines.iter().map(|line| memory(scope.user(), line)).collect::<Result<Vec<_>>>()?;
            let passages: Vec<Redacted> =
                memories.iter().map(|memory| indexed::passage(&memory.context, &memory.content)).collect();
            let vectors = vectors.of(embedder, &passages).await?;
            store
                .write(move |writer| {
                    for (memory, parts) in memories.iter().zip(&vectors) {
                        let terms = indexed::terms(&memory.context, &memory.content, memory.day);
                        writer.insert(&scope, memory, &terms)?;
                        if let Some((_, stored)) = writer.get(&scope, &memory.id)? {
                            writer.put_vectors(&scope, generation.id, &stored, parts)?;
                        }
                    }
                    Ok(())
                })
                .await?;
        }
        let clock = Clock::manual(DateTime::<Utc>::default(), Zone::Fixed(chrono_tz::UTC));
        let recall = Recall::new(store, Ok(embedder.clone()), settings, clock.clone());
        Ok(Self { set, recall, clock, settings })
    }

    async fn ask(&self, user: &str, query: &QueryLine, options: Options) -> Result<Answer> {
        let asked = query.asked_at.as_deref().map_or_else(|| self.set.newest(user), data::moment)?;
        self.clock.set(asked);
        let scope = Scope::private(UserId::new(user)?);
        let answer = self.recall.search(&scope, &redact(&query.query).0, options).await?;
        let lame = answer.legs.iter().find_map(|leg| leg.why_not.clone().filter(|_| options.top_k.is_some()));
        lame.map_or(Ok(answer), |why| Err(anyhow::anyhow!("{}: {why}", query.qid)))
    }

    async fn measure(&self, query: &QueryLine, sums: &mut Sums, run: Option<&mut fs::File>) -> Result<()> {
        let options = Options { top_k: Some(10 + query.ignore.len()), min_score: Some(0.0) };
        let answer = self.ask(&query.user_id, query, options).await?;
        let ignored: HashSet<&str> = query.ignore.iter().map(String::as_str).collect();
        let min_score = self.settings.min_score;
        let empty = answer.hits.first().is_none_or(|hit| hit.score < min_score);
        let ids: Vec<(String, f64)> = answer
            .hits
            .into_iter()
            .map(|hit| (hit.memory.id.0, hit.score))
            .filter(|(id, _)| !ignored.contains(id.as_str()))
            .take(10)
            .collect();
        sums.add(
            &Ranking { ids: &ids, relevant: &query.relevant, min_score },
            empty,
            answer.timings.total_ms,
        );
        if let Some(run) = run {
            let line = serde_json::json!({"set": self.set.name, "qid": query.qid, "ranking": ids});
            writeln!(run, "{line}")?;
        }
        Ok(())
    }

    /// The share of questions answered by nothing: each asked to every user, or to one of them in turn.
    async fn refused(&self, questions: &[QueryLine], to_everyone: bool) -> Result<f64> {
        let (mut asked, mut refused) = (0, 0);
        for (at, question) in questions.iter().enumerate() {
            let question = QueryLine { asked_at: None, ..question.clone() };
            for (number, user) in self.set.users.keys().enumerate() {
                if to_everyone || number == at % self.set.users.len() {
                    asked += 1;
                    refused +=
                        usize::from(self.ask(user, &question, Options::default()).await?.hits.is_empty());
                }
            }
        }
        Ok(refused as f64 / asked.max(1) as f64)
    }
}

fn memory(user: &UserId, line: &MemoryLine) -> Result<NewMemory> {
    let created_at = data::moment(&line.created_at)?;
    Ok(Memory {
        id: MemoryId(line.id.clone()),
        user: user.clone(),
        session: None,
        kind: Kind::Fact,
        mark: Mark::None,
        importance: Importance::NORMAL,
        audience: Audience::Private,
        content: redact(&line.text).0,
        context: Redacted::default(),
        day: Some(created_at.date_naive()),
        time: None,
        source: None,
        hash: ContentHash::of(line.text.as_bytes()),
        created_at,
        expires_at: None,
        access_count: 0,
        last_accessed_at: created_at,
    })
}

fn print(figures: &Figures) {
    let share = |value: f64| format!("{:.1}", 100.0 * value);
    let refused: Vec<String> =
        figures.refused.iter().map(|(name, value)| format!("{name} {}", share(*value))).collect();
    println!(
        "\r{:16} {:>5} {:>6} {:>6} {:>6} {:>6} {:>7} {:>6} {:>6} {:>7.1} {:>7.1}  {}",
        figures.set,
        figures.n,
        share(figures.recall_5),
        share(figures.recall_10),
        share(figures.hit_10),
        share(figures.mrr_10),
        share(figures.ndcg_10),
        share(figures.empty),
        share(figures.kept),
        figures.ms_p50,
        figures.ms_p95,
        refused.join(", ")
    );
}
