//! Authentication by bearer key (spec 5), before any other check.

use std::sync::Arc;

use axum::{
    extract::{ConnectInfo, FromRequestParts},
    http::{HeaderMap, header, request::Parts},
};

use super::{AppState, ConnectionHandle};
use crate::{
    api_error::{ApiError, ApiErrorKind},
    keys::{ApiKeyCache, Key},
};

/// Extractor: the authenticated key of a request.
pub(super) struct Caller(pub(super) Arc<Key>);

impl FromRequestParts<Arc<AppState>> for Caller {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &Arc<AppState>) -> Result<Self, ApiError> {
        let key = authenticate(&parts.headers, &state.keys)?;
        if let Some(ConnectInfo(connection)) = parts.extensions.get::<ConnectInfo<ConnectionHandle>>() {
            connection.authenticated();
        }
        Ok(Self(key))
    }
}

pub(super) fn authenticate(headers: &HeaderMap, keys: &ApiKeyCache) -> Result<Arc<Key>, ApiError> {
    let rejected = |code, message| Err(ApiError::new(ApiErrorKind::Unauthenticated, code, message));
    let mut values = headers.get_all(header::AUTHORIZATION).iter();
    let (Some(header), None) = (values.next(), values.next()) else {
        return rejected("missing_api_key", "one header `Authorization: Bearer <API_KEY>` is needed");
    };
    let presented = header.to_str().ok().and_then(|value| value.trim().split_once(' '));
    let Some((_, secret)) = presented.filter(|(scheme, _)| scheme.eq_ignore_ascii_case("bearer")) else {
        return rejected("missing_api_key", "the header `Authorization` has the form `Bearer <API_KEY>`");
    };
    match keys.find(secret.trim()) {
        Some(key) => Ok(key),
        None => rejected("invalid_api_key", "the API key is not valid"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::KeyLimits;
    use axum::http::HeaderValue;
    use secrecy::SecretString;

    fn code(values: &[&[u8]]) -> Result<(), String> {
        let ring = ApiKeyCache::with_single_key(&SecretString::from("sk-1"), KeyLimits::default());
        let mut headers = HeaderMap::new();
        for value in values {
            headers.append(header::AUTHORIZATION, HeaderValue::from_bytes(value).unwrap());
        }
        authenticate(&headers, &ring).map(|_| ()).map_err(|error| error.code.into_owned())
    }

    #[test]
    fn authenticate_accepts_one_bearer_header_only() {
        assert_eq!(code(&[b"Bearer sk-1"]), Ok(()));
        assert_eq!(code(&[b"bearer   sk-1 "]), Ok(()));
        let odd: [&[&[u8]]; 5] = [&[], &[b"sk-1"], &[b"Basic sk-1"], &[b"Bearer"], &[b"\xff\xfe x"]];
        for missing in odd {
            assert_eq!(code(missing), Err("missing_api_key".to_owned()), "{missing:?}");
        }
        assert_eq!(code(&[b"Bearer sk-1", b"Bearer sk-1"]), Err("missing_api_key".to_owned()));
        assert_eq!(code(&[b"Bearer sk-2"]), Err("invalid_api_key".to_owned()));
        assert_eq!(code(&[b"Bearer sk-1 x"]), Err("invalid_api_key".to_owned()));
    }
}
