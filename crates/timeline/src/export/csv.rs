//! Rows of a table as CSV (RFC 4180).

/// A row of a table with its line end (RFC 4180).
pub fn csv_row(cells: &[String]) -> String {
    let cells: Vec<String> = cells.iter().map(|cell| quoted(cell)).collect();
    format!("{}\r\n", cells.join(","))
}

/// Text that no spreadsheet evaluates: one that begins as a formula does gets an apostrophe in front.
pub fn inert_text(text: &str) -> String {
    let first = text.trim_start_matches([' ', '\u{a0}', '\u{feff}']).chars().next();
    match first {
        Some('=' | '+' | '-' | '@' | '\t' | '\r' | '\n' | '|' | '%' | '＝' | '＋' | '－' | '＠') => {
            format!("'{text}")
        }
        _ => text.to_owned(),
    }
}

fn quoted(cell: &str) -> String {
    if cell.contains([',', '"', '\r', '\n']) {
        format!("\"{}\"", cell.replace('"', "\"\""))
    } else {
        cell.to_owned()
    }
}
