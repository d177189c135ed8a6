//! Cells that are there twice: the same video is requested, and paid for, again.

use std::collections::{HashMap, HashSet};

use serde_json::Value;

use super::AxisOverride;
use super::axis::TableCache;
use super::rules::Rule;
use super::zip::ZipGroup;
use crate::diagnostic::{Diagnostic, Problems};
use crate::source::Span;

/// Warns of an axis, or of axes that are zipped, with the same values twice. One warning for each, at the first shot that has a table.
pub(super) fn check_axes(groups: &[ZipGroup], tables: &TableCache, problems: &mut Problems) {
    for group in groups {
        let Some((axis, values)) = group.first() else { continue };
        let first_values =
            group.iter().filter_map(|(_, values)| Some(values.first()?.value.clone())).collect();
        if !tables.is_first_comparison(first_values) {
            continue;
        }
        let mut rows: HashMap<Vec<&Value>, usize> = HashMap::with_capacity(values.len());
        let mut repeated: Option<(usize, usize)> = None;
        let mut further = 0;
        for index in 0..values.len() {
            let row = group.iter().filter_map(|(_, values)| values.get(index)).map(|value| &*value.value);
            let first = *rows.entry(row.collect()).or_insert(index);
            if first != index {
                further += usize::from(repeated.is_some());
                repeated.get_or_insert((first, index));
            }
        }
        let Some((first, second)) = repeated else { continue };
        let span = |index: usize| {
            values.get(index).map_or(axis.span, |value: &super::AxisValue| value.span.or(axis.span))
        };
        let names: Vec<String> = group.iter().map(|(axis, _)| format!("`{}`", axis.value)).collect();
        let message = format!(
            "the values {} and {} of {} are equal: both request the same video",
            first + 1,
            second + 1,
            names.join(" with ")
        );
        problems.push(warning(span(second), span(first), &message, further));
    }
}

/// Warns of entries of `include` that add no cell and no value, and of those that add the same cell. `used` says which are added to
/// cells that there are.
pub(super) fn check_includes(
    include: &[Rule],
    used: &[bool],
    axes: &HashSet<&str>,
    overrides: &[AxisOverride],
    problems: &mut Problems,
) {
    let mut own: HashMap<Vec<(&str, &Value)>, Span> = HashMap::new();
    for (rule, used) in include.iter().zip(used) {
        let Some((key, _)) = rule.first() else { continue };
        if *used {
            // Values of an axis that the command line replaces are expected to be those of an entry.
            let is_overridden = |axis: &str| overrides.iter().any(|replaced| replaced.axis == axis);
            if rule.iter().all(|(axis, _)| axes.contains(axis.value.as_str()) && !is_overridden(&axis.value))
            {
                let message = "this adds nothing: there is a cell with these values";
                problems.push(Diagnostic::warning("equal-cells", key.span, message).help(
                    "remove it, or give it values that no cell has; several candidates of one shot are `takes: 2`",
                ));
            }
            continue;
        }
        let mut cell: Vec<(&str, &Value)> =
            rule.iter().map(|(axis, value)| (axis.value.as_str(), &*value.value)).collect();
        cell.sort_unstable_by_key(|(axis, _)| *axis);
        if let Some(first) = own.get(&cell) {
            let message = "this entry of `include` is there twice: both request the same video";
            problems.push(warning(key.span, *first, message, 0));
        } else {
            own.insert(cell, key.span);
        }
    }
}

fn warning(second: Span, first: Span, message: &str, further: usize) -> Diagnostic {
    let mut diagnostic = Diagnostic::warning("equal-cells", second, message)
        .help("remove one of them; several candidates of one shot are `takes: 2`");
    if further > 0 {
        diagnostic = diagnostic.label(format!("and {further} more are equal to others"));
    }
    // The rows of a table have one span.
    if first == second { diagnostic } else { diagnostic.other(first, "first here") }
}
