//! Tables that the filter `csv` has read: every instance of a shot asks for the same one.

use std::sync::{Mutex, PoisonError};

use minijinja::value::Value;

/// Tables that are remembered.
const MAX_TABLES: usize = 8;

/// Results of the filter `csv`: the text, whether its first row names the columns, the rows.
#[derive(Debug, Default)]
pub(super) struct CsvTables(Mutex<Vec<(Value, bool, Value)>>);

impl CsvTables {
    /// The rows of a table that was read before.
    pub(super) fn table(&self, text: &Value, header: bool) -> Option<Value> {
        let text = text.as_str()?;
        let tables = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let cached = tables.iter().find(|(cached, has_header, _)| {
            *has_header == header && cached.as_str().is_some_and(|cached| is_same(cached, text))
        });
        cached.map(|(_, _, rows)| rows.clone())
    }

    pub(super) fn remember(&self, text: &Value, header: bool, rows: &Value) {
        let mut tables = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if tables.len() >= MAX_TABLES {
            tables.remove(0);
        }
        tables.push((text.clone(), header, rows.clone()));
    }
}

/// Whether two texts are one text in memory, which an entry keeps. Short ones are part of their value, without a lasting place: they are compared.
fn is_same(one: &str, other: &str) -> bool {
    std::ptr::eq(one, other) || (one.len() <= 64 && one == other)
}
