//! The template environment: the filters, functions and tests of minijinja, some of our own, and limits.

use minijinja::syntax::SyntaxConfig;
use minijinja::value::{Kwargs, Value, ValueKind};
use minijinja::{Environment, Error, ErrorKind, UndefinedBehavior, escape_formatter};

use super::compare::Comparer;
use super::rewrite::OPERAND;
use super::tables::CsvTables;
use super::{filters as ours, steps};
use crate::limits;

/// The names of the filters that are documented, for suggestions.
pub(super) fn filters() -> impl Iterator<Item = &'static str> {
    "abs capitalize count csv default first float int items join last length lines list lower map max min \
    reject rejectattr replace reverse round select selectattr shuffle slug sort split string title \
    tojson trim unique upper zip"
        .split_whitespace()
}

/// The names of tests, as in `x is odd` and `select('odd')`, for suggestions.
pub(super) fn tests() -> impl Iterator<Item = &'static str> {
    "!= < <= == > >= boolean defined divisibleby endingwith eq equalto even false ge greaterthan gt in le \
    lessthan lt mapping ne none number odd sequence startingwith string true undefined"
        .split_whitespace()
}

/// An environment for templates that borrow from the workflow.
pub(crate) fn environment<'source>() -> Environment<'source> {
    let mut env = uncounted();
    steps::count(&mut env, OPERAND, &uncounted());
    env
}

fn uncounted<'source>() -> Environment<'source> {
    let mut env = Environment::new();
    env.set_undefined_behavior(UndefinedBehavior::Strict);
    env.set_fuel(Some(limits::MAX_TEMPLATE_FUEL));
    env.set_recursion_limit(64);
    env.set_debug(true);
    env.set_formatter(|out, state, value| {
        let refused = |message: String| Err(Error::new(ErrorKind::InvalidOperation, message));
        match value.kind() {
            ValueKind::None => refused(
                "this value is empty: give it one, or write what stands for it: `| default('calm', true)`"
                    .to_owned(),
            ),
            // As YAML and JSON write it.
            ValueKind::Bool => escape_formatter(out, state, &Value::from(value.to_string().to_lowercase())),
            ValueKind::Seq | ValueKind::Iterable => refused(
                "this value is a list: write what stands between its items: `| join(', ')`".to_owned(),
            ),
            ValueKind::Map => {
                let member = value.try_iter().ok().and_then(|mut keys| keys.next());
                let member = member.map(|key| format!(", such as `{key}`")).unwrap_or_default();
                refused(format!("this value is a mapping: write the member that is meant{member}"))
            }
            _ => escape_formatter(out, state, value),
        }
    });
    if let Ok(syntax) = SyntaxConfig::builder().keep_trailing_newline(true).build() {
        env.set_syntax(syntax);
    }

    Comparer::add_to(&mut env);
    // They make texts and lists of any size.
    for name in ["batch", "indent", "pprint", "slice"] {
        env.remove_filter(name);
    }
    let tables = CsvTables::default();
    env.add_filter("csv", move |text: Value, kwargs: Kwargs| ours::csv(&text, &kwargs, &tables));
    env.add_filter("format", ours::format);
    env.add_filter("join", |list: &Value, separator: Option<&str>| ours::join(list, separator));
    env.add_filter("map", ours::map);
    env.add_filter("replace", |text: &str, from: &str, to: &str| ours::replace(text, from, to));
    env.add_filter("shuffle", ours::shuffle);
    env.add_filter("slug", ours::slug_filter);
    env.add_filter("tojson", |value: &Value, kwargs: Kwargs| ours::tojson(value, &kwargs));
    env
}
