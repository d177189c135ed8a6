//! From file to plan: runs the benchmark of `workflow` (criterion), and compares its medians with the bounds.

use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use serde_json::Value;

/// Upper bounds of CPU time, by the benchmark's name: 10,000 instances and 100,000.
const BOUNDS: [(&str, Duration); 4] = [
    ("file_to_plan/sweep/10000", Duration::from_millis(150)),
    ("file_to_plan/chains/10000", Duration::from_millis(150)),
    ("file_to_plan/sweep/100000", Duration::from_secs(2)),
    ("file_to_plan/chains/100000", Duration::from_secs(2)),
];

/// The medians; an error where one exceeds its bound.
pub(super) fn measure(root: &Path) -> Result<String, String> {
    // What an earlier run has left is not taken for this one's.
    let results = root.join("target/criterion/file_to_plan");
    if results.exists() {
        fs_err::remove_dir_all(&results).map_err(|error| error.to_string())?;
    }
    let bench = ["bench", "--quiet", "--locked", "-p", "workflow", "--bench", "plan", "--", "file_to_plan"];
    let output =
        Command::new("cargo").args(bench).current_dir(root).output().map_err(|error| error.to_string())?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned());
    }
    let (mut report, mut exceeded) = (String::new(), false);
    for (name, bound) in BOUNDS {
        let file = root.join("target/criterion").join(name).join("new/estimates.json");
        let median = median(&fs_err::read_to_string(&file).map_err(|error| error.to_string())?)
            .ok_or_else(|| format!("{} states no median", file.display()))?;
        exceeded |= median > bound;
        let _ =
            writeln!(report, "{name}: {:.0} ms (bound {} ms)", median.as_secs_f64() * 1e3, bound.as_millis());
    }
    if exceeded { Err(report) } else { Ok(report) }
}

/// The median of criterion's estimates, which are in nanoseconds.
fn median(estimates: &str) -> Option<Duration> {
    let estimates: Value = serde_json::from_str(estimates).ok()?;
    let nanoseconds = estimates.pointer("/median/point_estimate")?.as_f64()?;
    Duration::try_from_secs_f64(nanoseconds / 1e9).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn median_is_read_from_estimates() {
        let estimates =
            r#"{"mean":{"point_estimate":1.0},"median":{"point_estimate":56637613.5,"standard_error":1.0}}"#;
        assert_eq!(median(estimates), Some(Duration::from_nanos(56_637_614)));
        assert_eq!(median(r#"{"mean":{"point_estimate":1.0}}"#), None);
    }
}
