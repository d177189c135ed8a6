//! Keys of shots in `defaults`: shots without a value of their own share them.

use std::sync::Arc;

use super::keys::shot as keys;
use super::{Entry, Shot, Workflow, value};
use crate::diagnostic::{Diagnostic, Problems, grouped};
use crate::limits;
use crate::source::Spanned;

/// Moves the keys of shots from `defaults` to the shots. A `null` of a shot removes the default.
pub(crate) fn apply(workflow: &mut Workflow, problems: &mut Problems) {
    let (of_shots, fields): (Vec<Entry>, Vec<Entry>) =
        workflow.defaults.drain(..).partition(|entry| keys::DEFAULTS.has(&entry.key.value));
    workflow.defaults = fields;
    let mut defaults = ShotDefaults::default();
    for entry in of_shots {
        let entry = Arc::new(entry);
        workflow.shot_defaults.push(Arc::clone(&entry));
        defaults.add(entry, workflow.shots.len(), problems);
    }
    for shot in &mut workflow.shots {
        defaults.apply_to(shot);
    }
}

/// The values for shots that have none of their own.
#[derive(Debug, Default)]
struct ShotDefaults {
    note: Option<Spanned<Arc<str>>>,
    references: Option<Arc<Entry>>,
    takes: Option<Arc<Entry>>,
    retry: Option<Arc<Entry>>,
    timeout: Option<Arc<Entry>>,
}

impl ShotDefaults {
    fn add(&mut self, entry: Arc<Entry>, shots: usize, problems: &mut Problems) {
        if entry.value.is_null() {
            return;
        }
        match entry.key.value.as_str() {
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
            name if name == keys::TAKES.name => self.takes = Some(entry),
            name if name == keys::RETRY.name => self.retry = Some(entry),
            _ => self.timeout = Some(entry),
        }
    }

    fn apply_to(&self, shot: &mut Shot) {
        match &shot.note {
            None => shot.note.clone_from(&self.note),
            Some(note) if note.value.is_empty() => shot.note = None,
            Some(_) => {}
        }
        let Shot { references, takes, retry, timeout, .. } = shot;
        for (own, default) in [
            (references, &self.references),
            (takes, &self.takes),
            (retry, &self.retry),
            (timeout, &self.timeout),
        ] {
            match own {
                None => own.clone_from(default),
                Some(entry) if entry.value.is_null() => *own = None,
                Some(_) => {}
            }
        }
    }
}
