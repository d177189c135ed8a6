//! Connections as they are accepted: counted, without Nagle's delay, closed when they idle, and such that a handler
//! can cut its own. Losing an answer on purpose is the one fault that HTTP cannot say.

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

/// A connection on which nothing moves for this long is closed. Longer than any answer takes.
const IDLE: Duration = Duration::from_mins(5);

/// Connections at once; further ones wait to be accepted.
const CONNECTIONS: usize = 4_096;

/// Listens and hands out [`WireStream`]s.
pub(crate) struct WireListener {
    listener: TcpListener,
    places: Arc<Semaphore>,
}

/// A connection that can be cut, and that ends when it idles.
pub(crate) struct WireStream {
    stream: TcpStream,
    wire: Wire,
    idle: Pin<Box<Sleep>>,
    /// Given back when the connection ends.
    _place: Option<OwnedSemaphorePermit>,
}

/// The handler's end of the knife.
#[derive(Debug, Clone, Default)]
pub(crate) struct Wire(Arc<AtomicBool>);

impl Wire {
    /// From now on nothing is read from or written to the connection, and it closes.
    pub(super) fn cut(&self) {
        self.0.store(true, Ordering::Release);
    }

    fn check(&self) -> io::Result<()> {
        if self.0.load(Ordering::Acquire) { Err(io::ErrorKind::ConnectionReset.into()) } else { Ok(()) }
    }
}

impl WireListener {
    pub(crate) fn new(listener: TcpListener) -> Self {
        Self { listener, places: Arc::new(Semaphore::new(CONNECTIONS)) }
    }
}

impl Listener for WireListener {
    type Io = WireStream;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (WireStream, SocketAddr) {
        // The semaphore is never closed.
        let place = Arc::clone(&self.places).acquire_owned().await.ok();
        let (stream, address) = Listener::accept(&mut self.listener).await;
        if let Err(error) = stream.set_nodelay(true) {
            tracing::debug!(%error, "a connection keeps Nagle's delay");
        }
        let stream = WireStream { stream, wire: Wire::default(), idle: Box::pin(sleep(IDLE)), _place: place };
        (stream, address)
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }
}

impl WireStream {
    /// Starts the idle time anew after something moved; while nothing does, sees to it that it ends some time.
    fn moved<T>(&mut self, context: &mut Context<'_>, poll: Poll<io::Result<T>>) -> Poll<io::Result<T>> {
        if poll.is_ready() {
            self.idle.as_mut().reset(Instant::now() + IDLE);
            return poll;
        }
        match self.idle.as_mut().poll(context) {
            Poll::Ready(()) => Poll::Ready(Err(io::ErrorKind::TimedOut.into())),
            Poll::Pending => Poll::Pending,
        }
    }
}

impl Connected<IncomingStream<'_, WireListener>> for Wire {
    fn connect_info(stream: IncomingStream<'_, WireListener>) -> Self {
        stream.io().wire.clone()
    }
}

impl AsyncRead for WireStream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        self.wire.check()?;
        let poll = Pin::new(&mut self.stream).poll_read(context, buffer);
        self.moved(context, poll)
    }
}

impl AsyncWrite for WireStream {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.wire.check()?;
        let poll = Pin::new(&mut self.stream).poll_write(context, buffer);
        self.moved(context, poll)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffers: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.wire.check()?;
        let poll = Pin::new(&mut self.stream).poll_write_vectored(context, buffers);
        self.moved(context, poll)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.wire.check()?;
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}
