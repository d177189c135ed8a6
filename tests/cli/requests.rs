//! Every request that the example workflows generate, for both families including chained frames, exactly as the client sends it.
//!
//! Frames that are rendered only during a run have placeholders: `https://frames.example/SHOT` if the service returns a URL, a data URI
//! otherwise.

use client::{Client, ClientConfig, PreparedRequest};
use contract::Contract;
use secrecy::SecretString;
use workflow::plan::{MediaSource, Node, Plan};
use workflow::{DirFiles, Options};

use crate::support::program::root;

fn requests(example: &str) -> String {
    let folder = root().join("workflows");
    let text = fs_err::read(folder.join(example)).expect("the example is there");
    let plan = workflow::load(
        &text,
        example,
        &DirFiles::new(&folder, engine::MEDIA_GATE),
        &Options::default(),
        Contract::embedded(),
    )
    .unwrap_or_else(|report| panic!("{report}"));
    let url = "https://api.example.com".parse().expect("an address");
    let client = Client::new(ClientConfig::new(url, SecretString::from("sk-never-shown"))).expect("a client");
    let mut transcripts = Vec::new();
    for (_, node) in plan.nodes() {
        let request = node.complete(&inputs(&plan, node));
        let request = PreparedRequest::new(&request).expect("the request fits the contract");
        let captured = client.capture_create(&request).expect("the request can be put on the wire");
        transcripts.push(format!("# {}\n{captured}", node.name));
    }
    let transcripts = transcripts.join("\n\n");
    // Also if somebody accepts a snapshot that has it.
    assert!(!transcripts.contains("sk-never-shown"));
    transcripts
}

fn inputs(plan: &Plan, node: &Node) -> Vec<String> {
    let source_text = |source: &MediaSource| match source {
        // A model that returns its last frame is continued by URL; any other by image data.
        MediaSource::LastFrame(parent) if plan.node(*parent).request.contains_key("return_last_frame") => {
            format!("https://frames.example/{}", plan.node(*parent).name)
        }
        MediaSource::LastFrame(_)
        | MediaSource::FirstFrame(_)
        | MediaSource::Pick { .. }
        | MediaSource::FileFrame { .. } => "data:image/png;base64,AAAA".to_owned(),
        MediaSource::File { media_type, .. } => format!("data:{media_type};base64,AAAA"),
    };
    node.inputs.iter().map(|input| source_text(&input.source)).collect()
}

#[test]
fn requests_of_storyboard() {
    insta::assert_snapshot!(requests("storyboard.yaml"));
}

#[test]
fn requests_of_sweep() {
    insta::assert_snapshot!(requests("sweep.yaml"));
}

#[test]
fn requests_of_families() {
    insta::assert_snapshot!(requests("families.yaml"));
}
