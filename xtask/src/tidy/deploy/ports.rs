//! Ports of deployments: who is addressed by name and port listens there.

use std::collections::{BTreeMap, BTreeSet};

use serde_yaml::{Mapping, Value};

use super::{containers, visit};

/// Ports of Restate's server that are not set anywhere: ingress, admin API, nodes among each other.
const RESTATE_PORTS: [u64; 3] = [8080, 9070, 5122];

/// Names and ports of `http://NAME:PORT` in a text, for names without a dot.
fn addresses(text: &str) -> impl Iterator<Item = (&str, u64)> {
    text.split("http://").skip(1).filter_map(|rest| {
        let rest = rest.split(['/', '"', '\'', ' ', ',', '}']).next()?;
        let (host, port) = rest.rsplit_once(':')?;
        // `$(POD_NAME).restate-nodes` and `restate-0.restate-nodes` are pods of a service.
        let host = host.rsplit('.').next()?;
        let is_name =
            host.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-');
        Some((host, port.parse().ok()?)).filter(|_| is_name && host != "localhost")
    })
}

/// The port of `--listen=ADDRESS:PORT`.
fn listen_port(args: &[&str]) -> Option<u64> {
    args.iter().find_map(|arg| arg.strip_prefix("--listen=")?.rsplit(':').next()?.parse().ok())
}

fn mapping<'a>(value: &'a Value, path: &[&str]) -> Option<&'a Mapping> {
    path.iter().try_fold(value, |value, name| value.get(name))?.as_mapping()
}

/// Services of a compose file: their names and aliases, and where they listen.
pub(super) fn compose(name: &str, documents: &[Value]) -> Vec<String> {
    let mut listening: BTreeMap<&str, BTreeSet<u64>> = BTreeMap::new();
    let mut requested = BTreeSet::new();
    for (service, definition) in
        documents.iter().filter_map(|document| mapping(document, &["services"])).flatten()
    {
        let aliases = definition.get("networks").and_then(|networks| networks.get("default")?.get("aliases"));
        let aliases = aliases.and_then(Value::as_sequence).into_iter().flatten();
        for container in containers(definition) {
            let ports: Vec<u64> = match listen_port(&container.args) {
                Some(port) => vec![port],
                None if container.image.contains("/restate:") => RESTATE_PORTS.to_vec(),
                None => Vec::new(),
            };
            for name in aliases.clone().chain([service]).filter_map(Value::as_str) {
                listening.entry(name).or_default().extend(&ports);
            }
            let values = container.variables.iter().filter_map(|(_, value)| *value);
            requested.extend(container.args.iter().copied().chain(values).flat_map(addresses));
        }
    }
    addresses_without_listener(name, &requested, &listening)
}

fn addresses_without_listener(
    name: &str,
    requested: &BTreeSet<(&str, u64)>,
    listening: &BTreeMap<&str, BTreeSet<u64>>,
) -> Vec<String> {
    let missing = requested
        .iter()
        .filter(|(host, port)| !listening.get(host).is_some_and(|ports| ports.contains(port)));
    missing.map(|(host, port)| format!("{name}: nobody listens at {host}:{port}")).collect()
}

/// A pod's labels, and the ports of its containers by name.
struct Pod<'a> {
    labels: Option<&'a Mapping>,
    ports: BTreeMap<String, u64>,
}

/// Services, the pods that they select, and the containers' ports.
pub(super) fn kubernetes(name: &str, documents: &[Value]) -> Vec<String> {
    let mut problems = Vec::new();
    let mut pods = Vec::new();
    let mut requested = BTreeSet::new();
    for document in documents {
        let Some(template) = document.get("spec").and_then(|spec| spec.get("template")) else { continue };
        let ports = named_ports(template);
        for container in containers(template) {
            if let Some(port) = listen_port(&container.args)
                && !ports.values().any(|declared| *declared == port)
            {
                problems
                    .push(format!("{name}: a container listens on port {port}, which its ports do not name"));
            }
            let values = container.variables.iter().filter_map(|(_, value)| *value);
            requested.extend(container.args.iter().copied().chain(values).flat_map(addresses));
        }
        for probe in probe_ports(template).into_iter().filter(|probe| !ports.contains_key(probe)) {
            problems.push(format!("{name}: a probe is for the port `{probe}`, which no container has"));
        }
        pods.push(Pod { labels: mapping(template, &["metadata", "labels"]), ports });
    }
    let mut listening: BTreeMap<&str, BTreeSet<u64>> = BTreeMap::new();
    for service in documents.iter().filter(|document| kind(document) == Some("Service")) {
        let (Some(service_name), Some(spec)) = (
            service.get("metadata").and_then(|metadata| metadata.get("name")?.as_str()),
            service.get("spec"),
        ) else {
            problems.push(format!("{name}: a service without a name"));
            continue;
        };
        let selector = spec.get("selector").and_then(Value::as_mapping);
        let Some(pod) = pods.iter().find(|pod| selects(selector, pod.labels)) else {
            problems.push(format!("{name}: the service {service_name} selects no pod"));
            continue;
        };
        let ports = spec.get("ports").and_then(Value::as_sequence).into_iter().flatten();
        for port in ports {
            listening.entry(service_name).or_default().extend(port.get("port").and_then(Value::as_u64));
            let target = port.get("targetPort").map(text).unwrap_or_default();
            if !pod.ports.iter().any(|(name, number)| *name == target || number.to_string() == target) {
                problems.push(format!(
                    "{name}: the service {service_name} is for the port `{target}`, which its pods do not have"
                ));
            }
        }
    }
    // A service that is reported already is not reported again as one that nobody listens at.
    requested.retain(|(host, _)| listening.contains_key(host) || !is_defined(documents, host));
    problems.extend(addresses_without_listener(name, &requested, &listening));
    problems
}

fn is_defined(documents: &[Value], host: &str) -> bool {
    documents.iter().any(|document| {
        kind(document) == Some("Service")
            && document.get("metadata").and_then(|metadata| metadata.get("name")?.as_str()) == Some(host)
    })
}

fn kind(document: &Value) -> Option<&str> {
    document.get("kind")?.as_str()
}

fn text(value: &Value) -> String {
    value.as_u64().map_or_else(|| value.as_str().unwrap_or_default().to_owned(), |number| number.to_string())
}

fn selects(selector: Option<&Mapping>, labels: Option<&Mapping>) -> bool {
    let (Some(selector), Some(labels)) = (selector, labels) else { return false };
    selector.iter().all(|(name, value)| labels.get(name) == Some(value))
}

fn named_ports(template: &Value) -> BTreeMap<String, u64> {
    let mut ports = BTreeMap::new();
    visit(template, &mut |mapping| {
        if let (Some(name), Some(port)) = (
            mapping.get("name").and_then(Value::as_str),
            mapping.get("containerPort").and_then(Value::as_u64),
        ) {
            ports.insert(name.to_owned(), port);
        }
    });
    ports
}

fn probe_ports(template: &Value) -> BTreeSet<String> {
    let mut ports = BTreeSet::new();
    visit(template, &mut |mapping| {
        for probe in ["httpGet", "tcpSocket"] {
            ports.extend(mapping.get(probe).and_then(|probe| probe.get("port")).map(text));
        }
    });
    ports
}
