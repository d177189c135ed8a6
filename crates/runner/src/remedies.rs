//! The commands that unblock shots, in the reasons of a plan.

use std::path::Path;

use engine::preview::{Preview, Remedy};

use crate::report::sanitize;
use crate::shell;

/// Adds the command to the reason of each shot that waits for a decision of the user.
pub(crate) fn name_commands(previews: &mut [Preview], file: &Path) {
    let file = shell::quote(&file.display().to_string());
    for preview in previews {
        let command = match preview.remedy.take() {
            Some(Remedy::Resolve(attempt)) => {
                format!("; resolve it with `runner resolve {file} {attempt}`")
            }
            Some(Remedy::Rerun) => {
                let shot = shell::quote(&sanitize::line(&preview.name));
                format!("; `runner run {file} --rerun {shot}` renders it again")
            }
            None => continue,
        };
        preview.why.get_or_insert_default().push_str(&command);
    }
}
