//! What an action would do, before it is done.

use std::path::PathBuf;
use std::sync::Arc;

use serde::Serialize;
use serde_json::{Value, json};
use workflow::CheckOutcome;
use workflow::edit::own_field;
use workflow::plan::Plan;
use workflow::prices::CostEstimate;

use super::action::{PageAction, PreviewedRun, RunAction};
use super::project::Project;
use crate::args::SelectionArgs;
use crate::commands::plan::{self, KeyChanges};
use crate::edited_file::{self, EditFailure, EditedFile};
use crate::error::ErrorKind;
use crate::input_file::LoadError;
use crate::load;
use crate::price_table::PriceTable;
use crate::report;
use crate::report::plan::PlanDocument;
use crate::reruns::RerunRequest;

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
    /// Of a run: what binds it to this preview.
    previewed: Option<PreviewedRun>,
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

/// Says what an action would do. `inputs` are the files that the workflow depends on, as of the last snapshot.
///
/// # Errors
/// Why it is not possible.
pub(super) async fn preview(
    project: &Project,
    inputs: &[PathBuf],
    action: &PageAction,
) -> Result<ActionPreview, PreviewError> {
    let command = action.command(project.target());
    let mut preview = ActionPreview { command, diff: None, plan: None, text: None, previewed: None };
    let document = match action {
        PageAction::Run(run) => {
            // Before the file is read: what changes from now on is noticed.
            let digest = project.digest(inputs)?;
            let CheckOutcome { plan, report } = load::check(&project.file, &project.overrides)?;
            let plan = plan.map(Arc::new).ok_or_else(|| PreviewError::Invalid(report.render(false)))?;
            let selection = SelectionArgs { only: run.only.clone(), ..SelectionArgs::default() };
            let rerun = (!run.rerun.is_empty()).then_some(run.rerun.as_slice());
            let document = document(project, &plan, &selection, rerun).await?;
            let CostEstimate { tasks, cost, unpriced, .. } = &document.totals;
            let is_priced = document.prices.is_some() && !document.is_free && *unpriced == 0;
            let cost = is_priced.then_some(cost.max);
            let previewed = PreviewedRun { digest, tasks: tasks.max, cost };
            preview.command = PageAction::Run(run.within(&previewed)).command(project.target());
            preview.previewed = Some(previewed);
            document
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
            document(project, &edited.plan, &SelectionArgs::default(), None).await?
        }
        PageAction::Stop { .. }
        | PageAction::Pick { .. }
        | PageAction::Rate { .. }
        | PageAction::Resolve { .. }
        | PageAction::Fetch { .. } => {
            return Ok(preview);
        }
    };
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
    let rerun = RerunRequest { names: rerun, asks_for_another: false };
    let changes = KeyChanges { rerun, salt: None };
    Ok(plan::document(plan, project.planned_file(), selection, changes, prices.as_ref()).await?)
}

/// The run that was previewed, which submits nothing more than that.
///
/// # Errors
/// It was not previewed, or what its preview was computed from has changed.
pub(super) fn previewed_run(
    project: &Project,
    inputs: &[PathBuf],
    run: &RunAction,
) -> Result<PageAction, PreviewError> {
    let not_previewed =
        || PreviewError::Invalid("a run is performed with what its preview has said".to_owned());
    let previewed = run.previewed.as_ref().ok_or_else(not_previewed)?;
    if previewed.digest != project.digest(inputs)? {
        let message =
            "the workflow or a file that it depends on was changed in the meantime; nothing was submitted";
        return Err(PreviewError::Changed(message.to_owned()));
    }
    Ok(PageAction::Run(run.within(previewed)))
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
