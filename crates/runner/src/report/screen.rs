//! A block of lines at the bottom of a terminal that is redrawn in place, with permanent lines above it.

use std::fmt::Write as _;
use std::path::Path;

use console::Term;
use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

/// The terminal and the last frame.
#[derive(Debug)]
pub(crate) struct Screen {
    term: Term,
    /// Display widths of the lines of the last frame.
    drawn_widths: Vec<usize>,
}

/// Minimum width of a file name that is narrowed.
const MIN_FILE_WIDTH: usize = 12;
/// Rows and columns of a terminal of unknown size.
const DEFAULT_SIZE: (usize, usize) = (24, 80);

impl Screen {
    /// On standard error.
    pub(crate) fn stderr() -> Self {
        Self { term: Term::buffered_stderr(), drawn_widths: Vec::new() }
    }

    /// On standard output.
    pub(crate) fn stdout() -> Self {
        Self { term: Term::buffered_stdout(), drawn_widths: Vec::new() }
    }

    /// Usable rows and columns: one of each is left to the cursor.
    pub(crate) fn size(&self) -> (usize, usize) {
        let (rows, columns) = self
            .term
            .size_checked()
            .map_or(DEFAULT_SIZE, |(rows, columns)| (usize::from(rows), usize::from(columns)));
        (rows.saturating_sub(1).max(1), columns.saturating_sub(1).max(8))
    }

    /// Replaces the last frame by `above`, which stays, and `lines`, the new frame. Every line has to fit: see [`fit`]. Written at once, so that
    /// nothing flickers.
    pub(crate) fn draw(&mut self, above: &[String], lines: &[(String, usize)]) {
        // A closed terminal is not an error.
        let _ = self.try_draw(above, lines);
    }

    fn try_draw(&mut self, above: &[String], lines: &[(String, usize)]) -> std::io::Result<()> {
        let (_, columns) = self.size();
        self.term.write_str(&repaint(&self.drawn_widths, columns + 1, above, lines))?;
        self.drawn_widths = lines.iter().map(|(_, width)| *width).collect();
        self.term.flush()
    }
}

/// Text with line ends in the place of spaces where a line is too long. What is in backticks, and a hint, can be copied: it stays whole.
pub(crate) fn wrapped(text: &str, columns: usize) -> String {
    let mut wrapped = String::new();
    for line in text.split_inclusive('\n') {
        if line.starts_with("hint:") {
            wrapped.push_str(line);
            continue;
        }
        let (mut width, mut is_code) = (0, false);
        let words = line.split_inclusive(|c| {
            is_code ^= c == '`';
            c == ' ' && !is_code
        });
        for word in words {
            let own = word.trim_end().width();
            if width > 0 && width + own > columns {
                wrapped.truncate(wrapped.trim_end_matches(' ').len());
                wrapped.push('\n');
                width = 0;
            }
            wrapped.push_str(word);
            width += own + (word.len() - word.trim_end().len());
        }
    }
    wrapped
}

/// What replaces a frame whose lines had the widths `drawn_widths`, on a terminal of this width.
fn repaint(drawn_widths: &[usize], terminal: usize, above: &[String], lines: &[(String, usize)]) -> String {
    // A terminal that became narrower has wrapped the last frame.
    let rows: usize = drawn_widths.iter().map(|width| width.div_ceil(terminal).max(1)).sum();
    let mut text = String::new();
    if rows > 0 {
        let _ = write!(text, "\u{1b}[{rows}A");
    }
    // Before anything is written: a permanent line may take several rows, and the rest of an old row would stay after it.
    text.push_str("\r\u{1b}[0J");
    for line in above.iter().chain(lines.iter().map(|(line, _)| line)) {
        text.push_str(line);
        text.push('\n');
    }
    text
}

/// A permanent line that ends with a file: the file's name is narrowed in the middle where the line is too wide, and linked to (OSC 8).
pub(crate) fn file_line(line: &str, path_text: &str, file: &Path, columns: usize) -> String {
    let Some(text) = line.strip_suffix(path_text) else { return line.to_owned() };
    let room = columns.saturating_sub(text.width());
    // Where there is no room for a name, the line wraps.
    let path_text = if room < MIN_FILE_WIDTH { path_text.to_owned() } else { fit_name(path_text, room).0 };
    match url::Url::from_file_path(file) {
        Ok(address) => format!("{text}\u{1b}]8;;{address}\u{1b}\\{path_text}\u{1b}]8;;\u{1b}\\"),
        Err(()) => format!("{text}{path_text}"),
    }
}

/// Text truncated to a display width, with an ellipsis, and its width.
pub(crate) fn fit(text: &str, columns: usize) -> (String, usize) {
    let width = text.width();
    if width <= columns {
        return (text.to_owned(), width);
    }
    let mut cut = String::new();
    let mut taken = 0;
    for c in text.chars() {
        let char_width = c.width().unwrap_or(0);
        if taken + char_width + 1 > columns {
            break;
        }
        cut.push(c);
        taken += char_width;
    }
    if columns > 0 {
        cut.push('…');
        taken += 1;
    }
    (cut, taken)
}

/// A name truncated in the middle: names differ at the end as often as at the start.
pub(crate) fn fit_name(name: &str, columns: usize) -> (String, usize) {
    if name.width() <= columns || columns < 4 {
        return fit(name, columns);
    }
    let (head, taken) = fit(name, columns / 3 + 1);
    let mut tail = String::new();
    let mut tail_width = 0;
    for c in name.chars().rev() {
        let char_width = c.width().unwrap_or(0);
        if taken + tail_width + char_width > columns {
            break;
        }
        tail.insert(0, c);
        tail_width += char_width;
    }
    (head + &tail, taken + tail_width)
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroU16;

    use super::*;

    /// A terminal of some width.
    struct VirtualTerminal {
        parser: vt100::Parser,
        columns: u16,
    }

    impl VirtualTerminal {
        fn new(columns: u16) -> Self {
            let size = |count| NonZeroU16::new(count).unwrap_or(NonZeroU16::MIN);
            Self { parser: vt100::Parser::new(size(40), size(columns), 0), columns }
        }

        /// The system's terminal driver ends lines with both characters.
        fn write(&mut self, text: &str) {
            self.parser.process(text.replace('\n', "\r\n").as_bytes());
        }

        fn text(&self) -> String {
            let rows: Vec<String> = self.parser.screen().rows(0, self.columns).collect();
            rows.join("\n").trim_end().to_owned()
        }
    }

    /// Permanent lines that wrap leave nothing of the frame that they replace, and file names are narrowed to fit.
    #[test]
    fn long_lines_are_broken_at_spaces_and_commands_are_not() {
        let text =
            "a film of the sea, and `runner run sea.yaml --only a` makes it\nhint: runner run a b c d e f\n";
        let expected = "a film of the\nsea, and\n`runner run sea.yaml --only a`\nmakes it\nhint: runner run a b c d e f\n";
        assert_eq!(wrapped(text, 16), expected);
        assert_eq!(wrapped(text, 80), text);
    }

    #[test]
    fn permanent_lines_leave_no_rest_of_the_frame_at_any_width() {
        let mut screens = String::new();
        for columns in [40_u16, 80, 200] {
            let mut terminal = VirtualTerminal::new(columns);
            let columns = usize::from(columns);
            let bar = |name: &str| {
                fit(&format!("  {name}  {}   99 %  12 s  in progress", "━".repeat(columns / 3)), columns - 1)
            };
            let frame = [bar("breakwater"), bar("lamp")];
            terminal.write(&repaint(&[], columns, &[], &frame));
            let widths: Vec<usize> = frame.iter().map(|(_, width)| *width).collect();
            let file = "tui2/a long folder name for my film/episode one/out/six/a2-28a6d2dd7dc1.mp4";
            let line = format!("a2: done in 5.6 s, {file}");
            let above = [
                "b2: failed: The output was blocked by our content policy. (content_policy_violation)"
                    .to_owned(),
                file_line(&line, file, Path::new("/films/a2-28a6d2dd7dc1.mp4"), columns - 1),
            ];
            terminal.write(&repaint(&widths, columns, &above, &frame[..1]));
            terminal.write(&repaint(&widths[..1], columns, &["film: joined".to_owned()], &[]));
            let _ = writeln!(screens, "{columns} columns\n{}\n", terminal.text());
        }
        insta::assert_snapshot!(screens);
    }

    #[test]
    fn fit_cuts_between_wide_characters() {
        assert_eq!(fit("harbor", 6), ("harbor".to_owned(), 6));
        assert_eq!(fit("harbor", 5), ("harb…".to_owned(), 5));
        assert_eq!(fit("灯台の灯", 6), ("灯台…".to_owned(), 5));
        assert_eq!(fit("灯台", 1), ("…".to_owned(), 1));
        assert_eq!(fit("灯台", 0), (String::new(), 0));
    }

    #[test]
    fn fit_name_keeps_both_ends() {
        assert_eq!(fit_name("harbor@look=noir,seed=2", 30).0, "harbor@look=noir,seed=2");
        assert_eq!(fit_name("harbor@look=noir,seed=2", 16), ("harbo…oir,seed=2".to_owned(), 16));
        assert_eq!(fit_name("灯台の光が海を照らす", 9), ("灯…照らす".to_owned(), 9));
        assert_eq!(fit_name("harbor", 3), ("ha…".to_owned(), 3));
    }
}
