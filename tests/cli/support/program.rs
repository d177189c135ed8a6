//! A temporary project folder, and the program run in it without this machine's environment, except PATH.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use contract::Contract;
use tempfile::TempDir;
use workflow::plan::Plan;
use workflow::{DirFiles, Options};

/// A folder with a workflow in it.
pub(crate) struct Project {
    folder: TempDir,
    service: Option<(String, String)>,
    renderer: &'static str,
}

/// How a run of the program ended.
#[derive(Debug)]
pub(crate) struct Output {
    pub(crate) code: Option<i32>,
    /// The signal that ended it, where one did.
    #[cfg(unix)]
    pub(crate) signal: Option<i32>,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Project {
    /// A folder with one of the repository's examples, unchanged, rendered as by the product; others are rendered by a stub.
    pub(crate) fn from_example(name: &str) -> Self {
        let text = fs_err::read_to_string(root().join("workflows").join(name)).expect("the example is there");
        Self::new(name, &text).with_product_renderer()
    }

    /// The same folder, rendered as by the product.
    pub(crate) fn with_product_renderer(self) -> Self {
        Self { renderer: "product", ..self }
    }

    /// A folder that holds one workflow file.
    pub(crate) fn new(name: &str, text: &str) -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        fs_err::write(folder.path().join(name), text).expect("the folder can be written");
        Self { folder, service: None, renderer: "stub" }
    }

    /// The same folder, with the program configured for a service.
    pub(crate) fn against(mut self, base_url: &str, key: &str) -> Self {
        self.service = Some((base_url.to_owned(), key.to_owned()));
        self
    }

    /// The same folder, with the embedded service.
    pub(crate) fn embedded(self) -> Self {
        Self { service: None, ..self }
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    /// A file below the folder.
    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// The plan of a workflow in the folder.
    pub(crate) fn plan(&self, name: &str) -> Plan {
        let text = fs_err::read(self.file(name)).expect("the workflow is there");
        workflow::load(
            &text,
            name,
            &DirFiles::new(self.path(), engine::MEDIA_GATE),
            &Options::default(),
            Contract::embedded(),
        )
        .unwrap_or_else(|report| panic!("{report}"))
    }

    /// The program, not started yet.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_runner-under-test"));
        command.args(arguments).current_dir(self.path()).env_clear().stdin(Stdio::null());
        if let Some(path) = std::env::var_os("PATH") {
            command.env("PATH", path);
        }
        // Not that of whoever runs the tests.
        command.env("XDG_CONFIG_HOME", self.file("settings"));
        command.env("RUNNER_TEST_RENDERER", self.renderer);
        if let Some((url, key)) = &self.service {
            command.env("RUNNER_BASE_URL", url).env("RUNNER_API_KEY", key);
        }
        command
    }

    /// Runs the program to its end.
    pub(crate) fn runner(&self, arguments: &[&str]) -> Output {
        Output::from_process(&self.command(arguments).output().expect("the program can be started"))
    }

    /// Runs the program to its end with another environment variable.
    pub(crate) fn runner_with(&self, variable: (&str, &str), arguments: &[&str]) -> Output {
        let mut command = self.command(arguments);
        command.env(variable.0, variable.1);
        Output::from_process(&command.output().expect("the program can be started"))
    }

    /// Runs the program until it dies at a boundary of the ledger, such as `before prepared`, or to its end if it never comes there.
    pub(crate) fn runner_killed_at(&self, boundary: &str, arguments: &[&str]) -> Output {
        Output::from_process(
            &self
                .command(arguments)
                .env("RUNNER_TEST_KILL_AT", boundary)
                .output()
                .expect("the program can be started"),
        )
    }

    /// Runs the program until it dies at `boundary`, or to its end if it never comes there. Just before `waits_at`, when it first comes
    /// there, it waits until `meanwhile` is done.
    pub(crate) fn runner_held_at(
        &self,
        waits_at: &str,
        boundary: &str,
        arguments: &[&str],
        meanwhile: impl FnOnce(),
    ) -> Output {
        let child = self
            .command(arguments)
            .env("RUNNER_TEST_WAIT_AT", waits_at)
            .env("RUNNER_TEST_KILL_AT", boundary)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the program can be started");
        let marker = self.file("waiting");
        wait_until("the program waits", || marker.exists());
        meanwhile();
        fs_err::remove_file(marker).expect("the program can be let go");
        Output::from_process(&child.wait_with_output().expect("the program ends"))
    }

    /// Starts the program, sends it each signal as soon as its condition is met, and waits for its end. Its output is available from
    /// [`Self::logged`].
    #[cfg(unix)]
    pub(crate) fn runner_signalled(
        &self,
        command: &mut Command,
        signals: &mut [(&str, &mut dyn FnMut() -> bool)],
    ) -> Output {
        let log = self.file("child.log");
        let log_file = fs_err::File::create(&log).expect("the folder can be written");
        let child = command
            .stdout(Stdio::piped())
            .stderr(log_file.into_file())
            .spawn()
            .expect("the program can be started");
        for (signal, is_met) in signals {
            wait_until(signal, is_met);
            let signal = match *signal {
                "INT" => rustix::process::Signal::INT,
                "TERM" => rustix::process::Signal::TERM,
                other => panic!("{other}"),
            };
            // Not by the program `kill`, which may take longer to start than what is to be interrupted takes to end.
            rustix::process::kill_process(rustix::process::Pid::from_child(&child), signal)
                .expect("the program runs");
        }
        let output = child.wait_with_output().expect("the program ends");
        let err = fs_err::read_to_string(&log).expect("what it said");
        Output { err: Output::without_times(&err), ..Output::from_process(&output) }
    }

    /// Starts the program and lets it run; its output is available from [`Self::logged`].
    pub(crate) fn start(&self, arguments: &[&str]) -> Child {
        let log_file = fs_err::File::create(self.file("child.log")).expect("the folder can be written");
        self.command(arguments)
            .stdout(Stdio::null())
            .stderr(log_file.into_file())
            .spawn()
            .expect("the program can be started")
    }

    /// Starts the program and waits until it waits just before or after a commit, such as `before submitted`. It gets no further for as long
    /// as the file `waiting` is there.
    pub(crate) fn start_held(&self, waits_at: &str, arguments: &[&str]) -> Child {
        let child = self
            .command(arguments)
            .env("RUNNER_TEST_WAIT_AT", waits_at)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("the program can be started");
        wait_until(waits_at, || self.file("waiting").exists());
        child
    }

    /// How often the last started program has printed `words`.
    pub(crate) fn logged(&self, words: &str) -> usize {
        fs_err::read_to_string(self.file("child.log")).map_or(0, |log_file| log_file.matches(words).count())
    }
}

impl Output {
    /// Standard error without the time of day that begins the lines of a run.
    fn without_times(text: &str) -> String {
        let timeless = |line: &str| {
            let is_time = |time: &str| {
                time.len() == 9 && time.ends_with('Z') && time.chars().filter(|c| *c == ':').count() == 2
            };
            match line.split_once(' ') {
                Some((time, rest)) if is_time(time) => rest.to_owned(),
                _ => line.to_owned(),
            }
        };
        text.split_inclusive('\n').map(timeless).collect()
    }

    pub(crate) fn from_process(output: &std::process::Output) -> Self {
        Self {
            code: output.status.code(),
            #[cfg(unix)]
            signal: std::os::unix::process::ExitStatusExt::signal(&output.status),
            out: String::from_utf8_lossy(&output.stdout).into_owned(),
            err: Self::without_times(&String::from_utf8_lossy(&output.stderr)),
        }
    }

    /// Exit code, standard output and standard error as one text, for snapshots and failure messages.
    pub(crate) fn transcript(&self) -> String {
        let code = self.code.map_or_else(|| "killed".to_owned(), |code| code.to_string());
        format!("exit code: {code}\n--- stdout\n{}--- stderr\n{}", self.out, self.err)
    }

    /// The notes and totals of a run or a plan: standard output after the table of shots.
    pub(crate) fn notes(&self) -> &str {
        self.out.split_once("\n\n").map_or(&self.out, |(_, notes)| notes)
    }

    /// The commands in backquotes on standard output and standard error.
    pub(crate) fn printed_commands(&self) -> BTreeSet<String> {
        let quoted = |text: &str| text.split('`').skip(1).step_by(2).map(str::to_owned).collect::<Vec<_>>();
        let quoted = [quoted(&self.out), quoted(&self.err)].concat();
        quoted.into_iter().filter(|quoted| quoted.starts_with("runner ")).collect()
    }

    /// Only what needs action of a status: the rest says how long ago the runs were.
    pub(crate) fn action_needed(self) -> Self {
        let start = self.out.find("action needed:").expect("something needs action");
        Self { out: self.out[start..].to_owned(), ..self }
    }

    /// The same output with the lines of standard error sorted and without duplicates, for runs whose shots progress concurrently.
    pub(crate) fn sorted(mut self) -> Self {
        let mut lines: Vec<&str> = self.err.lines().collect();
        lines.sort_unstable();
        lines.dedup();
        self.err = lines.iter().flat_map(|line| [*line, "\n"]).collect();
        self
    }

    #[track_caller]
    pub(crate) fn expect(self, code: i32) -> Self {
        assert_eq!(self.code, Some(code), "{}", self.transcript());
        self
    }
}

/// Waits until `met`, for a generous time.
#[track_caller]
pub(crate) fn wait_until(condition: &str, mut is_met: impl FnMut() -> bool) {
    let started = Instant::now();
    while !is_met() {
        assert!(started.elapsed() < Duration::from_mins(2), "never happened: {condition}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// Makes a copy of a file that can be executed. Another program writes it: a file that this process had open for writing would be open in the
/// children that other tests start at that moment as well, until these execute their program, and could not be executed for so long.
#[cfg(unix)]
pub(crate) fn copy_executable(from: &Path, to: &Path) {
    let copied = Command::new("install").args(["-m", "755"]).args([from, to]).status();
    assert!(copied.is_ok_and(|status| status.success()), "install is part of every unix");
}

/// The repository.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .expect("the tests are a folder of the repository")
        .to_owned()
}
