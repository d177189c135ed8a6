//! What decides which shots there are: the group of each, and how many steps it is repeated in. Templates here see parameters only.

use super::axes::ErrorReported;
use super::fields::{is_left_out, is_literal};
use super::{ExpandCx, params};
use crate::diagnostic::Problems;
use crate::source::Spanned;
use crate::syntax::keys::shot as keys;
use crate::syntax::{self, Entry, Workflow};
use crate::template::Scope;
use crate::yaml::Yaml;

/// The group of a shot, and the number of its steps.
pub(crate) type Structure = (Option<Spanned<String>>, Option<Spanned<u32>>);

/// The structure of each shot of a file whose groups are not yet resolved, by its index.
pub(crate) fn read<'w>(workflow: &'w Workflow, cx: &ExpandCx<'w>, problems: &mut Problems) -> Vec<Structure> {
    // What is wrong with parameters is reported when shots are expanded.
    let params = params::resolve(workflow, cx, &mut Problems::default());
    let of_shot = |shot: &'w syntax::Shot| {
        let value = |entry, scope, problems: &mut Problems| rendered(entry, scope, cx, problems);
        let group = shot.group_entry.as_ref().and_then(|entry| {
            let name = value(entry, &params.file, problems).ok()??;
            syntax::group_name(&name, &keys::GROUP, &entry.key, problems)
        });
        let is_named =
            |name: &Spanned<String>| workflow.groups.iter().position(|group| group.key.value == name.value);
        let scope = params.of_group(group.as_ref().and_then(is_named));
        let steps = shot.repeat_entry.as_deref().and_then(|entry| {
            let steps = value(entry, scope, problems).transpose()?;
            let count = |steps| syntax::expect_count(&steps, &keys::REPEAT, entry.key.span, problems);
            // A number that is wrong leaves a single step, whose templates are checked.
            Some(Spanned::new(steps.ok().and_then(count).unwrap_or(1), entry.span()))
        });
        (group, steps)
    };
    workflow.shots.iter().map(of_shot).collect()
}

/// The value of a key; `None` if it leaves the key out.
fn rendered<'w>(
    entry: &'w Entry,
    scope: &Scope,
    cx: &ExpandCx<'w>,
    problems: &mut Problems,
) -> Result<Option<Yaml>, ErrorReported> {
    let value = cx.templates.render(&entry.value, scope, problems).ok_or(ErrorReported)?;
    let is_absent = value.is_null() || is_left_out(&value) && !is_literal(&entry.value);
    Ok((!is_absent).then_some(value))
}
