//! Values of axes.

use std::sync::Arc;

use serde_json::Value;

use crate::source::{Span, Spanned};

/// A value of an axis, shared by all cells that have it: a row of a table can be large.
pub(crate) type AxisValue = Spanned<Arc<Value>>;

/// The values of an axis, in order.
pub(crate) type Values = Vec<AxisValue>;

/// A value of an axis.
pub(super) fn value(value: Value, span: Span) -> AxisValue {
    Spanned::new(Arc::new(value), span)
}
