//! How `runner resolve` names a submission: by its shot, where that is enough.

use std::collections::HashMap;

use scheduler::{AttemptId, AttemptState};

use crate::shell;

/// Which submission of a shot the shot's name means: that of the lowest number, if there is one of it only. What needs a decision comes first, then
/// what has no video any more, then what is in flight.
pub(crate) const fn precedence(state: AttemptState) -> u8 {
    match state {
        AttemptState::Intended | AttemptState::Indeterminate => 0,
        AttemptState::Missing => 1,
        AttemptState::Expired => 2,
        AttemptState::Submitted => 3,
        AttemptState::Abandoned => 4,
        AttemptState::Completed
        | AttemptState::Failed
        | AttemptState::Refused
        | AttemptState::NotAccepted => 5,
    }
}

/// The submissions that can be resolved, by shot: the lowest precedence, and how many have it.
#[derive(Debug)]
pub(crate) struct SubmissionNames<'a>(HashMap<&'a str, (u8, usize)>);

impl<'a> SubmissionNames<'a> {
    pub(crate) fn new(submissions: impl Iterator<Item = (&'a str, AttemptState)>) -> Self {
        let mut lowest: HashMap<&str, (u8, usize)> = HashMap::new();
        for (shot, state) in submissions {
            let precedence = precedence(state);
            let entry = lowest.entry(shot).or_insert((precedence, 0));
            if precedence < entry.0 {
                *entry = (precedence, 0);
            }
            entry.1 += usize::from(precedence == entry.0);
        }
        Self(lowest)
    }

    /// The argument of `resolve` that names this submission, quoted for a shell.
    pub(crate) fn name(&self, shot: &str, state: AttemptState, attempt: &AttemptId) -> String {
        let is_meant = self.0.get(shot) == Some(&(precedence(state), 1));
        if is_meant { shell::quote(shot) } else { attempt.to_string() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shot_is_named_where_its_name_means_that_submission() {
        let submissions = [
            ("sea", AttemptState::Indeterminate),
            ("sea", AttemptState::Expired),
            ("a b", AttemptState::Missing),
            ("two", AttemptState::Missing),
            ("two", AttemptState::Missing),
        ];
        let names = SubmissionNames::new(submissions.into_iter());
        let name = |shot, state| names.name(shot, state, &"r.1".into());
        assert_eq!(name("sea", AttemptState::Indeterminate), "sea");
        assert_eq!(name("sea", AttemptState::Expired), "r.1");
        assert_eq!(name("a b", AttemptState::Missing), "'a b'");
        assert_eq!(name("two", AttemptState::Missing), "r.1");
    }
}
