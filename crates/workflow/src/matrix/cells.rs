//! Expands a matrix into its cells: product, `zip`, `exclude`, `include`.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use indexmap::IndexMap;

use super::zip::{self, Group};
use super::{AxisOverride, AxisValue, Cell, FileAccess, Values, axis};
use crate::diagnostic::{Diagnostic, Problems, did_you_mean, grouped, quoted_list};
use crate::limits;
use crate::syntax::identifier;
use crate::yaml::{Key, Yaml, YamlValue};

type Rule = Vec<(Key, AxisValue)>;

/// A parsed matrix, before the product.
#[derive(Default)]
struct Spec {
    /// Groups of axes. The axes of one group advance together; most groups have one axis.
    groups: Vec<Group>,
    include: Vec<Rule>,
    exclude: Vec<Rule>,
}

/// The cells of a rendered matrix, in order: the last axis varies fastest; combinations that `include` adds come last. `None` if
/// the matrix is invalid, which is reported.
///
/// Values in `overrides` replace those of the matrix; an `include` entry with another value on such an axis is dropped. The number
/// of cells is computed, and bounded, before any is made.
pub(crate) fn cells(
    word: &Key,
    matrix: &Yaml,
    overrides: &[AxisOverride],
    file_access: FileAccess<'_>,
    problems: &mut Problems,
) -> Option<Vec<Cell>> {
    let mut spec = read(word, matrix, overrides, file_access, problems)?;
    if spec.groups.is_empty() && spec.include.is_empty() {
        problems.push(
            Diagnostic::error("bad-matrix", word.span, "this matrix has no axis")
                .help("write `matrix: {seed: [1, 2, 3]}`"),
        );
        return None;
    }
    let mut cells = product(word, &spec.groups, problems)?;
    cells.retain(|cell| !spec.exclude.iter().any(|rule| matches_rule(cell, rule)));
    spec.include.retain(|rule| rule.iter().all(|entry| survives_overrides(entry, overrides)));
    include_all(&mut cells, &spec.groups, spec.include);
    if cells.is_empty() {
        problems.push(
            Diagnostic::error("bad-matrix", word.span, "no cell of this matrix is left").help("exclude less"),
        );
        return None;
    }
    if cells.len() > limits::MAX_INSTANCES {
        problems.push(too_large(word, cells.len() as u128));
        return None;
    }
    Some(cells)
}

/// Whether an entry of `include` has a value that the axis still has after overrides.
fn survives_overrides((axis, value): &(Key, AxisValue), overrides: &[AxisOverride]) -> bool {
    let replaced = overrides.iter().find(|replaced| replaced.axis == axis.value);
    replaced.is_none_or(|replaced| replaced.values.iter().any(|other| other.value == value.value))
}

fn read(
    word: &Key,
    matrix: &Yaml,
    overrides: &[AxisOverride],
    file_access: FileAccess<'_>,
    problems: &mut Problems,
) -> Option<Spec> {
    let YamlValue::Map(entries) = &matrix.value else {
        problems.push(
            Diagnostic::error("bad-matrix", matrix.span.or(word.span), "`matrix` is a map of axes")
                .label(format!("this is {}", matrix.kind()))
                .help("write `matrix: {seed: [1, 2, 3]}`"),
        );
        return None;
    };
    let mut spec = Spec::default();
    let mut sound = true;
    for (key, value) in entries {
        match key.value.as_str() {
            "include" => sound &= rules(key, value, problems).map(|found| spec.include = found).is_some(),
            "exclude" => sound &= rules(key, value, problems).map(|found| spec.exclude = found).is_some(),
            "zip" => {
                let found = zip::groups(key, value, overrides, file_access, problems);
                sound &= found.map(|found| spec.groups.extend(found)).is_some();
            }
            _ => {
                let found = zip::axis_values(key, value, overrides, file_access, problems);
                sound &= found.is_some();
                spec.groups.push(vec![(key.clone(), found.unwrap_or_default())]);
            }
        }
    }
    let mut seen: HashMap<&str, &Key> = HashMap::new();
    for (key, _) in spec.groups.iter().flatten() {
        if let Some(first) = seen.insert(&key.value, key) {
            let message = format!("the axis `{}` is given twice", key.value);
            problems.push(Diagnostic::error("bad-matrix", key.span, message).other(first.span, "first here"));
            sound = false;
        }
    }
    for (key, _) in spec.exclude.iter().flatten() {
        if !seen.contains_key(key.value.as_str()) {
            let message = format!("`{}` is not an axis of this matrix", key.value);
            let known = || spec.groups.iter().flatten().map(|(axis, _)| axis.value.as_str());
            problems.push(
                Diagnostic::error("bad-matrix", key.span, message).help(
                    did_you_mean(&key.value, known())
                        .unwrap_or_else(|| format!("the axes are {}", quoted_list(known(), 12))),
                ),
            );
            sound = false;
        }
    }
    sound.then_some(spec)
}

fn too_large(word: &Key, count: u128) -> Diagnostic {
    Diagnostic::error("matrix-too-large", word.span, format!("this matrix has {} cells", grouped(count)))
        .help(format!("a plan has at most {} instances", grouped(limits::MAX_INSTANCES as u128)))
}

/// `include` or `exclude`: a list of maps.
fn rules(word: &Key, value: &Yaml, problems: &mut Problems) -> Option<Vec<Rule>> {
    let items = match &value.value {
        YamlValue::List(items) => items.as_slice(),
        YamlValue::Null => &[],
        _ => {
            problems.push(
                Diagnostic::error(
                    "bad-matrix",
                    value.span.or(word.span),
                    format!("`{}` is a list of maps", word.value),
                )
                .label(format!("this is {}", value.kind())),
            );
            return None;
        }
    };
    if items.len() > limits::MAX_MATRIX_RULES {
        problems.error(
            "matrix-too-large",
            word.span,
            format!("`{}` has more than {} entries", word.value, limits::MAX_MATRIX_RULES),
        );
        return None;
    }
    let mut sound = true;
    let mut found = Vec::with_capacity(items.len());
    for item in items {
        let YamlValue::Map(entries) = &item.value else {
            problems.push(
                Diagnostic::error(
                    "bad-matrix",
                    item.span.or(word.span),
                    format!("`{}` is a list of maps", word.value),
                )
                .label(format!("this is {}", item.kind())),
            );
            sound = false;
            continue;
        };
        let mut rule = Rule::with_capacity(entries.len());
        for (key, value) in entries {
            if let Err(message) = identifier(&key.value) {
                problems.error("bad-name", key.span, message);
                sound = false;
            }
            rule.push((key.clone(), axis::value(value.to_json(), axis::value_span(value, key))));
        }
        found.push(rule);
    }
    sound.then_some(found)
}

fn product(word: &Key, groups: &[Group], problems: &mut Problems) -> Option<Vec<Cell>> {
    if groups.is_empty() {
        return Some(Vec::new());
    }
    let length = |group: &Group| group.first().map_or(0, |(_, values)| values.len());
    let count = groups.iter().fold(1_u128, |count, group| count.saturating_mul(length(group) as u128));
    if count > limits::MAX_INSTANCES as u128 {
        problems.push(too_large(word, count));
        return None;
    }
    let mut combinations: Vec<IndexMap<Arc<str>, AxisValue>> = vec![IndexMap::new()];
    for group in groups {
        let axes: &Vec<(Arc<str>, &Values)> =
            &group.iter().map(|(axis, values)| (Arc::from(axis.value.as_str()), values)).collect();
        combinations = combinations
            .into_iter()
            .flat_map(|combination| {
                (0..length(group)).map(move |index| {
                    let mut longer = combination.clone();
                    for (axis, values) in axes {
                        longer.insert(Arc::clone(axis), values[index].clone());
                    }
                    longer
                })
            })
            .collect();
    }
    Some(combinations.into_iter().map(Cell::named).collect())
}

/// Whether a cell has all values of a rule.
fn matches_rule(cell: &Cell, rule: &Rule) -> bool {
    rule.iter().all(|(axis, value)| {
        cell.values.get(axis.value.as_str()).is_some_and(|ours| ours.value == value.value)
    })
}

/// Applies `include`. An entry is added to every original combination that agrees with it on the original axes; values added by an
/// earlier entry may be overwritten. An entry that agrees with none becomes a combination of its own, to which nothing is added.
fn include_all(cells: &mut Vec<Cell>, groups: &[Group], include: Vec<Rule>) {
    let axes: HashSet<&str> = groups.iter().flatten().map(|(axis, _)| axis.value.as_str()).collect();
    let originals = cells.len();
    for entry in include {
        let entry: Vec<(Arc<str>, AxisValue)> =
            entry.into_iter().map(|(axis, value)| (Arc::from(axis.value), value)).collect();
        let mut added = false;
        for cell in &mut cells[..originals] {
            let fits = entry.iter().all(|(axis, value)| {
                !axes.contains(&**axis) || cell.values.get(axis).is_some_and(|ours| ours.value == value.value)
            });
            if fits {
                added = true;
                for (axis, value) in &entry {
                    if !axes.contains(&**axis) {
                        cell.values.insert(Arc::clone(axis), value.clone());
                    }
                }
            }
        }
        if !added {
            cells.push(Cell::named(entry.into_iter().collect()));
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::source::Source;

    fn expand(yaml: &str) -> Result<Vec<Value>, Vec<Diagnostic>> {
        let mut problems = Problems::default();
        let source = Source::new("matrix.yaml", yaml);
        let tree = crate::yaml::read(&source, &mut problems).unwrap();
        let (key, value) = tree.get("matrix").unwrap();
        let files = crate::InMemory::default();
        let file_access = FileAccess { files: &files, outside: false };
        let cells = cells(key, value, &[], file_access, &mut problems);
        match cells {
            Some(cells) => Ok(cells
                .iter()
                .map(|cell| {
                    cell.values
                        .iter()
                        .map(|(axis, value)| (axis.to_string(), Value::clone(&value.value)))
                        .collect()
                })
                .collect()),
            None => Err(problems.into_sorted().0),
        }
    }

    /// The example in GitHub's documentation of `include`.
    #[test]
    fn include_follows_the_rules_of_github_actions() {
        let cells = expand(
            "matrix:\n  fruit: [apple, pear]\n  animal: [cat, dog]\n  include:\n    - color: green\n    - color: pink\n      \
             animal: cat\n    - fruit: apple\n      shape: circle\n    - fruit: banana\n    - fruit: banana\n      \
             animal: cat\n",
        );
        assert_eq!(
            cells.unwrap(),
            [
                json!({"fruit": "apple", "animal": "cat", "color": "pink", "shape": "circle"}),
                json!({"fruit": "apple", "animal": "dog", "color": "green", "shape": "circle"}),
                json!({"fruit": "pear", "animal": "cat", "color": "pink"}),
                json!({"fruit": "pear", "animal": "dog", "color": "green"}),
                json!({"fruit": "banana"}),
                json!({"fruit": "banana", "animal": "cat"}),
            ]
        );
    }

    #[test]
    fn exclude_matches_partially_and_precedes_include() {
        let cells = expand(
            "matrix:\n  look: [noir, pastel]\n  seed: {from: 1, to: 2}\n  exclude:\n    - look: noir\n  include:\n    \
             - {look: noir, seed: 9}\n",
        );
        assert_eq!(
            cells.unwrap(),
            [
                json!({"look": "pastel", "seed": 1}),
                json!({"look": "pastel", "seed": 2}),
                json!({"look": "noir", "seed": 9})
            ]
        );
    }

    #[test]
    fn include_without_axes_lists_cells() {
        let cells = expand("matrix:\n  include:\n    - {a: 1}\n    - {a: 2, b: x}\n").unwrap();
        assert_eq!(cells, [json!({"a": 1}), json!({"a": 2, "b": "x"})]);
    }

    #[test]
    fn range_axes_ascend_descend_and_step_by_fractions() {
        let axis = |range: &str| {
            expand(&format!("matrix: {{a: {range}}}"))
                .unwrap()
                .into_iter()
                .map(|cell| cell["a"].clone())
                .collect::<Vec<_>>()
        };
        assert_eq!(axis("{from: 1, to: 7, step: 3}"), [json!(1), json!(4), json!(7)]);
        assert_eq!(axis("{from: 2, to: 0, step: -1}"), [json!(2), json!(1), json!(0)]);
        assert_eq!(axis("{from: 0, to: 0.3, step: 0.1}"), [json!(0.0), json!(0.1), json!(0.2), json!(0.3)]);
    }

    #[test]
    fn zip_axes_advance_together() {
        let cells = expand(
            "matrix:\n  zip: {look: [noir, pastel], seed: [7, 8]}\n  lens: [24mm, 50mm]\n  exclude: [{look: noir, lens: 50mm}]\n",
        );
        assert_eq!(
            cells.unwrap(),
            [
                json!({"look": "noir", "seed": 7, "lens": "24mm"}),
                json!({"look": "pastel", "seed": 8, "lens": "24mm"}),
                json!({"look": "pastel", "seed": 8, "lens": "50mm"}),
            ]
        );
        assert_eq!(expand("matrix: {zip: {a: [1, 2], b: [1]}}").unwrap_err()[0].code, "bad-matrix");
        assert_eq!(expand("matrix: {zip: {a: [1, 2]}, a: [1]}").unwrap_err()[0].code, "bad-matrix");
    }

    #[test]
    fn oversized_matrix_is_rejected_before_expansion() {
        let values = (0..100).map(|n| n.to_string()).collect::<Vec<_>>().join(", ");
        let axes = (0..10).map(|n| format!("  a{n}: [{values}]")).collect::<Vec<_>>().join(
            "
",
        );
        let problems = expand(&format!("matrix:\n{axes}")).unwrap_err();
        assert_eq!(problems[0].code, "matrix-too-large");
        assert!(problems[0].message.contains("100,000,000,000,000,000,000 cells"), "{}", problems[0].message);
        assert_eq!(expand("matrix: {a: {from: 0, to: 1e18}}").unwrap_err()[0].code, "matrix-too-large");
        assert_eq!(expand("matrix: {a: {from: 0, to: 1, step: 0}}").unwrap_err()[0].code, "bad-matrix");
    }
}
