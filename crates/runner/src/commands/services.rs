//! `runner services`: the descriptions of services, and what they say.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::Path;
use std::sync::Arc;

use contract::answer::Task;
use contract::{Contract, Model, Placement, Refused, ResolutionSource, TaskState, Word};
use serde_json::{Value, json};
use workflow::scaffold;
use workflow::services::{REHEARSAL, ServiceAddress, Services};

use super::atomic_write::atomic_write;
use crate::args::{
    CheckDescriptionArgs, DiffArgs, Format, ListArgs, NewArgs, ServicesCommand, ShowArgs, TrustArgs,
};
use crate::error::CommandError;
use crate::exit::Exit;
use crate::input_file::{self, LoadError};
use crate::load;
use crate::project_paths::ProjectPaths;
use crate::report::{Table, sanitize};
use crate::services;
use crate::shell;
use crate::terminal;
use crate::trust;

pub(crate) fn services(command: &ServicesCommand) -> Result<Exit, CommandError> {
    match command {
        ServicesCommand::List(args) => list(args),
        ServicesCommand::Show(args) => show(args),
        ServicesCommand::Check(args) => check(args),
        ServicesCommand::New(args) => new(args),
        ServicesCommand::Diff(args) => diff(args),
        ServicesCommand::Trust(args) => trust(args),
    }
}

/// The services of the project in a folder.
fn of_project(project: &Path) -> Result<Services, CommandError> {
    services::of_project(&ProjectPaths::of_existing(project)?)
}

/// A description that comes with the program, one of a service of the project, or one in a file; `None` if the file is none, which is reported.
pub(super) fn description(name: &str, project: &Path) -> Result<Option<Arc<Contract>>, CommandError> {
    Ok(described(name, project, false)?.and_then(Result::ok))
}

/// The same; or else, if that `is_enough`, what is in a file of plain `OpenAPI`, which does not say how tasks are followed.
fn described(
    name: &str,
    project: &Path,
    is_enough: bool,
) -> Result<Option<Result<Arc<Contract>, Value>>, CommandError> {
    let services = of_project(project)?;
    if let Some(service) = services.get(name) {
        return Ok(Some(Ok(Arc::clone(&service.contract))));
    }
    if let Some(contract) = Contract::shipped(name) {
        return Ok(Some(Ok(Arc::clone(contract))));
    }
    let file = Path::new(name);
    if !file.exists() {
        let shipped = Contract::shipped_names().filter(|name| services.get(name).is_none());
        let mut names: Vec<String> = services.names().map(str::to_owned).collect();
        names.extend(shipped.map(str::to_owned));
        let names = names.join(", ");
        let name = sanitize::line(name);
        return Err(CommandError::invalid(format!("there is neither a service nor a file `{name}`"))
            .hint(format!("the services are {names}")));
    }
    let bytes = input_file::read(file).map_err(CommandError::invalid)?;
    let checked = workflow::description::check(&bytes, name);
    let is_plain = |document: &Value| {
        is_enough && document.get("openapi").is_some() && document.get("x-tasks").is_none()
    };
    if let (None, Some(document)) = (&checked.contract, checked.document.filter(is_plain)) {
        let invalid = |error| CommandError::invalid(format!("{}, {error}", sanitize::line(name)));
        contract::diff::check_document(&document).map_err(invalid)?;
        return Ok(Some(Err(document)));
    }
    if !checked.report.diagnostics.is_empty() {
        err!("{}", checked.report.render(terminal::has_color()));
    }
    Ok(checked.contract.map(Ok))
}

/// A service, or a description that needs an address first.
struct Listed<'a> {
    name: &'a str,
    contract: &'a Contract,
    address: Option<&'a ServiceAddress>,
    is_of_project: bool,
}

impl Listed<'_> {
    fn has_key(&self) -> bool {
        self.address.is_some_and(|address| std::env::var_os(&address.key).is_some_and(|key| !key.is_empty()))
    }

    /// What there is to do before it can be used.
    fn state(&self) -> String {
        match self.address {
            _ if self.name == REHEARSAL => "free".to_owned(),
            None => "a description for services.yaml".to_owned(),
            Some(address) if self.has_key() => format!("{} is set", address.key),
            Some(address) => format!("{} is not set", address.key),
        }
    }

    fn record(&self) -> Value {
        json!({
            "service": self.name,
            "title": self.contract.title(),
            "url": self.address.map(|address| address.url.as_str()),
            "key": self.address.map(|address| &address.key),
            "key_is_set": self.has_key(),
            "is_configured": self.is_of_project,
        })
    }
}

fn list(args: &ListArgs) -> Result<Exit, CommandError> {
    let services = of_project(&args.project)?;
    let configured: BTreeSet<&str> = services.configured().map(|(name, _)| name).collect();
    let of_name = |name| {
        let service = services.get(name)?;
        let (contract, address) = (&*service.contract, service.address.as_ref());
        Some(Listed { name, contract, address, is_of_project: configured.contains(name) })
    };
    let mut listed: Vec<Listed<'_>> = services.names().filter_map(of_name).collect();
    let others = Contract::shipped_names().filter(|name| services.get(name).is_none());
    listed.extend(others.filter_map(|name| {
        let contract = &**Contract::shipped(name)?;
        Some(Listed { name, contract, address: None, is_of_project: false })
    }));
    listed.sort_unstable_by_key(|service| (!service.is_of_project, service.name));
    match args.format {
        Format::Text => {
            let mut table = Table::new(["service", "", "address", "key"]);
            for service in &listed {
                let address = service.address.map_or("-", |address| address.url.as_str());
                let title = service.contract.title();
                table.row([
                    sanitize::line(service.name).into(),
                    sanitize::line(title).into(),
                    address.to_owned(),
                    service.state(),
                ]);
            }
            out!("{}", table.render());
        }
        Format::Json => {
            outln!("{:#}", json!({ "services": listed.iter().map(Listed::record).collect::<Vec<_>>() }));
        }
        Format::Ndjson => listed.iter().for_each(|service| outln!("{}", service.record())),
    }
    Ok(Exit::Done)
}

/// Confirms where the key of a service goes.
fn trust(args: &TrustArgs) -> Result<Exit, CommandError> {
    let services = of_project(&args.project)?;
    let name = &args.service;
    let Some(address) = services.get(name).and_then(|service| service.address.as_ref()) else {
        let names = services.configured().map(|(name, _)| name).collect::<Vec<_>>().join(", ");
        let error = CommandError::invalid(format!("services.yaml has no service `{}`", sanitize::line(name)));
        return Err(if names.is_empty() { error } else { error.hint(format!("it has {names}")) });
    };
    if !address.is_trusted {
        trust::confirm(address)?;
    }
    let origin = address.url.origin().ascii_serialization();
    outln!("{name}: the key in {} is sent to {origin}", address.key);
    Ok(Exit::Done)
}

fn show(args: &ShowArgs) -> Result<Exit, CommandError> {
    let Some(contract) = description(&args.service, &args.project)? else { return Ok(Exit::InvalidInput) };
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
    let Some(contract) = description(&args.service, &args.project)? else { return Ok(Exit::InvalidInput) };
    let Some(answer) = &args.answer else {
        let count = contract.models().len();
        let models = if count == 1 { "1 model".to_owned() } else { format!("{count} models") };
        outln!("{}: {models}, no errors", sanitize::line(&args.service));
        return Ok(Exit::Done);
    };
    let body = String::from_utf8_lossy(&input_file::read(answer)?).into_owned();
    outln!("as the answer to a submission: {}", submission(&contract, args.status, &body));
    outln!("as the answer to a poll: {}", poll(&contract, args.status, &body));
    Ok(Exit::Done)
}

fn new(args: &NewArgs) -> Result<Exit, CommandError> {
    let text = match &args.from {
        None => scaffold::DESCRIPTION.to_owned(),
        Some(from) => {
            let bytes = input_file::read(from).map_err(CommandError::invalid)?;
            let read = workflow::description::check(&bytes, &from.display().to_string());
            let Some(api) = read.document else {
                return Ok(LoadError::Report(Box::new(read.report)).report(Format::Text));
            };
            scaffold::describe(&api, args.operation.as_deref()).map_err(|error| {
                CommandError::invalid(error)
                    .hint("name the operation that accepts a task by its path: --operation PATH")
            })?
        }
    };
    let file = shell::path(&args.file);
    if std::fs::symlink_metadata(&args.file).is_ok() {
        return Err(CommandError::invalid(format!("{file} already exists")).hint("name another file"));
    }
    atomic_write(&args.file, &text, false)?;
    outln!("wrote {file}\n\nnext: runner services check {file}");
    Ok(Exit::Done)
}

fn diff(args: &DiffArgs) -> Result<Exit, CommandError> {
    let (old, new) = (described(&args.old, &args.project, true)?, described(&args.new, &args.project, true)?);
    let (Some(old), Some(new)) = (old, new) else { return Ok(Exit::InvalidInput) };
    let document = |side: &Result<Arc<Contract>, Value>| {
        side.as_ref().map_or_else(Value::clone, |contract| contract.document().clone())
    };
    let contracts = old.as_ref().ok().zip(new.as_ref().ok());
    let diff = match contracts {
        Some((old, new)) => contract::diff::diff(old, new),
        None => contract::diff::diff_documents(&document(&old), &document(&new)),
    };
    let diff = diff.map_err(CommandError::invalid)?;
    let mut text = diff.to_text();
    if !args.workflows.is_empty() {
        text.push_str("\nworkflows\n");
    }
    for file in &args.workflows {
        let Some((old, new)) = contracts else {
            return Err(CommandError::invalid(
                "a plain OpenAPI document does not say what is sent for a workflow",
            )
            .hint("leave --workflow out, or write a description: runner services new FILE --from DOCUMENT"));
        };
        match load::impact(file, [old, new], &diff) {
            Ok(impact) => text.push_str(&impact.to_string()),
            Err(error) => return Ok(error.report(Format::Text)),
        }
    }
    text.lines().for_each(|line| outln!("{}", sanitize::line(line)));
    Ok(if diff.breaks() { Exit::Failed } else { Exit::Done })
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
