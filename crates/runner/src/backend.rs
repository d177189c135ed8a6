//! Selects the service: one of `services.yaml`, the one that the environment names, or the embedded one.

use std::collections::BTreeSet;
use std::sync::Arc;

use client::{Client, ClientConfig, Proxies};
use contract::Contract;
use engine::RunServices;
use engine::provider::{Account, Accounts, Provider, Remote};
use renderer::{Animatic, Renderer};
use scheduler::Policy;
use scheduler::policy::Rate;
use secrecy::{ExposeSecret as _, SecretString};
use url::Url;
use workflow::plan::{Node, Plan};
use workflow::services::{REHEARSAL, ServiceLimits, Services, is_rehearsal, rehearsed};

use crate::embedded::EmbeddedService;
use crate::error::CommandError;
use crate::project_paths::ProjectPaths;
use crate::proxies;
use crate::service_address::{API_KEY, BASE_URL, api_key, api_key_from, base_url};
use crate::trust::Trust;

/// A service that is not connected yet.
pub(crate) enum Backend {
    /// A service reached over the network.
    Remote(Box<RemoteService>),
    /// The service embedded in this program.
    Embedded {
        /// Its identity.
        identity: String,
        /// What it answers by in place of its own API.
        description: Option<Arc<Contract>>,
        /// What renders its videos.
        renderer: Arc<dyn Renderer>,
    },
}

/// A service reached over the network.
pub(crate) struct RemoteService {
    /// Its name in `services.yaml`; `None` for the one that the environment names.
    name: Option<String>,
    description: Arc<Contract>,
    pub(crate) url: Url,
    key: SecretString,
    /// Proxies for everything that is not on this machine.
    proxies: Proxies,
    /// What its server errors mean.
    limits: ServiceLimits,
}

/// The services of a plan, for commands that ask them nothing.
pub(crate) struct PlannedServices {
    /// The identity of the service of shots that name none.
    pub(crate) identity: String,
    pub(crate) accounts: Accounts,
    /// Those of the plan, for people.
    pub(crate) shown: String,
}

impl PlannedServices {
    /// Whether tasks are free, whatever the price table says.
    pub(crate) fn is_free(&self) -> bool {
        !self.accounts.any_is_paid()
    }

    /// Whether a node's task is free.
    pub(crate) fn is_free_of(&self, node: &Node) -> bool {
        is_rehearsal(node.service.as_deref().unwrap_or(&self.identity))
    }

    /// Their identities.
    pub(crate) fn identities(&self) -> Vec<&str> {
        self.accounts.services().collect()
    }
}

/// Refuses a plan that names services, where the workers' own is the only one.
#[cfg(feature = "cluster")]
pub(crate) fn refuse_named_services(plan: &Plan) -> Result<(), CommandError> {
    match plan.nodes().find_map(|(_, node)| node.service.as_deref()) {
        None => Ok(()),
        Some(name) => Err(CommandError::invalid(format!(
            "this file is rendered by `{name}`, and a cluster by the one service that its workers are started with"
        ))
        .hint("leave `service` out, or run without --engine")),
    }
}

/// The services of a plan that are not connected yet.
pub(crate) struct Backends {
    /// The identity of the service of shots that name none.
    identity: String,
    all: Vec<Backend>,
}

impl Backends {
    /// Those of a plan.
    pub(crate) fn of_plan(plan: &Plan, services: &Services, trust: Trust) -> Result<Self, CommandError> {
        let backends = names_of(plan).into_iter().map(|name| Backend::named(name, services, trust));
        Ok(Self { identity: identity_from_environment()?, all: backends.collect::<Result<_, _>>()? })
    }

    /// The same services, with another renderer for the embedded one.
    pub(crate) fn with_renderer(self, renderer: &Arc<dyn Renderer>) -> Self {
        let all = self.all.into_iter().map(|backend| backend.with_renderer(Arc::clone(renderer)));
        Self { all: all.collect(), ..self }
    }

    /// The same for commands that ask them nothing.
    pub(crate) fn planned(&self) -> PlannedServices {
        let accounts = self.all.iter().fold(Accounts::default(), |accounts, backend| {
            let account = Account { digest: backend.account(), is_paid: !backend.is_free() };
            accounts.with(backend.identity(), account)
        });
        let shown = self.all.iter().map(Backend::identity).collect::<Vec<_>>().join(", ");
        PlannedServices { identity: self.identity.clone(), accounts, shown }
    }

    /// Connects to the services. `adjust` has the last word on the policy of each.
    pub(crate) async fn connect(
        self,
        paths: &ProjectPaths,
        adjust: impl Fn(&mut Policy),
    ) -> Result<Connections, CommandError> {
        let dialects = self.all.iter().filter_map(Backend::dialect).collect();
        let embedded = match self.all.iter().find_map(Backend::renderer) {
            Some(renderer) => Some(EmbeddedService::start(paths, dialects, renderer).await?),
            None => None,
        };
        let mut services: Option<RunServices> = None;
        let mut jobs = 0;
        for backend in self.all {
            let (provider, mut policy) = backend.connect_to(embedded.as_ref())?;
            adjust(&mut policy);
            jobs += policy.max_in_flight;
            services = Some(match services {
                Some(services) => services.with(provider, policy),
                None => RunServices::new(provider, policy),
            });
        }
        // A plan has a shot.
        let services = services.ok_or_else(|| CommandError::invalid("there is no shot"))?;
        Ok(Connections { services: services.with_unnamed(&self.identity), embedded, jobs })
    }
}

/// The connected services of a run.
pub(crate) struct Connections {
    pub(crate) services: RunServices,
    /// The embedded one, if it is among them.
    pub(crate) embedded: Option<EmbeddedService>,
    /// Tasks in flight at most, at all of them.
    pub(crate) jobs: usize,
}

/// A connected service, with the limits that suit it.
pub(crate) struct Connection {
    pub(crate) provider: Arc<dyn Provider>,
    pub(crate) policy: Policy,
    pub(crate) service: Option<EmbeddedService>,
}

impl RemoteService {
    fn identity(&self) -> String {
        self.name.clone().unwrap_or_else(|| engine::provider::service_identity(&self.url))
    }
}

fn apply_limits(limits: ServiceLimits, policy: &mut Policy) {
    let ServiceLimits { jobs, submits_per_minute, polls_per_second, downloads } = limits;
    if let Some(jobs) = jobs {
        policy.max_in_flight = jobs as usize;
    }
    if let Some(submits) = submits_per_minute {
        policy.submit_rate = Some(Rate::per_minute(submits));
    }
    if let Some(polls) = polls_per_second {
        policy.poll_rate = Rate::per_second(polls);
    }
    if let Some(downloads) = downloads {
        policy.max_downloads = downloads as usize;
    }
}

/// The API key in a variable, without spaces and line ends around it.
fn api_key_of<'a>(text: &'a str, variable: &str) -> Result<&'a str, CommandError> {
    api_key_from(text, variable, &format!("set the key alone: `export {variable}=sk-…`"))
}

fn proxies_for(url: &Url) -> Result<Proxies, CommandError> {
    match proxies::from_environment() {
        // Needed for downloads at most.
        Err(_) if workflow::is_loopback(url) => Ok(Proxies::default()),
        read => read,
    }
}

/// A variable of the environment that is not empty.
fn env_var(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.trim().is_empty())
}

/// The services that a plan names; `None` for that of shots that name none.
fn names_of(plan: &Plan) -> BTreeSet<Option<&str>> {
    plan.nodes().map(|(_, node)| node.service.as_deref()).collect()
}

/// The services of a plan, for commands that ask them nothing and that need neither keys nor the names of the variables that have them.
pub(crate) fn planned_without_keys(plan: &Plan) -> Result<PlannedServices, CommandError> {
    let identity = identity_from_environment()?;
    let names: Vec<&str> = names_of(plan).into_iter().map(|name| name.unwrap_or(&identity)).collect();
    let mut accounts = Accounts::default();
    for name in &names {
        accounts = accounts.with(*name, Account { digest: None, is_paid: !is_rehearsal(name) });
    }
    let shown = names.join(", ");
    Ok(PlannedServices { identity, accounts, shown })
}

/// The same with the accounts. Without an API key an account is unknown, which is reported.
pub(crate) fn planned(plan: &Plan, services: &Services) -> Result<PlannedServices, CommandError> {
    let planned = planned_without_keys(plan)?;
    let identity = &planned.identity;
    let mut accounts = Accounts::default();
    for name in names_of(plan) {
        let (identity, variable) = match name {
            None => (identity.as_str(), API_KEY),
            Some(name) => {
                let address = services.get(name).and_then(|service| service.address.as_ref());
                (name, address.map_or(API_KEY, |address| address.key.as_str()))
            }
        };
        let is_paid = !is_rehearsal(identity);
        let digest = match env_var(variable) {
            _ if !is_paid => None,
            Some(key) => Some(engine::provider::account_digest(identity, api_key_of(&key, variable)?)),
            None => {
                errln!("{variable} is not set: whether recorded tasks belong to its account is not checked");
                None
            }
        };
        accounts = accounts.with(identity, Account { digest, is_paid });
    }
    Ok(PlannedServices { accounts, ..planned })
}

/// The identity of the service that the environment names. Needs no API key: nothing is asked of the service.
pub(crate) fn identity_from_environment() -> Result<String, CommandError> {
    match env_var(BASE_URL) {
        None => Ok(REHEARSAL.to_owned()),
        Some(url) => Ok(engine::provider::service_identity(&base_url(&url)?)),
    }
}

impl Backend {
    pub(crate) fn from_environment() -> Result<Self, CommandError> {
        Self::new(env_var(API_KEY).as_deref().map(api_key))
    }

    /// The service of work on record, by its identity.
    ///
    /// # Errors
    /// Neither the environment nor `services.yaml` names it.
    pub(crate) fn of_identity(
        identity: &str,
        services: &Services,
        trust: Trust,
    ) -> Result<Self, CommandError> {
        if let Some(name) = services.name_of(identity) {
            return Self::named(Some(name), services, trust);
        }
        let backend = Self::from_environment()?;
        if backend.identity() == identity {
            return Ok(backend);
        }
        Err(CommandError::invalid(format!(
            "it was submitted to {identity}, but the environment names {}",
            backend.identity()
        ))
        .hint(format!("set {BASE_URL} and {API_KEY} for {identity}, or name it in services.yaml")))
    }

    /// The service of this name; without one that of the environment.
    fn named(name: Option<&str>, services: &Services, trust: Trust) -> Result<Self, CommandError> {
        let Some(name) = name else { return Self::from_environment() };
        let Some(service) = services.get(name) else {
            return Err(CommandError::invalid(format!("there is no service `{name}`")));
        };
        let address = match &service.address {
            Some(address) if !is_rehearsal(name) => address,
            _ => return Ok(Self::embedded(name, rehearsed(name).map(|_| Arc::clone(&service.contract)))),
        };
        trust.check(name, address)?;
        let variable = address.key.as_str();
        let Some(key) = env_var(variable) else {
            return Err(CommandError::invalid(format!(
                "the service `{name}` needs its API key: {variable} is not set"
            ))
            .hint(format!("write `export {variable}=…` with your key")));
        };
        let remote = RemoteService {
            name: Some(name.to_owned()),
            description: Arc::clone(&service.contract),
            url: address.url.clone(),
            key: SecretString::from(api_key_of(&key, variable)?.to_owned()),
            proxies: proxies_for(&address.url)?,
            limits: service.limits,
        };
        Ok(Self::Remote(Box::new(remote)))
    }

    /// Reads the environment, and the API key from a file.
    #[cfg(feature = "cluster")]
    pub(crate) fn with_key_file(file: &std::path::Path) -> Result<Self, CommandError> {
        let path = file.display();
        if env_var(API_KEY).is_some() {
            return Err(CommandError::invalid(format!(
                "there are two keys: {API_KEY} is set, and {path} is named"
            ))
            .hint(format!("use one of them: `unset {API_KEY}`")));
        }
        let text = fs_err::read_to_string(file)?;
        if text.trim().is_empty() {
            return Err(CommandError::invalid(format!("{path} has no API key: it is empty")));
        }
        let hint = format!("write the key into {path} and nothing else");
        let key = api_key_from(&text, &format!("the API key in {path}"), &hint);
        Self::new(Some(key))
    }

    /// `key` is checked only where a service needs one.
    fn new(key: Option<Result<&str, CommandError>>) -> Result<Self, CommandError> {
        match (env_var(BASE_URL), key) {
            (None, _) => Ok(Self::embedded(REHEARSAL, None)),
            (Some(_), None) => Err(CommandError::invalid(format!(
                "{BASE_URL} is set, but {API_KEY} is not"
            ))
            .hint(format!(
                "write `export {API_KEY}=…` with your key, or unset {BASE_URL} to use the embedded service"
            ))),
            (Some(url), Some(key)) => {
                let url = base_url(&url)?;
                let remote = RemoteService {
                    name: None,
                    description: Arc::clone(Contract::embedded()),
                    key: SecretString::from(key?.to_owned()),
                    proxies: proxies_for(&url)?,
                    limits: ServiceLimits::default(),
                    url,
                };
                Ok(Self::Remote(Box::new(remote)))
            }
        }
    }

    fn embedded(identity: &str, description: Option<Arc<Contract>>) -> Self {
        Self::Embedded { identity: identity.to_owned(), description, renderer: Arc::new(Animatic) }
    }

    /// The same service, with another renderer if it is the embedded one.
    pub(crate) fn with_renderer(self, renderer: Arc<dyn Renderer>) -> Self {
        match self {
            Self::Embedded { identity, description, .. } => {
                Self::Embedded { identity, description, renderer }
            }
            remote @ Self::Remote(_) => remote,
        }
    }

    /// The service's identity, which is part of every shot's key.
    pub(crate) fn identity(&self) -> String {
        match self {
            Self::Remote(remote) => remote.identity(),
            Self::Embedded { identity, .. } => identity.clone(),
        }
    }

    /// The digest of the API key, recorded with each run; `None` for the embedded service.
    pub(crate) fn account(&self) -> Option<String> {
        match self {
            Self::Remote(remote) => {
                Some(engine::provider::account_digest(&remote.identity(), remote.key.expose_secret()))
            }
            Self::Embedded { .. } => None,
        }
    }

    /// Whether tasks are free, whatever the price table says.
    pub(crate) fn is_free(&self) -> bool {
        matches!(self, Self::Embedded { .. })
    }

    /// Connects to a service that is not the embedded one.
    pub(crate) fn connect_remote(self) -> Result<(Arc<dyn Provider>, Policy), CommandError> {
        let account = self.account();
        let Self::Remote(remote) = self else {
            return Err(CommandError::invalid(format!("{BASE_URL} is not set")));
        };
        let identity = remote.identity();
        let RemoteService { description, url, key, proxies, limits, .. } = *remote;
        let is_local = workflow::is_loopback(&url);
        let mut policy = if is_local { Policy::local() } else { Policy::remote() };
        // What stands in for a service here has no such wish.
        if let Some(interval) = description.poll_interval().filter(|_| !is_local) {
            policy.min_poll_interval = policy.min_poll_interval.max(interval);
            policy.max_poll_interval = policy.max_poll_interval.max(interval);
        }
        apply_limits(limits, &mut policy);
        let config = ClientConfig { proxies, ..ClientConfig::new(url, key) }.described(description);
        let client = Client::new(config).map_err(CommandError::unusable)?;
        let provider = Remote::new(client, identity).with_account(account);
        Ok((Arc::new(provider), policy))
    }

    /// The dialect that the embedded service is to answer in.
    fn dialect(&self) -> Option<(String, Arc<Contract>)> {
        match self {
            Self::Embedded { identity, description, .. } => {
                Some((rehearsed(identity)?.to_owned(), Arc::clone(description.as_ref()?)))
            }
            Self::Remote(_) => None,
        }
    }

    /// What renders the videos, at the embedded service.
    fn renderer(&self) -> Option<&Arc<dyn Renderer>> {
        match self {
            Self::Embedded { renderer, .. } => Some(renderer),
            Self::Remote(_) => None,
        }
    }

    /// Connects to the service, which is started if it is the embedded one.
    pub(crate) async fn connect(self, paths: &ProjectPaths) -> Result<Connection, CommandError> {
        let service = match self.renderer() {
            Some(renderer) => {
                Some(EmbeddedService::start(paths, self.dialect().into_iter().collect(), renderer).await?)
            }
            None => None,
        };
        let (provider, policy) = self.connect_to(service.as_ref())?;
        Ok(Connection { provider, policy, service })
    }

    fn connect_to(
        self,
        embedded: Option<&EmbeddedService>,
    ) -> Result<(Arc<dyn Provider>, Policy), CommandError> {
        match (self, embedded) {
            (Self::Embedded { identity, description, .. }, Some(service)) => {
                Ok((service.provider(identity, description)?, Policy::local()))
            }
            (backend, _) => backend.connect_remote(),
        }
    }
}
