//! One project: a folder with a workflow, played with until all of it is done.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use rusqlite::{Connection, OpenFlags};
use serde_json::Value;

use super::service::Service;
use super::{Choices, Counts};
use crate::exit_code::{ACTION_NEEDED, DONE, FAILED, INTERRUPTED, PANICKED, UNUSABLE};
use crate::stub_video;

/// The longest that one run may take: tasks take two seconds, waits that the service asks for one, and each of up to seven shots may hold a
/// slot until its timeout of ten seconds, one after the other where throttling has left a single slot.
const MAX_RUN: Duration = Duration::from_mins(2);
/// How long the service has to be idle before its account is final.
const SETTLED: Duration = Duration::from_millis(150);
/// How often the program is run at a service that behaves, until all shots and the renders that were asked for are done.
const MAX_RUNS: usize = 16;
const ASKED: &str = "SELECT w.instance, SUM(w.state = 'open'), SUM(w.state IN ('open', 'done')), SUM(w.state IN ('withdrawn', 'failed') AND w.render > 1
    AND EXISTS (SELECT 1 FROM renders r JOIN attempts a ON a.key = r.request || CASE r.number WHEN 1 THEN '' ELSE '#' || r.number END
        WHERE r.instance = w.instance AND r.render = w.render AND a.state NOT IN ('failed', 'refused', 'not-accepted')))
    , SUM(w.state <> 'withdrawn') FROM wishes w GROUP BY w.instance";

/// The longest chain of shots that continue each other.
const MAX_CHAIN: usize = 3;

/// A shot of the workflow.
struct Shot {
    name: String,
    /// The shot whose last frame it starts from.
    continues: Option<String>,
    /// Its position in its chain, from 1.
    depth: usize,
}

impl Shot {
    /// A shot that continues one of `before` or begins a chain.
    fn new(number: usize, before: &[Self], choices: &mut Choices) -> Self {
        let candidates: Vec<&Self> = before.iter().filter(|shot| shot.depth < MAX_CHAIN).collect();
        let parent = match choices.roll(2) {
            0 => usize::try_from(choices.roll(candidates.len().max(1) as u64)).ok(),
            _ => None,
        };
        let parent = parent.and_then(|index| candidates.get(index));
        Self {
            name: format!("s{number}"),
            continues: parent.map(|parent| parent.name.clone()),
            depth: parent.map_or(1, |parent| parent.depth + 1),
        }
    }
}

/// By shot, how many renders were asked for: those that are not done, those with the done ones, those that were withdrawn, or lost, once they had begun,
/// and all that were not withdrawn.
type Asked = BTreeMap<String, [usize; 4]>;

pub(super) struct Project<'a> {
    program: &'a Path,
    service: &'a Service,
    /// Folders are made in it.
    home: tempfile::TempDir,
    folder: PathBuf,
    folders: usize,
    number: usize,
    shots: Vec<Shot>,
    /// Shots of which a render was asked for before anything was paid for: it may be the one that the file wants.
    early: BTreeSet<String>,
    /// The commands and their ends, for the report of a violation.
    log: String,
}

impl<'a> Project<'a> {
    pub(super) fn new(
        program: &'a Path,
        service: &'a Service,
        number: usize,
        choices: &mut Choices,
    ) -> Result<Self, String> {
        let home = tempfile::tempdir().map_err(|error| error.to_string())?;
        let folder = home.path().join("project-0");
        fs_err::create_dir_all(&folder).map_err(|error| error.to_string())?;
        let mut text =
            "version: 1\nname: film\ndefaults: {model: modelb-video-480p, seconds: 1, size: 480x480}\nshots:\n"
                .to_owned();
        let mut shots: Vec<Shot> = Vec::new();
        for index in 0..usize::try_from(3 + choices.roll(5)).unwrap_or(3) {
            shots.push(Shot::new(index, &shots, choices));
        }
        for Shot { name, continues, depth: _ } in &shots {
            let retry = 1 + choices.roll(3);
            let chained =
                continues.as_ref().map(|before| format!(", continues: {before}")).unwrap_or_default();
            let _ = writeln!(
                text,
                "  - {{id: {name}, prompt: project {number} {name}, timeout: 10, retry: {retry}{chained}}}"
            );
        }
        fs_err::write(folder.join("film.yaml"), text).map_err(|error| error.to_string())?;
        let (early, log) = (BTreeSet::new(), String::new());
        Ok(Self { program, service, home, folder, folders: 1, number, shots, early, log })
    }

    /// Plays with the project, then brings it to its end and checks what it cost.
    pub(super) fn play(&mut self, choices: &mut Choices, counts: &mut Counts) -> Result<(), String> {
        // What is done is played with once more: then there is something to render again.
        let played = self.steps(choices, counts).and_then(|()| self.steps(choices, counts));
        played.and_then(|()| self.rebuild(counts)).map_err(|violation| {
            // For whoever looks into it.
            self.home.disable_cleanup(true);
            format!("{}\n{violation}; its folder is kept: {}", self.log, self.home.path().display())
        })
    }

    fn steps(&mut self, choices: &mut Choices, counts: &mut Counts) -> Result<(), String> {
        self.service.set_calm(false);
        for _ in 0..2 + choices.roll(8) {
            match choices.roll(14) {
                0 => self.move_folder(counts)?,
                1 => self.copy_folder(counts)?,
                // A ledger that is lost takes with it what was asked for.
                2 if self.asked()?.is_empty() && self.folder.join(".runner/ledger.db").exists() => {
                    self.remove_ledger(counts);
                    // As a person would who noticed: otherwise nothing tells of tasks whose runs ended in good order.
                    self.adopt(counts)?;
                }
                3 => self.resolve(counts)?,
                4..=6 => self.decide(choices, counts)?,
                _ => self.run_several(choices, counts)?,
            }
        }
        self.service.set_calm(true);
        let mut is_fetched = false;
        for _ in 0..MAX_RUNS {
            counts.runs += 1;
            let output = self.runner(&["run", "film.yaml"])?;
            match output.status.code() {
                // One run makes one render of each shot.
                Some(DONE) if self.asked()?.values().any(|[open, ..]| *open > 0) => {}
                // What was withdrawn or is not picked any more may be at the service, and may count once it is here.
                Some(DONE) if !is_fetched => {
                    self.resolve(counts)?;
                    self.runner(&["ledger", "fetch", "--all", "--in", "film.yaml"])?;
                    is_fetched = true;
                }
                Some(DONE) => return self.check(),
                Some(ACTION_NEEDED) => {
                    // Only where it is suggested: otherwise it would hide that the ledger has lost something.
                    if String::from_utf8_lossy(&output.stderr).contains("runner ledger adopt") {
                        self.adopt(counts)?;
                    }
                    self.resolve(counts)?;
                }
                // A shot failed, and is submitted again.
                Some(FAILED) => {}
                other => return Err(format!("a run at a service that behaves ended with {other:?}")),
            }
        }
        Err(format!("not done after {MAX_RUNS} runs at a service that behaves"))
    }

    /// What a run asks for, if it does.
    fn rerun_arguments(&mut self, choices: &mut Choices, counts: &mut Counts) -> Vec<String> {
        counts.runs += 1;
        let mut arguments = Vec::new();
        for Shot { name, .. } in self.shots.iter().filter(|_| choices.roll(6) == 0) {
            if self.paid(name) == 0 {
                self.early.insert(name.clone());
            }
            arguments.push(name.clone());
        }
        if !arguments.is_empty() {
            counts.reruns += 1;
            arguments.insert(0, "--rerun".to_owned());
            arguments.extend((choices.roll(4) == 0).then(|| "--new".to_owned()));
        }
        arguments
    }

    /// Up to three runs at once, some of which are killed or interrupted.
    fn run_several(&mut self, choices: &mut Choices, counts: &mut Counts) -> Result<(), String> {
        let (before, mut children, mut commands) = (self.asked()?, Vec::new(), Vec::new());
        for _ in 0..=choices.roll(3) {
            let arguments = self.rerun_arguments(choices, counts);
            let log = self.home.path().join(format!("run-{}.log", counts.runs));
            let log = fs_err::File::create(log).map_err(|error| error.to_string())?;
            let mut command = self.command(&["run", "film.yaml", "-vv"]);
            command.args(&arguments);
            commands.push(arguments);
            command.stdout(Stdio::null()).stderr(log.into_file());
            children.push(command.spawn().map_err(|error| error.to_string())?);
        }
        for child in &mut children {
            std::thread::sleep(choices.milliseconds(700));
            match choices.roll(3) {
                0 => {
                    child.kill().map_err(|error| error.to_string())?;
                    counts.killed += 1;
                }
                1 => {
                    let process = child.id().to_string();
                    // It may have ended.
                    let _ = Command::new("kill").args(["-INT", &process]).stderr(Stdio::null()).status();
                    counts.interrupted += 1;
                }
                _ => {}
            }
        }
        for (mut child, command) in children.into_iter().zip(&commands) {
            let code = Self::wait(&mut child)?;
            let _ = writeln!(self.log, "run {}: {code:?}", command.join(" "));
            // No code: it was killed.
            if !matches!(code, None | Some(DONE | FAILED | ACTION_NEEDED | UNUSABLE | INTERRUPTED)) {
                return Err(format!("a run ended with {code:?}"));
            }
        }
        self.wait_for_service()?;
        self.check_asked(&commands, &before)
    }

    /// What the ledger has.
    fn asked(&self) -> Result<Asked, String> {
        let ledger = self.folder.join(".runner/ledger.db");
        let connection = Connection::open_with_flags(ledger, OpenFlags::SQLITE_OPEN_READ_WRITE);
        // There is none yet, or a run that was killed early has left it without tables.
        let Ok(connection) = connection else { return Ok(Asked::new()) };
        let Ok(mut statement) = connection.prepare(ASKED) else { return Ok(Asked::new()) };
        let rows = statement.query_map([], |row| {
            let count = |index| row.get::<_, u32>(index).map(|count| count as usize);
            Ok((row.get(0)?, [count(1)?, count(2)?, count(3)?, count(4)?]))
        });
        rows.and_then(Iterator::collect).map_err(|error| format!("the ledger cannot be read: {error}"))
    }

    /// Each command has asked for one render of a shot at most, and for none where it could continue one. What has failed is not asked for again
    /// by itself; it may be done by a run that renders the shot, under that number, for a new video of the one before.
    fn check_asked(&self, commands: &[Vec<String>], before: &Asked) -> Result<(), String> {
        let after = self.asked()?;
        for Shot { name, .. } in &self.shots {
            let of = |asked: &Asked| asked.get(name).copied().unwrap_or_default();
            let ([open, _, _, before], [open_after, _, _, after]) = (of(before), of(&after));
            let may_ask = match commands {
                [only] if open > 0 && !only.iter().any(|argument| argument == "--new") => 0,
                _ => commands.iter().filter(|command| command.contains(name)).count(),
            };
            if after > before + may_ask || open_after > open + may_ask {
                return Err(format!(
                    "{name}: {before} renders asked for, {open} of them open, {may_ask} more; now {after}, {open_after} open"
                ));
            }
        }
        self.check_paid(&after, false)
    }

    /// A shot was paid for once, and for each render that was asked for; one that continues another, for each video of that.
    fn check_paid(&self, asked: &Asked, is_end: bool) -> Result<(), String> {
        for Shot { name, continues, .. } in &self.shots {
            let [_, asked, withdrawn, _] = asked.get(name).copied().unwrap_or_default();
            let of_file = usize::from(!self.early.contains(name));
            let at_least = if is_end { (of_file + asked).max(1) } else { 0 };
            // What was asked for may be in flight when the shot before it gets another video: then it is rendered for that, too.
            let videos = continues.as_ref().map_or(1, |before| self.paid(before));
            let at_most = videos * (1 + asked + withdrawn);
            let paid = self.paid(name);
            if !(at_least..=at_most).contains(&paid) {
                return Err(format!("{name} was paid for {paid} times, not {at_least} to {at_most}"));
            }
        }
        Ok(())
    }

    /// Picks a render of a shot if there is one of that number, removes the pick, or withdraws what is asked for.
    fn decide(&mut self, choices: &mut Choices, counts: &mut Counts) -> Result<(), String> {
        let shot = format!("s{}", choices.roll(self.shots.len() as u64));
        let arguments = match choices.roll(6) {
            0 => vec!["pick", "film.yaml", &shot, "--clear"],
            1 | 2 => vec!["pick", "film.yaml", &shot, "1"],
            3 => vec!["pick", "film.yaml", &shot, "2"],
            _ => vec!["run", "film.yaml", "--withdraw", "--rerun"],
        };
        // Without effect, a command prints nothing there.
        counts.decisions += usize::from(!self.runner(&arguments)?.stdout.is_empty());
        Ok(())
    }

    fn wait(child: &mut Child) -> Result<Option<i32>, String> {
        let since = Instant::now();
        loop {
            if let Some(status) = child.try_wait().map_err(|error| error.to_string())? {
                return Ok(status.code());
            }
            if since.elapsed() > MAX_RUN {
                let _ = child.kill();
                return Err(format!("a run has not ended after {MAX_RUN:?}"));
            }
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    /// Until the account tells what became of every submission. What a killed process has sent may not have been read yet.
    fn wait_for_service(&self) -> Result<(), String> {
        let (since, mut idle_since) = (Instant::now(), Instant::now());
        while idle_since.elapsed() < SETTLED {
            if !self.service.is_idle() {
                idle_since = Instant::now();
            }
            if since.elapsed() > MAX_RUN {
                return Err("the service is still answering".to_owned());
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        Ok(())
    }

    fn next_folder(&mut self) -> PathBuf {
        self.folders += 1;
        self.home.path().join(format!("project-{}", self.folders - 1))
    }

    fn move_folder(&mut self, counts: &mut Counts) -> Result<(), String> {
        let to = self.next_folder();
        fs_err::rename(&self.folder, &to).map_err(|error| error.to_string())?;
        self.folder = to;
        counts.moved += 1;
        self.log.push_str("moved\n");
        Ok(())
    }

    /// Goes on in a copy; the original is not used any more.
    fn copy_folder(&mut self, counts: &mut Counts) -> Result<(), String> {
        let to = self.next_folder();
        let copied = Command::new("cp").arg("-a").arg(&self.folder).arg(&to).status();
        if !copied.map_err(|error| error.to_string())?.success() {
            return Err("the folder cannot be copied".to_owned());
        }
        self.folder = to;
        counts.copied += 1;
        self.log.push_str("copied\n");
        Ok(())
    }

    fn remove_ledger(&mut self, counts: &mut Counts) {
        for file in ["ledger.db", "ledger.db-wal", "ledger.db-shm"] {
            let _ = fs_err::remove_file(self.folder.join(".runner").join(file));
        }
        counts.ledgers_removed += 1;
        self.log.push_str("ledger removed\n");
    }

    /// Where all is done, the ledger is rebuilt from the videos, and nothing more is paid for.
    fn rebuild(&mut self, counts: &mut Counts) -> Result<(), String> {
        let paid = |project: &Self| project.shots.iter().map(|shot| project.paid(&shot.name)).sum::<usize>();
        let before = paid(self);
        self.remove_ledger(counts);
        self.runner(&["ledger", "adopt", "film.yaml"])?;
        let code = self.runner(&["run", "film.yaml"])?.status.code();
        let is_done = (code, paid(self)) == (Some(DONE), before);
        is_done
            .then_some(())
            .ok_or_else(|| format!("with a rebuilt ledger, a run pays or ends with {code:?}"))
    }

    /// Records what the account lists and the ledger does not know.
    fn adopt(&mut self, counts: &mut Counts) -> Result<(), String> {
        self.wait_for_service()?;
        let mut arguments = vec!["ledger".to_owned(), "adopt".to_owned(), "film.yaml".to_owned()];
        for Shot { name, .. } in &self.shots {
            for task in self.service.paid(&self.prompt(name)) {
                arguments.extend(["--task".to_owned(), format!("{name}={task}")]);
            }
        }
        arguments.extend(["--format".to_owned(), "json".to_owned()]);
        let output = self.runner(&arguments.iter().map(String::as_str).collect::<Vec<_>>())?;
        let adopted: Value = serde_json::from_slice(&output.stdout).unwrap_or_default();
        let tasks = adopted.as_array().into_iter().flatten().filter(|result| result["outcome"] == "task");
        counts.adopted += tasks.count();
        if String::from_utf8_lossy(&output.stderr).contains("--force") {
            // Runs that were killed: their tasks are recorded now.
            counts.runs += 1;
            self.runner(&["run", "film.yaml", "--force"])?;
        }
        Ok(())
    }

    /// States what became of each indeterminate submission, as the account tells it.
    fn resolve(&mut self, counts: &mut Counts) -> Result<(), String> {
        self.wait_for_service()?;
        let list = self.runner(&["resolve", "film.yaml", "--format", "json"])?;
        let list: Value = serde_json::from_slice(&list.stdout).unwrap_or_default();
        // A task without a video is known.
        let rows = list.as_array().into_iter().flatten().filter(|row| row["task"].is_null());
        for row in rows {
            let (Some(attempt), Some(shot)) = (row["attempt"].as_str(), row["shot"].as_str()) else {
                continue;
            };
            let mut is_adopted = false;
            // Another render is called after its shot.
            let (shot, _) = shot.split_once('#').unwrap_or((shot, ""));
            for task in self.service.paid(&self.prompt(shot)) {
                let output =
                    self.runner(&["resolve", "film.yaml", attempt, "--adopt", &task, "--no-verify"])?;
                if output.status.success() {
                    counts.adopted += 1;
                    is_adopted = true;
                    break;
                }
            }
            if !is_adopted {
                counts.resubmitted += 1;
                self.runner(&["resolve", "film.yaml", attempt, "--resubmit"])?;
            }
        }
        Ok(())
    }

    /// Every shot was paid for as often as it is wanted, each video is on disk, and was sent with a frame exactly if it continues another.
    fn check(&mut self) -> Result<(), String> {
        self.wait_for_service()?;
        self.check_paid(&self.asked()?, true)?;
        let files = fs_err::read_dir(self.folder.join("out/film")).map_err(|error| error.to_string())?;
        let videos: Vec<Vec<u8>> =
            files.filter_map(Result::ok).filter_map(|entry| fs_err::read(entry.path()).ok()).collect();
        for Shot { name, continues, depth: _ } in &self.shots {
            let prompt = self.prompt(name);
            for task in self.service.paid(&prompt) {
                if !videos.iter().any(|video| stub_video::is_named(video, &task)) {
                    return Err(format!("the video of {name}, task {task}, is not on disk"));
                }
            }
            if !self.service.have_frame(&prompt, continues.is_some()) {
                return Err(format!(
                    "{name}, which continues {continues:?}, was sent with or without a frame"
                ));
            }
        }
        Ok(())
    }

    fn paid(&self, shot: &str) -> usize {
        self.service.paid(&self.prompt(shot)).len()
    }

    fn prompt(&self, shot: &str) -> String {
        format!("project {} {shot}", self.number)
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(self.program);
        command.args(arguments).current_dir(&self.folder).stdin(Stdio::null()).env_clear();
        if let Some(path) = std::env::var_os("PATH") {
            command.env("PATH", path);
        }
        command.env("RUNNER_BASE_URL", self.service.base_url()).env("RUNNER_API_KEY", "campaign");
        command
    }

    /// Runs the program to its end.
    fn runner(&mut self, arguments: &[&str]) -> Result<Output, String> {
        let output = self.command(arguments).output().map_err(|error| error.to_string())?;
        let _ = writeln!(
            self.log,
            "{}: {:?}\n{}{}",
            arguments.join(" "),
            output.status.code(),
            String::from_utf8_lossy(&output.stdout),
            String::from_utf8_lossy(&output.stderr)
        );
        if output.status.code() == Some(PANICKED) {
            return Err("the program panicked".to_owned());
        }
        Ok(output)
    }
}
