//! The reference for people: models, fields and rules, as tables.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use contract::{Contract, Field, FieldKind, Rule};

const HEAD: &str = "\
<!-- Written by `cargo xtask generate` from openapi.yaml; not to be edited by hand. -->
# Models, fields and rules

What a request may hold and what is answered, as openapi.yaml says it. In a workflow a shot's fields stand under these
names; `runner models` prints the catalogue, and an editor that reads `workflows/workflow.schema.json` completes them.
What is printed for other programs is in [output.md](output.md), a run as a stream of events in [events.md](events.md).
";

/// The reference of a contract.
pub(super) fn of(contract: &Contract) -> Result<String, String> {
    let mut out = HEAD.to_owned();
    let _ = writeln!(out, "\nInterface version {}.", contract.version());
    models(contract, &mut out);
    let rules: BTreeMap<&str, &[Rule]> = contract.rules().collect();
    let mut described = Vec::new();
    for family in contract.families() {
        let Some(component) = contract.request_component(family) else { continue };
        let heading = format!("A request to family {family}");
        describe(contract, component, &heading, &rules, &mut described, &mut out)?;
    }
    describe(contract, "Task", "A task, as it is answered", &rules, &mut described, &mut out)?;
    describe(contract, "ErrorBody", "The body of a refusal", &rules, &mut described, &mut out)?;
    Ok(out)
}

fn models(contract: &Contract, out: &mut String) {
    out.push_str(
        "\n## Models\n\n| model | family | tier | resolutions | seconds | input image | capabilities |\n|---|---|---|---|---|---|---|\n",
    );
    for model in contract.models() {
        let _ = writeln!(
            out,
            "| `{}` | {} | {} | {} | {} to {} | {} | {} |",
            model.id,
            model.family,
            model.tier,
            model.resolutions().join(", "),
            model.durations.start(),
            model.durations.end(),
            if model.needs_image { "required" } else { "optional" },
            model.capabilities.join(", "),
        );
    }
}

/// A component, then the components that its fields lead to, each once.
fn describe(
    contract: &Contract,
    component: &str,
    heading: &str,
    rules: &BTreeMap<&str, &[Rule]>,
    described: &mut Vec<String>,
    out: &mut String,
) -> Result<(), String> {
    if described.iter().any(|one| one == component) {
        return Ok(());
    }
    described.push(component.to_owned());
    let fields = contract.component_fields(component).map_err(|error| error.to_string())?;
    let _ = write!(
        out,
        "\n## {heading}\n\n| field | type | required | allowed | default | meaning |\n|---|---|---|---|---|---|\n"
    );
    for field in &fields {
        let _ = writeln!(out, "{}", row(field));
    }
    if let Some(rules) = rules.get(component).filter(|rules| !rules.is_empty()) {
        out.push_str("\nRules over several fields:\n\n| rule | section | error code | what is wrong |\n|---|---|---|---|\n");
        for rule in *rules {
            let (id, section, code) = (&rule.id, &rule.section, &rule.code);
            let _ = writeln!(out, "| {id} | {section} | `{code}` | {} |", cell(&rule.message));
        }
    }
    for field in &fields {
        let Some(inner) = field.component.as_deref().filter(|_| leads_to_an_object(contract, field)) else {
            continue;
        };
        describe(contract, inner, &format!("`{inner}`"), rules, described, out)?;
    }
    Ok(())
}

/// Lists of texts and values have components too, which have no fields.
fn leads_to_an_object(contract: &Contract, field: &Field) -> bool {
    field.component.as_deref().is_some_and(|component| contract.component_fields(component).is_ok())
}

fn row(field: &Field) -> String {
    let kind = match field.kind {
        FieldKind::String if field.digit_string => "text of digits",
        FieldKind::String => "text",
        FieldKind::Integer => "whole number",
        FieldKind::Number => "number",
        FieldKind::Boolean => "true or false",
        FieldKind::Array => "list",
        FieldKind::Object => "object",
    };
    let mut allowed: Vec<String> = field.values.iter().map(|value| format!("`{value}`")).collect();
    match (field.minimum, field.maximum) {
        (Some(least), Some(most)) => allowed.push(format!("{least} to {most}")),
        (Some(least), None) => allowed.push(format!("at least {least}")),
        (None, Some(most)) => allowed.push(format!("at most {most}")),
        (None, None) => {}
    }
    allowed.extend(field.pattern.iter().map(|pattern| format!("`{pattern}`")));
    if let (FieldKind::Object | FieldKind::Array, Some(component)) = (field.kind, &field.component) {
        allowed.push(format!("`{component}`"));
    }
    let default = field.default.as_ref().map(|value| format!("`{value}`")).unwrap_or_default();
    let required = if field.required { "yes" } else { "" };
    let meaning = if field.deprecated {
        format!("Deprecated. {}", field.description)
    } else {
        field.description.clone()
    };
    format!(
        "| `{}` | {kind} | {required} | {} | {default} | {} |",
        field.name,
        cell(&allowed.join(", ")),
        cell(&meaning)
    )
}

/// Text as it may stand in a cell of a table.
fn cell(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ").replace('|', "\\|")
}
