//! The open connections: bounded in total and per network, with eviction, so that clients without a key cannot keep
//! others out.
//!
//! Invariants: a new connection does not wait for connections of clients that have not authenticated, once these have had
//! their time for a request; a connection is not cut while a request may be on its way, whose client could not know
//! whether it was accepted.

use std::{
    collections::BTreeMap,
    io,
    net::IpAddr,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering},
    },
    task::Waker,
    time::{Duration, Instant},
};

use futures_util::task::AtomicWaker;
use tokio::{sync::Notify, time::timeout};

use crate::limits::ConnectionLimits;

/// How often a connection that waits looks whether another one may be evicted by now.
const RETRY_INTERVAL: Duration = Duration::from_millis(100);

/// A connection as its handlers and the table see it.
#[derive(Debug, Clone, Default)]
pub(crate) struct ConnectionHandle(Arc<ConnectionState>);

#[derive(Debug, Default)]
struct ConnectionState {
    is_cut: AtomicBool,
    /// Whether a request on it has presented a valid key or file token.
    is_authenticated: AtomicBool,
    /// Requests whose responses are not sent yet.
    requests: AtomicUsize,
    /// Requests so far.
    requests_total: AtomicU64,
    /// When it was opened, or its latest request began or ended.
    changed_at: Mutex<Option<Instant>>,
    /// Woken when the connection is cut.
    waker: AtomicWaker,
}

impl ConnectionHandle {
    /// Cuts the connection: further reads and writes fail.
    pub(super) fn cut(&self) {
        self.0.is_cut.store(true, Ordering::Release);
        self.0.waker.wake();
    }

    /// Fails once the connection is cut; otherwise `waker` is woken when that happens.
    pub(super) fn check(&self, waker: &Waker) -> io::Result<()> {
        self.0.waker.register(waker);
        if self.0.is_cut.load(Ordering::Acquire) {
            Err(io::ErrorKind::ConnectionReset.into())
        } else {
            Ok(())
        }
    }

    /// Notes that its client has a key or a file token.
    pub(super) fn authenticated(&self) {
        self.0.is_authenticated.store(true, Ordering::Release);
    }

    /// Counts a request until the guard is dropped.
    pub(super) fn begin_request(&self) -> RequestGuard {
        *self.changed_at() = Some(Instant::now());
        self.0.requests_total.fetch_add(1, Ordering::AcqRel);
        self.0.requests.fetch_add(1, Ordering::AcqRel);
        RequestGuard(self.clone())
    }

    pub(super) fn requests_total(&self) -> u64 {
        self.0.requests_total.load(Ordering::Acquire)
    }

    pub(super) fn has_requests(&self) -> bool {
        self.0.requests.load(Ordering::Acquire) > 0
    }

    fn is_authenticated(&self) -> bool {
        self.0.is_authenticated.load(Ordering::Acquire)
    }

    fn changed_at(&self) -> MutexGuard<'_, Option<Instant>> {
        self.0.changed_at.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The order of eviction; `None` if the connection must stay.
    fn eviction_class(&self, limits: &ConnectionLimits) -> Option<u8> {
        let age = self.changed_at().map(|since| since.elapsed()).unwrap_or_default();
        match (self.is_authenticated(), self.has_requests()) {
            (false, false) => (age >= limits.min_idle).then_some(0),
            (false, true) => (age >= limits.min_idle).then_some(1),
            (true, false) => (age >= limits.min_authenticated_idle).then_some(2),
            (true, true) => None,
        }
    }
}

/// A request in progress.
#[derive(Debug)]
pub(super) struct RequestGuard(ConnectionHandle);

impl Drop for RequestGuard {
    fn drop(&mut self) {
        *self.0.changed_at() = Some(Instant::now());
        self.0.0.requests.fetch_sub(1, Ordering::AcqRel);
    }
}

/// All open connections.
#[derive(Debug)]
pub(super) struct ConnectionTable {
    limits: ConnectionLimits,
    entries: Mutex<Entries>,
    closed: Notify,
}

#[derive(Debug, Default)]
struct Entries {
    next: u64,
    /// In order of arrival.
    open: BTreeMap<u64, Entry>,
}

#[derive(Debug)]
struct Entry {
    network: IpAddr,
    connection: ConnectionHandle,
}

/// A place in the table, given up when it is dropped.
#[derive(Debug)]
pub(super) struct Registration {
    table: Arc<ConnectionTable>,
    number: u64,
    pub(super) connection: ConnectionHandle,
}

impl Drop for Registration {
    fn drop(&mut self) {
        self.table.entries().open.remove(&self.number);
        self.table.closed.notify_one();
    }
}

impl ConnectionTable {
    pub(super) fn new(limits: ConnectionLimits) -> Arc<Self> {
        Arc::new(Self { limits, entries: Mutex::default(), closed: Notify::new() })
    }

    /// Registers a connection. Where a limit is reached, the oldest connection that may be evicted is cut; if there is
    /// none, waits until one closes.
    pub(super) async fn register(self: &Arc<Self>, address: IpAddr) -> Registration {
        loop {
            // A connection that closes between the two is not missed: `notify_one` leaves a permit.
            let closed = self.closed.notified();
            if let Some(registration) = self.try_register(address) {
                return registration;
            }
            // Connections may also become old enough to be evicted.
            drop(timeout(RETRY_INTERVAL, closed).await);
        }
    }

    fn try_register(self: &Arc<Self>, address: IpAddr) -> Option<Registration> {
        let network = network(address);
        let mut entries = self.entries();
        let of_network = |entry: &Entry| entry.network == network && !entry.connection.is_authenticated();
        if entries.open.values().filter(|entry| of_network(entry)).count() >= self.limits.per_network {
            // Where all are too young to be evicted, the bound over all networks applies.
            entries.evict(&self.limits, of_network);
        }
        if entries.open.len() >= self.limits.total && !entries.evict(&self.limits, |_| true) {
            return None;
        }
        let number = entries.next;
        entries.next += 1;
        let connection = ConnectionHandle::default();
        *connection.changed_at() = Some(Instant::now());
        entries.open.insert(number, Entry { network, connection: connection.clone() });
        drop(entries);
        Some(Registration { table: Arc::clone(self), number, connection })
    }

    fn entries(&self) -> MutexGuard<'_, Entries> {
        // No operation leaves the map inconsistent.
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Entries {
    /// Cuts the oldest connection of the lowest class; `false` if every one must stay.
    fn evict(&mut self, limits: &ConnectionLimits, candidate: impl Fn(&Entry) -> bool) -> bool {
        let candidates = self.open.iter().filter(|(_, entry)| candidate(entry));
        let classes = candidates
            .filter_map(|(number, entry)| Some((entry.connection.eviction_class(limits)?, *number)));
        let Some((_, number)) = classes.min() else { return false };
        if let Some(entry) = self.open.remove(&number) {
            entry.connection.cut();
        }
        true
    }
}

/// What counts as one client: an IPv4 address, or the 64-bit prefix that one IPv6 customer gets.
fn network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => {
            let prefix = u128::from(address) & !u128::from(u64::MAX);
            IpAddr::V6(prefix.into())
        }
        address @ IpAddr::V4(_) => address,
    }
}

#[cfg(test)]
mod tests {
    use futures_util::task::noop_waker;

    use super::*;

    fn table(total: usize, per_network: usize) -> Arc<ConnectionTable> {
        let (min_idle, min_authenticated_idle) = (Duration::ZERO, Duration::ZERO);
        let limits = ConnectionLimits {
            total,
            per_network,
            min_idle,
            min_authenticated_idle,
            ..ConnectionLimits::default()
        };
        ConnectionTable::new(limits)
    }

    fn address(last: u8) -> IpAddr {
        IpAddr::from([192, 0, 2, last])
    }

    fn is_cut(registration: &Registration) -> bool {
        registration.connection.check(&noop_waker()).is_err()
    }

    #[test]
    fn oldest_connection_of_the_network_is_evicted_first() {
        let table = table(10, 2);
        let other_network = table.try_register(address(9)).unwrap();
        let first = table.try_register(address(1)).unwrap();
        let second = table.try_register(address(1)).unwrap();
        let third = table.try_register(address(1)).unwrap();
        assert_eq!([&other_network, &first, &second, &third].map(is_cut), [false, true, false, false]);
    }

    #[test]
    fn authenticated_connections_count_towards_the_total_only() {
        let table = table(4, 1);
        let keyed: Vec<_> = (0..3).filter_map(|_| table.try_register(address(1))).collect();
        for registration in &keyed {
            registration.connection.authenticated();
        }
        let anonymous = table.try_register(address(1)).unwrap();
        assert!(is_cut(&keyed[0]), "the first two were not authenticated when the third came");
        let late = table.try_register(address(2)).unwrap();
        assert_eq!([&keyed[2], &anonymous, &late].map(is_cut), [false; 3]);
    }

    #[test]
    fn full_table_evicts_by_class_and_then_waits() {
        let table = table(3, 3);
        let busy = table.try_register(address(1)).unwrap();
        busy.connection.authenticated();
        let _busy_request = busy.connection.begin_request();
        let idle = table.try_register(address(2)).unwrap();
        idle.connection.authenticated();
        let anonymous = table.try_register(address(3)).unwrap();
        let _request = anonymous.connection.begin_request();

        let fourth = table.try_register(address(4)).unwrap();
        assert_eq!([&busy, &idle, &anonymous].map(is_cut), [false, false, true]);
        fourth.connection.authenticated();
        let _fourth_request = fourth.connection.begin_request();
        let fifth = table.try_register(address(5)).unwrap();
        assert_eq!([&busy, &idle, &fourth].map(is_cut), [false, true, false]);
        fifth.connection.authenticated();
        let _fifth_request = fifth.connection.begin_request();
        assert!(table.try_register(address(6)).is_none());
        drop(busy);
        assert!(table.try_register(address(6)).is_some());
    }

    #[test]
    fn connections_that_may_carry_a_request_are_not_evicted() {
        // Nothing becomes old while a busy machine interrupts the test.
        let (min_idle, min_authenticated_idle) = (Duration::from_hours(1), Duration::from_hours(1));
        let limits = ConnectionLimits {
            total: 3,
            per_network: 1,
            min_idle,
            min_authenticated_idle,
            ..ConnectionLimits::default()
        };
        let table = ConnectionTable::new(limits);
        let young = table.try_register(address(1)).unwrap();
        let idle = table.try_register(address(1)).unwrap();
        idle.connection.authenticated();
        drop(idle.connection.begin_request());
        let third = table.try_register(address(1)).unwrap();
        assert_eq!([&young, &idle, &third].map(is_cut), [false; 3]);
        assert!(table.try_register(address(1)).is_none(), "a new one waits");
    }

    #[test]
    fn ipv6_clients_are_distinguished_by_their_prefix() {
        let parsed = |text: &str| network(text.parse().unwrap());
        assert_eq!(parsed("2001:db8:1:2::1"), parsed("2001:db8:1:2:ffff::9"));
        assert_ne!(parsed("2001:db8:1:2::1"), parsed("2001:db8:1:3::1"));
        assert_eq!(parsed("::ffff:192.0.2.1"), address(1));
    }
}
