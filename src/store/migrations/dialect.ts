import type { Engine } from "../engine.ts";

/** What a step has to know of the engine. */
export interface Dialect {
  readonly kind: Engine["kind"];
  /** The type of amounts. */
  readonly money: string;
  /** True: there are so many generations that an index of them takes longer than a start may. */
  readonly large: boolean;
}
