//! Tables as axis values: each row is a map of its columns.

use serde_json::{Map, Number, Value};

use crate::template::csv_rows;

/// The rows of a CSV text (RFC 4180), as maps keyed by the header.
///
/// A column is numeric if every non-empty field parses as a JSON number (`7`, `-1.5`; not `007` or `1e3x`); its empty fields are
/// `null`. Every other column is text.
pub(super) fn rows(text: &str) -> Result<Vec<Value>, String> {
    let mut rows = csv_rows(text.trim_start_matches('\u{feff}'))?.into_iter();
    let names =
        rows.next().ok_or_else(|| "this table is empty: its first line names the columns".to_owned())?;
    for (index, name) in names.iter().enumerate() {
        if name.is_empty() {
            return Err(format!("column {} has no name", index + 1));
        }
        if names[..index].contains(name) {
            return Err(format!("two columns are named `{name}`"));
        }
    }
    let rows: Vec<Vec<String>> = rows.collect();
    for (index, row) in rows.iter().enumerate() {
        if row.len() != names.len() {
            let (row, names) = (row.len(), names.len());
            return Err(format!("row {} has {row} cells, the first line names {names}", index + 2));
        }
    }
    let numeric: Vec<bool> = (0..names.len())
        .map(|column| {
            let mut filled =
                rows.iter().map(|row| row[column].as_str()).filter(|cell| !cell.is_empty()).peekable();
            filled.peek().is_some() && filled.all(|cell| number(cell).is_some())
        })
        .collect();
    let value = |cell: String, numeric: bool| match (numeric, number(&cell)) {
        (true, Some(number)) => Value::Number(number),
        (true, None) => Value::Null,
        (false, _) => Value::String(cell),
    };
    Ok(rows
        .into_iter()
        .map(|row| {
            let cells = names.iter().cloned().zip(row).zip(&numeric);
            Value::Object(
                cells.map(|((name, cell), numeric)| (name, value(cell, *numeric))).collect::<Map<_, _>>(),
            )
        })
        .collect())
}

/// A number as JSON writes it; finite.
fn number(cell: &str) -> Option<Number> {
    serde_json::from_str::<Number>(cell).ok().filter(|number| number.as_f64().is_some_and(f64::is_finite))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::rows;

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
        for wrong in ["", "a,a\n1,2\n", "a,\n1,2\n", "a,b\n1\n", "a\n\"x\n"] {
            assert!(rows(wrong).is_err(), "{wrong:?}");
        }
    }
}
