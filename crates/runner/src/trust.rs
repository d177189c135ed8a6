//! Where keys may be sent. A project's `services.yaml` names an address and the variable of a key: a file that came with somebody else's project
//! could send the user's key anywhere. Each such pair is confirmed once, by name, on this machine.

use std::io::Write as _;
use std::path::PathBuf;

use workflow::services::ServiceAddress;

use crate::error::CommandError;
use crate::services::user_folder;

/// Pairs of variable and origin, one on each line.
const FILE: &str = "trusted-services";

/// Whether the services of this call are trusted without being asked about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Trust {
    /// Those that were confirmed.
    Confirmed,
    /// All: `--trust-services`.
    All,
}

impl Trust {
    pub(crate) fn new(trusts_all: bool) -> Self {
        if trusts_all { Self::All } else { Self::Confirmed }
    }

    /// Refuses to send a key where nobody has confirmed that it may go.
    pub(crate) fn check(self, name: &str, address: &ServiceAddress) -> Result<(), CommandError> {
        if self == Self::All || address.is_trusted || is_confirmed(address) {
            return Ok(());
        }
        let (key, origin) = (&address.key, address.url.origin().ascii_serialization());
        Err(CommandError::invalid(format!(
            "services.yaml sends the key in {key} to {origin}, which nobody has confirmed on this machine; nothing was sent"
        ))
        .hint(format!("if that is right, once: runner services trust {name}"))
        .hint("where nobody can be asked, as in CI: add --trust-services"))
    }
}

fn file() -> Option<PathBuf> {
    user_folder().map(|folder| folder.join(FILE))
}

fn line(address: &ServiceAddress) -> String {
    format!("{} {}", address.key, address.url.origin().ascii_serialization())
}

fn is_confirmed(address: &ServiceAddress) -> bool {
    let text = file().and_then(|file| std::fs::read_to_string(file).ok()).unwrap_or_default();
    text.lines().any(|own| own == line(address))
}

/// Confirms where the key of a service goes.
///
/// # Errors
/// It cannot be written down.
pub(crate) fn confirm(address: &ServiceAddress) -> Result<(), CommandError> {
    if is_confirmed(address) {
        return Ok(());
    }
    let Some(file) = file() else {
        return Err(CommandError::unusable("this user has no folder of settings: HOME is not set"));
    };
    if let Some(folder) = file.parent() {
        fs_err::create_dir_all(folder)?;
    }
    let mut file = fs_err::OpenOptions::new().append(true).create(true).open(file)?;
    Ok(writeln!(file, "{}", line(address))?)
}
