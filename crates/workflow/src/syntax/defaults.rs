//! Keys of shots in `defaults`, of the file and of groups: shots without a value of their own share them.

use std::sync::Arc;

use super::keys::shot as keys;
use super::{Entry, Shot, Workflow, value};
use crate::diagnostic::{Diagnostic, Problems, grouped};
use crate::limits;
use crate::source::Spanned;

/// Moves the keys of shots from `defaults` to the shots: first those of their groups, then the file's. A `null` of a shot removes the default,
/// and one of a group the file's.
pub(crate) fn apply(workflow: &mut Workflow, problems: &mut Problems) {
    for (index, group) in workflow.groups.iter_mut().enumerate() {
        let members = || workflow.shots.iter().filter(|shot| shot.group == Some(index));
        let defaults =
            ShotDefaults::take(&mut group.defaults, &mut group.shot_defaults, members().count(), problems);
        let members = workflow.shots.iter_mut().filter(|shot| shot.group == Some(index));
        members.for_each(|shot| defaults.fill(shot));
    }
    let Workflow { service, defaults, shot_defaults, shots, .. } = workflow;
    let mut defaults = ShotDefaults::take(defaults, shot_defaults, shots.len(), problems);
    if defaults.service.is_none() {
        defaults.service.clone_from(service);
    }
    for shot in shots {
        defaults.fill(shot);
        remove_nulls(shot);
    }
}

/// The values for shots that have none of their own.
#[derive(Debug, Default)]
struct ShotDefaults {
    note: Option<Spanned<Arc<str>>>,
    service: Option<Arc<Entry>>,
    references: Option<Arc<Entry>>,
    cast: Option<Arc<Entry>>,
    takes: Option<Arc<Entry>>,
    pick: Option<Arc<Entry>>,
    retry: Option<Arc<Entry>>,
    timeout: Option<Arc<Entry>>,
}

impl ShotDefaults {
    /// Takes the keys of shots out of `defaults`, for so many shots, and puts them into `taken`.
    fn take(
        defaults: &mut Vec<Entry>,
        taken: &mut Vec<Arc<Entry>>,
        shots: usize,
        problems: &mut Problems,
    ) -> Self {
        let (of_shots, fields): (Vec<Entry>, Vec<Entry>) =
            defaults.drain(..).partition(|entry| keys::DEFAULTS.has(&entry.key.value));
        *defaults = fields;
        let mut of_each = Self::default();
        for entry in of_shots {
            let entry = Arc::new(entry);
            taken.push(Arc::clone(&entry));
            of_each.add(entry, shots, problems);
        }
        of_each
    }

    fn add(&mut self, entry: Arc<Entry>, shots: usize, problems: &mut Problems) {
        match entry.key.value.as_str() {
            name if name == keys::NOTE.name && entry.value.is_null() => {
                self.note = Some(Spanned::new("".into(), entry.key.span));
            }
            name if name == keys::NOTE.name => {
                let text = value::expect_text(&entry.value, &keys::NOTE, entry.key.span, problems);
                self.note = text.map(|text| Spanned::new(text.value.into(), text.span));
            }
            name if name == keys::REFERENCES.name => {
                let count = value::one_or_many(&entry.value).len();
                if count > limits::MAX_MEDIA || count.saturating_mul(shots) > limits::MAX_TOTAL_MEDIA {
                    let message = format!(
                        "{} references of {} shots are too many",
                        grouped(count as u128),
                        grouped(shots as u128)
                    );
                    problems.push(Diagnostic::error("matrix-too-large", entry.key.span, message).help(
                        format!(
                            "an instance has at most {}, a plan {}",
                            limits::MAX_MEDIA,
                            grouped(limits::MAX_TOTAL_MEDIA as u128)
                        ),
                    ));
                    return;
                }
                self.references = Some(entry);
            }
            name if name == keys::SERVICE.name => self.service = Some(entry),
            name if name == keys::CAST.name => self.cast = Some(entry),
            name if name == keys::TAKES.name => self.takes = Some(entry),
            name if name == keys::PICK.name => self.pick = Some(entry),
            name if name == keys::RETRY.name => self.retry = Some(entry),
            _ => self.timeout = Some(entry),
        }
    }

    /// Gives a shot what it does not say itself.
    fn fill(&self, shot: &mut Shot) {
        if shot.note.is_none() {
            shot.note.clone_from(&self.note);
        }
        let Shot { service, references, cast, takes, pick, retry, timeout, .. } = shot;
        for (own, default) in [
            (service, &self.service),
            (references, &self.references),
            (cast, &self.cast),
            (takes, &self.takes),
            (pick, &self.pick),
            (retry, &self.retry),
            (timeout, &self.timeout),
        ] {
            if own.is_none() {
                own.clone_from(default);
            }
        }
    }
}

/// Removes what only says that there is no default.
fn remove_nulls(shot: &mut Shot) {
    if shot.note.as_ref().is_some_and(|note| note.value.is_empty()) {
        shot.note = None;
    }
    let Shot { service, references, cast, takes, pick, retry, timeout, .. } = shot;
    for own in [service, references, cast, takes, pick, retry, timeout] {
        if own.as_ref().is_some_and(|entry| entry.value.is_null()) {
            *own = None;
        }
    }
}
