//! The text of a screenplay without what is not printed: the boneyard, notes and the marks of emphasis.

use crate::source::Span;

/// A line without boneyard and notes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Line {
    pub(super) text: String,
    /// The line in the source.
    pub(super) span: Span,
    /// The notes that begin in it.
    pub(super) notes: Vec<String>,
}

impl Line {
    pub(super) fn is_blank(&self) -> bool {
        self.text.trim().is_empty()
    }
}

/// The lines of a text whose lines end with LF. Lines that consist of boneyard and notes are left out; a mark without its end is text.
pub(super) fn lines(text: &str) -> Vec<Line> {
    let mut reader = LineReader {
        text,
        position: 0,
        line: Line { text: String::new(), span: Span::new(0, 0), notes: Vec::new() },
        is_cut: false,
        lines: Vec::new(),
        boneyards_end: false,
        no_note_before: 0,
    };
    reader.read();
    reader.lines
}

struct LineReader<'t> {
    text: &'t str,
    position: usize,
    line: Line,
    /// Whether something was left out of the line.
    is_cut: bool,
    lines: Vec<Line>,
    /// Whether no boneyard ends after the position.
    boneyards_end: bool,
    /// The position before which no note ends.
    no_note_before: usize,
}

impl LineReader<'_> {
    fn read(&mut self) {
        while self.position < self.text.len() {
            let rest = &self.text[self.position..];
            let stop = rest.find(['\n', '/', '[']).unwrap_or(rest.len());
            self.line.text.push_str(&rest[..stop]);
            self.position += stop;
            let rest = &rest[stop..];
            if rest.starts_with('\n') {
                self.end_line(self.position);
                self.position += 1;
                self.line.span = Span::new(self.position, self.position);
            } else if let Some(after) = rest.starts_with("/*").then(|| self.boneyard_end()).flatten() {
                self.cut_to(after);
            } else if let Some(after) = rest.starts_with("[[").then(|| self.note_end()).flatten() {
                let note =
                    self.text[self.position + 2..after - 2].split_whitespace().collect::<Vec<_>>().join(" ");
                self.line.notes.extend(Some(note).filter(|note| !note.is_empty()));
                self.cut_to(after);
            } else if let Some(c) = rest.chars().next() {
                self.line.text.push(c);
                self.position += c.len_utf8();
            }
        }
        self.end_line(self.text.len());
    }

    fn end_line(&mut self, end: usize) {
        let span = Span::new(self.line.span.start(), end);
        let line = Line { text: String::new(), span, notes: Vec::new() };
        let mut line = std::mem::replace(&mut self.line, line);
        line.span = span;
        let is_cut = std::mem::take(&mut self.is_cut);
        match self.lines.last_mut() {
            // What is left out leaves no blank line behind.
            Some(before) if is_cut && line.is_blank() => before.notes.append(&mut line.notes),
            _ => self.lines.push(line),
        }
    }

    fn cut_to(&mut self, after: usize) {
        self.position = after;
        self.is_cut = true;
    }

    /// The position behind the end of the boneyard that begins here.
    fn boneyard_end(&mut self) -> Option<usize> {
        if self.boneyards_end {
            return None;
        }
        let start = self.position + 2;
        let end = self.text[start..].find("*/").map(|end| start + end + 2);
        self.boneyards_end = end.is_none();
        end
    }

    /// The position behind the end of the note that begins here. A note has no empty line in it; one with blanks is none.
    fn note_end(&mut self) -> Option<usize> {
        let start = self.position + 2;
        if start < self.no_note_before {
            return None;
        }
        let rest = &self.text[start..];
        let mut from = 0;
        loop {
            let line = rest[from..].find('\n').map_or(rest.len(), |end| from + end);
            if let Some(end) = rest[from..line].find("]]") {
                return Some(start + from + end + 2);
            }
            if line == rest.len() || rest[line + 1..].starts_with('\n') {
                self.no_note_before = start + line;
                return None;
            }
            from = line + 1;
        }
    }
}

/// Text without the marks of emphasis: `*`, `**`, `***` and `_` around words of a line, and backslashes before marks.
pub(super) fn plain(text: &str) -> String {
    text.split('\n').map(plain_line).collect::<Vec<_>>().join("\n")
}

fn plain_line(line: &str) -> String {
    if !line.contains(['*', '_', '\\']) {
        return line.to_owned();
    }
    let chars: Vec<char> = line.chars().collect();
    let mut is_left_out = vec![false; chars.len()];
    // The mark of each kind that is open: one to three asterisks, an underscore.
    let mut open: [Option<usize>; 4] = [None; 4];
    let mut index = 0;
    while index < chars.len() {
        let c = chars[index];
        if c == '\\' && chars.get(index + 1).is_some_and(|next| matches!(next, '*' | '_' | '\\')) {
            is_left_out[index] = true;
            index += 2;
            continue;
        }
        if !matches!(c, '*' | '_') {
            index += 1;
            continue;
        }
        let length =
            if c == '_' { 1 } else { chars[index..].iter().take(3).take_while(|c| **c == '*').count() };
        let kind = if c == '_' { 3 } else { length - 1 };
        let end = index + length;
        let closes = index > 0 && !chars[index - 1].is_whitespace();
        let opens = chars.get(end).is_some_and(|next| !next.is_whitespace());
        match open[kind].filter(|start| closes && start + length < index) {
            Some(start) => {
                for mark in (start..start + length).chain(index..end) {
                    is_left_out[mark] = true;
                }
                open[kind] = None;
            }
            None if opens => open[kind] = Some(index),
            None => {}
        }
        index = end;
    }
    chars.into_iter().zip(is_left_out).filter(|(_, left_out)| !left_out).map(|(c, _)| c).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(text: &str) -> Vec<String> {
        lines(text).into_iter().map(|line| line.text).collect()
    }

    #[test]
    fn boneyard_and_notes_are_left_out() {
        assert_eq!(texts("a /* b\n\nc */ d\ne"), ["a  d", "e"]);
        assert_eq!(texts("a\n/* b\nc */\nd"), ["a", "d"]);
        assert_eq!(texts("a\n\n/* b */\n\nc"), ["a", "", "", "c"]);
        let read = lines("He [[rewrite\nthis]] goes.\n[[a line of its own]]\n\n[[first\n  \nsecond]] On.");
        let all: Vec<(&str, Vec<&str>)> = read
            .iter()
            .map(|line| (line.text.as_str(), line.notes.iter().map(String::as_str).collect()))
            .collect();
        assert_eq!(
            all,
            [
                ("He  goes.", vec!["rewrite this", "a line of its own"]),
                ("", vec![]),
                (" On.", vec!["first second"])
            ]
        );
    }

    #[test]
    fn marks_without_an_end_are_text() {
        assert_eq!(texts("a /* b\n[[c\n\nd]] e"), ["a /* b", "[[c", "", "d]] e"]);
        let many = format!("{}{}", "[[".repeat(50_000), "/* ".repeat(50_000));
        assert!(texts(&many) == [many]);
    }

    #[test]
    fn emphasis_is_left_out() {
        for (text, expected) in [
            ("*italics* **bold** ***both*** _under_", "italics bold both under"),
            ("From _what **seems** like_ only", "From what seems like only"),
            ("He dialed *69 and then *23, and hung up.", "He dialed *69 and then *23, and hung up."),
            (r"Steel enters the code: \*9765\*", "Steel enters the code: *9765*"),
            ("5 * 3 * 2", "5 * 3 * 2"),
            ("*over\nlines*", "*over\nlines*"),
            ("snake_case_name", "snakecasename"),
            ("** a **", "** a **"),
        ] {
            assert_eq!(plain(text), expected, "{text}");
        }
        let many = "*a _b ".repeat(20_000);
        assert!(plain(&many) == many);
    }
}
