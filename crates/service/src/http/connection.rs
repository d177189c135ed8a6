//! The TCP listener and its connections: bounded in number, without Nagle's algorithm, closed when idle. A handler can
//! cut its own connection, which fault injection needs to lose a response.

use std::{
    io,
    net::SocketAddr,
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
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
    sync::{OwnedSemaphorePermit, Semaphore},
    time::{Instant, Sleep, sleep},
};

/// A connection without traffic for this long is closed. Longer than any response takes.
const IDLE_TIMEOUT: Duration = Duration::from_mins(5);

/// Concurrent connections; further ones wait to be accepted.
const MAX_CONNECTIONS: usize = 4_096;

/// Accepts [`HttpStream`]s.
pub(crate) struct HttpListener {
    listener: TcpListener,
    permits: Arc<Semaphore>,
}

/// A connection that can be cut and that times out when idle.
pub(crate) struct HttpStream {
    stream: TcpStream,
    connection: ConnectionHandle,
    idle: Pin<Box<Sleep>>,
    /// Released when the connection closes.
    _permit: Option<OwnedSemaphorePermit>,
}

/// The handler's means of cutting its connection.
#[derive(Debug, Clone, Default)]
pub(crate) struct ConnectionHandle(Arc<AtomicBool>);

impl ConnectionHandle {
    /// Cuts the connection: further reads and writes fail.
    pub(super) fn cut(&self) {
        self.0.store(true, Ordering::Release);
    }

    fn check(&self) -> io::Result<()> {
        if self.0.load(Ordering::Acquire) { Err(io::ErrorKind::ConnectionReset.into()) } else { Ok(()) }
    }
}

impl HttpListener {
    pub(crate) fn new(listener: TcpListener) -> Self {
        Self { listener, permits: Arc::new(Semaphore::new(MAX_CONNECTIONS)) }
    }
}

impl Listener for HttpListener {
    type Io = HttpStream;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (HttpStream, SocketAddr) {
        // The semaphore is never closed.
        let permit = Arc::clone(&self.permits).acquire_owned().await.ok();
        let (stream, address) = Listener::accept(&mut self.listener).await;
        if let Err(error) = stream.set_nodelay(true) {
            tracing::debug!(%error, "cannot set TCP_NODELAY");
        }
        let stream = HttpStream {
            stream,
            connection: ConnectionHandle::default(),
            idle: Box::pin(sleep(IDLE_TIMEOUT)),
            _permit: permit,
        };
        (stream, address)
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }
}

impl HttpStream {
    /// Restarts the idle timer after traffic; otherwise polls it.
    fn track_idle<T>(&mut self, context: &mut Context<'_>, poll: Poll<io::Result<T>>) -> Poll<io::Result<T>> {
        if poll.is_ready() {
            self.idle.as_mut().reset(Instant::now() + IDLE_TIMEOUT);
            return poll;
        }
        match self.idle.as_mut().poll(context) {
            Poll::Ready(()) => Poll::Ready(Err(io::ErrorKind::TimedOut.into())),
            Poll::Pending => Poll::Pending,
        }
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
        self.connection.check()?;
        let poll = Pin::new(&mut self.stream).poll_read(context, buffer);
        self.track_idle(context, poll)
    }
}

impl AsyncWrite for HttpStream {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.connection.check()?;
        let poll = Pin::new(&mut self.stream).poll_write(context, buffer);
        self.track_idle(context, poll)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffers: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.connection.check()?;
        let poll = Pin::new(&mut self.stream).poll_write_vectored(context, buffers);
        self.track_idle(context, poll)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.connection.check()?;
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}
