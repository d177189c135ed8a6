//! The template environment: filters, functions, tests and limits.

use std::sync::Arc;

use minijinja::syntax::SyntaxConfig;
use minijinja::value::{Kwargs, Value};
use minijinja::{
    Environment, Error, ErrorKind, UndefinedBehavior, escape_formatter, filters, functions, tests,
};

use super::filters as ours;
use super::work::{TemplateWork, charged};
use crate::limits;

/// The names of all filters, for suggestions.
pub(super) const FILTERS: [&str; 29] = [
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
    "max",
    "min",
    "replace",
    "reverse",
    "round",
    "shuffle",
    "slug",
    "sort",
    "split",
    "string",
    "times",
    "title",
    "trim",
    "upper",
];

/// The filters that read whole values, with the names under which they are found once that is charged.
const HIDDEN: [(&str, &str); 28] = [
    ("abs", "abs "),
    ("capitalize", "capitalize "),
    ("count", "count "),
    ("default", "default "),
    ("first", "first "),
    ("float", "float "),
    ("int", "int "),
    ("items", "items "),
    ("join", "join "),
    ("last", "last "),
    ("length", "length "),
    ("lines", "lines "),
    ("list", "list "),
    ("lower", "lower "),
    ("max", "max "),
    ("min", "min "),
    ("replace", "replace "),
    ("reverse", "reverse "),
    ("round", "round "),
    ("shuffle", "shuffle "),
    ("slug", "slug "),
    ("sort", "sort "),
    ("split", "split "),
    ("string", "string "),
    ("times", "times "),
    ("title", "title "),
    ("trim", "trim "),
    ("upper", "upper "),
];

/// An environment for templates that borrow from the workflow.
pub(crate) fn environment<'source>(work: &Arc<TemplateWork>) -> Environment<'source> {
    let mut env = Environment::empty();
    env.set_undefined_behavior(UndefinedBehavior::Strict);
    env.set_fuel(Some(limits::MAX_TEMPLATE_FUEL));
    env.set_recursion_limit(64);
    env.set_debug(true);
    env.set_formatter(|out, state, value| {
        if value.is_none() {
            let message = "this value is empty, and would be written as `None`";
            return Err(Error::new(ErrorKind::InvalidOperation, message));
        }
        escape_formatter(out, state, value)
    });
    if let Ok(syntax) = SyntaxConfig::builder().keep_trailing_newline(true).build() {
        env.set_syntax(syntax);
    }

    // A name with a blank cannot be written in a template.
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
    for (name, hidden) in HIDDEN {
        charged(&mut env, name, hidden, work);
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

    env.add_test("defined", tests::is_defined);
    env.add_test("undefined", tests::is_undefined);
    env.add_test("none", tests::is_none);
    env.add_test("number", tests::is_number);
    env.add_test("string", tests::is_string);
    env.add_test("odd", tests::is_odd);
    env.add_test("even", tests::is_even);
    env.add_test("divisibleby", tests::is_divisibleby);
    env.add_test("in", tests::is_in);
    env
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
    }
}
