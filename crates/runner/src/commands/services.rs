//! `runner services`: the descriptions of services, and what they say.

use std::fmt::Write as _;
use std::path::Path;
use std::sync::Arc;

use contract::answer::Task;
use contract::{Contract, Model, Placement, Refused, ResolutionSource, TaskState, Word};
use serde_json::{Value, json};

use crate::args::{CheckDescriptionArgs, Format, ListArgs, ServicesCommand, ShowArgs};
use crate::error::CommandError;
use crate::exit::Exit;
use crate::load;
use crate::report::{Table, sanitize};
use crate::terminal;

pub(crate) fn services(command: &ServicesCommand) -> Result<Exit, CommandError> {
    match command {
        ServicesCommand::List(args) => Ok(list(args)),
        ServicesCommand::Show(args) => show(args),
        ServicesCommand::Check(args) => check(args),
    }
}

/// A description that comes with the program, or one in a file; `None` if the file is none, which is reported.
fn description(service: &str) -> Result<Option<Arc<Contract>>, CommandError> {
    if let Some(contract) = Contract::shipped(service) {
        return Ok(Some(contract));
    }
    let file = Path::new(service);
    if !file.exists() {
        let names = Contract::shipped_names().collect::<Vec<_>>().join(", ");
        let name = sanitize::line(service);
        return Err(CommandError::invalid(format!("there is neither a service nor a file `{name}`"))
            .hint(format!("the services are {names}")));
    }
    let checked = workflow::description::check(&load::read(file)?, service);
    if !checked.report.diagnostics.is_empty() {
        err!("{}", checked.report.render(terminal::has_color()));
    }
    Ok(checked.contract)
}

fn list(args: &ListArgs) -> Exit {
    let mut services: Vec<(&str, Arc<Contract>)> =
        Contract::shipped_names().filter_map(|name| Some((name, Contract::shipped(name)?))).collect();
    services.sort_unstable_by_key(|(name, _)| *name);
    let record = |(name, contract): &(&str, Arc<Contract>)| json!({ "service": name, "title": contract.title(), "url": contract.server() });
    match args.format {
        Format::Text => {
            let mut table = Table::new(["service", "", "address"]);
            for (name, contract) in &services {
                let address = contract.server().unwrap_or("-").to_owned();
                table.row([(*name).to_owned(), contract.title().to_owned(), address]);
            }
            out!("{}", table.render());
        }
        Format::Json => {
            outln!("{:#}", json!({ "services": services.iter().map(record).collect::<Vec<_>>() }));
        }
        Format::Ndjson => services.iter().for_each(|service| outln!("{}", record(service))),
    }
    Exit::Done
}

fn show(args: &ShowArgs) -> Result<Exit, CommandError> {
    let Some(contract) = description(&args.service)? else { return Ok(Exit::InvalidInput) };
    let models = contract.models();
    match args.format {
        Format::Text => {
            let mut table = Table::new(["model", "resolutions", "seconds", "input image", "capabilities"]);
            for model in models {
                table.row([
                    model.id.clone(),
                    model.resolutions().join(", "),
                    format!("{} to {}", model.durations.start(), model.durations.end()),
                    if model.needs_image { "required" } else { "optional" }.to_owned(),
                    model.capabilities.join(", "),
                ]);
            }
            if !models.is_empty() {
                out!("{}", table.render());
            }
            for (pattern, _) in contract.unlisted_models() {
                outln!("and other models like `{}`", sanitize::line(pattern));
            }
            out!("{}", requests(&contract));
        }
        Format::Json => {
            let models: Vec<Value> = models.iter().map(|model| record(model)).collect();
            outln!("{:#}", json!({ "models": models }));
        }
        Format::Ndjson => models.iter().for_each(|model| outln!("{}", record(model))),
    }
    Ok(Exit::Done)
}

/// What may be written in a shot, for each kind of request.
fn requests(contract: &Contract) -> String {
    let mut text = String::new();
    let listed = contract.models().iter().map(|model| (&*model.id, &**model));
    let models: Vec<(&str, &Model)> = listed.chain(contract.unlisted_models()).collect();
    for family in contract.families() {
        let own = || models.iter().filter(|(_, model)| model.family == *family);
        let names = own().map(|(name, _)| sanitize::line(name)).collect::<Vec<_>>().join(", ");
        let _ = write!(text, "\n{names}\n");
        let inputs = own().next().map(|(_, model)| &model.inputs);
        let words = Word::ALL.into_iter().filter_map(|word| Some((word, inputs?.get(word)?)));
        for (word, placement) in words.filter(|(word, _)| *word != Word::ReturnLastFrame) {
            let _ = writeln!(text, "  {}: {}", word.as_str(), place(placement));
        }
        let fields = contract.fields(family).iter().map(|field| field.name.as_str()).collect::<Vec<_>>();
        let _ = writeln!(text, "  fields: {}", fields.join(", "));
    }
    text
}

/// Where a word is sent, and how many of it.
fn place(placement: &Placement) -> String {
    let at = placement.at.as_str();
    placement.max.map_or_else(|| at.to_owned(), |max| format!("{at}, {max} at most"))
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

fn check(args: &CheckDescriptionArgs) -> Result<Exit, CommandError> {
    let Some(contract) = description(&args.service)? else { return Ok(Exit::InvalidInput) };
    let Some(answer) = &args.answer else {
        let count = contract.models().len();
        let models = if count == 1 { "1 model".to_owned() } else { format!("{count} models") };
        outln!("{}: {models}, no errors", sanitize::line(&args.service));
        return Ok(Exit::Done);
    };
    let body = String::from_utf8_lossy(&load::read(answer)?).into_owned();
    outln!("as the answer to a submission: {}", submission(&contract, args.status, &body));
    outln!("as the answer to a poll: {}", poll(&contract, args.status, &body));
    Ok(Exit::Done)
}

fn submission(contract: &Contract, status: u16, body: &str) -> String {
    if status < 300
        && let Ok(task) = contract.read_accepted(status, body)
    {
        return format!("accepted as task {}", sanitize::line(&task.id));
    }
    let refusal = contract.read_refusal(status, body, "");
    let what = match refusal.refused {
        None => "it may have been accepted: it is not submitted again unasked",
        Some(Refused::Later) => "refused for now: it is submitted again",
        Some(Refused::NoKey) => "refused: the key is not accepted, and the run stops",
        Some(Refused::NoMoney) => "refused: there is no money, and the run stops",
        Some(Refused::Unusable) => "refused: the service cannot be used, and the run stops",
        Some(Refused::Moderated) => "refused by moderation",
        Some(Refused::Invalid) => "refused: the request is wrong",
    };
    match refusal.error.map(|error| error.message).filter(|message| !message.is_empty()) {
        Some(message) => format!("{what}; {}", sanitize::message(&message)),
        None => what.to_owned(),
    }
}

fn poll(contract: &Contract, status: u16, body: &str) -> String {
    // Which task is polled is not known here: the one that the answer names.
    let id = contract.read_accepted(status, body).map_or_else(|_| "TASK".to_owned(), |task| task.id);
    if status < 400 {
        return match contract.read_task(status, body, &id) {
            Ok(task) => state(&task),
            Err(reason) => format!("no task: {reason}"),
        };
    }
    if let Some(task) = contract.read_failed_poll(status, body, &id) {
        return state(&task);
    }
    match contract.read_refusal(status, body, "").poll_error {
        Some(error) => format!("{error:?}").to_lowercase(),
        None => "nothing about the task: it is polled again".to_owned(),
    }
}

fn state(task: &Task) -> String {
    let word =
        if task.word.is_empty() { String::new() } else { format!(" (`{}`)", sanitize::line(&task.word)) };
    let state = match task.state {
        TaskState::Queued => "queued",
        TaskState::Running => "running",
        TaskState::Completed => "completed",
        TaskState::Failed => "failed",
        TaskState::Cancelled => "cancelled",
        TaskState::Expired => "expired",
        TaskState::Moderated => "withheld by moderation",
    };
    let mut text = format!("{state}{word}");
    let mut add = |name: &str, value: Option<&str>| {
        if let Some(value) = value {
            let _ = write!(text, "\n  {name}: {}", sanitize::message(value));
        }
    };
    add("video", task.video.as_deref());
    add("last frame", task.last_frame.as_deref());
    let error = task.error.as_ref().map(|(error, _)| error);
    add("code", error.and_then(|error| error.code.as_deref()));
    add("message", error.map(|error| error.message.as_str()).filter(|message| !message.is_empty()));
    text
}
