/** Levels of log lines. `warn`: something failed, or an operator has to look at it. */
export type Level = "info" | "warn";
