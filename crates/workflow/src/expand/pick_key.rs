//! Reads the key `pick` of a shot: the number of a take, `open`, or the axes of an instance.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::ExpandCx;
use super::axes::cell_scope;
use super::fields::is_literal;
use crate::diagnostic::{Diagnostic, Problems, did_you_mean, grouped, quoted_list};
use crate::matrix::{AxisValue, MatrixCell};
use crate::source::Spanned;
use crate::syntax::keys::{KeySpec, shot as keys};
use crate::syntax::{self, Entry};
use crate::template::Scope;
use crate::yaml::{Key, Yaml, YamlValue};

/// `pick` of a shot as the file has it.
#[derive(Default)]
pub(super) struct PickKey {
    /// By cell, the take; empty if the file picks none.
    pub(super) takes: Vec<Option<u32>>,
    /// By cell, whether it is picked; `None` if the file picks no cell.
    pub(super) cells: Option<Vec<bool>>,
    pub(super) is_open: bool,
}

/// The rendered value for one cell.
#[derive(Clone, Default)]
struct PickValue {
    take: Option<u32>,
    axes: Vec<(Key, AxisValue)>,
    is_open: bool,
}

/// Reads `pick`; `groups` says which cells are alternatives of each other. `None` if it is invalid, which is reported.
pub(super) fn read<'w>(
    entry: &'w Entry,
    takes: Option<u32>,
    cells: &[MatrixCell],
    groups: &[usize],
    params: &Scope,
    cx: &ExpandCx<'w>,
    problems: &mut Problems,
) -> Option<PickKey> {
    let reader = PickKeyReader { entry, takes, cells };
    let axis_values = reader.values_by_axis();
    let values: Vec<PickValue> = if is_literal(&entry.value) {
        let value = reader.value(&cx.templates.render(&entry.value, params, problems)?, problems)?;
        check_axes(&value, &axis_values, problems)?;
        vec![value; cells.len()]
    } else {
        let mut values = Vec::with_capacity(cells.len());
        for cell in cells {
            let rendered = cx.templates.render(&entry.value, &cell_scope(cell, params), problems)?;
            let reported = problems.any();
            let value = reader.value(&rendered, problems)?;
            check_axes(&value, &axis_values, problems)?;
            // Once is enough.
            if problems.any() && !reported {
                return None;
            }
            values.push(value);
        }
        values
    };
    let takes = values.iter().map(|value| value.take).collect();
    let is_open = values.iter().any(|value| value.is_open);
    if values.iter().all(|value| value.axes.is_empty()) {
        return Some(PickKey { takes, cells: None, is_open });
    }
    let cells = reader.picked(&values, groups, problems)?;
    Some(PickKey { takes, cells: Some(cells), is_open })
}

/// The values and labels of cells, by axis.
pub(super) type AxisValues<'a> = BTreeMap<&'a str, BTreeSet<Cow<'a, str>>>;

struct PickKeyReader<'a> {
    entry: &'a Entry,
    takes: Option<u32>,
    cells: &'a [MatrixCell],
}

impl PickKeyReader<'_> {
    fn value(&self, value: &Yaml, problems: &mut Problems) -> Option<PickValue> {
        let span = self.entry.key.span;
        let has_axes = self.cells.iter().any(|cell| !cell.values.is_empty());
        match &value.value {
            // `pick: null` is like an absent key.
            YamlValue::Null => Some(PickValue::default()),
            YamlValue::Text(text) if text == keys::OPEN_PICK && (has_axes || self.takes.is_some()) => {
                Some(PickValue { is_open: has_axes, ..PickValue::default() })
            }
            YamlValue::Map(members) if has_axes => self.members(members, problems),
            YamlValue::Map(members) => {
                let take = members.iter().find(|(key, _)| key.value == keys::PICK_TAKE_MEMBER.name);
                let take = take.map(|(_, take)| written(take));
                problems.push(
                    Diagnostic::error(
                        "bad-pick",
                        span,
                        "`pick` names an instance, and this shot has no matrix",
                    )
                    .help(take.map_or_else(
                        || "add `matrix:`, or pick a render by its number".to_owned(),
                        |take| format!("write `pick: {take}`"),
                    )),
                );
                None
            }
            YamlValue::Number(_) => self.take(value, &keys::PICK_TAKE, problems),
            YamlValue::Text(text) if text.trim().parse::<f64>().is_ok() => {
                self.take(value, &keys::PICK_TAKE, problems)
            }
            _ if has_axes || self.takes.is_some() => {
                problems.push(self.wrong_type(value, has_axes));
                None
            }
            _ => self.take(value, &keys::PICK_TAKE, problems),
        }
    }

    /// The report of a value that is neither a take nor axes, with the pick that was meant.
    fn wrong_type(&self, value: &Yaml, has_axes: bool) -> Diagnostic {
        let help = match self.takes {
            Some(takes) if !has_axes => format!("write the number of a take, from 1 to {takes}"),
            _ => format!("name an instance by its axes, such as `pick: {}`", self.example()),
        };
        let shape = match (self.takes, has_axes) {
            (Some(takes), true) => {
                format!("a whole number from 1 to {takes}, a mapping of axes to values, or `open`")
            }
            (Some(takes), false) => format!("a whole number from 1 to {takes}"),
            (None, _) => "a mapping of axes to values, `open`, or the number of a render".to_owned(),
        };
        Diagnostic::error("wrong-type", value.span.or(self.entry.key.span), format!("`pick` must be {shape}"))
            .label(format!("this is {}", value.kind()))
            .help(help)
    }

    fn take(&self, value: &Yaml, key: &KeySpec, problems: &mut Problems) -> Option<PickValue> {
        // Which renders there are is not known here: more may have been asked for than the file wants.
        let take = syntax::expect_count(value, key, self.entry.key.span, problems)?;
        Some(PickValue { take: Some(take), ..PickValue::default() })
    }

    fn members(&self, members: &[(Key, Yaml)], problems: &mut Problems) -> Option<PickValue> {
        let mut pick = PickValue::default();
        for (key, value) in members {
            if key.value == keys::PICK_TAKE_MEMBER.name {
                pick.take = self.take(value, &keys::PICK_TAKE_MEMBER, problems)?.take;
            } else {
                let span = value.span.or(key.span);
                pick.axes.push((key.clone(), Spanned::new(value.to_json().into(), span)));
            }
        }
        if pick.axes.is_empty() {
            problems.push(
                Diagnostic::error("bad-pick", self.entry.key.span, "this `pick` names no axis")
                    .help(format!("name an instance by its axes, such as `pick: {}`", self.example())),
            );
            return None;
        }
        Some(pick)
    }

    /// A pick of the first value of an axis, as YAML.
    fn example(&self) -> String {
        let values = self.values_by_axis();
        let first = values.iter().find_map(|(axis, values)| Some((axis, values.first()?)));
        first.map_or_else(|| "{seed: 3}".to_owned(), |(axis, value)| format!("{{{axis}: {value}}}"))
    }

    /// The values and labels on each axis.
    fn values_by_axis(&self) -> AxisValues<'_> {
        let mut by_axis = AxisValues::new();
        for cell in self.cells {
            for (axis, value) in &cell.values {
                let values = by_axis.entry(&**axis).or_default();
                let label = cell.label_on(axis);
                values.extend(label.map(Cow::Borrowed));
                // A row of a table is named by its label alone.
                if label.is_none() || !(value.value.is_object() || value.value.is_array()) {
                    values.insert(display_value(&value.value));
                }
            }
        }
        by_axis
    }

    /// By cell, whether it is picked: the one of its group that has the named values. Values on which a group agrees decide nothing.
    fn picked(&self, values: &[PickValue], groups: &[usize], problems: &mut Problems) -> Option<Vec<bool>> {
        let mut picked = vec![false; self.cells.len()];
        let mut members: Vec<Vec<usize>> = vec![Vec::new(); groups.iter().max().map_or(0, |last| last + 1)];
        for (cell, group) in groups.iter().enumerate() {
            members[*group].push(cell);
        }
        for cells in members.iter().filter(|cells| !cells.is_empty()) {
            let differing = self.differing_axes(cells);
            let is_matching = |cell: &usize| {
                let mut axes =
                    values[*cell].axes.iter().filter(|(axis, _)| differing.contains(axis.value.as_str()));
                axes.all(|(axis, value)| has_value(&self.cells[*cell], &axis.value, value))
            };
            let matching: Vec<usize> = cells.iter().copied().filter(is_matching).collect();
            match matching.as_slice() {
                [only] => picked[*only] = true,
                [] => {
                    let message = "no instance of this shot has these values together";
                    let labels: Vec<String> = cells.iter().map(|cell| self.cells[*cell].label()).collect();
                    problems.push(Diagnostic::error("bad-pick", self.entry.key.span, message).help(format!(
                        "its instances are {}",
                        quoted_list(labels.iter().map(String::as_str), 5)
                    )));
                    return None;
                }
                several => {
                    problems.push(self.several_matches(several, &values[several[0]]));
                    return None;
                }
            }
        }
        Some(picked)
    }

    /// The axes on which cells differ.
    fn differing_axes(&self, cells: &[usize]) -> BTreeSet<&str> {
        let first = &self.cells[cells[0]].values;
        let mut differing = BTreeSet::new();
        for cell in cells {
            let values = &self.cells[*cell].values;
            let differs = |axis: &&str| {
                values.get(*axis).map(|value| &value.value) != first.get(*axis).map(|value| &value.value)
            };
            differing.extend(values.keys().chain(first.keys()).map(|axis| &**axis).filter(differs));
        }
        differing
    }

    fn several_matches(&self, cells: &[usize], pick: &PickValue) -> Diagnostic {
        let is_named = |axis: &&str| pick.axes.iter().any(|(named, _)| named.value == **axis);
        let open = self.differing_axes(cells).into_iter().filter(|axis| !is_named(axis));
        let message = format!("`pick` means {} instances, and one is picked", grouped(cells.len() as u128));
        Diagnostic::error("ambiguous-pick", self.entry.key.span, message)
            .help(format!("give a value for {} too", quoted_list(open, 12)))
    }
}

/// Whether a cell has a value on an axis, by the value itself or by the text of the cell's label.
fn has_value(cell: &MatrixCell, axis: &str, value: &AxisValue) -> bool {
    cell.values.get(axis).is_some_and(|ours| *ours.value == *value.value)
        || cell.label_on(axis).is_some_and(|label| *label == *display_value(&value.value))
}

/// Reports an axis that no cell has, and a value that no cell has on its axis.
fn check_axes(pick: &PickValue, values_by_axis: &AxisValues<'_>, problems: &mut Problems) -> Option<()> {
    for (axis, value) in &pick.axes {
        let name = axis.value.as_str();
        let Some(values) = values_by_axis.get(name) else {
            let axes = || values_by_axis.keys().copied();
            let help = did_you_mean(name, axes())
                .unwrap_or_else(|| format!("its axes are {}", quoted_list(axes(), 12)));
            let message = format!("this shot has no axis `{name}`");
            problems.push(Diagnostic::error("bad-pick", axis.span, message).help(help));
            return None;
        };
        let text = display_value(&value.value);
        if !values.contains(&*text) {
            let values = || values.iter().map(|value| &**value);
            let help = did_you_mean(&text, values())
                .unwrap_or_else(|| format!("its values are {}", quoted_list(values(), 12)));
            let message = format!("no instance of this shot has `{name}` = `{text}`");
            problems.push(Diagnostic::error("bad-pick", value.span, message).help(help));
            return None;
        }
    }
    Some(())
}

/// A scalar as it is written.
fn written(value: &Yaml) -> String {
    display_value(&value.to_json()).into_owned()
}

/// A value as it is written.
fn display_value(value: &Value) -> Cow<'_, str> {
    value.as_str().map_or_else(|| Cow::Owned(value.to_string()), Cow::Borrowed)
}
