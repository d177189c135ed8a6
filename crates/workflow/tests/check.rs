//! `check(yaml, expect)`: every file under `tests/invalid` has a snapshot of its diagnostics, every file under
//! `tests/valid` and every example a snapshot of its plan, every file under `tests/warned` one of its warnings. Lines `#! …` at the
//! beginning of a file are what the caller gives. A new file needs no new code; a snapshot without a file fails.

#![expect(clippy::unwrap_used, reason = "tests may stop at the first surprise")]

use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::{Path, PathBuf};

use contract::Contract;
use serde_json::{Value, json};
use workflow::plan::{Clip, ClipSource, Fit, MediaSource, OpenPick, PickKind, Plan};
use workflow::{CODES, CheckOutcome, Code, DirFiles, check};

use crate::{fixture, gate};

pub(crate) fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(name)
}

/// The workflow files of a folder, by name. A table of prices is none.
pub(crate) fn fixtures(folder: &Path) -> Vec<(String, PathBuf)> {
    let mut paths: Vec<(String, PathBuf)> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|ending| ending == "yaml"))
        .filter(|path| path.file_name().is_some_and(|name| name != "prices.yaml"))
        .map(|path| (path.file_stem().unwrap().to_str().unwrap().to_owned(), path))
        .collect();
    paths.sort();
    assert!(!paths.is_empty(), "no fixtures in {}", folder.display());
    paths
}

pub(crate) fn check_file(path: &Path) -> CheckOutcome {
    let bytes = std::fs::read(path).unwrap();
    let name = path.file_name().unwrap().to_str().unwrap();
    let folder = path.parent().unwrap();
    let options = fixture::options(&String::from_utf8_lossy(&bytes), folder);
    check(&bytes, name, &DirFiles::new(folder, gate::media_gate()), &options, Contract::embedded())
}

fn load_file(path: &Path) -> Result<Plan, workflow::Report> {
    let CheckOutcome { plan, report } = check_file(path);
    plan.ok_or(report)
}

/// The plan for reviewers: each request as sent, with unknown values as `<…>`.
fn readable(plan: &Plan) -> String {
    let name_of = |ix| plan.node(ix).name.clone();
    let mut out = String::new();
    for (ix, node) in plan.nodes() {
        let values: Vec<String> = node
            .inputs
            .iter()
            .map(|input| match &input.source {
                MediaSource::LastFrame(ix) => format!("<last frame of {}>", name_of(*ix)),
                MediaSource::FirstFrame(ix) => format!("<first frame of {}>", name_of(*ix)),
                MediaSource::Pick { candidates, frame } => {
                    let open = plan.open_pick(candidates);
                    let (count, noun) = (candidates.len(), open.noun());
                    format!("<{frame:?} frame of {}, which of its {count} {noun} is not picked>", open.name)
                }
                MediaSource::FileFrame { path, sha256, frame } => {
                    format!("<{frame:?} frame of {}, {}>", path.display(), &sha256[..8])
                }
                MediaSource::File { path, media_type, bytes, sha256 } => {
                    format!("<{} as {media_type}, {bytes} bytes, {}>", path.display(), &sha256[..8])
                }
            })
            .collect();
        let mut about = json!({
            "rank": plan.rank(ix),
            "seconds": node.duration.as_secs_f64(),
            "location": node.location.to_string(),
        });
        let waits: Vec<String> = plan.predecessors(ix).into_iter().map(name_of).collect();
        let mut note = |key: &str, value: Value| about[key] = value;
        if !waits.is_empty() {
            note("after", json!(waits));
        }
        if !node.cell.is_empty() {
            note("cell", json!(node.cell));
        }
        if node.take.is_some() || node.salt.is_some() || node.retry > 1 || node.timeout.is_some() {
            note("take", json!(node.take));
            note("salt", json!(node.salt));
            note("retry", json!(node.retry));
            if !node.retry_on.is_default() {
                note("retry_on", json!(node.retry_on));
            }
            note("timeout", json!(node.timeout.map(|timeout| timeout.as_secs_f64())));
        }
        let request = serde_json::to_string_pretty(&node.complete(&values)).unwrap();
        writeln!(out, "# {}\n# {about}\n{request}\n", node.name).unwrap();
    }
    for film in plan.films() {
        let source = |clip: &Clip| match &clip.source {
            ClipSource::Node(ix) => name_of(*ix),
            ClipSource::Pick(candidates) => match plan.open_pick(candidates) {
                OpenPick { kind: PickKind::Take, name, .. } => format!("{name}#?"),
                OpenPick { name, .. } => format!("{name}@?"),
            },
            ClipSource::Video(file) => format!("video {}", file.path.display()),
            ClipSource::Image(file) => format!("image {}", file.path.display()),
            ClipSource::Card => "card".to_owned(),
        };
        let clip = |clip: &Clip| {
            let edit = json!({
                "in": clip.start,
                "out": clip.end,
                "length": clip.length,
                "speed": Some(clip.speed).filter(|speed| !speed.is_normal()),
                "title": clip.title,
                "transition": clip.transition,
                "gain": Some(clip.gain).filter(|gain| !gain.is_zero()),
                "mute": clip.mute.then_some(true),
            });
            let edit: serde_json::Map<_, _> =
                edit.as_object().unwrap().clone().into_iter().filter(|(_, value)| !value.is_null()).collect();
            if edit.is_empty() { source(clip) } else { format!("{} {}", source(clip), json!(edit)) }
        };
        let clips: Vec<String> = film.clips.iter().map(clip).collect();
        writeln!(out, "# film {} = {}", film.output, clips.join(" + ")).unwrap();
        if let Some(subtitles) = film.subtitles {
            writeln!(out, "# subtitles {}", json!(subtitles)).unwrap();
        }
        if !film.soundtrack.is_empty() {
            writeln!(out, "# soundtrack {}", json!(film.soundtrack)).unwrap();
        }
        if film.color_match || film.poster.is_some() {
            writeln!(out, "# color match {}, poster {}", film.color_match, json!(film.poster)).unwrap();
        }
        if film.fit != Fit::default() || film.font.is_some() {
            writeln!(out, "# fit {}, font {}", json!(film.fit), json!(film.font)).unwrap();
        }
        if film.size.is_some() || film.frame_rate.is_some() {
            writeln!(out, "# size {}, frame rate {}", json!(film.size), json!(film.frame_rate)).unwrap();
        }
    }
    out
}

pub(crate) fn snapshot(folder: &str, name: &str, text: &str) {
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path(self::folder("tests/snapshots").join(folder));
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| insta::assert_snapshot!(name, text));
}

#[test]
fn invalid_files_diagnostics() {
    for (name, path) in fixtures(&folder("tests/invalid")) {
        let Err(report) = load_file(&path) else { panic!("{name} is taken for valid") };
        assert_eq!(report.to_json().len(), report.diagnostics.len());
        for record in report.to_json() {
            assert!(record.line >= 1 && record.column >= 1, "{name}");
            let first = &record.spans[0];
            assert_eq!(
                (&first.file, first.line, first.column),
                (&record.file, record.line, record.column),
                "{name}"
            );
            assert!(
                first.primary && (first.end_line, first.end_column) >= (first.line, first.column),
                "{name}"
            );
            assert!(!record.message.contains(char::is_control), "{name}: {}", record.message);
        }
        snapshot("invalid", &name, &report.render(false));
    }
}

/// Files that have a plan, and of which there is something to say all the same.
#[test]
fn warned_files_diagnostics() {
    for (name, path) in fixtures(&folder("tests/warned")) {
        let CheckOutcome { plan, report } = check_file(&path);
        assert!(plan.is_some(), "{report}");
        assert!(report.warnings() > 0 && report.errors() == 0, "{name}");
        snapshot("warned", &name, &report.render(false));
    }
}

#[test]
fn examples_have_no_warnings() {
    for (name, path) in fixtures(&folder("../../workflows")) {
        let report = check_file(&path).report;
        assert!(report.diagnostics.is_empty(), "{name}: {report}");
    }
}

/// Each kind of problem shows in a fixture, or there is a reason why it cannot.
#[test]
fn every_diagnostic_code_has_fixture() {
    let beyond = [
        ("bad-description", "of descriptions of services, which are no fixtures here"),
        ("bad-service", "of lists of services, which are no fixtures here"),
        ("invalid-plan", "only a fault of the compiler itself leads to it"),
        ("file-too-large", "a file of four MiB: tests/hostile.rs"),
        ("too-long", "of lists of shots, which are no fixtures here"),
        ("too-many", "of tables of prices, which are no fixtures here"),
        ("not-utf8", "bytes that editors would repair: tests/hostile.rs"),
    ];
    let mut seen = BTreeSet::new();
    // Those of price tables are beside the folders.
    for snapshots in ["invalid", "warned", "common_mistakes", ""] {
        for entry in std::fs::read_dir(folder("tests/snapshots").join(snapshots)).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                continue;
            }
            let text = std::fs::read_to_string(path).unwrap();
            for title in ["error[", "warning["] {
                let codes = text.split(title).skip(1).filter_map(|rest| rest.split(']').next());
                seen.extend(codes.map(str::to_owned));
            }
        }
    }
    for code in CODES.iter().map(|code| code.name) {
        let excused = beyond.iter().any(|(beyond, _)| *beyond == code);
        assert_ne!(seen.contains(code), excused, "`{code}`: a fixture or a reason, and not both");
    }
    for code in seen {
        assert!(Code::find(&code).is_some(), "`{code}` is not among the codes");
    }
}

#[test]
fn valid_files_plans() {
    for (name, path) in fixtures(&folder("tests/valid")) {
        let plan = load_file(&path).unwrap_or_else(|report| panic!("{report}"));
        snapshot("valid", &name, &readable(&plan));
    }
}

#[test]
fn examples_plans() {
    for (name, path) in fixtures(&folder("../../workflows")) {
        let plan = load_file(&path).unwrap_or_else(|report| panic!("{report}"));
        snapshot("examples", &name, &readable(&plan));
    }
}

#[test]
fn snapshots_without_fixture_fail() {
    for (snapshots, files) in [
        ("invalid", "tests/invalid"),
        ("warned", "tests/warned"),
        ("common_mistakes", "tests/common_mistakes"),
        ("valid", "tests/valid"),
        ("examples", "../../workflows"),
    ] {
        let fixture_names: BTreeSet<String> =
            fixtures(&folder(files)).into_iter().map(|(name, _)| name).collect();
        let Ok(entries) = std::fs::read_dir(folder("tests/snapshots").join(snapshots)) else { continue };
        for entry in entries {
            let file = entry.unwrap().file_name().into_string().unwrap();
            let Some(name) = file.strip_suffix(".snap") else { continue };
            assert!(fixture_names.contains(name), "the snapshot {snapshots}/{file} has no file any more");
        }
    }
}
