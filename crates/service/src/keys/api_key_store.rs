//! [`ApiKeyStore`]: creates, lists and revokes the keys of a data directory, also while a service runs on it.

use std::path::Path;

use rusqlite::{Connection, OptionalExtension as _, Row, named_params};
use secrecy::SecretString;

use super::{Key, KeyId, Permissions, api_keys::digest_of};
use crate::{
    clock::Clock,
    config::Durability,
    digest::Digest,
    error::ServiceError,
    id::{Randomness, token},
    limits::KeyLimits,
    store,
};

/// The API keys of a data directory. Changes apply to a running service at once.
#[derive(Debug)]
pub struct ApiKeyStore {
    connection: Connection,
}

/// A key to create.
#[derive(Debug, Clone)]
pub struct NewKey {
    /// Its name, unique among active keys.
    pub name: String,
    pub permissions: Permissions,
    /// Its limits; `None` uses those of the service.
    pub limits: Option<KeyLimits>,
}

/// A key without its secret, which is not stored.
#[derive(Debug, Clone, PartialEq)]
pub struct KeyEntry {
    /// Identifies the key in tasks and logs.
    pub id: KeyId,
    pub name: String,
    pub permissions: Permissions,
    /// Its limits, if not those of the service.
    pub limits: Option<KeyLimits>,
    /// When it was created, in milliseconds since the epoch.
    pub created_at: i64,
    /// When it was revoked, in milliseconds since the epoch.
    pub revoked_at: Option<i64>,
    /// Tasks accepted with it.
    pub tasks: u64,
    /// Milliseconds of video that count against its quota.
    pub video_ms: u64,
}

impl ApiKeyStore {
    /// Opens the keys of a data directory, which is created if missing.
    ///
    /// # Errors
    /// When the directory or its database cannot be used.
    pub fn open(data: &Path) -> Result<Self, ServiceError> {
        Ok(Self { connection: store::open_database(data, Durability::PowerCut)? })
    }

    /// Creates a key and returns its secret, which cannot be retrieved later.
    ///
    /// # Errors
    /// When the name is empty or taken, or the database cannot be written.
    pub fn add(
        &self,
        new: &NewKey,
        clock: &dyn Clock,
        randomness: &dyn Randomness,
    ) -> Result<SecretString, ServiceError> {
        let name = new.name.trim();
        if name.is_empty() || name.len() > 100 {
            return Err(ServiceError::KeyName("a key's name has 1 to 100 characters".to_owned()));
        }
        let random = |_| ServiceError::KeyName("no randomness is available for a new key".to_owned());
        let secret = format!("sk-{}", token(randomness).map_err(random)?);
        let id = format!("key_{}", &token(randomness).map_err(random)?[..10]);
        let limits = new.limits.as_ref().map(serde_json::to_string).transpose().map_err(store::corrupt)?;
        let added = self
            .connection
            .execute(
                "INSERT INTO api_key (id, name, digest, full_hd, limits, created_at)
                 SELECT :id, :name, :digest, :full_hd, :limits, :now
                 WHERE NOT EXISTS (SELECT 1 FROM api_key WHERE name = :name AND revoked_at IS NULL)",
                named_params! {
                    ":id": id,
                    ":name": name,
                    ":digest": digest_of(&secret).as_bytes(),
                    ":full_hd": new.permissions.full_hd,
                    ":limits": limits,
                    ":now": clock.now_ms(),
                },
            )
            .map_err(store::database)?;
        if added == 0 {
            return Err(ServiceError::KeyName(format!(
                "a key named `{name}` exists: choose another name or revoke it first"
            )));
        }
        Ok(SecretString::from(secret))
    }

    /// All keys, oldest first, revoked ones included.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn list(&self) -> Result<Vec<KeyEntry>, ServiceError> {
        entries(&self.connection).map_err(store::database)
    }

    /// Changes permissions and limits of the active key of that name or id; `change` gets the present ones, where `None`
    /// are the service's own. `false` if there is no such key.
    ///
    /// # Errors
    /// When the database cannot be read or written.
    pub fn set(
        &self,
        name_or_id: &str,
        change: impl FnOnce(Permissions, Option<KeyLimits>) -> (Permissions, Option<KeyLimits>),
    ) -> Result<bool, ServiceError> {
        let is_meant = |key: &KeyEntry| {
            key.revoked_at.is_none() && (key.name == name_or_id || key.id.as_str() == name_or_id)
        };
        let Some(key) = self.list()?.into_iter().find(is_meant) else { return Ok(false) };
        let (permissions, limits) = change(key.permissions, key.limits);
        let limits = limits.as_ref().map(serde_json::to_string).transpose().map_err(store::corrupt)?;
        let changed = self
            .connection
            .execute(
                "UPDATE api_key SET full_hd = :full_hd, limits = :limits WHERE id = :id AND revoked_at IS NULL",
                named_params! { ":full_hd": permissions.full_hd, ":limits": limits, ":id": key.id.as_str() },
            )
            .map_err(store::database)?;
        Ok(changed > 0)
    }

    /// Revokes the active key of that name or id; `false` if there is none. Its tasks are unaffected.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn revoke(&self, name_or_id: &str, clock: &dyn Clock) -> Result<bool, ServiceError> {
        let revoked = self
            .connection
            .execute(
                "UPDATE api_key SET revoked_at = :now
                 WHERE (name = :name_or_id OR id = :name_or_id) AND revoked_at IS NULL",
                named_params! { ":now": clock.now_ms(), ":name_or_id": name_or_id },
            )
            .map_err(store::database)?;
        Ok(revoked > 0)
    }
}

fn entries(connection: &Connection) -> rusqlite::Result<Vec<KeyEntry>> {
    let mut statement = connection.prepare(
        "SELECT k.id, k.name, k.full_hd, k.limits, k.created_at, k.revoked_at,
                coalesce(u.tasks, 0), coalesce(u.video_ms, 0)
         FROM api_key k LEFT JOIN key_usage u ON u.key = k.id ORDER BY k.created_at, k.rowid",
    )?;
    let rows = statement.query_map([], |row| {
        Ok(KeyEntry {
            id: KeyId(row.get(0)?),
            name: row.get(1)?,
            permissions: Permissions { full_hd: row.get(2)? },
            limits: own_limits(row, 3)?,
            created_at: row.get(4)?,
            revoked_at: row.get(5)?,
            tasks: store::unsigned(row.get(6)?),
            video_ms: store::unsigned(row.get(7)?),
        })
    })?;
    rows.collect()
}

/// The active key whose secret has this digest.
pub(crate) fn active_key(
    connection: &Connection,
    digest: &Digest,
    default: &KeyLimits,
) -> rusqlite::Result<Option<Key>> {
    connection
        .prepare_cached(
            "SELECT id, name, full_hd, limits FROM api_key WHERE digest = ?1 AND revoked_at IS NULL",
        )?
        .query_row([digest.as_bytes()], |row| {
            Ok(Key {
                id: KeyId(row.get(0)?),
                name: row.get(1)?,
                permissions: Permissions { full_hd: row.get(2)? },
                limits: own_limits(row, 3)?.unwrap_or_else(|| default.clone()),
            })
        })
        .optional()
}

fn own_limits(row: &Row<'_>, column: usize) -> rusqlite::Result<Option<KeyLimits>> {
    let text: Option<String> = row.get(column)?;
    text.map(|text| serde_json::from_str(&text)).transpose().map_err(|error| {
        rusqlite::Error::FromSqlConversionFailure(column, rusqlite::types::Type::Text, error.into())
    })
}

/// Milliseconds of video that count against a key's quota.
pub(crate) fn used_ms(connection: &Connection, key: &KeyId) -> rusqlite::Result<u64> {
    let used = connection
        .query_row("SELECT video_ms FROM key_usage WHERE key = ?1", [key.as_str()], |row| row.get(0));
    Ok(store::unsigned(used.optional()?.unwrap_or_default()))
}
