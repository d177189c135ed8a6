//! The TCP listener and its connections: without Nagle's algorithm, with a timeout for the head of a request and one for
//! idle connections. A handler can cut its own connection, which fault injection needs to lose a response.

use std::{
    io,
    net::SocketAddr,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};

use axum::{
    extract::connect_info::Connected,
    serve::{IncomingStream, Listener},
};
use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    net::{TcpListener, TcpStream},
    time::{Instant, Sleep, sleep},
};

use super::connection_table::{ConnectionHandle, ConnectionTable, Registration};
use crate::limits::ConnectionLimits;

/// The beginning of an HTTP/2 connection (RFC 9113 section 3.4).
const HTTP2_PREFACE: &[u8] = b"PRI ";

/// Accepts [`HttpStream`]s.
pub(crate) struct HttpListener {
    listener: TcpListener,
    table: Arc<ConnectionTable>,
    limits: ConnectionLimits,
}

/// A connection that can be cut and that times out.
pub(crate) struct HttpStream {
    stream: TcpStream,
    registration: Registration,
    /// While the head of a request arrives: how many requests were before it.
    head: Option<u64>,
    is_http2: bool,
    /// Whether the client has not read what was written.
    is_write_blocked: bool,
    /// Runs out when the client has been waited for long enough.
    deadline: Pin<Box<Sleep>>,
    head_timeout: Duration,
    idle_timeout: Duration,
}

impl HttpListener {
    pub(crate) fn new(listener: TcpListener, limits: ConnectionLimits) -> Self {
        Self { listener, table: ConnectionTable::new(limits.clone()), limits }
    }
}

impl Listener for HttpListener {
    type Io = HttpStream;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (HttpStream, SocketAddr) {
        let (stream, address) = Listener::accept(&mut self.listener).await;
        let registration = self.table.register(address.ip()).await;
        if let Err(error) = stream.set_nodelay(true) {
            tracing::debug!(%error, "cannot set TCP_NODELAY");
        }
        let ConnectionLimits { head_timeout, idle_timeout, .. } = self.limits;
        let stream = HttpStream {
            stream,
            registration,
            head: None,
            is_http2: false,
            is_write_blocked: false,
            // Clients open connections in advance; the table evicts those that are not used.
            deadline: Box::pin(sleep(idle_timeout)),
            head_timeout,
            idle_timeout,
        };
        (stream, address)
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }
}

impl HttpStream {
    fn connection(&self) -> &ConnectionHandle {
        &self.registration.connection
    }

    /// Follows what has been read, and restarts the timer that applies.
    fn received(&mut self, bytes: &[u8]) {
        self.end_head();
        if self.head.is_some() {
            // The timer of a head runs from its first byte, however slowly the others follow.
            return;
        }
        let requests = self.connection().requests_total();
        // Frames of HTTP/2 are not tied to the requests: only the first one has a timer for its head.
        if self.connection().has_requests() || (self.is_http2 && requests > 0) {
            self.restart(self.idle_timeout);
            return;
        }
        self.head = Some(requests);
        self.is_http2 |= requests == 0 && bytes.starts_with(HTTP2_PREFACE);
        self.restart(self.head_timeout);
    }

    /// Notices that the head was complete: the router has been called.
    fn end_head(&mut self) {
        if self.head.is_some_and(|before| before != self.connection().requests_total()) {
            self.head = None;
            self.restart(self.idle_timeout);
        }
    }

    fn restart(&mut self, timeout: Duration) {
        self.deadline.as_mut().reset(Instant::now() + timeout);
    }

    /// Fails when the client has been waited for too long.
    fn poll_deadline<T>(&mut self, context: &mut Context<'_>) -> Poll<io::Result<T>> {
        self.end_head();
        while self.deadline.as_mut().poll(context).is_ready() {
            if self.head.is_some() || self.is_write_blocked || !self.connection().has_requests() {
                return Poll::Ready(Err(io::ErrorKind::TimedOut.into()));
            }
            // The service is at work, or reads a body, for which it has a timer of its own.
            self.restart(self.idle_timeout);
        }
        Poll::Pending
    }

    fn written(
        &mut self,
        context: &mut Context<'_>,
        poll: Poll<io::Result<usize>>,
    ) -> Poll<io::Result<usize>> {
        self.is_write_blocked = poll.is_pending();
        if self.is_write_blocked {
            return self.poll_deadline(context);
        }
        if self.head.is_none() {
            self.restart(self.idle_timeout);
        }
        poll
    }
}

impl Connected<IncomingStream<'_, HttpListener>> for ConnectionHandle {
    fn connect_info(stream: IncomingStream<'_, HttpListener>) -> Self {
        stream.io().connection().clone()
    }
}

impl AsyncRead for HttpStream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        self.connection().check(context.waker())?;
        let before = buffer.filled().len();
        let poll = Pin::new(&mut self.stream).poll_read(context, buffer);
        match poll {
            Poll::Pending => self.poll_deadline(context),
            Poll::Ready(Ok(())) if buffer.filled().len() > before => {
                self.received(&buffer.filled()[before..]);
                poll
            }
            Poll::Ready(_) => poll,
        }
    }
}

impl AsyncWrite for HttpStream {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.connection().check(context.waker())?;
        let poll = Pin::new(&mut self.stream).poll_write(context, buffer);
        self.written(context, poll)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffers: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.connection().check(context.waker())?;
        let poll = Pin::new(&mut self.stream).poll_write_vectored(context, buffers);
        self.written(context, poll)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.connection().check(context.waker())?;
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}
