/** A source of time. Passed as an argument, so that tests can replace it. */
export interface Clock {
  /** Milliseconds. */
  now(): number;
}
