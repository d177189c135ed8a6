//! What takes too long to run for every change. `.ci/run` runs a sample of most of it; the workflow `nightly` runs all of it.

use std::path::Path;
use std::process::Command;
use std::time::Instant;

use clap::Args;

/// Arguments of `cargo xtask nightly`.
#[derive(Debug, Args)]
pub(crate) struct Nightly {
    /// These steps only.
    #[arg(long, value_name = "STEP")]
    only: Vec<String>,
    /// Prints the steps with their commands, and runs none.
    #[arg(long)]
    list: bool,
}

struct Step {
    name: &'static str,
    /// A variable of the environment.
    variable: Option<(&'static str, &'static str)>,
    /// The command, without quotes; `xtask` is this program.
    command: &'static str,
}

const fn step(name: &'static str, command: &'static str) -> Step {
    Step { name, variable: None, command }
}

const STEPS: &[Step] = &[
    step("suite", "xtask suite --runs 20 --busy 10"),
    Step {
        name: "simulation",
        variable: Some(("SIMULATION_SEEDS", "10000")),
        command: "cargo test --locked --workspace --test simulation -- simulation_never_pays_twice",
    },
    step("mutants", "xtask mutants"),
    // Small files that ask for much, at their full size.
    step("bounds", "cargo test --release --locked -p workflow --test bounds"),
    step("campaign", "xtask campaign --seconds 900"),
    // The optional feature.
    step(
        "cluster-library",
        "cargo test --locked --workspace --features cluster/failpoints --lib --test cluster_simulation --test identity --test stores",
    ),
    step(
        "cluster-pages",
        "cargo test --locked --workspace --features tests/cluster --test cli -- quoted_commands cluster::",
    ),
    step("cluster", "xtask cluster test"),
    // The service from outside. Each says what it did not check where a registry cannot be reached.
    step("conformance", "xtask conformance"),
    step("tools", "xtask conformance --tools"),
    step("clients", "xtask clients"),
    step("handover", "xtask handover"),
];

/// Runs the steps; the error names those that failed.
pub(crate) fn run(root: &Path, args: &Nightly) -> Result<String, String> {
    if let Some(name) = args.only.iter().find(|name| STEPS.iter().all(|step| step.name != **name)) {
        return Err(format!("there is no step `{name}`; `cargo xtask nightly --list` lists them"));
    }
    let selected: Vec<&Step> = STEPS
        .iter()
        .filter(|step| args.only.is_empty() || args.only.iter().any(|name| name == step.name))
        .collect();
    if args.list {
        let lines: Vec<String> = selected.iter().map(ToString::to_string).collect();
        return Ok(lines.join("\n"));
    }
    let begin = Instant::now();
    let mut failed = Vec::new();
    for step in &selected {
        eprintln!("\n== {} min, {step}", begin.elapsed().as_secs() / 60);
        if !step.passes(root)? {
            failed.push(step.name);
        }
    }
    if failed.is_empty() {
        return Ok(format!("nightly: {} steps pass", selected.len()));
    }
    Err(format!("nightly: these steps failed: {}", failed.join(", ")))
}

impl Step {
    fn passes(&self, root: &Path) -> Result<bool, String> {
        let mut words = self.command.split(' ');
        let program = match words.next() {
            Some("xtask") => std::env::current_exe().map_err(|error| error.to_string())?,
            program => program.unwrap_or_default().into(),
        };
        let status = Command::new(program).args(words).envs(self.variable).current_dir(root).status();
        Ok(status.map_err(|error| format!("{}: {error}", self.command))?.success())
    }
}

impl std::fmt::Display for Step {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: ", self.name)?;
        if let Some((name, value)) = self.variable {
            write!(f, "{name}={value} ")?;
        }
        f.write_str(self.command)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn names_of_steps_are_unique() {
        let names: BTreeSet<&str> = STEPS.iter().map(|step| step.name).collect();
        assert_eq!(names.len(), STEPS.len());
    }

    /// What is moved out of `.ci/run` is run somewhere: the workflow that runs the steps has a schedule.
    #[test]
    fn workflow_runs_all_steps_on_a_schedule() {
        let workflow = include_str!("../../.github/workflows/nightly.yml");
        for text in ["schedule:", "cargo xtask nightly\n"] {
            assert!(workflow.contains(text), "{text}");
        }
    }
}
