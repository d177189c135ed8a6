//! The services of a run, by node.

use std::sync::Arc;

use workflow::plan::Node;

use crate::ledger::{Ledger, LedgerError};
use crate::provider::{Account, Accounts, Provider};
use scheduler::{Policy, RunState, ServiceHistory, Timestamp};

/// The services of a run, by their identities.
#[derive(Clone)]
pub struct RunServices {
    /// The identity of the service of nodes that name none.
    unnamed: String,
    first: ServiceOfRun,
    others: Vec<ServiceOfRun>,
}

/// A connected service, with the policy that suits it.
#[derive(Clone)]
pub struct ServiceOfRun {
    pub provider: Arc<dyn Provider>,
    pub policy: Policy,
}

impl RunServices {
    /// One service, also for nodes that name none.
    pub fn new(provider: Arc<dyn Provider>, policy: Policy) -> Self {
        let unnamed = provider.identity().to_owned();
        Self { unnamed, first: ServiceOfRun { provider, policy }, others: Vec::new() }
    }

    /// With another service.
    pub fn with(mut self, provider: Arc<dyn Provider>, policy: Policy) -> Self {
        self.others.push(ServiceOfRun { provider, policy });
        self
    }

    /// With the service of this identity for nodes that name none.
    pub fn with_unnamed(self, unnamed: &str) -> Self {
        Self { unnamed: unnamed.to_owned(), ..self }
    }

    /// The service of a node.
    pub fn of(&self, node: &Node) -> &ServiceOfRun {
        let identity = node.service.as_deref().unwrap_or(&self.unnamed);
        self.all().find(|service| service.provider.identity() == identity).unwrap_or(&self.first)
    }

    /// The identity of the service of nodes that name none.
    pub(super) fn unnamed(&self) -> &str {
        &self.unnamed
    }

    fn all(&self) -> impl Iterator<Item = &ServiceOfRun> {
        std::iter::once(&self.first).chain(&self.others)
    }

    /// The account at each service.
    pub(super) fn accounts(&self) -> Accounts {
        self.all().fold(Accounts::default(), |accounts, ServiceOfRun { provider, .. }| {
            let digest = provider.account().map(str::to_owned);
            accounts.with(provider.identity(), Account { digest, is_paid: provider.is_paid() })
        })
    }

    /// A run's state with what earlier runs tell of the services.
    pub(super) fn begin(
        &self,
        mut state: RunState,
        ledger: &Ledger,
        now: Timestamp,
    ) -> Result<RunState, LedgerError> {
        for ServiceOfRun { provider, policy } in self.all() {
            let service = provider.identity();
            let limits = ledger.observed_limits(service);
            let submits = policy.submit_rate.map_or(0, |rate| rate.count);
            let submits = submits.max(limits.rate.map_or(0, |rate| rate.count));
            let submissions = ledger.submission_times(service, submits)?;
            let history = ServiceHistory { limits, submissions };
            state = state.with_service(service, policy.clone(), history, now);
        }
        Ok(state)
    }
}
