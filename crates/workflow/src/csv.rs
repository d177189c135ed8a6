//! CSV (RFC 4180) as spreadsheets write it: cells with their spans, for axes, the filter `csv` and shot lists.
//!
//! The delimiter is a comma, a semicolon or a tab: what the line `sep=;` says, else what occurs most often in the first line.
//! Lines end with LF, CRLF or CR. A byte order mark is skipped. Spaces around a cell are dropped, unless they are inside its
//! quotes. Lines without any cell that is filled or quoted are skipped.

use csv_core::{ReadFieldResult, Reader, ReaderBuilder};

use crate::limits;
use crate::source::{Source, Span};

/// A cell: its text without quotes, and its span in the source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CsvCell {
    pub(crate) text: String,
    pub(crate) span: Span,
    /// Whether it is in quotes: `""` is a value, nothing between two delimiters is none.
    is_quoted: bool,
}

impl CsvCell {
    /// A cell of a table that is written in another form.
    pub(crate) fn new(text: String, span: Span) -> Self {
        Self { text, span, is_quoted: false }
    }
}

/// Why a text is not CSV.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CsvError {
    pub(crate) span: Span,
    pub(crate) message: String,
    pub(crate) help: String,
}

impl CsvError {
    pub(crate) fn new(span: Span, message: impl Into<String>, help: impl Into<String>) -> Self {
        Self { span, message: message.into(), help: help.into() }
    }

    /// The message with line and column, where the text cannot be shown: `line 3, column 5: …`.
    pub(crate) fn located(&self, text: &str) -> String {
        let position = Source::new("", text).position(self.span.start());
        format!("line {}, column {}: {}; {}", position.line, position.column, self.message, self.help)
    }
}

/// The delimiters that cells are separated by.
pub(crate) const DELIMITERS: [u8; 3] = [b',', b';', b'\t'];
const BYTE_ORDER_MARK: &str = "\u{feff}";

/// The rows of a text, the names of its columns among them, `max_rows` at most.
pub(crate) fn read(text: &str, max_rows: usize) -> Result<Vec<Vec<CsvCell>>, CsvError> {
    read_cells(text, max_rows, usize::MAX, None)
}

/// Like [`read`], with this delimiter, unless the text states one itself.
pub(crate) fn read_by(
    text: &str,
    max_rows: usize,
    delimiter: Option<u8>,
) -> Result<Vec<Vec<CsvCell>>, CsvError> {
    read_cells(text, max_rows, usize::MAX, delimiter)
}

fn read_cells(
    text: &str,
    max_rows: usize,
    max_cells: usize,
    chosen: Option<u8>,
) -> Result<Vec<Vec<CsvCell>>, CsvError> {
    let mut count = 0;
    let mut start = if text.starts_with(BYTE_ORDER_MARK) { BYTE_ORDER_MARK.len() } else { 0 };
    let mut delimiter = None;
    // Excel reads and writes a first line that states the delimiter.
    let stated = text[start..].get(.."sep=".len()).filter(|stated| stated.eq_ignore_ascii_case("sep="));
    if let Some(rest) = stated.map(|stated| &text[start + stated.len()..]) {
        let line = rest.split(['\r', '\n']).next().unwrap_or_default();
        delimiter = line.bytes().next().filter(|byte| DELIMITERS.contains(byte));
        start += "sep=".len() + line.len();
    }
    let delimiter = delimiter.or(chosen).unwrap_or_else(|| sniff(&text[start..]));
    let mut cells = Cells {
        text,
        offset: start,
        delimiter,
        reader: ReaderBuilder::new().delimiter(delimiter).build(),
        buffer: vec![0; 1024],
        is_row_start: true,
    };
    let mut rows: Vec<Vec<CsvCell>> = Vec::new();
    let mut row: Vec<CsvCell> = Vec::new();
    loop {
        let Some((cell, end)) = cells.next()? else { return Ok(rows) };
        row.push(cell);
        count += 1;
        if count > max_cells {
            let message = format!("the tables of a file have at most {} cells", limits::MAX_CSV_CELLS);
            return Err(CsvError::new(row[0].span, message, "remove the columns that nothing uses"));
        }
        if row.len() > limits::MAX_CSV_COLUMNS {
            let message = format!("a table has at most {} columns", limits::MAX_CSV_COLUMNS);
            return Err(CsvError::new(row[0].span, message, "split the table"));
        }
        if !end {
            continue;
        }
        let row = std::mem::take(&mut row);
        if row.iter().all(|cell| cell.text.is_empty() && !cell.is_quoted) {
            continue;
        }
        if rows.len() == max_rows {
            let message = format!("a table has at most {max_rows} rows");
            return Err(CsvError::new(row[0].span, message, "split the table"));
        }
        rows.push(row);
    }
}

/// The rows of a table whose first row names the columns, each row as long as the first.
pub(crate) fn read_table(
    text: &str,
    max_rows: usize,
    max_cells: usize,
) -> Result<(Vec<CsvCell>, Vec<Vec<CsvCell>>), CsvError> {
    let mut rows = read_cells(text, max_rows.saturating_add(1), max_cells, None)?.into_iter();
    let Some(header) = rows.next() else { return Ok((Vec::new(), Vec::new())) };
    let rows: Vec<Vec<CsvCell>> = rows.collect();
    if let Some(row) = rows.iter().find(|row| row.len() != header.len()) {
        let cells = |count: usize| if count == 1 { "1 cell".to_owned() } else { format!("{count} cells") };
        let message = format!("this row has {}, the first row {}", cells(row.len()), cells(header.len()));
        return Err(CsvError::new(
            row.first().map_or_else(Span::default, |cell| cell.span),
            message,
            if row.len() < header.len() {
                "write empty cells for those that are missing, and the column names in the first row"
            } else {
                "put a cell that contains the delimiter in quotes"
            },
        ));
    }
    Ok((header, rows))
}

/// The delimiter that occurs most often in the first line with text, outside of quotes; a comma where none does.
fn sniff(text: &str) -> u8 {
    let mut counts = [0_usize; DELIMITERS.len()];
    let mut is_quoted = false;
    for byte in text.trim_start_matches(['\r', '\n']).bytes() {
        match byte {
            b'"' => is_quoted = !is_quoted,
            b'\r' | b'\n' if !is_quoted => break,
            byte if !is_quoted => {
                if let Some(index) = DELIMITERS.iter().position(|delimiter| *delimiter == byte) {
                    counts[index] += 1;
                }
            }
            _ => {}
        }
    }
    // Of equally many, the first.
    let max = counts.iter().copied().max().unwrap_or(0);
    counts.iter().position(|count| *count == max).map_or(b',', |index| DELIMITERS[index])
}

struct Cells<'t> {
    text: &'t str,
    offset: usize,
    delimiter: u8,
    reader: Reader,
    buffer: Vec<u8>,
    /// Whether the next cell is the first of its row.
    is_row_start: bool,
}

impl Cells<'_> {
    /// The next cell, and whether it is the last of its row; nothing at the end of the text.
    fn next(&mut self) -> Result<Option<(CsvCell, bool)>, CsvError> {
        self.skip_to_cell();
        let start = self.offset;
        let mut written = 0;
        loop {
            // At the end of the text the reader is given an empty input.
            let input = &self.text.as_bytes()[self.offset..];
            let (result, read, wrote) = self.reader.read_field(input, &mut self.buffer[written..]);
            self.offset += read;
            written += wrote;
            match result {
                ReadFieldResult::InputEmpty => {}
                ReadFieldResult::OutputFull => self.buffer.resize(self.buffer.len() * 2, 0),
                ReadFieldResult::Field { record_end } => {
                    self.is_row_start = record_end;
                    return Ok(Some((self.cell(start, written)?, record_end)));
                }
                ReadFieldResult::End => return Ok(None),
            }
        }
    }

    /// Skips empty lines before a row, and spaces before a quote, which the reader would take for text.
    fn skip_to_cell(&mut self) {
        let mut rest = &self.text[self.offset..];
        if self.is_row_start {
            rest = rest.trim_start_matches(['\r', '\n']);
        }
        let delimiter = char::from(self.delimiter);
        let trimmed = rest.trim_start_matches(|c: char| matches!(c, ' ' | '\t') && c != delimiter);
        if trimmed.starts_with('"') {
            rest = trimmed;
        }
        self.offset = self.text.len() - rest.len();
    }

    fn cell(&self, start: usize, written: usize) -> Result<CsvCell, CsvError> {
        let raw = self.text[start..self.offset].trim_end_matches(['\r', '\n']);
        let text = String::from_utf8_lossy(&self.buffer[..written]).into_owned();
        let Some(inner) = raw.strip_prefix('"') else {
            let raw = raw.strip_suffix(char::from(self.delimiter)).unwrap_or(raw);
            let start = start + (raw.len() - raw.trim_start().len());
            let span = Span::new(start, start + raw.trim().len());
            return Ok(CsvCell::new(text.trim().to_owned(), span));
        };
        let Some(close) = closing_quote(inner) else {
            return Err(CsvError::new(
                Span::new(start, start + 1),
                "this quoted cell has no end",
                "write a quote inside of quotes twice: `\"\"`",
            ));
        };
        // Spreadsheets read text after the closing quote as part of the cell; a further quote there shows that the first was meant as text.
        let after = &inner[close + 1..];
        let after = after.strip_suffix(char::from(self.delimiter)).unwrap_or(after);
        if after.contains('"') {
            let position = start + 1 + close;
            return Err(CsvError::new(
                Span::new(position, position + 1),
                "this quote ends the cell, and more text follows",
                "write a quote inside of quotes twice: `\"\"`",
            ));
        }
        let spaces = after.len() - after.trim_end().len();
        let span = Span::new(start, start + 1 + close + 1 + after.len() - spaces);
        let text = text.get(..text.len().saturating_sub(spaces)).unwrap_or_default().to_owned();
        Ok(CsvCell { text, span, is_quoted: true })
    }
}

/// The offset of the quote that ends a quoted cell, given the text after the one that begins it.
fn closing_quote(text: &str) -> Option<usize> {
    let mut quotes = text.match_indices('"').map(|(index, _)| index).peekable();
    while let Some(index) = quotes.next() {
        if quotes.peek() == Some(&(index + 1)) {
            quotes.next();
        } else {
            return Some(index);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn texts(text: &str) -> Vec<Vec<String>> {
        let rows = read(text, 100).unwrap();
        rows.into_iter().map(|row| row.into_iter().map(|cell| cell.text).collect()).collect()
    }

    #[test]
    fn every_delimiter_and_line_end_reads_the_same() {
        let expected = vec![
            vec!["a".to_owned(), "b, c".to_owned()],
            vec!["he said \"go\"".to_owned(), "2\n3".to_owned()],
            vec!["x".to_owned(), String::new()],
        ];
        for delimiter in [",", ";", "\t"] {
            for end in ["\n", "\r\n", "\r"] {
                let parts = [
                    "a",
                    "|",
                    " \"b, c\" ",
                    "~~",
                    "\"he said \"\"go\"\"\"",
                    "|",
                    "\"2\n3\"",
                    "~",
                    " x ",
                    "|",
                    "~",
                ];
                let text = parts.concat().replace('|', delimiter).replace('~', end);
                assert_eq!(texts(&text), expected, "{text:?}");
                assert_eq!(texts(&format!("\u{feff}{text}")), expected, "{text:?}");
                assert_eq!(texts(&format!("{end}{text}")), expected, "{text:?}");
            }
        }
        assert_eq!(texts("sep=;\r\na;b,c,d\n"), [["a", "b,c,d"]]);
        assert_eq!(texts("SEP=;\r\na;b,c,d\n"), [["a", "b,c,d"]]);
        assert_eq!(texts("only\n1;2\n"), [["only"], ["1;2"]]);
        assert_eq!(texts(""), Vec::<Vec<String>>::new());
        assert_eq!(texts(",,\n;;\n"), [[";;"]]);
    }

    #[test]
    fn quoted_spaces_are_preserved() {
        assert_eq!(texts("a,b\n\" x \" , y \n"), [["a", "b"], [" x ", "y"]]);
        assert_eq!(texts("a\n\"\"\n"), [["a"], [""]]);
    }

    #[test]
    fn cells_have_spans() {
        let source = Source::new("a.csv", "a, bc\n\n\"d\ne\",f\r\n \"g\" ,");
        let rows = read(source.text(), 100).unwrap();
        let spans: Vec<_> = rows
            .concat()
            .iter()
            .map(|cell| (source.slice(cell.span).to_owned(), source.position(cell.span.start())))
            .map(|(text, position)| (text, position.line, position.column))
            .collect();
        let expected = |text: &str, line, column| (text.to_owned(), line, column);
        assert_eq!(
            spans,
            [
                expected("a", 1, 1),
                expected("bc", 1, 4),
                expected("\"d\ne\"", 3, 1),
                expected("f", 4, 4),
                expected("\"g\"", 5, 2),
                expected("", 5, 7)
            ]
        );
    }

    #[test]
    fn errors_have_line_and_column() {
        let text = "a,b\nc, \"d\n";
        assert_eq!(
            read(text, 100).unwrap_err().located(text),
            "line 2, column 4: this quoted cell has no end; write a quote inside of quotes twice: `\"\"`"
        );
        let text = "a,b\r\nc,d\r\ne\r\n";
        assert_eq!(
            read_table(text, 100, 1_000).unwrap_err().located(text),
            "line 3, column 1: this row has 1 cell, the first row 2 cells; write empty cells for those that are missing, and the column names in the first row"
        );
        let text = "a,b\nc,d,e\n";
        assert_eq!(
            read_table(text, 100, 1_000).unwrap_err().located(text),
            "line 2, column 1: this row has 3 cells, the first row 2 cells; put a cell that contains the delimiter in quotes"
        );
        let text = "a,b\n\"Mara \"the keeper\"\",x\n";
        assert_eq!(
            read(text, 100).unwrap_err().located(text),
            "line 2, column 7: this quote ends the cell, and more text follows; write a quote inside of quotes twice: `\"\"`"
        );
        assert!(read("a\nb\nc\n", 2).unwrap_err().message.contains("at most 2 rows"));
        assert!(read(&",".repeat(limits::MAX_CSV_COLUMNS), 2).is_err());
    }

    proptest! {
        #[test]
        fn any_text_is_read_without_panic_and_quoted_cells_round_trip(
            cells in proptest::collection::vec(".*", 1..6), noise in "(.|[\",;\t\r\n ])*"
        ) {
            if let Ok(rows) = read(&noise, 100) {
                for cell in rows.concat() {
                    prop_assert!(noise.get(cell.span.range()).is_some());
                }
            }
            let line: Vec<String> = cells.iter().map(|cell| format!("\"{}\"", cell.replace('"', "\"\""))).collect();
            let rows = read(&line.join(";"), 100).unwrap().concat();
            prop_assert_eq!(rows.iter().map(|cell| cell.text.as_str()).collect::<Vec<_>>(), cells);
        }
    }
}
