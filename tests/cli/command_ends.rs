//! The ends of commands that need no service: help, usage errors, missing and empty input.

use crate::support::proxy::KEY;
use crate::support::{Project, cli_snapshot, inline_snapshot};

const SEA: &str = "version: 1\nname: sea\nshots:\n  - {id: sea, model: modelb-video-480p, seconds: 1, size: 480x480, prompt: a quiet sea}\n";

/// The commands that a help text lists, without `help`.
pub(crate) fn listed_commands(help: &str) -> Vec<&str> {
    help.lines()
        .skip_while(|line| *line != "Commands:")
        .skip(1)
        .take_while(|line| !line.is_empty())
        // A description that is broken into lines is indented further.
        .filter(|line| line.starts_with("  ") && !line.starts_with("   "))
        .filter_map(|line| line.split_whitespace().next())
        .filter(|command| *command != "help")
        .collect()
}

#[test]
fn usage_errors_exit_2() {
    let project = Project::new("sea.yaml", SEA);
    for (name, arguments) in [
        ("usage_no_command", &[][..]),
        ("usage_unknown_command", &["rnu", "sea.yaml"]),
        ("usage_check_no_file", &["check"]),
        ("usage_resolve_no_resolution", &["resolve", "sea.yaml", "--abandon"]),
        ("usage_run_conflicting_selection", &["run", "sea.yaml", "--only", "sea", "--failed"]),
        ("usage_run_bad_number", &["run", "sea.yaml", "--max-video-seconds", "soon"]),
        ("usage_run_bad_param", &["run", "sea.yaml", "--param", "look"]),
        ("usage_models_unknown_format", &["services", "show", "--format", "xml"]),
        ("ui_missing_file", &["ui", "missing.yaml"]),
        ("usage_schema_unknown", &["schema", "plans"]),
    ] {
        cli_snapshot!(name, project.runner(arguments).expect(2));
    }
    assert!(!project.file(".runner").exists());
}

#[test]
fn commands_without_a_ledger() {
    let project = Project::new("sea.yaml", SEA);
    cli_snapshot!("check", project.runner(&["check", "sea.yaml"]).expect(0));
    fs_err::write(project.file("warned.yaml"), SEA.replace("seconds: 1, ", ""))
        .expect("the folder can be written");
    cli_snapshot!("check_warning", project.runner(&["check", "warned.yaml"]).expect(0));
    cli_snapshot!(
        "check_deny_warnings",
        project.runner(&["check", "warned.yaml", "--deny-warnings"]).expect(2)
    );
    let allowed = ["check", "warned.yaml", "--deny-warnings", "--allow", "seconds-unstated"];
    cli_snapshot!("check_allow", project.runner(&allowed).expect(0));
    for code in ["seconds-unstate", "cycle"] {
        cli_snapshot!(
            format!("check_allow_{code}"),
            project.runner(&["check", "warned.yaml", "--allow", code]).expect(2)
        );
    }
    cli_snapshot!("check_missing_file", project.runner(&["check", "dune.yaml"]).expect(2));
    cli_snapshot!("plan", project.runner(&["plan", "sea.yaml"]).expect(0));
    cli_snapshot!("plan_missing_file", project.runner(&["plan", "dune.yaml"]).expect(2));
    cli_snapshot!("explain_no_attempt", project.runner(&["explain", "sea.yaml"]).expect(0));
    cli_snapshot!("explain_missing_file", project.runner(&["explain", "dune.yaml"]).expect(2));
    cli_snapshot!("pick_no_takes", project.runner(&["pick", "sea.yaml"]).expect(0));
    cli_snapshot!("pick_missing_file", project.runner(&["pick", "dune.yaml"]).expect(2));
    cli_snapshot!("import_missing_file", project.runner(&["import", "shots.csv"]).expect(2));
    cli_snapshot!("resolve_no_ledger", project.runner(&["resolve", "sea.yaml"]).expect(2));
    cli_snapshot!("status_json_no_ledger", project.runner(&["status", "--format", "json"]).expect(0));
    assert!(!project.file(".runner").exists(), "none of these commands creates a ledger");
}

#[test]
fn environment_without_a_usable_service_exits_2() {
    for (name, url, key) in [
        ("environment_no_key", "http://127.0.0.1:9", ""),
        ("environment_endpoint", "https://api.example.com/v1/videos", KEY),
        ("environment_key_in_quotes", "https://api.example.com", "\"planted\""),
    ] {
        let project = Project::new("sea.yaml", SEA).against(url, key);
        let output = project.runner(&["run", "sea.yaml"]).expect(2);
        // Also if somebody accepts a snapshot that has it.
        assert!(!output.transcript().contains("planted"), "{}", output.transcript());
        // Without a key at all, `plan` asks the service nothing.
        if !key.is_empty() {
            assert_eq!(project.runner(&["plan", "sea.yaml"]).expect(2).err, output.err);
        }
        cli_snapshot!(name, output);
        assert!(!project.file(".runner").exists());
    }
}

#[test]
fn serve_invalid_arguments_exit_2() {
    let project = Project::new("faults.json", "{\"faults\": [{\"fault\": {\"kind\": \"gremlins\"}}]}");
    for (name, arguments) in [
        ("serve_invalid_faults", &["serve", "--listen", "127.0.0.1:0", "--faults", "faults.json"][..]),
        ("serve_missing_faults", &["serve", "--listen", "127.0.0.1:0", "--faults", "none.json"]),
        ("serve_unbalanced_renderer", &["serve", "--listen", "127.0.0.1:0", "--renderer", "sh -c \"exit"]),
        ("serve_missing_renderer", &["serve", "--listen", "127.0.0.1:0", "--renderer", "no-such-program"]),
        (
            "serve_invalid_public_url",
            &["serve", "--listen", "127.0.0.1:0", "--public-url", "ftp://a.example"],
        ),
    ] {
        cli_snapshot!(name, project.runner(arguments).expect(2));
    }
}

/// Commands that read records and need not read the workflow check that it exists all the same.
#[test]
fn missing_file_and_missing_ledger_have_one_message() {
    let project = Project::new("sea.yaml", "version: 1\n");
    let commands: [&[&str]; 3] = [&["resolve"], &["clean"], &["ledger", "fetch", "--all", "--in"]];
    for command in [&commands[..], &[&["status"]]].concat() {
        let missing = project.runner(&[command, &["nope.yaml"]].concat()).expect(2);
        inline_snapshot!(missing.transcript(), @"
        exit code: 2
        --- stdout
        --- stderr
        error: there is no nope.yaml
        ");
    }
    for command in commands {
        let unrecorded = project.runner(&[command, &["sea.yaml"]].concat()).expect(2);
        inline_snapshot!(unrecorded.transcript(), @"
        exit code: 2
        --- stdout
        --- stderr
        error: no run is recorded: there is no ledger .runner/ledger.db
        hint: start one: runner run sea.yaml
        ");
    }
    inline_snapshot!(project.runner(&["status", "sea.yaml"]).expect(0).transcript(), @"
    exit code: 0
    --- stdout
    no run is recorded: there is no ledger .runner/ledger.db
    hint: start one: runner run sea.yaml
    --- stderr
    ");
    assert!(!project.file(".runner").exists(), "nothing is created");
}

#[test]
fn unknown_shot_has_one_message() {
    let text = "version: 1\nname: sea\ndefaults: {model: modelb-video-480p, seconds: 1, size: 480x480}\n\
                shots:\n  - {id: sea, prompt: the sea}\n  - {id: sky, prompt: the sky}\n";
    let project = Project::new("sea.yaml", text);
    project.runner(&["run", "sea.yaml", "--only", "sea"]).expect(0);
    let commands: [&[&str]; 6] = [
        &["run", "sea.yaml", "--only", "xyzzy"],
        &["explain", "sea.yaml", "xyzzy"],
        &["pick", "sea.yaml", "xyzzy"],
        &["report", "sea.yaml", "--shot", "xyzzy"],
        &["resolve", "sea.yaml", "xyzzy"],
        &["resolve", "sea.yaml", "xyzzy", "--abandon"],
    ];
    for command in commands {
        inline_snapshot!(project.runner(command).expect(2).transcript(), @"
        exit code: 2
        --- stdout
        --- stderr
        error: there is no shot `xyzzy`
        hint: `runner plan sea.yaml` lists the shots
        ");
    }
    let unsubmitted = project.runner(&["resolve", "sea.yaml", "sky"]).expect(2);
    inline_snapshot!(unsubmitted.transcript(), @"
    exit code: 2
    --- stdout
    --- stderr
    error: nothing is to be resolved for sky: it was not submitted
    ");
}
