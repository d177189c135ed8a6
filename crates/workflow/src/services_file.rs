//! Reads `services.yaml`: reports everything that is wrong with it and reads the rest.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use contract::{Contract, ModelError};
use url::Url;

use crate::advice;
use crate::description;
use crate::diagnostic::{Diagnostic, Problems, Report, did_you_mean, did_you_mean_model, quoted_list};
use crate::files::Files;
use crate::limits;
use crate::private_host::is_private_host;
use crate::secret_text::is_token;
use crate::service_url::service_url;
use crate::services::{REHEARSAL, Service, ServiceAddress, ServiceLimits};
use crate::source::{Span, Spanned};
use crate::syntax::keys::services as keys;
use crate::syntax::{self, Mapping};
use crate::text_file::read_text;
use crate::yaml::{Key, Yaml, YamlValue};

/// The services of a file with the problems that were found in it.
#[derive(Clone, Debug)]
pub struct ServicesOutcome {
    /// The services by name, where the file has no errors.
    pub services: Option<BTreeMap<String, Service>>,
    pub report: Report,
}

/// Reads the services of a file. `files` reads the descriptions that are files beside it.
pub fn check(bytes: &[u8], file_name: &str, files: &dyn Files) -> ServicesOutcome {
    let mut problems = Problems::default();
    let source = read_text(bytes, file_name, &mut problems);
    let tree = if problems.any() { None } else { advice::read(&source, &mut problems) };
    let services = tree.and_then(|tree| {
        syntax::check_secrets(&tree, &mut problems);
        let file = Mapping::read(&tree, &keys::SERVICES_FILE, tree.span, &mut problems)?;
        let (key, services) = file.get(&keys::SERVICES)?;
        let YamlValue::Map(entries) = &services.value else {
            syntax::report_wrong_type(&keys::SERVICES, services, key.span, &mut problems);
            return None;
        };
        let services = entries.iter().filter_map(|(name, value)| {
            let service = service(name, value, files, &mut problems)?;
            Some((name.value.clone(), service))
        });
        Some(services.collect())
    });
    let services = if problems.any() { None } else { services };
    let (diagnostics, unlisted) = problems.into_sorted();
    ServicesOutcome { services, report: Report { source, diagnostics, unlisted } }
}

fn service(name: &Key, value: &Yaml, files: &dyn Files, problems: &mut Problems) -> Option<Service> {
    let refused = syntax::plain_name(&name.value).err().or_else(|| {
        (name.value == REHEARSAL).then(|| format!("`{REHEARSAL}` is the name of the embedded service"))
    });
    if let Some(message) = refused {
        problems.error("bad-name", name.span, message);
        return None;
    }
    let map = Mapping::read(value, &keys::SERVICE, name.span, problems)?;
    let api = match map.get(&keys::API) {
        Some(_) => map.text(&keys::API, problems)?,
        None => Spanned::new(name.value.clone(), name.span),
    };
    let contract = contract_of(&api, map.get(&keys::API).is_some(), files, problems);
    let models = models(&map, problems);
    let contract = contract.and_then(|contract| with_models(contract, &models, problems));
    let contract = contract.and_then(|contract| with_marks(contract, &map, problems));
    let limits = limits_of(&map, problems);
    let prices = map.text(&keys::PRICES, problems).map(|file| PathBuf::from(file.value));
    let also = also(&map, problems);
    let contract = contract?;
    let address = address(&map, name, &api.value, &contract, problems)?;
    Some(Service { contract, address: Some(address), prices, limits, also })
}

/// The description that `api` names.
fn contract_of(
    api: &Spanned<String>,
    is_written: bool,
    files: &dyn Files,
    problems: &mut Problems,
) -> Option<Arc<Contract>> {
    if !is_file(&api.value) {
        if let Some(contract) = Contract::shipped(&api.value) {
            return Some(Arc::clone(contract));
        }
        let names = || Contract::shipped_names();
        let message = if is_written {
            format!("no description `{}` comes with the program", api.value)
        } else {
            format!("`api` is missing: no description `{}` comes with the program", api.value)
        };
        let help = did_you_mean(&api.value, names()).unwrap_or_else(|| {
            format!(
                "they are {}; a file of your own is named with its ending: `api: my-api.yaml`",
                quoted_list(names(), 20)
            )
        });
        problems.push(Diagnostic::error("bad-service", api.span, message).help(help));
        return None;
    }
    let bytes = match files.read(Path::new(&api.value), limits::MAX_FILE_BYTES as u64) {
        Ok(bytes) => bytes,
        Err(error) => {
            problems.error("bad-file", api.span, format!("`{}`: {error}", api.value));
            return None;
        }
    };
    let outcome = description::check(&bytes, &api.value);
    if outcome.contract.is_none() {
        let first = outcome.report.diagnostics.first().map(|first| first.message.clone());
        let message = format!("`{}` is no description: {}", api.value, first.unwrap_or_default());
        let help = format!("see it with its place: `runner services check {}`", api.value);
        problems.push(Diagnostic::error("bad-description", api.span, message).help(help));
    }
    outcome.contract
}

/// Whether an `api` is a file, not the name of a description that comes with the program.
fn is_file(api: &str) -> bool {
    Path::new(api).extension().is_some_and(|ending| ["yaml", "yml", "json"].iter().any(|own| ending == *own))
}

/// Where the service is, and which variable has its key.
fn address(
    map: &Mapping<'_>,
    name: &Key,
    api: &str,
    contract: &Contract,
    problems: &mut Problems,
) -> Option<ServiceAddress> {
    let key = key(map, name, contract, problems);
    let url = url(map, name, api, contract, problems)?;
    let key = key?;
    let is_own = |server: &str| Url::parse(server).is_ok_and(|server| server.origin() == url.origin());
    let is_trusted = !is_file(api) && contract.key_variable() == Some(&key) && contract.servers().any(is_own);
    Some(ServiceAddress { url, key, is_trusted })
}

/// The environment variable of the key.
fn key(map: &Mapping<'_>, name: &Key, contract: &Contract, problems: &mut Problems) -> Option<String> {
    if map.get(&keys::KEY).is_none() {
        if let Some(variable) = contract.key_variable() {
            return Some(variable.to_owned());
        }
        let message =
            format!("`key` is missing: which environment variable has the key of `{}`?", name.value);
        let help = format!("add `key: {}_API_KEY`", name.value.to_uppercase().replace('-', "_"));
        problems.push(Diagnostic::error("missing-key", name.span, message).help(help));
        return None;
    }
    let key = map.text(&keys::KEY, problems)?;
    if is_variable(&key.value) {
        return Some(key.value);
    }
    // A credential is reported already.
    if !is_token(&key.value) {
        let message = "`key` is the name of an environment variable, not a key";
        problems.push(Diagnostic::error("secret-in-file", key.span, message).help(
            "set the key where the program runs: `export ARK_API_KEY=…`, and write `key: ARK_API_KEY`",
        ));
    }
    None
}

/// The address: the one that is written, else that of the description.
fn url(
    map: &Mapping<'_>,
    name: &Key,
    api: &str,
    contract: &Contract,
    problems: &mut Problems,
) -> Option<Url> {
    if map.get(&keys::BASE_URL).is_none() {
        let own = contract.server().and_then(|url| url.parse().ok()).filter(|url| !is_private_host(url));
        if own.is_none() {
            let message = format!("`base_url` is missing: the description `{api}` has no address");
            let help = "add the address of your gateway: `base_url: https://gateway.example.com/v1`";
            problems.push(Diagnostic::error("missing-key", name.span, message).help(help));
        }
        return own;
    }
    let text = map.text(&keys::BASE_URL, problems)?;
    let submit = contract.submit().path.as_str();
    let endpoint = if submit.contains('{') { "" } else { submit };
    match service_url(&text.value, endpoint) {
        Ok(url) => Some(url),
        Err(error) => {
            let instead = error.instead.map(|url| format!("write `base_url: {url}`"));
            let help: Vec<String> = instead.into_iter().chain(error.note.map(str::to_owned)).collect();
            let diagnostic =
                Diagnostic::error("bad-service", text.span, format!("`base_url` {}", error.problem));
            problems.push(if help.is_empty() { diagnostic } else { diagnostic.help(help.join("; ")) });
            None
        }
    }
}

/// Whether a text can be the name of an environment variable.
fn is_variable(text: &str) -> bool {
    !text.is_empty()
        && !text.starts_with(|first: char| first.is_ascii_digit())
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

/// The models that are like others: `(id, like)`, each with its place.
fn models(map: &Mapping<'_>, problems: &mut Problems) -> Vec<(String, Spanned<String>)> {
    let Some((key, value)) = map.get(&keys::MODELS) else { return Vec::new() };
    let YamlValue::Map(entries) = &value.value else {
        syntax::report_wrong_type(&keys::MODELS, value, key.span, problems);
        return Vec::new();
    };
    let model = |(id, value): &(Key, Yaml)| {
        let like = Mapping::read(value, &keys::MODEL, id.span, problems)?.text(&keys::LIKE, problems)?;
        Some((id.value.clone(), like))
    };
    entries.iter().filter_map(model).collect()
}

fn with_models(
    contract: Arc<Contract>,
    models: &[(String, Spanned<String>)],
    problems: &mut Problems,
) -> Option<Arc<Contract>> {
    if models.is_empty() {
        return Some(contract);
    }
    let list: Vec<_> = models.iter().map(|(id, like)| (id.clone(), like.value.clone())).collect();
    match contract.with_models(&list) {
        Ok(contract) => Some(Arc::new(contract)),
        Err(ModelError::Unknown(like)) => {
            let span =
                models.iter().find(|(_, own)| own.value == like).map_or(Span::default(), |(_, own)| own.span);
            let ids = || contract.models().iter().map(|model| model.id.as_str());
            let help = did_you_mean_model(&like, ids())
                .unwrap_or_else(|| format!("the models are {}", quoted_list(ids(), 12)));
            problems.push(
                Diagnostic::error("unknown-model", span, format!("there is no model `{like}`")).help(help),
            );
            None
        }
        Err(ModelError::Spec(error)) => {
            let span = models.first().map_or(Span::default(), |(_, own)| own.span);
            problems.push(Diagnostic::error("bad-description", span, error.problem).help(error.help));
            None
        }
    }
}

fn limits_of(map: &Mapping<'_>, problems: &mut Problems) -> ServiceLimits {
    let Some((key, value)) = map.get(&keys::LIMITS) else { return ServiceLimits::default() };
    let Some(map) = Mapping::read(value, &keys::LIMIT, key.span, problems) else {
        return ServiceLimits::default();
    };
    let mut count = |key| map.count(key, problems).map(|count| count.value);
    ServiceLimits {
        jobs: count(&keys::JOBS),
        submits_per_minute: count(&keys::SUBMITS),
        polls_per_second: count(&keys::POLLS),
        downloads: count(&keys::DOWNLOADS),
    }
}

/// The service, with marked requests where the file says `echo: true`.
fn with_marks(contract: Arc<Contract>, map: &Mapping<'_>, problems: &mut Problems) -> Option<Arc<Contract>> {
    if map.flag(&keys::ECHO, problems) != Some(true) {
        return Some(contract);
    }
    let marked = contract.with_marks();
    if marked.is_none() {
        let (key, _) = map.get(&keys::ECHO)?;
        let message = "this service gives nothing back by which a submission is found";
        problems.push(Diagnostic::error("bad-service", key.span, message).help("leave `echo` out"));
    }
    marked.map(Arc::new)
}

fn also(map: &Mapping<'_>, problems: &mut Problems) -> Vec<String> {
    let Some((key, value)) = map.get(&keys::ALSO) else { return Vec::new() };
    let items = syntax::one_or_many(value).iter();
    let texts = items.filter_map(|item| syntax::expect_text(item, &keys::ALSO, key.span, problems));
    texts.map(|text| text.value).collect()
}
