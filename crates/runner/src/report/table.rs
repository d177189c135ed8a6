//! Tables for people: columns as wide as they need to be.

use unicode_width::UnicodeWidthStr;

/// Rows of text in aligned columns.
#[derive(Debug)]
pub(crate) struct Table {
    rows: Vec<Vec<String>>,
}

impl Table {
    /// A table with these column heads.
    pub(crate) fn new<const N: usize>(heads: [&str; N]) -> Self {
        Self { rows: vec![heads.map(str::to_owned).to_vec()] }
    }

    /// Adds a row.
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
}
