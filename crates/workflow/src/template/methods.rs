//! Messages for what Python has as methods and functions, and templates have as filters.

use minijinja::{Error, ErrorKind, Value};

use super::environment::FILTERS;
use crate::diagnostic::{did_you_mean, quoted_list};

/// Python's methods, with what does the same here. `x` is the value.
const METHODS: [(&str, &str); 18] = [
    ("append", "x + [item]"),
    ("endswith", "x is endingwith('…')"),
    ("extend", "x + others"),
    ("format", "x | format(…)` with `%s` in the text: `'%s, %s' | format(a, b)"),
    ("get", "x.name | default('…')"),
    ("join", "list | join(', ')"),
    ("keys", "x | list"),
    ("lstrip", "x | trim"),
    ("rstrip", "x | trim"),
    ("splitlines", "x | lines"),
    ("startswith", "x is startingwith('…')"),
    ("strip", "x | trim"),
    ("values", "x | items | map(attribute=1)"),
    ("index", "loop.index` in a `for"),
    ("copy", "x"),
    ("casefold", "x | lower"),
    ("toLowerCase", "x | lower"),
    ("toUpperCase", "x | upper"),
];

/// Functions of Python, with the filter that does the same.
const FUNCTIONS: [(&str, &str); 9] = [
    ("len", "x | length"),
    ("str", "x | string"),
    ("sorted", "x | sort"),
    ("reversed", "x | reverse"),
    ("json", "x | tojson"),
    ("enumerate", "loop.index` in a `for"),
    ("set", "x | unique"),
    ("filter", "x | select('odd')"),
    ("random", "x | shuffle(7) | first"),
];

/// The error for a method call. The name is quoted in the message, by which the span is narrowed to it.
pub(super) fn error(value: &Value, name: &str) -> Error {
    let kind = value.kind();
    Error::new(
        ErrorKind::UnknownMethod,
        format!("there is no method `{name}`: a {kind} has none in templates"),
    )
}

/// The help for a method.
pub(super) fn method_help(name: &str) -> String {
    match METHODS.iter().find(|(method, _)| *method == name) {
        Some((_, instead)) => format!("write `{instead}`"),
        None => filter_help(name),
    }
}

/// The help for a function.
pub(super) fn function_help(name: &str) -> String {
    match FUNCTIONS.iter().find(|(function, _)| *function == name) {
        Some((_, instead)) => format!("write `{instead}`"),
        None if name == "rang" => "write `range(3)`".to_owned(),
        None => filter_help(name),
    }
}

fn filter_help(name: &str) -> String {
    if FILTERS.contains(&name) {
        return format!("write the filter: `x | {name}`");
    }
    did_you_mean(name, FILTERS).map_or_else(
        || format!("the filters are {}", quoted_list(FILTERS, FILTERS.len())),
        |suggestion| format!("write a filter, as in `x | upper`; {suggestion}"),
    )
}
