/** How much work is done, counted without a clock: what is read of watched values, and what built-in functions walk over. */

let steps = 0;

/** A value whose fields are counted when they are read, and those of all values in it. */
export function watched<T>(value: T): T {
  if (typeof value !== "object" || value === null) return value;
  const inner = new Map<unknown, unknown>();
  const wrap = (found: unknown): unknown => {
    if (typeof found !== "object" || found === null) return found;
    let known = inner.get(found);
    if (!known) inner.set(found, known = new Proxy(found, handler));
    return known;
  };
  const handler: ProxyHandler<object> = {
    get(target, name, receiver) {
      steps++;
      // Functions of a list read it through this.
      return wrap(Reflect.get(target, name, receiver));
    },
    has(target, name) {
      steps++;
      return Reflect.has(target, name);
    },
    ownKeys(target) {
      const keys = Reflect.ownKeys(target);
      steps += keys.length;
      return keys;
    },
  };
  return wrap(value) as T;
}

type Method = (this: unknown, ...args: unknown[]) => unknown;

/** What a call of a method costs, by what it was called on and what it gave. */
type Cost = (self: unknown, result: unknown, args: readonly unknown[]) => number;

const lengthOf: Cost = (self) => (self as { length: number }).length;
const untilFound: Cost = (self, result, [, from]) => {
  const end = typeof result === "number" && result >= 0 ? result + 1 : (self as { length: number }).length;
  return Math.max(1, end - (typeof from === "number" ? from : 0));
};
const untilMember: Cost = (self, result) => {
  const list = self as unknown[];
  if (result === undefined || result === false) return list.length;
  return 1 + (typeof result === "boolean" ? 0 : Math.max(0, Array.prototype.lastIndexOf.call(list, result)));
};
const made: Cost = (_self, result) => (result as { length: number } | null)?.length ?? 1;

const COSTS: readonly [object, Record<string, Cost>][] = [
  [Array.prototype, {
    includes: lengthOf,
    shift: lengthOf,
    unshift: lengthOf,
    splice: lengthOf,
    sort: lengthOf,
    toSorted: lengthOf,
    join: lengthOf,
    map: lengthOf,
    filter: lengthOf,
    flatMap: lengthOf,
    forEach: lengthOf,
    reduce: lengthOf,
    every: lengthOf,
    findIndex: untilFound,
    findLastIndex: untilFound,
    indexOf: untilFound,
    find: untilMember,
    slice: made,
    concat: made,
    flat: made,
  }],
  [String.prototype, {
    indexOf: untilFound,
    search: untilFound,
    toLowerCase: lengthOf,
    trim: lengthOf,
    trimStart: lengthOf,
  }],
  // What is not watched is looked at by these.
  [Object, { hasOwn: () => 1, keys: made, values: made, entries: made }],
  // Reading a pattern takes at least one look at each place it begins at.
  [RegExp.prototype, { [Symbol.replace]: made as Cost } as unknown as Record<string, Cost>],
];

/** The steps that a piece of work takes. What it leaves behind is of no matter: only their number is. */
export function stepsOf(work: () => unknown): number {
  const originals: [object, PropertyKey, unknown][] = [];
  for (const [prototype, costs] of COSTS) {
    for (const name of Reflect.ownKeys(costs)) {
      const original = Reflect.get(prototype, name) as Method;
      const cost = Reflect.get(costs, name) as Cost;
      originals.push([prototype, name, original]);
      Object.defineProperty(prototype, name, {
        configurable: true,
        writable: true,
        value(this: unknown, ...args: unknown[]) {
          const length = lengthOf(this, undefined, args);
          const result = original.apply(this, args);
          steps += name === "shift" || name === "splice" || name === "unshift"
            ? length
            : cost(this, result, args);
          return result;
        },
      });
    }
  }
  steps = 0;
  try {
    work();
    return steps;
  } finally {
    for (const [prototype, name, original] of originals) {
      Object.defineProperty(prototype, name, { configurable: true, writable: true, value: original });
    }
  }
}
