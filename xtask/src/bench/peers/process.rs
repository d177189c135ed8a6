//! Runs a tool as a process group, and measures it with all of its processes.

use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::bench::{self, load};

/// How often processes are looked at.
const INTERVAL: Duration = Duration::from_millis(50);

/// What a tool used.
#[derive(Clone, Copy, Debug)]
pub(super) struct Usage {
    pub(super) elapsed: Duration,
    /// CPU time in seconds of all processes that ended.
    pub(super) cpu: f64,
    /// The peak of the resident memory of all processes together, in megabytes.
    pub(super) megabytes: f64,
}

impl Usage {
    /// One run after the other.
    pub(super) fn and(self, next: Self) -> Self {
        Self {
            elapsed: self.elapsed + next.elapsed,
            cpu: self.cpu + next.cpu,
            megabytes: self.megabytes.max(next.megabytes),
        }
    }
}

/// Runs a command, whatever its exit code, and kills it with all of its processes if it does not end within `limit`.
pub(super) fn run(command: &mut Command, limit: Duration) -> Result<Usage, String> {
    let cpu_before = load::children_cpu_seconds()?;
    let started = Instant::now();
    let mut child = command
        .process_group(0)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .map_err(|error| format!("{command:?}: {error}"))?;
    let mut megabytes = 0.0_f64;
    let elapsed = loop {
        if child.try_wait().map_err(|error| error.to_string())?.is_some() {
            break Some(started.elapsed());
        }
        if started.elapsed() >= limit {
            break None;
        }
        megabytes = megabytes.max(group_megabytes(child.id()));
        std::thread::sleep(INTERVAL.min(limit.saturating_sub(started.elapsed())));
    };
    // Also what a tool leaves running.
    kill_group(&mut child)?;
    let usage = Usage {
        elapsed: elapsed.unwrap_or_else(|| started.elapsed()),
        cpu: load::children_cpu_seconds()? - cpu_before,
        megabytes,
    };
    Ok(usage)
}

fn kill_group(child: &mut Child) -> Result<(), String> {
    let group = format!("-{}", child.id());
    // Fails where the group has ended already.
    let status = Command::new("kill").args(["-KILL", "--", &group]).stderr(Stdio::null()).status();
    status.map_err(|error| format!("kill: {error}"))?;
    child.wait().map(drop).map_err(|error| error.to_string())
}

/// The resident memory of the processes of a group.
fn group_megabytes(group: u32) -> f64 {
    let Ok(entries) = std::fs::read_dir("/proc") else { return 0.0 };
    let group = group.to_string();
    let is_member = |process: &str| {
        // The name in parentheses may contain blanks; the third field after it is the process group (proc(5)).
        let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
        stat.rsplit_once(')')
            .and_then(|(_, rest)| rest.split_whitespace().nth(2))
            .is_some_and(|id| id == group)
    };
    entries
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .filter(|name| name.bytes().all(|byte| byte.is_ascii_digit()) && is_member(name))
        .filter_map(|process| bench::megabytes(&process, "VmRSS:"))
        .sum()
}
