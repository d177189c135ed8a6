//! What the contract says beyond `OpenAPI`: the catalogue of models, cross-field rules, and where frames go.

use serde_json::{Value, json};

use super::found::{Finding, Found, Spot};
use super::{Effect, Side, Subject, Verdict};
use crate::{Contract, Model, Rule, canonical_json};

/// Compares the catalogues. What a model takes from its family is compared there.
pub(super) fn models(old: &Contract, new: &Contract, found: &mut Found) {
    let spot = |model: &Model| Spot::new(Side::Request, format!("model {}", model.id));
    for model in old.models().iter().filter(|model| new.model(&model.id).is_none()) {
        let what = format!("the model is gone from family {}", model.family);
        let finding =
            Finding { subject: Subject::Model, verdict: Verdict::Removed, what, old: None, new: None };
        found.note(&spot(model), finding);
    }
    for model in new.models() {
        let Some(before) = old.model(&model.id) else {
            let what = format!("the model is new in family {}", model.family);
            let finding =
                Finding { subject: Subject::Model, verdict: Verdict::Added, what, old: None, new: None };
            found.note(&spot(model), finding);
            continue;
        };
        compare_model(&spot(model), before, model, found);
    }
}

fn compare_model(spot: &Spot, old: &Model, new: &Model, found: &mut Found) {
    let mut note = |subject, verdict, what: String| {
        found.note(spot, Finding { subject, verdict, what, old: None, new: None });
    };
    if old.family != new.family {
        note(Subject::Model, Verdict::Changed, format!("family {} becomes {}", old.family, new.family));
    }
    for capability in old.capabilities.iter().filter(|capability| !new.can(capability)) {
        note(Subject::Capability, Verdict::Removed, format!("`{capability}` is gone"));
    }
    for capability in new.capabilities.iter().filter(|capability| !old.can(capability)) {
        note(Subject::Capability, Verdict::Added, format!("`{capability}` is new"));
    }
    match (old.needs_image, new.needs_image) {
        (false, true) => {
            note(Subject::Capability, Verdict::Narrowed, "an input image is required now".to_owned());
        }
        (true, false) => {
            note(Subject::Capability, Verdict::Widened, "an input image is optional now".to_owned());
        }
        _ => {}
    }
    let source = |model: &Model| match &model.resolution {
        crate::ResolutionSource::Request { field, .. } => format!("chosen by `{field}`"),
        crate::ResolutionSource::Fixed(resolution) => format!("fixed at {resolution}"),
    };
    if source(old) != source(new) {
        let what = format!("resolution {} becomes {}", source(old), source(new));
        note(Subject::Capability, Verdict::Changed, what);
    }
}

/// Compares the cross-field rules of a component that both contracts have.
pub(super) fn rules(old: &Contract, new: &Contract, side: Side, component: &str, found: &mut Found) {
    let of = |contract: &Contract| -> Vec<Rule> {
        contract
            .rules()
            .find(|(name, _)| *name == component)
            .map(|(_, rules)| rules.to_vec())
            .unwrap_or_default()
    };
    let (before, after) = (of(old), of(new));
    let spot = |rule: &Rule| Spot::new(side, format!("{component}, rule {}", rule.id));
    let known = |rules: &[Rule], id: &str| rules.iter().find(|rule| rule.id == id).cloned();
    for rule in before.iter().filter(|rule| known(&after, &rule.id).is_none()) {
        let what = format!("gone: {}", rule.message);
        let old = Some(&rule.reject);
        let finding = Finding { subject: Subject::Rule, verdict: Verdict::Removed, what, old, new: None };
        found.note(&spot(rule), finding);
    }
    for rule in &after {
        let new = Some(&rule.reject);
        let Some(was) = known(&before, &rule.id) else {
            let what = format!("new: {}", rule.message);
            let finding = Finding { subject: Subject::Rule, verdict: Verdict::Added, what, old: None, new };
            found.note(&spot(rule), finding);
            continue;
        };
        if canonical_json(&was.reject) != canonical_json(&rule.reject) {
            let what = format!("refuses something else: {}", rule.message);
            let (subject, verdict, old) = (Subject::Rule, Verdict::Changed, Some(&was.reject));
            found.note(&spot(rule), Finding { subject, verdict, what, old, new });
        }
        if (&was.param, &was.code) != (&rule.param, &rule.code) {
            let shown = |rule: &Rule| json!({ "param": rule.param, "code": rule.code });
            let what = format!("the error {} becomes {}", shown(&was), shown(rule));
            let finding =
                Finding { subject: Subject::Error, verdict: Verdict::Changed, what, old: None, new: None };
            found.note_as(Effect::Notice, &spot(rule), finding);
        }
    }
}

/// Compares where a family takes frames and references.
pub(super) fn inputs(spot: &Spot, old: &Value, new: &Value, found: &mut Found) {
    let of = |schema: &Value| schema.get("x-inputs").and_then(Value::as_object).cloned().unwrap_or_default();
    let (before, after) = (of(old), of(new));
    let kinds = before.keys().chain(after.keys().filter(|kind| !before.contains_key(*kind)));
    for kind in kinds {
        let (was, is) = (before.get(kind), after.get(kind));
        let verdict = match (was, is) {
            (Some(was), Some(is)) if was == is => continue,
            (None, _) => Verdict::Added,
            (_, None) => Verdict::Removed,
            _ => Verdict::Changed,
        };
        let shown = |form: Option<&Value>| form.map_or_else(|| "nowhere".to_owned(), Value::to_string);
        let what = format!("`{kind}` goes to {} instead of {}", shown(is), shown(was));
        found.note(spot, Finding { subject: Subject::Inputs, verdict, what, old: was, new: is });
    }
}
