//! The text in the lock file of a run: for whoever finds it after the run was killed, or after the ledger was replaced.
//!
//! ```text
//! RUN.7                      the latest attempt on record, filled up with spaces; or that the run has lost its ledger
//! 1732689454000 SERVICE      when the run began, in milliseconds since the Unix epoch, and the identity of its service
//! 1 f36b2a004515             each attempt whose intent was recorded: its number, and the beginning of its key
//! ```
//!
//! Earlier versions wrote the first line only.

use std::fs::File;
use std::io::{self, Seek as _, SeekFrom, Write as _};
use std::path::Path;

use scheduler::{AttemptId, RunId, Timestamp};

/// Digits of a key in the file.
const KEY_DIGITS: usize = 12;

/// What the first line says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum LockNote {
    /// Nothing: the run has begun no attempt.
    None,
    /// The latest attempt whose intent was recorded.
    Attempt(AttemptId),
    /// It has noticed that the ledger is not the one that it has opened. Whatever is in its place cannot be relied on.
    LedgerReplaced,
}

impl LockNote {
    /// The text of [`LockNote::LedgerReplaced`]; no attempt id has spaces.
    const LEDGER_REPLACED: &str = "the ledger was replaced";

    /// Length of the line, filled up with spaces. The file has it from the beginning, so that no later write of it needs space on the disk.
    const LEN: usize = 63;

    fn parse(line: &str, run: &RunId) -> Self {
        match line.trim() {
            Self::LEDGER_REPLACED => Self::LedgerReplaced,
            attempt if attempt.strip_prefix(run.as_str()).is_some_and(|number| number.starts_with('.')) => {
                Self::Attempt(AttemptId::from(attempt))
            }
            _ => Self::None,
        }
    }

    fn line(&self) -> String {
        let text = match self {
            Self::None => "",
            Self::Attempt(attempt) => attempt.as_str(),
            Self::LedgerReplaced => Self::LEDGER_REPLACED,
        };
        format!("{text:<width$}\n", width = Self::LEN)
    }

    /// Replaces the first line in one write, so that no reader gets a part of it.
    pub(super) fn write(&self, mut file: &File) -> io::Result<()> {
        file.rewind()?;
        file.write_all(self.line().as_bytes())
    }
}

/// An attempt that a lock file names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NotedAttempt {
    /// The attempt.
    pub attempt: AttemptId,
    /// The first twelve digits of its key.
    pub key: String,
}

/// What a lock file says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct LockFileText {
    pub(super) note: LockNote,
    /// When the run began.
    pub(super) started_at: Option<Timestamp>,
    /// The identity of its service.
    pub(super) service: Option<String>,
    /// The attempts that it has begun.
    pub(super) attempts: Vec<NotedAttempt>,
}

impl LockFileText {
    /// Reads the lock file of `run`. It says nothing where it cannot be read, as on Windows while its run is alive, and where a power cut has
    /// left something else in it.
    pub(super) fn read(path: &Path, run: &RunId) -> Self {
        let text = std::fs::read_to_string(path).unwrap_or_default();
        let mut lines = text.lines();
        let note = LockNote::parse(lines.next().unwrap_or_default(), run);
        let (started_at, service) = match lines.next().and_then(|line| line.split_once(' ')) {
            Some((time, service)) => {
                (time.parse().ok().map(Timestamp), Some(service.to_owned()).filter(|name| !name.is_empty()))
            }
            None => (None, None),
        };
        let attempts = lines.filter_map(|line| noted_attempt(line, run)).collect();
        Self { note, started_at, service, attempts }
    }

    /// Whether its run has recorded no intent. A file of an earlier version, or one that cannot be read, does not tell.
    pub(super) fn has_no_attempts(&self) -> bool {
        self.note == LockNote::None && self.started_at.is_some() && self.attempts.is_empty()
    }

    /// Writes the text of a run that begins, and returns its length.
    pub(super) fn begin(mut file: &File, started_at: Timestamp, service: &str) -> io::Result<u64> {
        let service = service.replace(char::is_control, " ");
        let text = format!("{}{} {service}\n", LockNote::None.line(), started_at.0);
        file.write_all(text.as_bytes())?;
        Ok(text.len() as u64)
    }

    /// Adds attempts, and returns whether there was space for them. Where there was not, those before are removed as well, and no other may be
    /// added: without a complete list the file says what one of an earlier version does. `header` is what [`Self::begin`] has returned.
    pub(super) fn append(
        mut file: &File,
        header: u64,
        run: &RunId,
        attempts: &[NotedAttempt],
    ) -> io::Result<bool> {
        let mut text = String::new();
        for NotedAttempt { attempt, key } in attempts {
            let number = attempt.as_str().strip_prefix(run.as_str()).and_then(|rest| rest.strip_prefix('.'));
            text.push_str(number.unwrap_or(attempt.as_str()));
            text.push(' ');
            text.push_str(key.get(..KEY_DIGITS).unwrap_or(key));
            text.push('\n');
        }
        let added = file.seek(SeekFrom::End(0)).and_then(|_| file.write_all(text.as_bytes()));
        match added {
            Ok(()) => Ok(true),
            Err(_) => file.set_len(header).map(|()| false),
        }
    }
}

fn noted_attempt(line: &str, run: &RunId) -> Option<NotedAttempt> {
    let (number, key) = line.split_once(' ')?;
    let is_key = key.len() == KEY_DIGITS && crate::sidecar::is_hex(key);
    is_key.then(|| NotedAttempt { attempt: AttemptId(format!("{run}.{number}")), key: key.to_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn noted(run: &RunId, number: usize, key: &str) -> NotedAttempt {
        NotedAttempt { attempt: AttemptId(format!("{run}.{number}")), key: key.to_owned() }
    }

    #[test]
    fn lock_file_names_run_service_and_attempts() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("r1.lock");
        let (file, run) = (File::create(&path).unwrap(), RunId::from("r1"));
        let header = LockFileText::begin(&file, Timestamp(7), "https://example.com").unwrap();
        assert!(LockFileText::read(&path, &run).has_no_attempts());
        let attempts = vec![noted(&run, 1, "f36b2a004515"), noted(&run, 2, "0123456789ab")];
        LockFileText::append(&file, header, &run, &attempts[..1]).unwrap();
        LockFileText::append(&file, header, &run, &attempts[1..]).unwrap();
        LockNote::Attempt("r1.2".into()).write(&file).unwrap();
        let text = LockFileText::read(&path, &run);
        assert_eq!(text.note, LockNote::Attempt("r1.2".into()));
        assert_eq!(
            (text.started_at, text.service.as_deref()),
            (Some(Timestamp(7)), Some("https://example.com"))
        );
        assert_eq!(text.attempts, attempts);
        assert!(!text.has_no_attempts());
        LockNote::LedgerReplaced.write(&file).unwrap();
        let text = LockFileText::read(&path, &run);
        assert_eq!((text.note, text.attempts), (LockNote::LedgerReplaced, attempts));
    }

    #[test]
    fn lock_file_of_an_earlier_version_has_one_line() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("r1.lock");
        let run = RunId::from("r1");
        for (text, note) in [
            ("", LockNote::None),
            ("r1.12                      \n", LockNote::Attempt("r1.12".into())),
            ("the ledger was replaced    \n", LockNote::LedgerReplaced),
            ("\0\0\0", LockNote::None),
            ("r2.1\n", LockNote::None),
        ] {
            std::fs::write(&path, text).unwrap();
            let expected = LockFileText { note, started_at: None, service: None, attempts: Vec::new() };
            assert_eq!(LockFileText::read(&path, &run), expected, "{text}");
            assert!(!expected.has_no_attempts(), "it does not tell: {text}");
        }
    }
}
