//! What of a memory is embedded, and the words it is found by. Whoever stores a memory calls these, and so does
//! whoever measures recall.

use chrono::NaiveDate;

use super::redact::Redacted;
use super::segment;

/// The text that is embedded: the headings above the entry, then what it says.
pub fn passage(context: &Redacted, content: &Redacted) -> Redacted {
    if context.as_str().is_empty() {
        return content.clone();
    }
    Redacted::derived(format!("{}\n{}", context.as_str(), content.as_str()))
}

/// The words of a memory: of its headings, of what it says, and of its day.
pub fn terms(context: &Redacted, content: &Redacted, day: Option<NaiveDate>) -> Vec<String> {
    let mut terms = segment::document(context.as_str());
    terms.extend(segment::document(content.as_str()));
    terms.extend(day.into_iter().flat_map(segment::date_words));
    terms
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::redact::redact;

    #[test]
    fn headings_content_and_day_are_all_found() {
        let (context, content) = (redact("部署").0, redact("work-agent 端口 8081").0);
        assert_eq!(passage(&context, &content).as_str(), "部署\nwork-agent 端口 8081");
        assert_eq!(passage(&Redacted::default(), &content), content);
        let terms = terms(&context, &content, NaiveDate::from_ymd_opt(2026, 3, 13));
        for word in segment::query("部署 8081 work-agent 3月13号") {
            assert!(terms.contains(&word), "{word}");
        }
    }
}
