//! What most clips of a film have in common.

/// The value that most have; the first of several.
pub(super) fn most_common<T: PartialEq + Copy>(values: &(impl Iterator<Item = T> + Clone)) -> Option<T> {
    let count = |value: T| values.clone().filter(|other| *other == value).count();
    values
        .clone()
        .fold(None, |best: Option<(usize, T)>, value| {
            let occurrences = count(value);
            if best.is_none_or(|(best_count, _)| occurrences > best_count) {
                Some((occurrences, value))
            } else {
                best
            }
        })
        .map(|(_, value)| value)
}
