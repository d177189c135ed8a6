//! One execution of an invocation by a worker.

use std::collections::HashSet;
use std::convert::Infallible;
use std::future::poll_fn;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use hyper::Request;
use hyper::body::{Body, Frame};
use tokio::sync::mpsc;

use super::process::Process;
use super::protocol::{CONTENT_TYPE, Entry, Error, Start, kind};
use super::restate::{Beginning, Restate};

/// How an execution ended.
pub(super) enum ExecutionEnd {
    /// With a result.
    Done,
    /// It waits for something.
    Suspended,
    /// With an error after which it is executed again.
    Failed { retry_after: Option<Duration> },
    /// It was cut off.
    CutOff,
}

/// What the server sends to a worker.
struct RequestBody {
    first: Option<Bytes>,
    then: mpsc::UnboundedReceiver<Bytes>,
}

impl Body for RequestBody {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        match self.first.take() {
            Some(first) => Poll::Ready(Some(Ok(Frame::data(first)))),
            None => self.then.poll_recv(cx).map(|next| next.map(|bytes| Ok(Frame::data(bytes)))),
        }
    }
}

/// Has a worker execute an invocation, from the beginning of its journal.
pub(super) async fn execute(server: &Restate, id: u64) -> ExecutionEnd {
    let Beginning { process, service, handler, key, journal, inbox, mut server_kills, inactivity } =
        server.beginning(id);
    let start = Start {
        id: Bytes::copy_from_slice(&id.to_be_bytes()),
        debug_id: format!("inv_{id}"),
        known_entries: u32::try_from(journal.len()).expect("a short journal"),
        partial_state: true,
        key,
        random_seed: id,
    };
    let mut first = Entry::new(kind::START, &start).frame().to_vec();
    for entry in &journal {
        first.extend_from_slice(&entry.frame());
    }
    let request = Request::post(format!("/invoke/{service}/{handler}"))
        .header("content-type", CONTENT_TYPE)
        .body(RequestBody { first: Some(first.into()), then: inbox })
        .expect("a request");
    let mut gone = process.gone.clone();
    let response = process.endpoint.handle(request);
    assert_eq!(response.status(), 200, "{service}/{handler}");
    let mut body = Box::pin(response.into_body());
    let mut is_asked_to_suspend = false;
    let ended = 'execution: loop {
        let frame = tokio::select! {
            biased;
            _ = gone.wait_for(|gone| *gone) => break ExecutionEnd::CutOff,
            _ = server_kills.changed() => break ExecutionEnd::CutOff,
            frame = poll_fn(|cx| body.as_mut().poll_frame(cx)) => frame,
            () = tokio::time::sleep(inactivity), if !is_asked_to_suspend => {
                is_asked_to_suspend = true;
                server.close_inbox(id);
                continue;
            }
        };
        // The worker closed the stream in the middle.
        let Some(Ok(frame)) = frame else { break ExecutionEnd::CutOff };
        let messages = frame.into_data().map(Entry::read_all).unwrap_or_default();
        for message in messages {
            match message.kind {
                kind::END => break 'execution ExecutionEnd::Done,
                kind::SUSPENSION => break 'execution ExecutionEnd::Suspended,
                kind::ERROR => {
                    let error: Error = message.read();
                    assert!(!matches!(error.code, 570 | 571), "{service}/{handler}: {}", error.message);
                    let retry_after = error.next_retry_delay.map(Duration::from_millis);
                    break 'execution ExecutionEnd::Failed { retry_after };
                }
                _ => {}
            }
            let cut = server.cut();
            if let Some(cut) = cut {
                let is_stored = server.roll(2) == 0;
                if is_stored {
                    server.store(id, &message);
                }
                server.perform(cut, &process);
                break 'execution ExecutionEnd::CutOff;
            }
            server.store(id, &message);
        }
    };
    // The handler goes no further.
    drop(body);
    match ended {
        ExecutionEnd::Done => server.finish(id),
        ExecutionEnd::Suspended | ExecutionEnd::Failed { .. } | ExecutionEnd::CutOff => {
            server.close_inbox(id);
        }
    }
    ended
}

/// The handlers that are executed beside others, as the worker describes them.
pub(super) async fn shared_handlers(process: &Process) -> HashSet<String> {
    let (_, nothing) = mpsc::unbounded_channel();
    let request = Request::get("/discover")
        .header("accept", "application/vnd.restate.endpointmanifest.v4+json")
        .body(RequestBody { first: None, then: nothing })
        .expect("a request");
    let mut body = Box::pin(process.endpoint.handle(request).into_body());
    let mut text = Vec::new();
    while let Some(Ok(frame)) = poll_fn(|cx| body.as_mut().poll_frame(cx)).await {
        text.extend_from_slice(&frame.into_data().unwrap_or_default());
    }
    let manifest: serde_json::Value = serde_json::from_slice(&text).expect("a manifest");
    let services = manifest["services"].as_array().expect("services");
    let name = |value: &serde_json::Value| value["name"].as_str().expect("a name").to_owned();
    let handlers = services.iter().flat_map(|service| {
        let handlers = service["handlers"].as_array().into_iter().flatten();
        let shared = handlers.filter(|handler| handler["ty"] == "SHARED");
        shared.map(|handler| format!("{}/{}", name(service), name(handler))).collect::<Vec<_>>()
    });
    handlers.collect()
}
