//! The actions of the page. Each is a command of this program, which the page shows, so that there is one way to do a thing
//! and nothing that only the page can do.

use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use workflow::units::Money;

use crate::args::{EditFields, EngineAddressArgs, OverrideArgs};
use crate::shell;

/// An action, as the page sends it.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(tag = "action", rename_all = "kebab-case", deny_unknown_fields)]
pub(super) enum PageAction {
    /// Render what is missing.
    Run(RunAction),
    /// Interrupt a run of this server.
    Stop { job: String },
    /// Pick a take or a cell; `null` removes the pick.
    Pick {
        shot: String,
        /// A take's number or a cell.
        choice: Option<String>,
    },
    /// Rate a clip's video.
    Rate {
        clip: String,
        /// From 1 to 5; 0 rejects it, `null` removes the rating.
        rating: Option<u8>,
    },
    /// Change a shot in the file.
    Edit {
        shot: String,
        /// Its prompt, as the file has it.
        prompt: Option<String>,
        /// Its seed: a number or a template.
        seed: Option<Value>,
        /// The SHA-256 of the file that the page has seen.
        digest: String,
    },
    /// Resolve an indeterminate submission.
    Resolve {
        attempt: String,
        #[serde(flatten)]
        resolution: Resolution,
    },
    /// Download the video of a task that no shot asks for, or of all of them.
    Fetch {
        /// The task; `null` for all.
        task: Option<String>,
    },
}

/// Which shots to render, and what that may cost.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct RunAction {
    /// Exactly these; all where it is empty.
    pub(super) only: Vec<String>,
    pub(super) rerun: Vec<String>,
    /// Maximum cost, as `--max-cost` takes it.
    pub(super) max_cost: Option<String>,
    /// Maximum number of tasks.
    pub(super) max_tasks: Option<u32>,
    /// Whether the caps count this run alone.
    #[serde(skip)]
    own_caps: bool,
    /// What its preview has said: without it, it is not performed.
    pub(super) previewed: Option<PreviewedRun>,
}

/// What a preview has said of a run: at most this is submitted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PreviewedRun {
    /// Of what it was computed from, besides the ledger.
    pub(super) digest: String,
    /// Maximum number of tasks, with all retries.
    pub(super) tasks: u64,
    /// Their maximum cost; `null` where nothing is paid for, or not all prices are known.
    pub(super) cost: Option<Money>,
}

impl RunAction {
    /// The run within its preview, whatever other runs reserve and spend.
    pub(super) fn within(&self, previewed: &PreviewedRun) -> Self {
        let tasks = u32::try_from(previewed.tasks).unwrap_or(u32::MAX);
        let max_cost = match (previewed.cost, self.max_cost.as_deref().map(Money::parse)) {
            (Some(cost), None) => Some(cost.to_string()),
            (Some(cost), Some(Ok(own))) => Some(own.min(cost).to_string()),
            // Of what is no amount the command says what is wrong with it.
            (None, _) | (_, Some(Err(_))) => self.max_cost.clone(),
        };
        let max_tasks = Some(self.max_tasks.map_or(tasks, |own| own.min(tasks)));
        Self { max_tasks, max_cost, own_caps: true, previewed: None, ..self.clone() }
    }
}

/// What became of an indeterminate submission.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Resolution {
    /// It was accepted as this task.
    Adopt(String),
    /// It was not accepted.
    Resubmit(bool),
    /// Nobody can know: it counts as paid for.
    Abandon(bool),
}

/// A workflow file with its overrides, as the server was started.
#[derive(Debug, Clone, Copy)]
pub(super) struct Target<'a> {
    pub(super) file: &'a Path,
    pub(super) overrides: &'a OverrideArgs,
    pub(super) output_dir: Option<&'a Path>,
    pub(super) engine: &'a EngineAddressArgs,
}

impl PageAction {
    /// Its name, as the page sends it.
    pub(super) fn name(&self) -> &'static str {
        match self {
            Self::Run(_) => "run",
            Self::Stop { .. } => "stop",
            Self::Pick { .. } => "pick",
            Self::Rate { .. } => "rate",
            Self::Edit { .. } => "edit",
            Self::Resolve { .. } => "resolve",
            Self::Fetch { .. } => "fetch",
        }
    }

    /// The fields that an edit changes.
    pub(super) fn edit_fields(prompt: Option<&String>, seed: Option<&Value>) -> EditFields {
        let seed = seed.map(|seed| seed.as_str().map_or_else(|| seed.to_string(), str::to_owned));
        EditFields { prompt: prompt.cloned(), seed }
    }

    /// The arguments of the command; `None` for what is no command. Values stay values whatever they begin with: flags have the form
    /// `--name=value`, and `--` is before everything else.
    pub(super) fn arguments(&self, target: Target<'_>) -> Option<Vec<String>> {
        let file = target.file.display().to_string();
        let mut flags = Vec::new();
        let mut flag = |name: &str, value: &str| flags.push(format!("--{name}={value}"));
        let positional = match self {
            Self::Run(run) => {
                run.only.iter().for_each(|shot| flag("only", shot));
                run.rerun.iter().for_each(|shot| flag("rerun", shot));
                run.max_cost.iter().for_each(|cost| flag("max-cost", cost));
                run.max_tasks.iter().for_each(|tasks| flag("max-tasks", &tasks.to_string()));
                target.output_dir.iter().for_each(|folder| flag("output-dir", &folder.display().to_string()));
                if run.own_caps {
                    flags.push("--own-caps".to_owned());
                }
                vec![file]
            }
            Self::Stop { .. } => return None,
            Self::Pick { shot, choice: Some(choice) } => vec![file, shot.clone(), choice.clone()],
            Self::Pick { shot, choice: None } => {
                flags.push("--clear".to_owned());
                vec![file, shot.clone()]
            }
            Self::Rate { clip, rating } => {
                let rating = match rating {
                    None => "none".to_owned(),
                    Some(0) => "reject".to_owned(),
                    Some(rating) => rating.to_string(),
                };
                vec![file, clip.clone(), rating]
            }
            Self::Edit { shot, prompt, seed, digest } => {
                let EditFields { prompt, seed } = Self::edit_fields(prompt.as_ref(), seed.as_ref());
                for (name, value) in [("prompt", prompt), ("seed", seed)] {
                    if let Some(value) = value {
                        flag(name, &value);
                    }
                }
                flag("digest", digest);
                vec![file, shot.clone()]
            }
            Self::Resolve { attempt, resolution } => {
                match resolution {
                    Resolution::Adopt(task) => flag("adopt", task),
                    Resolution::Resubmit(_) => flags.push("--resubmit".to_owned()),
                    Resolution::Abandon(_) => flags.push("--abandon".to_owned()),
                }
                vec![file, attempt.clone()]
            }
            Self::Fetch { task } => {
                flag("in", &file);
                if task.is_none() {
                    flags.push("--all".to_owned());
                }
                task.iter().cloned().collect()
            }
        };
        if matches!(self, Self::Run(_) | Self::Pick { .. } | Self::Rate { .. } | Self::Edit { .. }) {
            flags.extend(overrides(target.overrides));
        }
        if !matches!(self, Self::Fetch { .. }) {
            flags.extend(target.engine.flags());
        }
        let mut arguments = match self {
            Self::Fetch { .. } => vec!["ledger".to_owned(), "fetch".to_owned()],
            _ => vec![self.name().to_owned()],
        };
        arguments.extend(flags);
        if !positional.is_empty() {
            arguments.push("--".to_owned());
            arguments.extend(positional);
        }
        Some(arguments)
    }

    /// The command for people to paste.
    pub(super) fn command(&self, target: Target<'_>) -> String {
        let mut arguments = self.arguments(target).unwrap_or_default();
        // For the page alone: a person has seen the file.
        arguments.retain(|argument| !argument.starts_with("--digest="));
        // Only what begins with a dash needs the separator.
        let separator = arguments.iter().position(|argument| argument == "--").unwrap_or(arguments.len());
        let needs_separator = arguments.iter().skip(separator + 1).any(|argument| argument.starts_with('-'));
        let visible = arguments.iter().filter(|argument| needs_separator || *argument != "--");
        std::iter::once("runner".to_owned())
            .chain(visible.map(|text| shell::quote(text)))
            .collect::<Vec<_>>()
            .join(" ")
    }
}

fn overrides(overrides: &OverrideArgs) -> impl Iterator<Item = String> {
    let params = overrides.params.iter().map(|(name, value)| format!("--param={name}={value}"));
    let files = overrides.param_files.iter().map(|file| format!("--param-file={}", file.display()));
    let axes = overrides.axes.iter().map(|(name, value)| format!("--axis={name}={value}"));
    let service = overrides.service.iter().map(|service| format!("--service={service}"));
    let rehearse = overrides.rehearse.then(|| "--rehearse".to_owned());
    let allow = overrides.allow.iter().map(|code| format!("--allow={code}"));
    params.chain(files).chain(axes).chain(service).chain(rehearse).chain(allow)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn command(json: &str) -> String {
        let action: PageAction = serde_json::from_str(json).unwrap();
        let overrides =
            OverrideArgs { params: vec![("look".to_owned(), "a b".to_owned())], ..OverrideArgs::default() };
        let engine = EngineAddressArgs::default();
        action.command(Target {
            file: Path::new("six.yaml"),
            overrides: &overrides,
            output_dir: None,
            engine: &engine,
        })
    }

    #[test]
    fn actions_are_commands() {
        insta::assert_snapshot!([
            command(r#"{"action":"run"}"#),
            command(r#"{"action":"run","only":["a1","lamp#2"],"rerun":["c"],"max_cost":"12.50","max_tasks":3}"#),
            command(r#"{"action":"pick","shot":"lamp","choice":"look=noir,seed=3"}"#),
            command(r#"{"action":"pick","shot":"lamp","choice":null}"#),
            command(r#"{"action":"rate","clip":"lamp#2","rating":4}"#),
            command(r#"{"action":"rate","clip":"lamp#2","rating":0}"#),
            command(r#"{"action":"rate","clip":"lamp#2","rating":null}"#),
            command(r#"{"action":"edit","shot":"lamp","prompt":"it's dark; $(rm -rf /)","seed":7,"digest":"ab"}"#),
            command(r#"{"action":"resolve","attempt":"x1","adopt":"task_1"}"#),
            command(r#"{"action":"resolve","attempt":"x1","abandon":true}"#),
            command(r#"{"action":"fetch","task":"--all"}"#),
            command(r#"{"action":"fetch"}"#),
        ]
        .join("\n"), @r"
        runner run '--param=look=a b' six.yaml
        runner run --only=a1 --only=lamp#2 --rerun=c --max-cost=12.50 --max-tasks=3 '--param=look=a b' six.yaml
        runner pick '--param=look=a b' six.yaml lamp look=noir,seed=3
        runner pick --clear '--param=look=a b' six.yaml lamp
        runner rate '--param=look=a b' six.yaml lamp#2 4
        runner rate '--param=look=a b' six.yaml lamp#2 reject
        runner rate '--param=look=a b' six.yaml lamp#2 none
        runner edit '--prompt=it'\''s dark; $(rm -rf /)' --seed=7 '--param=look=a b' six.yaml lamp
        runner resolve --adopt=task_1 six.yaml x1
        runner resolve --abandon six.yaml x1
        runner ledger fetch --in=six.yaml -- --all
        runner ledger fetch --in=six.yaml --all
        ");
    }

    #[test]
    fn caps_of_a_run_are_at_most_those_of_its_preview() {
        let previewed =
            PreviewedRun { digest: "ab".to_owned(), tasks: 2, cost: Some(Money::parse("0.25").unwrap()) };
        let within = |json: &str, previewed: &PreviewedRun| {
            let run: RunAction = serde_json::from_str(json).unwrap();
            let RunAction { max_cost, max_tasks, .. } = run.within(previewed);
            (max_cost.unwrap_or_default(), max_tasks.unwrap_or_default())
        };
        assert_eq!(within("{}", &previewed), ("0.25".to_owned(), 2));
        let wide = r#"{"max_cost":"1","max_tasks":9}"#;
        assert_eq!(within(wide, &previewed), ("0.25".to_owned(), 2));
        let narrow = r#"{"max_cost":"0.2","max_tasks":1}"#;
        assert_eq!(within(narrow, &previewed), ("0.20".to_owned(), 1));
        assert_eq!(within(r#"{"max_cost":"much"}"#, &previewed), ("much".to_owned(), 2));
        let free = PreviewedRun { cost: None, ..previewed };
        assert_eq!(within("{}", &free), (String::new(), 2));
        assert_eq!(within(wide, &free), ("1".to_owned(), 2));
    }

    #[test]
    fn unknown_members_are_refused() {
        for text in [
            r#"{"action":"run","max_price":"1"}"#,
            r#"{"action":"edit","shot":"a","digest":"x","model":"m"}"#,
            r#"{"action":"delete"}"#,
            r#"{"action":"resolve","attempt":"x1"}"#,
        ] {
            assert!(serde_json::from_str::<PageAction>(text).is_err(), "{text}");
        }
    }
}
