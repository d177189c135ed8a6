//! Arguments of `runner import`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use workflow::import::{Column, ColumnChoice};

use super::{ModelArgs, OverrideArgs};

#[derive(Debug, Args)]
#[command(after_help = IMPORT_NOTES)]
pub(crate) struct ImportArgs {
    /// Shot list: cells separated by commas, semicolons or tabs below a line that names the columns, a table in Markdown, or a JSON list of
    /// scenes. With --into: an editor's cut (.otio).
    pub(crate) list: PathBuf,
    /// Take an editor's cut back into a film of this workflow: order, trims and transitions of what `export --otio` wrote. Comments stay.
    #[arg(long, value_name = "WORKFLOW", conflicts_with_all = ["output", "chain", "family", "model", "aspect", "overwrite", "columns"])]
    pub(crate) into: Option<PathBuf>,
    /// With --into: the film, by its file name with or without `.mp4` [default: the only one].
    #[arg(long, value_name = "NAME", requires = "into")]
    pub(crate) film: Option<String>,
    /// With --into: show the difference, and write nothing.
    #[arg(long, requires = "into")]
    pub(crate) dry_run: bool,
    /// With --into: the overrides of the run.
    #[command(flatten)]
    pub(crate) overrides: OverrideArgs,
    /// Workflow file to create, or - for standard output [default: the list's name with .yaml].
    #[arg(long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Chain shots: each starts on the last frame of the shot before it in the same scene.
    #[arg(long, value_enum, value_name = "WITHIN")]
    pub(crate) chain: Option<ChainScope>,
    /// The meaning of a column of a shot list by its name, such as `duration=Dauer`; once for each. Meanings: scene, shot, size, angle,
    /// movement, lens, description, dialogue, sound, duration, start, end, note.
    #[arg(long = "column", value_name = "MEANING=NAME", value_parser = column_choice)]
    pub(crate) columns: Vec<ColumnChoice>,
    #[command(flatten)]
    pub(crate) model: ModelArgs,
    /// Overwrite the file if it exists.
    #[arg(long)]
    pub(crate) overwrite: bool,
}

const IMPORT_NOTES: &str = "\
Columns, or keys of a scene: scene, shot, size, angle, movement, lens, description, dialogue, sound, duration, start, end, or other usual \
names of these; --column names the others. Only the description is required. Any other column becomes part of the shot's note.

An editor's cut of this workflow: `runner export lamp.yaml --otio`, change it in the editor and save it as OpenTimelineIO, then \
`runner import cut.otio --into lamp.yaml`. It costs nothing: the next run joins the film again.";

fn column_choice(text: &str) -> Result<ColumnChoice, String> {
    let (meaning, header) = text.split_once('=').ok_or("write MEANING=NAME, such as `duration=Dauer`")?;
    let names = || Column::NAMES.map(|(name, _)| name).join(", ");
    let column =
        Column::named(meaning.trim()).ok_or_else(|| format!("`{meaning}` is none of {}", names()))?;
    Ok(ColumnChoice { column, header: header.trim().to_owned() })
}

/// Which shots are chained.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ChainScope {
    /// The shots of each scene.
    Scene,
}
