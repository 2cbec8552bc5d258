/** A source of time. Parts get one as an argument, so that tests can move it. */
export interface Clock {
  /** Milliseconds. */
  now(): number;
}
