//! The files of this repository.

use std::path::Path;
use std::process::Command;

/// Paths of the files that git tracks or would track, relative to the repository; without those that are deleted.
pub(crate) fn files(root: &Path) -> Result<Vec<String>, String> {
    let output = Command::new("git")
        .args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"])
        .current_dir(root)
        .output()
        .map_err(|error| format!("git cannot be run: {error}"))?;
    if !output.status.success() {
        return Err(format!("git ls-files failed: {}", String::from_utf8_lossy(&output.stderr)));
    }
    let names = String::from_utf8_lossy(&output.stdout).into_owned();
    let existing = names.split('\0').filter(|name| !name.is_empty() && root.join(name).is_file());
    Ok(existing.map(str::to_owned).collect())
}
