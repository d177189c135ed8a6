//! Filters over lists that call other filters and tests: every call is charged.

use minijinja::value::{Kwargs, Rest, Value, ValueOrKwargs, from_args};
use minijinja::{Error, ErrorKind, State};

use super::environment::{FILTERS, TESTS};
use super::work::{TemplateWork, size};
use crate::diagnostic::{did_you_mean, quoted_list};
use crate::limits;

/// Steps for a call of a filter or a test, besides what it charges for itself.
const CALL_STEPS: u64 = 4;
/// How often `map` may name itself.
const MAX_NESTED_MAPS: usize = 8;

fn invalid_operation(message: impl Into<String>) -> Error {
    Error::new(ErrorKind::InvalidOperation, message.into())
}

/// The items of a list, of which there are a bounded number.
fn items(value: &Value, filter: &str) -> Result<Vec<Value>, Error> {
    let items: Vec<Value> = value.try_iter()?.take(limits::MAX_CSV_ROWS + 1).collect();
    if items.len() > limits::MAX_CSV_ROWS {
        return Err(invalid_operation(format!("`{filter}` takes at most {} items", limits::MAX_CSV_ROWS)));
    }
    Ok(items)
}

/// A member of a value by a path such as `coat.color`; undefined if there is none.
fn attribute(value: &Value, path: &Value, work: &TemplateWork) -> Result<Value, Error> {
    let Some(path) = path.as_str() else {
        work.charge(1)?;
        return value.get_item(path);
    };
    let mut member = value.clone();
    for part in path.split('.') {
        member = match part.parse::<usize>() {
            Ok(index) => member.get_item(&Value::from(index)),
            Err(_) => member.get_attr(part),
        }?;
        work.charge(2 + size(&member))?;
        if member.is_undefined() {
            break;
        }
    }
    Ok(member)
}

/// The name of a filter or a test that a filter calls. Only public names: those charge for themselves.
fn callee<'v>(name: &'v Value, noun: &str, names: &[&'static str]) -> Result<&'v str, Error> {
    let text = name.as_str().ok_or_else(|| {
        invalid_operation(format!("the name of a {noun} is text, such as `'{}'`", names[0]))
    })?;
    if names.contains(&text) {
        return Ok(text);
    }
    let help = did_you_mean(text, names.iter().copied())
        .unwrap_or_else(|| format!("the {noun}s are {}", quoted_list(names.iter().copied(), names.len())));
    Err(invalid_operation(format!("there is no {noun} `{text}`; {help}")))
}

/// `| map(attribute='name')`, `| map('upper')`, `| map('replace', 'a', 'b')`.
pub(super) fn map(
    state: &mut State<'_, '_>,
    args: Rest<ValueOrKwargs>,
    work: &TemplateWork,
) -> Result<Value, Error> {
    let args = args.into_values();
    let (list, args, kwargs) = from_args::<(&Value, &[Value], Kwargs)>(&args)?;
    let items = items(list, "map")?;
    if let Some(path) = kwargs.get::<Option<Value>>("attribute")? {
        let default = kwargs.get::<Option<Value>>("default")?;
        kwargs.assert_all_used()?;
        if !args.is_empty() {
            return Err(invalid_operation("`map` takes the name of a filter or `attribute`, not both"));
        }
        let member = |item: &Value| match (attribute(item, &path, work), &default) {
            (Ok(member), Some(default)) if member.is_undefined() => Ok(default.clone()),
            (Ok(member), None) if member.is_undefined() => {
                Err(invalid_operation(format!("an item of the list has no `{path}`")))
            }
            (Err(error), Some(default)) if error.kind() != ErrorKind::OutOfFuel => Ok(default.clone()),
            (member, _) => member,
        };
        return items.iter().map(member).collect::<Result<Vec<Value>, Error>>().map(Value::from);
    }
    let [name, rest @ ..] = args else {
        return Err(invalid_operation(
            "`map` takes the name of a filter, such as `map('upper')`, or `attribute`",
        ));
    };
    let name = callee(name, "filter", &FILTERS)?;
    if args.iter().take_while(|arg| arg.as_str() == Some("map")).count() > MAX_NESTED_MAPS {
        return Err(invalid_operation(format!("`map` in `map` goes at most {MAX_NESTED_MAPS} levels deep")));
    }
    let has_named = kwargs.args().next().is_some();
    let named = has_named.then(|| Value::from(kwargs));
    let call = |item: Value| {
        work.charge(CALL_STEPS)?;
        let args: Vec<Value> =
            std::iter::once(item).chain(rest.iter().cloned()).chain(named.iter().cloned()).collect();
        state.apply_filter(name, &args)
    };
    items.into_iter().map(call).collect::<Result<Vec<Value>, Error>>().map(Value::from)
}

/// `| select('odd')`, `| reject('in', others)`, `| selectattr('age', 'gt', 40)`: the items that pass a test, or those that do not.
/// Without a test, a value passes if it is true.
pub(super) fn select(
    state: &mut State<'_, '_>,
    args: Rest<ValueOrKwargs>,
    work: &TemplateWork,
    form: SelectFilter,
) -> Result<Value, Error> {
    let args = args.into_values();
    let (list, mut args) = from_args::<(&Value, &[Value])>(&args)?;
    let items = items(list, form.name())?;
    let mut path = None;
    if form.by_attribute() {
        let [first, rest @ ..] = args else {
            return Err(invalid_operation(format!(
                "`{0}` takes the name of a member: `{0}('age', 'gt', 40)`",
                form.name()
            )));
        };
        (path, args) = (Some(first), rest);
    }
    let test = match args {
        [] => None,
        [name, rest @ ..] => Some((callee(name, "test", &TESTS)?, rest)),
    };
    let mut selected = Vec::new();
    for item in items {
        let value = match path {
            Some(path) => attribute(&item, path, work)?,
            None => item.clone(),
        };
        work.charge(CALL_STEPS)?;
        let passes = match test {
            Some((name, rest)) => {
                let args: Vec<Value> = std::iter::once(value).chain(rest.iter().cloned()).collect();
                state.perform_test(name, &args)?
            }
            None => value.is_true(),
        };
        if passes == form.keeps() {
            selected.push(item);
        }
    }
    Ok(Value::from(selected))
}

/// The filters that select items.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SelectFilter {
    Select,
    Reject,
    SelectAttr,
    RejectAttr,
}

impl SelectFilter {
    /// The name of the filter.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Select => "select",
            Self::Reject => "reject",
            Self::SelectAttr => "selectattr",
            Self::RejectAttr => "rejectattr",
        }
    }

    fn by_attribute(self) -> bool {
        matches!(self, Self::SelectAttr | Self::RejectAttr)
    }

    /// Whether the items that pass the test are the result, or the others.
    fn keeps(self) -> bool {
        matches!(self, Self::Select | Self::SelectAttr)
    }
}

/// `| zip(others, …)`: lists of the first items, of the second items and so on, as many as the shortest list has.
pub(super) fn zip(value: &Value, others: &[Value], work: &TemplateWork) -> Result<Value, Error> {
    let lists = std::iter::once(value)
        .chain(others.iter())
        .map(|list| items(list, "zip"))
        .collect::<Result<Vec<Vec<Value>>, Error>>()?;
    let length = lists.iter().map(Vec::len).min().unwrap_or_default();
    work.charge((length as u64).saturating_mul(1 + lists.len() as u64))?;
    let row =
        |index: usize| Value::from(lists.iter().map(|list| list[index].clone()).collect::<Vec<Value>>());
    Ok(Value::from((0..length).map(row).collect::<Vec<Value>>()))
}
