//! A block of lines at the bottom of a terminal that is redrawn in place, with permanent lines above it.

use console::Term;
use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

/// The terminal and the last frame.
#[derive(Debug)]
pub(crate) struct Screen {
    term: Term,
    /// Display widths of the lines of the last frame.
    drawn: Vec<usize>,
}

/// Rows and columns of a terminal of unknown size.
const DEFAULT_SIZE: (usize, usize) = (24, 80);

impl Screen {
    /// On standard error.
    pub(crate) fn stderr() -> Self {
        Self { term: Term::buffered_stderr(), drawn: Vec::new() }
    }

    /// On standard output.
    pub(crate) fn stdout() -> Self {
        Self { term: Term::buffered_stdout(), drawn: Vec::new() }
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
        // A terminal that became narrower has wrapped the last frame.
        let rows: usize = self.drawn.iter().map(|width| width.div_ceil(columns + 1).max(1)).sum();
        if rows > 0 {
            self.term.move_cursor_up(rows)?;
        }
        for line in above.iter().chain(lines.iter().map(|(line, _)| line)) {
            self.term.clear_line()?;
            self.term.write_str(line)?;
            self.term.write_str("\n")?;
        }
        self.term.clear_to_end_of_screen()?;
        self.drawn = lines.iter().map(|(_, width)| *width).collect();
        self.term.flush()
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
        let more = c.width().unwrap_or(0);
        if taken + more + 1 > columns {
            break;
        }
        cut.push(c);
        taken += more;
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
    let mut kept = 0;
    for c in name.chars().rev() {
        let more = c.width().unwrap_or(0);
        if taken + kept + more > columns {
            break;
        }
        tail.insert(0, c);
        kept += more;
    }
    (head + &tail, taken + kept)
}

#[cfg(test)]
mod tests {
    use super::*;

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
