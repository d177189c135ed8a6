//! docs/reference.md: models, fields and rules as tables.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use contract::{Contract, Field, FieldKind, Rule, Severity};

const HEADER: &str = "\
<!-- Written by `cargo xtask generate` from openapi.yaml; do not edit. -->
# Models, fields and rules

The fields of requests and responses, from openapi.yaml. A shot in a workflow has the same field names. `runner services show` prints the model
catalogue; an editor that reads `workflows/workflow.schema.json` completes the names. See also [output.md](output.md) for JSON output and
[events.md](events.md) for the event stream of a run.
";

/// The page for a contract.
pub(super) fn reference(contract: &Contract) -> Result<String, String> {
    let mut out = HEADER.to_owned();
    let _ = writeln!(out, "\nInterface version {}.", contract.version());
    models(contract, &mut out);
    let rules: BTreeMap<&str, &[Rule]> = contract.rules().collect();
    let mut described = Vec::new();
    for family in contract.families() {
        let Some(component) = contract.request_component(family) else { continue };
        let heading = format!("A request to family {family}");
        describe(contract, component, &heading, &rules, &mut described, &mut out)?;
    }
    describe(contract, "Task", "A task in a response", &rules, &mut described, &mut out)?;
    describe(contract, "ErrorBody", "The body of an error response", &rules, &mut described, &mut out)?;
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

/// A component and, recursively, the components of its fields; each once.
fn describe(
    contract: &Contract,
    component: &str,
    heading: &str,
    rules: &BTreeMap<&str, &[Rule]>,
    described: &mut Vec<String>,
    out: &mut String,
) -> Result<(), String> {
    if described.iter().any(|name| name == component) {
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
        out.push_str(
            "\nCross-field rules:\n\n| rule | section | error code | message |\n|---|---|---|---|\n",
        );
        for rule in *rules {
            let (id, section, code) = (&rule.id, &rule.spec_section, &rule.code);
            let code = match rule.severity {
                Severity::Error => format!("`{code}`"),
                Severity::Warning => "none: a warning".to_owned(),
            };
            let _ = writeln!(out, "| {id} | {section} | {code} | {} |", cell(&rule.message));
        }
    }
    for field in &fields {
        let Some(inner) = field.component.as_deref().filter(|_| is_object(contract, field)) else {
            continue;
        };
        describe(contract, inner, &format!("`{inner}`"), rules, described, out)?;
    }
    Ok(())
}

/// Whether the field's component has fields; components of lists and scalars have none.
fn is_object(contract: &Contract, field: &Field) -> bool {
    field.component.as_deref().is_some_and(|component| contract.component_fields(component).is_ok())
}

fn row(field: &Field) -> String {
    let kind = match field.kind {
        FieldKind::String if field.is_digit_string => "string of digits",
        FieldKind::String => "string",
        FieldKind::Integer => "integer",
        FieldKind::Number => "number",
        FieldKind::Boolean => "boolean",
        FieldKind::Array => "array",
        FieldKind::Object => "object",
    };
    let mut allowed: Vec<String> = field.values.iter().map(|value| format!("`{value}`")).collect();
    match (field.minimum, field.maximum) {
        (Some(min), Some(max)) => allowed.push(format!("{min} to {max}")),
        (Some(min), None) => allowed.push(format!("at least {min}")),
        (None, Some(max)) => allowed.push(format!("at most {max}")),
        (None, None) => {}
    }
    allowed.extend(field.pattern.iter().map(|pattern| format!("`{pattern}`")));
    if let (FieldKind::Object | FieldKind::Array, Some(component)) = (field.kind, &field.component) {
        allowed.push(format!("`{component}`"));
    }
    let default = field.default.as_ref().map(|value| format!("`{value}`")).unwrap_or_default();
    let required = if field.is_required { "yes" } else { "" };
    let meaning = if field.is_deprecated {
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

/// Text escaped for a cell of a Markdown table.
fn cell(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ").replace('|', "\\|")
}
