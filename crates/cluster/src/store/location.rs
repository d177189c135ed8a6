//! A store's URL and settings: a folder, S3 and stores that are compatible with it, Google Cloud Storage, Azure Blob Storage.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use client::Proxies;
use object_store::aws::{AmazonS3Builder, AmazonS3ConfigKey};
use object_store::azure::{AzureConfigKey, MicrosoftAzureBuilder};
use object_store::gcp::{GoogleCloudStorageBuilder, GoogleConfigKey};
use object_store::local::LocalFileSystem;
use object_store::path::Path as ObjectPath;
use object_store::{BackoffConfig, ClientOptions, ObjectStore, RetryConfig};
use secrecy::{ExposeSecret as _, SecretString};
use url::Url;

use super::error::{SharedStoreError, SharedStoreErrorKind, Wording};
use super::http::Connector;

/// How long a cloud store may be silent. A part of an upload has to arrive within it.
const STALL_TIMEOUT: Duration = Duration::from_mins(2);
/// A request that fails is repeated so often, within this time: the callers repeat the whole step, or say what failed.
const MAX_RETRIES: usize = 5;
const RETRY_TIMEOUT: Duration = Duration::from_mins(1);
const MAX_BACKOFF: Duration = Duration::from_secs(5);

/// Settings by the names of the usual environment variables.
const S3_SETTINGS: &[&str] = &[
    "AWS_ACCESS_KEY_ID",
    "AWS_SECRET_ACCESS_KEY",
    "AWS_SESSION_TOKEN",
    "AWS_REGION",
    "AWS_DEFAULT_REGION",
    "AWS_ENDPOINT_URL",
    "AWS_ENDPOINT_URL_S3",
    "AWS_ENDPOINT_URL_STS",
    "AWS_VIRTUAL_HOSTED_STYLE_REQUEST",
    "AWS_ALLOW_HTTP",
    "AWS_REQUEST_PAYER",
    "AWS_SERVER_SIDE_ENCRYPTION",
    "AWS_SSE_KMS_KEY_ID",
    "AWS_WEB_IDENTITY_TOKEN_FILE",
    "AWS_ROLE_ARN",
    "AWS_ROLE_SESSION_NAME",
    "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI",
    "AWS_CONTAINER_CREDENTIALS_FULL_URI",
    "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE",
];
const GOOGLE_SETTINGS: &[&str] = &[
    "GOOGLE_APPLICATION_CREDENTIALS",
    "GOOGLE_SERVICE_ACCOUNT",
    "GOOGLE_SERVICE_ACCOUNT_KEY",
    "GOOGLE_BASE_URL",
    "GOOGLE_ALLOW_HTTP",
];
const AZURE_SETTINGS: &[&str] = &[
    "AZURE_STORAGE_ACCOUNT_NAME",
    "AZURE_STORAGE_ACCOUNT_KEY",
    "AZURE_STORAGE_SAS_TOKEN",
    "AZURE_STORAGE_ENDPOINT",
    "AZURE_ALLOW_HTTP",
    "AZURE_CLIENT_ID",
    "AZURE_CLIENT_SECRET",
    "AZURE_TENANT_ID",
    "AZURE_AUTHORITY_HOST",
    "AZURE_FEDERATED_TOKEN_FILE",
];
/// Those that hold credentials.
const SECRET_SETTINGS: &[&str] = &[
    "AWS_ACCESS_KEY_ID",
    "AWS_SECRET_ACCESS_KEY",
    "AWS_SESSION_TOKEN",
    "GOOGLE_SERVICE_ACCOUNT_KEY",
    "AZURE_STORAGE_ACCOUNT_KEY",
    "AZURE_STORAGE_SAS_TOKEN",
    "AZURE_CLIENT_SECRET",
];

/// How a store is reached.
#[derive(Clone)]
pub struct StoreOptions {
    /// Settings by the names of [`StoreOptions::setting_names`]. The caller has read them; this crate reads no environment.
    pub settings: Vec<(String, SecretString)>,
    /// Proxies for cloud stores.
    pub proxies: Proxies,
    /// How long a cloud store may be silent.
    pub stall_timeout: Duration,
}

impl Default for StoreOptions {
    fn default() -> Self {
        Self { settings: Vec::new(), proxies: Proxies::default(), stall_timeout: STALL_TIMEOUT }
    }
}

impl fmt::Debug for StoreOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = self.settings.iter().map(|(name, _)| name.as_str()).collect();
        f.debug_struct("StoreOptions").field("settings", &names).finish_non_exhaustive()
    }
}

impl StoreOptions {
    /// The settings that a store with this URL may have, by the names of the environment variables that other tools use for them.
    pub fn setting_names(url: &Url) -> &'static [&'static str] {
        match url.scheme() {
            "s3" => S3_SETTINGS,
            "gs" => GOOGLE_SETTINGS,
            "az" => AZURE_SETTINGS,
            _ => &[],
        }
    }

    fn setting(&self, name: &str) -> Option<&str> {
        self.settings.iter().find(|(key, _)| key == name).map(|(_, value)| value.expose_secret())
    }

    /// Whether the store is reached without TLS: on this machine, or where a setting says so. An address without TLS is refused otherwise, each
    /// of several by itself: an address on this machine says nothing about the others.
    fn allows_http(&self, endpoints: &[&str], setting: &str) -> Result<bool, String> {
        let is_set = self.setting(setting).is_some_and(|value| value.eq_ignore_ascii_case("true"));
        let mut has_loopback = false;
        for name in endpoints {
            let Some(endpoint) = self.setting(name) else { continue };
            if is_loopback(endpoint) {
                has_loopback = true;
            } else if !is_set && has_scheme_http(endpoint) {
                return Err(format!(
                    "{name} is not https, so that videos, prompts or credentials would be sent unencrypted; in a network that you trust: export {setting}=true"
                ));
            }
        }
        Ok(is_set || has_loopback)
    }
}

fn has_scheme_http(endpoint: &str) -> bool {
    Url::parse(endpoint).is_ok_and(|url| url.scheme() == "http")
}

fn is_loopback(endpoint: &str) -> bool {
    Url::parse(endpoint).is_ok_and(|url| workflow::is_loopback(&url))
}

/// An open store.
pub(super) struct Location {
    pub(super) store: Arc<dyn ObjectStore>,
    /// Where its objects are in it.
    pub(super) prefix: ObjectPath,
    /// Whether reading costs time and money.
    pub(super) is_remote: bool,
    pub(super) wording: Wording,
}

impl Location {
    pub(super) fn open(url: &Url, options: &StoreOptions) -> Result<Self, SharedStoreError> {
        let secrets = options.settings.iter().filter(|(name, _)| SECRET_SETTINGS.contains(&name.as_str()));
        let wording =
            Wording { store: display_url(url), secrets: secrets.map(|(_, value)| value.clone()).collect() };
        if url.password().is_some() || url.query().is_some() || url.fragment().is_some() {
            return Err(wording.invalid(
                "a URL of a store has no password, `?` and `#`; credentials belong into the environment",
            ));
        }
        if url.scheme() == "file" {
            return Self::folder(url, wording);
        }
        let has_host = url.host_str().is_some_and(|host| !host.is_empty());
        if !matches!(url.scheme(), "s3" | "gs" | "az") || !has_host {
            return Err(wording.invalid(
                "write file:///FOLDER, s3://BUCKET/PREFIX, gs://BUCKET/PREFIX or az://CONTAINER/PREFIX",
            ));
        }
        let prefix = ObjectPath::from_url_path(url.path()).map_err(|error| wording.invalid(error))?;
        let connector = Connector::new(&options.proxies, options.stall_timeout)
            .map_err(|error| wording.invalid(error))?;
        let (endpoints, setting): (&[&str], _) = match url.scheme() {
            "s3" => (&["AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL_STS"], "AWS_ALLOW_HTTP"),
            "gs" => (&["GOOGLE_BASE_URL"], "GOOGLE_ALLOW_HTTP"),
            _ => (&["AZURE_STORAGE_ENDPOINT", "AZURE_AUTHORITY_HOST"], "AZURE_ALLOW_HTTP"),
        };
        let allows_http =
            options.allows_http(endpoints, setting).map_err(|reason| wording.invalid(reason))?;
        let client_options = ClientOptions::new().with_allow_http(allows_http);
        let opened = match url.scheme() {
            "s3" => s3(url, options, client_options, connector),
            "gs" => google(url, options, client_options, connector),
            _ => azure(url, options, client_options, connector),
        };
        // Nothing was asked of the store yet.
        let store = opened.map_err(|error| wording.invalid(error))?;
        Ok(Self { store, prefix, is_remote: true, wording })
    }

    /// A store in the memory of this process.
    #[cfg(feature = "failpoints")]
    pub(super) fn in_memory() -> Self {
        Self {
            store: Arc::new(object_store::memory::InMemory::new()),
            prefix: ObjectPath::default(),
            is_remote: false,
            wording: Wording { store: "memory".to_owned(), secrets: Vec::new() },
        }
    }

    fn folder(url: &Url, wording: Wording) -> Result<Self, SharedStoreError> {
        let Ok(folder) = url.to_file_path() else {
            return Err(wording.invalid("write the whole path of a folder: file:///mnt/videos"));
        };
        if !folder.is_dir() {
            let (kind, reason) = (SharedStoreErrorKind::NoStore, "there is no such folder".to_owned());
            return Err(SharedStoreError { store: wording.store, kind, action: String::new(), reason });
        }
        // Videos are paid for: they are on the disk before an event says so.
        let opened = LocalFileSystem::new_with_prefix(folder).map(|store| store.with_fsync(true));
        let store = opened.map_err(|error| wording.invalid(error))?;
        Ok(Self { store: Arc::new(store), prefix: ObjectPath::default(), is_remote: false, wording })
    }
}

fn retries() -> RetryConfig {
    let backoff = BackoffConfig { max_backoff: MAX_BACKOFF, ..BackoffConfig::default() };
    RetryConfig { backoff, max_retries: MAX_RETRIES, retry_timeout: RETRY_TIMEOUT }
}

fn s3(
    url: &Url,
    options: &StoreOptions,
    client_options: ClientOptions,
    connector: Connector,
) -> object_store::Result<Arc<dyn ObjectStore>> {
    let mut builder = AmazonS3Builder::new().with_client_options(client_options);
    for (name, value) in &options.settings {
        let key: AmazonS3ConfigKey = name.to_ascii_lowercase().parse()?;
        builder = builder.with_config(key, value.expose_secret());
    }
    let builder = builder.with_url(url.as_str()).with_retry(retries()).with_http_connector(connector);
    Ok(Arc::new(builder.build()?))
}

fn google(
    url: &Url,
    options: &StoreOptions,
    client_options: ClientOptions,
    connector: Connector,
) -> object_store::Result<Arc<dyn ObjectStore>> {
    let mut builder = GoogleCloudStorageBuilder::new().with_client_options(client_options);
    for (name, value) in &options.settings {
        let key: GoogleConfigKey = name.to_ascii_lowercase().parse()?;
        builder = builder.with_config(key, value.expose_secret());
    }
    let builder = builder.with_url(url.as_str()).with_retry(retries()).with_http_connector(connector);
    Ok(Arc::new(builder.build()?))
}

fn azure(
    url: &Url,
    options: &StoreOptions,
    client_options: ClientOptions,
    connector: Connector,
) -> object_store::Result<Arc<dyn ObjectStore>> {
    let mut builder = MicrosoftAzureBuilder::new().with_client_options(client_options);
    for (name, value) in &options.settings {
        let key: AzureConfigKey = name.to_ascii_lowercase().parse()?;
        builder = builder.with_config(key, value.expose_secret());
    }
    let builder = builder.with_url(url.as_str()).with_retry(retries()).with_http_connector(connector);
    Ok(Arc::new(builder.build()?))
}

/// A URL without what may be a secret.
fn display_url(url: &Url) -> String {
    let mut url = url.clone();
    // Fails where a URL has no password.
    let _ = url.set_password(None);
    url.set_query(None);
    url.set_fragment(None);
    url.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(url: &str, settings: &[(&str, &str)]) -> SharedStoreError {
        let settings = settings.iter().map(|(name, value)| ((*name).to_owned(), (*value).into())).collect();
        let options = StoreOptions { settings, ..StoreOptions::default() };
        let opened = Location::open(&Url::parse(url).expect("a URL"), &options);
        opened.err().unwrap_or_else(|| panic!("{url} is refused"))
    }

    #[test]
    fn stores_that_cannot_be_used_are_refused_with_reasons() {
        for (url, kind) in [
            ("file:///no/such/folder", SharedStoreErrorKind::NoStore),
            ("ftp://films.example/a", SharedStoreErrorKind::Invalid),
            ("s3://", SharedStoreErrorKind::Invalid),
            ("s3:bucket", SharedStoreErrorKind::Invalid),
            ("s3://bucket?sig=SECRET", SharedStoreErrorKind::Invalid),
            ("s3://me:SECRET@bucket/", SharedStoreErrorKind::Invalid),
            ("s3://bucket/%2e%2e/other%2f..%2fa", SharedStoreErrorKind::Invalid),
            ("az://container/films", SharedStoreErrorKind::Invalid),
        ] {
            let error = refused(url, &[]);
            assert_eq!(error.kind, kind, "{error}");
            assert!(!error.to_string().contains("SECRET"), "{error}");
        }
    }

    #[test]
    fn settings_that_cannot_be_used_are_refused_without_showing_credentials() {
        let half = refused("s3://bucket", &[("AWS_SECRET_ACCESS_KEY", "SECRET")]);
        assert!(!half.to_string().contains("SECRET"), "{half}");
        let plain = refused("s3://bucket", &[("AWS_ENDPOINT_URL", "http://minio.example:9000")]);
        assert!(plain.to_string().contains("export AWS_ALLOW_HTTP=true"), "{plain}");
        // An address on this machine says nothing about another one.
        for (url, local, remote) in [
            ("s3://bucket", "AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_S3"),
            ("s3://bucket", "AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL"),
            ("s3://bucket", "AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_STS"),
            ("az://container", "AZURE_STORAGE_ENDPOINT", "AZURE_AUTHORITY_HOST"),
        ] {
            for scheme in ["http", "HTTP"] {
                let address = format!("{scheme}://store.example:9000");
                let settings = [(local, "http://127.0.0.1:9000"), (remote, address.as_str())];
                let error = refused(url, &settings).to_string();
                assert!(error.contains(&format!("{remote} is not https")), "{error}");
            }
        }
        let google =
            refused("gs://bucket", &[("GOOGLE_SERVICE_ACCOUNT_KEY", "{\"private_key\": \"SECRET\"}")]);
        assert!(!google.to_string().contains("SECRET"), "{google}");
        let options = StoreOptions {
            settings: vec![("AWS_SESSION_TOKEN".to_owned(), "SECRET".into())],
            ..StoreOptions::default()
        };
        assert!(!format!("{options:?}").contains("SECRET"));
    }
}
