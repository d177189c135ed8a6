//! What an action would do, before it is done.

use std::sync::Arc;

use serde::Serialize;
use serde_json::{Value, json};
use workflow::CheckOutcome;
use workflow::edit::own_field;
use workflow::plan::Plan;

use super::action::PageAction;
use super::project::Project;
use crate::args::SelectionArgs;
use crate::commands::plan::{self, KeyChanges};
use crate::edited_file::{self, EditFailure, EditedFile};
use crate::error::ErrorKind;
use crate::load::{self, LoadError};
use crate::price_table::PriceTable;
use crate::report;
use crate::report::plan::PlanDocument;

/// What an action would do.
#[derive(Debug, Serialize)]
pub(super) struct ActionPreview {
    /// The command, for people to paste.
    command: String,
    /// Of an edit: the difference.
    diff: Option<String>,
    /// Of a run and an edit: what a run would do.
    plan: Option<PlanDocument>,
    /// What the terminal says of it.
    text: Option<String>,
}

/// Why there is no preview, in words.
#[derive(Debug)]
pub(super) enum PreviewError {
    /// The file is not the one that the page has seen.
    Changed(String),
    /// The action is not possible.
    Invalid(String),
}

impl From<LoadError> for PreviewError {
    fn from(error: LoadError) -> Self {
        Self::Invalid(error.text())
    }
}

impl From<crate::error::CommandError> for PreviewError {
    fn from(error: crate::error::CommandError) -> Self {
        match error.kind {
            ErrorKind::ActionNeeded => Self::Changed(error.to_string()),
            _ => Self::Invalid(error.to_string()),
        }
    }
}

/// Says what an action would do.
///
/// # Errors
/// Why it is not possible.
pub(super) async fn preview(project: &Project, action: &PageAction) -> Result<ActionPreview, PreviewError> {
    let mut preview =
        ActionPreview { command: action.command(project.target()), diff: None, plan: None, text: None };
    let (plan, selection, rerun) = match action {
        PageAction::Run(run) => {
            let CheckOutcome { plan, report } = load::check(&project.file, &project.overrides)?;
            let plan = plan.map(Arc::new).ok_or_else(|| PreviewError::Invalid(report.render(false)))?;
            let selection = SelectionArgs { only: run.only.clone(), ..SelectionArgs::default() };
            (plan, selection, (!run.rerun.is_empty()).then_some(run.rerun.as_slice()))
        }
        PageAction::Edit { shot, prompt, seed, digest } => {
            let fields = PageAction::edit_fields(prompt.as_ref(), seed.as_ref());
            let edited = EditedFile::new(&project.file, &project.overrides, shot, &fields, Some(digest));
            let edited = match edited {
                Ok(edited) => edited,
                Err(EditFailure::Command(error)) => return Err(error.into()),
                Err(EditFailure::Load(error)) => return Err(error.into()),
            };
            preview.diff = Some(edited.diff());
            (Arc::clone(&edited.plan), SelectionArgs::default(), None)
        }
        PageAction::Stop { .. }
        | PageAction::Pick { .. }
        | PageAction::Resolve { .. }
        | PageAction::Fetch { .. } => {
            return Ok(preview);
        }
    };
    let document = document(project, &plan, &selection, rerun).await?;
    preview.text = Some(report::plan::estimate(&document).join("\n"));
    preview.plan = Some(document);
    Ok(preview)
}

async fn document(
    project: &Project,
    plan: &Arc<Plan>,
    selection: &SelectionArgs,
    rerun: Option<&[String]>,
) -> Result<PlanDocument, PreviewError> {
    let prices = PriceTable::load(None, &project.file)?;
    let changes = KeyChanges { rerun, salt: None };
    Ok(plan::document(plan, project.planned_file(), selection, changes, prices.as_ref()).await?)
}

/// Whether the file is not the one that an edit refers to.
pub(super) fn is_changed(project: &Project, action: &PageAction) -> bool {
    match (action, edited_file::read(&project.file)) {
        (PageAction::Edit { digest, .. }, Ok((_, found))) => *digest != found,
        _ => false,
    }
}

/// A shot's own values, as the file has them.
///
/// # Errors
/// There is no such shot in the file, in words.
pub(super) fn own_values(project: &Project, shot: &str) -> Result<Value, String> {
    let (text, _) = edited_file::read(&project.file).map_err(|error| error.to_string())?;
    let own = |name| own_field(&text, shot, name).map_err(|error| error.to_string());
    Ok(json!({ "shot": shot, "prompt": own("prompt")?, "seed": own("seed")? }))
}
