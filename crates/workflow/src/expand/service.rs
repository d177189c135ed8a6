//! The service of an instance: the one that its shot names, else that of whoever runs the plan.

use super::dedup::DiagnosticDedup;
use super::provenance::origin_span;
use super::request_builder::InstanceCx;
use super::{ExpandCx, fields};
use crate::diagnostic::{Diagnostic, Problems, did_you_mean, quoted_list, shortened};
use crate::services::rehearsal_of;
use crate::syntax::Shot;

/// The name of the service of an instance, if it has one, and the context for its shots. `None` if there is no such service, which is reported.
pub(super) fn of_instance<'w>(
    icx: &InstanceCx<'_, 'w>,
    cx: &ExpandCx<'w>,
    dedup: &mut DiagnosticDedup,
    problems: &mut Problems,
) -> Option<(Option<String>, ExpandCx<'w>)> {
    let (name, own) = named(icx, cx, dedup, problems)?;
    let name = if cx.options.rehearse { Some(rehearsal_of(name.as_deref())) } else { name };
    Some((name, own))
}

fn named<'w>(
    icx: &InstanceCx<'_, 'w>,
    cx: &ExpandCx<'w>,
    dedup: &mut DiagnosticDedup,
    problems: &mut Problems,
) -> Option<(Option<String>, ExpandCx<'w>)> {
    if let Some(name) = &cx.options.service {
        return Some((Some(name.clone()), cx.of_service(Some(name))?));
    }
    let Some(entry) = &icx.expanded.shot.service else { return Some((None, *cx)) };
    let value = cx.templates.json(&entry.value, &icx.scope, problems)?;
    if value.is_null() {
        return Some((None, *cx));
    }
    let name = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    if let Some(own) = cx.of_service(Some(&name)) {
        return Some((Some(name), own));
    }
    let span = origin_span(entry.span(), Some(&entry.value), icx);
    let message = format!("there is no service `{}`", shortened(&name));
    let names = || cx.options.services.names();
    let help = did_you_mean(&name, names()).unwrap_or_else(|| {
        format!("name it in `services.yaml`, beside this file; the services are {}", quoted_list(names(), 20))
    });
    dedup.add(icx.instance, Diagnostic::error("unknown-service", span, message).help(help));
    None
}

/// The context of a shot whose instances are not known, if its service is written without a template.
pub(super) fn written<'w>(shot: &Shot, cx: &ExpandCx<'w>) -> Option<ExpandCx<'w>> {
    let written = shot.service.as_ref().map(|entry| &entry.value);
    match (&cx.options.service, written) {
        (Some(name), _) => cx.of_service(Some(name)),
        (None, Some(value)) => fields::is_literal(value).then(|| cx.of_service(value.text()))?,
        (None, None) => Some(*cx),
    }
}
