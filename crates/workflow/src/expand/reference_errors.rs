//! Diagnostics of references that match too many instances, or a take that does not exist.

use super::expansion::ExpandedShot;
use crate::diagnostic::{Diagnostic, quoted_list};
use crate::source::Spanned;
use crate::syntax::ShotRef;

/// The diagnostic for a reference that matches several instances where one frame is wanted.
pub(super) fn several_matches(
    target: &ExpandedShot<'_>,
    instances: usize,
    reference: &Spanned<ShotRef>,
) -> Diagnostic {
    let message = format!("`{}` means {instances} instances, and one frame is wanted", reference.value);
    let id = &target.shot.id.value;
    Diagnostic::error("ambiguous-instance", reference.span, message).help(format!(
        "{}; or write `pick: open` in `{id}`, and choose one later with `runner pick`",
        instances_of(target)
    ))
}

/// Checks that the named take exists.
pub(super) fn check_take(
    target: &ExpandedShot<'_>,
    cell: usize,
    reference: &Spanned<ShotRef>,
) -> Result<(), Box<Diagnostic>> {
    let id = &target.shot.id.value;
    let (message, help) = match (target.take_count(cell), reference.value.take) {
        (None, Some(_)) => (format!("`{id}` has no takes"), format!("write `{id}`")),
        (Some(takes), Some(take)) if take > takes => (
            format!("`{id}` has {takes} takes, and none is {take}"),
            format!("name one from `{id}#1` to `{id}#{takes}`"),
        ),
        _ => return Ok(()),
    };
    Err(Box::new(Diagnostic::error("bad-pick", reference.span, message).help(help)))
}

/// A list of the instances of a shot, for help texts.
pub(super) fn instances_of(target: &ExpandedShot<'_>) -> String {
    let id = &target.shot.id.value;
    let names: Vec<String> = target
        .cells
        .iter()
        .take(5)
        .map(|cell| {
            let label = cell.label();
            if label.is_empty() { id.clone() } else { format!("{id}@{label}") }
        })
        .collect();
    let rest = target.cells.len().saturating_sub(5);
    let more = if rest > 0 { format!(" and {rest} more") } else { String::new() };
    format!("its instances are {}{more}", quoted_list(names.iter().map(String::as_str), 5))
}
