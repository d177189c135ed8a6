//! Every request that the example workflows generate, for both families including chained frames, as it arrives at the service.
//!
//! Frames that are rendered only during a run have placeholders: `https://frames.example/SHOT` if the service returns a URL, a data URI
//! otherwise.

use std::sync::{Arc, Mutex};

use axum::Router;
use axum::extract::Request;
use client::{Client, ClientConfig, PreparedRequest};
use contract::Contract;
use secrecy::SecretString;
use serde_json::Value;
use tokio::net::TcpListener;
use workflow::plan::{MediaSource, Node, Plan};
use workflow::{DirFiles, Options};

use crate::support::program::root;

/// What a transport adds, the same for every request.
const OF_TRANSPORT: [&str; 4] = ["host", "content-length", "user-agent", "accept-encoding"];

#[tokio::main(flavor = "current_thread")]
async fn requests(example: &str) -> String {
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
    let arrived = Arc::<Mutex<Vec<String>>>::default();
    let log = Arc::clone(&arrived);
    let app = Router::new().fallback(async move |request: Request| {
        let transcript = transcript(request).await;
        log.lock().expect("no handler panics").push(transcript);
    });
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let url = format!("http://{}", listener.local_addr().expect("an address"));
    tokio::spawn(async move { axum::serve(listener, app).await });
    let url = url.parse().expect("an address");
    let client = Client::new(ClientConfig::new(url, SecretString::from("sk-never-shown"))).expect("a client");
    for (_, node) in plan.nodes() {
        let request = node.complete(&inputs(&plan, node));
        let request = PreparedRequest::new(&request).expect("the request fits the contract");
        client.create(&request).await.expect_err("the response is empty");
        let mut arrived = arrived.lock().expect("no handler panics");
        let last = arrived.pop().expect("the request has arrived");
        arrived.push(format!("# {}\n{last}", node.name));
    }
    let transcripts = arrived.lock().expect("no handler panics").join("\n\n");
    // Also if somebody accepts a snapshot that has it.
    assert!(!transcripts.contains("sk-never-shown"));
    transcripts
}

/// The request line, the headers without a secret, and the body as indented JSON.
async fn transcript(request: Request) -> String {
    let (parts, body) = request.into_parts();
    let mut headers: Vec<String> = parts
        .headers
        .iter()
        .filter(|(name, _)| !OF_TRANSPORT.contains(&name.as_str()))
        .map(|(name, value)| match name.as_str() {
            "authorization" => "authorization: [redacted]".to_owned(),
            name => format!("{name}: {}", value.to_str().expect("a header in ASCII")),
        })
        .collect();
    headers.sort();
    let body = axum::body::to_bytes(body, 64 << 20).await.expect("a whole body");
    let body: Value = serde_json::from_slice(&body).expect("a JSON body");
    format!("{} {}\n{}\n\n{body:#}", parts.method, parts.uri, headers.join("\n"))
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
