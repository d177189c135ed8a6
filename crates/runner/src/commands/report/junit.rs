//! The report as JUnit XML: a suite per shot, a case per instance, and a suite of the films. There is no
//! standard; this is what GitHub, GitLab and Jenkins read.

use std::fmt::Write as _;
use std::time::Duration;

use scheduler::StatusKind;
use viewer::{Clip, FilmState, Manifest};

use super::{film_state_name, is_failure, reason, took};

/// How a case ended.
enum CaseOutcome {
    Passed,
    Failure,
    Skipped,
}

struct Case {
    name: String,
    took: Duration,
    verdict: CaseOutcome,
    state: &'static str,
    message: String,
    properties: Vec<(&'static str, String)>,
}

pub(super) fn report(manifest: &Manifest) -> String {
    let mut suites: Vec<(String, Vec<Case>)> = Vec::new();
    for shot in &manifest.shots {
        let clips = manifest.clips.iter().filter(|clip| clip.shot == shot.id);
        suites.push((shot.id.clone(), clips.map(case).collect()));
    }
    if !manifest.films.is_empty() {
        let films = manifest.films.iter().map(|film| Case {
            name: film.name.clone(),
            took: Duration::ZERO,
            verdict: match film.state {
                FilmState::Done => CaseOutcome::Passed,
                FilmState::Failed => CaseOutcome::Failure,
                FilmState::Pending | FilmState::Unpicked | FilmState::NotJoined => CaseOutcome::Skipped,
            },
            state: film_state_name(film.state),
            message: film_state_name(film.state).to_owned(),
            properties: Vec::new(),
        });
        suites.push(("films".to_owned(), films.collect()));
    }
    let name = &manifest.workflow.name;
    let mut out = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    let all = || suites.iter().flat_map(|(_, cases)| cases);
    let _ = writeln!(out, "<testsuites name=\"{}\" {}>", xml(name), totals(all()));
    for (suite, cases) in &suites {
        let _ = writeln!(out, "  <testsuite name=\"{}\" {}>", xml(suite), totals(cases.iter()));
        for case in cases {
            write_case(case, &format!("{name}.{suite}"), &mut out);
        }
        out.push_str("  </testsuite>\n");
    }
    out.push_str("</testsuites>\n");
    out
}

fn case(clip: &Clip) -> Case {
    let mut properties = vec![("model", clip.model.clone())];
    let mut add = |name, value: Option<String>| properties.extend(value.map(|value| (name, value)));
    add("seed", clip.seed.map(|seed| seed.to_string()));
    add("task", clip.task.clone());
    add("file", clip.file.clone());
    add("prompt", clip.prompt.clone());
    Case {
        name: clip.id.clone(),
        took: took(clip).unwrap_or_default(),
        verdict: match clip.state {
            StatusKind::Done => CaseOutcome::Passed,
            state if is_failure(state) => CaseOutcome::Failure,
            _ => CaseOutcome::Skipped,
        },
        state: clip.state.as_str(),
        message: reason(clip).unwrap_or_else(|| clip.state.as_str().to_owned()),
        properties,
    }
}

fn totals<'c>(cases: impl Iterator<Item = &'c Case>) -> String {
    let (mut tests, mut failures, mut skipped, mut took) = (0, 0, 0, Duration::ZERO);
    for case in cases {
        tests += 1;
        took += case.took;
        match case.verdict {
            CaseOutcome::Passed => {}
            CaseOutcome::Failure => failures += 1,
            CaseOutcome::Skipped => skipped += 1,
        }
    }
    format!(
        "tests=\"{tests}\" failures=\"{failures}\" errors=\"0\" skipped=\"{skipped}\" time=\"{:.3}\"",
        took.as_secs_f64()
    )
}

fn write_case(case: &Case, class: &str, out: &mut String) {
    let _ = writeln!(
        out,
        "    <testcase name=\"{}\" classname=\"{}\" time=\"{:.3}\">",
        xml(&case.name),
        xml(class),
        case.took.as_secs_f64()
    );
    if !case.properties.is_empty() {
        out.push_str("      <properties>\n");
        for (name, value) in &case.properties {
            let _ = writeln!(out, "        <property name=\"{name}\" value=\"{}\"/>", xml(value));
        }
        out.push_str("      </properties>\n");
    }
    let message = xml(&case.message);
    match case.verdict {
        CaseOutcome::Passed => {}
        CaseOutcome::Failure => {
            let _ = writeln!(out, "      <failure type=\"{}\" message=\"{message}\"/>", case.state);
        }
        CaseOutcome::Skipped => {
            let _ = writeln!(out, "      <skipped message=\"{message}\"/>");
        }
    }
    out.push_str("    </testcase>\n");
}

/// Text in an attribute. Characters that XML 1.0 (section 2.2) forbids become U+FFFD.
fn xml(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\n' => escaped.push_str("&#10;"),
            '\t' => escaped.push_str("&#9;"),
            '\r' => escaped.push_str("&#13;"),
            '\0'..='\u{1f}' | '\u{fffe}' | '\u{ffff}' => escaped.push('\u{fffd}'),
            c => escaped.push(c),
        }
    }
    escaped
}
