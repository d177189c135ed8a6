//! Submissions to services with limits, in simulated time: with limits that are learned, and with the same policy without learning.
//!
//! The bound is the makespan of a client that knows the limits, submits at the first moment that they allow, and learns of each end at once.

mod service;

use std::fmt::Write as _;

use scheduler::{ObservedLimits, Policy};

use service::{Limit, Simulation};

/// Shots of a run.
const SHOTS: usize = 100;
/// Upper bound of the makespan of a run that learns, as a multiple of the bound.
const MAX_RATIO: f64 = 1.06;
/// Upper bound of the refusals of a first run. A second one has none.
const MAX_REFUSALS: usize = 3;
/// Median of the lognormal render times, in seconds.
const RENDER_TIMES: [f64; 2] = [2.0, 20.0];

const LIMITS: [(&str, Limit); 3] = [
    ("10 per second, bucket of 10", Limit::Bucket { per_second: 10, burst: 10 }),
    ("10 in each second", Limit::Window { count: 10, milliseconds: 1_000 }),
    ("10 tasks in flight", Limit::InFlight { tasks: 10 }),
];

pub(super) fn measure() -> Result<String, String> {
    let (report, exceeded) = compare(&RENDER_TIMES)?;
    if exceeded { Err(report) } else { Ok(report) }
}

/// The report, and whether a bound is exceeded.
fn compare(render_times: &[f64]) -> Result<(String, bool), String> {
    let plan = super::ledger::plan(SHOTS)?;
    let (mut report, mut exceeded) = (String::new(), false);
    for (name, limit) in LIMITS {
        for median in render_times.iter().copied() {
            let simulation = Simulation { plan: &plan, limit, median };
            let bound = simulation.bound();
            let run = |learns_limits, observed| {
                let policy = Policy { max_in_flight: SHOTS, learns_limits, ..Policy::local() };
                simulation.run(policy, observed)
            };
            let without = run(false, ObservedLimits::default());
            let first = run(true, ObservedLimits::default());
            let second = run(true, first.observed);
            let ratio = |makespan: f64| makespan / bound;
            let _ = writeln!(
                report,
                "{name}, tasks of {median} s: bound {bound:.2} s; without learning {:.3} x, {} refusals; first run {:.3} x, {} refusals; \
                 second run {:.3} x, {} refusals (bounds {MAX_RATIO}, {MAX_REFUSALS} and 0)",
                ratio(without.makespan),
                without.refusals,
                ratio(first.makespan),
                first.refusals,
                ratio(second.makespan),
                second.refusals,
            );
            exceeded |= ratio(first.makespan) > MAX_RATIO || ratio(second.makespan) > MAX_RATIO;
            exceeded |= first.refusals > MAX_REFUSALS || second.refusals > 0;
        }
    }
    Ok((report, exceeded))
}

#[cfg(test)]
mod tests {
    #[test]
    fn limits_are_learned_within_the_bounds() {
        let (report, exceeded) = super::compare(&[2.0]).unwrap();
        assert!(!exceeded, "{report}");
    }
}
