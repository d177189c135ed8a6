//! The output folder of a workflow. A rehearsal of what has paid videos has one of its own.

use std::path::{Path, PathBuf};
use std::sync::Once;

use engine::ledger::LedgerReader;
use workflow::plan::Plan;
use workflow::services::rehearsed;

use crate::backend::PlannedServices;
use crate::error::CommandError;
use crate::project_paths::{ProjectPaths, display_path};
use crate::report::sanitize;

/// The folder of a rehearsal, in that of the paid videos.
const REHEARSAL_FOLDER: &str = "rehearsal";

static REPORTED: Once = Once::new();

/// The output folder of a plan: `explicit`, or that of its name. A rehearsal of a workflow that has paid videos goes to a folder in it, so that
/// neither replaces the other's films and page; that is reported once.
///
/// # Errors
/// The ledger cannot be read.
pub(crate) fn of(
    paths: &ProjectPaths,
    plan: &Plan,
    services: &PlannedServices,
    explicit: Option<&Path>,
) -> Result<PathBuf, CommandError> {
    if let Some(folder) = explicit {
        return Ok(std::path::absolute(folder)?);
    }
    let folder = paths.out(plan.name());
    let paid = match LedgerReader::open(&paths.ledger())? {
        Some(ledger) if services.is_free() => ledger.paid_service_of(plan.name())?,
        _ => None,
    };
    let Some(paid) = paid else { return Ok(folder) };
    let rehearsal = folder.join(REHEARSAL_FOLDER);
    REPORTED.call_once(|| {
        let is_asked_for = plan
            .nodes()
            .any(|(_, node)| node.service.as_deref().is_some_and(|name| rehearsed(name).is_some()));
        let remedy = if is_asked_for {
            "leave out --rehearse"
        } else {
            "name that service with `--service`, or set RUNNER_BASE_URL"
        };
        errln!(
            "this is a rehearsal, in {}. To see what {} has rendered: {remedy}",
            display_path(&rehearsal),
            sanitize::line(&paid)
        );
    });
    Ok(rehearsal)
}
