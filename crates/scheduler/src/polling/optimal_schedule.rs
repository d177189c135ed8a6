//! The schedule that costs least, for a known distribution of the end.
//!
//! Where many polls are made, their best density at any time is proportional to the root of the hazard, the chance of ending just then. Where they
//! are few, as here, the best times are found by looking at all of them backwards from the last: what remains to be paid after a poll at one
//! point is the cost of the next one, the waiting that it does not save, and what remains after that.

/// What asking may cost.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PollCost {
    /// Seconds of waiting that one poll must save to be seconds making.
    pub seconds: f64,
}

/// The schedule is chosen among so many times.
const CANDIDATE_TIMES: usize = 64;

/// When to ask, in seconds on the same clock as `points`: between any two of them, in ascending order, the end is as likely as between any other
/// two. Nothing where there are fewer than two points.
#[must_use]
pub fn next_poll(points: &[f64], tuning: PollCost) -> Option<f64> {
    if points.len() < 2 {
        return None;
    }
    let times = CandidateTimes::new(points);
    let last = times.at.len() - 1;
    // What is to be paid after a poll at each point, and where the next poll is; the end is certain at the last point.
    let mut to_pay = vec![0.0_f64; last + 1];
    let mut then = last;
    for from in (0..last).rev() {
        let open = 1.0 - times.share[from];
        let (mut best, mut best_at, mut ended) = (f64::INFINITY, last, 0.0);
        for (at, then_to_pay) in to_pay.iter().enumerate().skip(from + 1) {
            let share = times.share[at] - times.share[at - 1];
            ended += share * f64::midpoint(times.at[at - 1], times.at[at]);
            let waited = times.at[at] * (times.share[at] - times.share[from]) - ended;
            // Waiting only grows from here.
            if tuning.seconds * open + waited > best {
                break;
            }
            let cost = tuning.seconds * open + waited + then_to_pay;
            if cost < best {
                (best, best_at) = (cost, at);
            }
        }
        to_pay[from] = best;
        then = best_at;
    }
    Some(times.at[then])
}

/// Times to choose from, and the chance that all is over by each.
struct CandidateTimes {
    at: Vec<f64>,
    share: Vec<f64>,
}

impl CandidateTimes {
    /// Half of them where the end is likely, half of them evenly: the best polls are denser where it is likelier, but less so than the end.
    fn new(points: &[f64]) -> Self {
        let last = points.len() - 1;
        let (first, span) = (points[0], (points[last] - points[0]).max(f64::MIN_POSITIVE));
        let (mut at, mut share) =
            (Vec::with_capacity(CANDIDATE_TIMES + 1), Vec::with_capacity(CANDIDATE_TIMES + 1));
        let mut next = 0.0;
        for (nth, point) in points.iter().enumerate() {
            let over = nth as f64 / last as f64;
            let reached = 0.5 * over + 0.5 * (point - first) / span;
            // A long gap is cut into pieces, in which the end is evenly likely.
            while nth > 0 && reached >= next + 1.0 / CANDIDATE_TIMES as f64 && next < 1.0 {
                let before = 0.5 * (nth - 1) as f64 / last as f64 + 0.5 * (points[nth - 1] - first) / span;
                let part = ((next - before) / (reached - before)).clamp(0.0, 1.0);
                at.push(points[nth - 1] + (point - points[nth - 1]) * part);
                share.push((nth as f64 - 1.0 + part) / last as f64);
                next += 1.0 / CANDIDATE_TIMES as f64;
            }
            if reached >= next && nth < last {
                at.push(*point);
                share.push(over);
                next = reached + 1.0 / CANDIDATE_TIMES as f64;
            }
        }
        at.push(points[last]);
        share.push(1.0);
        Self { at, share }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn even(from: f64, to: f64) -> Vec<f64> {
        (0..=60).map(|nth| from + (to - from) * f64::from(nth) / 60.0).collect()
    }

    #[test]
    fn nothing_is_asked_before_the_end_is_possible_and_dear_polls_are_few() {
        let at = |seconds| next_poll(&even(100.0, 130.0), PollCost { seconds }).expect("a time");
        assert!(at(0.1) > 100.0 && at(0.1) < 104.0, "{}", at(0.1));
        assert!(at(1.0) > at(0.1), "{}", at(1.0));
        assert!((at(1_000.0) - 130.0).abs() < 1e-9, "a single poll, when it is surely over");
        assert_eq!(next_poll(&[5.0], PollCost { seconds: 1.0 }), None);
    }

    #[test]
    fn two_humps_are_asked_about_apart() {
        let points: Vec<f64> = even(50.0, 52.0).into_iter().chain(even(150.0, 152.0)).collect();
        let first = next_poll(&points, PollCost { seconds: 3.0 }).expect("a time");
        assert!((51.0..53.0).contains(&first), "{first}");
        let after: Vec<f64> = points.into_iter().filter(|point| *point >= first).collect();
        let second = next_poll(&after, PollCost { seconds: 3.0 }).expect("a time");
        assert!((150.0..=152.0).contains(&second), "not in between: {second}");
    }
}
