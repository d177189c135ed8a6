//! `init` and `import`: their workflows pass `check` and run; existing files are not overwritten.

use crate::support::proxy::{KEY, RecordingProxy};
use crate::support::{Project, cli_snapshot};

#[test]
fn init_workflow_checks_and_runs() {
    let proxy = RecordingProxy::faithful();
    let project = Project::new("mine.yaml", "mine\n").against(&proxy.url, KEY);

    let refused = project.runner(&["init", "mine.yaml"]).expect(2);
    cli_snapshot!("init_existing_file", refused);
    assert_eq!(fs_err::read_to_string(project.file("mine.yaml")).expect("the file"), "mine\n");
    let unknown = project.runner(&["init", "mine.yaml", "--family", "z", "--overwrite"]).expect(2);
    cli_snapshot!("init_unknown_family", unknown);
    assert_eq!(fs_err::read_to_string(project.file("mine.yaml")).expect("the file"), "mine\n");

    let created = project
        .runner(&["init", "mine.yaml", "--overwrite", "--family", "b", "--kind", "chain", "--shots", "2"])
        .expect(0);
    cli_snapshot!("init", created);
    cli_snapshot!("init_again", project.runner(&["init", "second.yaml", "--shots", "1"]).expect(0));
    fs_err::write(project.file(".gitignore"), "/out\n").expect("it can be written");
    cli_snapshot!("init_lacking_entry", project.runner(&["init", "third.yaml", "--shots", "1"]).expect(0));
    assert_eq!(fs_err::read_to_string(project.file(".gitignore")).expect("the file"), "/out\n");
    let empty_table = project.runner(&["plan", "mine.yaml", "--prices", "prices.yaml"]).expect(2);
    cli_snapshot!("plan_with_empty_price_table", empty_table);
    cli_snapshot!("plan_without_prices", project.runner(&["plan", "mine.yaml"]).expect(0));
    cli_snapshot!("check_ok", project.runner(&["check", "mine.yaml"]).expect(0));
    // Shorter videos say the same here.
    let text = fs_err::read_to_string(project.file("mine.yaml")).expect("the file");
    fs_err::write(project.file("mine.yaml"), text.replace("seconds: 5", "seconds: 1"))
        .expect("it can be written");
    project.runner(&["run", "mine.yaml"]).expect(0);
    assert_eq!(proxy.posts().len(), 2);
    assert!(media::probe(&project.file("out/mine/mine.mp4")).is_ok());
    let part_files: Vec<_> = fs_err::read_dir(project.path())
        .expect("the folder")
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .filter(|name| name.contains(".part"))
        .collect();
    assert_eq!(part_files, Vec::<String>::new());
}

#[test]
fn import_shot_list_checks() {
    let list = "scene,shot,size,description,duration\n1,A,WS,a quiet sea,4s\n1,B,CU,a hand,0:05\n2,A,MS,the door,4\n";
    let project = Project::new("my shots.csv", list);
    insta::assert_snapshot!(
        project.runner(&["import", "my shots.csv", "--chain", "scene"]).expect(0).transcript()
    );
    let check = project.runner(&["check", "my shots.yaml"]).expect(0);
    cli_snapshot!("check_imported", check);
    assert_eq!(project.plan("my shots.yaml").edges().count(), 1);
    cli_snapshot!("import_existing_file", project.runner(&["import", "my shots.csv"]).expect(2));
    let shown = project.runner(&["import", "my shots.csv", "--output", "-"]).expect(0);
    cli_snapshot!("import_to_stdout", shown);

    fs_err::write(project.file("liste.csv"), "Nr;Was man sieht;Zeit\n1;Das Meer;6\n")
        .expect("it can be written");
    cli_snapshot!("import_foreign_columns", project.runner(&["import", "liste.csv"]).expect(2));
    let chosen = ["import", "liste.csv", "--column", "description=Was man sieht", "--output", "-"];
    cli_snapshot!("import_chosen_column", project.runner(&chosen).expect(0));
    cli_snapshot!(
        "import_unknown_meaning",
        project.runner(&["import", "liste.csv", "--column", "dauer=Zeit"]).expect(2)
    );

    fs_err::write(project.file("wrong.csv"), "description,duration\nsea,soon\n")
        .expect("the folder can be written");
    let wrong = project.runner(&["import", "wrong.csv"]).expect(2);
    cli_snapshot!("import_invalid_list", wrong);
    assert!(!project.file("wrong.yaml").exists());
}

#[test]
fn import_storyboards_of_a_chat_and_refuses_a_screenplay() {
    let table =
        "# The Lamp\n\n| Shot | Visual description | 时长(秒) |\n|---|---|---|\n| 1 | a quiet sea | 4 |\n";
    let project = Project::new("lamp.md", table);
    project.runner(&["import", "lamp.md"]).expect(0);
    project.runner(&["check", "lamp.yaml"]).expect(0);
    let scenes = r#"{"scenes": [{"video_prompt": "a quiet sea", "start_time": 0, "end_time": 4}]}"#;
    fs_err::write(project.file("sea.json"), scenes).expect("it can be written");
    project.runner(&["import", "sea.json"]).expect(0);
    project.runner(&["check", "sea.yaml"]).expect(0);
    fs_err::write(project.file("notes.md"), "# Notes\n\nNo table yet.\n").expect("it can be written");
    cli_snapshot!("import_markdown_without_table", project.runner(&["import", "notes.md"]).expect(2));
    fs_err::write(project.file("lamp.fdx"), "<?xml version=\"1.0\"?>\n<FinalDraft>\n")
        .expect("it can be written");
    cli_snapshot!("import_screenplay", project.runner(&["import", "lamp.fdx"]).expect(2));
}
