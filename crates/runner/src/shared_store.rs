//! The shared store of a cluster, with the settings of the environment, and what to do about its errors.

use cluster::store::{SharedStoreError, SharedStoreErrorKind};
use cluster::{ClusterError, SharedStore, StoreOptions};
use url::Url;

use crate::commands::cluster_address::engine_error;
use crate::error::CommandError;
use crate::{proxies, shell};

/// Opens the store at a URL. Settings and credentials of cloud stores come from the variables that other tools use for them, and go no further
/// than to the store.
pub(crate) fn open(url: &Url) -> Result<SharedStore, CommandError> {
    let names = StoreOptions::setting_names(url);
    let env_var = |name: &str| std::env::var(name).ok().filter(|value| !value.trim().is_empty());
    let settings = names.iter().filter_map(|name| Some(((*name).to_owned(), env_var(name)?.trim().into())));
    let mut options = StoreOptions { settings: settings.collect(), ..StoreOptions::default() };
    if !names.is_empty() {
        options.proxies = proxies::from_environment()?;
    }
    SharedStore::open(url, &options).map_err(engine_error)
}

/// What to do about an error of the store.
pub(crate) fn hints(error: &ClusterError) -> Vec<String> {
    match error {
        ClusterError::Store(error) => store_hint(error).into_iter().collect(),
        ClusterError::Damaged { name, store } => {
            let url = format!("{}/{name}", store.trim_end_matches('/'));
            vec![format!("move {url} away and run again, which stores it again")]
        }
        ClusterError::Changed { .. } => {
            vec!["run again; the plan is then of the file as it is now".to_owned()]
        }
        _ => Vec::new(),
    }
}

fn store_hint(error: &SharedStoreError) -> Option<String> {
    let url = Url::parse(&error.store).ok()?;
    let scheme = url.scheme();
    Some(match error.kind {
        SharedStoreErrorKind::NoStore if scheme == "file" => {
            let folder = url.to_file_path().ok()?;
            let folder = shell::quote(folder.to_str()?);
            format!("mount it on this machine, or create it: mkdir -p {folder}")
        }
        SharedStoreErrorKind::NoStore if scheme == "s3" => {
            "create the bucket, or correct --store; for a store that is not Amazon's: export AWS_ENDPOINT_URL=https://…"
                .to_owned()
        }
        SharedStoreErrorKind::NoStore => "create it, or correct --store".to_owned(),
        SharedStoreErrorKind::Denied => format!("set the credentials of a user who may read and write there: {}", credentials(scheme)),
        SharedStoreErrorKind::Unavailable if scheme == "s3" => {
            "check AWS_ENDPOINT_URL and AWS_REGION, and that this machine reaches the store".to_owned()
        }
        SharedStoreErrorKind::Unavailable => "check that this machine reaches the store, and run again".to_owned(),
        SharedStoreErrorKind::Invalid | SharedStoreErrorKind::Missing => return None,
    })
}

/// The command that sets credentials.
fn credentials(scheme: &str) -> &'static str {
    match scheme {
        "s3" => "export AWS_ACCESS_KEY_ID=… AWS_SECRET_ACCESS_KEY=… AWS_REGION=…",
        "gs" => "export GOOGLE_APPLICATION_CREDENTIALS=FILE.json",
        "az" => "export AZURE_STORAGE_ACCOUNT_NAME=… AZURE_STORAGE_ACCOUNT_KEY=…",
        _ => "mount the folder so that this user may write to it",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_of_a_store_come_with_what_to_do() {
        let error = |store: &str, kind| {
            let (action, reason) = ("write plans/a.json".to_owned(), "AccessDenied".to_owned());
            ClusterError::Store(SharedStoreError { store: store.to_owned(), kind, action, reason })
        };
        for (store, kind, hint) in [
            ("s3://films/a", SharedStoreErrorKind::Denied, "export AWS_ACCESS_KEY_ID="),
            ("gs://films", SharedStoreErrorKind::Denied, "export GOOGLE_APPLICATION_CREDENTIALS="),
            ("az://films", SharedStoreErrorKind::Denied, "export AZURE_STORAGE_ACCOUNT_NAME="),
            ("file:///mnt/our%20films", SharedStoreErrorKind::NoStore, "mkdir -p '/mnt/our films'"),
            ("s3://films", SharedStoreErrorKind::NoStore, "export AWS_ENDPOINT_URL="),
            ("s3://films", SharedStoreErrorKind::Unavailable, "AWS_REGION"),
        ] {
            let hints = hints(&error(store, kind));
            assert!(hints.len() == 1 && hints[0].contains(hint), "{store}: {hints:?}");
        }
        assert!(hints(&error("s3://films", SharedStoreErrorKind::Invalid)).is_empty());
        let damaged =
            ClusterError::Damaged { name: "plans/a.json".to_owned(), store: "s3://films/a".to_owned() };
        assert!(
            hints(&damaged)[0].starts_with("move s3://films/a/plans/a.json away"),
            "{:?}",
            hints(&damaged)
        );
    }
}
