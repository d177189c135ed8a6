//! The axes of a shot, read from its cells: a plan has no matrix any more.

use std::cmp::Reverse;

use indexmap::IndexMap;
use serde_json::Value;
use viewer::Axis;
use workflow::plan::Cell;

/// The axes of a shot's cells with the values that occur. Cells that are equal on the axes before it have the values of an axis in its order;
/// `exclude` may have taken some of them out.
pub(super) fn axes(cells: &[&Cell]) -> Vec<Axis> {
    // By axis and by the values before it, each value by its text.
    let mut axes: IndexMap<&str, IndexMap<String, IndexMap<String, &Value>>> = IndexMap::new();
    for cell in cells {
        let mut before = String::new();
        for (axis, value) in cell.iter() {
            let text = value.to_string();
            let values = axes.entry(axis).or_default().entry(before.clone()).or_default();
            before = format!("{before}{text},");
            values.entry(text).or_insert(value);
        }
    }
    let axis = |(name, runs): (&str, IndexMap<String, IndexMap<String, &Value>>)| {
        let mut runs: Vec<_> = runs.into_values().collect();
        runs.sort_by_key(|run| Reverse(run.len()));
        let mut values: IndexMap<String, &Value> = IndexMap::new();
        for run in runs {
            // What is new stands before the next value that is known.
            let mut at = values.len();
            for (text, value) in run.into_iter().rev() {
                match values.get_index_of(&text) {
                    Some(known) => at = known,
                    None => drop(values.shift_insert(at, text, value)),
                }
            }
        }
        Axis { name: name.to_owned(), values: values.into_values().cloned().collect() }
    };
    axes.into_iter().map(axis).collect()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use serde_json::json;

    use super::*;

    fn order(cells: &[[&str; 3]]) -> String {
        let cell = |values: &[&str; 3]| {
            let named =
                ["look", "move", "who"].into_iter().zip(values).filter(|(_, value)| !value.is_empty());
            named.map(|(axis, value)| (Arc::from(axis), Arc::new(json!(value)))).collect()
        };
        let cells: Vec<Cell> = cells.iter().map(cell).collect();
        let text = |axis: &Axis| {
            let values: Vec<&str> = axis.values.iter().filter_map(Value::as_str).collect();
            format!("{} {}", axis.name, values.join("+"))
        };
        axes(&cells.iter().collect::<Vec<_>>()).iter().map(text).collect::<Vec<_>>().join(", ")
    }

    #[test]
    fn values_are_in_the_order_of_their_axis() {
        // `exclude` has taken `a, 1` out.
        let sweep = [["a", "2", "x"], ["a", "3", "x"], ["b", "1", "x"], ["b", "2", "x"], ["b", "3", "x"]];
        assert_eq!(order(&sweep), "look a+b, move 1+2+3, who x");
        // No row has all values, and takes repeat cells.
        let rows = [["a", "1", ""], ["a", "3", ""], ["b", "2", ""], ["b", "2", ""], ["b", "3", ""]];
        assert_eq!(order(&rows), "look a+b, move 1+2+3");
        assert_eq!(order(&[["", "", ""]]), "");
    }
}
