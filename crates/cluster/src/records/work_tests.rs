//! Tests of the records of work, with the records of keys as a server would return them.

use std::sync::Arc;

use engine::provider::Account;
use futures_util::future::BoxFuture;
use serde_json::{Value, json};
use url::Url;

use super::*;
use crate::client::{EngineClient, Ingress};
use crate::error::ClusterError;
use crate::messages::{ENGINE, NODE};
use crate::store::{SharedStore, StoreOptions, artifact_path};

const VIDEO: &[u8] = b"a video";

/// A server on which every key has this record.
#[derive(Debug)]
struct Server {
    record: Value,
}

impl Ingress for Server {
    fn call<'a>(
        &'a self,
        object: &'a str,
        _key: &'a str,
        handler: &'a str,
        _body: Vec<u8>,
    ) -> BoxFuture<'a, Result<Vec<u8>, ClusterError>> {
        let answer = match (object, handler) {
            (ENGINE, "describe") => {
                json!({ "service": "https://service.example", "account": "a", "account_key": "k" })
            }
            (NODE, "read") => self.record.clone(),
            call => panic!("{call:?} is not expected"),
        };
        Box::pin(std::future::ready(Ok(answer.to_string().into_bytes())))
    }
}

/// An attempt whose video was stored, in this state.
fn attempt(state: &str, sha256: &str) -> Value {
    json!({
        "id": "r.1", "run": "r", "plan": "", "node": 0, "name": "lamp", "workflow": "lamp", "sources": [], "digest": "",
        "service": "https://service.example", "account": "a", "state": state, "intended_at": 5, "is_replaced": false,
        "submitted_at": 9, "task": "t", "suggested_task": null, "reason": null,
        "artifact": {
            "path": artifact_path(sha256), "sha256": sha256, "bytes": VIDEO.len(), "seconds": 4.0, "width": 1,
            "height": 1,
        },
    })
}

#[tokio::test]
async fn video_of_an_expired_attempt_is_shown_as_a_run_would_use_it() {
    let folder = tempfile::tempdir().expect("a folder");
    let url = Url::from_directory_path(folder.path()).expect("an absolute path");
    let store = SharedStore::open(&url, &StoreOptions::default()).expect("a folder");
    let sha256 = store.put(ObjectKind::Artifact, VIDEO.to_vec()).await.expect("stored");
    let key = NodeKey::parse(&"0".repeat(64)).expect("a key");
    for state in ["completed", "missing", "expired"] {
        let server = Arc::new(Server { record: json!({ "attempts": [attempt(state, &sha256)] }) });
        let client = EngineClient::in_process(server, Url::parse("http://simulated/").expect("a URL"));
        let records = ClusterRecords::open(client, store.clone(), None).await.expect("opened");
        let account = Account { digest: Some("a".to_owned()), is_paid: true };
        let accounts = Accounts::default().with(records.description().service.as_str(), account);
        let existing = records.existing_work(&[key], &accounts, &Verify::Metadata).await.expect("read");
        assert!(matches!(existing.as_slice(), [ExistingWork::Completed { .. }]), "{state}: {existing:?}");
    }
}
