/**
 * Decodes streamed arguments of a call: `partialArgs`, each a JSON path (RFC 9535) and a scalar. Strings may
 * be split into several pieces with the same path.
 *
 * Paths may occur in any order, so the object is built and returned as a whole. Its objects have no
 * prototype: a path may contain `__proto__`.
 */
import { array, isNumber, isObject, type Loose } from "../../exchange/json.ts";
import { brokenAnswer } from "../failures/decode_failure.ts";

type Step = string | number;
type Node = Loose | unknown[];

/** Maximum distance of an index from the end of an array; the gap is filled with null. */
const LARGEST_GAP = 1000;
/** Maximum number of path segments. */
const DEEPEST = 100;

export class Arguments {
  #root: Loose = Object.create(null);

  /** Adds the contents of one `functionCall`: complete `args`, pieces, or nothing. */
  add(call: Loose): void {
    const whole = isObject(call.args) ? call.args : {};
    for (const key of Object.keys(whole)) this.#root[key] = whole[key];
    for (const piece of array(call.partialArgs)) {
      if (isObject(piece) && typeof piece.jsonPath === "string") this.#set(steps(piece.jsonPath), piece);
    }
  }

  /** The JSON text so far. */
  text(): string {
    return writeJson(this.#root);
  }

  #set(path: readonly Step[], piece: Loose): void {
    const last = path.at(-1);
    if (last === undefined || path.length > DEEPEST) return;
    let node: Node = this.#root;
    for (let i = 0; i < path.length - 1; i++) {
      const made: Node = typeof path[i + 1] === "number" ? [] : Object.create(null);
      const below = put(node, path[i], (old) => isNode(old) ? old : made);
      if (below === undefined) return;
      node = below as Node;
    }
    put(node, last, (old) => merged(old, piece));
  }
}

/** Serializes a parsed value. */
export function writeJson(value: unknown): string {
  try {
    return JSON.stringify(value);
  } catch {
    // V8 parses any depth, but JSON.stringify is recursive.
    throw brokenAnswer("a value in it is nested too deeply");
  }
}

/** Sets the value returned by `make`, and returns it; undefined if the segment does not fit the node. */
function put(node: Node, step: Step, make: (old: unknown) => unknown): unknown {
  if (Array.isArray(node)) {
    if (typeof step !== "number" || step > node.length + LARGEST_GAP) return undefined;
    while (node.length < step) node.push(null);
    return node[step] = make(node[step]);
  }
  return node[step] = make(node[step]);
}

/** Numbers beyond the precision of doubles are objects, too. */
function isNode(value: unknown): value is Node {
  return typeof value === "object" && value !== null && !isNumber(value);
}

function merged(old: unknown, piece: Loose): unknown {
  if (typeof piece.stringValue === "string") {
    return typeof old === "string" ? old + piece.stringValue : piece.stringValue;
  }
  if (isNumber(piece.numberValue) || typeof piece.boolValue === "boolean") {
    return piece.numberValue ?? piece.boolValue;
  }
  return "nullValue" in piece ? null : old ?? null;
}

const STEP = /\.([^.[\]]+)|\[(\d+)\]|\['((?:[^'\\]|\\.)*)'\]|\["((?:[^"\\]|\\.)*)"\]/g;

/** Parses `$.recipe.steps[0]['a key']` to ["recipe", "steps", 0, "a key"]. */
function steps(path: string): Step[] {
  return Array.from(path.matchAll(STEP), ([, name, index, single, double]): Step => {
    if (name !== undefined) return name;
    if (index !== undefined) return Number(index);
    return (single ?? double).replace(/\\(.)/g, "$1");
  });
}
