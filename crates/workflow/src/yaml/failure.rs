//! What is wrong with a text, as data: [`crate::advice`] makes a message of it.

use serde_saphyr::granit_parser::ErrorKind;
use serde_saphyr::{Error, ExternalMessageSource};

use crate::limits;
use crate::source::{Position, Source, Span};

/// Something that is wrong with a text, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Failure {
    pub(crate) kind: FailureKind,
    pub(crate) span: Span,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum FailureKind {
    /// A key that its mapping already has, at another span.
    RepeatedKey {
        key: String,
        first: Option<Span>,
    },
    /// More than a limit allows.
    Limit,
    /// An alias without an anchor above it.
    UnknownAnchor,
    /// An anchor that contains itself.
    RecursiveAnchor,
    /// `<<` with something else than a mapping.
    NoMappingToMerge,
    /// A tag that is none of YAML's own types.
    Tag(String),
    SecondDocument,
    /// Infinity, or no number, as it is written.
    NotFinite(String),
    /// A key without text.
    EmptyKey,
    /// A list or a mapping in the place of a key.
    CompoundKey,
    /// A key that is longer than any text may be.
    LongKey,
    /// What the parser refused, of a class of mistakes, in its own words.
    Syntax {
        class: SyntaxClass,
        message: String,
    },
}

/// Classes of what the parser refuses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SyntaxClass {
    /// A tab where only spaces indent.
    Tab,
    /// A line that is indented unlike those that it belongs to.
    Indentation,
    /// A plain text that YAML takes for something else.
    Unquoted,
    /// A quote that is not closed.
    OpenQuote,
    /// Text in quotes that ends too early, or has an escape that does not exist.
    Quoted,
    /// A bracket that is not closed, or what is between brackets.
    Brackets,
    Other,
}

impl Failure {
    /// What an error of the parser says of a text.
    pub(super) fn new(error: &Error, source: &Source) -> Self {
        let error = error.without_snippet();
        let span = span(error, source);
        // Inside an alias, the span is the alias's; the inner error has the cause.
        let error = if let Error::AliasError { error, .. } = error { error.without_snippet() } else { error };
        let kind = kind(error);
        let span = if kind == FailureKind::UnknownAnchor { alias_at(span, source) } else { span };
        Self { kind, span }
    }
}

fn kind(error: &Error) -> FailureKind {
    let syntax = |class, message: String| FailureKind::Syntax { class, message };
    match error {
        Error::DuplicateMappingKey { key, .. } => {
            FailureKind::RepeatedKey { key: key.clone().unwrap_or_default(), first: None }
        }
        Error::Budget { .. }
        | Error::AliasReplayLimitExceeded { .. }
        | Error::AliasExpansionLimitExceeded { .. }
        | Error::AliasReplayStackDepthExceeded { .. }
        | Error::AliasReplayCounterOverflow { .. } => FailureKind::Limit,
        Error::RecursiveReferencesRequireWeakTypes { .. } => FailureKind::RecursiveAnchor,
        Error::UnknownAnchor { .. } => FailureKind::UnknownAnchor,
        Error::MergeValueNotMapOrSeqOfMaps { .. } | Error::MergeKeyNotAllowed { .. } => {
            FailureKind::NoMappingToMerge
        }
        Error::MultipleDocuments { .. } => FailureKind::SecondDocument,
        Error::NonFiniteFloat { value, .. } => FailureKind::NotFinite(value.clone()),
        Error::NullIntoString { .. } => FailureKind::EmptyKey,
        // A tree of any value refuses nothing else.
        Error::Unexpected { .. } => FailureKind::CompoundKey,
        Error::SerdeInvalidLength { .. } => FailureKind::LongKey,
        Error::ExternalMessage { source, msg, .. } => match &**source {
            ExternalMessageSource::Parser(refusal)
                if *refusal.kind() == ErrorKind::RecursionLimitExceeded =>
            {
                FailureKind::Limit
            }
            ExternalMessageSource::Parser(refusal) => syntax(class(refusal.kind()), msg.clone()),
            _ => syntax(SyntaxClass::Other, msg.clone()),
        },
        Error::Eof { .. } => syntax(SyntaxClass::Brackets, "the file ends within a value".to_owned()),
        Error::Message { msg, .. } => syntax(SyntaxClass::Other, msg.clone()),
        other => syntax(SyntaxClass::Other, other.to_string()),
    }
}

fn class(kind: &ErrorKind) -> SyntaxClass {
    match kind {
        ErrorKind::TabNotAllowed
        | ErrorKind::TabInBlockIndentation
        | ErrorKind::TabAtBlockScalarStart
        | ErrorKind::TabInIndentation
        | ErrorKind::TabInPlainScalar => SyntaxClass::Tab,
        ErrorKind::InvalidIndentation
        | ErrorKind::ExpectedBlockMappingKey
        | ErrorKind::ExpectedBlockSequenceEntry
        | ErrorKind::SimpleKeyExpected
        | ErrorKind::InvalidSimpleKey
        | ErrorKind::InvalidBlockScalarIndent
        | ErrorKind::MappingKeyNotAllowed => SyntaxClass::Indentation,
        ErrorKind::MappingValueNotAllowed
        | ErrorKind::UnexpectedCharacter { .. }
        | ErrorKind::InvalidColonPlacement
        | ErrorKind::ExpectedNodeContent
        | ErrorKind::BlockSequenceEntryNotAllowed
        | ErrorKind::MissingAnchorOrAliasName
        | ErrorKind::InvalidBlockScalarHeader
        | ErrorKind::PlainScalarStartsWithDashFlowIndicator => SyntaxClass::Unquoted,
        ErrorKind::UnclosedQuotedScalar
        | ErrorKind::DocumentIndicatorInQuotedScalar
        | ErrorKind::InvalidQuotedScalarIndent => SyntaxClass::OpenQuote,
        ErrorKind::InvalidTrailingSingleQuotedScalar
        | ErrorKind::InvalidTrailingDoubleQuotedScalar
        | ErrorKind::UnknownQuotedScalarEscape
        | ErrorKind::InvalidQuotedScalarHexEscape => SyntaxClass::Quoted,
        ErrorKind::UnexpectedEofFlowSequence
        | ErrorKind::UnexpectedEofFlowMapping
        | ErrorKind::UnexpectedEofImplicitFlowMapping
        | ErrorKind::UnclosedFlowCollection { .. }
        | ErrorKind::MismatchedFlowCollectionEnd { .. }
        | ErrorKind::MisplacedFlowCollectionEnd
        | ErrorKind::ExpectedFlowMappingSeparator
        | ErrorKind::ExpectedFlowSequenceSeparator
        | ErrorKind::FlowMappingValueAdjacentCollection
        | ErrorKind::InvalidFlowScalarIndent
        | ErrorKind::BlockEntryInFlowCollection => SyntaxClass::Brackets,
        _ => SyntaxClass::Other,
    }
}

/// The alias that begins where the parser points.
fn alias_at(span: Span, source: &Source) -> Span {
    let rest = source.text().get(span.start()..).unwrap_or_default();
    let length = rest.find(|c: char| c.is_whitespace() || ",]}".contains(c)).unwrap_or(rest.len());
    Span::new(span.start(), span.start() + length)
}

/// What an error points at: at least one character, where there is one.
fn span(error: &Error, source: &Source) -> Span {
    let Some(location) = error.locations().map(|locations| locations.defined_location) else {
        return Span::default();
    };
    let start = location.span().byte_offset().map_or_else(
        || {
            source.offset(Position {
                line: usize::try_from(location.line()).unwrap_or(1),
                column: usize::try_from(location.column()).unwrap_or(1),
            })
        },
        |offset| offset as usize,
    );
    let length = location.span().byte_len().unwrap_or(1) as usize;
    let start = source.floor(start);
    let end = source.floor(start.saturating_add(length.clamp(1, limits::MAX_FILE_BYTES)));
    if end > start {
        return Span::new(start, end);
    }
    let next = source.text().get(start..).and_then(|rest| rest.chars().next());
    Span::new(start, start + next.map_or(0, char::len_utf8))
}
