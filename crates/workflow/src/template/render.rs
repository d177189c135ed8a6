//! Renders the templates in a value, and maps their errors to spans in the file.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

use minijinja::value::ValueKind;
use minijinja::{Environment, Expression, Template, Value};
use serde_json::Value as Json;

use super::compare::Comparer;
use super::error::TemplateError;
use super::locate::{locate, narrowed};
use super::rewrite::{self, Positions};
use super::scan::{self, TextForm};
use super::scope::Scope;
use super::steps::{self, size};
use super::writer::BoundedWriter;
use crate::diagnostic::{Diagnostic, Problems, Severity};
use crate::limits;
use crate::source::{Source, Span};
use crate::yaml::{Key, Yaml, YamlValue};

/// Compiles each template once and renders it for every instance.
pub(crate) struct Templates<'w> {
    env: &'w Environment<'w>,
    source: &'w Source,
    /// By address and length: the texts are borrowed from the workflow and do not move.
    compiled: RefCell<HashMap<(usize, usize, bool), Rc<PreparedTemplate<'w>>>>,
    comparer: Arc<Comparer>,
    pub(crate) odd_cells: OddCells,
    rendered_bytes: Cell<usize>,
}

/// By the path of a column of a table, such as `p.price`: where the cell is for which it holds text and no numbers.
pub(crate) type OddCells = RefCell<HashMap<String, String>>;

/// The name of a text that was rewritten, in its environment.
const REWRITTEN: &str = "text";

enum PreparedTemplate<'w> {
    Plain,
    Expression(Expression<'w, 'w>, Positions),
    Text(Template<'w, 'w>),
    /// A text with code of which a part is rewritten, the only template of its environment.
    Rewritten(Environment<'w>, Positions),
    Broken(TemplateError),
}

impl PreparedTemplate<'_> {
    fn positions(&self) -> &Positions {
        const AS_WRITTEN: &Positions = &Positions::at(0);
        match self {
            Self::Expression(_, positions) | Self::Rewritten(_, positions) => positions,
            Self::Plain | Self::Text(_) | Self::Broken(_) => AS_WRITTEN,
        }
    }
}

impl<'w> Templates<'w> {
    pub(crate) fn new(env: &'w Environment<'w>, source: &'w Source) -> Self {
        steps::reset();
        Self {
            env,
            source,
            compiled: RefCell::default(),
            comparer: Comparer::of(env).unwrap_or_default(),
            odd_cells: OddCells::default(),
            rendered_bytes: Cell::new(0),
        }
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
        self.reported(result, &prepared, text, span, problems)
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
        if matches!(*prepared, PreparedTemplate::Plain) {
            return Some(Json::String(text.to_owned()));
        }
        let result = self.evaluated(&prepared, text, scope, context);
        self.reported(result, &prepared, text, span, problems)
    }

    /// Evaluates a template within the steps of the file.
    fn evaluated(
        &self,
        prepared: &PreparedTemplate<'w>,
        text: &str,
        scope: &Scope,
        context: &Value,
    ) -> Result<Json, TemplateError> {
        let (result, taken) = match prepared {
            PreparedTemplate::Plain => return Ok(Json::String(text.to_owned())),
            PreparedTemplate::Broken(error) => return Err(error.clone()),
            PreparedTemplate::Expression(expression, positions) => {
                let value = eval(expression, text, positions, scope, context);
                // It has no loops: a bound.
                let steps = text.len() as u64 / 2 + 1;
                (value.and_then(|value| self.count(size(&value)).map(|()| value)), steps)
            }
            PreparedTemplate::Text(template) => self.write(template, prepared.positions(), scope, context),
            PreparedTemplate::Rewritten(env, positions) => match env.get_template(REWRITTEN) {
                Ok(template) => self.write(&template, positions, scope, context),
                Err(error) => (Err(TemplateError::new(&error, positions, scope)), 1),
            },
        };
        if steps::add(taken) { result } else { Err(TemplateError::total()) }
    }

    /// A compiled template; with `is_bare`, of an expression without braces.
    fn prepared(&self, text: &'w str, is_bare: bool, scope: &Scope) -> Rc<PreparedTemplate<'w>> {
        let address = (text.as_ptr().addr(), text.len(), is_bare);
        if let Some(prepared) = self.compiled.borrow().get(&address) {
            return Rc::clone(prepared);
        }
        let shape = if is_bare {
            scan::scan_expression(text).map(|()| TextForm::Expression(0..text.len()))
        } else {
            scan::scan(text)
        };
        let broken = |error: minijinja::Error, start| {
            PreparedTemplate::Broken(TemplateError::new(&error, &Positions::at(start), scope))
        };
        let prepared = Rc::new(match shape {
            Err(refusal) => PreparedTemplate::Broken(refusal.into()),
            Ok(TextForm::Plain) => PreparedTemplate::Plain,
            // Code that is wrong is reported as it is written.
            Ok(TextForm::Expression(range)) => match self.env.compile_expression(&text[range.clone()]) {
                Ok(expression) => {
                    let written = &text[range.clone()];
                    let (code, positions) = rewrite::expression(written, range.start, is_bare);
                    match (code != written).then(|| self.env.compile_expression_owned(code)) {
                        Some(Ok(rewritten)) => PreparedTemplate::Expression(rewritten, positions),
                        _ => PreparedTemplate::Expression(expression, Positions::at(range.start)),
                    }
                }
                Err(error) => broken(error, range.start),
            },
            Ok(TextForm::Text) => match self.env.template_from_str(text) {
                Ok(template) => {
                    let (code, positions) = rewrite::text(text);
                    let mut env = self.env.clone();
                    if code != text && env.add_template_owned(REWRITTEN, code).is_ok() {
                        PreparedTemplate::Rewritten(env, positions)
                    } else {
                        PreparedTemplate::Text(template)
                    }
                }
                Err(error) => broken(error, 0),
            },
        });
        let mut compiled = self.compiled.borrow_mut();
        // Each takes some 10 KB, and those of a shot are used one after the other.
        if compiled.len() >= limits::MAX_COMPILED_TEMPLATES {
            compiled.clear();
        }
        compiled.insert(address, Rc::clone(&prepared));
        drop(compiled);
        prepared
    }

    /// The text of a template, and how many steps it took.
    fn write(
        &self,
        template: &Template<'_, '_>,
        positions: &Positions,
        scope: &Scope,
        context: &Value,
    ) -> (Result<Json, TemplateError>, u64) {
        let mut out = BoundedWriter::default();
        let steps = match template.render_captured_to(context, &mut out) {
            _ if out.is_full => {
                return (
                    Err(TemplateError::limit(format!(
                        "this gives more than {} KiB of text",
                        limits::MAX_RENDERED_BYTES / 1024
                    ))),
                    limits::MAX_TEMPLATE_FUEL,
                );
            }
            Err(error) => {
                return (Err(TemplateError::new(&error, positions, scope)), limits::MAX_TEMPLATE_FUEL);
            }
            Ok(captured) => captured.state().fuel_levels().map_or(0, |(consumed, _)| consumed),
        };
        (self.text_of(out), steps)
    }

    /// Counts the bytes of what a template gives: the values of all of them are in memory together.
    fn count(&self, bytes: usize) -> Result<(), TemplateError> {
        self.rendered_bytes.set(self.rendered_bytes.get().saturating_add(bytes));
        if self.rendered_bytes.get() > limits::MAX_TOTAL_RENDERED_BYTES {
            return Err(TemplateError::limit(
                "the templates of this file together give too much text".to_owned(),
            ));
        }
        Ok(())
    }

    fn text_of(&self, out: BoundedWriter) -> Result<Json, TemplateError> {
        self.count(out.text.len())?;
        Ok(Json::String(
            String::from_utf8(out.text)
                .unwrap_or_else(|odd| String::from_utf8_lossy(odd.as_bytes()).into_owned()),
        ))
    }

    /// The value of a template, if it has one; reports its error, and values of different kinds that were compared.
    fn reported(
        &self,
        result: Result<Json, TemplateError>,
        prepared: &PreparedTemplate<'_>,
        text: &str,
        span: Span,
        problems: &mut Problems,
    ) -> Option<Json> {
        for mixed in self.comparer.take() {
            let positions = prepared.positions();
            let error = mixed.report(text, positions, |path| self.odd_cells.borrow().get(path).cloned());
            problems.push(self.diagnostic(error, mixed.severity(), text, span));
            if mixed.severity() == Severity::Error {
                return None;
            }
        }
        result.map_err(|error| problems.push(self.diagnostic(error, Severity::Error, text, span))).ok()
    }

    fn diagnostic(&self, error: TemplateError, severity: Severity, text: &str, span: Span) -> Diagnostic {
        // An expression without braces is code as a whole: the quoted name is searched in all of it.
        let bare = (!scan::has_template(text)).then_some(0..text.len());
        let range = error.range.or(bare).map(|range| narrowed(text, range, &error.message));
        let location = range.and_then(|range| locate(self.source, span, text, range));
        let diagnostic = Diagnostic::error(error.code, location.unwrap_or(span), error.message);
        Diagnostic { help: error.help, severity, ..diagnostic }
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
    positions: &Positions,
    scope: &Scope,
    context: &Value,
) -> Result<Json, TemplateError> {
    let start = positions.start;
    let value = expression.eval(context).map_err(|error| TemplateError::new(&error, positions, scope))?;
    if value.is_undefined() {
        let inner = text[start..].trim_end().trim_end_matches('}').trim_end_matches(['-', '+']);
        let name = inner.trim();
        let name_start = start + inner.find(name).unwrap_or_default();
        return Err(TemplateError::undefined(name, Some(name_start..name_start + name.len()), scope));
    }
    let json = serde_json::to_value(&value).map_err(|_| TemplateError {
        code: "template-error",
        message: "this has no value that a file could hold".to_owned(),
        range: None,
        help: None,
    })?;
    if has_infinite(&value, &json) {
        return Err(TemplateError {
            code: "template-error",
            message: "this comes out as a number that is not finite".to_owned(),
            range: None,
            help: None,
        });
    }
    if size(&json) > limits::MAX_RENDERED_BYTES {
        return Err(TemplateError::limit(format!(
            "this gives more than {} KiB",
            limits::MAX_RENDERED_BYTES / 1024
        )));
    }
    Ok(json)
}

/// Whether a value has numbers in it for which JSON has nothing but `null`.
fn has_infinite(value: &Value, json: &Json) -> bool {
    match json {
        Json::Null => value.kind() == ValueKind::Number,
        Json::Array(items) => items.iter().enumerate().any(|(index, item)| {
            has_null(item) && value.get_item_by_index(index).is_ok_and(|value| has_infinite(&value, item))
        }),
        Json::Object(members) => members.iter().any(|(name, member)| {
            has_null(member)
                && value.get_item(&Value::from(name.as_str())).is_ok_and(|value| has_infinite(&value, member))
        }),
        Json::Bool(_) | Json::Number(_) | Json::String(_) => false,
    }
}

fn has_null(value: &Json) -> bool {
    match value {
        Json::Null => true,
        Json::Array(items) => items.iter().any(has_null),
        Json::Object(members) => members.values().any(has_null),
        Json::Bool(_) | Json::Number(_) | Json::String(_) => false,
    }
}
