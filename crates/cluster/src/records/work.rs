//! Records of work: the objects of keys, and the renders and films of a workflow's runs.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use engine::LedgerError;
use engine::artifact_store::Verify;
use engine::ledger::WorkAtServices;
use engine::provider::Accounts;
use engine::records::{ShotAttempt, WorkReading, WorkRecords};
use scheduler::last_run::RunRecord;
use scheduler::{Artifact, AttemptId, ExistingWork, Film, KeyResolver, RunId, StateInRun};
use workflow::plan::{NodeKey, Plan};

use super::{ClusterRecords, lock};
use crate::download_films::download_film;
use crate::store::ObjectKind;

/// Runs that are searched for a film, the latest first.
const MAX_FILM_RUNS: usize = 8;

impl WorkRecords for ClusterRecords {
    fn key_resolver<'a>(&'a self, plan: &'a Plan, service: &'a str) -> WorkReading<'a, KeyResolver> {
        Box::pin(async move {
            let renders = self.client.renders(plan.name()).await?.snapshot(plan).renders();
            Ok(KeyResolver::new(service).with_renders(renders))
        })
    }

    fn existing_work<'a>(
        &'a self,
        keys: &'a [NodeKey],
        accounts: &'a Accounts,
        _verify: &'a Verify,
    ) -> WorkReading<'a, Vec<ExistingWork>> {
        let account = accounts.digest(&self.description.service);
        Box::pin(async move {
            let mut existing = Vec::with_capacity(keys.len());
            for record in self.nodes(keys).await? {
                let is_stored = match record.video_to_reuse() {
                    Some(artifact) => {
                        self.store.has(ObjectKind::Artifact, &artifact.sha256, artifact.bytes).await?
                    }
                    None => false,
                };
                existing.push(record.existing_work(account, |_| is_stored));
            }
            Ok(existing)
        })
    }

    fn work_at_services(&self) -> WorkReading<'_, WorkAtServices> {
        // Runs on a cluster do not look for it either.
        Box::pin(std::future::ready(Ok(HashMap::new())))
    }

    // A run on a cluster is found by the name of its workflow: its file may be on another machine.
    fn last_run<'a>(&'a self, workflow: &'a str, _file: &'a Path) -> WorkReading<'a, Option<RunRecord>> {
        Box::pin(async move {
            let Some(entry) = self.client.runs(Some(workflow)).await?.into_iter().next() else {
                return Ok(None);
            };
            let Some(log) = self.log(&entry.run).await? else { return Ok(None) };
            let (started_at, projection) = (log.started(), log.projection().clone());
            Ok(Some(RunRecord { run: entry.run, started_at, projection }))
        })
    }

    fn states_in_runs<'a>(
        &'a self,
        others: &'a HashSet<RunId>,
    ) -> WorkReading<'a, HashMap<AttemptId, StateInRun>> {
        Box::pin(async move {
            let entries = self.client.runs(self.workflow.as_deref()).await?.into_iter();
            let alive: HashSet<RunId> =
                entries.filter(|entry| entry.ended.is_none()).map(|entry| entry.run).collect();
            let mut states = HashMap::new();
            let ended = others.difference(&alive).map(|run| (run, false));
            for (run, is_alive) in ended.chain(alive.iter().map(|run| (run, true))) {
                let Some(log) = self.log(run).await? else { continue };
                let mut projection = log.projection().clone();
                if !is_alive {
                    projection.on_run_ended(projection.last_time());
                }
                let by_attempt = projection.states_by_attempt(is_alive);
                states.extend(by_attempt.map(|(attempt, state)| (attempt.clone(), state)));
            }
            Ok(states)
        })
    }

    fn short_keys(&self) -> WorkReading<'_, HashSet<String>> {
        // There is no list of all keys.
        Box::pin(std::future::ready(Ok(HashSet::new())))
    }

    fn attempts_of_shot<'a>(&'a self, shot: &'a str) -> WorkReading<'a, Vec<ShotAttempt>> {
        Box::pin(std::future::ready(Ok(self.attempts_of_shot(shot))))
    }

    fn film<'a>(&'a self, plan: &'a Plan, path: &'a Path) -> WorkReading<'a, Option<Film>> {
        Box::pin(self.find_film(plan, path))
    }

    fn localize<'a>(&'a self, video: Artifact, target: &'a Path) -> WorkReading<'a, Artifact> {
        Box::pin(async move {
            // As a ledger does unless asked to verify: named by its key, and of its size.
            let is_here = std::fs::metadata(target).is_ok_and(|metadata| metadata.len() == video.bytes);
            if !is_here {
                self.store.get_file(ObjectKind::Artifact, &video.sha256, target).await?;
            }
            Ok(Artifact { path: target.to_owned(), ..video })
        })
    }
}

impl ClusterRecords {
    fn attempts_of_shot(&self, shot: &str) -> Vec<ShotAttempt> {
        let is_of_shot = |name: &str| {
            name.strip_prefix(shot).is_some_and(|rest| rest.is_empty() || rest.starts_with(['@', '#']))
        };
        let nodes = lock(&self.nodes);
        let all =
            nodes.iter().flat_map(|(key, record)| record.attempts.iter().map(move |attempt| (key, attempt)));
        let mut attempts: Vec<ShotAttempt> = all
            .filter(|(_, attempt)| is_of_shot(&attempt.name))
            .map(|(key, attempt)| ShotAttempt {
                attempt: attempt.id.clone(),
                run: attempt.run.clone(),
                key: Some(attempt.recorded_key(*key)),
                node: attempt.name.clone(),
                state: attempt.state,
                intended_at: attempt.intended_at,
                task: attempt.task.clone(),
                failure: attempt.reason.clone(),
                reserved_cost: attempt.reservation.and_then(|reservation| reservation.cost),
                elapsed: None,
            })
            .collect();
        attempts.sort_by(|left, right| {
            (right.intended_at, &right.attempt.0).cmp(&(left.intended_at, &left.attempt.0))
        });
        attempts
    }

    /// The film of the latest run that joined it, brought to its path.
    async fn find_film(&self, plan: &Plan, path: &Path) -> Result<Option<Film>, LedgerError> {
        let (Some(name), Some(folder)) = (path.file_name().and_then(|name| name.to_str()), path.parent())
        else {
            return Ok(None);
        };
        for entry in self.client.runs(Some(plan.name())).await?.into_iter().take(MAX_FILM_RUNS) {
            let Some(log) = self.log(&entry.run).await? else { continue };
            let index = log.plan.films().iter().position(|film| film.output == name);
            let Some((index, film)) = index.and_then(|index| Some((index, log.films.get(&index)?))) else {
                continue;
            };
            let file = (entry.run.clone(), path.to_owned());
            if !lock(&self.brought).contains(&file) || !path.is_file() {
                download_film(&self.client, &self.store, &entry.run, &log.plan, index, folder).await?;
                lock(&self.brought).insert(file);
            }
            return Ok(Some(Film { path: path.to_owned(), ..film.clone() }));
        }
        Ok(None)
    }
}

#[cfg(test)]
#[path = "work_tests.rs"]
mod tests;
