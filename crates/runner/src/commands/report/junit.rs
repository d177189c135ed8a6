//! The report as JUnit XML: a suite per shot, a case per instance, and a suite of the films. There is no
//! standard; this is what GitHub, GitLab and Jenkins read.

use std::time::Duration;

use scheduler::StatusKind;
use timeline::export::{XmlAttribute, XmlWriter};
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
    let mut xml = XmlWriter::new();
    let all = Totals::new(suites.iter().flat_map(|(_, cases)| cases));
    xml.element("testsuites", &all.attributes(&name.as_str()), |xml| {
        for (suite, cases) in &suites {
            xml.element("testsuite", &Totals::new(cases.iter()).attributes(&suite.as_str()), |xml| {
                for case in cases {
                    write_case(case, &format!("{name}.{suite}"), xml);
                }
            });
        }
    });
    xml.into_string()
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

/// The counts of a suite.
#[derive(Default)]
struct Totals {
    tests: usize,
    failures: usize,
    skipped: usize,
    seconds: String,
}

impl Totals {
    fn new<'c>(cases: impl Iterator<Item = &'c Case>) -> Self {
        let (mut totals, mut took) = (Self::default(), Duration::ZERO);
        for case in cases {
            totals.tests += 1;
            took += case.took;
            match case.verdict {
                CaseOutcome::Passed => {}
                CaseOutcome::Failure => totals.failures += 1,
                CaseOutcome::Skipped => totals.skipped += 1,
            }
        }
        Self { seconds: seconds(took), ..totals }
    }

    fn attributes<'a>(&'a self, name: &'a &'a str) -> [XmlAttribute<'a>; 6] {
        [
            ("name", name),
            ("tests", &self.tests),
            ("failures", &self.failures),
            ("errors", &0),
            ("skipped", &self.skipped),
            ("time", &self.seconds),
        ]
    }
}

fn seconds(time: Duration) -> String {
    format!("{:.3}", time.as_secs_f64())
}

fn write_case(case: &Case, class: &str, xml: &mut XmlWriter) {
    let attributes: [XmlAttribute<'_>; 3] =
        [("name", &case.name), ("classname", &class), ("time", &seconds(case.took))];
    xml.element("testcase", &attributes, |xml| {
        if !case.properties.is_empty() {
            xml.element("properties", &[], |xml| {
                for (name, value) in &case.properties {
                    xml.empty("property", &[("name", name), ("value", value)]);
                }
            });
        }
        match case.verdict {
            CaseOutcome::Passed => {}
            CaseOutcome::Failure => {
                xml.empty("failure", &[("type", &case.state), ("message", &case.message)]);
            }
            CaseOutcome::Skipped => xml.empty("skipped", &[("message", &case.message)]),
        }
    });
}
