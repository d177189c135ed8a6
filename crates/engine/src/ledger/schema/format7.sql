-- Format 7: the id of a task that the response to an indeterminate submission named.

-- NULL: none. It is no task of the attempt until a person adopts it.
ALTER TABLE attempts ADD COLUMN suggested_task TEXT;
-- Before, it was the end of the reason.
UPDATE attempts SET suggested_task = substr(failure, instr(failure, '; the response names ') + length('; the response names '))
    WHERE state = 'indeterminate' AND instr(failure, '; the response names ') > 0;
