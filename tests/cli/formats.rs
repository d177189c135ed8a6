//! What `run` prints for machines, and how commands end that run until they are interrupted.

use crate::support::proxy::{KEY, RecordingProxy};
use crate::support::{Project, cli_snapshot};

const SEA: &str = "version: 1
name: sea
defaults: { model: modelb-video-480p, seconds: 1 }
shots:
  - { id: sea, prompt: a quiet sea }
";

fn project() -> (RecordingProxy, Project) {
    let proxy = RecordingProxy::faithful();
    let project = Project::new("sea.yaml", SEA).against(&proxy.url, KEY);
    (proxy, project)
}

#[test]
fn run_json_and_ndjson() {
    let (_proxy, project) = project();
    let mut stream = project.runner(&["run", "sea.yaml", "--format", "ndjson"]).expect(0);
    // How much is seen of a task's progress depends on the time that it takes.
    stream.out = stream
        .out
        .lines()
        .filter(|line| !line.contains(r#""kind":"polled""#) && !line.contains(r#""kind":"progress""#))
        // So the lines are numbered differently as well.
        .map(|line| line.split_once(r#","time""#).map_or(line, |(_, rest)| rest))
        .flat_map(|line| [line, "\n"])
        .collect();
    cli_snapshot!("run_ndjson", stream);
    cli_snapshot!("run_json_reuse", project.runner(&["run", "sea.yaml", "--format", "json"]).expect(0));
    cli_snapshot!("run_ndjson_reuse", project.runner(&["run", "sea.yaml", "--format", "ndjson"]).expect(0));
    fs_err::write(project.file("wrong.yaml"), SEA.replace("prompt", "promt"))
        .expect("the folder can be written");
    for format in ["json", "ndjson"] {
        let name = format!("run_{format}_invalid_file");
        cli_snapshot!(name, project.runner(&["run", "wrong.yaml", "--format", format]).expect(2));
    }
}

#[cfg(unix)]
#[test]
fn serve_interrupted() {
    let project = Project::new("empty.yaml", "");
    for signal in ["INT", "TERM"] {
        let mut command = project.command(&["serve", "--listen", "127.0.0.1:0"]);
        let mut is_listening = || project.logged("listening") > 0 || project.logged("ready") > 0;
        let output = project.runner_signalled(&mut command, &mut [(signal, &mut is_listening)]);
        cli_snapshot!("serve_interrupted", output);
    }
}
