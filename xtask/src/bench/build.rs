//! Time and processor time of a clean release build of the program, and the crates that take most of it; beside an earlier commit if one is named.

use std::fmt::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use serde_json::Value;

use super::load::children_cpu_seconds;

/// How many crates are listed.
const LISTED: usize = 25;

struct BuildTimes {
    seconds: f64,
    cpu: f64,
    /// Name, version and seconds of each unit, the longest first.
    units: Vec<(String, f64)>,
}

pub(super) fn measure(root: &Path, against: Option<&str>) -> Result<String, String> {
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    let current = build(root, &folder.path().join("own"))?;
    let mut report = format!(
        "clean release build: {:.0} s, {:.0} s of CPU time, {} units\n",
        current.seconds,
        current.cpu,
        current.units.len()
    );
    if let Some(commit) = against {
        let checkout = folder.path().join("checkout");
        let path = checkout.to_string_lossy().into_owned();
        git(root, &["worktree", "add", "--quiet", "--detach", &path, commit])?;
        let baseline = build(&checkout, &folder.path().join("other"));
        git(root, &["worktree", "remove", "--force", &path])?;
        let baseline = baseline?;
        let _ = writeln!(
            report,
            "{commit}: {:.0} s, {:.0} s of CPU time, {} units; ratio {:.2} of the CPU time",
            baseline.seconds,
            baseline.cpu,
            baseline.units.len(),
            current.cpu / baseline.cpu
        );
    }
    let total: f64 = current.units.iter().map(|(_, seconds)| seconds).sum();
    report.push_str("share of the time of all units:\n");
    for (name, seconds) in current.units.iter().take(LISTED) {
        let _ = writeln!(report, "  {:4.1} %  {seconds:5.1} s  {name}", 100.0 * seconds / total);
    }
    Ok(report)
}

pub(super) fn git(root: &Path, arguments: &[&str]) -> Result<(), String> {
    let status = Command::new("git").args(arguments).current_dir(root).status();
    let succeeded = status.map_err(|error| format!("git cannot be run: {error}"))?.success();
    if succeeded { Ok(()) } else { Err(format!("git {} failed", arguments.join(" "))) }
}

/// What git prints, without the line's end.
pub(super) fn git_output(root: &Path, arguments: &[&str]) -> Result<String, String> {
    let output = Command::new("git").args(arguments).current_dir(root).stderr(Stdio::inherit()).output();
    let output = output.map_err(|error| format!("git cannot be run: {error}"))?;
    if output.status.success() {
        Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
    } else {
        Err(format!("git {} failed", arguments.join(" ")))
    }
}

/// Builds what `cargo run --release` would, into an empty folder.
fn build(checkout: &Path, target: &Path) -> Result<BuildTimes, String> {
    let before = children_cpu_seconds()?;
    let started = Instant::now();
    let status = Command::new("cargo")
        .args(["build", "--release", "--locked", "--quiet", "--timings"])
        .current_dir(checkout)
        .env("CARGO_TARGET_DIR", target)
        .stdout(Stdio::null())
        .status()
        .map_err(|error| format!("cargo cannot be run: {error}"))?;
    if !status.success() {
        return Err(format!("{} cannot be built", checkout.display()));
    }
    let (seconds, cpu) = (started.elapsed().as_secs_f64(), children_cpu_seconds()? - before);
    let page = fs_err::read_to_string(target.join("cargo-timings/cargo-timing.html"))
        .map_err(|error| error.to_string())?;
    let units = units(&page).ok_or("the timings of cargo have an unexpected format")?;
    fs_err::remove_dir_all(target).map_err(|error| error.to_string())?;
    Ok(BuildTimes { seconds, cpu, units })
}

/// The units of a page of timings. Its data is a line of JavaScript: `const UNIT_DATA = […];`.
fn units(page: &str) -> Option<Vec<(String, f64)>> {
    let (_, rest) = page.split_once("const UNIT_DATA = ")?;
    let mut data = serde_json::Deserializer::from_str(rest).into_iter::<Value>();
    let data = data.next()?.ok()?;
    let mut units: Vec<(String, f64)> = data
        .as_array()?
        .iter()
        .filter_map(|unit| {
            let text = |name: &str| unit.get(name).and_then(Value::as_str);
            let name =
                format!("{} {}{}", text("name")?, text("version")?, text("target").unwrap_or_default());
            Some((name, unit.get("duration")?.as_f64()?))
        })
        .collect();
    units.sort_by(|(_, a), (_, b)| b.total_cmp(a));
    Some(units)
}

#[cfg(test)]
mod tests {
    use super::units;

    #[test]
    fn units_of_a_page_are_sorted_by_time() {
        let page = "<script>\nconst UNIT_DATA = [{\"name\": \"a\", \"version\": \"1.0.0\", \"target\": \"\", \"duration\": 1.5},\n\
            {\"name\": \"b\", \"version\": \"2.0.0\", \"target\": \" build-script\", \"duration\": 2}];\nconst OTHER = [];";
        let expected = [("b 2.0.0 build-script".to_owned(), 2.0), ("a 1.0.0".to_owned(), 1.5)];
        assert_eq!(units(page).as_deref(), Some(expected.as_slice()));
        assert_eq!(units("<html>"), None);
    }
}
