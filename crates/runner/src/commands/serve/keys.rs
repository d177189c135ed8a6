//! `runner serve keys`: who may use a service. A running service notices within a second or two.

use std::path::Path;

use secrecy::ExposeSecret as _;
use service::{ApiKeyStore, KeyEntry, KeyLimits, OsRandomness, Permissions, SystemClock};

use super::Refused;
use crate::{
    args::{KeysCommand, NewKeyArgs},
    exit::Exit,
    report::Table,
};

pub(super) fn keys(data: &Path, command: &KeysCommand) -> Result<(), Refused> {
    let book = match command {
        // Whoever looks or takes back has a folder already; a mistyped one must not come into being.
        KeysCommand::List | KeysCommand::Revoke { .. } if !data.join("service.db").is_file() => {
            let why = format!("{} is no data folder of a service: name it with --data", data.display());
            return Err(Refused(Exit::InvalidInput, why));
        }
        _ => ApiKeyStore::open(data)?,
    };
    match command {
        KeysCommand::Add(new) => {
            let secret = book.add(&new_key(new), &SystemClock, &OsRandomness)?;
            // The key alone on standard output, so that it can go into a file or a variable unseen.
            outln!("{}", secret.expose_secret());
            errln!("the key of `{}`: it is shown this once and stored nowhere", new.name.trim());
        }
        KeysCommand::List => out!("{}", table(&book.list()?)),
        KeysCommand::Revoke { key } => {
            if !book.revoke(key, &SystemClock)? {
                let why = format!("there is no good key `{key}`: `runner serve keys list` lists them");
                return Err(Refused(Exit::InvalidInput, why));
            }
            errln!("`{key}` is revoked; its tasks stay and finish");
        }
    }
    Ok(())
}

fn new_key(args: &NewKeyArgs) -> service::NewKey {
    let default = KeyLimits::default();
    let limits = KeyLimits {
        running_tasks: args.running_tasks.unwrap_or(default.running_tasks),
        submissions_per_second: args.submissions_per_second.unwrap_or(default.submissions_per_second),
        // A slow rate with the default's burst would be no limit for a long while.
        burst: args
            .burst
            .or_else(|| {
                args.submissions_per_second
                    .map(|rate| rate.ceil().clamp(1.0, f64::from(default.burst)) as u32)
            })
            .unwrap_or(default.burst),
        quota_seconds: args.quota_seconds,
    };
    service::NewKey {
        name: args.name.clone(),
        permissions: Permissions { full_hd: args.full_hd },
        limits: (limits != default).then_some(limits),
    }
}

fn table(keys: &[KeyEntry]) -> String {
    let mut table = Table::new([
        "name", "id", "made", "1080p", "tasks", "video", "quota", "at once", "a second", "state",
    ]);
    let date = |at| {
        jiff::Timestamp::from_millisecond(at)
            .map_or_else(|_| "?".to_owned(), |at| at.strftime("%Y-%m-%d").to_string())
    };
    for key in keys {
        let limits = key.limits.clone().unwrap_or_default();
        table.row([
            key.name.clone(),
            key.id.to_string(),
            date(key.created_at),
            if key.permissions.full_hd { "yes" } else { "no" }.to_owned(),
            key.tasks.to_string(),
            format!("{} s", key.video_ms as f64 / 1000.0),
            limits.quota_seconds.map_or_else(|| "none".to_owned(), |seconds| format!("{seconds} s")),
            limits.running_tasks.to_string(),
            limits.submissions_per_second.to_string(),
            key.revoked_at.map_or_else(|| "good".to_owned(), |at| format!("revoked {}", date(at))),
        ]);
    }
    table.render()
}
