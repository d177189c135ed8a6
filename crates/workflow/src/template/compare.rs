//! Comparisons in templates. Values of different kinds have no order: minijinja has one, by kind, so that `'24.90' > 100` would hold.

use std::sync::{Arc, Mutex, PoisonError};

use minijinja::value::{Object, ObjectRepr, StringInput, Value, ValueKind};
use minijinja::{Environment, Error, ErrorKind, State};

use super::error::TemplateError;
use super::rewrite::{COMPARE, NUMBER, Positions};
use super::steps;
use crate::diagnostic::{Severity, shortened};

/// The function that comparisons are rewritten to. It keeps what it found until that is reported.
#[derive(Debug, Default)]
pub(super) struct Comparer(Mutex<Vec<Mixed>>);

/// A comparison of values of different kinds.
#[derive(Debug)]
pub(super) struct Mixed {
    comparison: usize,
    /// The index of the left one of two operands.
    operand: usize,
    operator: String,
    left: Value,
    right: Value,
}

impl Comparer {
    /// Adds comparisons to an environment.
    pub(super) fn add_to(env: &mut Environment<'_>) {
        env.add_global(COMPARE, Value::from_object(Self::default()));
        env.add_filter(NUMBER, |value: Value, copies: Option<u64>| {
            steps::read(&value, copies)?;
            match number_of(&value) {
                Some(number) => Ok(Value::from(number)),
                // It would be repeated, up to 100 MB.
                None if copies == Some(0) && value.len().is_some() => {
                    Err(mixed_error(format!("`*` multiplies numbers, and this is {}", kind(&value))))
                }
                None => Ok(value),
            }
        });
        for (names, operator) in [
            (["<", "lt", "lessthan"], "<"),
            (["<=", "le", "<="], "<="),
            ([">", "gt", "greaterthan"], ">"),
            ([">=", "ge", ">="], ">="),
        ] {
            for name in names {
                env.add_test(name, move |left: Value, right: Value| {
                    order(operator, &left, &right).ok_or_else(|| {
                        let (left, right) = (kind(&left), kind(&right));
                        mixed_error(format!("`{operator}` compares {left} with {right}"))
                    })
                });
            }
        }
    }

    /// The one of an environment.
    pub(super) fn of(env: &Environment<'_>) -> Option<Arc<Self>> {
        env.empty_state().lookup(COMPARE)?.downcast_object::<Self>()
    }

    /// What was found since the last time.
    pub(super) fn take(&self) -> Vec<Mixed> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Object for Comparer {
    fn repr(self: &Arc<Self>) -> ObjectRepr {
        ObjectRepr::Plain
    }

    fn call(self: &Arc<Self>, state: &mut State<'_, '_>, args: &[Value]) -> Result<Value, Error> {
        let comparison = args.first().and_then(Value::as_usize).unwrap_or_default();
        let operands: Vec<&Value> = args.iter().skip(1).step_by(2).collect();
        let operators = args.iter().skip(2).step_by(2);
        for operand in &operands {
            steps::read(operand, None)?;
            if operand.is_undefined() {
                StringInput::new(state, operand)?;
            }
        }
        for (operand, (pair, operator)) in operands.windows(2).zip(operators).enumerate() {
            let (&[left, right], Some(operator)) = (pair, operator.as_str()) else { continue };
            let mixed = || {
                let (left, right) = (left.clone(), right.clone());
                let mixed = Mixed { comparison, operand, operator: operator.to_owned(), left, right };
                let mut found = self.0.lock().unwrap_or_else(PoisonError::into_inner);
                // In a loop it may be the same thousands of times.
                if found.iter().all(|found| found.comparison != comparison) {
                    found.push(mixed);
                }
            };
            let holds = match operator {
                "==" | "!=" => {
                    let equal = equal(left, right);
                    if !equal && (reads_as(left, right) || reads_as(right, left)) {
                        mixed();
                    }
                    equal == (operator == "==")
                }
                _ => order(operator, left, right).ok_or_else(|| {
                    mixed();
                    mixed_error("values of different kinds have no order".to_owned())
                })?,
            };
            if !holds {
                return Ok(Value::from(false));
            }
        }
        Ok(Value::from(true))
    }
}

fn mixed_error(message: String) -> Error {
    Error::new(ErrorKind::InvalidOperation, message)
}

/// The number of a number that keeps its text.
pub(super) fn number_of(value: &Value) -> Option<f64> {
    value.as_str().filter(|_| value.is_safe())?.parse().ok()
}

/// The number of a value as a value, or the value.
fn as_number(value: &Value) -> Value {
    number_of(value).map_or_else(|| value.clone(), Value::from)
}

fn equal(left: &Value, right: &Value) -> bool {
    left == right || as_number(left) == as_number(right)
}

/// Whether an operator holds; `None` if the values have no order.
fn order(operator: &str, left: &Value, right: &Value) -> Option<bool> {
    let (left, right) = (as_number(left), as_number(right));
    if kind(&left) != kind(&right) || left.is_none() {
        return None;
    }
    Some(match operator {
        "<" => left < right,
        "<=" => left <= right,
        ">" => left > right,
        _ => left >= right,
    })
}

/// Whether a text reads as a value of the kind that the other one has.
fn reads_as(text: &Value, other: &Value) -> bool {
    let Some(text) = text.as_str() else { return false };
    match other.kind() {
        ValueKind::Number => text.trim().parse::<f64>().is_ok(),
        ValueKind::Bool => {
            ["true", "false", "yes", "no", "on", "off"].contains(&text.trim().to_lowercase().as_str())
        }
        _ => false,
    }
}

fn kind(value: &Value) -> &'static str {
    match value.kind() {
        _ if number_of(value).is_some() => "a number",
        ValueKind::None | ValueKind::Undefined => "empty",
        ValueKind::Bool => "true or false",
        ValueKind::Number => "a number",
        ValueKind::String => "text",
        ValueKind::Seq | ValueKind::Iterable => "a list",
        ValueKind::Map => "a mapping",
        _ => "another value",
    }
}

impl Mixed {
    /// Values that are never equal are most likely a mistake; those without an order are one.
    pub(super) fn severity(&self) -> Severity {
        if matches!(self.operator.as_str(), "==" | "!=") { Severity::Warning } else { Severity::Error }
    }

    /// The message, the place and the help, for code in `text`. `cell` names a cell that makes the column of a table text, by its path.
    pub(super) fn report(
        &self,
        text: &str,
        positions: &Positions,
        cell: impl Fn(&str) -> Option<String>,
    ) -> TemplateError {
        let ranges = positions.operands(self.comparison);
        let written =
            |index: usize| ranges.get(index).and_then(|range| text.get(range.clone())).unwrap_or("?");
        let (first, second) = (self.operand, self.operand + 1);
        // The one that is of the wrong kind: most probably what is empty, or text.
        let is_odd = |value: &Value| (value.is_none(), value.as_str().is_some());
        let is_left = is_odd(&self.left) >= is_odd(&self.right);
        let (index, value, other_index, other) = if is_left {
            (first, &self.left, second, &self.right)
        } else {
            (second, &self.right, first, &self.left)
        };
        let (name, operator) = (written(index), &self.operator);
        let compared = |name: &str| {
            if is_left {
                format!("{name} {operator} {}", written(other_index))
            } else {
                format!("{} {operator} {name}", written(other_index))
            }
        };
        let single = if name.contains(' ') { format!("({name})") } else { name.to_owned() };
        let shown = value.as_str().map(shortened).unwrap_or_default();
        let is_number = shown.trim().parse::<f64>().is_ok();
        let help = if value.is_none() {
            format!("where it may be empty, write `{single} is not none and {}`", compared(name))
        } else if name.starts_with(['\'', '"']) {
            format!("write it without quotes: `{}`", compared(shown.trim()))
        } else if other.kind() == ValueKind::Bool {
            format!(
                "it is text such as `{shown}`: write `{single} | lower == '{}'`",
                shown.trim().to_lowercase()
            )
        } else if let Some(cell) = cell(name) {
            format!("{cell}: write a number there, or leave it empty")
        } else if is_number {
            format!(
                "`| float` makes a number of text such as `{shown}`: write `{}`",
                compared(&format!("{single} | float"))
            )
        } else if value.as_str().is_some() {
            format!("its value is `{shown}`: give it one of the same kind as `{}`", written(other_index))
        } else {
            "compare values of one kind: `| float` makes a number of text, `| string` text of a number"
                .to_owned()
        };
        let (this, that) = (kind(value), kind(other));
        let message = match operator.as_str() {
            "==" => format!("`{name}` is {this} here, and never equals {that}"),
            "!=" => format!("`{name}` is {this} here, which always differs from {that}"),
            _ => format!("`{name}` is {this} here, and `{operator}` compares it with {that}"),
        };
        let range = ranges.get(index).cloned();
        TemplateError { code: "mixed-kinds", message, range, help: Some(help) }
    }
}
