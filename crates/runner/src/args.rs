//! What can be said on the command line.

mod choosing;
mod given;

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use url::Url;
use workflow::prices::Money;

pub(crate) use self::choosing::Choosing;
pub(crate) use self::given::{Given, Input};

/// Turns a storyboard into finished video.
///
/// A workflow file lists shots; `run` submits each to the video service, downloads the results and joins them into a film. Nothing is
/// ever paid twice: what is made already is reused, and tasks that are still out are adopted.
///
/// With no address in the environment everything runs against an embedded service on this machine, which renders real video and costs nothing.
#[derive(Debug, Parser)]
#[command(name = "runner", version, max_term_width = 100, after_help = EXIT_CODES)]
pub(crate) struct Arguments {
    /// Says more about what happens, on standard error (-vv: everything).
    #[arg(short, long, action = clap::ArgAction::Count, global = true)]
    pub(crate) verbose: u8,
    /// Colours on standard error; `auto` is on a terminal, unless `NO_COLOR` is set.
    #[arg(long, value_enum, value_name = "WHEN", default_value_t = Colour::Auto, global = true)]
    pub(crate) color: Colour,
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
    Run(Run),
    /// Shows what `run` would do and cost, and does nothing.
    Plan(Plan),
    /// Writes a commented workflow to begin with.
    Init(Init),
    /// Makes a workflow of a shot list: a CSV file as spreadsheets write it.
    Import(Import),
    /// Says why shots would be made again: what changed since the nearest earlier attempt, and what depends on it.
    Explain(Explain),
    /// Checks workflow files and lists every problem with its place.
    Check(Check),
    /// Picks the take of a shot that the film and the shots after it use; without a shot, lists what there is to pick.
    Pick(Pick),
    /// Accounts for a submission whose answer was lost; without a choice, lists them.
    Resolve(Resolve),
    /// Lists the models: family, resolutions, durations, capabilities.
    Models(Models),
    /// Prints the JSON Schema of workflow files, for editors.
    Schema,
    /// Runs the video service on its own, for others to use; `serve keys` manages who may.
    Serve(Box<Serve>),
}

#[derive(Debug, Args)]
pub(crate) struct Run {
    #[command(flatten)]
    pub(crate) input: Input,
    /// Where videos and the film are put [default: out/NAME beside the workflow file].
    #[arg(short, long, value_name = "FOLDER")]
    pub(crate) out: Option<PathBuf>,
    /// Most tasks out at the service at once.
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1000))]
    pub(crate) jobs: Option<u16>,
    /// The table of prices [default: prices.yaml beside the workflow file, if it is there].
    #[arg(long, value_name = "FILE")]
    pub(crate) prices: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) budget: Budget,
    #[command(flatten)]
    pub(crate) choosing: Choosing,
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
pub(crate) struct Budget {
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
pub(crate) struct Plan {
    #[command(flatten)]
    pub(crate) input: Input,
    #[command(flatten)]
    pub(crate) choosing: Choosing,
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
pub(crate) struct Look {
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
pub(crate) struct Init {
    /// The workflow file to write; its name becomes the workflow's.
    #[arg(default_value = "storyboard.yaml")]
    pub(crate) file: PathBuf,
    /// What to begin with.
    #[arg(long, value_enum, default_value_t = Kind::Storyboard)]
    pub(crate) kind: Kind,
    /// How many shots, or cells of a sweep.
    #[arg(long, value_name = "N", default_value_t = 6)]
    pub(crate) shots: usize,
    #[command(flatten)]
    pub(crate) look: Look,
    /// Overwrites the file if it is there.
    #[arg(long)]
    pub(crate) force: bool,
}

/// Kinds of workflow to begin with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Kind {
    /// Shots with cuts between them, joined into a film.
    Storyboard,
    /// Shots of which each begins where the one before it ended.
    Chain,
    /// One shot over a grid of values, to be compared.
    Sweep,
}

#[derive(Debug, Args)]
#[command(after_help = IMPORT_NOTES)]
pub(crate) struct Import {
    /// The shot list: values separated by commas, semicolons or tabs, the first line names the columns.
    pub(crate) list: PathBuf,
    /// The workflow file to write, or - for standard output [default: the list's name with .yaml].
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Makes each shot begin on the frame where the one before it ended, within its scene.
    #[arg(long, value_enum, value_name = "WITHIN")]
    pub(crate) chain: Option<Chain>,
    #[command(flatten)]
    pub(crate) look: Look,
    /// Overwrites the file if it is there.
    #[arg(long)]
    pub(crate) force: bool,
}

const IMPORT_NOTES: &str = "\
Columns: scene, shot, size, angle, movement, lens, description, dialogue, sound, duration, under their usual names. Only the description is
needed. Others become the shot's note.";

/// What shots are chained within.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Chain {
    /// The shots of a scene.
    Scene,
}

#[derive(Debug, Args)]
pub(crate) struct Explain {
    #[command(flatten)]
    pub(crate) input: Input,
    /// Shots (`lamp`), some of their instances (`harbor@look=noir`), or one (`harbor@look=noir,move=pan-left#2`) [default: all].
    #[arg(value_name = "SHOT")]
    pub(crate) shots: Vec<String>,
    /// What goes to standard output.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub(crate) format: Format,
}

#[derive(Debug, Args)]
pub(crate) struct Check {
    /// The workflow files.
    #[arg(required = true)]
    pub(crate) files: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) given: Given,
    /// Takes warnings for errors.
    #[arg(long)]
    pub(crate) deny_warnings: bool,
    /// What goes to standard output.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub(crate) format: Format,
}

#[derive(Debug, Args)]
pub(crate) struct Pick {
    #[command(flatten)]
    pub(crate) input: Input,
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
pub(crate) struct Models {
    /// What goes to standard output.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub(crate) format: Format,
}

#[derive(Debug, Args)]
pub(crate) struct Resolve {
    /// The workflow file, or the folder that it is in.
    pub(crate) file: PathBuf,
    /// The attempt, as `run` and `plan` name it.
    #[arg(requires = "choice")]
    pub(crate) attempt: Option<String>,
    #[command(flatten)]
    pub(crate) choice: Choice,
    /// With --adopt: believes that the task is the right one, without asking the service.
    #[arg(long, requires = "adopt")]
    pub(crate) unchecked: bool,
    /// What goes to standard output.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub(crate) format: Format,
}

#[derive(Debug, Args)]
#[group(id = "choice", multiple = false)]
pub(crate) struct Choice {
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

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true, after_help = SERVE_NOTES)]
pub(crate) struct Serve {
    /// The folder for tasks, keys and videos; it is made if it is not there.
    #[arg(long, value_name = "FOLDER", default_value = "video-service", global = true)]
    pub(crate) data: PathBuf,
    /// Where to listen; port 0 takes a free one. The address is printed when the service is up.
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:8080")]
    pub(crate) listen: SocketAddr,
    /// Tasks rendered at once [default: as many as there are cores].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=256))]
    pub(crate) workers: Option<u16>,
    /// Misbehaves as a fault profile (JSON) says, to try clients on.
    #[arg(long, value_name = "FILE")]
    pub(crate) faults: Option<PathBuf>,
    /// Lets media URLs in requests point to this machine and to private networks.
    #[arg(long)]
    pub(crate) allow_private_media: bool,
    /// What the addresses of videos begin with, where clients do not reach the service at the address it listens on.
    #[arg(long, value_name = "URL")]
    pub(crate) public_url: Option<Url>,
    /// Renders with this program: its words as one argument, quoted as for a shell. It gets the task as JSON and writes output.mp4.
    #[arg(long, value_name = "COMMAND")]
    pub(crate) renderer: Option<String>,
    /// The longest that the program may take for one task, in seconds.
    #[arg(long, value_name = "SECONDS", default_value_t = 1_800, requires = "renderer", value_parser = clap::value_parser!(u64).range(1..=86_400))]
    pub(crate) render_limit: u64,
    #[command(subcommand)]
    pub(crate) command: Option<ServeCommand>,
}

const SERVE_NOTES: &str = "\
Stop it with an interrupt or SIGTERM: open downloads get a few seconds, unfinished tasks go on at the next start, the exit code is 0.";

#[derive(Debug, Subcommand)]
pub(crate) enum ServeCommand {
    /// Makes, lists and revokes the API keys of a service, also while it runs.
    #[command(subcommand)]
    Keys(Keys),
}

#[derive(Debug, Subcommand)]
pub(crate) enum Keys {
    /// Makes a key and prints it, for the only time.
    Add(NewKey),
    /// Lists all keys and what was done with them.
    List,
    /// Takes a key back; its tasks stay and finish.
    Revoke {
        /// The key's name or id.
        key: String,
    },
}

#[derive(Debug, Args)]
pub(crate) struct NewKey {
    /// What people call it.
    pub(crate) name: String,
    /// Permits 1080p.
    #[arg(long = "1080p")]
    pub(crate) full_hd: bool,
    /// Most unfinished tasks at once.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) running_tasks: Option<u32>,
    /// Submissions a second in the long run.
    #[arg(long, value_name = "RATE", value_parser = rate)]
    pub(crate) submissions_per_second: Option<f64>,
    /// Submissions that may come at once after a quiet while.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) burst: Option<u32>,
    /// Seconds of video in all.
    #[arg(long, value_name = "SECONDS")]
    pub(crate) quota_seconds: Option<u64>,
}

/// When to colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Colour {
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

fn rate(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(rate) if rate.is_finite() && rate > 0.0 => Ok(rate),
        _ => Err("write a number above 0, for example 0.5".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_arguments_are_consistent() {
        use clap::CommandFactory as _;
        Arguments::command().debug_assert();
    }
}
