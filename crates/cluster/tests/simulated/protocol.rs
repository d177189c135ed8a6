//! Messages of Restate's service protocol, version 7, as far as the objects use them.

use bytes::{Buf as _, BufMut as _, Bytes, BytesMut};
use prost::Message;

/// The content type of requests.
pub(crate) const CONTENT_TYPE: &str = "application/vnd.restate.invocation.v7";

/// Types of messages.
pub(crate) mod kind {
    pub(crate) const START: u16 = 0x0000;
    pub(crate) const SUSPENSION: u16 = 0x0001;
    pub(crate) const ERROR: u16 = 0x0002;
    pub(crate) const END: u16 = 0x0003;
    pub(crate) const PROPOSE_RUN_COMPLETION: u16 = 0x0005;
    pub(crate) const AWAITING_ON: u16 = 0x0006;
    pub(crate) const RUN_COMPLETION_ACK: u16 = 0x0007;
    pub(crate) const INPUT: u16 = 0x0400;
    pub(crate) const OUTPUT: u16 = 0x0401;
    pub(crate) const GET_LAZY_STATE: u16 = 0x0402;
    pub(crate) const SET_STATE: u16 = 0x0403;
    pub(crate) const CLEAR_STATE: u16 = 0x0404;
    pub(crate) const CLEAR_ALL_STATE: u16 = 0x0405;
    pub(crate) const GET_LAZY_STATE_KEYS: u16 = 0x0406;
    pub(crate) const GET_EAGER_STATE: u16 = 0x0407;
    pub(crate) const SLEEP: u16 = 0x040C;
    pub(crate) const CALL: u16 = 0x040D;
    pub(crate) const ONE_WAY_CALL: u16 = 0x040E;
    pub(crate) const RUN: u16 = 0x0411;
    pub(crate) const COMPLETE_AWAKEABLE: u16 = 0x0414;
    pub(crate) const STATE_COMPLETION: u16 = 0x8002;
    pub(crate) const STATE_KEYS_COMPLETION: u16 = 0x8006;
    pub(crate) const SLEEP_COMPLETION: u16 = 0x800C;
    pub(crate) const CALL_COMPLETION: u16 = 0x800D;
    pub(crate) const INVOCATION_ID_COMPLETION: u16 = 0x800E;
    pub(crate) const RUN_COMPLETION: u16 = 0x8011;
    pub(crate) const SIGNAL: u16 = 0xFBFF;
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct Start {
    #[prost(bytes = "bytes", tag = "1")]
    pub(crate) id: Bytes,
    #[prost(string, tag = "2")]
    pub(crate) debug_id: String,
    #[prost(uint32, tag = "3")]
    pub(crate) known_entries: u32,
    #[prost(bool, tag = "5")]
    pub(crate) partial_state: bool,
    #[prost(string, tag = "6")]
    pub(crate) key: String,
    #[prost(uint64, tag = "9")]
    pub(crate) random_seed: u64,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct Error {
    #[prost(uint32, tag = "1")]
    pub(crate) code: u32,
    #[prost(string, tag = "2")]
    pub(crate) message: String,
    #[prost(uint64, optional, tag = "8")]
    pub(crate) next_retry_delay: Option<u64>,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct Value {
    #[prost(bytes = "bytes", tag = "1")]
    pub(crate) content: Bytes,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct Failure {
    #[prost(uint32, tag = "1")]
    pub(crate) code: u32,
    #[prost(string, tag = "2")]
    pub(crate) message: String,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct Void {}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct Input {
    #[prost(message, optional, tag = "14")]
    pub(crate) value: Option<Value>,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct Output {
    #[prost(message, optional, tag = "14")]
    pub(crate) value: Option<Value>,
    #[prost(message, optional, tag = "15")]
    pub(crate) failure: Option<Failure>,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct Propose {
    #[prost(uint32, tag = "1")]
    pub(crate) completion_id: u32,
    #[prost(bytes = "bytes", optional, tag = "14")]
    pub(crate) value: Option<Bytes>,
    #[prost(message, optional, tag = "15")]
    pub(crate) failure: Option<Failure>,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct Ack {
    #[prost(uint32, tag = "1")]
    pub(crate) completion_id: u32,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct StateKeys {
    #[prost(bytes = "bytes", repeated, tag = "1")]
    pub(crate) keys: Vec<Bytes>,
}

/// A command about a state key, with its value if it has one.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct State {
    #[prost(bytes = "bytes", tag = "1")]
    pub(crate) key: Bytes,
    #[prost(message, optional, tag = "3")]
    pub(crate) value: Option<Value>,
    #[prost(uint32, tag = "11")]
    pub(crate) completion_id: u32,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct Sleep {
    #[prost(uint64, tag = "1")]
    pub(crate) wake_up_time: u64,
    #[prost(uint32, tag = "11")]
    pub(crate) completion_id: u32,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct Call {
    #[prost(string, tag = "1")]
    pub(crate) service: String,
    #[prost(string, tag = "2")]
    pub(crate) handler: String,
    #[prost(bytes = "bytes", tag = "3")]
    pub(crate) parameter: Bytes,
    #[prost(string, tag = "5")]
    pub(crate) key: String,
    #[prost(uint32, tag = "10")]
    pub(crate) invocation_id_completion: u32,
    #[prost(uint32, tag = "11")]
    pub(crate) completion_id: u32,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct OneWayCall {
    #[prost(string, tag = "1")]
    pub(crate) service: String,
    #[prost(string, tag = "2")]
    pub(crate) handler: String,
    #[prost(bytes = "bytes", tag = "3")]
    pub(crate) parameter: Bytes,
    #[prost(uint64, tag = "4")]
    pub(crate) invoke_time: u64,
    #[prost(string, tag = "6")]
    pub(crate) key: String,
    #[prost(uint32, tag = "10")]
    pub(crate) invocation_id_completion: u32,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct CompleteAwakeable {
    #[prost(string, tag = "1")]
    pub(crate) awakeable: String,
    #[prost(message, optional, tag = "2")]
    pub(crate) value: Option<Value>,
    #[prost(message, optional, tag = "3")]
    pub(crate) failure: Option<Failure>,
}

/// A completion or a signal.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct Notification {
    #[prost(uint32, optional, tag = "1")]
    pub(crate) completion_id: Option<u32>,
    #[prost(uint32, optional, tag = "2")]
    pub(crate) signal: Option<u32>,
    #[prost(message, optional, tag = "4")]
    pub(crate) void: Option<Void>,
    #[prost(message, optional, tag = "5")]
    pub(crate) value: Option<Value>,
    #[prost(message, optional, tag = "6")]
    pub(crate) failure: Option<Failure>,
    #[prost(string, optional, tag = "16")]
    pub(crate) invocation_id: Option<String>,
    #[prost(message, optional, tag = "17")]
    pub(crate) state_keys: Option<StateKeys>,
}

/// A message as it is stored.
#[derive(Clone)]
pub(crate) struct Entry {
    pub(crate) kind: u16,
    pub(crate) wants_ack: bool,
    pub(crate) body: Bytes,
}

impl Entry {
    pub(crate) fn new(kind: u16, message: &impl Message) -> Self {
        Self { kind, wants_ack: false, body: message.encode_to_vec().into() }
    }

    /// Its content.
    pub(crate) fn read<M: Message + Default>(&self) -> M {
        M::decode(self.body.clone()).expect("a message of its kind")
    }

    /// As it is sent.
    pub(crate) fn frame(&self) -> Bytes {
        let mut frame = BytesMut::with_capacity(8 + self.body.len());
        frame.put_u16(self.kind);
        frame.put_u16(0);
        frame.put_u32(u32::try_from(self.body.len()).expect("a small message"));
        frame.extend_from_slice(&self.body);
        frame.freeze()
    }

    /// Some whole messages, in order.
    pub(crate) fn read_all(mut frames: Bytes) -> Vec<Self> {
        let mut entries = Vec::new();
        while frames.has_remaining() {
            let (kind, flags, length) = (frames.get_u16(), frames.get_u16(), frames.get_u32());
            let body = frames.split_to(length as usize);
            entries.push(Self { kind, wants_ack: flags & 0x8000 != 0, body });
        }
        entries
    }
}
