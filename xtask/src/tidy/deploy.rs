//! Rules for the files below deploy: they are YAML, images have fixed versions, flags and variables are those of the programs, ports fit
//! together. `docker compose config` and `kubectl apply --dry-run=client` check them as well, where there are such programs.

mod ports;
mod programs;

use std::path::Path;
use std::process::Command;

use serde::Deserialize as _;
use serde_yaml::Value;

use crate::repository;
use programs::Programs;

const FOLDER: &str = "deploy/";

pub(super) fn problems(root: &Path) -> Result<Vec<String>, String> {
    let programs = Programs::read(root)?;
    let mut problems = Vec::new();
    let mut manifests = Vec::new();
    for name in repository::files(root)? {
        let is_yaml = Path::new(&name).extension().is_some_and(|extension| extension == "yaml");
        if !name.starts_with(FOLDER) || !is_yaml {
            continue;
        }
        let text = fs_err::read_to_string(root.join(&name)).map_err(|error| error.to_string())?;
        match documents(&text) {
            Ok(documents) => {
                problems.extend(check(&name, &documents, &programs));
                if is_compose(&name) {
                    problems.extend(ports::compose(&name, &documents));
                } else {
                    manifests.extend(documents);
                }
            }
            Err(error) => problems.push(format!("{name}: not YAML: {error}")),
        }
        problems.extend(outside(root, &name));
    }
    problems.extend(ports::kubernetes(&format!("{FOLDER}kubernetes"), &manifests));
    Ok(problems)
}

fn is_compose(name: &str) -> bool {
    name.ends_with("compose.yaml")
}

/// The documents of a file, with the anchors of compose files merged.
fn documents(text: &str) -> Result<Vec<Value>, String> {
    serde_yaml::Deserializer::from_str(text)
        .map(|document| {
            let mut value = Value::deserialize(document).map_err(|error| error.to_string())?;
            // An anchor that merges another one needs a second pass.
            for _ in 0..2 {
                value.apply_merge().map_err(|error| error.to_string())?;
            }
            Ok(value)
        })
        .collect()
}

/// A container of a compose file or of a pod.
struct Container<'a> {
    image: &'a str,
    /// The arguments of the image's program.
    args: Vec<&'a str>,
    /// Names of variables and their values, where they are in the file.
    variables: Vec<(&'a str, Option<&'a str>)>,
}

fn containers(value: &Value) -> Vec<Container<'_>> {
    let mut containers = Vec::new();
    visit(value, &mut |mapping| {
        let Some(image) = mapping.get("image").and_then(Value::as_str) else { return };
        let args = mapping.get("args").or_else(|| mapping.get("command")).and_then(Value::as_sequence);
        let args = args.into_iter().flatten().filter_map(Value::as_str).collect();
        let variables = match mapping.get("environment").or_else(|| mapping.get("env")) {
            Some(Value::Mapping(entries)) => {
                entries.iter().filter_map(|(name, value)| Some((name.as_str()?, value.as_str()))).collect()
            }
            Some(Value::Sequence(entries)) => entries
                .iter()
                .filter_map(|entry| {
                    Some((entry.get("name")?.as_str()?, entry.get("value").and_then(Value::as_str)))
                })
                .collect(),
            _ => Vec::new(),
        };
        containers.push(Container { image, args, variables });
    });
    containers
}

/// Calls `report` with each mapping in a document.
fn visit<'a>(value: &'a Value, report: &mut impl FnMut(&'a serde_yaml::Mapping)) {
    match value {
        Value::Mapping(mapping) => {
            report(mapping);
            mapping.iter().for_each(|(_, value)| visit(value, report));
        }
        Value::Sequence(items) => items.iter().for_each(|item| visit(item, report)),
        _ => {}
    }
}

fn check(name: &str, documents: &[Value], programs: &Programs) -> Vec<String> {
    let mut problems = Vec::new();
    for container in documents.iter().flat_map(containers) {
        problems.extend(programs.check(&container).into_iter().map(|problem| format!("{name}: {problem}")));
    }
    problems
}

/// What the programs themselves say, where they are installed; they need no engine and no cluster for it.
fn outside(root: &Path, name: &str) -> Vec<String> {
    let (program, args): (&str, &[&str]) = if is_compose(name) {
        ("docker", &["compose", "--file", name, "config", "--quiet"])
    } else {
        ("kubectl", &["apply", "--dry-run=client", "--validate=false", "--filename", name])
    };
    let is_there = Command::new(program).arg("version").output().is_ok_and(|output| output.status.success());
    if !is_there {
        return Vec::new();
    }
    match Command::new(program).args(args).env("RUNNER_API_KEY", "key").current_dir(root).output() {
        Ok(output) if output.status.success() => Vec::new(),
        Ok(output) => vec![format!("{name}: {program}: {}", String::from_utf8_lossy(&output.stderr).trim())],
        Err(error) => vec![format!("{program} cannot be run: {error}")],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problems_of(name: &str, text: &str) -> Vec<String> {
        let programs = Programs::example();
        match documents(text) {
            Err(error) => vec![error],
            Ok(documents) => {
                let ports = if is_compose(name) {
                    ports::compose(name, &documents)
                } else {
                    ports::kubernetes(name, &documents)
                };
                [check(name, &documents, &programs), ports].concat()
            }
        }
    }

    fn assert_each_is_reported(name: &str, sound: &str, changes: &[(&str, &str)]) {
        assert_eq!(problems_of(name, sound), Vec::<String>::new());
        for (from, to) in changes {
            let changed = sound.replacen(from, to, 1);
            assert_ne!(changed, sound, "{from}");
            assert_eq!(
                problems_of(name, &changed).len(),
                1,
                "{from} to {to}: {:?}",
                problems_of(name, &changed)
            );
        }
    }

    #[test]
    fn problems_of_compose_files_are_reported() {
        let sound = "x-worker: &worker
  image: runner-cluster:0.1.0
  command: [worker, --listen=0.0.0.0:9080, --register=http://restate:9070, --advertise=http://worker:9080]
  environment: { RUNNER_ENGINE: 'http://restate:8080' }
  networks: { default: { aliases: [worker] } }
services:
  restate:
    image: docker.io/restatedev/restate:1.7.12
    environment: { RESTATE_NODE_NAME: a }
  worker-1:
    <<: *worker
";
        assert_each_is_reported(
            "deploy/compose.yaml",
            sound,
            &[
                ("services:", "services: ["),
                ("restate:1.7.12", "restate:latest"),
                ("restate:1.7.12", "restate:1.7.11"),
                ("RESTATE_NODE_NAME", "RESTATE_NODES_NAME"),
                ("http://worker:9080", "http://worker:9081"),
                ("restate:9070", "restate:9071"),
                ("restate:8080", "ingress:8080"),
            ],
        );
        // In the anchor and where it is merged.
        for (from, to) in [
            ("runner-cluster:0.1.0", "runner-cluster"),
            ("[worker, ", "[work, "),
            ("--register", "--enlist"),
            ("RUNNER_ENGINE", "RUNNER_MOTOR"),
        ] {
            assert_eq!(
                problems_of("deploy/compose.yaml", &sound.replace(from, to)).len(),
                2,
                "{from} to {to}"
            );
        }
    }

    #[test]
    fn problems_of_manifests_are_reported() {
        let sound = "kind: Service
metadata: { name: worker }
spec:
  selector: { app: worker }
  ports: [{ port: 9080, targetPort: restate }]
---
kind: Service
metadata: { name: restate }
spec:
  selector: { app: restate }
  ports: [{ port: 8080, targetPort: ingress }]
---
kind: Deployment
spec:
  template:
    metadata: { labels: { app: worker } }
    spec:
      containers:
        - image: runner-cluster:0.1.0
          args: [worker, --listen=0.0.0.0:9080, --advertise=http://worker:9080]
          env: [{ name: RUNNER_ENGINE, value: 'http://restate:8080' }]
          ports: [{ name: restate, containerPort: 9080 }]
          readinessProbe: { tcpSocket: { port: restate } }
---
kind: StatefulSet
spec:
  template:
    metadata: { labels: { app: restate } }
    spec:
      containers:
        - image: docker.io/restatedev/restate:1.7.12
          ports: [{ name: ingress, containerPort: 8080 }]
";
        assert_each_is_reported(
            "deploy/kubernetes",
            sound,
            &[
                ("runner-cluster:0.1.0", "runner-cluster:0.2.0"),
                ("--listen=0.0.0.0:9080", "--listen=0.0.0.0:9081"),
                ("targetPort: ingress", "targetPort: admin"),
                ("http://worker:9080", "http://worker:9081"),
                ("http://restate:8080", "http://restate:8081"),
                ("selector: { app: worker }", "selector: { app: other }"),
                ("port: restate }", "port: other }"),
                ("RUNNER_ENGINE", "RUNNER_MOTOR"),
            ],
        );
    }
}
