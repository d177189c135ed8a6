//! Renders the templates in a value, and maps their errors to spans in the file.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::io;
use std::ops::Range;
use std::rc::Rc;
use std::sync::Arc;

use minijinja::{Environment, Error, ErrorKind, Expression, Template, Value};
use serde_json::Value as Json;

use super::environment::FILTERS;
use super::locate::{locate, narrowed};
use super::scan::{self, ScanError, Shape};
use super::scope::Scope;
use super::work::{self, TemplateWork};
use crate::diagnostic::{Diagnostic, Problems, did_you_mean, quoted_list};
use crate::limits;
use crate::source::{Source, Span};
use crate::yaml::{Key, Yaml, YamlValue};

/// Compiles each template once and renders it for every instance.
pub(crate) struct Templates<'w> {
    env: &'w Environment<'w>,
    source: &'w Source,
    /// By address and length: the texts are borrowed from the workflow and do not move.
    compiled: RefCell<HashMap<(usize, usize, bool), Rc<Prepared<'w>>>>,
    rendered_bytes: Cell<usize>,
    work: Arc<TemplateWork>,
}

/// A compiled template, and what its cost depends on.
struct Prepared<'w> {
    compiled: Compiled<'w>,
    /// The names in a template that compares or slices: such a step reads whole values.
    compared: Vec<&'w str>,
    /// Steps of an expression, which has no loops: a bound.
    steps: u64,
}

enum Compiled<'w> {
    Plain,
    Expression { expression: Expression<'w, 'w>, start: usize },
    Text(Template<'w, 'w>),
    Broken(TemplateError),
}

/// An error in a template.
#[derive(Clone, Debug)]
struct TemplateError {
    code: &'static str,
    message: String,
    /// The byte range in the text, if known.
    range: Option<Range<usize>>,
    help: Option<String>,
}

impl<'w> Templates<'w> {
    pub(crate) fn new(env: &'w Environment<'w>, source: &'w Source, work: Arc<TemplateWork>) -> Self {
        Self { env, source, compiled: RefCell::default(), rendered_bytes: Cell::new(0), work }
    }

    /// A value with all its templates rendered; `None` if one fails, which is reported.
    pub(crate) fn render(&self, value: &'w Yaml, scope: &Scope, problems: &mut Problems) -> Option<Yaml> {
        let context = scope.context();
        self.render_in(value, scope, &context, problems)
    }

    /// Like [`Self::render`], without spans.
    pub(crate) fn json(&self, value: &'w Yaml, scope: &Scope, problems: &mut Problems) -> Option<Json> {
        match &value.value {
            YamlValue::Text(text) => self.text_to_json(text, value.span, scope, &scope.context(), problems),
            _ => self.render(value, scope, problems).map(|rendered| rendered.to_json()),
        }
    }

    fn render_in(
        &self,
        value: &'w Yaml,
        scope: &Scope,
        context: &Value,
        problems: &mut Problems,
    ) -> Option<Yaml> {
        match &value.value {
            YamlValue::Text(text) => self.render_text(text, value.span, scope, context, problems),
            YamlValue::List(items) => {
                let items: Vec<Option<Yaml>> =
                    items.iter().map(|item| self.render_in(item, scope, context, problems)).collect();
                let items: Option<Vec<Yaml>> = items.into_iter().collect();
                Some(Yaml::new(YamlValue::List(items?), value.span))
            }
            YamlValue::Map(entries) => {
                let entries: Vec<Option<(Key, Yaml)>> = entries
                    .iter()
                    .map(|(key, value)| Some((key.clone(), self.render_in(value, scope, context, problems)?)))
                    .collect();
                let entries: Option<Vec<(Key, Yaml)>> = entries.into_iter().collect();
                Some(Yaml::new(YamlValue::Map(entries?), value.span))
            }
            YamlValue::Null | YamlValue::Bool(_) | YamlValue::Number(_) => Some(value.clone()),
        }
    }

    /// The value of an expression with or without braces, as in `when`.
    pub(crate) fn evaluate(
        &self,
        text: &'w str,
        span: Span,
        scope: &Scope,
        problems: &mut Problems,
    ) -> Option<Json> {
        if scan::has_template(text) {
            return self.text_to_json(text, span, scope, &scope.context(), problems);
        }
        if scope.has_broken() && uses_broken(&format!("{{{{{text}}}}}"), scope) {
            return None;
        }
        let prepared = self.prepared(text, true, scope);
        let result = self.evaluated(&prepared, text, scope, &scope.context());
        self.reported(result, text, span, problems)
    }

    fn render_text(
        &self,
        text: &'w str,
        span: Span,
        scope: &Scope,
        context: &Value,
        problems: &mut Problems,
    ) -> Option<Yaml> {
        self.text_to_json(text, span, scope, context, problems).map(|value| Yaml::from_json(&value, span))
    }

    fn text_to_json(
        &self,
        text: &'w str,
        span: Span,
        scope: &Scope,
        context: &Value,
        problems: &mut Problems,
    ) -> Option<Json> {
        if uses_broken(text, scope) {
            return None;
        }
        let prepared = self.prepared(text, false, scope);
        if matches!(prepared.compiled, Compiled::Plain) {
            return Some(Json::String(text.to_owned()));
        }
        let result = self.evaluated(&prepared, text, scope, context);
        self.reported(result, text, span, problems)
    }

    /// Evaluates a template within the budget of the file.
    fn evaluated(
        &self,
        prepared: &Prepared<'w>,
        text: &str,
        scope: &Scope,
        context: &Value,
    ) -> Result<Json, TemplateError> {
        if self.work.is_exhausted() {
            return Err(TemplateError::total());
        }
        let (result, steps) = match &prepared.compiled {
            Compiled::Plain => return Ok(Json::String(text.to_owned())),
            Compiled::Broken(error) => return Err(error.clone()),
            Compiled::Expression { expression, start } => {
                (eval(expression, text, *start, scope, context), prepared.steps)
            }
            Compiled::Text(template) => self.write(template, scope, context),
        };
        let values = prepared.compared.iter().filter_map(|name| scope.get(name));
        let size = values.map(work::size).sum::<u64>() / 8 + scope.locals() as u64 / 16;
        if self.work.finish(steps, size) { result } else { Err(TemplateError::total()) }
    }

    /// A compiled template; `bare` is an expression without braces.
    fn prepared(&self, text: &'w str, bare: bool, scope: &Scope) -> Rc<Prepared<'w>> {
        let address = (text.as_ptr().addr(), text.len(), bare);
        if let Some(prepared) = self.compiled.borrow().get(&address) {
            return Rc::clone(prepared);
        }
        let broken = |error: &Error, start| Compiled::Broken(TemplateError::new(error, start, scope));
        let shape = if bare {
            scan::scan_expression(text).map(|()| Shape::Expression(0..text.len()))
        } else {
            scan::scan(text)
        };
        let compiled = match shape {
            Err(refusal) => Compiled::Broken(refusal.into()),
            Ok(Shape::Plain) => Compiled::Plain,
            Ok(Shape::Expression(range)) => match self.env.compile_expression(&text[range.clone()]) {
                Ok(expression) => Compiled::Expression { expression, start: range.start },
                Err(error) => broken(&error, range.start),
            },
            Ok(Shape::Text) => match self.env.template_from_str(text) {
                Ok(template) => Compiled::Text(template),
                Err(error) => broken(&error, 0),
            },
        };
        let compared = if scan::compares(text) {
            let mut names: Vec<&str> =
                if bare { scan::identifiers(text).collect() } else { scan::identifiers_used(text) };
            names.sort_unstable();
            names.dedup();
            names
        } else {
            Vec::new()
        };
        let prepared = Rc::new(Prepared { compiled, compared, steps: text.len() as u64 / 2 + 1 });
        self.compiled.borrow_mut().insert(address, Rc::clone(&prepared));
        prepared
    }

    /// The text of a template, and how many steps it took.
    fn write(
        &self,
        template: &Template<'_, '_>,
        scope: &Scope,
        context: &Value,
    ) -> (Result<Json, TemplateError>, u64) {
        let mut out = BoundedWriter { text: Vec::new(), full: false };
        let steps = match template.render_captured_to(context, &mut out) {
            _ if out.full => {
                return (
                    Err(TemplateError::limit(format!(
                        "this gives more than {} KiB of text",
                        limits::MAX_RENDERED_BYTES / 1024
                    ))),
                    limits::MAX_TEMPLATE_FUEL,
                );
            }
            Err(error) => return (Err(TemplateError::new(&error, 0, scope)), limits::MAX_TEMPLATE_FUEL),
            Ok(captured) => captured.state().fuel_levels().map_or(0, |(consumed, _)| consumed),
        };
        (self.text_of(out), steps)
    }

    fn text_of(&self, out: BoundedWriter) -> Result<Json, TemplateError> {
        self.rendered_bytes.set(self.rendered_bytes.get().saturating_add(out.text.len()));
        if self.rendered_bytes.get() > limits::MAX_TOTAL_RENDERED_BYTES {
            return Err(TemplateError::limit(
                "the templates of this file together give too much text".to_owned(),
            ));
        }
        Ok(Json::String(
            String::from_utf8(out.text)
                .unwrap_or_else(|odd| String::from_utf8_lossy(odd.as_bytes()).into_owned()),
        ))
    }

    fn reported<T>(
        &self,
        result: Result<T, TemplateError>,
        text: &str,
        span: Span,
        problems: &mut Problems,
    ) -> Option<T> {
        match result {
            Ok(value) => Some(value),
            Err(error) => {
                // An expression without braces is code as a whole: the quoted name is searched in all of it.
                let bare = (!scan::has_template(text)).then_some(0..text.len());
                let range = error.range.clone().or(bare).map(|range| narrowed(text, range, &error.message));
                let location = range.and_then(|range| locate(self.source, span, text, range));
                let mut diagnostic = Diagnostic::error(error.code, location.unwrap_or(span), error.message);
                diagnostic.help = error.help;
                problems.push(diagnostic);
                None
            }
        }
    }
}

fn uses_broken(text: &str, scope: &Scope) -> bool {
    scope.has_broken()
        && scan::has_template(text)
        && scan::identifiers_used(text).into_iter().any(|name| scope.is_broken(name))
}

fn eval(
    expression: &Expression<'_, '_>,
    text: &str,
    start: usize,
    scope: &Scope,
    context: &Value,
) -> Result<Json, TemplateError> {
    let value = expression.eval(context).map_err(|error| TemplateError::new(&error, start, scope))?;
    if value.is_undefined() {
        let inner = text[start..].trim_end().trim_end_matches('}').trim_end_matches(['-', '+']);
        let name = inner.trim();
        let at = start + inner.find(name).unwrap_or_default();
        return Err(TemplateError::undefined(name, Some(at..at + name.len()), scope));
    }
    let json = serde_json::to_value(&value).map_err(|_| TemplateError {
        code: "template-error",
        message: "this has no value that a file could hold".to_owned(),
        range: None,
        help: None,
    })?;
    if size(&json) > limits::MAX_RENDERED_BYTES {
        return Err(TemplateError::limit(format!(
            "this gives more than {} KiB",
            limits::MAX_RENDERED_BYTES / 1024
        )));
    }
    Ok(json)
}

/// The approximate size of a value in bytes.
pub(crate) fn size(value: &Json) -> usize {
    match value {
        Json::String(text) => text.len(),
        Json::Array(items) => items.iter().map(|item| 8 + size(item)).sum(),
        Json::Object(members) => members.iter().map(|(name, value)| name.len() + 8 + size(value)).sum(),
        Json::Null | Json::Bool(_) | Json::Number(_) => 8,
    }
}

/// A writer that fails once [`limits::MAX_RENDERED_BYTES`] are exceeded, which stops the template.
struct BoundedWriter {
    text: Vec<u8>,
    full: bool,
}

impl io::Write for BoundedWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.text.len() + bytes.len() > limits::MAX_RENDERED_BYTES {
            self.full = true;
            return Err(io::Error::other("too much text"));
        }
        self.text.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
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

impl TemplateError {
    /// An error of minijinja; `start` is the offset of the compiled part in the text.
    fn new(error: &Error, start: usize, scope: &Scope) -> Self {
        let range = error.range().map(|range| range.start + start..range.end + start);
        let detail = error.detail().unwrap_or_default();
        let named = detail.split('`').nth(1);
        match error.kind() {
            ErrorKind::UndefinedError => Self::undefined(named.unwrap_or_default(), range, scope),
            ErrorKind::UnknownFilter => {
                let name = detail.trim_start_matches("filter ").trim_end_matches(" is unknown");
                Self {
                    code: "template-syntax",
                    message: format!("there is no filter `{name}`"),
                    range,
                    help: Some(did_you_mean(name, FILTERS).unwrap_or_else(|| {
                        format!("the filters are {}", quoted_list(FILTERS, FILTERS.len()))
                    })),
                }
            }
            ErrorKind::OutOfFuel => Self::limit("this template takes too many steps".to_owned()),
            ErrorKind::SyntaxError
            | ErrorKind::UnknownFunction
            | ErrorKind::UnknownTest
            | ErrorKind::UnknownMethod => {
                Self { code: "template-syntax", message: worded(error, detail), range, help: None }
            }
            _ => Self { code: "template-error", message: worded(error, detail), range, help: None },
        }
    }

    fn undefined(name: &str, range: Option<Range<usize>>, scope: &Scope) -> Self {
        let message = if name.is_empty() {
            "this is not defined".to_owned()
        } else {
            format!("`{name}` is not defined")
        };
        let inner = name.rsplit_once('.').and_then(|(path, key)| Some((path, key, scope.keys_at(path)?)));
        let help = match &inner {
            Some((path, key, keys)) => {
                let keys = || keys.iter().map(String::as_str);
                did_you_mean(key, keys())
                    .unwrap_or_else(|| format!("`{path}` has {}", quoted_list(keys(), 12)))
            }
            None => did_you_mean(name, scope.names()).unwrap_or_else(|| match scope.names().next() {
                None => "a parameter can use those above it, and there is none".to_owned(),
                Some(_) => format!("the names here are {}", quoted_list(scope.names(), 12)),
            }),
        };
        Self { code: "undefined-name", message, range, help: Some(help) }
    }

    fn total() -> Self {
        Self::limit("the templates of this file together take too many steps".to_owned())
    }

    fn limit(message: String) -> Self {
        Self { code: "template-limit", message, range: None, help: None }
    }
}

fn worded(error: &Error, detail: &str) -> String {
    if detail.is_empty() { format!("the template fails: {:?}", error.kind()) } else { detail.to_owned() }
}
