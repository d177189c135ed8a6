//! Reads status records from the ledger. The projections of runs are kept, so that a refresh costs only the new events.

use std::collections::{BTreeSet, HashMap};
use std::path::PathBuf;

use engine::LedgerError;
use engine::ledger::{LedgerReader, OpenAttempt, PlanArguments, RunRow};
use engine::records::RunRecords;
use scheduler::{AttemptId, Halt, RunId, RunProjection, ShotStatus, StatusKind, TaskId, Timestamp};
use workflow::AskedRenders;
use workflow::plan::Plan;

use super::record::{
    ActionNeeded, ActionReason, Retry, Run, RunLiveness, Shot, StatusCounts, StatusRecord, Totals,
};
use super::source::StatusSource;
use super::task_action::about_task;
use crate::hints;
use crate::load;
use crate::project_paths::ProjectPaths;
use crate::report::{sanitize, stream};
use crate::shell;
use crate::task_owners::{TaskOwner, TaskOwners};
use workflow::services::is_rehearsal;

#[derive(Debug)]
pub(crate) struct StatusQuery {
    /// The workflow file as the user wrote it, quoted for a shell; `FILE` where none was named.
    pub(crate) file: String,
    /// The workflow file or its folder, quoted for a shell.
    pub(crate) project: String,
    /// Whether runs are on a cluster.
    pub(crate) is_cluster: bool,
    /// Maximum number of finished runs.
    pub(crate) ended: u32,
    /// The workflow file that was named; `None` for all of the folder.
    pub(crate) workflow: Option<WorkflowFile>,
    /// The plan of the workflow file, if one was named and it is valid.
    pub(crate) plan: Option<Plan>,
    pub(crate) projections: HashMap<RunId, RunProjection>,
    pub(crate) owners: TaskOwners,
}

/// A workflow file whose runs are queried.
#[derive(Debug)]
pub(crate) struct WorkflowFile {
    /// Its name, as runs record it.
    pub(crate) name: String,
    pub(crate) folder: PathBuf,
}

/// The status at one instant.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct StatusSnapshot {
    pub(crate) runs: Vec<Run>,
    /// Whether any run is recorded, shown or not.
    pub(crate) has_runs: bool,
    pub(crate) shots: Vec<Shot>,
    pub(crate) action_needed: Vec<ActionNeeded>,
    pub(crate) totals: Totals,
    /// What `run --rerun` has asked for and is not done: the instances, and the command that continues it.
    pub(crate) asked: Option<(Vec<String>, String)>,
}

impl StatusSnapshot {
    /// Whether any run is alive.
    pub(crate) fn is_alive(&self) -> bool {
        self.runs.iter().any(|run| matches!(run.state, RunLiveness::Alive | RunLiveness::Ending))
    }

    pub(crate) fn records(&self) -> Vec<StatusRecord> {
        let runs = self.runs.iter().cloned().map(StatusRecord::Run);
        let shots = self.shots.iter().cloned().map(StatusRecord::Shot);
        let action_needed = self.action_needed.iter().cloned().map(StatusRecord::ActionNeeded);
        runs.chain(shots).chain(action_needed).chain([StatusRecord::Totals(self.totals.clone())]).collect()
    }
}

impl StatusQuery {
    /// Reads the records; `None` if there is no ledger.
    pub(crate) async fn read(
        &mut self,
        source: &StatusSource,
    ) -> Result<Option<StatusSnapshot>, LedgerError> {
        match source {
            StatusSource::Ledger(file) => match LedgerReader::open(file)? {
                Some(reader) => self.read_from(&reader).await.map(Some),
                None => Ok(None),
            },
            #[cfg(feature = "cluster")]
            StatusSource::Cluster(records) => self.read_from(&**records).await.map(Some),
        }
    }

    async fn read_from(&mut self, records: &dyn RunRecords) -> Result<StatusSnapshot, LedgerError> {
        // What needs action follows from the latest run also where it is not shown.
        let ended = if self.workflow.is_some() { u32::MAX } else { self.ended.max(1) };
        let (mut rows, others): (Vec<RunRow>, Vec<RunRow>) = records
            .runs(ended)
            .await?
            .into_iter()
            .partition(|row| self.is_of_file(&row.workflow, row.arguments.as_ref()));
        let (reserved, spent) = if self.workflow.is_some() {
            records.spending_of(&rows.iter().map(|row| row.run.clone()).collect()).await?
        } else {
            records.spending().await?
        };
        let mut ended = 0;
        rows.retain(|row| {
            ended += u32::from(!row.is_alive);
            row.is_alive || ended <= self.ended.max(1)
        });
        let is_anyone_alive = rows.iter().any(|row| row.is_alive);
        // Shots of live runs, or otherwise of the latest run.
        let shown: Vec<&RunRow> = rows
            .iter()
            .enumerate()
            .filter(|(index, row)| row.is_alive || !is_anyone_alive && *index == 0)
            .map(|(_, row)| row)
            .collect();
        // Live runs of other files may have adopted tasks of this one.
        let alive_others: Vec<&RunRow> = others.iter().filter(|row| row.is_alive).collect();
        let projected = || shown.iter().chain(&alive_others);
        self.projections.retain(|run, _| projected().any(|row| row.run == *run));
        for row in projected() {
            let projection = self.projections.entry(row.run.clone()).or_default();
            for event in records.events(&row.run, projection.last_seq()).await? {
                projection.on_event(event);
            }
            if !row.is_alive {
                // A run that has died goes on with nothing either.
                projection.on_run_ended(row.ended_at.unwrap_or_else(|| projection.last_time()));
            }
        }
        let deciding = self.deciding_attempts(&shown);
        let attempts: Vec<AttemptId> = deciding.values().cloned().collect();
        let present = records.present_attempts(&attempts).await?;
        let mut open_attempts = records.open_attempts().await?;
        open_attempts.retain(|open| self.is_of_file(&open.workflow, open.arguments.as_ref()));
        for (attempt, _) in present.iter().filter(|(_, attempt)| attempt.has_no_file) {
            open_attempts.extend(records.open_attempt(attempt).await?);
        }
        let totals = Totals { reserved: stream::amount(reserved), spent: stream::amount(spent) };
        let owners = self.owners.find(records, &open_attempts).await?;
        let mut shots: Vec<Shot> = shown.iter().flat_map(|row| self.shots(row)).collect();
        for shot in &mut shots {
            let attempt = deciding.get(&(shot.run.clone(), shot.shot.clone()));
            if let Some(state) = attempt.and_then(|attempt| present.get(attempt)) {
                shot.update(state.state_in_lookup());
            }
        }
        let open_attempts: Vec<_> = open_attempts.iter().zip(owners).collect();
        let action_needed = self.action_needed(&rows, &alive_others, open_attempts, &shots);
        let is_listed = |row: &&RunRow| row.is_alive || self.ended > 0;
        let runs: Vec<Run> = rows.iter().filter(is_listed).map(|row| self.run(row, &shots)).collect();
        shots.retain(|shot| runs.iter().any(|run| run.run == shot.run));
        Ok(StatusSnapshot {
            runs,
            has_runs: !rows.is_empty(),
            shots,
            action_needed,
            totals,
            asked: self.asked(),
        })
    }

    fn asked(&self) -> Option<(Vec<String>, String)> {
        let (plan, folder) = (self.plan.as_ref()?, &self.workflow.as_ref()?.folder);
        let asked = load::asked_renders(&ProjectPaths::for_workflow(folder).ok()?).remove(plan.name())?;
        let is_open = |(instance, asked): &(String, AskedRenders)| {
            asked.open.is_some() && scheduler::renders::is_instance_of(plan, instance)
        };
        let open: Vec<String> = asked.into_iter().filter(is_open).map(|(instance, _)| instance).collect();
        (!open.is_empty()).then(|| (open, format!("runner run {}", self.file)))
    }

    /// Whether a run with this workflow and these arguments is of the file that was named. A run of a file that is gone is of the one that has its
    /// workflow now: the file was renamed.
    fn is_of_file(&self, workflow: &str, arguments: Option<&PlanArguments>) -> bool {
        let Some(file) = &self.workflow else { return true };
        let is_same_workflow = || self.plan.as_ref().is_some_and(|plan| plan.name() == workflow);
        match arguments {
            Some(arguments) if arguments.file == file.name => true,
            Some(arguments) => is_same_workflow() && !file.folder.join(&arguments.file).exists(),
            None => self.plan.is_none() || is_same_workflow(),
        }
    }

    /// The attempts that decide the states of shots that runs have left without a video, by run and shot: the runs may have died, and other
    /// commands may have changed the attempts since.
    fn deciding_attempts(&self, shown: &[&RunRow]) -> HashMap<(String, String), AttemptId> {
        let shown = shown.iter().filter_map(|row| Some((row, self.projections.get(&row.run)?)));
        shown
            .flat_map(|(row, projection)| projection.shots().map(move |(name, shot)| (row, name, shot)))
            .filter(|(row, _, shot)| !row.is_alive || shot.outcome().is_some())
            .filter(|(_, _, shot)| !shot.kind().is_done())
            .filter_map(|(row, name, shot)| {
                let attempt = shot.deciding_attempt()?.id.clone();
                Some(((row.run.to_string(), name.to_owned()), attempt))
            })
            .collect()
    }

    fn run(&self, row: &RunRow, shots: &[Shot]) -> Run {
        let projection = self.projections.get(&row.run);
        let of_run = || shots.iter().filter(|shot| shot.run == row.run.as_str());
        let counts: Option<StatusCounts> = projection.map(|_| of_run().map(|shot| shot.state).collect());
        let state = match (row.is_alive, row.ended_at) {
            (true, _)
                if projection.is_some_and(|projection| projection.halt() == Some(&Halt::Interrupted)) =>
            {
                RunLiveness::Ending
            }
            (true, _) => RunLiveness::Alive,
            (false, Some(_)) => RunLiveness::Ended,
            (false, None) => RunLiveness::Died,
        };
        Run {
            run: row.run.to_string(),
            workflow: row.workflow.clone(),
            service: row.service.clone(),
            state,
            started_at: row.started_at,
            ended_at: row.ended_at,
            shots: counts,
        }
    }

    fn shots(&self, row: &RunRow) -> Vec<Shot> {
        let Some(projection) = self.projections.get(&row.run) else { return Vec::new() };
        projection
            .shots()
            .map(|(name, shot)| {
                let attempt = shot.attempts().last().map(|attempt| &attempt.id);
                Shot {
                    run: row.run.to_string(),
                    shot: name.to_owned(),
                    state: shot.kind(),
                    since: shot.since(),
                    retry: match shot.status() {
                        ShotStatus::WaitingForRetry { attempt, of, not_before } => {
                            Some(Retry { number: *attempt, of: *of, not_before: *not_before })
                        }
                        _ => None,
                    },
                    attempt: attempt.map(ToString::to_string),
                    task: shot.task().map(ToString::to_string),
                    failure: shot.last_error().map(sanitize::message),
                    after_run: None,
                }
            })
            .collect()
    }

    fn action_needed(
        &self,
        rows: &[RunRow],
        alive_others: &[&RunRow],
        open_attempts: Vec<(&OpenAttempt, TaskOwner)>,
        shots: &[Shot],
    ) -> Vec<ActionNeeded> {
        let alive = rows.iter().filter(|row| row.is_alive).chain(alive_others.iter().copied());
        let handled: BTreeSet<&str> = alive
            .filter_map(|row| self.projections.get(&row.run))
            .flat_map(RunProjection::shots)
            // Also what waits for its next attempt.
            .filter(|(_, shot)| shot.outcome().is_none())
            .filter_map(|(_, shot)| Some(shot.attempts().last()?.id.as_str()))
            .collect();
        let unhandled =
            open_attempts.into_iter().filter(|(open, _)| !handled.contains(open.attempt.as_str()));
        let attempts = unhandled.map(|(open, owner)| {
            let file = &self.file;
            let (reason, action) = match &open.task {
                Some(task) => about_task(self, open, task, owner),
                None if is_rehearsal(&open.service) => (
                    ActionReason::Indeterminate,
                    format!("`runner run {file}` asks the embedded service for its outcome"),
                ),
                None => (
                    ActionReason::Indeterminate,
                    hints::resolve_command(
                        file,
                        open.attempt.as_str(),
                        open.suggested_task.as_ref().map(TaskId::as_str),
                    ),
                ),
            };
            ActionNeeded {
                reason,
                shot: open.node.clone(),
                workflow: open.workflow.clone(),
                service: open.service.clone(),
                since: open.since,
                attempt: Some(open.attempt.to_string()),
                task: open.task.as_ref().map(ToString::to_string),
                suggested_task: open.suggested_task.as_ref().map(ToString::to_string),
                reserved: open.reserved_cost,
                failure: open.trouble.as_deref().map(sanitize::message),
                action,
            }
        });
        attempts.chain(self.unrecorded(rows, shots)).chain(self.picks(rows, shots)).collect()
    }

    /// Shots that were not submitted because of videos that the ledger does not know.
    fn unrecorded(&self, rows: &[RunRow], shots: &[Shot]) -> Vec<ActionNeeded> {
        let unrecorded = shots.iter().filter(|shot| shot.state == StatusKind::Unrecorded);
        unrecorded
            .filter_map(|shot| {
                let row = rows.iter().find(|row| row.run.as_str() == shot.run)?;
                let file = row.arguments.as_ref().map(|arguments| self.owners.named(arguments).in_full());
                let file = file.unwrap_or_else(|| self.file.clone());
                let action = format!("`runner ledger adopt {file}` records it");
                let (reason, shot, since) = (ActionReason::Unrecorded, shot.shot.clone(), shot.since);
                Some(ActionNeeded::without_attempt(row, reason, shot, since, action))
            })
            .collect()
    }

    /// Open picks that have videos in the latest run of the workflow.
    fn picks(&self, rows: &[RunRow], shots: &[Shot]) -> Vec<ActionNeeded> {
        let Some(plan) = &self.plan else { return Vec::new() };
        let workflow = plan.name();
        let Some(row) = rows.iter().find(|row| row.workflow == workflow) else { return Vec::new() };
        let done_at: HashMap<&str, Timestamp> = shots
            .iter()
            .filter(|shot| shot.run == row.run.as_str() && shot.state.is_done())
            .map(|shot| (shot.shot.as_str(), shot.since))
            .collect();
        plan.open_picks()
            .into_iter()
            .filter_map(|pick| {
                let names = pick.candidates.iter().map(|ix| plan.node(*ix).name.as_str());
                let since = names.filter_map(|name| done_at.get(name)).max()?;
                let action = format!(
                    "`runner pick {} {}` lists its {} {}; pick one, then run again",
                    self.file,
                    shell::quote(&pick.name),
                    pick.candidates.len(),
                    pick.noun()
                );
                let (reason, shot) = (ActionReason::Unpicked, pick.name.to_string());
                Some(ActionNeeded::without_attempt(row, reason, shot, *since, action))
            })
            .collect()
    }
}
