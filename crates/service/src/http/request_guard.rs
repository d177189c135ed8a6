//! Middleware: a connection has a request until the body of the response is sent.

use std::{
    pin::Pin,
    task::{Context, Poll},
};

use axum::{
    body::{Body, HttpBody},
    extract::{ConnectInfo, Request},
    middleware::Next,
    response::Response,
};
use bytes::Bytes;

use super::connection_table::{ConnectionHandle, RequestGuard};

pub(super) async fn guard(
    ConnectInfo(connection): ConnectInfo<ConnectionHandle>,
    request: Request,
    next: Next,
) -> Response {
    let guard = connection.begin_request();
    next.run(request).await.map(|inner| Body::new(GuardedBody { inner, _guard: guard }))
}

/// A body with the guard of its request.
struct GuardedBody {
    inner: Body,
    _guard: RequestGuard,
}

impl HttpBody for GuardedBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<http_body::Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.inner).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.inner.is_end_stream()
    }

    fn size_hint(&self) -> http_body::SizeHint {
        self.inner.size_hint()
    }
}
