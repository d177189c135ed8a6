//! Runs a program as a process group, and measures it with all of its processes.

use std::os::unix::process::CommandExt as _;
use std::process::{Command, ExitStatus, Stdio};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::{Duration, Instant};

/// How often memory is looked at.
const INTERVAL: Duration = Duration::from_millis(100);
/// Clock ticks per second (`USER_HZ`), the unit of CPU time in proc(5).
const TICKS_PER_SECOND: f64 = 100.0;

/// What a program used.
#[derive(Clone, Copy, Debug)]
pub(super) struct Usage {
    pub(super) status: ExitStatus,
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
            status: next.status,
            elapsed: self.elapsed + next.elapsed,
            cpu: self.cpu + next.cpu,
            megabytes: self.megabytes.max(next.megabytes),
        }
    }
}

/// Runs a command without input and output, and kills it with all of its processes if it does not end within `limit`.
pub(super) fn run(command: &mut Command, limit: Duration) -> Result<Usage, String> {
    let cpu_before = children_cpu_seconds()?;
    let started = Instant::now();
    command.process_group(0).stdin(Stdio::null()).stdout(Stdio::null());
    let mut child = command.spawn().map_err(|error| format!("{command:?}: {error}"))?;
    let group = child.id();
    let (running, ended) = channel::<()>();
    let watch = std::thread::spawn(move || {
        let mut megabytes = 0.0_f64;
        let remaining = || limit.saturating_sub(started.elapsed());
        while !remaining().is_zero()
            && ended.recv_timeout(INTERVAL.min(remaining())) == Err(RecvTimeoutError::Timeout)
        {
            megabytes = megabytes.max(group_megabytes(group));
        }
        // Also what it leaves running. Fails where the group has ended already.
        drop(Command::new("kill").args(["-KILL", "--", &format!("-{group}")]).stderr(Stdio::null()).status());
        megabytes
    });
    let status = child.wait().map_err(|error| error.to_string())?;
    let elapsed = started.elapsed();
    drop(running);
    let megabytes = watch.join().map_err(|_| "the memory could not be watched")?;
    Ok(Usage { status, elapsed, cpu: children_cpu_seconds()? - cpu_before, megabytes })
}

/// The resident memory of the processes of a group.
fn group_megabytes(group: u32) -> f64 {
    let Ok(entries) = std::fs::read_dir("/proc") else { return 0.0 };
    let group = group.to_string();
    entries
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .filter(|name| name.bytes().all(|byte| byte.is_ascii_digit()))
        // The third field after the name is the process group.
        .filter(|process| stat(process).get(2) == Some(&group))
        .filter_map(|process| super::megabytes(&process, "VmRSS:"))
        .sum()
}

/// CPU seconds of the child processes that were waited for (proc(5), fields 16 and 17 of `stat`).
pub(super) fn children_cpu_seconds() -> Result<f64, String> {
    let fields = stat("self");
    let ticks = |index: usize| fields.get(index).and_then(|field| field.parse::<f64>().ok());
    match (ticks(13), ticks(14)) {
        (Some(user), Some(system)) => Ok((user + system) / TICKS_PER_SECOND),
        _ => Err("/proc/self/stat cannot be read; this needs Linux".to_owned()),
    }
}

/// What proc(5) tells of a process after its name, which is in parentheses and may contain spaces and parentheses.
fn stat(process: &str) -> Vec<String> {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    let fields = stat.rsplit_once(')').map(|(_, rest)| rest.split_whitespace().map(str::to_owned).collect());
    fields.unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_is_measured_and_killed_with_what_it_started() {
        let shell = |script: &str, limit| run(Command::new("sh").args(["-c", script]), limit).unwrap();
        assert_eq!(shell("exit 3", Duration::from_mins(1)).status.code(), Some(3));
        let killed = shell("sleep 60 & sleep 60", Duration::from_millis(300));
        assert!(killed.status.code().is_none() && killed.elapsed < Duration::from_secs(30), "{killed:?}");
        assert!(killed.megabytes > 0.0, "{killed:?}");
    }
}
