//! What can be said on the command line.

mod limits;
mod schema;
mod selection;
mod serve;
mod status;
mod workflow_args;

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use workflow::prices::Money;

pub(crate) use self::limits::LimitArgs;
pub(crate) use self::schema::{SchemaArgs, SchemaKind};
pub(crate) use self::selection::SelectionArgs;
pub(crate) use self::serve::{KeysCommand, NewKeyArgs, ServeArgs, ServeCommand};
pub(crate) use self::status::StatusArgs;
pub(crate) use self::workflow_args::{OverrideArgs, WorkflowArgs};

/// Turns a storyboard into finished video.
///
/// A workflow file lists shots; `run` submits each to the video service, downloads the results and joins them into a film. Nothing is
/// ever paid twice: what is made already is reused, and tasks that are still out are adopted.
///
/// With no address in the environment everything runs against an embedded service on this machine, which renders real video and costs nothing.
#[derive(Debug, Parser)]
#[command(name = "runner", version, max_term_width = 100, after_help = EXIT_CODES)]
pub(crate) struct Arguments {
    /// Says more about what happens, on standard error: decisions; -vv: requests, too; -vvv: everything.
    #[arg(short, long, action = clap::ArgAction::Count, global = true)]
    pub(crate) verbose: u8,
    /// Colours on standard error; `auto` is on a terminal, unless `NO_COLOR` is set.
    #[arg(long, value_enum, value_name = "WHEN", default_value_t = ColorChoice::Auto, global = true)]
    pub(crate) color: ColorChoice,
    #[command(subcommand)]
    pub(crate) command: Command,
}

const EXIT_CODES: &str = "\
Environment:
  RUNNER_BASE_URL  address of the video service, for example https://api.example.com
  RUNNER_API_KEY   the key for it
  NO_COLOR         if set to anything, no colours

Exit codes:
  0    all done
  1    a shot or the film failed
  2    invalid input; nothing was submitted
  3    something is outstanding: a take to pick, an ambiguous submission, or a task left for a later run
  4    a cap was reached; what was out is finished, the rest is not submitted
  5    the service cannot be used
  130  interrupted; tasks that are out are kept and adopted next time";

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Makes everything that a workflow lists and is not made yet.
    Run(RunArgs),
    /// Shows what runs are doing and what is outstanding, from another terminal.
    Status(StatusArgs),
    /// Shows what `run` would do and cost, and does nothing.
    Plan(PlanArgs),
    /// Writes a commented workflow to begin with.
    Init(InitArgs),
    /// Makes a workflow of a shot list: a CSV file as spreadsheets write it.
    Import(ImportArgs),
    /// Says why shots would be made again: what changed since the nearest earlier attempt, and what depends on it.
    Explain(ExplainArgs),
    /// Checks workflow files and lists every problem with its paths.
    Check(CheckArgs),
    /// Picks the take of a shot that the film and the shots after it use; without a shot, lists what there is to pick.
    Pick(PickArgs),
    /// Accounts for a submission whose answer was lost; without a choice, lists them.
    Resolve(ResolveArgs),
    /// Lists the models: family, resolutions, durations, capabilities.
    Models(ModelsArgs),
    /// Prints a JSON Schema: of workflow files, for editors, or of what `run --format ndjson` prints.
    Schema(SchemaArgs),
    /// Runs the video service on its own, for others to use; `serve keys` manages who may.
    Serve(Box<ServeArgs>),
}

#[derive(Debug, Args)]
pub(crate) struct RunArgs {
    #[command(flatten)]
    pub(crate) workflow: WorkflowArgs,
    /// Where videos and the film are put [default: out/NAME beside the workflow file].
    #[arg(short, long, value_name = "FOLDER")]
    pub(crate) out: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) limits: LimitArgs,
    /// The table of prices [default: prices.yaml beside the workflow file, if it is there].
    #[arg(long, value_name = "FILE")]
    pub(crate) prices: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) budget: BudgetArgs,
    #[command(flatten)]
    pub(crate) selection: SelectionArgs,
    /// Submits nothing more once a shot has failed; what is out is finished.
    #[arg(long)]
    pub(crate) fail_fast: bool,
    /// How long an interrupted run goes on fetching videos that are finished.
    #[arg(long, value_name = "SECONDS", value_parser = seconds, default_value = "20")]
    pub(crate) grace: f64,
    /// Makes these shots anew, whatever there is of them [default: all that this run makes]. Asks nothing, and says what it costs again. What is made anew is
    /// what counts from then on.
    #[arg(long, value_name = "SHOT", num_args = 0..)]
    pub(crate) force: Option<Vec<String>>,
    /// Sets all work of this run apart from other work: the same salt finds the same videos again.
    #[arg(long, value_name = "TEXT")]
    pub(crate) salt: Option<String>,
    /// Reads every video of earlier runs to be sure that it is unchanged; otherwise size and time of change tell.
    #[arg(long)]
    pub(crate) verify: bool,
    /// What goes to standard output.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub(crate) format: Format,
}

/// Caps. What is out when one is reached is finished, and nothing more is submitted.
#[derive(Debug, Args)]
pub(crate) struct BudgetArgs {
    /// The most that may be spent from now on, in the currency of the table of prices; what other runs in this folder spend meanwhile counts.
    #[arg(long, value_name = "AMOUNT", value_parser = money)]
    pub(crate) max_cost: Option<Money>,
    /// The most tasks that may be submitted from now on.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32))]
    pub(crate) max_tasks: Option<u32>,
    /// The most seconds of video that may be asked for from now on.
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub(crate) max_seconds: Option<f64>,
    /// Submits what has no price even though the cost is capped: it does not count.
    #[arg(long, requires = "max_cost")]
    pub(crate) allow_unpriced: bool,
}

#[derive(Debug, Args)]
pub(crate) struct PlanArgs {
    #[command(flatten)]
    pub(crate) workflow: WorkflowArgs,
    #[command(flatten)]
    pub(crate) selection: SelectionArgs,
    /// Prints the exact requests instead, one JSON document a line; what is not made yet stands there as {"$input": …}.
    #[arg(long, conflicts_with_all = ["format", "prices"])]
    pub(crate) requests: bool,
    /// The table of prices [default: prices.yaml beside the workflow file, if it is there].
    #[arg(long, value_name = "FILE")]
    pub(crate) prices: Option<PathBuf>,
    /// What goes to standard output.
    #[arg(long, value_enum, default_value_t = PlanFormat::Table)]
    pub(crate) format: PlanFormat,
}

/// The forms of a plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum PlanFormat {
    /// For people.
    #[value(alias = "text")]
    Table,
    /// One JSON document, described in docs/output.md.
    Json,
    /// The same as YAML.
    Yaml,
    /// A Mermaid flowchart, for Markdown.
    Mermaid,
    /// A graph for Graphviz.
    Dot,
}

/// The model and the shape of the picture in a new workflow.
#[derive(Debug, Args)]
pub(crate) struct ModelArgs {
    /// The family of models: a or b.
    #[arg(long, value_name = "FAMILY", default_value = "a")]
    pub(crate) family: String,
    /// The model [default: the family's first that makes video of words alone].
    #[arg(long, value_name = "ID", conflicts_with = "family")]
    pub(crate) model: Option<String>,
    /// The shape of the picture.
    #[arg(long, value_name = "W:H", default_value = "16:9")]
    pub(crate) aspect: String,
}

#[derive(Debug, Args)]
pub(crate) struct InitArgs {
    /// The workflow file to write; its name becomes the workflow's.
    #[arg(default_value = "storyboard.yaml")]
    pub(crate) file: PathBuf,
    /// What to begin with.
    #[arg(long, value_enum, default_value_t = TemplateKind::Storyboard)]
    pub(crate) kind: TemplateKind,
    /// How many shots, or cells of a sweep.
    #[arg(long, value_name = "N", default_value_t = 6)]
    pub(crate) shots: usize,
    #[command(flatten)]
    pub(crate) model: ModelArgs,
    /// Overwrites the file if it is there.
    #[arg(long)]
    pub(crate) force: bool,
}

/// Kinds of workflow to begin with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum TemplateKind {
    /// Shots with cuts between them, joined into a film.
    Storyboard,
    /// Shots of which each begins where the one before it ended.
    Chain,
    /// One shot over a grid of values, to be compared.
    Sweep,
}

#[derive(Debug, Args)]
#[command(after_help = IMPORT_NOTES)]
pub(crate) struct ImportArgs {
    /// The shot list: values separated by commas, semicolons or tabs, the first line names the columns.
    pub(crate) list: PathBuf,
    /// The workflow file to write, or - for standard output [default: the list's name with .yaml].
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Makes each shot begin on the frame where the one before it ended, within its scene.
    #[arg(long, value_enum, value_name = "WITHIN")]
    pub(crate) chain: Option<ChainScope>,
    #[command(flatten)]
    pub(crate) model: ModelArgs,
    /// Overwrites the file if it is there.
    #[arg(long)]
    pub(crate) force: bool,
}

const IMPORT_NOTES: &str = "\
Columns: scene, shot, size, angle, movement, lens, description, dialogue, sound, duration, under their usual names. Only the description is
needed. Others become the shot's note.";

/// What shots are chained within.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ChainScope {
    /// The shots of a scene.
    Scene,
}

#[derive(Debug, Args)]
pub(crate) struct ExplainArgs {
    #[command(flatten)]
    pub(crate) workflow: WorkflowArgs,
    /// Shots (`lamp`), some of their instances (`harbor@look=noir`), or one (`harbor@look=noir,move=pan-left#2`) [default: all].
    #[arg(value_name = "SHOT")]
    pub(crate) shots: Vec<String>,
    /// What goes to standard output.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub(crate) format: Format,
}

#[derive(Debug, Args)]
pub(crate) struct CheckArgs {
    /// The workflow files.
    #[arg(required = true)]
    pub(crate) files: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) overrides: OverrideArgs,
    /// Takes warnings for errors.
    #[arg(long)]
    pub(crate) deny_warnings: bool,
    /// What goes to standard output.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub(crate) format: Format,
}

#[derive(Debug, Args)]
pub(crate) struct PickArgs {
    #[command(flatten)]
    pub(crate) workflow: WorkflowArgs,
    /// The shot, as `run` and `plan` name it: `lamp`, or `lamp@look=noir` for one cell. All that it means are picked.
    pub(crate) shot: Option<String>,
    /// The number of the take; `lamp#2` says it as well.
    #[arg(requires = "shot")]
    pub(crate) take: Option<u32>,
    /// Takes the pick back.
    #[arg(long, requires = "shot", conflicts_with = "take")]
    pub(crate) clear: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ModelsArgs {
    /// What goes to standard output.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub(crate) format: Format,
}

#[derive(Debug, Args)]
pub(crate) struct ResolveArgs {
    /// The workflow file, or the folder that it is in.
    pub(crate) file: PathBuf,
    /// The attempt, as `run` and `plan` name it.
    #[arg(requires = "resolution")]
    pub(crate) attempt: Option<String>,
    #[command(flatten)]
    pub(crate) resolution: ResolutionArgs,
    /// With --adopt: believes that the task is the right one, without asking the service.
    #[arg(long, requires = "adopt")]
    pub(crate) unchecked: bool,
    /// What goes to standard output.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub(crate) format: Format,
}

#[derive(Debug, Args)]
#[group(id = "resolution", multiple = false)]
pub(crate) struct ResolutionArgs {
    /// The service did accept it: this is its task, to be adopted by the next run. The service is asked whether that can be.
    #[arg(long, value_name = "TASK", requires = "attempt")]
    pub(crate) adopt: Option<String>,
    /// The service did not accept it: the next run submits it anew.
    #[arg(long, requires = "attempt")]
    pub(crate) resubmit: bool,
    /// Nobody will ever know: what it may have cost counts as spent, and it is not submitted again unless `run --force` asks for it.
    #[arg(long, requires = "attempt")]
    pub(crate) abandon: bool,
}

/// When to color.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ColorChoice {
    /// On a terminal, unless `NO_COLOR` is set.
    Auto,
    /// In any case.
    Always,
    /// In no case.
    Never,
}

/// For people, or for machines.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// For people.
    Text,
    /// One JSON document at the end.
    Json,
    /// One JSON document a line, as things happen.
    Ndjson,
}

fn money(text: &str) -> Result<Money, String> {
    Money::parse(text.trim()).map_err(|error| error.to_string())
}

fn seconds(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(seconds) if (0.0..1e9).contains(&seconds) => Ok(seconds),
        _ => Err("write a number of seconds, for example 60".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clap_definition_is_valid() {
        use clap::CommandFactory as _;
        Arguments::command().debug_assert();
    }
}
