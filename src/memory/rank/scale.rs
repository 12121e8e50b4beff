//! The vector part: how far a cosine stands out from those of questions that can be nobody's.

use serde::{Deserialize, Serialize};

/// What the median cosine scores, and how many deviations the range of 0–1 is wide. A narrower range
/// looks more natural and costs 2–5 points of recall.
const BASE: f64 = 0.51;
const WIDTH: f64 = 15.0;

/// How the cosines between the probes of one language and a user's memories are spread.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Scale {
    /// Their median.
    pub median: f64,
    /// Their standard deviation.
    pub deviation: f64,
}

impl Scale {
    /// Measures a scale; `None` for fewer than two cosines, or none that differ.
    pub fn measure(mut cosines: Vec<f32>) -> Option<Self> {
        cosines.retain(|cosine| cosine.is_finite());
        cosines.sort_by(f32::total_cmp);
        let count = cosines.len() as f64;
        let mean = cosines.iter().map(|cosine| f64::from(*cosine)).sum::<f64>() / count;
        let variance = cosines.iter().map(|cosine| (f64::from(*cosine) - mean).powi(2)).sum::<f64>() / count;
        let middle = cosines.len() / 2;
        let median = match cosines.len() % 2 {
            0 => (cosines.get(middle.checked_sub(1)?)? + cosines.get(middle)?) / 2.0,
            _ => *cosines.get(middle)?,
        };
        (variance > 1e-12).then(|| Self { median: f64::from(median), deviation: variance.sqrt() })
    }

    /// The part in 0–1: `clamp(0.51 + z/15, 0, 1)` with `z = (cosine − median)/deviation`.
    pub fn part(self, cosine: f32) -> f64 {
        let z = (f64::from(cosine) - self.median) / self.deviation;
        if z.is_finite() { (BASE + z / WIDTH).clamp(0.0, 1.0) } else { 0.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scale_is_the_median_and_the_standard_deviation() {
        let scale = Scale::measure(vec![0.9, 0.5, 0.7, 0.5]).unwrap();
        assert!((scale.median - 0.6).abs() < 1e-6);
        assert!((scale.deviation - 0.0275_f64.sqrt()).abs() < 1e-6);
    }

    #[test]
    fn nothing_to_measure_is_no_scale() {
        for cosines in [vec![], vec![0.5], vec![0.5, 0.5], vec![f32::NAN, 0.4]] {
            assert_eq!(Scale::measure(cosines), None);
        }
    }

    #[test]
    fn the_part_counts_deviations_from_the_median() {
        let scale = Scale { median: 0.8, deviation: 0.02 };
        assert!((scale.part(0.8) - 0.51).abs() < 1e-6);
        assert!((scale.part(0.86) - 0.71).abs() < 1e-6);
        assert_eq!(scale.part(-1.0), 0.0);
        assert_eq!(scale.part(1.0), 1.0);
        assert_eq!(scale.part(f32::NAN), 0.0);
    }
}
