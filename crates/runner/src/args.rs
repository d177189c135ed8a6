//! The command line's arguments: one struct per subcommand. Doc comments are the help text.

mod clean;
#[cfg(feature = "cluster")]
mod cluster;
mod completions;
mod edit;
mod engine;
pub(crate) mod examples;
mod export;
mod import;
mod ledger;
mod limits;
mod plan;
mod rate;
mod report;
mod resolve;
mod schema;
mod selection;
mod serve;
mod services;
mod status;
mod ui;
mod view;
mod workflow_args;

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Parser, Subcommand, ValueEnum};
use workflow::units::{Money, VideoDuration};

pub(crate) use self::clean::CleanArgs;
#[cfg(feature = "cluster")]
pub(crate) use self::cluster::{AttachArgs, WorkerArgs};
pub(crate) use self::completions::{CompletionsArgs, ManArgs};
pub(crate) use self::edit::{EditArgs, EditFields};
pub(crate) use self::engine::EngineAddressArgs;
pub(crate) use self::export::{ExportArgs, ExportFormatArgs};
pub(crate) use self::import::ImportArgs;
pub(crate) use self::ledger::{AdoptArgs, FetchArgs, LedgerArgs, LedgerCommand};
pub(crate) use self::limits::LimitArgs;
pub(crate) use self::plan::{PlanArgs, PlanFormat};
pub(crate) use self::rate::{RateArgs, Rating};
pub(crate) use self::report::{ReportArgs, ReportFormat};
pub(crate) use self::resolve::{ResolutionArgs, ResolveArgs};
pub(crate) use self::schema::{SchemaArgs, SchemaKind};
pub(crate) use self::selection::SelectionArgs;
pub(crate) use self::serve::{KeyLimitArgs, KeysCommand, NewKeyArgs, ServeArgs, ServeCommand, SetKeyArgs};
pub(crate) use self::services::{
    CheckDescriptionArgs, DiffArgs, ListArgs, NewArgs, ServicesArgs, ServicesCommand, ShowArgs, TrustArgs,
};
pub(crate) use self::status::StatusArgs;
pub(crate) use self::ui::UiArgs;
pub(crate) use self::view::ViewArgs;
pub(crate) use self::workflow_args::{OverrideArgs, WorkflowArgs};

/// Turns a storyboard into finished video.
///
/// A workflow file lists shots. `run` submits each shot to the video service, downloads the videos and joins them into a film. Finished
/// videos are reused and tasks in flight are adopted, so that no shot is paid for twice.
///
/// Without RUNNER_BASE_URL everything runs against an embedded service on this machine, which renders real video and is free.
#[derive(Debug, Parser)]
#[command(name = "runner", bin_name = "runner", version, max_term_width = 100, after_help = EXIT_CODES)]
#[expect(clippy::doc_markdown, reason = "it is the help text")]
pub(crate) struct Arguments {
    /// Log to standard error: -v decisions, -vv also HTTP requests, -vvv everything.
    #[arg(short, long, action = clap::ArgAction::Count, global = true)]
    pub(crate) verbose: u8,
    /// When to use colors on standard error. `auto`: on a terminal, unless `NO_COLOR` is set.
    #[arg(long, value_enum, value_name = "WHEN", default_value_t = ColorChoice::Auto, global = true)]
    pub(crate) color: ColorChoice,
    #[command(subcommand)]
    pub(crate) command: Command,
}

const EXIT_CODES: &str = "\
Environment:
  RUNNER_BASE_URL          URL of the video service, for example https://api.example.com
  RUNNER_API_KEY           API key for that service
  NO_COLOR                 set to any value: no colors

Exit codes:
  0    success
  1    a shot or a film failed; with `services diff`, a client may break
  2    invalid input: arguments, files or environment variables; nothing was submitted
  3    action needed: an open pick, also where `pick` lists it; an indeterminate submission; a task
       that is missing, left in flight, at another service or of another account; a shot blocked by
       one that is not selected; videos or killed runs that the ledger does not know, or work that
       it cannot record; a file that was changed before `edit` wrote it
  4    a budget cap was reached; tasks in flight were finished, nothing more was submitted
  5    the service, the ledger or the disk cannot be used
  130  interrupted; tasks in flight are kept and adopted by the next run";

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Render every shot of a workflow that has no video yet, and join the films.
    Run(Box<RunArgs>),
    /// Show running and recent runs, and what needs action.
    Status(StatusArgs),
    /// Show what `run` would do and cost. Submits nothing.
    Plan(PlanArgs),
    /// Create a commented workflow file and what belongs beside it.
    Init(InitArgs),
    /// Create a workflow from a shot list, or take an editor's cut back into a film.
    Import(ImportArgs),
    /// Explain why shots would be rendered again: what changed since the nearest earlier attempt, and what depends on them. With a code:
    /// explain an error or a warning.
    Explain(ExplainArgs),
    /// Validate workflow files and list every problem with its location.
    Check(CheckArgs),
    /// Pick the take or the instance of a shot that dependent shots and the film use. Without a choice: list the candidates.
    Pick(PickArgs),
    /// Rate the videos of shots from 1 to 5, or reject them. The page of `view` shows it and filters by it; nothing else depends on it.
    Rate(RateArgs),
    /// Change a shot's prompt or seed in the workflow file, and show what a run would then cost. Comments and layout stay.
    Edit(EditArgs),
    /// Look at the clips and films of a workflow: write one page, and open it in the browser.
    View(ViewArgs),
    /// Serve the page of `view` on this machine, live and with actions, and open it in the browser.
    Ui(UiArgs),
    /// Write a film's edit in a format of editors (OTIO, FCPXML, CapCut), or the film in another format.
    Export(ExportArgs),
    /// Report the state of all shots and films as Markdown, CSV, JSON or JUnit XML, or show their clips in one image.
    Report(ReportArgs),
    /// List files that are no longer needed, and remove them with `--delete`: partial downloads, earlier cuts of films, clips that the
    /// workflow does not use, and what killed processes have left.
    Clean(CleanArgs),
    /// Repair the ledger: record work that it does not know; download videos of recorded tasks.
    Ledger(LedgerArgs),
    /// Resolve indeterminate submissions, whose outcome is unknown, and close tasks whose video is gone. Without a shot: list them.
    Resolve(ResolveArgs),
    /// The services that the program knows: list them, show their models, check, compare or create descriptions.
    Services(ServicesArgs),
    /// Print a JSON Schema: of workflow files, events, status records, manifests or sidecars.
    Schema(SchemaArgs),
    /// Run the video service as a server. `serve keys` manages its API keys.
    Serve(Box<ServeArgs>),
    /// Execute runs of a cluster, as Restate asks for them.
    #[cfg(feature = "cluster")]
    Worker(Box<WorkerArgs>),
    /// Print a completion script for a shell.
    Completions(CompletionsArgs),
    /// Write the man pages to a folder.
    #[command(hide = true)]
    Man(ManArgs),
}

#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag")]
pub(crate) struct RunArgs {
    #[command(flatten)]
    pub(crate) workflow: WorkflowArgs,
    /// Output folder for videos and films [default: out/NAME beside the workflow file].
    #[arg(short = 'o', long, value_name = "FOLDER")]
    pub(crate) output_dir: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) limits: LimitArgs,
    /// Price table [default: prices.yaml beside the workflow file, if it exists].
    #[arg(long, value_name = "FILE")]
    pub(crate) prices: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) budget: BudgetArgs,
    #[command(flatten)]
    pub(crate) selection: SelectionArgs,
    /// At the end of the run, write the page of `view` and open it.
    #[arg(long)]
    pub(crate) open: bool,
    /// Submit nothing: show the plan, as `plan` does.
    #[arg(long, conflicts_with_all = ["open", "force"])]
    pub(crate) dry_run: bool,
    /// Ring the terminal's bell and show a desktop notification, where the terminal can, at the end of the run.
    #[arg(long)]
    pub(crate) notify: bool,
    /// Stop submitting after the first failed shot; tasks in flight are finished.
    #[arg(long)]
    pub(crate) fail_fast: bool,
    /// How long an interrupted run may continue to download videos that are ready.
    #[arg(long, value_name = "SECONDS", value_parser = duration, default_value = "20")]
    pub(crate) shutdown_grace: Duration,
    /// Ask for one more render of these shots [default: all selected shots]. The cost is shown first. Once it is done, the new video counts in films
    /// and dependent shots, unless another one is picked. Every later run continues what is not done; so does the same flag again.
    #[arg(long, value_name = "SHOT", num_args = 0..)]
    pub(crate) rerun: Option<Vec<String>>,
    /// With --rerun: ask for another render although one is asked for and not done.
    #[arg(long, requires = "rerun")]
    pub(crate) new: bool,
    /// With --rerun: withdraw what was asked for and is not done, and run nothing.
    #[arg(long, requires = "rerun", conflicts_with_all = ["new", "dry_run"])]
    pub(crate) withdraw: bool,
    /// Text that becomes part of every shot's key: videos are shared only between runs with the same salt.
    #[arg(long, value_name = "TEXT")]
    pub(crate) salt: Option<String>,
    /// Continue although the ledger lacks videos or killed runs of this project, or has the work from another service. It is submitted and paid for again.
    #[arg(long)]
    pub(crate) force: bool,
    /// Send keys where `services.yaml` says, although nobody has confirmed it on this machine (`services trust`).
    #[arg(long)]
    pub(crate) trust_services: bool,
    /// Verify existing videos by their content hash, and decode them. Damaged ones are downloaded again, which costs nothing. By default
    /// size and modification time are compared.
    #[arg(long)]
    pub(crate) verify: bool,
    /// Output format on standard output; `ndjson` prints events as they happen.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub(crate) format: Format,
    #[command(flatten)]
    pub(crate) engine: EngineAddressArgs,
    #[cfg(feature = "cluster")]
    #[command(flatten)]
    pub(crate) cluster: AttachArgs,
}

/// Budget caps. When one is reached, tasks in flight are finished and nothing more is submitted.
#[derive(Debug, Args)]
pub(crate) struct BudgetArgs {
    /// Maximum cost of this run, in the currency of the price table. Concurrent runs in the same folder count against it.
    #[arg(long, value_name = "AMOUNT", value_parser = money)]
    pub(crate) max_cost: Option<Money>,
    /// Maximum number of tasks to submit.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32))]
    pub(crate) max_tasks: Option<u32>,
    /// Maximum length of video to request, in seconds of playing time.
    #[arg(long, value_name = "SECONDS", value_parser = video_duration)]
    pub(crate) max_video_seconds: Option<VideoDuration>,
    /// The caps count what this run submits, and not what other runs in the folder have reserved or spend meanwhile.
    #[arg(long)]
    pub(crate) own_caps: bool,
    /// Submit what the caps allow, although they are below what the run needs.
    #[arg(long)]
    pub(crate) partial: bool,
    /// With --max-cost: submit tasks without a price; they do not count.
    #[arg(long, requires = "max_cost")]
    pub(crate) allow_unpriced: bool,
}

/// The model and aspect ratio of a new workflow.
#[derive(Debug, Args)]
pub(crate) struct ModelArgs {
    /// Model family: a or b.
    #[arg(long, value_name = "FAMILY", default_value = "a")]
    pub(crate) family: String,
    /// Model [default: the family's first text-to-video model].
    #[arg(long, value_name = "ID", conflicts_with = "family")]
    pub(crate) model: Option<String>,
    /// Aspect ratio.
    #[arg(long, value_name = "W:H", default_value = "16:9")]
    pub(crate) aspect: String,
}

#[derive(Debug, Args)]
pub(crate) struct InitArgs {
    /// Workflow file to create; its name becomes the workflow's name.
    #[arg(default_value = "storyboard.yaml")]
    pub(crate) file: PathBuf,
    /// Kind of workflow.
    #[arg(long, value_enum, default_value_t = WorkflowKindArg::Storyboard)]
    pub(crate) kind: WorkflowKindArg,
    /// Number of shots, or of cells of a sweep.
    #[arg(long, value_name = "N", default_value_t = 6)]
    pub(crate) shots: usize,
    #[command(flatten)]
    pub(crate) model: ModelArgs,
    /// Overwrite the file if it exists.
    #[arg(long)]
    pub(crate) overwrite: bool,
}

/// Kinds of new workflows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum WorkflowKindArg {
    /// Shots with cuts between them, joined into a film.
    Storyboard,
    /// Shots that each start on the last frame of the shot before.
    Chain,
    /// One shot over a matrix of values, for comparison.
    Sweep,
}

#[derive(Debug, Args)]
pub(crate) struct ExplainArgs {
    /// Workflow file; or the code of an error or a warning, as in `error[unknown-key]`: what it means, an example, and how to fix it. A file
    /// of that name counts first.
    #[arg(value_name = "FILE|CODE")]
    pub(crate) file: PathBuf,
    #[command(flatten)]
    pub(crate) overrides: OverrideArgs,
    /// Shots (`lamp`), some of their instances (`harbor@look=noir`), or one (`harbor@look=noir,move=pan-left#2`) [default: all].
    #[arg(value_name = "SHOT")]
    pub(crate) shots: Vec<String>,
    /// Output format on standard output.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub(crate) format: Format,
}

#[derive(Debug, Args)]
pub(crate) struct CheckArgs {
    /// Workflow files.
    #[arg(required = true)]
    pub(crate) files: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) overrides: OverrideArgs,
    /// Treat warnings as errors.
    #[arg(long)]
    pub(crate) deny_warnings: bool,
    /// Output format on standard output.
    #[arg(long, value_enum, default_value_t = CheckFormat::Text)]
    pub(crate) format: CheckFormat,
}

#[derive(Debug, Args)]
pub(crate) struct PickArgs {
    #[command(flatten)]
    pub(crate) workflow: WorkflowArgs,
    /// Shot as named by `plan`: `lamp`, or `lamp@look=noir` for a part of its instances. Without a choice: list its candidates.
    pub(crate) shot: Option<String>,
    /// What to pick: a take (`2`), an instance (`look=noir,seed=3`, or its name), or both (`look=noir#2`).
    #[arg(requires = "shot")]
    pub(crate) choice: Option<String>,
    /// Remove the pick.
    #[arg(long, requires = "shot", conflicts_with = "choice")]
    pub(crate) clear: bool,
    #[command(flatten)]
    pub(crate) engine: EngineAddressArgs,
}

/// When to use colors.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ColorChoice {
    /// On a terminal, unless `NO_COLOR` is set.
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// Output formats of `check`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum CheckFormat {
    /// Text for people.
    Text,
    /// One JSON document at the end.
    Json,
    /// One JSON object per line.
    Ndjson,
    /// Annotations of GitHub Actions, which show each problem at its line.
    Github,
}

/// Output formats.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// Text for people.
    Text,
    /// One JSON document at the end.
    Json,
    /// One JSON object per line.
    Ndjson,
}

fn money(text: &str) -> Result<Money, String> {
    Money::parse(text.trim()).map_err(|error| error.to_string())
}

fn duration(text: &str) -> Result<Duration, String> {
    match text.parse::<f64>() {
        Ok(seconds) if (0.0..1e9).contains(&seconds) => Ok(Duration::from_secs_f64(seconds)),
        _ => Err("expected a number of seconds, for example 60".to_owned()),
    }
}

fn video_duration(text: &str) -> Result<VideoDuration, String> {
    duration(text).map(VideoDuration::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clap_definition_is_valid() {
        use clap::CommandFactory as _;
        Arguments::command().debug_assert();
    }

    /// Help is wrapped at the terminal's width: a line that is broken in the source as well would be broken twice.
    #[test]
    fn notes_have_a_line_per_paragraph() {
        use clap::CommandFactory as _;
        fn check(command: &clap::Command) {
            let notes = command.get_after_help().map(ToString::to_string).unwrap_or_default();
            let lines: Vec<&str> = notes.lines().collect();
            for pair in lines.windows(2) {
                let is_wrapped = pair[0].len() > 100 && !pair[1].is_empty();
                assert!(!is_wrapped, "{}: a paragraph is one line: {}", command.get_name(), pair[0]);
            }
            command.get_subcommands().for_each(check);
        }
        check(&Arguments::command());
    }
}
