//! The entries of `include` and `exclude`, found by the values of a cell.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use super::MatrixCell;
use super::value::AxisValue;
use crate::work::WorkBudget;
use crate::yaml::Key;

/// An entry of `include` or `exclude`.
pub(super) type Rule = Vec<(Key, AxisValue)>;

/// Rules by the axes that they compare, and by the values on them.
pub(super) struct RuleTable<'r> {
    /// Each rule's part that is compared.
    compared: Vec<Vec<&'r (Key, AxisValue)>>,
    by_axes: Vec<RulesOfAxes<'r>>,
}

/// Axes, and the rules that compare exactly these, by the hash of their values.
type RulesOfAxes<'r> = (Vec<&'r str>, HashMap<u64, Vec<usize>>);

impl<'r> RuleTable<'r> {
    /// The rules, of which only what is on the axes that satisfy `is_compared` is compared.
    pub(super) fn new(rules: &'r [Rule], is_compared: impl Fn(&str) -> bool) -> Self {
        let compared: Vec<Vec<&(Key, AxisValue)>> = rules
            .iter()
            .map(|rule| rule.iter().filter(|(axis, _)| is_compared(&axis.value)).collect())
            .collect();
        let mut by_axes: Vec<RulesOfAxes<'_>> = Vec::new();
        let mut group_of: HashMap<Vec<&str>, usize> = HashMap::new();
        for (index, rule) in compared.iter().enumerate() {
            let mut sorted = rule.clone();
            sorted.sort_by(|a, b| a.0.value.cmp(&b.0.value));
            let axes: Vec<&str> = sorted.iter().map(|(axis, _)| axis.value.as_str()).collect();
            let mut hasher = DefaultHasher::new();
            for (_, value) in &sorted {
                value.value.hash(&mut hasher);
            }
            let group = *group_of.entry(axes.clone()).or_insert_with(|| {
                by_axes.push((axes, HashMap::new()));
                by_axes.len() - 1
            });
            by_axes[group].1.entry(hasher.finish()).or_default().push(index);
        }
        Self { compared, by_axes }
    }

    /// The indexes of the rules that a cell has all compared values of, ascending; `None` once the budget is exhausted.
    pub(super) fn matching(&self, cell: &MatrixCell, work: &WorkBudget) -> Option<Vec<usize>> {
        let mut indices = Vec::new();
        for (axes, rules) in &self.by_axes {
            if !work.charge(1 + axes.len()) {
                return None;
            }
            let mut hasher = DefaultHasher::new();
            let complete = axes
                .iter()
                .all(|axis| cell.values.get(*axis).inspect(|value| value.value.hash(&mut hasher)).is_some());
            let Some(rules) = rules.get(&hasher.finish()).filter(|_| complete) else { continue };
            if !work.charge(rules.len()) {
                return None;
            }
            let matches = |rule: &Vec<&(Key, AxisValue)>| {
                rule.iter().all(|(axis, value)| {
                    cell.values.get(axis.value.as_str()).is_some_and(|ours| ours.value == value.value)
                })
            };
            indices.extend(rules.iter().copied().filter(|index| matches(&self.compared[*index])));
        }
        indices.sort_unstable();
        Some(indices)
    }
}
