//! An account at a service: permits and budget over all runs and clients of the cluster.
//!
//! The object's handlers return at once. Who has to wait for a permit is queued and woken, so that nothing holds a permit by waiting, and
//! first come, first served.

mod object;
mod shares;
mod state;

pub use object::AccountObject;
pub use shares::Share;
pub use state::{AccountLimits, AccountSettlement, AccountState, Admission, AdmissionReply};

/// The object's key of an account: a digest, because identities of services are URLs.
pub fn account_key(identity: &str, account: Option<&str>) -> String {
    let digest = engine::artifact::sha256(format!("{identity}\n{}", account.unwrap_or_default()).as_bytes());
    digest[..32].to_owned()
}
