//! The TCP listener and its connections: bounded in number, without Nagle's algorithm, with a timeout. A handler can cut
//! its own connection, which fault injection needs to lose a response.

use std::{
    io,
    net::SocketAddr,
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    task::{Context, Poll},
    time::Duration,
};

use axum::{
    extract::{ConnectInfo, Request, connect_info::Connected},
    middleware::Next,
    response::Response,
    serve::{IncomingStream, Listener},
};
use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    net::{TcpListener, TcpStream},
    sync::{OwnedSemaphorePermit, Semaphore},
    time::{Instant, Sleep, sleep},
};

use crate::limits::ConnectionLimits;

/// A connection as its handlers see it.
#[derive(Debug, Clone, Default)]
pub(crate) struct ConnectionHandle(Arc<ConnectionState>);

#[derive(Debug, Default)]
struct ConnectionState {
    is_cut: AtomicBool,
    /// Requests that are being handled.
    requests: AtomicUsize,
}

impl ConnectionHandle {
    /// Makes the response that follows, and all after it, fail.
    pub(super) fn cut(&self) {
        self.0.is_cut.store(true, Ordering::Release);
    }

    fn has_requests(&self) -> bool {
        self.0.requests.load(Ordering::Acquire) > 0
    }
}

/// A request that is being handled.
struct RequestGuard(ConnectionHandle);

impl Drop for RequestGuard {
    fn drop(&mut self) {
        self.0.0.requests.fetch_sub(1, Ordering::AcqRel);
    }
}

/// Middleware: a connection has a request while its handler runs.
pub(super) async fn count_request(
    ConnectInfo(connection): ConnectInfo<ConnectionHandle>,
    request: Request,
    next: Next,
) -> Response {
    connection.0.requests.fetch_add(1, Ordering::AcqRel);
    let _guard = RequestGuard(connection);
    next.run(request).await
}

/// Accepts [`HttpStream`]s.
pub(crate) struct HttpListener {
    listener: TcpListener,
    slots: Arc<Semaphore>,
    timeout: Duration,
}

/// A connection that can be cut and that times out.
pub(crate) struct HttpStream {
    stream: TcpStream,
    connection: ConnectionHandle,
    /// Whether the client has not read what was written.
    is_write_blocked: bool,
    /// Restarted by whatever is written. Invariant: what arrives does not restart it, so that the head of a request has
    /// to be there in time, however slowly it comes.
    deadline: Pin<Box<Sleep>>,
    timeout: Duration,
    _slot: Option<OwnedSemaphorePermit>,
}

impl HttpListener {
    pub(crate) fn new(listener: TcpListener, limits: &ConnectionLimits) -> Self {
        let slots = Arc::new(Semaphore::new(limits.total.max(1)));
        Self { listener, slots, timeout: limits.timeout }
    }
}

impl Listener for HttpListener {
    type Io = HttpStream;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (HttpStream, SocketAddr) {
        // An error means that the semaphore is closed, which it never is.
        let slot = Arc::clone(&self.slots).acquire_owned().await.ok();
        let (stream, address) = Listener::accept(&mut self.listener).await;
        if let Err(error) = stream.set_nodelay(true) {
            tracing::debug!(%error, "cannot set TCP_NODELAY");
        }
        let stream = HttpStream {
            stream,
            connection: ConnectionHandle::default(),
            is_write_blocked: false,
            deadline: Box::pin(sleep(self.timeout)),
            timeout: self.timeout,
            _slot: slot,
        };
        (stream, address)
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }
}

impl HttpStream {
    fn restart(&mut self) {
        self.deadline.as_mut().reset(Instant::now() + self.timeout);
    }

    /// Fails when the client has been waited for too long.
    fn poll_deadline<T>(&mut self, context: &mut Context<'_>) -> Poll<io::Result<T>> {
        while self.deadline.as_mut().poll(context).is_ready() {
            if self.is_write_blocked || !self.connection.has_requests() {
                return Poll::Ready(Err(io::ErrorKind::TimedOut.into()));
            }
            // The service is at work, or reads a body, for which it has a timer of its own.
            self.restart();
        }
        Poll::Pending
    }

    fn poll_written(
        &mut self,
        context: &mut Context<'_>,
        write: impl FnOnce(Pin<&mut TcpStream>, &mut Context<'_>) -> Poll<io::Result<usize>>,
    ) -> Poll<io::Result<usize>> {
        if self.connection.0.is_cut.load(Ordering::Acquire) {
            return Poll::Ready(Err(io::ErrorKind::ConnectionReset.into()));
        }
        let poll = write(Pin::new(&mut self.stream), context);
        self.is_write_blocked = poll.is_pending();
        if self.is_write_blocked {
            return self.poll_deadline(context);
        }
        self.restart();
        poll
    }
}

impl Connected<IncomingStream<'_, HttpListener>> for ConnectionHandle {
    fn connect_info(stream: IncomingStream<'_, HttpListener>) -> Self {
        stream.io().connection.clone()
    }
}

impl AsyncRead for HttpStream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        match Pin::new(&mut self.stream).poll_read(context, buffer) {
            Poll::Pending => self.poll_deadline(context),
            ready @ Poll::Ready(_) => ready,
        }
    }
}

impl AsyncWrite for HttpStream {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.poll_written(context, |stream, context| stream.poll_write(context, buffer))
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffers: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.poll_written(context, |stream, context| stream.poll_write_vectored(context, buffers))
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}
