//! Steps of a worker, at which tests end it: the messages that it is about to send to Restate. What such a message says becomes durable with
//! it, so that these are all moments at which the loss of a process makes a difference to what is recorded.
//!
//! Compiled with the feature `failpoints` only, which nothing but tests enables.

use std::collections::HashMap;
use std::convert::Infallible;
use std::pin::Pin;
use std::sync::OnceLock;
use std::task::{Context, Poll, ready};

use bytes::{Buf as _, Bytes};
use hyper::body::{Body, Frame, Incoming};
use hyper::service::Service;
use hyper::{Request, Response};
use restate_sdk::endpoint::ResponseBody;
use restate_sdk::hyper::HyperEndpoint;

/// Called with each worker step, such as `submit: run post` before that step is begun and `submit: propose post` before its result is recorded.
pub type Hook = fn(&str);

static HOOK: OnceLock<Hook> = OnceLock::new();

/// Installs the hook for the process. Only the first call has an effect.
pub fn install(hook: Hook) {
    let _ = HOOK.set(hook);
}

/// Types of messages of Restate's service protocol.
mod message {
    pub(super) const PROPOSE_RUN_COMPLETION: u16 = 0x0005;
    pub(super) const SET_STATE: u16 = 0x0403;
    pub(super) const CALL: u16 = 0x040D;
    pub(super) const ONE_WAY_CALL: u16 = 0x040E;
    pub(super) const RUN: u16 = 0x0411;
}

/// An endpoint that calls the hook.
#[derive(Clone)]
pub(crate) struct FailpointEndpoint(pub(crate) HyperEndpoint);

impl Service<Request<Incoming>> for FailpointEndpoint {
    type Response = Response<WatchedBody>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, Infallible>> + Send>>;

    fn call(&self, request: Request<Incoming>) -> Self::Future {
        let handler = request.uri().path().rsplit('/').next().unwrap_or_default().to_owned();
        let answered = self.0.call(request);
        Box::pin(async move {
            Ok(answered.await?.map(|body| WatchedBody {
                body: Box::pin(body),
                steps: Steps { handler, runs: HashMap::new() },
            }))
        })
    }
}

/// The messages of an invocation to Restate.
pub(crate) struct WatchedBody {
    body: Pin<Box<ResponseBody>>,
    steps: Steps,
}

impl Body for WatchedBody {
    type Data = Bytes;
    type Error = <ResponseBody as Body>::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        let frame = ready!(self.body.as_mut().poll_frame(cx));
        if let Some(Ok(frame)) = &frame
            && let Some(messages) = frame.data_ref()
            && let Some(hook) = HOOK.get()
        {
            self.steps.read(messages.clone()).iter().for_each(|step| hook(step));
        }
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }
}

/// Names the messages of an invocation.
struct Steps {
    handler: String,
    /// Names of the runs that were begun, by the id of their completion.
    runs: HashMap<u64, String>,
}

impl Steps {
    /// The worker steps of some whole messages.
    fn read(&mut self, mut messages: Bytes) -> Vec<String> {
        let mut steps = Vec::new();
        // A header: type, flags, length.
        while messages.len() >= 8 {
            let (kind, _flags, length) = (messages.get_u16(), messages.get_u16(), messages.get_u32());
            let length = usize::try_from(length).unwrap_or(usize::MAX).min(messages.len());
            let step = self.step(kind, &Fields::read(messages.split_to(length)));
            steps.extend(step.map(|step| format!("{}: {step}", self.handler)));
        }
        steps
    }

    fn step(&mut self, kind: u16, fields: &Fields) -> Option<String> {
        match kind {
            message::RUN => {
                let name = fields.text(12);
                self.runs.insert(fields.number(11), name.clone());
                Some(format!("run {name}"))
            }
            message::PROPOSE_RUN_COMPLETION => Some(format!("propose {}", self.runs.get(&fields.number(1))?)),
            message::SET_STATE => Some(format!("set {}", fields.text(1))),
            message::CALL => Some(format!("call {}", fields.text(2))),
            message::ONE_WAY_CALL => Some(format!("send {}", fields.text(2))),
            _ => None,
        }
    }
}

/// The fields of a message in protobuf's wire format.
#[derive(Default)]
struct Fields {
    numbers: HashMap<u64, u64>,
    bytes: HashMap<u64, Bytes>,
}

impl Fields {
    fn read(mut message: Bytes) -> Self {
        let mut fields = Self::default();
        while message.has_remaining() {
            let tag = varint(&mut message);
            match tag & 7 {
                0 => drop(fields.numbers.insert(tag >> 3, varint(&mut message))),
                2 => {
                    let length = usize::try_from(varint(&mut message)).unwrap_or(usize::MAX);
                    let length = length.min(message.len());
                    fields.bytes.insert(tag >> 3, message.split_to(length));
                }
                // Restate's messages have no other wire types.
                _ => break,
            }
        }
        fields
    }

    fn number(&self, field: u64) -> u64 {
        self.numbers.get(&field).copied().unwrap_or_default()
    }

    fn text(&self, field: u64) -> String {
        self.bytes.get(&field).map(|bytes| String::from_utf8_lossy(bytes).into_owned()).unwrap_or_default()
    }
}

fn varint(bytes: &mut Bytes) -> u64 {
    let mut value = 0;
    for shift in (0..64).step_by(7) {
        if !bytes.has_remaining() {
            break;
        }
        let byte = bytes.get_u8();
        value |= u64::from(byte & 0x7F) << shift;
        if byte & 0x80 == 0 {
            break;
        }
    }
    value
}
