//! Ids of new runs.

use std::hash::{BuildHasher as _, RandomState};

use scheduler::{RunId, Timestamp};
use ulid::Ulid;

use crate::clock::now;

/// A new run id: a ULID, which sorts by time and is unique among the runs of a ledger, whichever machine or container they come from.
pub(crate) fn new_run_id() -> RunId {
    let [high, low] = [0_u8, 1].map(|half| RandomState::new().hash_one((std::process::id(), half)));
    run_id_from(now(), u128::from(high) << 64 | u128::from(low))
}

/// The ULID of a time and random bits, of which it takes the lowest 80.
fn run_id_from(time: Timestamp, random: u128) -> RunId {
    RunId(Ulid::from_parts(time.0.max(0).unsigned_abs(), random).to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn run_id_sorts_by_time_and_differs_by_randomness() {
        let time = Timestamp(1_793_318_400_000);
        let id = run_id_from(time, 7);
        assert_eq!(id.as_str(), "01M651PC000000000000000007");
        assert!(run_id_from(time, 8) > id);
        assert!(run_id_from(Timestamp(time.0 + 1), 0) > run_id_from(time, u128::MAX));
        assert!(run_id_from(time, u128::MAX).as_str().len() == 26);
    }
}
