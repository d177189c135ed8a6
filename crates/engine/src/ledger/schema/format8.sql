-- Format 8: the arguments of a run that determine its plan and keys (`PlanArguments`, as JSON).

-- NULL: not known, because an earlier version recorded the run.
ALTER TABLE runs ADD COLUMN arguments TEXT;
