//! Maps violations of the contract to diagnostics with spans in the file.

use contract::{FieldKind, Placement, Violation, Word};

use super::dedup::DiagnosticDedup;
use super::fields::entry;
use super::provenance::{ValueOrigin, origin_span};
use super::request_builder::{InstanceCx, RequestBuilder};
use super::{ExpandCx, cast};
use crate::advice::field_message;
use crate::diagnostic::{Diagnostic, nearest, shortened};
use crate::syntax::keys::shot::CAST;
use crate::template::has_template;
use crate::yaml::{Yaml, YamlValue};

/// Reports the violations of a request at the spans that caused them, except those that concern failed fields.
pub(super) fn report(
    violations: &[Violation],
    builder: &RequestBuilder<'_, '_>,
    cx: &ExpandCx<'_>,
    dedup: &mut DiagnosticDedup,
) {
    for violation in violations {
        let concerns_failed = std::iter::once(&violation.pointer)
            .chain(&violation.related)
            .any(|pointer| pointer.split('/').nth(1).is_some_and(|name| builder.failed.contains(&name)));
        if !concerns_failed && !is_misspelled(violation, builder, cx) {
            let key = format!("{} {} {:?}", violation.pointer, violation.code, violation.rule);
            dedup.add_keyed(builder.icx.instance, key, diagnostic(violation, builder, cx));
        }
    }
}

/// Whether a missing field is one that an unknown field of the shot was probably meant to be, which is reported.
fn is_misspelled(violation: &Violation, builder: &RequestBuilder<'_, '_>, cx: &ExpandCx<'_>) -> bool {
    let missing = violation.pointer.strip_prefix('/').filter(|_| violation.code == "missing_parameter");
    missing.is_some_and(|name| {
        let mut fields = builder.icx.expanded.shot.fields.iter().map(|entry| entry.key.value.as_str());
        fields.any(|other| {
            let is_unknown = cx.contract.field(&builder.model.family, other).is_none();
            let is_meant = nearest(other, [name]).is_some()
                || name == Word::Prompt.as_str() && matches!(other, "description" | "text");
            is_unknown && is_meant
        })
    })
}

/// Warns of what a service may refuse although the API reference does not forbid it.
pub(super) fn report_warnings(
    violations: &[Violation],
    builder: &RequestBuilder<'_, '_>,
    dedup: &mut DiagnosticDedup,
) {
    for violation in violations {
        let icx = builder.icx;
        let span_of = |pointer: &str| {
            builder.origin(pointer).map(|origin| (origin_span(origin.span, origin.written, icx), origin))
        };
        let main = span_of(&violation.pointer);
        let span = main.as_ref().map_or(icx.expanded.shot.id.span, |(span, _)| *span);
        let mut diagnostic = Diagnostic::warning("service-may-refuse", span, &violation.message);
        if let Some(label) = main.and_then(|(_, origin)| outcome(&origin, &violation.pointer, builder)) {
            diagnostic = diagnostic.label(label);
        }
        let mut spans = vec![span];
        for (related_span, _) in violation.related.iter().filter_map(|pointer| span_of(pointer)) {
            if !spans.contains(&related_span) {
                spans.push(related_span);
                diagnostic = diagnostic.other(related_span, "together with this");
            }
        }
        dedup.add_warning(icx.instance, format!("{:?}", violation.rule), diagnostic);
    }
}

/// A field that is required and whose template has no value.
fn empty_template(violation: &Violation, icx: &InstanceCx<'_, '_>) -> Option<Diagnostic> {
    let name = violation.pointer.strip_prefix('/').filter(|_| violation.code == "missing_parameter")?;
    let (entry, _) = entry(icx.workflow, icx.expanded.shot, name)?;
    entry.value.text().filter(|text| has_template(text))?;
    let message = format!("`{name}` is missing: its template comes out as nothing");
    Some(Diagnostic::error("invalid-request", entry.span(), message))
}

/// A field that is required and that is written without a value.
fn empty_field(
    violation: &Violation,
    builder: &RequestBuilder<'_, '_>,
    cx: &ExpandCx<'_>,
) -> Option<Diagnostic> {
    let icx = builder.icx;
    let name = violation.pointer.strip_prefix('/').filter(|_| violation.code == "missing_parameter")?;
    let (entry, _) =
        entry(icx.workflow, icx.expanded.shot, name).filter(|(entry, _)| entry.value.is_null())?;
    let key = entry.key.span;
    let message = format!("`{name}` is empty");
    let of_field = field_message(violation, None, None, &builder.model.family, cx.contract);
    let line = of_field.and_then(|of_field| of_field.help);
    let help = line.map_or_else(
        || "write its value after the colon".to_owned(),
        |line| line.replacen("add", "write its value after the colon, such as", 1),
    );
    Some(Diagnostic::error("invalid-request", key, message).help(help))
}

fn diagnostic(violation: &Violation, builder: &RequestBuilder<'_, '_>, cx: &ExpandCx<'_>) -> Diagnostic {
    let icx = builder.icx;
    if let Some(diagnostic) = empty_template(violation, icx).or_else(|| empty_field(violation, builder, cx)) {
        return diagnostic;
    }
    let value = builder.pointer(&violation.pointer);
    let main = builder.origin(&violation.pointer);
    let written = main.as_ref().and_then(|origin| written_number(origin.written?, cx));
    let of_field = field_message(violation, value, written, &builder.model.family, cx.contract);
    let message = of_field.as_ref().map_or(&violation.message, |of_field| &of_field.message);
    let by_type = wants_text(violation, builder, main.as_ref(), cx);
    // What is in brackets is one value, to be replaced as a whole.
    let in_brackets = main
        .as_ref()
        .and_then(|origin| origin.written)
        .filter(|written| violation.code == "invalid_type" && is_in_brackets(written, cx));
    let span = main.as_ref().map_or(icx.expanded.shot.id.span, |origin| match in_brackets {
        Some(written) => written.span,
        None if by_type => origin.span,
        None => origin_span(origin.span, origin.written, icx),
    });
    let mut spans = vec![span];
    let mut diagnostic = Diagnostic::error("invalid-request", span, message);
    if let Some(origin) = &main {
        if let Some(label) = outcome(origin, &violation.pointer, builder) {
            diagnostic = diagnostic.label(label);
        }
        if span != origin.span && in_brackets.is_none() {
            spans.push(origin.span);
            diagnostic = diagnostic.other(origin.span, "used here");
        }
    }
    let others: Vec<ValueOrigin<'_>> =
        violation.related.iter().filter_map(|pointer| builder.origin(pointer)).collect();
    for origin in &others {
        let span = origin_span(origin.span, origin.written, icx);
        if !spans.contains(&span) {
            spans.push(span);
            diagnostic = diagnostic.other(span, "together with this");
        }
    }
    // A value from a template is changed in the template, not at the field.
    let is_written = main.as_ref().is_none_or(|origin| {
        origin.key.is_none() && !origin.written.and_then(Yaml::text).is_some_and(has_template)
    });
    let line = of_field.filter(|_| is_written).and_then(|of_field| of_field.help);
    match help_for(violation, builder, main.as_ref(), &others, cx).or(line) {
        Some(help) => diagnostic.help(help),
        None => diagnostic,
    }
}

/// Whether a value is a list or a mapping in brackets.
fn is_in_brackets(value: &Yaml, cx: &ExpandCx<'_>) -> bool {
    matches!(value.value, YamlValue::List(_) | YamlValue::Map(_))
        && cx.source.slice(value.span).starts_with(['[', '{'])
}

/// A number as the file has it, such as `1.10`.
pub(super) fn written_number<'c>(value: &Yaml, cx: &ExpandCx<'c>) -> Option<&'c str> {
    let written = cx.source.slice(value.span);
    (matches!(value.value, YamlValue::Number(_)) && !written.is_empty()).then_some(written)
}

/// A label for a value that is not written in the file: the key that it was lowered from, or the rendered value.
fn outcome(origin: &ValueOrigin<'_>, pointer: &str, builder: &RequestBuilder<'_, '_>) -> Option<String> {
    if let Some(key) = origin.key {
        return Some(format!("`{key}` puts it there"));
    }
    let text = origin.written?.text()?;
    if !has_template(text) {
        return None;
    }
    let value = builder.pointer(pointer)?;
    Some(format!("this comes out as {}", shortened(&value.to_string())))
}

fn help_for(
    violation: &Violation,
    builder: &RequestBuilder<'_, '_>,
    main: Option<&ValueOrigin<'_>>,
    others: &[ValueOrigin<'_>],
    cx: &ExpandCx<'_>,
) -> Option<String> {
    if wants_text(violation, builder, main, cx) {
        return Some("a single expression keeps its type: `| string` converts it to text".to_owned());
    }
    let first_frame = builder.model.inputs.get(Word::FirstFrame);
    if main.is_none() && first_frame.is_some_and(|at: &Placement| at.at.as_str() == violation.pointer) {
        return Some(
            "give the shot a `first_frame:` (a file or a URL), or let it continue another: `continues: id`"
                .to_owned(),
        );
    }
    let is_lowered = |origin: &ValueOrigin<'_>| origin.key == Some(CAST.name);
    if main.is_some_and(is_lowered) || others.iter().any(is_lowered) {
        return Some(cast::DESCRIPTION_ONLY.to_owned());
    }
    let all = || main.into_iter().chain(others);
    let mixed = all().any(|origin| origin.is_from_defaults)
        && all().any(|origin| !origin.is_from_defaults && origin.key.is_none());
    if mixed {
        let named = violation
            .related
            .iter()
            .chain([&violation.pointer])
            .zip(others.iter().chain(main))
            .find(|(_, origin)| origin.is_from_defaults)
            .map(|(pointer, _)| pointer.trim_start_matches('/').to_owned())?;
        return Some(format!("or drop the default: `{named}: null` in the shot"));
    }
    None
}

/// Whether a template rendered to another type where a string is expected: then the template has to change, not the value in it.
fn wants_text(
    violation: &Violation,
    builder: &RequestBuilder<'_, '_>,
    main: Option<&ValueOrigin<'_>>,
    cx: &ExpandCx<'_>,
) -> bool {
    let written = main.and_then(|origin| origin.written).and_then(Yaml::text);
    let Some(name) = violation.pointer.strip_prefix('/') else { return false };
    written.is_some_and(has_template)
        && cx
            .contract
            .field(&builder.model.family, name)
            .is_some_and(|field| field.kind == FieldKind::String && !field.is_digit_string)
        && builder.value(name).is_some_and(|value| !value.is_string())
}
