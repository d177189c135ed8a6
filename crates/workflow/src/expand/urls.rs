//! URLs and paths of media.

use url::Url;

use crate::diagnostic::{Diagnostic, Problems, shortened};
use crate::media_gate::{MediaGateError, MediaKind};
use crate::private_host::is_private_host;
use crate::source::Span;

pub(super) fn is_url(text: &str) -> bool {
    let scheme = text.get(..8).unwrap_or(text).to_ascii_lowercase();
    (scheme.starts_with("http://") && text.len() > 7)
        || (scheme.starts_with("https://") && text.len() > 8)
        || scheme.starts_with("data:")
}

pub(super) fn kind_of_url(url: &str) -> Option<MediaKind> {
    if let Some(media_type) =
        url.get(..5).filter(|scheme| scheme.eq_ignore_ascii_case("data:")).and(url.get(5..))
    {
        return MediaKind::parse(media_type.split('/').next()?);
    }
    let path = url.split(['?', '#']).next()?;
    let name = path.rsplit('/').next()?;
    match name.rsplit_once('.')?.1.to_ascii_lowercase().as_str() {
        "png" | "jpg" | "jpeg" | "webp" | "gif" => Some(MediaKind::Image),
        "mp4" | "mov" | "webm" | "mkv" => Some(MediaKind::Video),
        "mp3" | "wav" | "m4a" | "aac" | "ogg" | "flac" => Some(MediaKind::Audio),
        _ => None,
    }
}

/// Whether a string looks like the path of a local medium: no whitespace, a media file extension, and not a URL.
pub(super) fn names_a_local_file(text: &str) -> bool {
    text.len() < 500
        && !is_url(text)
        && !text.contains("://")
        && !text.contains(char::is_whitespace)
        && kind_of_url(text).is_some()
}

/// Whether a URL holds the medium itself.
pub(super) fn is_data_uri(url: &str) -> bool {
    url.get(..5).is_some_and(|scheme| scheme.eq_ignore_ascii_case("data:"))
}

/// Whether a URL holds data, or the service can fetch what it names; if not, that is reported.
pub(super) fn is_fetchable(url: &str, span: Span, problems: &mut Problems) -> bool {
    if is_data_uri(url) {
        return true;
    }
    let checked = check_url(url);
    if let Err(MediaGateError { message, help }) = &checked {
        problems.push(Diagnostic::error("bad-medium", span, message.as_str()).help(help.as_str()));
    } else if let Some(MediaGateError { message, help }) = unreachable(url) {
        problems.push(Diagnostic::warning("service-may-refuse", span, message).help(help));
    }
    checked.is_ok()
}

/// Checks that a text is the URL of something that the service can fetch.
pub(super) fn check_url(text: &str) -> Result<(), MediaGateError> {
    let refuse = |message: String| {
        Err(MediaGateError {
            message,
            help: "write an address such as `https://media.example/still.png`".to_owned(),
        })
    };
    if text.contains(|c: char| c.is_whitespace() || c.is_control()) {
        return refuse("a URL has no spaces".to_owned());
    }
    if !is_url(text) && !text.get(..4).is_some_and(|scheme| scheme.eq_ignore_ascii_case("http")) {
        return refuse("the service fetches media over `https://` and `http://` alone".to_owned());
    }
    let host = text.split_once("://").map_or("", |(_, rest)| rest);
    match Url::parse(text) {
        Ok(_) if host.is_empty() || host.starts_with(['/', '\\', '?', '#']) => {
            refuse("this URL names no host".to_owned())
        }
        Ok(_) => Ok(()),
        Err(url::ParseError::EmptyHost) => refuse("this URL names no host".to_owned()),
        Err(error) => refuse(format!("this is no valid URL: {error}")),
    }
}

/// Why a service cannot fetch what a valid URL names from the public internet.
pub(super) fn unreachable(text: &str) -> Option<MediaGateError> {
    if is_data_uri(text) || !is_url(text) {
        return None;
    }
    let url = Url::parse(text).ok()?;
    if !url.username().is_empty() || url.password().is_some() {
        return Some(MediaGateError {
            message: "this URL has a user name or a password in it: a service may refuse it".to_owned(),
            help: "use a URL that needs no login, or a local file, which is sent inside the request"
                .to_owned(),
        });
    }
    let host = url.host_str().filter(|_| is_private_host(&url))?;
    Some(MediaGateError {
        message: format!(
            "`{}` is of this machine or of a private network: a service may be unable to fetch from there",
            shortened(host)
        ),
        help: "use a public URL, or a local file, which is sent inside the request".to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn media_kind_is_derived_from_url() {
        assert_eq!(kind_of_url("https://x.example/a/b.JPG?sig=1"), Some(MediaKind::Image));
        assert_eq!(kind_of_url("data:audio/wav;base64,AAAA"), Some(MediaKind::Audio));
        assert_eq!(kind_of_url("https://x.example/a"), None);
        assert_eq!(kind_of_url("äöü"), None);
        assert!(names_a_local_file("stills/a.png") && names_a_local_file("a.MOV"));
        assert!(!names_a_local_file("a still.png of her") && !names_a_local_file("https://x.example/a.png"));
        assert!(is_url("HTTPS://x.example/"));
        for text in ["stills/a.png", "https:/x", "http://", "ftp://x/y", ""] {
            assert!(!is_url(text), "{text}");
        }
    }

    #[test]
    fn urls_have_a_scheme_a_host_and_a_port() {
        for good in
            ["https://x.example/a.png", "HTTP://x:8080", "http://[::1]/a", "https://exämple/ä.png?a#b"]
        {
            assert!(check_url(good).is_ok(), "{good}");
        }
        for bad in [
            "http://",
            "http:///a",
            "https://?x",
            "https://x:99999/a",
            "https://x:y/a",
            "http://[::1/a",
            "ftp://x/a",
            "https://x.example/a b.png",
            " https://x.example/a",
            "file:///etc/passwd",
            "http:/x",
            "https://x\n/a",
        ] {
            assert!(check_url(bad).is_err(), "{bad}");
        }
    }
}
