//! Mutation test of the simulation: its oracle has to report a violation for each of a list of bugs that would cost money.
//!
//! Each bug is an edit of a temporary copy of the sources, so that no build of the product can contain it.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

use clap::Args;

use crate::repository;

/// Arguments of `cargo xtask mutants`.
#[derive(Debug, Args)]
pub(crate) struct Mutants {
    /// Only this many mutations, the first of the list.
    #[arg(long, value_name = "COUNT", default_value_t = usize::MAX, hide_default_value = true)]
    first: usize,
}

/// A simulation whose oracle has to report mutations.
struct Simulation {
    /// The name of the integration test.
    binary: &'static str,
    /// The features that it needs.
    features: &'static str,
    /// Its test that runs every seed.
    test: &'static str,
    mutations: &'static [Mutation],
    /// Seeds to try; each mutation is found long before the last.
    seeds: u32,
}

const SIMULATIONS: [Simulation; 2] = [
    Simulation {
        binary: "simulation",
        features: "engine/failpoints",
        test: "simulation_never_pays_twice",
        mutations: MUTATIONS,
        seeds: 2_000,
    },
    Simulation {
        binary: "cluster_simulation",
        features: "cluster/failpoints",
        test: "cluster_simulation_never_pays_twice",
        mutations: CLUSTER_MUTATIONS,
        // A seed takes a hundred times as long as one of the engine.
        seeds: 400,
    },
];

/// A bug, as an edit of one file.
struct Mutation {
    /// The effect of the mutation.
    name: &'static str,
    /// The file, relative to the repository.
    file: &'static str,
    /// Text that occurs in the file exactly once.
    original: &'static str,
    replacement: &'static str,
    /// Parts of the oracle's messages, of which one has to appear.
    violations: &'static [&'static str],
}

const MUTATIONS: &[Mutation] = &[
    Mutation {
        name: "a render that is asked for and was begun is begun again",
        file: "crates/scheduler/src/renders.rs",
        original: "own().find(|own| own.render == render && !is_lost(own)) {",
        replacement: "own().find(|own| own.render == render && !is_lost(own) && !has_work(own)) {",
        violations: &["are asked for"],
    },
    Mutation {
        name: "a render that is asked for is forgotten once it is submitted",
        file: "crates/engine/src/ledger/derived_tables.rs",
        original: "Event::Submitted { attempt, task, .. } => self.submit(attempt, task, self.time),",
        replacement: "Event::Submitted { attempt, task, .. } => {\n                renders::close_wish(self.transaction, attempt, WishEnd::Done)?;\n                self.submit(attempt, task, self.time)\n            }",
        violations: &["more renders, and was paid for"],
    },
    Mutation {
        name: "an indeterminate submission counts as not accepted and is repeated",
        file: "crates/engine/src/executor/effect_runner.rs",
        original: "match find_submission(&*provider, &attempt, request.digest(), since).await {",
        replacement: "match SubmissionLookup::Tasks([].into()) {",
        violations: &["was paid for", "under a cap of", "in a run that may do so"],
    },
    Mutation {
        name: "the budget ignores what is reserved for tasks in flight",
        file: "crates/engine/src/ledger/totals.rs",
        original: "let (mut sum, spent) = sums(transaction)?;",
        replacement: "let (mut sum, spent) = (Amount::default(), sums(transaction)?.1);",
        violations: &["under a cap of", "held and spent under"],
    },
    Mutation {
        name: "a resumed run submits before it has found the tasks in flight",
        file: "crates/scheduler/src/state/admission.rs",
        original: "if self.is_replay || self.queues.lookups > 0 || is_halted {",
        replacement: "if self.is_replay || is_halted {",
        violations: &["were out under a limit of"],
    },
    Mutation {
        name: "an indeterminate submission releases its slot at once",
        file: "crates/scheduler/src/state/queues.rs",
        original: "self.lane_mut(node).queues.held_slots.insert((until, node));",
        replacement: "let _ = (until, node);",
        violations: &["were out under a limit of"],
    },
    Mutation {
        name: "polls ignore Retry-After",
        file: "crates/scheduler/src/limits/poll_rate.rs",
        original: "self.hold_until.max(probe).filter(|until| *until > now)",
        replacement: "self.hold_until.max(probe).filter(|_| false)",
        violations: &["although it was asked to wait came"],
    },
    Mutation {
        name: "a server error counts as a refusal and is repeated",
        file: "crates/engine/src/provider/classify.rs",
        original: "        None => return None,\n    })",
        replacement: "        None if error.status >= 500 => (RefusalKind::Retryable, FailureKind::Transient),\n        None => return None,\n    })",
        violations: &["was paid for", "under a cap of", "in a run that may do so"],
    },
    Mutation {
        name: "a task that a run gives up is expired although its video has been stored meanwhile",
        file: "crates/engine/src/ledger/derived_tables.rs",
        original: "let has_video = state == AttemptState::Completed && self.has_been_stored(attempt)?;",
        replacement: "let has_video = false;",
        violations: &["was paid for again after its video was stored"],
    },
    Mutation {
        name: "a task that the service does not know is submitted again",
        file: "crates/scheduler/src/state/retry.rs",
        original: "self.after_not_found(node, *since, *expired, now).unwrap_or_else(poll_again)",
        replacement: "{ let _ = (expired, since); NextStep::Fail }",
        violations: &["was paid for", "is paid for, and", "were out under a limit of"],
    },
    Mutation {
        name: "an error beside another status counts as the end of the task",
        file: "crates/contract/src/answer/task.rs",
        original: "let defined = asked.first(&tasks.state.first)",
        replacement: "let defined = answer.get(\"error\").map(|_| TaskState::Failed).or(asked.first(&tasks.state.first))",
        violations: &["was paid for", "is paid for, and", "were out under a limit of"],
    },
    Mutation {
        name: "a `retry` pays for another task where the video of the first has been removed",
        file: "crates/scheduler/src/existing_work.rs",
        original: "!was_downloaded && (!is_missing || *is_expired)",
        replacement: "{ let _ = was_downloaded; !is_missing || *is_expired }",
        violations: &["was paid for again"],
    },
    Mutation {
        name: "events that are applied before they are stored are forgotten",
        file: "crates/engine/src/executor/event_log.rs",
        original: "let mut all = std::mem::take(&mut self.deferred);",
        replacement: "self.deferred = Vec::new();\n        let mut all: Vec<(Event, Persist)> = Vec::new();",
        violations: &["a replay ends otherwise", "tells otherwise", "table and projection disagree"],
    },
    Mutation {
        name: "a run submits shots that it does not select",
        file: "crates/scheduler/src/state/transitions/lookup_done.rs",
        original: "if !self.is_selected(node) && !matches!(existing, ExistingWork::Completed { .. }) {",
        replacement: "if false {",
        violations: &["in a run that may do so"],
    },
];

/// Bugs in the order of effects of the cluster.
const CLUSTER_MUTATIONS: &[Mutation] = &[
    Mutation {
        name: "a worker sends a POST whoever issued its token, and whether it was used or not",
        file: "crates/cluster/src/post_gate.rs",
        original: "token.boot == self.boot && matches!(self.lock().issued.get(&token.number), Some(None))\n    }\n\n    pub fn redeem(&self, token: &PostToken) -> TokenUse {\n        if token.boot != self.boot {\n            return TokenUse::Unknown;\n        }\n",
        replacement: "!matches!(self.lock().issued.get(&token.number), Some(Some(_)))\n    }\n\n    pub fn redeem(&self, token: &PostToken) -> TokenUse {\n        self.lock().issued.insert(token.number, None);\n",
        violations: &["was paid for", "tasks under a cap of"],
    },
    Mutation {
        name: "a POST is sent before what allows it is journalled",
        file: "crates/cluster/src/node/submission.rs",
        original: "TurnOutcome::Token { token, turn, time } => (token, turn, time),",
        replacement: "TurnOutcome::Token { turn, time, .. } => (worker.gate.issue(), turn, time),",
        violations: &["was paid for", "tasks under a cap of"],
    },
    Mutation {
        name: "a service that knows no task is not asked again after the time that a POST can take",
        file: "crates/cluster/src/node/submission.rs",
        original: "ctx.sleep(delay).await?;",
        replacement: "let _ = delay;",
        violations: &["was paid for", "is paid for, and", "were out under a limit of"],
    },
    Mutation {
        name: "the account's caps ignore what is reserved for tasks in flight",
        file: "crates/cluster/src/account/state.rs",
        original: "let mut sum = self.reserved();",
        replacement: "let mut sum = Amount::default();",
        violations: &["tasks under a cap of"],
    },
];

/// Runs each simulation with each of its mutations. Without one it is a test like others.
pub(crate) fn run(root: &Path, args: &Mutants) -> Result<String, String> {
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    let sources = folder.path().join("sources");
    copy(root, &sources)?;
    set_mutated_version(&sources)?;
    let all: usize = SIMULATIONS.iter().map(|simulation| simulation.mutations.len()).sum();
    let mut caught = 0;
    for simulation in &SIMULATIONS {
        let mutations = &simulation.mutations[..simulation.mutations.len().min(args.first - caught)];
        for mutation in mutations {
            mutation.try_out(root, &sources, simulation)?;
            caught += 1;
        }
    }
    Ok(format!("mutants: {caught} of {all} mutations were tried, and all are caught"))
}

impl Mutation {
    /// Fails unless the simulation reports the bug.
    fn try_out(&self, root: &Path, sources: &Path, simulation: &Simulation) -> Result<(), String> {
        let file = sources.join(self.file);
        let text = fs_err::read_to_string(&file).map_err(|error| error.to_string())?;
        fs_err::write(&file, self.apply(&text)?).map_err(|error| error.to_string())?;
        let (passed, output) = simulate(root, sources, simulation, simulation.seeds)?;
        fs_err::write(&file, text).map_err(|error| error.to_string())?;
        let name = self.name;
        if passed {
            return Err(format!("mutation not caught: {name}"));
        }
        let line =
            output.lines().find(|line| self.violations.iter().any(|violation| line.contains(violation)));
        let line = line
            .ok_or_else(|| format!("the simulation fails for another reason than that {name}:\n{output}"))?;
        eprintln!("caught: {name}\n    {}", line.trim());
        Ok(())
    }

    fn apply(&self, text: &str) -> Result<String, String> {
        match text.matches(self.original).count() {
            1 => Ok(text.replacen(self.original, self.replacement, 1)),
            count => Err(format!("{}: {count} times, not once: {}", self.file, self.original)),
        }
    }
}

/// Copies the sources with the times of their last changes, by which cargo knows what it need not build again.
fn copy(root: &Path, to: &Path) -> Result<(), String> {
    let copy_file = |name: &str| -> std::io::Result<()> {
        let (source, target) = (root.join(name), to.join(name));
        fs_err::create_dir_all(target.parent().unwrap_or(to))?;
        fs_err::copy(&source, &target)?;
        let modified = fs_err::metadata(&source)?.modified()?;
        fs_err::OpenOptions::new().write(true).open(&target)?.file().set_modified(modified)
    };
    repository::files(root)?.iter().try_for_each(|name| copy_file(name)).map_err(|error| error.to_string())
}

/// Gives the packages that are mutated another version. Cargo names what it builds by package and version, and not by the folder of the
/// workspace: a mutated library would otherwise replace the repository's own in the shared target folder, and later tests would run it. What
/// it has built of the other packages is used as it is.
fn set_mutated_version(sources: &Path) -> Result<(), String> {
    let version = concat!("version = \"", env!("CARGO_PKG_VERSION"), "\"");
    let mutated = concat!("version = \"", env!("CARGO_PKG_VERSION"), "-mutated\"");
    let mutations = SIMULATIONS.iter().flat_map(|simulation| simulation.mutations);
    let packages: BTreeSet<&str> = mutations.filter_map(|mutation| mutation.file.split('/').nth(1)).collect();
    for package in packages {
        let manifest = format!("crates/{package}/Cargo.toml");
        replace_once(&sources.join(manifest), "\nversion.workspace = true", &format!("\n{mutated}"))?;
        let entry = |version| format!("name = \"{package}\"\n{version}\n");
        replace_once(&sources.join("Cargo.lock"), &entry(version), &entry(mutated))?;
    }
    Ok(())
}

fn replace_once(file: &Path, original: &str, replacement: &str) -> Result<(), String> {
    let text = fs_err::read_to_string(file).map_err(|error| error.to_string())?;
    match text.matches(original).count() {
        1 => fs_err::write(file, text.replacen(original, replacement, 1)).map_err(|error| error.to_string()),
        count => Err(format!("{}: {count} times, not once: {original}", file.display())),
    }
}

/// Whether the simulation passes, and its output. It is built with the features of the ordinary tests and in their target folder, so that the
/// dependencies are built once.
fn simulate(
    root: &Path,
    sources: &Path,
    Simulation { binary, features, test, .. }: &Simulation,
    seeds: u32,
) -> Result<(bool, String), String> {
    let output = Command::new("cargo")
        .args(["test", "--quiet", "--locked", "--workspace", "--features", features, "--test", binary])
        .args(["--", "--exact", test])
        .current_dir(sources)
        .env("CARGO_TARGET_DIR", root.join("target"))
        .env("RUST_BACKTRACE", "0")
        .env("SIMULATION_SEEDS", seeds.to_string())
        .env_remove("SIMULATION_SEED")
        .output()
        .map_err(|error| format!("cargo cannot be run: {error}"))?;
    let text =
        format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    Ok((output.status.success(), text))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(file: &str) -> String {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
        fs_err::read_to_string(root.join(file)).unwrap()
    }

    /// A renamed item breaks a mutation only in the long run of `cargo xtask mutants`; this finds it in the ordinary suite.
    #[test]
    fn each_mutation_applies_to_the_sources() {
        for mutation in SIMULATIONS.iter().flat_map(|simulation| simulation.mutations) {
            let text = read(mutation.file);
            let mutated = mutation.apply(&text).unwrap();
            assert_ne!(mutated, text, "{}", mutation.name);
            for name in mutation.replacement.split(|c: char| !c.is_alphanumeric() && c != '_') {
                let is_known = matches!(name, "false") || text.contains(name);
                assert!(is_known, "{}: no `{name}` in {}", mutation.name, mutation.file);
            }
        }
    }

    #[test]
    fn simulations_have_the_expected_tests_and_messages() {
        for (simulation, file) in SIMULATIONS
            .iter()
            .zip(["crates/engine/tests/simulation.rs", "crates/cluster/tests/cluster_simulation.rs"])
        {
            let text = read(file);
            assert!(file.contains(simulation.binary));
            assert!(text.contains(&format!("fn {}()", simulation.test)));
            for violation in simulation.mutations.iter().flat_map(|mutation| mutation.violations) {
                assert!(text.contains(violation), "{violation}");
            }
        }
    }
}
