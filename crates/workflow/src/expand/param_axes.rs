//! Axes with the name of a parameter: their values replace that of the parameter, and satisfy its declaration.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use serde_json::Value;

use super::params;
use crate::diagnostic::Problems;
use crate::matrix::MatrixCell;
use crate::source::Span;
use crate::syntax::{Param, ParamKind, Shot, Workflow};

/// Checks the values of axes against the parameters that they replace, each value once.
#[derive(Default)]
pub(super) struct AxisValueCheck {
    /// Values of axes are shared from the matrix to the plan. By parameter, because groups may have one of the same name.
    checked: HashSet<(*const Param, *const Value)>,
}

impl AxisValueCheck {
    /// Reports the values in the cells of a shot that its parameters do not allow.
    pub(super) fn check(
        &mut self,
        workflow: &Workflow,
        shot: &Shot,
        cells: &[MatrixCell],
        problems: &mut Problems,
    ) {
        let group = shot.group.and_then(|group| workflow.groups.get(group));
        // A group's parameter replaces the file's of the same name.
        let declared = workflow.params.iter().chain(group.iter().flat_map(|group| &group.params));
        let mut declared: HashMap<&str, &Param> =
            declared.map(|param| (param.key.value.as_str(), param)).collect();
        declared.retain(|_, param| is_constrained(param));
        if declared.is_empty() {
            return;
        }
        for (axis, value) in cells.iter().flat_map(|cell| &cell.values) {
            let Some(&param) = declared.get(&**axis) else { continue };
            if self.checked.insert((std::ptr::from_ref(param), Arc::as_ptr(&value.value))) {
                // A value from the command line is nowhere in the file.
                let span = if value.span == workflow.start { param.key.span } else { value.span };
                check_value(param, &value.value, span, problems);
            }
        }
    }
}

fn is_constrained(param: &Param) -> bool {
    param.kind.is_some() || !param.one_of.is_empty() || param.min.is_some() || param.max.is_some()
}

fn check_value(param: &Param, value: &Value, span: Span, problems: &mut Problems) {
    // In a text, a number or a truth value is what it is written as.
    let is_scalar = value.is_number() || value.is_boolean();
    let text = || Value::String(value.to_string());
    let value = if param.kind == Some(ParamKind::Text) && is_scalar { &text() } else { value };
    params::is_allowed(param, value, span, problems);
}
