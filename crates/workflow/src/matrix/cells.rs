//! Expands a matrix into its cells: product, `zip`, `exclude`, `include`.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::product::{DependentAxes, product, too_large, too_much_work};
use super::rules::{Rule, RuleTable};
use super::zip::{self, ZipGroup};
use super::{AxisOverride, AxisValue, FileAccess, MatrixCell, axis, equal_cells, exclude, name};
use crate::diagnostic::{Diagnostic, Problems, did_you_mean, quoted_list};
use crate::limits;
use crate::syntax::bad_identifier;
use crate::syntax::keys::matrix as keys;
use crate::yaml::{Key, Yaml, YamlValue};

/// A parsed matrix, before the product.
#[derive(Default)]
struct MatrixSpec {
    /// Groups of axes. The axes of one group advance together; most groups have one axis.
    groups: Vec<ZipGroup>,
    include: Vec<Rule>,
    exclude: Vec<Rule>,
}

/// The cells of a rendered matrix, in order: the last axis varies fastest; combinations that `include` adds come last. `None` if
/// the matrix is invalid, which is reported.
///
/// Values in `overrides` replace those of the matrix; an `include` entry with another value on such an axis is dropped. The number
/// of cells is computed, and bounded, before any is made.
pub(crate) fn cells(
    matrix_key: &Key,
    matrix: &Yaml,
    dependent: &DependentAxes<'_>,
    overrides: &[AxisOverride],
    file_access: &FileAccess<'_>,
    problems: &mut Problems,
) -> Option<Vec<MatrixCell>> {
    let mut spec = read(matrix_key, matrix, dependent, overrides, file_access, problems)?;
    if spec.groups.is_empty() && spec.include.is_empty() {
        problems.push(
            Diagnostic::error("bad-matrix", matrix_key.span, "this matrix has no axis")
                .help("write `matrix: {seed: [1, 2, 3]}`"),
        );
        return None;
    }
    let mut cells = product(matrix_key, &mut spec.groups, dependent, file_access, problems)?;
    name_rows(&mut spec);
    spec.include.retain(|rule| rule.iter().all(|entry| survives_overrides(entry, overrides)));
    let within = exclude_all(&mut cells, &spec, overrides, file_access, problems)
        .and_then(|()| include_all(&mut cells, &spec, overrides, file_access, problems));
    if within.is_none() {
        problems.push(too_much_work(matrix_key));
        return None;
    }
    if cells.is_empty() {
        problems.push(
            Diagnostic::error("bad-matrix", matrix_key.span, "no cell of this matrix is left")
                .help("exclude less"),
        );
        return None;
    }
    if cells.len() > limits::MAX_INSTANCES {
        problems.push(too_large(matrix_key, cells.len() as u128));
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
    matrix_key: &Key,
    matrix: &Yaml,
    dependent: &DependentAxes<'_>,
    overrides: &[AxisOverride],
    file_access: &FileAccess<'_>,
    problems: &mut Problems,
) -> Option<MatrixSpec> {
    let YamlValue::Map(entries) = &matrix.value else {
        problems.push(
            Diagnostic::error("bad-matrix", matrix.span.or(matrix_key.span), "`matrix` is a map of axes")
                .label(format!("this is {}", matrix.kind()))
                .help("write `matrix: {seed: [1, 2, 3]}`; a list of combinations goes under `include`"),
        );
        return None;
    };
    let mut spec = MatrixSpec::default();
    let mut sound = true;
    for (key, value) in entries {
        match key.value.as_str() {
            "include" => sound &= rules(key, value, problems).map(|list| spec.include = list).is_some(),
            "exclude" => sound &= rules(key, value, problems).map(|list| spec.exclude = list).is_some(),
            "zip" => {
                let zipped = zip::groups(key, value, overrides, file_access, problems);
                sound &= zipped.map(|zipped| spec.groups.extend(zipped)).is_some();
            }
            name if dependent.has(name) && !overrides.iter().any(|replaced| replaced.axis == name) => {
                spec.groups.push(vec![(key.clone(), Vec::new())]);
            }
            _ => {
                let values = zip::axis_values(key, value, overrides, file_access, problems);
                sound &= values.is_some();
                spec.groups.push(vec![(key.clone(), values.unwrap_or_default())]);
            }
        }
    }
    let axes = spec.groups.iter().map(Vec::len).sum();
    if axes > limits::MAX_AXES {
        problems.push(too_many_axes(matrix_key, axes));
        return None;
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
            let axes = || spec.groups.iter().flatten().map(|(axis, _)| axis.value.as_str());
            problems.push(
                Diagnostic::error("bad-matrix", key.span, message).help(
                    did_you_mean(&key.value, axes())
                        .unwrap_or_else(|| format!("the axes are {}", quoted_list(axes(), 12))),
                ),
            );
            sound = false;
        }
    }
    sound.then_some(spec)
}

/// Puts the rows of tables in the place of their names in `include` and `exclude`: the name is what lists of instances show.
fn name_rows(spec: &mut MatrixSpec) {
    for (axis, values) in spec.groups.iter().flatten() {
        let rules = spec.include.iter_mut().chain(&mut spec.exclude).flatten();
        let is_named =
            |(key, value): &&mut (Key, AxisValue)| key.value == axis.value && value.value.is_string();
        let mut named = rules.filter(is_named).peekable();
        // Most rules name no row, and tables are long.
        if named.peek().is_none() {
            continue;
        }
        let mut rows: HashMap<&str, Vec<&AxisValue>> = HashMap::new();
        for value in values.iter().filter(|value| value.value.is_object()) {
            if let Some(text) = name::value_text(&value.value) {
                rows.entry(text).or_default().push(value);
            }
        }
        for (_, value) in named {
            let row = value.value.as_str().and_then(|text| rows.get(text));
            if let Some([row]) = row.map(Vec::as_slice) {
                value.value = Arc::clone(&row.value);
            }
        }
    }
}

fn too_many_axes(matrix_key: &Key, count: usize) -> Diagnostic {
    Diagnostic::error("matrix-too-large", matrix_key.span, format!("`{}` has {count} axes", matrix_key.value))
        .help(format!("it has at most {}; a table has many columns on one axis", limits::MAX_AXES))
}

/// `include` or `exclude`: a list of maps.
fn rules(rules_key: &Key, value: &Yaml, problems: &mut Problems) -> Option<Vec<Rule>> {
    let items = match &value.value {
        YamlValue::List(items) => items.as_slice(),
        YamlValue::Null => &[],
        _ => {
            problems.push(no_rules(rules_key, value));
            return None;
        }
    };
    if items.len() > limits::MAX_MATRIX_RULES {
        problems.error(
            "matrix-too-large",
            rules_key.span,
            format!("`{}` has more than {} entries", rules_key.value, limits::MAX_MATRIX_RULES),
        );
        return None;
    }
    let mut sound = true;
    let mut parsed = Vec::with_capacity(items.len());
    for item in items {
        let YamlValue::Map(entries) = &item.value else {
            problems.push(no_rules(rules_key, item));
            sound = false;
            continue;
        };
        if entries.len() > limits::MAX_AXES {
            problems.push(too_many_axes(rules_key, entries.len()));
            return None;
        }
        let mut rule = Rule::with_capacity(entries.len());
        for (key, value) in entries {
            if let Some(wrong) = bad_identifier(key) {
                problems.push(wrong);
                sound = false;
            }
            let Some(value) = axis::bounded_value(value, key, problems) else {
                sound = false;
                continue;
            };
            rule.push((key.clone(), value));
        }
        parsed.push(rule);
    }
    sound.then_some(parsed)
}

/// The diagnostic for what is no list of mappings, or no such mapping, with the form that was meant.
fn no_rules(key: &Key, value: &Yaml) -> Diagnostic {
    let example =
        if key.value == keys::EXCLUDE.name { keys::EXCLUDE.example() } else { keys::INCLUDE.example() };
    let name = &key.value;
    let help = match &value.value {
        YamlValue::Map(_) => format!("put a dash before it: `{example}`"),
        _ => format!("each entry is a mapping of axes to values: `{example}`"),
    };
    Diagnostic::error("bad-matrix", value.span.or(key.span), format!("`{name}` is a list of mappings"))
        .label(format!("this is {}", value.kind()))
        .help(help)
}

/// Removes the cells that have all values of a rule; `None` once the budget is exhausted.
fn exclude_all(
    cells: &mut Vec<MatrixCell>,
    MatrixSpec { groups, exclude, .. }: &MatrixSpec,
    overrides: &[AxisOverride],
    file_access: &FileAccess<'_>,
    problems: &mut Problems,
) -> Option<()> {
    if exclude.is_empty() {
        return Some(());
    }
    let table = RuleTable::new(exclude, |_| true);
    let mut within = true;
    let mut used = vec![false; exclude.len()];
    cells.retain(|cell| {
        let rules = if within { table.matching(cell, file_access.work) } else { None };
        within = rules.is_some();
        for rule in rules.iter().flatten() {
            used[*rule] = true;
        }
        rules.is_none_or(|rules| rules.is_empty())
    });
    // A plan keeps the cells of all shots: not the room of those that are gone.
    cells.shrink_to_fit();
    for (rule, _) in exclude.iter().zip(used).filter(|(_, used)| within && !used) {
        // Values of an axis that the command line replaces are expected to be missing.
        if rule.iter().any(|(axis, _)| overrides.iter().any(|replaced| replaced.axis == axis.value)) {
            continue;
        }
        if let Some(warning) = exclude::unused(rule, groups) {
            problems.push(warning);
        }
    }
    within.then_some(())
}

/// Applies `include`. An entry is added to every original combination that agrees with it on the original axes; values added by an
/// earlier entry may be overwritten. An entry that agrees with none becomes a combination of its own, to which nothing is added.
///
/// `None` once the budget is exhausted, or if the cells have more values than a plan may have.
fn include_all(
    cells: &mut Vec<MatrixCell>,
    MatrixSpec { groups, include, .. }: &MatrixSpec,
    overrides: &[AxisOverride],
    file_access: &FileAccess<'_>,
    problems: &mut Problems,
) -> Option<()> {
    if include.is_empty() {
        return Some(());
    }
    let axes: HashSet<&str> = groups.iter().flatten().map(|(axis, _)| axis.value.as_str()).collect();
    let table = RuleTable::new(include, |axis| axes.contains(axis));
    let names: HashMap<&str, Arc<str>> =
        include.iter().flatten().map(|(axis, _)| (axis.value.as_str(), axis.value.as_str().into())).collect();
    let mut values: usize = cells.iter().map(|cell| cell.values.len()).sum();
    let mut used = vec![false; include.len()];
    for cell in cells.iter_mut() {
        let before = cell.values.len();
        for rule in table.matching(cell, file_access.work)? {
            used[rule] = true;
            for (axis, value) in include[rule].iter().filter(|(axis, _)| !axes.contains(axis.value.as_str()))
            {
                cell.values.insert(Arc::clone(&names[axis.value.as_str()]), value.clone());
            }
        }
        values += cell.values.len() - before;
        if values > limits::MAX_CELL_VALUES {
            return None;
        }
    }
    equal_cells::check_includes(include, &used, &axes, overrides, problems);
    for (rule, _) in include.iter().zip(used).filter(|(_, used)| !used) {
        let own = rule.iter().map(|(axis, value)| (Arc::clone(&names[axis.value.as_str()]), value.clone()));
        cells.push(MatrixCell::named(own.collect()));
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::source::Source;

    fn expand(yaml: &str) -> Result<Vec<Value>, Vec<Diagnostic>> {
        let mut problems = Problems::default();
        let source = Source::new("matrix.yaml", yaml);
        let tree = crate::advice::read(&source, &mut problems).unwrap();
        let (key, value) = tree.get("matrix").unwrap();
        let files = crate::InMemory::default();
        let (work, tables, odd_cells) = Default::default();
        let file_access = FileAccess { files: &files, work: &work, tables: &tables, odd_cells: &odd_cells };
        let cells = cells(key, value, &DependentAxes::none(), &[], &file_access, &mut problems);
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
