//! Tables for people: columns as wide as they need to be.

use unicode_width::UnicodeWidthStr;

use super::screen::fit_name;

/// Width below which no column is narrowed.
const MIN_WIDTH: usize = 12;

/// Rows of text in aligned columns.
#[derive(Debug, Clone)]
pub(crate) struct Table {
    rows: Vec<Vec<String>>,
}

impl Table {
    /// A table with these column heads.
    pub(crate) fn new<const N: usize>(heads: [&str; N]) -> Self {
        Self { rows: vec![heads.map(str::to_owned).to_vec()] }
    }

    pub(crate) fn row<const N: usize>(&mut self, cells: [String; N]) {
        self.rows.push(cells.into());
    }

    /// Keeps only the columns that pass; they are counted from 0.
    pub(crate) fn keep(&mut self, passes: impl Fn(usize) -> bool) {
        for row in &mut self.rows {
            let mut column = 0;
            row.retain(|_| {
                column += 1;
                passes(column - 1)
            });
        }
    }

    /// The width of its widest row.
    pub(crate) fn width(&self) -> usize {
        self.render().lines().map(str::width).max().unwrap_or(0)
    }

    /// Narrows a column, as far as it is legible, until the table fits: its cells are shortened in the middle.
    pub(crate) fn narrow(&mut self, column: usize, columns: usize) {
        let excess = self.width().saturating_sub(columns);
        let cells = || self.rows.iter().filter_map(|row| row.get(column));
        let width = cells().map(|cell| cell.width()).max().unwrap_or(0);
        if excess == 0 || width <= MIN_WIDTH {
            return;
        }
        let width = width.saturating_sub(excess).max(MIN_WIDTH);
        for cell in self.rows.iter_mut().filter_map(|row| row.get_mut(column)) {
            *cell = fit_name(cell, width).0;
        }
    }

    /// The table as text, each line ended.
    pub(crate) fn render(&self) -> String {
        let columns = self.rows.iter().map(Vec::len).max().unwrap_or(0);
        let widths: Vec<usize> = (0..columns)
            .map(|column| {
                self.rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.width()).max().unwrap_or(0)
            })
            .collect();
        let mut text = String::new();
        for row in &self.rows {
            let mut line = String::new();
            for (cell, width) in row.iter().zip(&widths) {
                line.push_str(cell);
                line.push_str(&" ".repeat(width - cell.width() + 2));
            }
            text.push_str(line.trim_end());
            text.push('\n');
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_align_for_wide_characters() {
        let mut table = Table::new(["shot", "n"]);
        table.row(["灯台".to_owned(), "1".to_owned()]);
        table.row(["breakwater".to_owned(), "22".to_owned()]);
        assert_eq!(table.render(), "shot        n\n灯台        1\nbreakwater  22\n");
    }

    #[test]
    fn columns_are_narrowed_as_far_as_they_are_legible() {
        let mut table = Table::new(["shot", "file"]);
        table.row(["harbor@look=noir,seed=2".to_owned(), "out/harbor-28a6d2dd7dc1.mp4".to_owned()]);
        table.narrow(1, 45);
        assert_eq!(table.width(), 45, "{}", table.render());
        assert!(
            table.render().ends_with("harbor@look=noir,seed=2  out/ha…6d2dd7dc1.mp4\n"),
            "{}",
            table.render()
        );
        table.narrow(1, 20);
        table.narrow(0, 20);
        assert_eq!(table.width(), 12 + 2 + 12);
        table.narrow(0, 20);
        assert_eq!(table.width(), 12 + 2 + 12);
    }
}
