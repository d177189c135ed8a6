//! `runner serve keys`: manages API keys. Changes apply to a running service at once.

use std::path::Path;

use secrecy::ExposeSecret as _;
use service::{ApiKeyStore, KeyEntry, KeyLimits, OsRandomness, Permissions, SystemClock};
use workflow::units::VideoDuration;

use crate::{
    args::{KeyLimitArgs, KeysCommand, NewKeyArgs, SetKeyArgs},
    error::CommandError,
    project_paths::display_path,
    report::Table,
};

pub(super) fn keys(data: &Path, command: &KeysCommand) -> Result<(), CommandError> {
    let store = match command {
        // These need an existing folder: a mistyped name must not create one.
        KeysCommand::List | KeysCommand::Revoke { .. } | KeysCommand::Set(_)
            if !data.join("service.db").is_file() =>
        {
            let message = format!("{} is not the data folder of a service; set --data", display_path(data));
            return Err(CommandError::invalid(message));
        }
        _ => ApiKeyStore::open(data)?,
    };
    match command {
        KeysCommand::Add(new) => {
            let secret = store.add(&new_key(new), &SystemClock, &OsRandomness)?;
            // The key is the only output on standard output, so that it can be redirected unseen.
            outln!("{}", secret.expose_secret());
            errln!("API key of `{}`; it is shown only once and not stored", new.name.trim());
        }
        KeysCommand::Set(set) => {
            if !store.set(&set.key, |permissions, limits| with_changes(set, permissions, limits.as_ref()))? {
                return Err(unknown_key(&set.key));
            }
            errln!("changed `{}`", set.key);
        }
        KeysCommand::List => out!("{}", table(&store.list()?)),
        KeysCommand::Revoke { key } => {
            if !store.revoke(key, &SystemClock)? {
                return Err(unknown_key(key));
            }
            errln!("revoked `{key}`; its tasks are kept and finish");
        }
    }
    Ok(())
}

fn unknown_key(key: &str) -> CommandError {
    CommandError::invalid(format!("there is no active key `{key}`; `runner serve keys list` lists them"))
}

fn new_key(args: &NewKeyArgs) -> service::NewKey {
    service::NewKey {
        name: args.name.clone(),
        permissions: Permissions { full_hd: args.full_hd },
        limits: limits(&args.limits, None),
    }
}

/// The present limits with those that are given; `None` if these are the service's own.
fn limits(args: &KeyLimitArgs, present: Option<&KeyLimits>) -> Option<KeyLimits> {
    let default = KeyLimits::default();
    let present_or_default = present.cloned().unwrap_or_default();
    let limits = KeyLimits {
        running_tasks: args.running_tasks.unwrap_or(present_or_default.running_tasks),
        submissions_per_second: args
            .submissions_per_second
            .unwrap_or(present_or_default.submissions_per_second),
        // A low rate with the default burst would not limit for a long time.
        burst: args
            .burst
            .or_else(|| {
                args.submissions_per_second
                    .map(|rate| rate.ceil().clamp(1.0, f64::from(default.burst)) as u32)
            })
            .unwrap_or(present_or_default.burst),
        quota_seconds: args.quota_seconds.or(present_or_default.quota_seconds),
    };
    (present.is_some() || limits != default).then_some(limits)
}

fn with_changes(
    args: &SetKeyArgs,
    permissions: Permissions,
    present: Option<&KeyLimits>,
) -> (Permissions, Option<KeyLimits>) {
    let full_hd = (permissions.full_hd || args.full_hd) && !args.no_full_hd;
    let mut limits = limits(&args.limits, present);
    if let Some(limits) = limits.as_mut().filter(|_| args.no_quota) {
        limits.quota_seconds = None;
    }
    (Permissions { full_hd }, limits)
}

fn table(keys: &[KeyEntry]) -> String {
    let mut table = Table::new([
        "name",
        "id",
        "created",
        "1080p",
        "tasks",
        "video",
        "quota",
        "max tasks",
        "rate/s",
        "state",
    ]);
    let date = |timestamp| {
        jiff::Timestamp::from_millisecond(timestamp)
            .map_or_else(|_| "?".to_owned(), |timestamp| timestamp.strftime("%Y-%m-%d").to_string())
    };
    for key in keys {
        let limits = key.limits.clone().unwrap_or_default();
        table.row([
            key.name.clone(),
            key.id.to_string(),
            date(key.created_at),
            if key.permissions.full_hd { "yes" } else { "no" }.to_owned(),
            key.tasks.to_string(),
            format!("{} s", VideoDuration::from_millis(key.video_ms)),
            limits.quota_seconds.map_or_else(|| "none".to_owned(), |seconds| format!("{seconds} s")),
            limits.running_tasks.to_string(),
            limits.submissions_per_second.to_string(),
            key.revoked_at
                .map_or_else(|| "active".to_owned(), |timestamp| format!("revoked {}", date(timestamp))),
        ]);
    }
    table.render()
}
