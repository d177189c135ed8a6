//! Bugs planted on purpose: the simulation must catch each, or it proves nothing.

use std::path::Path;
use std::process::Command;

/// A feature of the engine that plants a bug, and the words of the oracle that catch it.
const PLANTED: &[(&str, &[&str])] = &[
    // A lost answer is taken for a refusal, and the shot submitted again.
    ("planted-repeat", &["was paid for"]),
    // A cap forgets what is held for tasks that are out.
    ("planted-overspend", &["under a cap of", "held and spent under"]),
    // A run that goes on submits before it has found what is out already.
    ("planted-overrun", &["were out under a limit of"]),
    // A submission whose answer was lost gives its place away at once.
    ("planted-forgetful", &["were out under a limit of"]),
    // Polls go on although the service has asked to wait.
    ("planted-haste", &["although it was asked to wait came"]),
    // A run makes shots that it was not told to make.
    ("planted-astray", &["in a run that may do so 0 times"]),
];

/// All are caught, or which are not.
pub(crate) fn check(root: &Path) -> Result<String, String> {
    let mut caught = Vec::new();
    for (feature, words) in PLANTED {
        let ran = Command::new("cargo")
            .args([
                "test",
                "--quiet",
                "-p",
                "engine",
                "--test",
                "simulation",
                "--features",
                feature,
                "nothing_is_paid_twice",
            ])
            .current_dir(root)
            .env("RUST_BACKTRACE", "0")
            .env("SIMULATION_SEEDS", "2000")
            .output()
            .map_err(|error| format!("cargo cannot be run: {error}"))?;
        let said =
            format!("{}{}", String::from_utf8_lossy(&ran.stdout), String::from_utf8_lossy(&ran.stderr));
        if ran.status.success() {
            return Err(format!("{feature}: the simulation does not notice"));
        }
        let found = said.lines().find(|line| words.iter().any(|word| line.contains(word)));
        let Some(found) = found else {
            return Err(format!("{feature}: the simulation fails for another reason:\n{said}"));
        };
        caught.push(format!("{feature}: {}", found.trim()));
    }
    Ok(format!("planted bugs are caught:\n{}", caught.join("\n")))
}
