//! Scaffolded workflows and imported shot lists pass the check and reproduce their source.
#![expect(clippy::unwrap_used, reason = "tests may stop at the first surprise")]

use std::fmt::Write as _;

use contract::Contract;
use proptest::prelude::*;
use workflow::import::{self, Column, ColumnChoice, ImportResult};
use workflow::plan::Plan;
use workflow::scaffold::{VideoOptions, WorkflowKind, scaffold};
use workflow::{InMemory, Options};

fn video(family: &str, aspect: &str) -> VideoOptions {
    VideoOptions { family: family.to_owned(), model: None, aspect: aspect.to_owned() }
}

/// The plan of a text that may not even be warned about.
#[track_caller]
fn plan(text: &str) -> Plan {
    let checked = workflow::check(
        text.as_bytes(),
        "new.yaml",
        &InMemory::default(),
        &Options::default(),
        Contract::embedded(),
    );
    assert!(checked.report.diagnostics.is_empty(), "{}\n{text}", checked.report);
    checked.plan.unwrap()
}

fn import_options(chain_scenes: bool) -> import::ImportOptions {
    import::ImportOptions {
        name: "list".to_owned(),
        video: video("a", "16:9"),
        chain_scenes,
        columns: Vec::new(),
    }
}

fn imported(list: &str, chain_scenes: bool) -> ImportResult {
    imported_bytes(list.as_bytes(), &import_options(chain_scenes))
}

fn imported_bytes(list: &[u8], options: &import::ImportOptions) -> ImportResult {
    import::import(list, "shots.csv", options, Contract::embedded()).unwrap()
}

#[test]
fn scaffold_is_valid_with_requested_shots() {
    for kind in [WorkflowKind::Storyboard, WorkflowKind::Chain, WorkflowKind::Sweep] {
        for (family, aspect) in
            [("a", "16:9"), ("A", "9:16"), ("b", "16:9"), ("B", "9:16"), ("b", "1:1"), ("b", "21:9")]
        {
            for shots in [1, 2, 7, 12] {
                let text =
                    scaffold(kind, "first", shots, &video(family, aspect), Contract::embedded()).unwrap();
                let plan = plan(&text);
                assert_eq!(plan.len(), shots, "{text}");
                assert_eq!(plan.films().is_empty(), kind == WorkflowKind::Sweep);
                assert_eq!(plan.edges().count(), if kind == WorkflowKind::Chain { shots - 1 } else { 0 });
            }
        }
    }
}

#[test]
fn scaffold_text() {
    let of = |kind, family| scaffold(kind, "first", 4, &video(family, "16:9"), Contract::embedded()).unwrap();
    insta::assert_snapshot!("workflow_storyboard", of(WorkflowKind::Storyboard, "a"));
    insta::assert_snapshot!("workflow_chain", of(WorkflowKind::Chain, "b"));
    insta::assert_snapshot!("workflow_sweep", of(WorkflowKind::Sweep, "a"));
}

#[test]
fn companions_text() {
    insta::assert_snapshot!("gitignore", workflow::scaffold::gitignore());
    insta::assert_snapshot!("price_table", workflow::scaffold::price_table(Contract::embedded()));
}

/// As it is written there are no prices; without its comment characters it has to be filled in before it is read.
#[test]
fn scaffolded_price_table_has_no_prices_until_it_is_filled_in() {
    let check = |text: &str| workflow::prices::check(text.as_bytes(), "prices.yaml", &[Contract::embedded()]);
    let text = workflow::scaffold::price_table(Contract::embedded());
    let empty = check(&text);
    assert!(empty.prices.is_none() && empty.report.diagnostics.is_empty(), "{}", empty.report);
    let start = text.find("# version").unwrap();
    let lines: Vec<&str> = text[start..].lines().map(|line| &line[2..]).collect();
    let uncommented = lines.join("\n");
    assert!(check(&uncommented).report.errors() > 1);
    let filled =
        uncommented.replace("DATE", "2026-01-31").replace("PAGE", "a page").replace("AMOUNT", "0.05");
    let filled = check(&filled);
    assert!(filled.prices.is_some() && filled.report.diagnostics.is_empty(), "{}", filled.report);
}

#[test]
fn scaffold_rejects_unsupported_options() {
    let refused = |video: &VideoOptions, shots| {
        scaffold(WorkflowKind::Chain, "x", shots, video, Contract::embedded()).unwrap_err().to_string()
    };
    let preview =
        VideoOptions { model: Some("modelb-video-1.5-preview-480p".to_owned()), ..video("b", "16:9") };
    let unknown = VideoOptions { model: Some("modelb-video-48p".to_owned()), ..video("b", "16:9") };
    insta::assert_snapshot!(
        [
            refused(&video("c", "16:9"), 1),
            refused(&video("a", "adaptive"), 1),
            refused(&video("b", "wide"), 1),
            refused(&preview, 1),
            refused(&unknown, 1),
            refused(&video("a", "16:9"), 0),
            refused(&video("a", "16:9"), 101),
        ]
        .join("\n")
    );
}

const LIST: &str = "\u{feff}Scene #;Shot;Shot size;Angle;Camera movement;Lens;Description;Dialogue;Duration;Location;Status\r
1;A;WS;Low;slow push in;35mm;A stone breakwater at dusk;;5s;Harbour;ok\r
;B;CU;;;;\"A hand on a rail; it shakes\";\"\"\"Not yet.\"\"\";0:05;Harbour;\r
;;MS;;handheld;;the keeper turns {{ to }} {% us %};;5;;\r
2;A;ECU;;;85;an eye;;2.5;;\"see: note #3\"\r
2;A;;;;;again an eye;;30;;\r
";

#[test]
fn import_shot_list_makes_workflow() {
    let imported = imported(LIST, true);
    insta::assert_snapshot!("import_report", imported.report.render(false));
    let text = imported.workflow.unwrap();
    insta::assert_snapshot!("import_workflow", text);
    let plan = plan(&text);
    assert_eq!((plan.len(), imported.shots), (5, 5));
    assert_eq!(plan.edges().count(), 3);
    let third = plan.nodes().nth(2).unwrap().1;
    assert_eq!(third.request["prompt"], "Medium shot. The keeper turns {{ to }} {% us %}. Handheld.");
}

#[test]
fn import_reports_problems_with_spans() {
    let wrong = "scene,shot,description,duration,action\n1,A,the sea,soon,x\n";
    insta::assert_snapshot!("import_two_columns", imported(wrong, false).report.render(false));
    let wrong = "scene,shot,description,duration,who\n1,A,the sea,soon,x\n1,B,,,y\n1,C,sea,4,z,too much\n";
    let found = imported(wrong, false);
    assert!(found.workflow.is_none());
    insta::assert_snapshot!("import_rows", found.report.render(false));
    for (list, code) in [
        ("", "empty-file"),
        ("a,b\n1,2\n", "bad-table"),
        ("description\n", "no-shots"),
        ("description\n\"the sea\n", "bad-table"),
    ] {
        let found = imported(list, false);
        assert!(found.workflow.is_none());
        assert_eq!(found.report.diagnostics[0].code, code, "{list:?}");
    }
    let bytes = imported_bytes(b"description\n\xff\xfe\x81", &import_options(false));
    assert_eq!(bytes.report.diagnostics[0].code, "not-utf8");
}

/// The prompts, lengths and dialogue of a list, as one text.
fn summary(imported: &ImportResult) -> String {
    let text = imported.workflow.as_ref().unwrap_or_else(|| panic!("{}", imported.report));
    let mut out = imported.report.render(false);
    for (_, node) in plan(text).nodes() {
        let lines = node.dialogue.iter().flat_map(|lines| lines.iter());
        let lines: Vec<String> = lines
            .map(|line| format!(" | {}: {}", line.speaker.as_deref().unwrap_or("-"), line.text))
            .collect();
        writeln!(out, "{} {} s {}{}", node.name, node.duration, node.request["prompt"], lines.concat())
            .unwrap();
    }
    out
}

#[test]
fn import_finds_columns_below_a_title_and_by_choice() {
    let below = "The Lamp, shot list, draft 3\n\nScene;Description;Duration\n1;The sea, grey, cold;5\n";
    let chosen = import::ImportOptions {
        columns: vec![
            ColumnChoice { column: Column::Description, header: "Was man sieht".to_owned() },
            ColumnChoice { column: Column::Duration, header: "wie lang".to_owned() },
        ],
        ..import_options(false)
    };
    let list = "No,Description,Was man sieht,Wie lang\n1,innen,Das Meer,8\n";
    insta::assert_snapshot!(
        "import_title_and_choice",
        format!(
            "{}\n{}",
            summary(&imported(below, false)),
            summary(&imported_bytes(list.as_bytes(), &chosen))
        )
    );
    let absent = import::ImportOptions {
        columns: vec![ColumnChoice { column: Column::Duration, header: "Wie land".to_owned() }],
        ..import_options(false)
    };
    insta::assert_snapshot!(
        "import_absent_choice",
        imported_bytes(list.as_bytes(), &absent).report.render(false)
    );
}

#[test]
fn import_reads_tables_of_markdown() {
    let acts = include_str!("storyboards/acts.md");
    insta::assert_snapshot!("import_markdown", summary(&imported(acts, false)));
    let wrong = acts.replace("6 seconds", "soon").replace("| Static |", "| Static | too | much |");
    insta::assert_snapshot!("import_markdown_problems", imported(&wrong, false).report.render(false));
    let numbered = "| # | Shot | Visual |\n|---|---|---|\n| 1 | CU | a rope |\n";
    assert!(imported(numbered, false).workflow.unwrap().contains("prompt: Close-up. A rope."));
    let list = "|a|b|\n|-|-|\n|1|2|\n";
    assert_eq!(imported(list, false).report.diagnostics[0].message, "no column holds the description");
}

#[test]
fn import_reads_scenes_in_json() {
    let scenes = include_str!("storyboards/scenes.json");
    let read = imported(scenes, false);
    insta::assert_snapshot!(
        "import_json",
        format!("{}\n{}", summary(&read), read.workflow.as_deref().unwrap_or_default())
    );
    let start = scenes.find(r#""scenes": "#).unwrap() + r#""scenes": "#.len();
    let list = scenes[start..].trim_end().trim_end_matches('}');
    assert_eq!(imported(list, false).workflow, read.workflow, "a list alone");
    let chinese = r#"[{"镜号": 1, "画面": "海边的灯塔", "时长（秒）": "8秒"}]"#;
    assert!(imported(chinese, false).workflow.unwrap().contains("seconds: 8"));
    let problems = [
        scenes.replace(r#""end_time": 9"#, r#""end_time": 4"#),
        scenes.replace("\"duration_seconds\": 5,", "\"duration_seconds\": \"soon\""),
        r#"[{"scene": 1}, {"scene": "2"}]"#.to_owned(),
        r#"{"title": "The Lamp", "scenes": []}"#.to_owned(),
        format!(r#"[{{"description": {}1{}}}]"#, "[".repeat(9_000), "]".repeat(9_000)),
    ];
    let report = |list: &String| imported(list, false).report.render(false);
    let reports: Vec<String> =
        problems.iter().map(report).map(|report| report.chars().take(900).collect()).collect();
    insta::assert_snapshot!("import_json_problems", reports.join("\n"));
}

#[test]
fn import_says_how_to_go_on_with_a_screenplay() {
    let screenplay = "<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"no\" ?>\n<FinalDraft DocumentType=\"Script\">\n</FinalDraft>\n";
    insta::assert_snapshot!("import_screenplay", imported(screenplay, false).report.render(false));
}

#[test]
fn import_reads_lengths_with_their_unit_in_the_header() {
    for header in ["duration (sec)", "duration sec", "duration in s", "length in seconds"] {
        let list = format!("description,{header}\nthe sea,8\n");
        let imported = imported(&list, false);
        assert!(imported.report.diagnostics.is_empty(), "{}", imported.report);
        assert!(imported.workflow.unwrap().contains("seconds: 8"), "{header}");
    }
}

#[test]
fn import_of_columns_with_one_meaning_leads_on() {
    let help = |list: &str| imported(list, false).report.to_json()[0].help.clone().unwrap_or_default();
    assert_eq!(
        help("description,description,duration\nthe sea,x,8\n"),
        "rename one of them, such as `description 2`, or remove it"
    );
    assert_eq!(help("description,image\nthe sea,x\n"), "choose one: `--column description=description`");
    assert_eq!(help("image,description\nthe sea,x\n"), "choose one: `--column description=description`");
}

#[test]
fn import_reads_other_encodings_with_a_warning() {
    let text = "Description;Note\r\nMädchen;Größe\r\n";
    let little: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
    let windows: Vec<u8> = text.chars().map(|c| u8::try_from(u32::from(c)).unwrap()).collect();
    let read = |bytes: &[u8]| summary(&imported_bytes(bytes, &import_options(false)));
    insta::assert_snapshot!("import_encodings", format!("{}\n{}", read(&little), read(&windows)));
}

/// Braces are written as templates, and a `$` before them stays one.
#[test]
fn import_dollars_before_braces_are_text() {
    for cell in ["costs ${{x}} a day", "${{ a }}", "${{{b}}}", "$ {{c}} ${%d%} ${#e#}"] {
        let imported = imported(&format!("scene,description\n1,\"{cell}\"\n"), true);
        let text = imported.workflow.unwrap_or_else(|| panic!("{cell}: {}", imported.report));
        let plan = plan(&text);
        let (_, node) = plan.nodes().next().unwrap();
        let sent = node.request["prompt"].as_str().unwrap();
        assert!(sent.to_lowercase().starts_with(cell.to_lowercase().as_str()), "{cell}: {sent}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 32, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn import_arbitrary_cells_reach_requests(
        noise in "[|{}\\[\\]:,\"<a0\n -]*",
        rows in proptest::collection::vec(("[^\"]*", "[^\"]{1,300}", "[^\"]*", "[^\"]*"), 1..4)
    ) {
        for start in ["", "[{\"", "|-|-|\n", "<FinalDraft"] {
            imported(&format!("{start}{noise}"), true);
        }
        let mut list = String::from("scene,description,status,dialogue\n");
        let mut expected = Vec::new();
        for (scene, description, status, dialogue) in &rows {
            let words = |text: &str| text.split(|c: char| c.is_whitespace() || c.is_control())
                .filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ");
            prop_assume!(!words(description).is_empty());
            writeln!(list, "\"{scene}\",\"x{description}\",\"{status}\",\"{dialogue}\"").unwrap();
            expected.push((format!("X{}", words(&format!("x{description}")).strip_prefix('x').unwrap_or_default()), words(status)));
        }
        let imported = imported(&list, true);
        let text = imported.workflow.unwrap_or_else(|| panic!("{}", imported.report));
        let plan = plan(&text);
        for ((_, node), (prompt, note)) in plan.nodes().zip(expected) {
            let sent = node.request["prompt"].as_str().unwrap();
            prop_assert!(sent.starts_with(&prompt), "{sent:?} {prompt:?}");
            let actual = node.note.as_deref().unwrap_or_default().to_owned();
            prop_assert_eq!(actual, if note.is_empty() { String::new() } else { format!("status: {note}") });
        }
    }
}
