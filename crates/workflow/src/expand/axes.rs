//! The workflow's matrix and the matrices of its shots and films, with axis overrides from the command line applied.

use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;

use super::free_variables::mentions;
use super::params::Params;
use super::used_axes::{self, TopCells};
use super::{ExpandCx, free_variables, inherit};
use crate::diagnostic::{Diagnostic, Problems, did_you_mean, quoted_list};
use crate::matrix::{self, AxisOverride, DependentAxes, FileAccess, MatrixCell, TableCache};
use crate::source::Spanned;
use crate::syntax::keys::matrix::{MATRIX, ZIP};
use crate::syntax::keys::workflow::MATRIX as MATRIX_KEY;
use crate::syntax::{self, Entry, FilmSpec, Shot, Workflow};
use crate::template::{self, Scope};
use crate::yaml::{Key, Yaml, YamlValue};

/// The matrices of a workflow, rendered.
pub(super) struct Axes<'w> {
    /// The cells of the workflow's own matrix; one empty cell where it has none.
    pub(super) top: TopCells,
    /// The axes that the labels of `top` have.
    pub(super) top_label_names: BTreeSet<Arc<str>>,
    /// The matrix of each shot; `Err` if a template in it fails, which is reported.
    shots: Vec<Option<Result<Matrix<'w>, ErrorReported>>>,
    /// The matrix of each film.
    films: Vec<Option<Result<Matrix<'w>, ErrorReported>>>,
    overrides: Vec<AxisOverride>,
    tables: TableCache,
    /// The names that templates of the workflow use.
    used_names: HashSet<&'w str>,
}

/// A matrix, rendered but for the axes that depend on others.
struct Matrix<'w> {
    key: Key,
    value: Yaml,
    dependent: Vec<DependentAxis<'w>>,
    scope: Scope,
}

/// An axis whose value names axes above it, of the same matrix or of the workflow's.
struct DependentAxis<'w> {
    name: &'w str,
    value: &'w Yaml,
    uses: Vec<&'w str>,
}

impl<'w> Matrix<'w> {
    /// `top` are the axes of the workflow's matrix.
    fn read(
        entry: &'w Entry,
        top: &[&'w str],
        scope: &Scope,
        cx: &ExpandCx<'w>,
        problems: &mut Problems,
    ) -> Result<Self, ErrorReported> {
        let mut read = Self {
            key: entry.key.clone(),
            value: entry.value.clone(),
            dependent: Vec::new(),
            scope: scope.clone(),
        };
        let mut rendered = |value: &'w Yaml, above: &[&str]| {
            // What is misspelled may be one of these.
            let mut scope = scope.with([]);
            for axis in above {
                scope.set_broken(axis);
            }
            cx.templates.render(value, &scope, problems).ok_or(ErrorReported)
        };
        let (YamlValue::Map(entries), YamlValue::Map(values)) = (&entry.value.value, &mut read.value.value)
        else {
            read.value = rendered(&entry.value, &[])?;
            return Ok(read);
        };
        let own: Vec<&str> = axis_names(&entry.value).collect();
        let mut above: Vec<&str> = top.iter().copied().filter(|axis| !own.contains(axis)).collect();
        let mut is_sound = true;
        for ((key, value), (_, to)) in entries.iter().zip(values) {
            let is_axis = !MATRIX.has(&key.value);
            let mut uses = above.clone();
            uses.retain(|axis| is_axis && mentions(value, axis));
            if uses.is_empty() {
                match rendered(value, if is_axis { &above } else { &[] }) {
                    Ok(value) => *to = value,
                    Err(ErrorReported) => is_sound = false,
                }
            } else {
                read.dependent.push(DependentAxis { name: &key.value, value, uses });
            }
            match is_axis {
                true => above.push(&key.value),
                false if key.value == ZIP.name => above.extend(zipped_names(value)),
                false => {}
            }
        }
        if is_sound { Ok(read) } else { Err(ErrorReported) }
    }

    /// Its cells; those of the workflow's matrix are `top`, for dependent axes that name its axes.
    fn cells(
        &self,
        top: Option<&[MatrixCell]>,
        overrides: &[AxisOverride],
        tables: &TableCache,
        cx: &ExpandCx<'w>,
        problems: &mut Problems,
    ) -> Option<Vec<MatrixCell>> {
        let access = file_access(cx, tables);
        if self.dependent.is_empty() {
            return matrix::cells(
                &self.key,
                &self.value,
                &DependentAxes::none(),
                overrides,
                &access,
                problems,
            );
        }
        let own: Vec<&str> = axis_names(&self.value).collect();
        let used: Vec<&str> = self.dependent.iter().flat_map(|axis| axis.uses.iter().copied()).collect();
        let is_used = |axis: &str| used.contains(&axis) && !own.contains(&axis);
        let within = match top {
            Some(top) => used_axes::cells_over(top, is_used, &cx.work),
            None => Some(vec![MatrixCell::default()]),
        };
        let Some(within) = within else {
            problems.push(matrix::too_much_work(&self.key));
            return None;
        };
        let value = |axis: &str, cell: &MatrixCell, problems: &mut Problems| {
            let axis = self.dependent.iter().find(|dependent| dependent.name == axis)?;
            cx.templates.render(axis.value, &cell_scope(cell, &self.scope), problems)
        };
        let axes = self.dependent.iter().map(|axis| (axis.name, axis.uses.clone())).collect();
        let dependent = DependentAxes { within, axes, value: &value };
        matrix::cells(&self.key, &self.value, &dependent, overrides, &access, problems)
    }
}

/// A value of the file is invalid; the diagnostic was pushed.
#[derive(Clone, Copy)]
pub(super) struct ErrorReported;

impl<'w> Axes<'w> {
    pub(super) fn read(
        workflow: &'w Workflow,
        params: &Params,
        cx: &ExpandCx<'w>,
        problems: &mut Problems,
    ) -> Result<Self, ErrorReported> {
        let overrides = matrix::read_overrides(&cx.options.axes, workflow.start, problems);
        let top_names: Vec<&str> =
            workflow.matrix.iter().flat_map(|entry| axis_names(&entry.value)).collect();
        let mut read =
            |entry: &'w Entry, top: &[&'w str], scope| Matrix::read(entry, top, scope, cx, problems);
        let own = workflow.matrix.as_ref().map(|entry| read(entry, &[], &params.file)).transpose()?;
        let of_shot = |shot: &'w Shot| Some(read(shot.matrix.as_ref()?, &top_names, params.for_shot(shot)));
        let shots: Vec<_> = workflow.shots.iter().map(of_shot).collect();
        let of_film = |film: &'w FilmSpec| Some(read(film.matrix.as_ref()?, &top_names, &params.file));
        let films: Vec<_> = workflow.films.iter().map(of_film).collect();

        let of_others = || shots.iter().chain(&films).flatten().flatten();
        let matrices = || own.iter().chain(of_others()).map(|matrix| &matrix.value);
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
        let top = top_cells(workflow, own, &overrides, &added, &tables, cx, problems).ok_or(ErrorReported)?;
        Ok(Self {
            top_label_names: label_axes(&top),
            top: TopCells::new(top),
            shots,
            films,
            overrides,
            tables,
            used_names,
        })
    }

    /// The cells of a shot's own matrix; one empty cell without a matrix, `None` if it is invalid (reported).
    pub(super) fn of_shot(
        &self,
        index: usize,
        cx: &ExpandCx<'w>,
        problems: &mut Problems,
    ) -> Option<Vec<MatrixCell>> {
        let Some(matrix) = &self.shots[index] else { return Some(vec![MatrixCell::default()]) };
        let matrix = matrix.as_ref().ok()?;
        let cells = matrix.cells(Some(&self.top.cells), &self.overrides, &self.tables, cx, problems)?;
        // Cells that differ on an axis that nothing uses are one.
        if axis_names(&matrix.value).all(|axis| self.used_names.contains(axis)) {
            return Some(cells);
        }
        let used = used_axes::cells_over(&cells, |axis| self.used_names.contains(axis), &cx.work);
        if used.is_none() {
            problems.push(matrix::too_much_work(&matrix.key));
        }
        used
    }

    /// The cells of a film: those of its own matrix, each with the workflow's that agree; none if it is invalid (reported).
    pub(super) fn of_film(
        &self,
        index: usize,
        cx: &ExpandCx<'w>,
        problems: &mut Problems,
    ) -> Option<Vec<MatrixCell>> {
        let matrix = self.films[index].as_ref()?;
        let mut cells = || {
            let matrix = matrix.as_ref().ok()?;
            let own = matrix.cells(Some(&self.top.cells), &self.overrides, &self.tables, cx, problems)?;
            inherit::film_cells(&matrix.key, &own, &self.top, &cx.work, problems)
        };
        Some(cells().unwrap_or_default())
    }
}

/// The cells of the workflow's own matrix. Overrides that name no existing axis are appended as new axes.
fn top_cells<'w>(
    workflow: &'w Workflow,
    own: Option<Matrix<'w>>,
    overrides: &[AxisOverride],
    added: &[&AxisOverride],
    tables: &TableCache,
    cx: &ExpandCx<'w>,
    problems: &mut Problems,
) -> Option<Vec<MatrixCell>> {
    if own.is_none() && added.is_empty() {
        return Some(vec![MatrixCell::default()]);
    }
    let mut own = own.unwrap_or_else(|| Matrix {
        key: Spanned::new(MATRIX_KEY.name.to_owned(), workflow.start),
        value: Yaml::new(YamlValue::Map(Vec::new()), workflow.start),
        dependent: Vec::new(),
        scope: Scope::default(),
    });
    if let YamlValue::Map(entries) = &mut own.value.value {
        for new in added {
            let key = Spanned::new(new.axis.clone(), own.key.span);
            // Its values are those that are given, whatever stands here.
            entries.push((key, Yaml::new(YamlValue::List(Vec::new()), own.key.span)));
        }
    }
    let mut cells = own.cells(None, overrides, tables, cx, problems)?;
    matrix::disambiguate(&mut cells);
    Some(cells)
}

/// What templates see in a cell.
pub(super) fn cell_scope(cell: &MatrixCell, params: &Scope) -> Scope {
    params.with(values(cell))
}

/// The values of a cell's axes, as templates see them.
pub(super) fn values(cell: &MatrixCell) -> impl Iterator<Item = (&str, template::Value)> {
    cell.values.iter().map(|(axis, value)| (&**axis, template::axis_value(&value.value)))
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
    let zipped = entries.iter().filter(|(key, _)| key.value == ZIP.name);
    let zipped = zipped.flat_map(|(_, value)| zipped_names(value));
    let plain = entries.iter().map(|(key, _)| key.value.as_str());
    plain.filter(|name| !MATRIX.has(name)).chain(zipped)
}

fn zipped_names(value: &Yaml) -> impl Iterator<Item = &str> {
    let groups = syntax::one_or_many(value).iter();
    groups.flat_map(|group| map(group).iter().map(|(key, _)| key.value.as_str()))
}

fn map(value: &Yaml) -> &[(Key, Yaml)] {
    if let YamlValue::Map(entries) = &value.value { entries } else { &[] }
}
