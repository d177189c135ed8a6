//! How a workflow begins: `init` and `import`. What they write is never written over a file that is there, and runs.

use crate::support::Project;
use crate::support::proxy::{KEY, RecordingProxy, ResponseFault};

#[test]
fn init_workflow_checks_and_runs() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let proxy = RecordingProxy::start(folder.path().join("service"), |_| ResponseFault::None);
    let project = Project::new("mine.yaml", "mine\n").against(&proxy.url, KEY);

    let refused = project.runner(&["init", "mine.yaml"]).expect(2);
    assert!(
        refused.err.contains("mine.yaml is there already; --force overwrites it"),
        "{}",
        refused.transcript()
    );
    assert_eq!(fs_err::read_to_string(project.file("mine.yaml")).expect("the file"), "mine\n");
    project.runner(&["init", "mine.yaml", "--family", "z", "--force"]).expect(2);
    assert_eq!(fs_err::read_to_string(project.file("mine.yaml")).expect("the file"), "mine\n");

    project
        .runner(&["init", "mine.yaml", "--force", "--family", "b", "--kind", "chain", "--shots", "2"])
        .expect(0);
    let check = project.runner(&["check", "mine.yaml"]).expect(0);
    assert_eq!(check.err, "");
    // Shorter videos say the same here.
    let text = fs_err::read_to_string(project.file("mine.yaml")).expect("the file");
    fs_err::write(project.file("mine.yaml"), text.replace("seconds: 5", "seconds: 1"))
        .expect("it can be written");
    project.runner(&["run", "mine.yaml"]).expect(0);
    assert_eq!(proxy.posts().len(), 2);
    assert!(media::probe(&project.file("out/mine/mine.mp4")).is_ok());
    let left: Vec<_> = fs_err::read_dir(project.path())
        .expect("the folder")
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .filter(|name| name.contains(".part"))
        .collect();
    assert_eq!(left, Vec::<String>::new());
}

#[test]
fn import_shot_list_checks() {
    let list = "scene,shot,size,description,duration\n1,A,WS,a quiet sea,4s\n1,B,CU,a hand,0:05\n2,A,MS,the door,4\n";
    let project = Project::new("my shots.csv", list);
    insta::assert_snapshot!(
        project.runner(&["import", "my shots.csv", "--chain", "scene"]).expect(0).transcript()
    );
    let check = project.runner(&["check", "my shots.yaml"]).expect(0);
    assert!(check.err.is_empty() && check.out.contains("3 shots"), "{}", check.transcript());
    assert_eq!(project.plan("my shots.yaml").edges().count(), 1);
    project.runner(&["import", "my shots.csv"]).expect(2);
    let shown = project.runner(&["import", "my shots.csv", "-o", "-"]).expect(0);
    assert!(shown.out.contains("A quiet sea"), "{}", shown.transcript());

    fs_err::write(project.file("wrong.csv"), "description,duration\nsea,soon\n")
        .expect("the folder can be written");
    let wrong = project.runner(&["import", "wrong.csv"]).expect(2);
    assert!(wrong.err.contains("wrong.csv:2:5"), "{}", wrong.transcript());
    assert!(!project.file("wrong.yaml").exists());
}
