/**
 * Fields that a server of the messages API refuses although the caller may send them to Anthropic: "Extra inputs are
 * not permitted". Clouds and other vendors add fields of the API later than Anthropic, and Claude Code sends many.
 * Such a request is sent once more without these fields, and so are later ones to the same model.
 */
import { isObject, type Loose, parseExact } from "../exchange/json.ts";

/** Keys from the root; null: every element of a list. */
type Path = readonly (string | null)[];

export interface Fitted {
  body: string;
  /** The fields that were removed, such as `tools.defer_loading`. */
  lost: string[];
}

/** Longer bodies are not parsed for this. */
const LONGEST = 2 * 1024 * 1024;
/** Per model. */
const MOST_PATHS = 30;

/** Without these, it would be another request. */
const ESSENTIAL: ReadonlySet<string | null> = new Set([
  "anthropic_version",
  "max_tokens",
  "messages",
  "model",
  "stream",
  "system",
  "tools",
]);

const REFUSALS = [
  /([A-Za-z_][\w.]*): Extra inputs are not permitted(?!, field)/g,
  /Extra inputs are not permitted, field: '([^']+)'/g,
];

/** The fields that an error message names; empty: it is another error. */
export function refusedFields(text: string): Path[] {
  if (!text.includes("Extra inputs are not permitted")) return [];
  return REFUSALS.flatMap((pattern) => [...text.matchAll(pattern)]).map(([, field]) =>
    field.replaceAll(/\[(\d+)\]/g, ".$1").split(".").map((step) => /^\d+$/.test(step) ? null : step)
  );
}

/** Removes the fields from all blocks and tools of the kinds that the paths name. Null: none is there, or one may not be removed. */
export function withoutFields(body: string, paths: readonly Path[]): Fitted | null {
  if (body.length > LONGEST) return null;
  const value = parseExact(body);
  if (!isObject(value)) return null;
  const lost = new Set<string>();
  for (const path of paths) {
    if (path.length === 1 && ESSENTIAL.has(path[0])) return null;
    // Without its schema, the answer would have another form than asked for.
    const isFormat = path[0] === "output_config" && (path[1] ?? "format") === "format";
    if (isFormat && isObject(value.output_config) && value.output_config.format !== undefined) return null;
    const steps = remove(value, path, 0);
    if (steps !== null) lost.add(steps.join("."));
  }
  return lost.size === 0 ? null : { body: JSON.stringify(value), lost: [...lost] };
}

/**
 * Removes a field. The message also names the kinds of blocks and tools, as in `tools.0.custom.defer_loading`: other
 * kinds may need a field of the same name. Returns the keys of the field; null: it is not there.
 */
function remove(holder: unknown, path: Path, at: number): string[] | null {
  if (at >= path.length) return null;
  const step = path[at];
  if (Array.isArray(holder)) {
    let found: string[] | null = null;
    if (step === null) { for (const inner of holder) found = remove(inner, path, at + 1) ?? found; }
    return found;
  }
  if (!isObject(holder) || step === null) return null;
  if (Object.hasOwn(holder, step)) {
    if (at === path.length - 1) {
      delete holder[step];
      return [step];
    }
    const inner = remove(holder[step], path, at + 1);
    if (inner !== null) return [step, ...inner];
  }
  // A kind may be a key as well: a block of the kind `text` has a `text`.
  return step === kindOf(holder) ? remove(holder, path, at + 1) : null;
}

/** The kind of a block or tool in error messages. */
function kindOf({ type }: Loose): unknown {
  return type ?? "custom";
}

/** The fields that models have refused, while this process runs. */
export class RefusedFields {
  readonly #known = new Map<string, Path[]>();

  /** @param model unique among all providers */
  fit(model: string, body: string): Fitted | null {
    const paths = this.#known.get(model);
    return paths === undefined ? null : withoutFields(body, paths);
  }

  /** The body without what a refusal names; null: it is another refusal. */
  learn(model: string, refusal: string, body: string): Fitted | null {
    const named = refusedFields(refusal);
    const fitted = named.length === 0 ? null : withoutFields(body, named);
    if (fitted === null) return null;
    const known = this.#known.get(model) ?? [];
    this.#known.set(model, [...known, ...named].slice(-MOST_PATHS));
    return fitted;
  }
}
