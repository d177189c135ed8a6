//! The schedule that costs least, for a known distribution of the end.
//!
//! Where many polls are made, their best density at any time is proportional to the root of the hazard, the chance of ending just then. Where they
//! are few, as here, the best times are found by looking at all of them backwards from the last: what remains to be paid after a poll at one
//! point is the cost of the next one, the waiting that it does not save, and what remains after that.

/// What asking may cost.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Tuning {
    /// Seconds of waiting that one poll must save to be worth making.
    pub worth: f64,
}

/// When to ask, in seconds on the same clock as `points`: between any two of them, in ascending order, the end is as likely as between any other
/// two. Nothing where there are fewer than two points.
#[must_use]
pub fn next(points: &[f64], tuning: Tuning) -> Option<f64> {
    let last = points.len().checked_sub(1).filter(|last| *last > 0)?;
    let share = 1.0 / last as f64;
    // What is to be paid after a poll at each point, and where the next poll is; the end is certain at the last point.
    let mut to_pay = vec![0.0_f64; last + 1];
    let mut then = last;
    for from in (0..last).rev() {
        let open = (last - from) as f64 * share;
        let (mut best, mut best_at, mut middles) = (f64::INFINITY, last, 0.0);
        for at in from + 1..=last {
            middles += f64::midpoint(points[at - 1], points[at]);
            let waited = (points[at] * (at - from) as f64 - middles) * share;
            let cost = tuning.worth * open + waited + to_pay[at];
            if cost < best {
                (best, best_at) = (cost, at);
            }
        }
        to_pay[from] = best;
        then = best_at;
    }
    Some(points[then])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn even(from: f64, to: f64) -> Vec<f64> {
        (0..=60).map(|nth| from + (to - from) * f64::from(nth) / 60.0).collect()
    }

    #[test]
    fn nothing_is_asked_before_the_end_is_possible_and_dear_polls_are_few() {
        let at = |worth| next(&even(100.0, 130.0), Tuning { worth }).expect("a time");
        assert!(at(0.1) > 100.0 && at(0.1) < 104.0, "{}", at(0.1));
        assert!(at(1.0) > at(0.1), "{}", at(1.0));
        assert_eq!(at(1_000.0), 130.0, "a single poll, when it is surely over");
        assert_eq!(next(&[5.0], Tuning { worth: 1.0 }), None);
    }

    #[test]
    fn two_humps_are_asked_about_apart() {
        let points: Vec<f64> = even(50.0, 52.0).into_iter().chain(even(150.0, 152.0)).collect();
        let first = next(&points, Tuning { worth: 3.0 }).expect("a time");
        assert!((51.0..53.0).contains(&first), "{first}");
        let after: Vec<f64> = points.into_iter().filter(|point| *point >= first).collect();
        let second = next(&after, Tuning { worth: 3.0 }).expect("a time");
        assert!((150.0..=152.0).contains(&second), "not in between: {second}");
    }
}
