//! The SQL form of quantities and times: integers, and seconds as `REAL` for the probed length of a file.

use std::time::Duration;

use rusqlite::types::{FromSql, FromSqlError, FromSqlResult, ToSql, ToSqlOutput, Type, ValueRef};
use rusqlite::{Connection, Row};
use scheduler::{Artifact, ModificationTime, Timestamp};
use serde::de::DeserializeOwned;
use workflow::units::{Micros, Milliseconds, Money, NumberOf, Seconds, VideoDuration};

/// A value in its SQL form.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sql<T>(pub(super) T);

/// A value that can be read from its SQL form.
pub(super) trait FromColumn: Sized {
    fn from_column(value: ValueRef<'_>) -> FromSqlResult<Self>;
}

impl<T: FromColumn> FromSql for Sql<T> {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        T::from_column(value).map(Self)
    }
}

/// A column of a row.
pub(super) fn column<T: FromColumn>(row: &Row<'_>, index: usize) -> rusqlite::Result<T> {
    row.get(index).map(|Sql(value)| value)
}

/// A column of JSON text.
pub(super) fn json_column<T: DeserializeOwned>(row: &Row<'_>, index: usize) -> rusqlite::Result<T> {
    serde_json::from_str(&row.get::<_, String>(index)?)
        .map_err(|error| rusqlite::Error::FromSqlConversionFailure(index, Type::Text, error.into()))
}

/// A quantity is stored as a number of units ([`NumberOf`]). A number that is no quantity, such as a negative amount of money, is an error when
/// it is read.
macro_rules! stored_as {
    ($($type:ty: $unit:ty),*) => {$(
        impl ToSql for Sql<$type> {
            fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
                Ok(NumberOf::<$unit>::to_number(&self.0).into())
            }
        }

        impl FromColumn for $type {
            fn from_column(value: ValueRef<'_>) -> FromSqlResult<Self> {
                let number = FromSql::column_result(value)?;
                <$type as NumberOf<$unit>>::from_number(number).ok_or(FromSqlError::InvalidType)
            }
        }
    )*};
}

stored_as!(Money: Micros, VideoDuration: Milliseconds, Duration: Seconds);

macro_rules! stored_as_integer {
    ($($type:ident),*) => {$(
        impl ToSql for Sql<$type> {
            fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
                Ok(self.0.0.into())
            }
        }

        impl FromColumn for $type {
            fn from_column(value: ValueRef<'_>) -> FromSqlResult<Self> {
                i64::column_result(value).map($type)
            }
        }
    )*};
}

stored_as_integer!(Timestamp, ModificationTime);

/// A count. SQLite's integers are signed: what does not fit is stored as the largest.
impl ToSql for Sql<u64> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(i64::try_from(self.0).unwrap_or(i64::MAX).into())
    }
}

impl FromColumn for u64 {
    fn from_column(value: ValueRef<'_>) -> FromSqlResult<Self> {
        let number = i64::column_result(value)?;
        Self::try_from(number).map_err(|_| FromSqlError::OutOfRange(number))
    }
}

/// `None` for `NULL`. To write an `Option`, map it to `Option<Sql<T>>`.
impl<T: FromColumn> FromColumn for Option<T> {
    fn from_column(value: ValueRef<'_>) -> FromSqlResult<Self> {
        match value {
            ValueRef::Null => Ok(None),
            value => T::from_column(value).map(Some),
        }
    }
}

/// The columns of [`artifact`].
macro_rules! artifact_columns {
    () => {
        "f.path, f.sha256, f.first_sha256, f.bytes, f.seconds, f.width, f.height, f.last_frame_url, f.expires_at, f.modified_ns"
    };
}
pub(super) use artifact_columns;

/// The stored video of an attempt, from the column `first` on; its path is the stored one. `None` without a video.
pub(super) fn artifact(row: &Row<'_>, first: usize) -> rusqlite::Result<Option<Artifact>> {
    let Some(path) = row.get::<_, Option<String>>(first)? else { return Ok(None) };
    Ok(Some(Artifact {
        path: path.into(),
        sha256: row.get(first + 1)?,
        first_sha256: row.get(first + 2)?,
        bytes: column(row, first + 3)?,
        duration: column(row, first + 4)?,
        width: row.get(first + 5)?,
        height: row.get(first + 6)?,
        last_frame_url: row.get(first + 7)?,
        expires_at: column(row, first + 8)?,
        modified_at: column(row, first + 9)?,
    }))
}

/// What `read` makes of each row of a query.
pub(super) fn rows<T, R: FromIterator<T>>(
    connection: &Connection,
    query: &str,
    parameters: impl rusqlite::Params,
    read: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
) -> rusqlite::Result<R> {
    connection.prepare_cached(query)?.query_map(parameters, read)?.collect()
}

/// An update of a record that exists. Without it, an earlier state of the ledger was restored into its file ([`super::LedgerError::Replaced`]).
pub(super) fn one_row(changed: usize) -> rusqlite::Result<()> {
    if changed == 1 { Ok(()) } else { Err(rusqlite::Error::StatementChangedRows(changed)) }
}

#[cfg(test)]
mod tests {
    use rusqlite::Connection;

    use super::*;

    #[test]
    fn quantities_are_stored_as_numbers_of_their_units() {
        let connection = Connection::open_in_memory().unwrap();
        let columns = (
            Sql(Money::from_micros(250_000)),
            Sql(VideoDuration::from_millis(4_500)),
            Sql(Duration::from_nanos(5_041_666_666)),
            Sql(Timestamp(-1)),
            Sql(u64::MAX),
            None::<Sql<Money>>,
        );
        let (text, row) = connection
            .query_row(
                "SELECT concat_ws(' ', ?1, ?2, ?3, ?4, ?5, typeof(?6)), ?1, ?2, ?3, ?4, ?6",
                columns,
                |row| {
                    let read: (Money, VideoDuration, Duration, Timestamp, Option<Money>) =
                        (column(row, 1)?, column(row, 2)?, column(row, 3)?, column(row, 4)?, column(row, 5)?);
                    Ok((row.get::<_, String>(0)?, read))
                },
            )
            .unwrap();
        assert_eq!(text, "250000 4500 5.041666666 -1 9223372036854775807 null");
        let Sql(money) = columns.0;
        assert_eq!(row, (money, columns.1.0, columns.2.0, columns.3.0, None));
    }

    #[test]
    fn a_number_that_is_no_quantity_is_an_error() {
        let connection = Connection::open_in_memory().unwrap();
        let read = |sql: &str| connection.query_row(sql, [], |row| column::<Money>(row, 0));
        assert_eq!(read("SELECT 1").unwrap(), Money::from_micros(1));
        for sql in ["SELECT -1", "SELECT NULL", "SELECT 'a'"] {
            read(sql).expect_err(sql);
        }
    }
}
