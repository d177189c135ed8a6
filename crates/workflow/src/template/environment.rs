//! The template environment: filters, functions, tests and limits.

use std::sync::Arc;

use minijinja::syntax::SyntaxConfig;
use minijinja::value::{Kwargs, Rest, Value, ValueKind, ValueOrKwargs};
use minijinja::{
    Environment, Error, ErrorKind, State, UndefinedBehavior, escape_formatter, filters, functions, tests,
};

use super::lists::{self, SelectFilter};
use super::work::{TemplateWork, charged, charged_test};
use super::{filters as ours, multiply};
use crate::limits;

/// The names of all filters, for suggestions, and for filters that call others.
pub(super) const FILTERS: [&str; 37] = [
    "abs",
    "capitalize",
    "count",
    "csv",
    "default",
    "first",
    "float",
    "int",
    "items",
    "join",
    "last",
    "length",
    "lines",
    "list",
    "lower",
    "map",
    "max",
    "min",
    "reject",
    "rejectattr",
    "replace",
    "reverse",
    "round",
    "select",
    "selectattr",
    "shuffle",
    "slug",
    "sort",
    "split",
    "string",
    "times",
    "title",
    "tojson",
    "trim",
    "unique",
    "upper",
    "zip",
];

/// The names of all tests, as in `x is odd` and `select('odd')`.
pub(super) const TESTS: [&str; 31] = [
    "!=",
    "<",
    "<=",
    "==",
    ">",
    ">=",
    "boolean",
    "defined",
    "divisibleby",
    "endingwith",
    "eq",
    "equalto",
    "even",
    "false",
    "ge",
    "greaterthan",
    "gt",
    "in",
    "le",
    "lessthan",
    "lt",
    "mapping",
    "ne",
    "none",
    "number",
    "odd",
    "sequence",
    "startingwith",
    "string",
    "true",
    "undefined",
];

/// Filters that charge for themselves.
const SELF_CHARGED: [&str; 1] = ["csv"];

/// The tests that read whole values.
const CHARGED_TESTS: [&str; 18] = [
    "!=",
    "<",
    "<=",
    "==",
    ">",
    ">=",
    "endingwith",
    "eq",
    "equalto",
    "ge",
    "greaterthan",
    "gt",
    "in",
    "le",
    "lessthan",
    "lt",
    "ne",
    "startingwith",
];

/// An environment for templates that borrow from the workflow.
pub(crate) fn environment<'source>(work: &Arc<TemplateWork>) -> Environment<'source> {
    let mut env = Environment::empty();
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

    // The filters under their hidden names: one with a space cannot be written in a template.
    env.add_filter("abs ", filters::abs);
    env.add_filter("capitalize ", filters::capitalize);
    env.add_filter("count ", filters::length);
    env.add_filter("default ", filters::default);
    env.add_filter("first ", filters::first);
    env.add_filter("float ", filters::float);
    env.add_filter("int ", filters::int);
    env.add_filter("items ", filters::items);
    env.add_filter("last ", filters::last);
    env.add_filter("length ", filters::length);
    env.add_filter("lines ", filters::lines);
    env.add_filter("list ", filters::list);
    env.add_filter("lower ", filters::lower);
    env.add_filter("max ", filters::max);
    env.add_filter("min ", filters::min);
    env.add_filter("reverse ", filters::reverse);
    env.add_filter("round ", filters::round);
    env.add_filter("sort ", filters::sort);
    env.add_filter("split ", filters::split);
    env.add_filter("string ", filters::string);
    env.add_filter("title ", filters::title);
    env.add_filter("trim ", filters::trim);
    env.add_filter("upper ", filters::upper);
    env.add_filter("join ", ours::join);
    env.add_filter("replace ", ours::replace);
    env.add_filter("shuffle ", ours::shuffle);
    env.add_filter("slug ", ours::slug_filter);
    env.add_filter("times ", ours::times);
    env.add_filter("tojson ", |value: &Value, kwargs: Kwargs| ours::tojson(value, &kwargs));
    env.add_filter("unique ", filters::unique);
    let shared = Arc::clone(work);
    env.add_filter("map ", move |state: &mut State<'_, '_>, args: Rest<ValueOrKwargs>| {
        lists::map(state, args, &shared)
    });
    for form in
        [SelectFilter::Select, SelectFilter::Reject, SelectFilter::SelectAttr, SelectFilter::RejectAttr]
    {
        let shared = Arc::clone(work);
        env.add_filter(
            format!("{} ", form.name()),
            move |state: &mut State<'_, '_>, args: Rest<ValueOrKwargs>| {
                lists::select(state, args, &shared, form)
            },
        );
    }
    let shared = Arc::clone(work);
    env.add_filter("zip ", move |list: &Value, others: Rest<Value>| lists::zip(list, &others, &shared));
    env.add_filter(multiply::NUMBER, multiply::number);
    for name in FILTERS.into_iter().filter(|name| !SELF_CHARGED.contains(name)) {
        charged(&mut env, name, work);
    }
    let shared = Arc::clone(work);
    env.add_filter("csv", move |text: Value, kwargs: Kwargs| ours::csv(&text, &kwargs, &shared));

    let shared = Arc::clone(work);
    env.add_function("range", move |lower: isize, upper: Option<isize>, step: Option<isize>| {
        let (from, to) = upper.map_or((0, lower), |upper| (lower, upper));
        let count = to.abs_diff(from) / step.map_or(1, |step| step.unsigned_abs().max(1));
        shared.charge(count as u64)?;
        functions::range(lower, upper, step)
    });

    add_tests(&mut env, work);
    // Templates with `*` are compiled from a changed text, which is their name.
    env.set_loader(|code| Ok(Some(code.to_owned())));
    env
}

fn add_tests(env: &mut Environment<'_>, work: &Arc<TemplateWork>) {
    env.add_test("boolean", tests::is_boolean);
    env.add_test("defined", tests::is_defined);
    env.add_test("divisibleby", tests::is_divisibleby);
    env.add_test("even", tests::is_even);
    env.add_test("false", tests::is_false);
    env.add_test("mapping", tests::is_mapping);
    env.add_test("none", tests::is_none);
    env.add_test("number", tests::is_number);
    env.add_test("odd", tests::is_odd);
    env.add_test("sequence", tests::is_sequence);
    env.add_test("string", tests::is_string);
    env.add_test("true", tests::is_true);
    env.add_test("undefined", tests::is_undefined);
    env.add_test("endingwith ", tests::is_endingwith);
    env.add_test("in ", tests::is_in);
    env.add_test("startingwith ", tests::is_startingwith);
    for name in ["== ", "eq ", "equalto "] {
        env.add_test(name, tests::is_eq);
    }
    for name in ["!= ", "ne "] {
        env.add_test(name, tests::is_ne);
    }
    for name in ["< ", "lt ", "lessthan "] {
        env.add_test(name, tests::is_lt);
    }
    for name in ["<= ", "le "] {
        env.add_test(name, tests::is_le);
    }
    for name in ["> ", "gt ", "greaterthan "] {
        env.add_test(name, tests::is_gt);
    }
    for name in [">= ", "ge "] {
        env.add_test(name, tests::is_ge);
    }
    for name in CHARGED_TESTS {
        charged_test(env, name, work);
    }
}

#[cfg(test)]
mod listing {
    use super::*;

    #[test]
    fn suggested_filters_exist() {
        let env = environment(&Arc::default());
        for name in FILTERS {
            let rendered = env.render_str(&format!("{{{{ x | {name} }}}}"), ());
            let kind = rendered.err().map(|error| error.kind());
            assert_ne!(kind, Some(minijinja::ErrorKind::UnknownFilter), "{name}");
        }
        for name in TESTS {
            let rendered = env.render_str(&format!("{{{{ [1] | select('{name}') }}}}"), ());
            let kind = rendered.err().map(|error| error.kind());
            assert_ne!(kind, Some(minijinja::ErrorKind::UnknownTest), "{name}");
        }
    }
}
