//! `runner models`: the contract's model catalogue (spec 2.1).

use contract::{Contract, Model, ResolutionSource};
use serde_json::{Value, json};

use crate::args::{Format, ModelsArgs};
use crate::exit::Exit;
use crate::report::Table;

pub(crate) fn models(args: &ModelsArgs) -> Exit {
    let models = Contract::embedded().models();
    match args.format {
        Format::Text => {
            let mut table =
                Table::new(["model", "family", "resolutions", "seconds", "input image", "capabilities"]);
            for model in models {
                table.row([
                    model.id.clone(),
                    model.family.to_string(),
                    model.resolutions().join(", "),
                    format!("{} to {}", model.durations.start(), model.durations.end()),
                    if model.needs_image { "required" } else { "optional" }.to_owned(),
                    model.capabilities.join(", "),
                ]);
            }
            out!("{}", table.render());
        }
        Format::Json => {
            outln!("{:#}", json!({ "models": models.iter().map(|model| record(model)).collect::<Vec<_>>() }));
        }
        Format::Ndjson => models.iter().for_each(|model| outln!("{}", record(model))),
    }
    Exit::Done
}

/// A model as JSON. Its member names are part of the interface, independent of the contract's types.
fn record(model: &Model) -> Value {
    let chosen_by = match &model.resolution {
        ResolutionSource::Request { field, .. } => Some(field),
        ResolutionSource::Fixed(_) | ResolutionSource::Unknown => None,
    };
    json!({
        "id": model.id,
        "family": model.family,
        "tier": model.tier,
        "summary": model.summary,
        "resolutions": model.resolutions(),
        "resolution_field": chosen_by,
        "seconds": { "min": model.durations.start(), "max": model.durations.end() },
        "needs_image": model.needs_image,
        "capabilities": model.capabilities,
    })
}
