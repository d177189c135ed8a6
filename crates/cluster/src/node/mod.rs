//! A node's key: its attempts, of which at most one is live over the whole cluster.
//!
//! The key is a virtual object, and Restate runs one of its handlers at a time, whoever calls it. The handlers perform the effects of the
//! node, keep its [`NodeRecord`] and answer the run with events.

mod account;
mod object;
mod preparation;
mod record;
mod submission;

pub use object::NodeObject;
pub use record::{DeclinedAttempt, NodeAttempt, NodeRecord};
