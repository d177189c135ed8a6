//! The commands that help: in the reasons of a plan, what the user can decide; after an error of the ledger, to record what is in flight.
//!
//! Invariant: names and the service's ids are quoted for the shell. Any string can be an id.

use std::fmt::Display;

use engine::preview::{Hint, Preview};
use engine::{RunError, UnrecordedTask};
use scheduler::TaskId;

use crate::named_workflow::NamedWorkflow;
use crate::report::sanitize;
use crate::shell;

/// Adds the command to the reason of each shot that waits for a decision of the user. `file` is quoted for a shell, with the flags that
/// name a cluster.
pub(crate) fn name_commands(previews: &mut [Preview], file: &NamedWorkflow) {
    for preview in previews {
        let command = match preview.hint.take() {
            Some(Hint::Resolve(_, None)) => {
                format!("; resolve it with `{}`", resolve(file, &shell::quote(&preview.name)))
            }
            Some(Hint::Resolve(_, Some(task))) => {
                let shot = shell::quote(&preview.name);
                format!("; {}", resolve_command(file, &shot, Some(task.as_str())))
            }
            Some(Hint::Rerun) => {
                let shot = shell::quote_rerun(&preview.name);
                format!("; `runner run {} --rerun {shot}` renders it again", file.in_full())
            }
            None => continue,
        };
        preview.why.get_or_insert_default().push_str(&command);
    }
}

/// The command that resolves a submission, without a resolution. `file` and `shot`, which may be an attempt, are quoted for a shell.
pub(crate) fn resolve(file: &(impl Display + ?Sized), shot: &str) -> String {
    format!("runner resolve {file} {shot}")
}

/// How to close a task whose video is gone.
pub(crate) fn close_command(file: &(impl Display + ?Sized), shot: &str) -> String {
    format!("`{} --abandon` closes it", resolve(file, shot))
}

/// What to do about an indeterminate submission. `suggested_task` is the id of a task that the response named.
pub(crate) fn resolve_command(
    file: &(impl Display + ?Sized),
    shot: &str,
    suggested_task: Option<&str>,
) -> String {
    let command = resolve(file, shot);
    match suggested_task {
        None => format!(
            "look it up in your account there, then run `{command} --adopt TASK`, `--resubmit` or `--abandon`"
        ),
        Some(task) => format!(
            "the response names task {}: run `{command} {}`, which asks the service for it; \
             if your account does not list it, `--resubmit` or `--abandon`",
            sanitize::line(task),
            shell::option("--adopt", task)
        ),
    }
}

/// The commands that record tasks after a run has lost its ledger or could not write it; empty after other errors.
pub(crate) fn adopt_commands(error: &RunError, file: &NamedWorkflow) -> String {
    match error {
        RunError::LedgerReplaced { tasks, indeterminate, source: _ } => {
            let in_flight = match tasks.len() {
                0 => None,
                1 => Some("1 task is in flight or not downloaded".to_owned()),
                count => Some(format!("{count} tasks are in flight or not downloaded")),
            };
            let uncertain = match indeterminate.len() {
                0 => None,
                1 => Some("1 submission may have been accepted".to_owned()),
                count => Some(format!("{count} submissions may have been accepted")),
            };
            let subjects: Vec<String> = [in_flight, uncertain].into_iter().flatten().collect();
            let subjects = subjects.join(", and ");
            let with_task = indeterminate.iter().filter_map(|(node, task)| Some((node, task.as_ref()?)));
            let all = tasks.iter().map(|(node, task)| (node, task)).chain(with_task);
            let mut task_arguments: Vec<String> =
                all.map(|(node, task)| shot_and_task(node, task.as_str())).collect();
            if subjects.is_empty() {
                return String::new();
            }
            if task_arguments.is_empty() {
                task_arguments.push("SHOT=TASK".to_owned());
            }
            let notes: String = indeterminate.iter().map(about_indeterminate).collect();
            format!(
                "\n  {subjects}: put the ledger back, or record them in a new one: runner ledger adopt {} --task {}{notes}",
                file.in_full(),
                task_arguments.join(" --task ")
            )
        }
        RunError::LedgerWrite { unrecorded, .. } => {
            let line = |UnrecordedTask { node, task, is_accepted, .. }: &UnrecordedTask| {
                let phrase = if *is_accepted {
                    "was accepted as task"
                } else {
                    "may have been accepted, and the response names task"
                };
                format!(
                    "\n  {} {phrase} {}, which could not be recorded: \
                     once the ledger can be written, run `{} {}`",
                    sanitize::line(node),
                    sanitize::line(task.as_str()),
                    resolve(file, &shell::quote(node)),
                    shell::option("--adopt", task.as_str())
                )
            };
            unrecorded.iter().map(line).collect()
        }
        RunError::Ledger(_) | RunError::Io(_) | RunError::Internal(_) => String::new(),
    }
}

/// `SHOT=TASK`, as one word of a command.
fn shot_and_task(node: &str, task: &str) -> String {
    shell::quote(&format!("{node}={task}"))
}

/// About a submission that may have been accepted, with the id of a task that its response named.
fn about_indeterminate((node, task): &(String, Option<TaskId>)) -> String {
    let shot = sanitize::line(node);
    match task {
        Some(task) => format!(
            "\n  {shot} may have been accepted, and the response names task {}: leave it out of the command if your account does not list it",
            sanitize::line(task.as_str())
        ),
        None => format!(
            "\n  {shot} may have been accepted: if your account lists its task, add --task {}",
            shot_and_task(node, "TASK")
        ),
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use engine::LedgerError;
    use scheduler::AttemptId;

    use super::*;

    /// An id that a shell would take for commands.
    const HOSTILE: &str = "t'; rm -rf ~ #`id`";

    fn removed() -> LedgerError {
        LedgerError::Replaced { path: "ledger.db".into(), what: "was removed or moved" }
    }

    #[test]
    fn ids_of_the_service_are_quoted_in_commands() {
        let tasks =
            Box::new([("lamp#2".to_owned(), TaskId::from(HOSTILE)), ("sea".to_owned(), TaskId::from("t1"))]);
        let error = RunError::LedgerReplaced { source: removed(), tasks, indeterminate: Box::default() };
        let text = adopt_commands(&error, &NamedWorkflow::new(Path::new("my film.yaml"), ""));
        let command =
            r"runner ledger adopt 'my film.yaml' --task 'lamp#2=t'\''; rm -rf ~ #`id`' --task sea=t1";
        assert!(text.ends_with(command), "{text}");

        let unrecorded = vec![UnrecordedTask {
            node: "sea".to_owned(),
            attempt: AttemptId::from("r.1"),
            task: TaskId::from(HOSTILE),
            is_accepted: true,
        }];
        let text = adopt_commands(
            &RunError::LedgerWrite { source: removed(), unrecorded },
            &NamedWorkflow::new(Path::new("a.yaml"), ""),
        );
        assert!(text.contains(r"runner resolve a.yaml sea --adopt 't'\''; rm -rf ~ #`id`'"), "{text}");
    }

    #[test]
    fn resolve_command_quotes_the_suggested_task() {
        let command = resolve_command("a.yaml", "r.1", Some(HOSTILE));
        assert!(
            command.contains(r"`runner resolve a.yaml r.1 --adopt 't'\''; rm -rf ~ #`id`'`"),
            "{command}"
        );
        assert!(resolve_command("a.yaml", "r.1", None).contains("--adopt TASK"));
    }

    #[test]
    fn missing_ledger_without_tasks_suggests_no_command() {
        let error = RunError::LedgerReplaced {
            source: removed(),
            tasks: Box::default(),
            indeterminate: Box::default(),
        };
        assert_eq!(adopt_commands(&error, &NamedWorkflow::new(Path::new("a.yaml"), "")), "");
    }

    #[test]
    fn submissions_without_an_outcome_are_named_where_the_ledger_is_gone() {
        let indeterminate =
            Box::new([("sea".to_owned(), Some(TaskId::from(HOSTILE))), ("a b".to_owned(), None)]);
        let error = RunError::LedgerReplaced { source: removed(), tasks: Box::default(), indeterminate };
        let text = adopt_commands(&error, &NamedWorkflow::new(Path::new("a.yaml"), ""));
        let lines: Vec<&str> = text.lines().map(str::trim_start).collect();
        assert_eq!(
            lines,
            [
                "",
                r"2 submissions may have been accepted: put the ledger back, or record them in a new one: runner ledger adopt a.yaml --task 'sea=t'\''; rm -rf ~ #`id`'",
                "sea may have been accepted, and the response names task t'; rm -rf ~ #`id`: leave it out of the command if your account does not list it",
                "a b may have been accepted: if your account lists its task, add --task 'a b=TASK'",
            ]
        );
    }
}
