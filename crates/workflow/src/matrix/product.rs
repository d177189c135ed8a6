//! The product of a matrix's axes, in their order: the last one varies fastest. The values of an axis may depend on those of axes above it.

use std::sync::Arc;

use indexmap::IndexMap;
use indexmap::map::Entry;
use serde_json::Value;

use super::value::Values;
use super::zip::ZipGroup;
use super::{FileAccess, MatrixCell, axis, equal_cells, name};
use crate::diagnostic::{Diagnostic, Problems, grouped};
use crate::limits;
use crate::yaml::{Key, Yaml, YamlValue};

/// The axes of a matrix whose values depend on those of axes above them.
pub(crate) struct DependentAxes<'d> {
    /// The cells that the matrix is expanded in: one without values, or those of the workflow's matrix over the axes that it names.
    pub(crate) within: Vec<MatrixCell>,
    /// Each with the axes that it names.
    pub(crate) axes: Vec<(&'d str, Vec<&'d str>)>,
    /// The value of an axis's key in a cell; `None` if it fails, which is reported.
    pub(crate) value: &'d dyn Fn(&str, &MatrixCell, &mut Problems) -> Option<Yaml>,
}

impl DependentAxes<'_> {
    /// None of the axes depends on another.
    pub(crate) fn none() -> Self {
        Self { within: vec![MatrixCell::default()], axes: Vec::new(), value: &|_, _, _| None }
    }

    pub(super) fn has(&self, axis: &str) -> bool {
        self.axes.iter().any(|(name, _)| *name == axis)
    }
}

/// Axes that advance together, with names and labels that cells share.
type NamedGroup = Vec<(Arc<str>, Values, Vec<Arc<str>>)>;

fn named(group: &ZipGroup) -> NamedGroup {
    let axis = |(axis, values): &(Key, Values)| {
        let labels = values.iter().map(|value| name::value_label(&value.value).into()).collect();
        (axis.value.as_str().into(), values.clone(), labels)
    };
    group.iter().map(axis).collect()
}

/// The cells of the groups of axes. A dependent axis has no values in `groups`; afterwards it has those of all cells.
pub(super) fn product(
    matrix_key: &Key,
    groups: &mut [ZipGroup],
    dependent: &DependentAxes<'_>,
    file_access: &FileAccess<'_>,
    problems: &mut Problems,
) -> Option<Vec<MatrixCell>> {
    if groups.is_empty() {
        return Some(Vec::new());
    }
    equal_cells::check_axes(groups, file_access.tables, problems);
    let mut cells = dependent.within.clone();
    let mut above: Vec<NamedGroup> = Vec::new();
    for group in groups {
        let [(key, values)] = group.as_mut_slice() else {
            above.push(named(group));
            continue;
        };
        let Some((_, names)) =
            dependent.axes.iter().find(|(name, _)| *name == key.value && values.is_empty())
        else {
            above.push(named(group));
            continue;
        };
        cells = multiplied(matrix_key, cells, &above, file_access, problems)?;
        above.clear();
        // Cells with the same values on the axes that it names have the same values on it.
        let mut known: IndexMap<Vec<*const Value>, NamedGroup> = IndexMap::new();
        let mut longer = Vec::new();
        for cell in cells {
            let on_axes = names.iter().filter_map(|name| Some(Arc::as_ptr(&cell.values.get(*name)?.value)));
            let in_cell = match known.entry(on_axes.collect()) {
                Entry::Occupied(known) => known.into_mut(),
                Entry::Vacant(unknown) => {
                    let value = (dependent.value)(&key.value, &cell, problems)?;
                    let of_cell = match &value.value {
                        YamlValue::List(items) if items.is_empty() => Vec::new(),
                        YamlValue::Text(_) => {
                            problems.push(no_list(key, &value, &cell));
                            return None;
                        }
                        _ => axis::values(key, &value, file_access, problems)?,
                    };
                    let group = vec![(key.clone(), of_cell)];
                    equal_cells::check_axes(std::slice::from_ref(&group), file_access.tables, problems);
                    unknown.insert(named(&group))
                }
            };
            let in_cell = std::slice::from_ref(&*in_cell);
            longer.extend(multiplied(matrix_key, vec![cell], in_cell, file_access, problems)?);
            if longer.len() > limits::MAX_INSTANCES {
                problems.push(too_large(matrix_key, longer.len() as u128));
                return None;
            }
        }
        let all = known.into_values().flatten().flat_map(|(_, values, _)| values);
        let distinct: IndexMap<Arc<Value>, _> = all.map(|value| (Arc::clone(&value.value), value)).collect();
        values.extend(distinct.into_values());
        cells = longer;
    }
    multiplied(matrix_key, cells, &above, file_access, problems)
}

fn no_list(key: &Key, value: &Yaml, cell: &MatrixCell) -> Diagnostic {
    let message =
        format!("the axis `{}` must be a list, and in the cell `{}` it is text", key.value, cell.label());
    Diagnostic::error("bad-matrix", value.span.or(key.span), message)
        .help("text such as `harbor, lamp` out of a table is split into a list with `| split(', ')`")
}

/// Each cell with each combination of the groups' values. Their number is computed, and bounded, before any is made.
fn multiplied(
    matrix_key: &Key,
    cells: Vec<MatrixCell>,
    groups: &[NamedGroup],
    file_access: &FileAccess<'_>,
    problems: &mut Problems,
) -> Option<Vec<MatrixCell>> {
    if groups.is_empty() {
        return Some(cells);
    }
    let length = |group: &NamedGroup| group.first().map_or(0, |(_, values, _)| values.len());
    let each = groups.iter().fold(1_u128, |count, group| count.saturating_mul(length(group) as u128));
    let count = each.saturating_mul(cells.len() as u128);
    if count > limits::MAX_INSTANCES as u128 {
        problems.push(too_large(matrix_key, count));
        return None;
    }
    let axes: usize = groups.iter().map(Vec::len).sum();
    let values = (count as usize).saturating_mul(axes);
    if values > limits::MAX_CELL_VALUES || !file_access.work.charge(values) {
        problems.push(too_much_work(matrix_key));
        return None;
    }
    let mut longer = Vec::with_capacity(count as usize);
    for cell in cells {
        let mut position = vec![0; groups.len()];
        for _ in 0..each {
            let mut cell = cell.clone();
            cell.values.reserve_exact(axes);
            cell.label.reserve_exact(axes);
            for (group, index) in groups.iter().zip(&position) {
                for (axis, values, labels) in group {
                    cell.values.insert(Arc::clone(axis), values[*index].clone());
                    cell.label.push((Arc::clone(axis), Arc::clone(&labels[*index])));
                }
            }
            longer.push(cell);
            // The last axis varies fastest.
            for (index, group) in position.iter_mut().zip(groups).rev() {
                *index += 1;
                if *index < length(group) {
                    break;
                }
                *index = 0;
            }
        }
    }
    Some(longer)
}

/// The diagnostic for a matrix of more cells than a plan may have.
pub(super) fn too_large(matrix_key: &Key, count: u128) -> Diagnostic {
    Diagnostic::error(
        "matrix-too-large",
        matrix_key.span,
        format!("this matrix has {} cells", grouped(count)),
    )
    .help(format!("a plan has at most {} instances", grouped(limits::MAX_INSTANCES as u128)))
}

/// The diagnostic for a matrix whose rules cannot be applied within the limits.
pub(crate) fn too_much_work(matrix_key: &Key) -> Diagnostic {
    let max_values = grouped(limits::MAX_CELL_VALUES as u128);
    Diagnostic::error(
        "matrix-too-large",
        matrix_key.span,
        "the matrices up to this one ask for too much work",
    )
    .help(format!("the cells of a plan have at most {max_values} values; use fewer rules, or fewer cells"))
}
