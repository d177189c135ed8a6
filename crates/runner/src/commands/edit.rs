//! `runner edit`: changes a shot's prompt or seed in the workflow file, and shows what a run would then cost.

use serde_json::json;

use crate::args::{EditArgs, Format, SelectionArgs};
use crate::commands::plan::{self, KeyChanges, PlannedFile};
use crate::edited_file::{EditFailure, EditedFile};
use crate::error::CommandError;
use crate::exit::Exit;
use crate::price_table::PriceTable;
use crate::project_paths::display_path;
use crate::report;

pub(crate) async fn edit(args: EditArgs) -> Result<Exit, CommandError> {
    let file = &args.workflow.file;
    let edited =
        EditedFile::new(file, &args.workflow.overrides, &args.shot, &args.fields, args.digest.as_deref());
    let edited = match edited {
        Ok(edited) => edited,
        Err(EditFailure::Command(error)) => return Err(error),
        Err(EditFailure::Load(error)) => {
            let exit = error.report(args.format);
            errln!("{} stays as it is: with this change it would be invalid", display_path(file));
            return Ok(exit);
        }
    };
    let prices = match PriceTable::load(None, file) {
        Ok(prices) => prices,
        Err(error) => return Ok(error.report(args.format)),
    };
    let project = PlannedFile { file, engine: &args.engine, overrides: None, output_dir: None };
    let document = plan::document(
        &edited.plan,
        project,
        &SelectionArgs::default(),
        KeyChanges::default(),
        prices.as_ref(),
    )
    .await?;
    if !args.dry_run {
        edited.write()?;
    }
    if edited.is_changed() {
        edited.print_warnings();
    }
    match args.format {
        Format::Text if !edited.is_changed() => outln!("nothing changes"),
        Format::Text => {
            out!("{}", edited.diff());
            if let Some(repeated) = workflow::edit::repeated_shot(edited.text(), &args.shot) {
                errln!("{} is a step of {repeated}: this changes all of its steps", args.shot);
            }
            for line in report::plan::estimate(&document) {
                errln!("{line}");
            }
            if args.dry_run {
                errln!("nothing was written (--dry-run)");
            }
        }
        Format::Json | Format::Ndjson => {
            outln!("{}", json!({ "diff": edited.diff(), "written": !args.dry_run, "plan": document }));
        }
    }
    Ok(Exit::Done)
}
