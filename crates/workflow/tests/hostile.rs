//! Hostile or broken files end quickly in a diagnostic with a span.
#![expect(clippy::unwrap_used, reason = "tests may stop at the first surprise")]

use std::fmt::Write;
use std::sync::atomic::{AtomicUsize, Ordering};

use contract::Contract;
use workflow::{
    InMemory, InspectionError, MediaGate, MediaGateError, MediaInfo, MediaKind, Options, Report, check, load,
};

use crate::gate;

fn refused(bytes: &[u8]) -> Report {
    load(bytes, "hostile.yaml", &InMemory::default(), &Options::default(), Contract::embedded()).unwrap_err()
}

/// Code, line and column of the first diagnostic.
fn first(bytes: &[u8]) -> (&'static str, usize, usize) {
    let record = refused(bytes).to_json().into_iter().next().unwrap();
    (record.code, record.line, record.column)
}

#[test]
fn invalid_utf8_reported_at_byte() {
    assert_eq!(first(b"version: 1\nname: caf\xe9\n"), ("not-utf8", 2, 10));
    let utf16: Vec<u8> = "\u{feff}version: 1\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    let report = refused(&utf16);
    assert_eq!(report.diagnostics[0].code, "not-utf8");
    assert!(report.diagnostics[0].message.contains("UTF-16"));
    assert!(report.render(false).contains("hostile.yaml:1:1"));
}

/// A space that is no space of YAML, as text editors and web pages write it: part of a key, a value or the indentation.
#[test]
fn spaces_of_several_bytes_are_accepted_or_refused() {
    let accepted = [
        "metadata: {\"a_b\": 1}",
        "prompt: a_b",
        "dialogue: [\"Mara_: hello\"]",
        "matrix: {look: [{k_z: 1}, {k_z: 2}]}",
    ];
    let refused = ["prompt_: sea", "_prompt: sea", "needs: [a,_\"b\"]", "needs: {a:_b}", "takes: _&x 2"];
    for space in ['\u{a0}', '\u{2003}', '\u{2028}', '\u{3000}', '\u{85}', '\u{1680}'] {
        for (line, is_accepted) in
            accepted.iter().map(|line| (line, true)).chain(refused.iter().map(|line| (line, false)))
        {
            let text = format!(
                "version: 1\ndefaults: {{model: modela-video-2-0-260128, ratio: \"16:9\", seconds: 5, prompt: x}}\nshots:\n  - id: a\n    {}\n",
                line.replace('_', &space.to_string())
            );
            let loaded = load(
                text.as_bytes(),
                "a.yaml",
                &InMemory::default(),
                &Options::default(),
                Contract::embedded(),
            );
            if let Err(report) = &loaded {
                assert!(!report.render(true).is_empty());
            }
            assert_eq!(
                loaded.is_ok(),
                is_accepted,
                "{text:?}: {:?}",
                loaded.err().map(|report| report.render(false))
            );
        }
    }
}

/// An image of 64 megapixels takes 8 KB: each is decoded once, and all of them have a total.
#[test]
fn media_of_a_workflow_are_decoded_once_and_bounded() {
    static DECODED: AtomicUsize = AtomicUsize::new(0);
    /// Every PNG is one of 64 megapixels; those with an `A` at the end are damaged.
    fn inspect(bytes: &[u8]) -> Result<MediaInfo, InspectionError> {
        DECODED.fetch_add(1, Ordering::Relaxed);
        if bytes.ends_with(b"A") {
            let error = MediaGateError { message: "it is damaged".to_owned(), help: String::new() };
            return Err(InspectionError { error, was_decoded: true });
        }
        Ok(MediaInfo {
            media_type: "image/png",
            kind: MediaKind::Image,
            duration: None,
            size: Some((8_000, 8_000)),
            foreign: None,
            decoded: 64_000_000,
        })
    }
    let checked = |shot: &str| {
        let file = format!(
            "version: 1\ndefaults: {{model: modelb-video-480p, seconds: 1, size: 480x480}}\n\
             shots: [{{id: a, prompt: \"x {{{{ i }}}}\", {shot}, matrix: {{i: {{from: 100, to: 500}}}}}}]\n"
        );
        let stills =
            (100..=500).flat_map(|i| [("whole", ""), ("damaged", "A")].map(|(name, end)| (name, i, end)));
        let files = stills.fold(InMemory::default(), |files, (name, i, end)| {
            files.with(format!("{name}{i}.png"), format!("{i}{end}").into_bytes())
        });
        let files = files.with_media_gate(MediaGate { inspect, ..gate::media_gate() });
        let before = DECODED.load(Ordering::Relaxed);
        let outcome =
            check(file.as_bytes(), "stills.yaml", &files, &Options::default(), Contract::embedded());
        (DECODED.load(Ordering::Relaxed) - before, outcome.report.to_string())
    };
    let (decoded, report) = checked(r#"image: "data:image/png;x={{ i }};base64,QUJD""#);
    assert_eq!(decoded, 1, "{report}");
    // 78 images of 64 megapixels, and one too many.
    for shot in [
        r#"image: "data:image/png;base64,{{ i }}A""#,
        r#"first_frame: "whole{{ i }}.png""#,
        r#"references: ["whole{{ i }}.png"]"#,
        r#"metadata: {style: "{{ i }}"}, first_frame: {file: "whole{{ i }}.png"}"#,
    ] {
        let (decoded, report) = checked(shot);
        assert!(report.contains("the media of this workflow are too large together"), "{shot}: {report}");
        assert!((78..=79).contains(&decoded), "{shot}: {decoded}");
    }
    let (decoded, report) = checked(r#"first_frame: "damaged{{ i }}.png""#);
    assert!((1..=79).contains(&decoded) && report.contains("it is damaged"), "{decoded} {report}");
}

#[test]
fn oversized_file_rejected_unparsed() {
    let mut file = b"version: 1\nname: ".to_vec();
    file.resize(50 * 1024 * 1024, b'x');
    let report = refused(&file);
    assert_eq!(report.to_json()[0].code, "file-too-large");
    assert_eq!(report.to_json()[0].message, "this file is larger than 4 MiB, the limit for a workflow");
    assert!(report.render(true).len() < 4_000);
}

#[test]
fn alias_bomb_hits_limit() {
    let mut bomb = String::from("version: 1\nparams:\n  a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n");
    for level in 1..12 {
        let below = format!("*a{}", level - 1);
        writeln!(bomb, "  a{level}: &a{level} [{}]", [below.as_str(); 10].join(", ")).unwrap();
    }
    let (code, line, _) = first(bomb.as_bytes());
    assert_eq!(code, "yaml-limit", "{}", refused(bomb.as_bytes()).render(false));
    assert!(line > 3);

    let many = format!("version: 1\nparams:\n  a: &a x\n  b: [{}]\n", vec!["*a"; 50_000].join(", "));
    assert_eq!(first(many.as_bytes()).0, "yaml-limit", "{:.2000}", refused(many.as_bytes()).render(false));
}

#[test]
fn deep_nesting_hits_limit_on_small_stack() {
    let deep = |open: &str, close: &str, levels: usize| {
        format!("version: 1\nparams:\n  a: {}x{}\n", open.repeat(levels), close.repeat(levels))
    };
    let files =
        [deep("[", "]", 10_000), deep("{a: ", "}", 10_000), format!("a: {}\n", "- ".repeat(20_000)), {
            let mut steps = String::from("version: 1\n");
            for level in 0..2_000 {
                steps.push_str(&" ".repeat(level));
                steps.push_str("a:\n");
            }
            steps
        }];
    std::thread::Builder::new()
        .stack_size(2 * 1024 * 1024)
        .spawn(move || {
            for file in files {
                let report = refused(file.as_bytes());
                assert!(
                    ["yaml-limit", "yaml-syntax"].contains(&report.diagnostics[0].code),
                    "{}",
                    report.render(false)
                );
            }
        })
        .unwrap()
        .join()
        .unwrap();
}

#[test]
fn diagnostics_beyond_limit_are_counted() {
    let mut file = String::from("version: 1\ndefaults: {model: modelb-video-480p}\nshots:\n");
    for shot in 0..1_000 {
        writeln!(file, "  - id: s{shot}\n    prompt: x\n    secnds: 5").unwrap();
    }
    let report = refused(file.as_bytes());
    assert_eq!(report.diagnostics.len(), 200);
    assert!(report.errors() >= 201);
    let text = report.render(false);
    assert!(text.contains("errors ("), "{}", &text[text.len() - 200..]);
}

#[test]
fn dense_references_hit_limit() {
    let text = "version: 1
defaults: {model: modelb-video-480p}
shots:
  - {id: a, prompt: \"x {{ s }}\", matrix: {s: {from: 1, to: 4000}}}
  - {id: b, prompt: \"x {{ t }}\", matrix: {t: {from: 1, to: 4000}}, needs: [a, a, a, a, a, a, a, a]}
";
    let shared = text.replace("{t:", "{s:").replace("{{ t }}", "{{ s }}");
    let options = Options::default();
    let plan = load(shared.as_bytes(), "any.yaml", &InMemory::default(), &options, Contract::embedded());
    assert_eq!(plan.map(|plan| plan.edges().count()).ok(), Some(32_000), "each cell needs one cell");
    let report = refused(text.as_bytes());
    assert_eq!((report.diagnostics.len(), report.diagnostics[0].code), (1, "matrix-too-large"));
}

#[test]
fn long_chain_planned_on_small_stack() {
    let mut file =
        String::from("version: 1\ndefaults: {model: modelb-video-480p, prompt: x}\nshots:\n  - id: s0\n");
    for shot in 1..4_000 {
        writeln!(file, "  - {{id: s{shot}, continues: s{}}}", shot - 1).unwrap();
    }
    let load = move || {
        let options = Options::default();
        load(file.as_bytes(), "chain.yaml", &InMemory::default(), &options, Contract::embedded()).unwrap()
    };
    let plan = std::thread::Builder::new().stack_size(2 * 1024 * 1024).spawn(load).unwrap().join().unwrap();
    assert_eq!(plan.rank(plan.find("s0").unwrap()), 4_000 * 5);
}

#[test]
fn long_line_is_cropped_in_snippet() {
    let file = format!(
        "version: 1\nshots:\n  - id: a\n    model: modelb-video-480p\n    prompt: \"{} {{{{ nobody }}}} {}\"\n",
        "x".repeat(20_000),
        "y".repeat(9_000)
    );
    let report = refused(file.as_bytes());
    assert_eq!(report.diagnostics[0].code, "undefined-name");
    let text = report.render(false);
    assert!(text.len() < 3_000, "{}", text.len());
    assert!(text.contains("nobody"));
}

#[test]
fn report_contains_no_terminal_escapes() {
    let file = "version: 1\nname: \"x\\e[31m\"\n# \u{202e}abc \u{9b}31m\nshost: \u{200b}\n";
    let text = refused(file.as_bytes()).render(false);
    assert!(!text.contains(|c: char| (c.is_control() && c != '\n') || c == '\u{202e}'), "{text:?}");
}
