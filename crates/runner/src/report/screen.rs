//! A few lines at the bottom of a terminal that are drawn again and again, with lines that stay above them.

use console::Term;
use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

/// The terminal, and what was drawn on it last.
#[derive(Debug)]
pub(crate) struct Screen {
    term: Term,
    /// The widths of the lines that were drawn last.
    drawn: Vec<usize>,
}

/// A terminal's size where it does not tell.
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

    /// Rows and columns that lines may take now: the cursor keeps a row and a column to itself.
    pub(crate) fn size(&self) -> (usize, usize) {
        let (rows, columns) = self
            .term
            .size_checked()
            .map_or(DEFAULT_SIZE, |(rows, columns)| (usize::from(rows), usize::from(columns)));
        (rows.saturating_sub(1).max(1), columns.saturating_sub(1).max(8))
    }

    /// Draws `lines` in place of what was drawn last, below `above`, which stays. Every line has to fit: see [`fit`]. It all goes out in one piece, so
    /// that nothing flickers.
    pub(crate) fn draw(&mut self, above: &[String], lines: &[(String, usize)]) {
        // A terminal that went away is no reason to stop.
        let _ = self.try_draw(above, lines);
    }

    fn try_draw(&mut self, above: &[String], lines: &[(String, usize)]) -> std::io::Result<()> {
        let (_, columns) = self.size();
        // A terminal that has become narrower has broken what stands on it into more rows.
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

/// A text cut to a width in columns, with a sign that it was, and its width.
pub(crate) fn fit(text: &str, columns: usize) -> (String, usize) {
    let width = text.width();
    if width <= columns {
        return (text.to_owned(), width);
    }
    let mut cut = String::new();
    let mut taken = 0;
    for letter in text.chars() {
        let more = letter.width().unwrap_or(0);
        if taken + more + 1 > columns {
            break;
        }
        cut.push(letter);
        taken += more;
    }
    if columns > 0 {
        cut.push('…');
        taken += 1;
    }
    (cut, taken)
}

/// A name cut in its middle: what tells it apart from others stands at its end as often as at its beginning.
pub(crate) fn fit_name(name: &str, columns: usize) -> (String, usize) {
    if name.width() <= columns || columns < 4 {
        return fit(name, columns);
    }
    let (head, taken) = fit(name, columns / 3 + 1);
    let mut tail = String::new();
    let mut kept = 0;
    for letter in name.chars().rev() {
        let more = letter.width().unwrap_or(0);
        if taken + kept + more > columns {
            break;
        }
        tail.insert(0, letter);
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
