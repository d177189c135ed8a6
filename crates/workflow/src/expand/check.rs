//! The contract's verdict on a request, brought back to the places in the file.

use contract::{FieldKind, InputForm, Violation};
use serde_json::{Map, Value};

use super::ExpandCx;
use super::dedup::DiagnosticDedup;
use super::provenance::Origin;
use super::request::{InstanceCx, RequestBuilder};
use crate::diagnostic::Diagnostic;
use crate::source::Span;
use crate::template::names_used;
use crate::yaml::Yaml;

/// Stands in for media that are not known yet, so that the contract sees a whole request.
const STAND_IN: &str = "https://frame.invalid/frame.png";

/// A request with stand-ins at the places of its inputs.
pub(super) fn whole(builder: &RequestBuilder<'_, '_>) -> Value {
    let mut whole = Value::Object(builder.request.clone());
    for input in &builder.inputs {
        if let Some(place) = whole.pointer_mut(&input.pointer) {
            *place = Value::String(STAND_IN.to_owned());
        }
    }
    whole
}

/// Checks a request and reports each violation at the place that caused it. Fields that failed already are not
/// reported again.
pub(super) fn check(builder: &RequestBuilder<'_, '_>, cx: &ExpandCx<'_>, dedup: &mut DiagnosticDedup) {
    for violation in cx.contract.check_request(&whole(builder)) {
        let concerns_failed = std::iter::once(&violation.pointer)
            .chain(&violation.related)
            .any(|pointer| pointer.split('/').nth(1).is_some_and(|name| builder.failed.contains(name)));
        if !concerns_failed {
            let alike = format!("{} {} {:?}", violation.pointer, violation.code, violation.rule);
            dedup.add_keyed(builder.icx.instance, alike, diagnostic(&violation, builder, cx));
        }
    }
}

fn diagnostic(violation: &Violation, builder: &RequestBuilder<'_, '_>, cx: &ExpandCx<'_>) -> Diagnostic {
    let section = if violation.spec_section.is_empty() {
        String::new()
    } else {
        format!(" (spec {})", violation.spec_section)
    };
    let message = format!("{}{section}", violation.message);
    let (icx, provenance) = (builder.icx, &builder.provenance);
    let main = provenance.find(&violation.pointer);
    let by_type = wants_text(violation, builder, main.as_ref(), cx);
    let span = main.as_ref().map_or(icx.expanded.shot.id.span, |found| {
        if by_type { found.span } else { origin_span(found.span, found.written, icx) }
    });
    let mut spans = vec![span];
    let mut diagnostic = Diagnostic::error("refused-request", span, message);
    if let Some(found) = &main {
        if let Some(label) = outcome(found, &violation.pointer, &builder.request) {
            diagnostic = diagnostic.label(label);
        }
        if span != found.span {
            spans.push(found.span);
            diagnostic = diagnostic.other(found.span, "used here");
        }
    }
    let others: Vec<Origin<'_>> =
        violation.related.iter().filter_map(|pointer| provenance.find(pointer)).collect();
    for found in &others {
        let span = origin_span(found.span, found.written, icx);
        if !spans.contains(&span) {
            spans.push(span);
            diagnostic = diagnostic.other(span, "together with this");
        }
    }
    match remedy(violation, builder, main.as_ref(), &others, cx) {
        Some(help) => diagnostic.help(help),
        None => diagnostic,
    }
}

/// What the value came out as, where the file does not show it.
fn outcome(found: &Origin<'_>, pointer: &str, request: &Map<String, Value>) -> Option<String> {
    if let Some(key) = found.key {
        return Some(format!("`{key}` puts it there"));
    }
    let text = found.written?.text()?;
    if !crate::template::has_template(text) {
        return None;
    }
    let mut tokens = pointer.split('/').skip(1);
    let value = tokens.next().and_then(|name| request.get(name)).and_then(|value| {
        let rest: Vec<&str> = tokens.collect();
        if rest.is_empty() { Some(value) } else { value.pointer(&format!("/{}", rest.join("/"))) }
    })?;
    Some(format!("this comes out as {}", super::shortened(&value.to_string())))
}

fn remedy(
    violation: &Violation,
    builder: &RequestBuilder<'_, '_>,
    main: Option<&Origin<'_>>,
    others: &[Origin<'_>],
    cx: &ExpandCx<'_>,
) -> Option<String> {
    let model = builder.model;
    if wants_text(violation, builder, main, cx) {
        return Some("one expression keeps its type: `| string` makes text of it".to_owned());
    }
    let first_frame = match &cx.contract.inputs(model).first_frame {
        Some(InputForm::Field(name)) => Some(format!("/{name}")),
        _ => None,
    };
    if main.is_none() && first_frame.as_deref() == Some(violation.pointer.as_str()) {
        return Some(
            "give the shot a `first_frame:` (a file or a URL), or let it continue another: `continues: id`"
                .to_owned(),
        );
    }
    let all = || main.into_iter().chain(others);
    let mixed = all().any(|found| found.from_defaults)
        && all().any(|found| !found.from_defaults && found.key.is_none());
    if mixed {
        let named = violation
            .related
            .iter()
            .chain([&violation.pointer])
            .zip(others.iter().chain(main))
            .find(|(_, found)| found.from_defaults)
            .map(|(pointer, _)| pointer.trim_start_matches('/').to_owned())?;
        return Some(format!("or drop the default: `{named}: null` in the shot"));
    }
    None
}

/// Whether a template made something else than text where text is wanted: then the template is to be changed, not the
/// value that went into it.
fn wants_text(
    violation: &Violation,
    builder: &RequestBuilder<'_, '_>,
    main: Option<&Origin<'_>>,
    cx: &ExpandCx<'_>,
) -> bool {
    let written = main.and_then(|found| found.written).and_then(Yaml::text);
    let Some(name) = violation.pointer.strip_prefix('/') else { return false };
    written.is_some_and(crate::template::has_template)
        && cx
            .contract
            .field(&builder.model.family, name)
            .is_some_and(|field| field.kind == FieldKind::String && !field.digit_string)
        && builder.request.get(name).is_some_and(|value| !value.is_string())
}

/// The place to show for a value: where a template takes it from a matrix axis, the axis's value.
pub(super) fn origin_span(span: Span, written: Option<&Yaml>, icx: &InstanceCx<'_, '_>) -> Span {
    let Some(text) = written.and_then(Yaml::text) else { return span };
    let axes = names_used(text, icx.cell.values.keys().map(String::as_str));
    match axes.as_slice() {
        [only] => icx.cell.values.get(*only).map_or(span, |value| value.span.or(span)),
        _ => span,
    }
}
