//! Comparison of the extensions: the catalogue of models, cross-field rules, and input forms.

use serde_json::{Value, json};

use super::context::{ChangeSet, Location, flipped, pairs};
use super::{Direction, Effect, Subject, Verdict};
use crate::{Contract, Model, Rule, Severity, canonical_json};

/// Compares the catalogues. What a model takes from its family is compared there.
pub(super) fn models(old: &Contract, new: &Contract, changes: &mut ChangeSet) {
    let location = |model: &Model| Location::new(Direction::Request, format!("model {}", model.id));
    for model in old.models().iter().filter(|model| new.model(&model.id).is_none()) {
        let summary = format!("the model is gone from family {}", model.family);
        changes.record(&location(model), Subject::Model, Verdict::Removed, summary);
    }
    for model in new.models() {
        let Some(before) = old.model(&model.id) else {
            let summary = format!("the model is new in family {}", model.family);
            changes.record(&location(model), Subject::Model, Verdict::Added, summary);
            continue;
        };
        compare_model(&location(model), &before, model, changes);
    }
}

fn compare_model(location: &Location, old: &Model, new: &Model, changes: &mut ChangeSet) {
    let mut record = |subject, verdict, summary: String| changes.record(location, subject, verdict, summary);
    if old.family != new.family {
        record(Subject::Model, Verdict::Changed, format!("family {} becomes {}", old.family, new.family));
    }
    for capability in old.capabilities.iter().filter(|capability| !new.can(capability)) {
        record(Subject::Capability, Verdict::Removed, format!("`{capability}` is gone"));
    }
    for capability in new.capabilities.iter().filter(|capability| !old.can(capability)) {
        record(Subject::Capability, Verdict::Added, format!("`{capability}` is new"));
    }
    if let Some(needs_image) = flipped(old.needs_image, new.needs_image) {
        let (verdict, now) =
            if needs_image { (Verdict::Narrowed, "required") } else { (Verdict::Widened, "optional") };
        record(Subject::Capability, verdict, format!("an input image is {now} now"));
    }
    let source = |model: &Model| match &model.resolution {
        crate::ResolutionSource::Request { field, .. } => format!("chosen by `{field}`"),
        crate::ResolutionSource::Fixed(resolution) => format!("fixed at {resolution}"),
        crate::ResolutionSource::Unknown => "chosen by the service".to_owned(),
    };
    if source(old) != source(new) {
        let summary = format!("resolution {} becomes {}", source(old), source(new));
        record(Subject::Capability, Verdict::Changed, summary);
    }
}

/// Compares the cross-field rules of a component that both contracts have.
pub(super) fn rules(
    old: &Contract,
    new: &Contract,
    direction: Direction,
    component: &str,
    changes: &mut ChangeSet,
) {
    let rules_of = |contract: &Contract| -> Vec<Rule> {
        contract
            .rules()
            .find(|(name, _)| *name == component)
            .map(|(_, rules)| rules.to_vec())
            .unwrap_or_default()
    };
    let location = |rule: &Rule| Location::new(direction, format!("{component}, rule {}", rule.id));
    let (before, after) = (rules_of(old), rules_of(new));
    warnings(&before, &after, location, changes);
    let (all_before, all_after) = (before.clone(), after.clone());
    // What is only warned about is accepted: a warning that becomes an error is a new rule, and the reverse a rule that is gone.
    let refusing = |rules: Vec<Rule>| -> Vec<Rule> {
        rules.into_iter().filter(|rule| rule.severity == Severity::Error).collect()
    };
    let (before, after) = (refusing(before), refusing(after));
    let find_rule = |rules: &[Rule], id: &str| rules.iter().find(|rule| rule.id == id).cloned();
    for rule in before.iter().filter(|rule| find_rule(&after, &rule.id).is_none()) {
        let is_warning = find_rule(&all_after, &rule.id).is_some();
        let summary = format!("{}: {}", if is_warning { "only a warning now" } else { "gone" }, rule.message);
        changes.record(&location(rule), Subject::Rule, Verdict::Removed, summary);
    }
    for rule in &after {
        let Some(was) = find_rule(&before, &rule.id) else {
            let was_warning = find_rule(&all_before, &rule.id).is_some();
            let summary = format!("{}: {}", if was_warning { "refused now" } else { "new" }, rule.message);
            changes.record(&location(rule), Subject::Rule, Verdict::Added, summary);
            continue;
        };
        if canonical_json(&was.reject) != canonical_json(&rule.reject) {
            let summary = format!("refuses something else: {}", rule.message);
            changes.record(&location(rule), Subject::Rule, Verdict::Changed, summary);
        }
        if (&was.param, &was.code) != (&rule.param, &rule.code) {
            let shown = |rule: &Rule| json!({ "param": rule.param, "code": rule.code });
            let summary = format!("the error {} becomes {}", shown(&was), shown(rule));
            changes.record_with_effect(
                Effect::Notice,
                &location(rule),
                Subject::Error,
                Verdict::Changed,
                summary,
            );
        }
    }
}

/// Compares the rules that only warn, and did. They change no answer of the service.
fn warnings(before: &[Rule], after: &[Rule], location: impl Fn(&Rule) -> Location, changes: &mut ChangeSet) {
    fn warned<'a>(rules: &'a [Rule], id: &str) -> Option<&'a Rule> {
        rules.iter().find(|rule| rule.id == id && rule.severity == Severity::Warning)
    }
    let mut record = |rule: &Rule, verdict, summary: String| {
        changes.record_with_effect(Effect::Notice, &location(rule), Subject::Rule, verdict, summary);
    };
    for rule in before.iter().filter(|rule| rule.severity == Severity::Warning) {
        if after.iter().all(|other| other.id != rule.id) {
            let summary = format!("no warning any more: {}", rule.message);
            record(rule, Verdict::Removed, summary);
        }
    }
    for rule in after.iter().filter(|rule| rule.severity == Severity::Warning) {
        match warned(before, &rule.id) {
            None if before.iter().any(|other| other.id == rule.id) => {}
            None => {
                let summary = format!("warns: {}", rule.message);
                record(rule, Verdict::Added, summary);
            }
            Some(was) if canonical_json(&was.reject) != canonical_json(&rule.reject) => {
                let summary = format!("warns about something else: {}", rule.message);
                record(rule, Verdict::Changed, summary);
            }
            Some(_) => {}
        }
    }
}

/// Compares where a family takes frames and references.
pub(super) fn inputs(location: &Location, old: &Value, new: &Value, changes: &mut ChangeSet) {
    for (kind, was, is) in pairs(&old["x-inputs"], &new["x-inputs"]) {
        let verdict = match (was, is) {
            (Some(was), Some(is)) if was == is => continue,
            (None, _) => Verdict::Added,
            (_, None) => Verdict::Removed,
            _ => Verdict::Changed,
        };
        let shown = |form: Option<&Value>| form.map_or_else(|| "nowhere".to_owned(), Value::to_string);
        let summary = format!("`{kind}` goes to {} instead of {}", shown(is), shown(was));
        changes.record(location, Subject::Inputs, verdict, summary);
    }
}
