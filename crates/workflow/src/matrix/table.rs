//! Tables as axis values: each row is a map of its columns.

use std::cell::LazyCell;

use serde_json::{Map, Number, Value};

use crate::source::Source;
use crate::yaml::keeps_text;
use crate::{csv, limits};

/// The rows of a table, and what keeps its columns from holding numbers.
pub(super) struct Table<T> {
    pub(super) rows: Vec<T>,
    pub(super) odd_cells: Vec<OddCell>,
}

/// The first cell that is no number, of a column that has some.
pub(super) struct OddCell {
    pub(super) column: String,
    pub(super) text: String,
    pub(super) line: usize,
}

/// The rows of a CSV text, each as a map by the names in its first row.
///
/// A column whose filled cells all read as numbers (`7`, `-1.5`, `24.90`; not `007` or `1e3`) holds numbers, and `null` where a cell is empty;
/// every other column holds text as it is written. A number such as `24.90` is its text, which templates read as a number.
pub(super) fn table(text: &str, max_cells: usize) -> Result<Table<Value>, String> {
    let (names, rows) =
        csv::read_table(text, limits::MAX_CSV_ROWS, max_cells).map_err(|error| error.located(text))?;
    if names.is_empty() {
        return Err("this table is empty: its first row names the columns".to_owned());
    }
    if let [only] = names.as_slice()
        && only.text.contains('|')
    {
        return Err(
            "its columns are separated by `|`: separate them by commas, semicolons or tabs".to_owned()
        );
    }
    for (index, name) in names.iter().enumerate() {
        if name.text.is_empty() {
            return Err(format!("column {} has no name", index + 1));
        }
        if names[..index].iter().any(|other| other.text == name.text) {
            return Err(format!("two columns are named `{}`", name.text));
        }
    }
    let is_number = |cell: &str| number(cell).is_some() || keeps_text(cell);
    let source = LazyCell::new(|| Source::new("", text));
    let mut odd_cells = Vec::new();
    let mut is_numeric = |column: usize| {
        let filled = || rows.iter().map(|row| &row[column]).filter(|cell| !cell.text.is_empty());
        let has_number = filled().any(|cell| is_number(&cell.text));
        let odd = filled().find(|cell| !is_number(&cell.text)).filter(|_| has_number);
        odd_cells.extend(odd.map(|cell| OddCell {
            column: names[column].text.clone(),
            text: cell.text.clone(),
            line: source.position(cell.span.start()).line,
        }));
        has_number && odd.is_none()
    };
    let numeric: Vec<bool> = (0..names.len()).map(&mut is_numeric).collect();
    let value = |cell: String, numeric: bool| match number(&cell) {
        Some(number) if numeric => Value::Number(number),
        None if numeric && cell.is_empty() => Value::Null,
        _ => Value::String(cell),
    };
    let rows = rows
        .into_iter()
        .map(|row| {
            let cells = names.iter().map(|name| name.text.clone()).zip(row).zip(&numeric);
            Value::Object(
                cells
                    .map(|((name, cell), numeric)| (name, value(cell.text, *numeric)))
                    .collect::<Map<_, _>>(),
            )
        })
        .collect();
    Ok(Table { rows, odd_cells })
}

/// A number that is written as JSON writes it; finite.
fn number(cell: &str) -> Option<Number> {
    let is_number =
        |number: &Number| number.as_f64().is_some_and(f64::is_finite) && number.to_string() == cell;
    serde_json::from_str::<Number>(cell).ok().filter(is_number)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    fn rows(text: &str) -> Result<Vec<serde_json::Value>, String> {
        super::table(text, 1_000).map(|table| table.rows)
    }

    #[test]
    fn csv_columns_are_numeric_or_text() {
        let table = "\u{feff}name,seed,code,age\nMara,7,007,\n\"Old, Tom\",-1.5,12,80\n";
        assert_eq!(
            rows(table).unwrap(),
            [
                json!({"name": "Mara", "seed": 7, "code": "007", "age": null}),
                json!({"name": "Old, Tom", "seed": -1.5, "code": "12", "age": 80}),
            ]
        );
        for same in [table.replace(',', ";").replace("Old; Tom", "Old, Tom"), table.replace('\n', "\r")] {
            assert_eq!(rows(&same).unwrap(), rows(table).unwrap(), "{same:?}");
        }
        assert_eq!(rows("a\n\" x \"\n").unwrap(), [json!({"a": " x "})]);
        assert_eq!(rows("a\n\" 7 \"\n").unwrap(), [json!({"a": " 7 "})]);
        assert_eq!(rows("a,b\n12e03,1.10\n1,2\n").unwrap()[0], json!({"a": "12e03", "b": "1.10"}));
        for wrong in ["", "a,a\n1,2\n", "a,\n1,2\n", "a,b\n1\n", "a\n\"x\n", "look|n\nnoir|1\n"] {
            assert!(rows(wrong).is_err(), "{wrong:?}");
        }
    }
}
