//! Comparison of the extensions: the catalogue of models, cross-field rules, and input forms.

use serde_json::{Value, json};

use super::context::{ChangeSet, Location, flipped, pairs};
use super::{Direction, Effect, Subject, Verdict};
use crate::spec::{Node, schema_at};
use crate::{Contract, Model, Pointer, Rule, RuleLocation, Severity, canonical_json};

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

/// Compares the cross-field rules of a component that both contracts have. What is only warned about is accepted, so that warnings
/// change no answer of the service: one that becomes an error is a new rule, and the reverse a rule that is gone.
pub(super) fn rules(
    old: &Contract,
    new: &Contract,
    direction: Direction,
    component: &str,
    changes: &mut ChangeSet,
) {
    use Severity::{Error, Warning};
    fn find<'r>(rules: &'r [Rule], id: &str) -> Option<&'r Rule> {
        rules.iter().find(|rule| rule.id == id)
    }
    let rules_of = |contract: &Contract| contract.spec.rules.get(component).cloned().unwrap_or_default();
    let (before, after) = (rules_of(old), rules_of(new));
    let mut record = |rule: &Rule, effect, subject, verdict, summary: String| {
        let location = Location::new(direction, format!("{component}, rule {}", rule.id));
        match effect {
            Some(effect) => changes.record_with_effect(effect, &location, subject, verdict, summary),
            None => changes.record(&location, subject, verdict, summary),
        }
    };
    let effect_of = |rule: &Rule| (rule.severity == Warning).then_some(Effect::Notice);
    for rule in &before {
        let words = match (rule.severity, find(&after, &rule.id).map(|rule| rule.severity)) {
            (Error, None) => "gone",
            (Error, Some(Warning)) => "only a warning now",
            (Warning, None) => "no warning any more",
            _ => continue,
        };
        let summary = format!("{words}: {}", rule.message);
        record(rule, effect_of(rule), Subject::Rule, Verdict::Removed, summary);
    }
    for rule in &after {
        for named in &rule.locations {
            let (RuleLocation::Pointer(place) | RuleLocation::Items { list: place, .. }) = named;
            if has_place(old, component, place) && !has_place(new, component, place) {
                let summary = format!("names `{place}`, which is gone: change or remove the rule");
                record(rule, Some(Effect::Notice), Subject::Rule, Verdict::Changed, summary);
            }
        }
        let was = find(&before, &rule.id);
        let is_same = was.is_some_and(|was| canonical_json(&was.reject) == canonical_json(&rule.reject));
        let change = match (was.map(|was| was.severity), rule.severity) {
            (None, Error) => Some((Verdict::Added, "new")),
            (Some(Warning), Error) => Some((Verdict::Added, "refused now")),
            (None, Warning) => Some((Verdict::Added, "warns")),
            (Some(Error), Warning) => None,
            _ if is_same => None,
            (_, Error) => Some((Verdict::Changed, "refuses something else")),
            (_, Warning) => Some((Verdict::Changed, "warns about something else")),
        };
        if let Some((verdict, words)) = change {
            let summary = format!("{words}: {}", rule.message);
            record(rule, effect_of(rule), Subject::Rule, verdict, summary);
        }
        let Some(was) = was.filter(|was| (was.severity, rule.severity) == (Error, Error)) else { continue };
        if (&was.param, &was.code) != (&rule.param, &rule.code) {
            let shown = |rule: &Rule| json!({ "param": rule.param, "code": rule.code });
            let summary = format!("the error {} becomes {}", shown(was), shown(rule));
            record(rule, None, Subject::Error, Verdict::Changed, summary);
        }
    }
}

/// Whether a component's schema has a place.
fn has_place(contract: &Contract, component: &str, place: &str) -> bool {
    let root = Node::root(contract.document());
    let schema = root.get("components").and_then(|all| all.get("schemas")?.get(component));
    let pointer = Pointer::try_from(place.to_owned()).ok();
    schema.zip(pointer).is_some_and(|(schema, at)| matches!(schema_at(&root, &schema, &at), Ok(Some(_))))
}

/// Names the new fields of which the client of the embedded service cannot be generated.
pub(super) fn inline_objects(old: &Contract, new: &Contract, changes: &mut ChangeSet) {
    if new.title() != Contract::embedded().title() {
        return;
    }
    let known = crate::inline_objects(old.document());
    for field in crate::inline_objects(new.document()).into_iter().filter(|field| !known.contains(field)) {
        let location = Location::new(Direction::Request, format!("{}.{}", field.0, field.1));
        let summary = "an object without a name, of which the build generates no client: make it a component";
        changes.record_with_effect(Effect::Notice, &location, Subject::Type, Verdict::Added, summary);
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
