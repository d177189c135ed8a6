//! Who calls (spec 5): the bearer key, checked before anything else is looked at.

use std::sync::Arc;

use axum::{
    extract::FromRequestParts,
    http::{HeaderMap, header, request::Parts},
};

use super::Front;
use crate::{
    keys::{Key, KeyRing},
    refusal::{Refusal, RefusalKind},
};

/// The key that a request came with.
pub(super) struct Caller(pub(super) Arc<Key>);

impl FromRequestParts<Arc<Front>> for Caller {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, front: &Arc<Front>) -> Result<Self, Refusal> {
        authenticate(&parts.headers, &front.keys).map(Self)
    }
}

pub(super) fn authenticate(headers: &HeaderMap, keys: &KeyRing) -> Result<Arc<Key>, Refusal> {
    let refused = |code, message| Err(Refusal::new(RefusalKind::Unauthenticated, code, message));
    let mut given = headers.get_all(header::AUTHORIZATION).iter();
    let (Some(header), None) = (given.next(), given.next()) else {
        return refused("missing_api_key", "one header `Authorization: Bearer <API_KEY>` is needed");
    };
    let presented = header.to_str().ok().and_then(|value| value.trim().split_once(' '));
    let Some((_, secret)) = presented.filter(|(scheme, _)| scheme.eq_ignore_ascii_case("bearer")) else {
        return refused("missing_api_key", "the header `Authorization` has the form `Bearer <API_KEY>`");
    };
    match keys.find(secret.trim()) {
        Some(key) => Ok(key),
        None => refused("invalid_api_key", "the API key is not valid"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::KeyLimits;
    use axum::http::HeaderValue;
    use secrecy::SecretString;

    fn code(values: &[&[u8]]) -> Result<(), String> {
        let ring = KeyRing::given(&SecretString::from("sk-1"), KeyLimits::default());
        let mut headers = HeaderMap::new();
        for value in values {
            headers.append(header::AUTHORIZATION, HeaderValue::from_bytes(value).unwrap());
        }
        authenticate(&headers, &ring).map(|_| ()).map_err(|refusal| refusal.code.into_owned())
    }

    #[test]
    fn the_key_comes_in_one_bearer_header() {
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
