//! Errors that end a command, at the boundary between the libraries and the terminal.

use std::fmt;

use engine::LedgerError;

use crate::exit::Exit;

/// Why a command could not do its work.
#[derive(Debug)]
pub(crate) struct CommandError {
    pub(crate) kind: ErrorKind,
    /// The message, for people.
    pub(crate) message: String,
    /// What to do; each is printed on a line of its own.
    pub(crate) hints: Vec<String>,
}

/// Kinds of errors, each with its exit code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ErrorKind {
    /// Arguments, files, names or environment variables that the user has to correct.
    InvalidInput,
    /// A decision of the user is needed first; nothing was submitted.
    ActionNeeded,
    /// The least that a run needs exceeds a budget cap.
    BudgetExceeded,
    /// The service, the ledger or the disk cannot be used.
    Unusable,
}

impl CommandError {
    pub(crate) fn invalid(message: impl fmt::Display) -> Self {
        Self::new(ErrorKind::InvalidInput, message)
    }

    pub(crate) fn unusable(message: impl fmt::Display) -> Self {
        Self::new(ErrorKind::Unusable, message)
    }

    pub(crate) fn new(kind: ErrorKind, message: impl fmt::Display) -> Self {
        Self { kind, message: message.to_string(), hints: Vec::new() }
    }

    /// The same error with a hint.
    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hints.push(hint.into());
        self
    }

    /// The message and its hints, for a command that goes on without what it names.
    pub(crate) fn note(&self) -> String {
        let hints = self.hints.iter().map(|hint| format!("\nhint: {hint}"));
        std::iter::once(self.message.clone()).chain(hints).collect()
    }

    /// Prints the error and its hints to standard error.
    pub(crate) fn print(&self) {
        errln!("{self}");
    }

    pub(crate) fn exit(&self) -> Exit {
        match self.kind {
            ErrorKind::InvalidInput => Exit::InvalidInput,
            ErrorKind::ActionNeeded => Exit::ActionNeeded,
            ErrorKind::BudgetExceeded => Exit::BudgetExceeded,
            ErrorKind::Unusable => Exit::Unusable,
        }
    }
}

impl fmt::Display for CommandError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "error: {}", self.note())
    }
}

impl From<LedgerError> for CommandError {
    fn from(error: LedgerError) -> Self {
        match error {
            LedgerError::NotResolvable(_) => Self::invalid(error),
            #[cfg(feature = "cluster")]
            LedgerError::OtherRecords(error) => match error.downcast() {
                Ok(error) => crate::commands::cluster_address::engine_error(*error),
                Err(error) => Self::unusable(error),
            },
            _ => Self::unusable(error),
        }
    }
}

impl From<std::io::Error> for CommandError {
    fn from(error: std::io::Error) -> Self {
        Self::unusable(error)
    }
}
