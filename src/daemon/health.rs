//! What the daemon knows about itself: latencies, survived errors, when things last happened.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

use chrono::{DateTime, Utc};

use crate::service::calendar::Outlook;
use crate::service::recall::Answer;
use crate::wire::methods::LegName;
use crate::wire::status::{PastError, Percentiles};

/// Latencies are percentiles of this many last measurements.
const MEASURED: usize = 1_000;
/// Errors that `status` shows.
const ERRORS: usize = 20;

/// The daemon's own records; everything in it is small and bounded.
#[derive(Debug, Default)]
pub struct Health {
    /// Of `context`.
    pub context: Latencies,
    /// Of `search`.
    pub search: Latencies,
    /// Of embedding one query.
    pub embed: Latencies,
    records: Mutex<Records>,
}

#[derive(Debug, Default)]
struct Records {
    errors: VecDeque<PastError>,
    last_event_at: Option<DateTime<Utc>>,
    last_reconcile_at: Option<DateTime<Utc>>,
    calendar: Option<Outlook>,
}

impl Health {
    /// Keeps an error for `status`, and logs it. `message` must hold nothing of a memory's text.
    pub fn survived(&self, at: DateTime<Utc>, during: &str, message: &str) {
        tracing::warn!(during, error = message, "survived an error");
        let mut records = self.records();
        // What goes on failing at each try is one error, with the time of the last.
        if let Some(newest) = records.errors.front_mut()
            && (newest.during == during && newest.message == message)
        {
            newest.at = at;
            return;
        }
        if records.errors.len() == ERRORS {
            records.errors.pop_back();
        }
        records.errors.push_front(PastError { at, during: during.to_owned(), message: message.to_owned() });
    }

    /// Measures the embedding of a question, if it had one.
    pub fn embedded(&self, answer: &Answer) {
        if answer.legs.iter().any(|leg| leg.leg == LegName::Vector && leg.ran) {
            self.embed.record_ms(answer.timings.embed_ms);
        }
    }

    /// A change of a file was noticed.
    pub fn noticed(&self, at: DateTime<Utc>) {
        self.records().last_event_at = Some(at);
    }

    /// Files and index were compared as a whole.
    pub fn reconciled(&self, at: DateTime<Utc>) {
        self.records().last_reconcile_at = Some(at);
    }

    /// The calendar was looked at.
    pub fn looked(&self, outlook: Outlook) {
        self.records().calendar = Some(outlook);
    }

    /// How the calendar stood when it was last looked at.
    pub fn calendar(&self) -> Option<Outlook> {
        self.records().calendar.clone()
    }

    /// The last errors, newest first.
    pub fn errors(&self) -> Vec<PastError> {
        self.records().errors.iter().cloned().collect()
    }

    /// When a change was last noticed, and when all was last compared.
    pub fn last_seen(&self) -> (Option<DateTime<Utc>>, Option<DateTime<Utc>>) {
        let records = self.records();
        (records.last_event_at, records.last_reconcile_at)
    }

    fn records(&self) -> MutexGuard<'_, Records> {
        self.records.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The last latencies of one thing that clients wait for.
#[derive(Debug, Default)]
pub struct Latencies(Mutex<Ring>);

#[derive(Debug, Default)]
struct Ring {
    count: u64,
    last: VecDeque<f64>,
}

impl Latencies {
    /// Adds one measurement, in milliseconds.
    pub fn record_ms(&self, took: f64) {
        let mut ring = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if ring.last.len() == MEASURED {
            ring.last.pop_front();
        }
        ring.last.push_back(took);
        ring.count += 1;
    }

    /// Percentiles of the last measurements (nearest rank), and how many there were in all.
    pub fn percentiles(&self) -> Percentiles {
        let ring = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut sorted: Vec<f64> = ring.last.iter().copied().collect();
        sorted.sort_by(f64::total_cmp);
        let at = |share: f64| {
            let rank = (share * sorted.len() as f64).ceil() as usize;
            sorted.get(rank.saturating_sub(1)).copied().unwrap_or_default()
        };
        Percentiles { count: ring.count, p50_ms: at(0.50), p95_ms: at(0.95) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_of_the_last_thousand_and_the_count_is_of_all() {
        let latencies = Latencies::default();
        assert_eq!(latencies.percentiles(), Percentiles::default());
        for millis in (1..=100).chain(1..=1_000) {
            latencies.record_ms(f64::from(millis));
        }
        let found = latencies.percentiles();
        assert_eq!((found.count, found.p50_ms, found.p95_ms), (1_100, 500.0, 950.0));
    }

    #[test]
    fn only_the_newest_errors_are_kept() {
        let health = Health::default();
        for number in 0..30 {
            health.survived(DateTime::UNIX_EPOCH, "test", &number.to_string());
        }
        let errors = health.errors();
        assert_eq!(
            (errors.len(), errors[0].message.as_str(), errors[19].message.as_str()),
            (ERRORS, "29", "10")
        );
    }
}
