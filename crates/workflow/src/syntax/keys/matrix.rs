//! The keys of a matrix that are not axes, and of an axis that is a mapping.

use super::{Shape, object};

// A matrix. Its other keys are axes.
object! { MATRIX = "matrix":
    INCLUDE = "include": Shape::Rules,
    EXCLUDE = "exclude": Shape::Rules,
    ZIP = "zip": Shape::Axes,
}

// An axis of numbers.
object! { RANGE = "range":
    FROM = "from": Shape::Number,
    TO = "to": Shape::Number,
    STEP = "step": Shape::Number,
}

// An axis of the rows of a table.
object! { CSV_AXIS = "csv":
    CSV = "csv": Shape::FileName,
}

// An axis of file names.
object! { FILES_AXIS = "files":
    FILES = "files": Shape::FilePattern,
}
