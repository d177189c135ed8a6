//! Separated values (RFC 4180) as cells that know their place.

use crate::diagnostic::{Diagnostic, Problems};
use crate::limits;
use crate::source::{Source, Span};

/// A cell: its text without quotes and surrounding space, and its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Cell {
    pub(super) text: String,
    pub(super) span: Span,
}

/// What may stand between two cells.
const SEPARATORS: [char; 3] = [',', ';', '\t'];

/// The rows that say something. What separates the cells is what stands most often in the first line.
pub(super) fn read(source: &Source, problems: &mut Problems) -> Vec<Vec<Cell>> {
    let text = source.text();
    let mut start = if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
    let mut separator = None;
    // A spreadsheet may say in a line of its own what separates its cells.
    if let Some(rest) = text[start..].strip_prefix("sep=") {
        let line = rest.split(['\r', '\n']).next().unwrap_or_default();
        separator = line.chars().next().filter(|c| SEPARATORS.contains(c));
        start = text[start..].find('\n').map_or(text.len(), |at| start + at + 1);
    }
    let separator = separator.unwrap_or_else(|| guess(&text[start..]));
    let mut reader = Reader { text, at: start, separator };
    let mut rows = Vec::new();
    while reader.at < text.len() {
        let row = match reader.row() {
            Ok(row) => row,
            Err(quote) => {
                problems.push(
                    Diagnostic::error(
                        "bad-table",
                        Span::new(quote, quote + 1),
                        "this quoted cell has no end",
                    )
                    .help("a quote inside of quotes is written twice"),
                );
                return Vec::new();
            }
        };
        if row.iter().all(|cell| cell.text.is_empty()) {
            continue;
        }
        // One more than shots: the names of the columns.
        if rows.len() > limits::MAX_INSTANCES || row.len() > limits::MAX_CSV_COLUMNS {
            let place = row.first().map_or(Span::default(), |cell| cell.span);
            problems.push(Diagnostic::error("bad-table", place, "this list is too large").help(format!(
                "a shot list has at most {} rows and {} columns",
                limits::MAX_INSTANCES,
                limits::MAX_CSV_COLUMNS
            )));
            return Vec::new();
        }
        rows.push(row);
    }
    rows
}

/// The separator that stands most often in the first line, outside of quotes.
fn guess(text: &str) -> char {
    let mut counts = [0_usize; SEPARATORS.len()];
    let mut quoted = false;
    for c in text.chars() {
        match c {
            '"' => quoted = !quoted,
            '\n' if !quoted && counts.iter().any(|count| *count > 0) => break,
            c if !quoted => {
                if let Some(at) = SEPARATORS.iter().position(|separator| *separator == c) {
                    counts[at] += 1;
                }
            }
            _ => {}
        }
    }
    let most = counts.iter().copied().max().unwrap_or(0);
    SEPARATORS
        .into_iter()
        .zip(counts)
        .find(|(_, count)| *count == most)
        .map_or(',', |(separator, _)| separator)
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
    separator: char,
}

impl Reader<'_> {
    fn peek(&self) -> Option<char> {
        self.text.get(self.at..)?.chars().next()
    }

    /// The cells up to the end of the line; the error is the place of a quote that has no partner.
    fn row(&mut self) -> Result<Vec<Cell>, usize> {
        let mut row = Vec::new();
        loop {
            row.push(self.cell()?);
            match self.peek() {
                Some(c) if c == self.separator => self.at += c.len_utf8(),
                _ => {
                    // A line ends as on any system: \n, \r\n or \r.
                    if self.text[self.at..].starts_with("\r\n") {
                        self.at += 2;
                    } else if self.at < self.text.len() {
                        self.at += 1;
                    }
                    return Ok(row);
                }
            }
        }
    }

    fn ends(&self, c: char) -> bool {
        c == self.separator || c == '\n' || c == '\r'
    }

    fn cell(&mut self) -> Result<Cell, usize> {
        while self.peek().is_some_and(|c| c != self.separator && matches!(c, ' ' | '\t')) {
            self.at += 1;
        }
        let start = self.at;
        let mut text = String::new();
        if self.peek() == Some('"') {
            self.at += 1;
            loop {
                match self.peek() {
                    None => return Err(start),
                    Some('"') if self.text[self.at + 1..].starts_with('"') => {
                        text.push('"');
                        self.at += 2;
                    }
                    Some('"') => {
                        self.at += 1;
                        break;
                    }
                    Some(c) => {
                        text.push(c);
                        self.at += c.len_utf8();
                    }
                }
            }
        }
        // What stands behind a closing quote belongs to the cell, as spreadsheets read it.
        while let Some(c) = self.peek().filter(|c| !self.ends(*c)) {
            text.push(c);
            self.at += c.len_utf8();
        }
        let span = Span::new(start, self.at);
        Ok(Cell { text: text.trim().to_owned(), span })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn texts(text: &str) -> Vec<Vec<String>> {
        let mut problems = Problems::default();
        let rows = read(&Source::new("a.csv", text), &mut problems);
        assert!(!problems.any());
        rows.into_iter().map(|row| row.into_iter().map(|cell| cell.text).collect()).collect()
    }

    #[test]
    fn quotes_separators_and_line_ends_of_all_kinds() {
        let wanted = vec![
            vec!["a".to_owned(), "b, c".to_owned()],
            vec!["he said \"go\"".to_owned(), "2\n3".to_owned()],
        ];
        for separator in [",", ";", "\t"] {
            for end in ["\n", "\r\n", "\r"] {
                let list =
                    ["a", "|", " \"b, c\" ", "~~", "\"he said \"\"go\"\"\"", "|", "\"2\n3\"", "~"].concat();
                let list = list.replace('|', separator).replace('~', end);
                assert_eq!(texts(&list), wanted, "{list:?}");
                assert_eq!(texts(&format!("\u{feff}{list}")), wanted, "{list:?}");
            }
        }
        assert_eq!(texts("sep=;\r\na;b,c,d\n"), [["a", "b,c,d"]]);
        assert_eq!(texts("only\n1\n"), [["only"], ["1"]]);
        assert_eq!(texts(""), Vec::<Vec<String>>::new());
    }

    #[test]
    fn cells_know_their_places() {
        let source = Source::new("a.csv", "a, bc\n\"d\ne\",f");
        let rows = read(&source, &mut Problems::default());
        let places: Vec<_> = rows
            .concat()
            .iter()
            .map(|cell| (source.slice(cell.span).to_owned(), source.position(cell.span.start())))
            .map(|(text, position)| (text, position.line, position.column))
            .collect();
        let at = |text: &str, line, column| (text.to_owned(), line, column);
        assert_eq!(places, [at("a", 1, 1), at("bc", 1, 4), at("\"d\ne\"", 2, 1), at("f", 3, 4)]);
    }

    proptest! {
        #[test]
        fn nothing_makes_it_panic_and_quoted_cells_come_back(cells in proptest::collection::vec(".*", 1..6), noise in ".*") {
            read(&Source::new("a.csv", noise), &mut Problems::default());
            let line: Vec<String> = cells.iter().map(|cell| format!("\"{}\"", cell.replace('"', "\"\""))).collect();
            let wanted: Vec<&str> = cells.iter().map(|cell| cell.trim()).collect();
            let rows = read(&Source::new("a.csv", line.join(";")), &mut Problems::default());
            if wanted.iter().any(|cell| !cell.is_empty()) {
                let found = rows.concat();
                prop_assert_eq!(found.iter().map(|cell| cell.text.as_str()).collect::<Vec<_>>(), wanted);
            }
        }
    }
}
