//! Tables: a row says something only together with its header.

use super::bullet;

/// Whether the two lines open a table: a header and a row of dashes.
pub(super) fn opens(header: &str, next: &str) -> bool {
    header.contains('|') && is_delimiter(next)
}

/// `|---|:--:|`
fn is_delimiter(text: &str) -> bool {
    text.contains('|')
        && text.contains('-')
        && text.chars().all(|c| matches!(c, '|' | '-' | ':' | ' ' | '\t'))
}

/// The cells of a row; `\|` is a character of a cell.
pub(super) fn cells(row: &str) -> Vec<String> {
    let mut cells = vec![String::new()];
    let mut chars = row.trim().chars().peekable();
    chars.next_if_eq(&'|');
    while let Some(c) = chars.next() {
        match (c, cells.last_mut()) {
            ('\\', Some(cell)) if chars.next_if_eq(&'|').is_some() => cell.push('|'),
            ('|', _) => cells.push(String::new()),
            (c, Some(cell)) => cell.push(c),
            (_, None) => {}
        }
    }
    for cell in &mut cells {
        *cell = cell.trim().to_owned();
    }
    if cells.len() > 1 && cells.last().is_some_and(String::is_empty) {
        cells.pop();
    }
    cells
}

/// `列: 值；列: 值` of the cells that hold something; `None` for a row without any.
pub(super) fn row(header: &[String], cells: &[String]) -> Option<String> {
    let columns = header.iter().map(String::as_str).chain(std::iter::repeat(""));
    let filled = columns.zip(cells).filter(|(_, value)| !bullet::is_placeholder(value));
    let parts: Vec<String> = filled
        .map(|(name, value)| if name.is_empty() { value.clone() } else { format!("{name}: {value}") })
        .collect();
    (!parts.is_empty()).then(|| parts.join("；"))
}
