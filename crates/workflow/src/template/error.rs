//! Errors in templates: minijinja's errors as messages for people.

use std::ops::Range;

use minijinja::{Error, ErrorKind};

use super::cast_value::CAST;
use super::environment::{filters, tests};
use super::rewrite::Positions;
use super::scan::ScanError;
use super::scope::Scope;
use crate::diagnostic::{did_you_mean, nearest_own, quoted_list};

/// The help where no name is defined.
const NO_NAMES: &str = "no name is defined here: a parameter can use those above it, an axis the parameters and the axes above it, a film the parameters and the axes of its and the file's `matrix`";
/// The help for code that is none.
const FORMS: &str =
    "a template is `{{ name }}`, `{{ name | filter }}` or `{% if name == 'value' %}…{% endif %}`";
/// The help for code that has no end.
const LITERAL_BRACES: &str =
    "`{{` begins a template, which `}}` ends, and `{%` a tag; braces that are meant as text are `{{ '{{' }}`";
const LITERAL_COMMENT: &str = "`{#` begins a comment, which `#}` ends; as text it is `{{ '{#' }}`";
/// The help for a name that other tools have.
const SHOTS: &str = "a frame of another shot is `first_frame: {shot: harbor}`; `continues: harbor` goes on from its last frame";

/// An error in a template.
#[derive(Clone, Debug)]
pub(super) struct TemplateError {
    pub(super) code: &'static str,
    pub(super) message: String,
    /// The byte range in the text, if known.
    pub(super) range: Option<Range<usize>>,
    pub(super) help: Option<String>,
}

impl From<ScanError> for TemplateError {
    fn from(refusal: ScanError) -> Self {
        Self {
            code: refusal.code,
            message: refusal.message,
            range: (!refusal.range.is_empty()).then_some(refusal.range),
            help: Some(refusal.help.to_owned()),
        }
    }
}

/// `map('name')` and `select('name')` look their argument up, and do not say which it was.
fn unknown(kind: &str, name: &str) -> String {
    if name.is_empty() {
        format!("there is no {kind} of this name")
    } else {
        format!("there is no {kind} `{name}`")
    }
}

impl TemplateError {
    /// An error of minijinja in the code of a template.
    pub(super) fn new(error: &Error, positions: &Positions, scope: &Scope) -> Self {
        let range = error.range().map(|range| positions.in_text(range));
        let detail = error.detail().unwrap_or_default();
        let named = detail.split('`').nth(1);
        match error.kind() {
            ErrorKind::UndefinedError => Self::undefined(named.unwrap_or_default(), range, scope),
            ErrorKind::UnknownFilter => {
                let name = detail.trim_start_matches("filter ").trim_end_matches(" is unknown");
                Self {
                    code: "template-syntax",
                    message: unknown("filter", name),
                    range,
                    help: Some(did_you_mean(name, filters()).unwrap_or_else(|| {
                        format!("the filters are {}", quoted_list(filters(), usize::MAX))
                    })),
                }
            }
            ErrorKind::OutOfFuel => Self::limit("this template takes too many steps".to_owned()),
            kind @ (ErrorKind::UnknownMethod | ErrorKind::UnknownFunction) => Self {
                code: "template-syntax",
                message: match kind {
                    ErrorKind::UnknownFunction => {
                        format!("there is no function `{}`", detail.trim_end_matches(" is unknown"))
                    }
                    _ => worded(error, detail),
                },
                range,
                help: Some(format!(
                    "filters do the work of methods and functions, as in `{{{{ name | upper }}}}`: {}",
                    quoted_list(filters(), usize::MAX)
                )),
            },
            ErrorKind::UnknownTest => {
                let name = detail.trim_start_matches("test ").trim_end_matches(" is unknown");
                Self {
                    code: "template-syntax",
                    message: unknown("test", name),
                    range,
                    help: Some(
                        did_you_mean(name, tests())
                            .unwrap_or_else(|| format!("the tests are {}", quoted_list(tests(), usize::MAX))),
                    ),
                }
            }
            ErrorKind::SyntaxError => Self {
                code: "template-syntax",
                message: worded(error, detail),
                range,
                help: Some(
                    match detail {
                        _ if detail.contains("end of comment") => LITERAL_COMMENT,
                        _ if detail.contains("end of input") => LITERAL_BRACES,
                        _ => FORMS,
                    }
                    .to_owned(),
                ),
            },
            _ => {
                let is_text = detail.contains("'string' cannot be formatted");
                let help = is_text.then(|| "`| float` makes a number of text that is one".to_owned());
                Self { code: "template-error", message: worded(error, detail), range, help }
            }
        }
    }

    pub(super) fn undefined(name: &str, range: Option<Range<usize>>, scope: &Scope) -> Self {
        let message = if name.is_empty() {
            "this is not defined".to_owned()
        } else {
            format!("`{name}` is not defined")
        };
        let inner = name.rsplit_once('.').and_then(|(path, key)| Some((path, key, scope.keys_at(path)?)));
        let help = match &inner {
            Some((path, key, keys)) => {
                let keys = || keys.iter().map(String::as_str);
                match nearest_own(key, keys()) {
                    Some(near) => format!("did you mean `{}`?", member(path, near)),
                    None => format!("`{path}` has {}", quoted_list(keys(), 12)),
                }
            }
            None if name == "shots" => SHOTS.to_owned(),
            None => match (nearest_own(name, scope.names()), scope.holder_of(name)) {
                (Some(near), _) => format!("did you mean `{near}`?"),
                (None, Some(CAST)) => format!("a character of the `cast` is `{{{{ cast.{name} }}}}`"),
                (None, Some(holder)) => {
                    format!("`{name}` belongs to `{holder}`: write `{}`", member(holder, name))
                }
                (None, None) if scope.names().next().is_none() => NO_NAMES.to_owned(),
                (None, None) => format!("the names here are {}", quoted_list(scope.names(), 12)),
            },
        };
        Self { code: "undefined-name", message, range, help: Some(help) }
    }

    pub(super) fn total() -> Self {
        Self::limit("the templates of this file together take too many steps".to_owned())
    }

    pub(super) fn limit(message: String) -> Self {
        Self { code: "template-limit", message, range: None, help: None }
    }
}

/// The expression for a member of a value.
fn member(path: &str, key: &str) -> String {
    if is_identifier(key) {
        return format!("{path}.{key}");
    }
    let quoted = key.replace('\\', r"\\").replace('\'', r"\'");
    format!("{path}['{quoted}']")
}

/// Whether a member is read as `value.key`.
fn is_identifier(key: &str) -> bool {
    key.starts_with(|c: char| c.is_alphabetic() || c == '_')
        && key.chars().all(|c| c.is_alphanumeric() || c == '_')
}

fn worded(error: &Error, detail: &str) -> String {
    match error.kind() {
        _ if !detail.is_empty() => detail.to_owned(),
        ErrorKind::MissingArgument => "an argument is missing".to_owned(),
        ErrorKind::TooManyArguments => "there are too many arguments".to_owned(),
        kind => format!("the template fails: {kind:?}"),
    }
}
