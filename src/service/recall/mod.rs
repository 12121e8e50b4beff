//! Recall: the few memories that matter for a question, each with the parts of its score.
//!
//! Three legs bring candidates: the nearest in meaning, the best by words, and what was important in the last days.
//! Whatever leg a candidate came by, it gets all parts: a near one its BM25, a worded one its cosine. What remains
//! below the threshold is left out, and the answer says so.

#[cfg(test)]
mod tests;

use std::collections::{HashMap, HashSet};
use std::time::{Duration, Instant};

use chrono::{Days, NaiveDate};

use super::calibrate::{CalibrateError, Calibrator, Scales};
use crate::clock::Clock;
use crate::embed::{EmbedError, Embedder};
use crate::memory::rank::{self, Corpus, KeywordQuery, Parts, TimeMode, Weights};
use crate::memory::segment::{self, Language};
use crate::memory::when::{self, Span};
use crate::memory::{Importance, Memory, Redacted, Scope};
use crate::store::{MAX_NEIGHBOURS, Reader, RowId, Store, StoreError};
use crate::wire::methods::{Empty, Leg, LegName, ScoreParts, Timings};

/// What kept a question from being answered.
#[derive(Debug, thiserror::Error)]
pub enum RecallError {
    /// The database.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// How recall weighs and cuts; from the configuration.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Settings {
    /// How much each part counts.
    pub weights: Weights,
    /// What the time part says.
    pub time: TimeMode,
    /// What recency loses a day.
    pub time_decay_factor: f64,
    /// Candidates of each leg.
    pub candidates: usize,
    /// Days that the recent leg looks back, today included.
    pub recent_days: u64,
    /// Hits of an answer.
    pub top_k: usize,
    /// The least score of a hit.
    pub min_score: f64,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            weights: Weights::default(),
            time: TimeMode::default(),
            time_decay_factor: 0.02,
            candidates: 20,
            recent_days: 3,
            top_k: 5,
            min_score: 0.45,
        }
    }
}

/// What one request wants otherwise than the settings.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Options {
    /// Hits of this answer.
    pub top_k: Option<usize>,
    /// The least score of a hit in this answer.
    pub min_score: Option<f64>,
}

/// What recall has to say to a question.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    /// Best first.
    pub hits: Vec<Hit>,
    /// Which ways of looking were tried, and why one was not.
    pub legs: Vec<Leg>,
    /// Why there are no hits, when there are none.
    pub empty: Option<Empty>,
    /// How long each step took.
    pub timings: Timings,
}

/// A memory that matters.
#[derive(Debug, Clone, PartialEq)]
pub struct Hit {
    /// The memory.
    pub memory: Memory,
    /// 0 to 1, on an absolute scale.
    pub score: f64,
    /// What the score is made of.
    pub parts: ScoreParts,
}

/// Answers questions from the store.
#[derive(Clone)]
pub struct Recall {
    store: Store,
    /// The model and its scales, or why there is none.
    model: Result<(Embedder, Calibrator), String>,
    settings: Settings,
    clock: Clock,
}

/// A question made ready for the legs.
struct Question {
    words: Vec<String>,
    /// Its vector and the hash of the model that made it, or why there is none.
    vector: Result<(Vec<f32>, String), String>,
    limit: usize,
    since: NaiveDate,
}

/// What the legs brought.
struct Found {
    keywords: KeywordQuery,
    memories: u64,
    candidates: Vec<Candidate>,
    legs: Vec<Leg>,
    /// The generation whose vectors can be compared with the question's.
    generation: Option<i64>,
}

/// A memory with all that its parts are made of.
struct Candidate {
    memory: Memory,
    words: Vec<String>,
    /// None while it waits for its vectors, or when there is nothing to compare them with.
    vectors: Vec<Vec<f32>>,
}

impl Recall {
    /// Recall over `store`; without a model by words alone, and answers say why.
    pub fn new(store: Store, embedder: Result<Embedder, String>, settings: Settings, clock: Clock) -> Self {
        let model = embedder.map(|embedder| (embedder.clone(), Calibrator::new(store.clone(), embedder)));
        Self { store, model, settings, clock }
    }

    /// The same recall with another model, or the reason why there is none.
    pub fn with_model(&self, embedder: Result<Embedder, String>) -> Self {
        Self::new(self.store.clone(), embedder, self.settings, self.clock.clone())
    }

    /// The memories of `scope` that matter for `query`.
    ///
    /// A leg that cannot look is named in the answer, with the reason; the weights of the vector leg go to the words
    /// then. An empty answer says why it is empty.
    ///
    /// # Errors
    /// [`RecallError`] if the store cannot be read.
    pub async fn search(
        &self,
        scope: &Scope,
        query: &Redacted,
        options: Options,
    ) -> Result<Answer, RecallError> {
        let start = Instant::now();
        let scope = &scope.clone().as_of(self.clock.now());
        let today = self.clock.today();
        let words = segment::query(&when::spell_out(query.as_str(), today));
        let named = when::find(query.as_str(), today);
        let segmented = start.elapsed();

        let vector = self.embed(query).await;
        let embedded = start.elapsed();

        let top_k = options.top_k.unwrap_or(self.settings.top_k).clamp(1, MAX_NEIGHBOURS);
        let limit = self.settings.candidates.max(top_k);
        let since = today - Days::new(self.settings.recent_days.saturating_sub(1));
        let question = Question { words, vector: vector.clone(), limit, since };
        let of = scope.clone();
        let mut found = self.store.read(move |reader| gather(reader, &of, question)).await?;
        let scales = match self.scales(scope, found.generation).await {
            Ok(scales) => scales,
            Err(CalibrateError::Store(error)) => return Err(error.into()),
            Err(error) => {
                found.without_vectors(error.to_string());
                None
            }
        };
        let searched = start.elapsed();

        let Found { memories, legs, .. } = &found;
        let (memories, legs, met) = (*memories, legs.clone(), !found.candidates.is_empty());
        let vector = vector.ok().map(|(vector, _)| vector).zip(scales);
        let min_score = options.min_score.unwrap_or(self.settings.min_score);
        let (hits, best) = self.rank(query, &named, vector, found, top_k, min_score);
        let empty = match (hits.is_empty(), met, memories) {
            (false, ..) => None,
            (true, true, _) => Some(Empty::BelowThreshold { best: best as f32, min_score: min_score as f32 }),
            (true, false, 0) => Some(Empty::NoMemories),
            (true, false, _) => Some(Empty::NothingFound),
        };
        let total = start.elapsed();
        let timings = Timings {
            segment_ms: millis(segmented),
            embed_ms: millis(embedded - segmented),
            search_ms: millis(searched - embedded),
            rank_ms: millis(total - searched),
            total_ms: millis(total),
        };
        Ok(Answer { hits, legs, empty, timings })
    }

    /// Measures the scales of `scope`'s user if that is due, so that no question has to wait for it.
    ///
    /// # Errors
    /// [`CalibrateError`]; the next question tries again.
    pub async fn warm(&self, scope: &Scope) -> Result<(), CalibrateError> {
        let Ok((embedder, calibrator)) = &self.model else { return Ok(()) };
        match self.store.read(|reader| reader.active_generation()).await? {
            Some(active) if active.model_hash == embedder.identity().hash => {
                calibrator.scales(scope, active.id).await.map(drop)
            }
            _ => Ok(()),
        }
    }

    async fn embed(&self, query: &Redacted) -> Result<(Vec<f32>, String), String> {
        let (embedder, _) = self.model.as_ref().map_err(String::clone)?;
        match embedder.query(query).await {
            Ok(vector) => Ok((vector, embedder.identity().hash.clone())),
            Err(EmbedError::EmptyText) => Err("the question holds no word".to_owned()),
            Err(error) => Err(error.to_string()),
        }
    }

    async fn scales(&self, scope: &Scope, generation: Option<i64>) -> Result<Option<Scales>, CalibrateError> {
        match (&self.model, generation) {
            (Ok((_, calibrator)), Some(generation)) => calibrator.scales(scope, generation).await.map(Some),
            _ => Ok(None),
        }
    }

    /// The hits, best first, and the best score there was.
    fn rank(
        &self,
        query: &Redacted,
        named: &[Span],
        vector: Option<(Vec<f32>, Scales)>,
        found: Found,
        top_k: usize,
        min_score: f64,
    ) -> (Vec<Hit>, f64) {
        let language = Language::of(query.as_str());
        let asks_for_the_recent = rank::asks_for_the_recent(query.as_str());
        let mut scored: Vec<(Hit, Candidate)> = found
            .candidates
            .into_iter()
            .map(|candidate| {
                let cosine = vector.as_ref().and_then(|(vector, _)| candidate.nearness(vector));
                let bm25 = found.keywords.bm25(&candidate.words);
                let parts = Parts {
                    vector: cosine.zip(vector.as_ref()).map(|(cosine, (_, scales))| {
                        scales.between(language, Language::of(&candidate.memory.content)).part(cosine)
                    }),
                    keyword: found.keywords.part(bm25),
                    time: self.time(&candidate.memory, named, asks_for_the_recent),
                };
                let hit = Hit {
                    memory: candidate.memory.clone(),
                    score: rank::score(self.settings.weights, self.settings.time, parts),
                    parts: ScoreParts {
                        vector: parts.vector.unwrap_or_default() as f32,
                        keyword: parts.keyword as f32,
                        time: parts.time as f32,
                        cosine,
                        bm25: Some(bm25 as f32),
                    },
                };
                (hit, candidate)
            })
            .collect();
        rank::sort(&mut scored, |(hit, _)| hit.score, |(hit, _)| &hit.memory.id.0);
        let best = scored.first().map_or(0.0, |(hit, _)| hit.score);

        let mut kept: Vec<(Hit, Candidate)> = Vec::with_capacity(top_k);
        for (hit, candidate) in scored {
            if kept.len() == top_k || hit.score < min_score {
                break;
            }
            if !kept.iter().any(|(_, other)| candidate.is_twin_of(other)) {
                kept.push((hit, candidate));
            }
        }
        (kept.into_iter().map(|(hit, _)| hit).collect(), best)
    }

    /// The time part, before its gate. A memory that was used lately is not what "lately" asks for: only the published
    /// formula counts from the last access.
    fn time(&self, memory: &Memory, named: &[Span], asks_for_the_recent: bool) -> f64 {
        let decay = self.settings.time_decay_factor;
        let day = match self.settings.time {
            TimeMode::Asked => memory.day.unwrap_or_else(|| self.clock.local(memory.created_at).date()),
            TimeMode::Recency => self.clock.local(memory.last_accessed_at).date(),
        };
        let recency = rank::recency((self.clock.today() - day).num_days(), decay);
        match self.settings.time {
            TimeMode::Asked if !named.is_empty() => {
                rank::date_match(named, day, &when::find(&memory.content, day))
            }
            TimeMode::Asked => rank::asked_recency(recency, asks_for_the_recent),
            TimeMode::Recency => recency,
        }
    }
}

impl Found {
    /// Takes the vector leg out of the answer after all.
    fn without_vectors(&mut self, why: String) {
        for leg in self.legs.iter_mut().filter(|leg| leg.leg == LegName::Vector) {
            *leg = skipped(LegName::Vector, why.clone());
        }
    }
}

impl Candidate {
    /// The cosine of the part of it that is nearest to the question.
    fn nearness(&self, question: &[f32]) -> Option<f32> {
        self.vectors.iter().map(|vector| rank::cosine(question, vector)).max_by(f32::total_cmp)
    }

    fn is_twin_of(&self, other: &Self) -> bool {
        let near = match (self.vectors.first(), other.vectors.first()) {
            (Some(a), Some(b)) => rank::cosine(a, b) >= rank::TWIN_COSINE,
            _ => self.memory.content == other.memory.content,
        };
        near && rank::say_the_same(&self.memory.content, &other.memory.content)
    }
}

/// Runs the legs on one snapshot, and reads all that the parts of their candidates are made of.
fn gather(reader: &Reader<'_>, scope: &Scope, question: Question) -> Result<Found, StoreError> {
    let Question { words, vector, limit, since } = question;
    let stats = reader.word_stats(scope, &words)?;
    let corpus = Corpus { documents: stats.documents, mean_length: stats.mean_length };
    let keywords = KeywordQuery::new(corpus, words.into_iter().zip(stats.document_frequency));

    let mut rows = Vec::new();
    let mut seen = HashSet::new();
    let mut legs = Vec::new();
    let mut ran = |leg, found: Vec<RowId>| {
        legs.push(Leg { leg, ran: true, candidates: found.len() as u32, why_not: None });
        rows.extend(found.into_iter().filter(|row| seen.insert(*row)));
    };
    let (mut generation, mut vector_why_not) = (None, None);
    match comparable(reader, vector)? {
        Ok((vector, active)) => {
            let nearest = reader.nearest(scope, active, &vector, limit)?;
            ran(LegName::Vector, nearest.into_iter().map(|(row, _)| row).collect());
            generation = Some(active);
        }
        Err(why) => vector_why_not = Some(skipped(LegName::Vector, why)),
    }
    let words = keywords.by_weight();
    let keyword_why_not = match words.is_empty() {
        true => Some(skipped(LegName::Keyword, "the question holds no word to look for".to_owned())),
        false => {
            ran(LegName::Keyword, reader.words_search(scope, &words, limit)?);
            None
        }
    };
    let recent = reader.recent(scope, since, Importance::HIGH, limit)?;
    ran(LegName::Recent, recent.into_iter().map(|(row, _)| row).collect());
    legs.extend(vector_why_not.into_iter().chain(keyword_why_not));
    legs.sort_by_key(|leg| leg.leg as u8);

    let candidates = candidates(reader, scope, generation, &rows)?;
    Ok(Found { keywords, memories: stats.documents, candidates, legs, generation })
}

/// The question's vector with the generation it can be compared in, or why there is none.
fn comparable(
    reader: &Reader<'_>,
    vector: Result<(Vec<f32>, String), String>,
) -> Result<Result<(Vec<f32>, i64), String>, StoreError> {
    let (vector, model) = match vector {
        Ok(made) => made,
        Err(why) => return Ok(Err(why)),
    };
    Ok(match reader.active_generation()? {
        Some(active) if active.model_hash == model => Ok((vector, active.id)),
        Some(active) => {
            Err(format!("the memories still have the vectors of another model, {}", active.model_name))
        }
        None => Err("no memory has a vector yet".to_owned()),
    })
}

fn candidates(
    reader: &Reader<'_>,
    scope: &Scope,
    generation: Option<i64>,
    rows: &[RowId],
) -> Result<Vec<Candidate>, StoreError> {
    let mut words: HashMap<_, _> = reader.terms_of(scope, rows)?.into_iter().collect();
    let mut vectors: HashMap<_, _> = match generation {
        Some(generation) => reader.vectors_of(scope, generation, rows)?.into_iter().collect(),
        None => HashMap::new(),
    };
    let memories = reader.get_many(scope, rows)?;
    let with_all = memories.into_iter().map(|(row, memory)| Candidate {
        memory,
        words: words.remove(&row).unwrap_or_default(),
        vectors: vectors.remove(&row).unwrap_or_default(),
    });
    Ok(with_all.collect())
}

fn skipped(leg: LegName, why: String) -> Leg {
    Leg { leg, ran: false, candidates: 0, why_not: Some(why) }
}

fn millis(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1e3
}
