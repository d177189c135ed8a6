//! Durations for people.

use std::time::Duration;

/// A duration in one or two units, such as `1 min 2 s`.
pub(crate) fn humanize(time: Duration) -> String {
    let seconds = time.as_secs();
    let two_units = |first: u64, unit: &str, second: u64, smaller: &str| {
        if second == 0 { format!("{first} {unit}") } else { format!("{first} {unit} {second} {smaller}") }
    };
    match seconds {
        0..60 => format!("{seconds} s"),
        60..3_600 => two_units(seconds / 60, "min", seconds % 60, "s"),
        3_600..172_800 => two_units(seconds / 3_600, "h", seconds % 3_600 / 60, "min"),
        _ => two_units(seconds / 86_400, "d", seconds % 86_400 / 3_600, "h"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_have_two_units_at_most() {
        let text = |seconds| humanize(Duration::from_secs(seconds));
        assert_eq!(
            [0, 59, 60, 61, 3_600, 7_384].map(text),
            ["0 s", "59 s", "1 min", "1 min 1 s", "1 h", "2 h 3 min"]
        );
        assert_eq!([172_799, 172_800, 266_400].map(text), ["47 h 59 min", "2 d", "3 d 2 h"]);
    }
}
