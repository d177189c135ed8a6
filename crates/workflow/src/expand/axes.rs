//! The workflow's matrix and the matrices of its shots, with axis overrides from the command line applied.

use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;

use super::params::Params;
use super::used_axes::{self, TopCells};
use super::{ExpandCx, free_variables};
use crate::diagnostic::{Diagnostic, Problems, did_you_mean, quoted_list};
use crate::matrix::{self, AxisOverride, FileAccess, MatrixCell, TableCache};
use crate::source::Spanned;
use crate::syntax::keys::matrix::{MATRIX, ZIP};
use crate::syntax::{Shot, Workflow};
use crate::yaml::{Yaml, YamlValue};

/// The matrices of a workflow, rendered.
pub(super) struct Axes<'w> {
    /// The cells of the workflow's own matrix; one empty cell where it has none.
    pub(super) top: TopCells,
    /// The axes that the labels of `top` have.
    pub(super) top_label_names: BTreeSet<Arc<str>>,
    /// The rendered matrix of each shot; `Err` if a template in it fails, which is reported.
    shots: Vec<Option<Result<Yaml, ()>>>,
    overrides: Vec<AxisOverride>,
    tables: TableCache,
    /// The names that templates of the workflow use.
    used_names: HashSet<&'w str>,
}

/// A value of the file is invalid; the diagnostic was pushed.
pub(super) struct ErrorReported;

impl<'w> Axes<'w> {
    pub(super) fn read(
        workflow: &'w Workflow,
        params: &Params,
        cx: &ExpandCx<'w>,
        problems: &mut Problems,
    ) -> Result<Self, ErrorReported> {
        let overrides = matrix::read_overrides(&cx.options.axes, workflow.start, problems);
        let mut render = |value: &'w Yaml, scope| cx.templates.render(value, scope, problems).ok_or(());
        let shots: Vec<_> = workflow
            .shots
            .iter()
            .map(|shot| shot.matrix.as_ref().map(|entry| render(&entry.value, params.for_shot(shot))))
            .collect();
        let own = workflow
            .matrix
            .as_ref()
            .map(|entry| render(&entry.value, &params.file).map_err(|()| ErrorReported))
            .transpose()?;

        let matrices = || own.iter().chain(shots.iter().flatten().flatten());
        let has = |axis: &str| matrices().any(|matrix| has_axis(matrix, axis));
        let added: Vec<&AxisOverride> =
            overrides.iter().filter(|axis_override| !has(&axis_override.axis)).collect();
        let used_names = free_variables::names(workflow);
        for AxisOverride { axis, .. } in &added {
            let is_param = workflow.all_params().any(|param| param.key.value == *axis);
            if !is_param && !used_names.contains(axis.as_str()) {
                let message = format!("no shot uses the axis `{axis}` of the command line");
                let params = || workflow.all_params().map(|param| param.key.value.as_str());
                let names = matrices().flat_map(axis_names).chain(params()).collect::<Vec<_>>();
                let nearest = did_you_mean(axis, names.iter().copied());
                let help = nearest.unwrap_or_else(|| match names.as_slice() {
                    [] => "the workflow declares no parameters and has no axes".to_owned(),
                    names => format!("axes and parameters are {}", quoted_list(names.iter().copied(), 12)),
                });
                problems.push(Diagnostic::error("bad-axis", workflow.start, message).help(help));
            }
        }
        let tables = TableCache::default();
        let access = file_access(cx, &tables);
        let top = top(workflow, own.as_ref(), &overrides, &added, &access, problems).ok_or(ErrorReported)?;
        Ok(Self {
            top_label_names: label_axes(&top),
            top: TopCells::new(top),
            shots,
            overrides,
            tables,
            used_names,
        })
    }

    /// The cells of a shot's own matrix; one empty cell without a matrix, `None` if it is invalid (reported).
    pub(super) fn of_shot(
        &self,
        shot: &Shot,
        index: usize,
        cx: &ExpandCx<'_>,
        problems: &mut Problems,
    ) -> Option<Vec<MatrixCell>> {
        match (&shot.matrix, &self.shots[index]) {
            (Some(entry), Some(Ok(matrix))) => {
                let access = file_access(cx, &self.tables);
                let cells = matrix::cells(&entry.key, matrix, &self.overrides, &access, problems)?;
                // Cells that differ on an axis that nothing uses are one.
                if axis_names(matrix).all(|axis| self.used_names.contains(axis)) {
                    return Some(cells);
                }
                let used = used_axes::cells_over(&cells, |axis| self.used_names.contains(axis), &cx.work);
                if used.is_none() {
                    problems.push(matrix::too_much_work(&entry.key));
                }
                used
            }
            (_, Some(Err(()))) => None,
            (_, None) | (None, _) => Some(vec![MatrixCell::default()]),
        }
    }
}

/// The cells of the workflow's own matrix. Overrides that name no existing axis are appended as new axes.
fn top(
    workflow: &Workflow,
    own: Option<&Yaml>,
    overrides: &[AxisOverride],
    added: &[&AxisOverride],
    file_access: &FileAccess<'_>,
    problems: &mut Problems,
) -> Option<Vec<MatrixCell>> {
    let matrix_key = workflow
        .matrix
        .as_ref()
        .map_or_else(|| Spanned::new("matrix".to_owned(), workflow.start), |entry| entry.key.clone());
    let mut matrix = match own {
        None if added.is_empty() => return Some(vec![MatrixCell::default()]),
        None => Yaml::new(YamlValue::Map(Vec::new()), matrix_key.span),
        Some(own) => own.clone(),
    };
    if let YamlValue::Map(entries) = &mut matrix.value {
        for new in added {
            let key = Spanned::new(new.axis.clone(), matrix_key.span);
            // Its values are those that are given, whatever stands here.
            entries.push((key, Yaml::new(YamlValue::List(Vec::new()), matrix_key.span)));
        }
    }
    let mut cells = matrix::cells(&matrix_key, &matrix, overrides, file_access, problems)?;
    matrix::disambiguate(&mut cells);
    Some(cells)
}

/// The axes in the labels of cells. Cells of one matrix share the names of its axes, so that most are compared and not copied.
fn label_axes(cells: &[MatrixCell]) -> BTreeSet<Arc<str>> {
    let mut axes = BTreeSet::new();
    for (axis, _) in cells.iter().flat_map(|cell| &cell.label) {
        if !axes.contains(axis) {
            axes.insert(Arc::clone(axis));
        }
    }
    axes
}

fn file_access<'c>(cx: &'c ExpandCx<'_>, tables: &'c TableCache) -> FileAccess<'c> {
    FileAccess { files: cx.files, work: &cx.work, tables, odd_cells: &cx.templates.odd_cells }
}

fn has_axis(matrix: &Yaml, axis: &str) -> bool {
    axis_names(matrix).any(|name| name == axis)
}

/// The names of a matrix's axes, zipped ones too.
pub(super) fn axis_names(matrix: &Yaml) -> impl Iterator<Item = &str> {
    let entries = map(matrix);
    let zipped = entries.iter().filter(|(key, _)| key.value == ZIP.name).flat_map(|(_, value)| {
        crate::syntax::one_or_many(value)
            .iter()
            .flat_map(|group| map(group).iter().map(|(key, _)| key.value.as_str()))
    });
    let plain = entries.iter().map(|(key, _)| key.value.as_str());
    plain.filter(|name| !MATRIX.has(name)).chain(zipped)
}

fn map(value: &Yaml) -> &[(crate::yaml::Key, Yaml)] {
    if let YamlValue::Map(entries) = &value.value { entries } else { &[] }
}
