//! The services that shots are sent to: each has a name, a description, an address and a key.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, LazyLock};

use contract::Contract;
use url::Url;

use crate::service_identity::service_identity;

/// The name of the embedded service, which is free.
pub const REHEARSAL: &str = "rehearsal";
/// Before the name of a service that the embedded one stands in for.
const REHEARSAL_OF: &str = "rehearsal:";

/// The name of what stands in for a service, or for the one of whoever runs the plan.
pub(crate) fn rehearsal_of(service: Option<&str>) -> String {
    match service {
        None => REHEARSAL.to_owned(),
        Some(name) if is_rehearsal(name) => name.to_owned(),
        Some(name) => format!("{REHEARSAL_OF}{name}"),
    }
}

/// The service that the embedded one stands in for under a name: it takes the same requests, for nothing.
pub fn rehearsed(name: &str) -> Option<&str> {
    name.strip_prefix(REHEARSAL_OF)
}

/// Whether a name is one of the embedded service.
pub fn is_rehearsal(name: &str) -> bool {
    name == REHEARSAL || rehearsed(name).is_some()
}

/// A service of a project.
#[derive(Clone, Debug)]
pub struct Service {
    /// What it is like, with the project's own models.
    pub contract: Arc<Contract>,
    /// Where it is; `None` for the embedded one.
    pub address: Option<ServiceAddress>,
    /// Its price table; `None` for that of the project.
    pub prices: Option<PathBuf>,
    /// Limits in place of the usual ones.
    pub limits: ServiceLimits,
    /// Other names and addresses under which work of it is on record.
    pub also: Vec<String>,
}

/// Where a service is, and what it is given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServiceAddress {
    pub url: Url,
    /// The environment variable that has the key.
    pub key: String,
    /// Whether the program brings this pair of address and variable along: then no file of a project has chosen where the key goes.
    pub is_trusted: bool,
}

/// Limits of a service in place of the usual ones; `None` where nothing is said.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ServiceLimits {
    /// Tasks in flight.
    pub jobs: Option<u32>,
    pub submits_per_minute: Option<u32>,
    pub polls_per_second: Option<u32>,
    /// Concurrent ones.
    pub downloads: Option<u32>,
}

/// The services that shots may name: those of `services.yaml`, and those that the program brings along with an address.
#[derive(Clone, Debug, Default)]
pub struct Services {
    configured: BTreeMap<String, Service>,
}

/// Those that need no `services.yaml`, by name: read when one is asked for that is not configured.
static SHIPPED: LazyLock<BTreeMap<&'static str, Service>> = LazyLock::new(|| {
    let embedded = Service::new(Arc::clone(Contract::embedded()), None);
    let shipped = Contract::shipped_names().filter_map(|name| {
        let contract = Contract::shipped(name)?;
        let url = contract.server()?.parse().ok()?;
        let key = contract.key_variable()?.to_owned();
        let address = ServiceAddress { url, key, is_trusted: true };
        Some((name, Service::new(Arc::clone(contract), Some(address))))
    });
    shipped.chain([(REHEARSAL, embedded)]).collect()
});

impl Service {
    pub(crate) fn new(contract: Arc<Contract>, address: Option<ServiceAddress>) -> Self {
        Self { contract, address, prices: None, limits: ServiceLimits::default(), also: Vec::new() }
    }

    /// Other identities under which work of it is on record: those that `also` names, and its address alone.
    pub fn aliases(&self) -> Vec<String> {
        let own = self.address.as_ref().map(|address| service_identity(&address.url));
        let named = self.also.iter().map(|text| match Url::parse(text) {
            Ok(url) if url.has_host() => service_identity(&url),
            _ => text.clone(),
        });
        named.chain(own).collect()
    }
}

impl Services {
    /// These, and those that the program brings along.
    pub fn new(configured: BTreeMap<String, Service>) -> Self {
        Self { configured }
    }

    /// The service of a name; of a rehearsal the one that is rehearsed.
    pub fn get(&self, name: &str) -> Option<&Service> {
        let name = rehearsed(name).unwrap_or(name);
        self.configured.get(name).or_else(|| SHIPPED.get(name))
    }

    /// The name of the service whose work is on record under an identity.
    pub fn name_of<'a>(&'a self, identity: &'a str) -> Option<&'a str> {
        if self.get(identity).is_some() {
            return Some(identity);
        }
        self.configured()
            .find(|(_, service)| service.aliases().iter().any(|alias| alias == identity))
            .map(|(name, _)| name)
    }

    /// The services of `services.yaml`.
    pub fn configured(&self) -> impl Iterator<Item = (&str, &Service)> {
        self.configured.iter().map(|(name, service)| (name.as_str(), service))
    }

    /// All names, those of `services.yaml` first.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        let shipped = SHIPPED.keys().copied().filter(|name| !self.configured.contains_key(*name));
        self.configured.keys().map(String::as_str).chain(shipped)
    }
}
