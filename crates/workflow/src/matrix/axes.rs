//! From what a matrix says to its cells.

use indexmap::IndexMap;
use serde_json::Value;

use super::{Cell, range};
use crate::bounds;
use crate::diagnostic::{Diagnostic, Problems, did_you_mean, grouped, quoted_list};
use crate::source::Spanned;
use crate::syntax::identifier;
use crate::yaml::{Key, Yaml, YamlValue};

type Axes = IndexMap<String, Vec<Spanned<Value>>>;
type Rule = Vec<(Key, Spanned<Value>)>;

/// The cells of a matrix whose templates are rendered, in order: the last axis moves fastest; combinations that
/// `include` adds come last. Nothing where it is wrong, which is reported.
///
/// The number of cells is known, and bounded, before any is made.
pub(crate) fn cells(word: &Key, matrix: &Yaml, problems: &mut Problems) -> Option<Vec<Cell>> {
    let YamlValue::Map(entries) = &matrix.value else {
        problems.push(
            Diagnostic::error("bad-matrix", matrix.span.or(word.span), "`matrix` is a map of axes")
                .label(format!("this is {}", matrix.kind()))
                .help("write `matrix: {seed: [1, 2, 3]}`"),
        );
        return None;
    };
    let (mut axes, mut include, mut exclude) = (Axes::new(), Vec::new(), Vec::new());
    let mut sound = true;
    for (key, value) in entries {
        match key.value.as_str() {
            "include" => sound &= rules(key, value, problems).map(|found| include = found).is_some(),
            "exclude" => sound &= rules(key, value, problems).map(|found| exclude = found).is_some(),
            _ => {
                let found = axis(key, value, problems);
                sound &= found.is_some();
                axes.insert(key.value.clone(), found.unwrap_or_default());
            }
        }
    }
    for rule in &exclude {
        for (key, _) in rule {
            if !axes.contains_key(&key.value) {
                let diagnostic = Diagnostic::error(
                    "bad-matrix",
                    key.span,
                    format!("`{}` is not an axis of this matrix", key.value),
                );
                let known = || axes.keys().map(String::as_str);
                problems.push(
                    diagnostic.help(
                        did_you_mean(&key.value, known())
                            .unwrap_or_else(|| format!("the axes are {}", quoted_list(known(), 12))),
                    ),
                );
                sound = false;
            }
        }
    }
    if !sound {
        return None;
    }
    if axes.is_empty() && include.is_empty() {
        problems.push(
            Diagnostic::error("bad-matrix", word.span, "this matrix has no axis")
                .help("write `matrix: {seed: [1, 2, 3]}`"),
        );
        return None;
    }
    let mut cells = product(word, &axes, problems)?;
    cells.retain(|cell| !exclude.iter().any(|rule| holds(cell, rule)));
    include_all(&mut cells, &axes, include);
    if cells.is_empty() {
        problems.push(
            Diagnostic::error("bad-matrix", word.span, "no cell of this matrix is left").help("exclude less"),
        );
        return None;
    }
    if cells.len() > bounds::INSTANCES {
        problems.push(too_large(word, cells.len() as u128));
        return None;
    }
    Some(cells)
}

fn too_large(word: &Key, count: u128) -> Diagnostic {
    Diagnostic::error("matrix-too-large", word.span, format!("this matrix has {} cells", grouped(count)))
        .help(format!("a plan has at most {} instances", grouped(bounds::INSTANCES as u128)))
}

fn axis(key: &Key, value: &Yaml, problems: &mut Problems) -> Option<Vec<Spanned<Value>>> {
    if let Err(message) = identifier(&key.value) {
        problems.error("bad-name", key.span, message);
        return None;
    }
    match &value.value {
        YamlValue::List(items) if items.is_empty() => {
            problems.error("bad-matrix", key.span, format!("the axis `{}` has no value", key.value));
            None
        }
        YamlValue::List(items) => {
            Some(items.iter().map(|item| Spanned::new(item.to_json(), place(item, key))).collect())
        }
        YamlValue::Map(_) => range::values(key, value, problems),
        _ => {
            problems.push(
                Diagnostic::error(
                    "bad-matrix",
                    value.span.or(key.span),
                    format!("the axis `{}` is a list", key.value),
                )
                .label(format!("this is {}", value.kind()))
                .help("an axis is a list, or a range such as `{from: 1, to: 5}`"),
            );
            None
        }
    }
}

fn place(value: &Yaml, key: &Key) -> crate::source::Span {
    match &value.value {
        // A map is shown by its first key.
        YamlValue::Map(entries) => entries.first().map_or(value.span, |(first, _)| first.span),
        _ => value.span.or(key.span),
    }
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
    if items.len() > bounds::MATRIX_RULES {
        problems.error(
            "matrix-too-large",
            word.span,
            format!("`{}` has more than {} entries", word.value, bounds::MATRIX_RULES),
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
            rule.push((key.clone(), Spanned::new(value.to_json(), place(value, key))));
        }
        found.push(rule);
    }
    sound.then_some(found)
}

fn product(word: &Key, axes: &Axes, problems: &mut Problems) -> Option<Vec<Cell>> {
    if axes.is_empty() {
        return Some(Vec::new());
    }
    let count = axes.values().fold(1_u128, |count, values| count.saturating_mul(values.len() as u128));
    if count > bounds::INSTANCES as u128 {
        problems.push(too_large(word, count));
        return None;
    }
    let mut combinations: Vec<IndexMap<String, Spanned<Value>>> = vec![IndexMap::new()];
    for (axis, values) in axes {
        combinations = combinations
            .into_iter()
            .flat_map(|combination| {
                values.iter().map(move |value| {
                    let mut longer = combination.clone();
                    longer.insert(axis.clone(), value.clone());
                    longer
                })
            })
            .collect();
    }
    Some(combinations.into_iter().map(Cell::named).collect())
}

/// Whether a cell has all the values of a rule.
fn holds(cell: &Cell, rule: &Rule) -> bool {
    rule.iter()
        .all(|(axis, value)| cell.values.get(&axis.value).is_some_and(|ours| ours.value == value.value))
}

/// An entry is added to every original combination none of whose original values it would change; values added by
/// an earlier entry may change. An entry that fits none becomes a combination of its own, to which nothing is added.
fn include_all(cells: &mut Vec<Cell>, axes: &Axes, include: Vec<Rule>) {
    let originals = cells.len();
    for entry in include {
        let mut added = false;
        for cell in &mut cells[..originals] {
            let fits = entry.iter().all(|(axis, value)| {
                !axes.contains_key(&axis.value)
                    || cell.values.get(&axis.value).is_some_and(|ours| ours.value == value.value)
            });
            if fits {
                added = true;
                for (axis, value) in &entry {
                    if !axes.contains_key(&axis.value) {
                        cell.values.insert(axis.value.clone(), value.clone());
                    }
                }
            }
        }
        if !added {
            cells.push(Cell::named(entry.into_iter().map(|(axis, value)| (axis.value, value)).collect()));
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::source::Source;

    fn expand(yaml: &str) -> Result<Vec<Value>, Vec<Diagnostic>> {
        let mut problems = Problems::default();
        let source = Source::new("matrix.yaml", yaml);
        let tree = crate::yaml::read(&source, &mut problems).unwrap();
        let (key, value) = tree.get("matrix").unwrap();
        let cells = cells(key, value, &mut problems);
        match cells {
            Some(cells) => Ok(cells
                .iter()
                .map(|cell| {
                    cell.values.iter().map(|(axis, value)| (axis.clone(), value.value.clone())).collect()
                })
                .collect()),
            None => Err(problems.into_sorted().0),
        }
    }

    /// The example with which GitHub documents `include`.
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
    fn exclude_takes_partial_matches_and_comes_before_include() {
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
    fn include_alone_lists_the_cells() {
        let cells = expand("matrix:\n  include:\n    - {a: 1}\n    - {a: 2, b: x}\n").unwrap();
        assert_eq!(cells, [json!({"a": 1}), json!({"a": 2, "b": "x"})]);
    }

    #[test]
    fn ranges_count_up_and_down_and_in_fractions() {
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
    fn a_huge_matrix_is_refused_before_it_is_made() {
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
