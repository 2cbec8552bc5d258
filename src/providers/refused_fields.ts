/**
 * Fields that a server of the messages API refuses although the caller may send them to Anthropic: "Extra inputs are
 * not permitted". Clouds and other vendors add fields of the API later than Anthropic, and Claude Code sends many.
 * Such a request is sent once more without these fields, and so are later ones of the same key to the same model for
 * an hour.
 *
 * Error messages repeat values of the request, so a caller could write such a message into them. What is learned
 * from one caller's request therefore concerns no other caller.
 */
import { Failure } from "../exchange/failure.ts";
import { isObject, type Loose } from "../exchange/json.ts";

/** Keys from the root; null: every element of a list. */
type Path = readonly (string | null)[];

export interface Fitted {
  body: Loose;
  /** The fields that were left out, such as `tools.defer_loading`. */
  lost: string[];
}

/** Leaves fields out of the body of a request, which is not changed itself. */
export type Fit = (body: Loose) => Fitted;

/** Per key and model. */
const MOST_PATHS = 30;
/** How often a request is sent again without refused fields: a server may name one field at a time. */
const MOST_FITS = 8;
/** After this time the fields are sent again: the server may have learned them. */
const KEPT_MS = 3_600_000;

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

/** Without these, a message, block or tool would be another one. */
const ESSENTIAL_INSIDE: ReadonlySet<string> = new Set([
  "content",
  "id",
  "input",
  "input_schema",
  "name",
  "role",
  "source",
  "tool_use_id",
  "type",
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

/** Leaves the fields out of all blocks and tools of the kinds that the paths name, as far as the request is still the same without them. */
export function withoutFields(body: Loose, paths: readonly Path[]): Fitted {
  const lost = new Set<string>();
  let fitted: unknown = body;
  for (const path of paths) {
    if (path.length === 1 && ESSENTIAL.has(path[0])) continue;
    // Without its schema, the answer would have another form than asked for.
    const isFormat = path[0] === "output_config" && (path[1] ?? "format") === "format";
    if (isFormat && isObject(body.output_config) && body.output_config.format !== undefined) continue;
    fitted = without(fitted, path, 0, (steps) => lost.add(steps.join(".")));
  }
  return { body: fitted as Loose, lost: [...lost] };
}

/**
 * A value without a field; the same value if it is not there. The message also names the kinds of blocks and tools, as in
 * `tools.0.custom.defer_loading`: other kinds may need a field of the same name.
 * @param found called with the keys of the field
 */
function without(holder: unknown, path: Path, at: number, found: (steps: string[]) => void): unknown {
  if (at >= path.length) return holder;
  const step = path[at];
  if (Array.isArray(holder)) {
    if (step !== null) return holder;
    const inner = holder.map((one) => without(one, path, at + 1, found));
    return inner.some((one, i) => one !== holder[i]) ? inner : holder;
  }
  if (!isObject(holder) || step === null) return holder;
  if (Object.hasOwn(holder, step)) {
    if (at === path.length - 1) {
      // A block of the kind `text` is nothing without its `text`.
      if (at > 0 && (ESSENTIAL_INSIDE.has(step) || step === kindOf(holder))) return holder;
      found([step]);
      const { [step]: _, ...rest } = holder;
      return rest;
    }
    const inner = without(holder[step], path, at + 1, (steps) => found([step, ...steps]));
    if (inner !== holder[step]) return { ...holder, [step]: inner };
  }
  // A kind may be a key as well: a block of the kind `text` has a `text`.
  return step === kindOf(holder) ? without(holder, path, at + 1, found) : holder;
}

/** The kind of a block or tool in error messages. */
function kindOf({ type }: Loose): unknown {
  return type ?? "custom";
}

/** The fields that a model has refused lately in requests of one key. */
export class RefusedFields {
  readonly fit: Fit;
  readonly paths: readonly Path[];
  /** When they are forgotten. */
  readonly until: number;

  constructor(paths: readonly Path[], now: number) {
    this.paths = paths.slice(-MOST_PATHS);
    this.fit = (body) => withoutFields(body, this.paths);
    this.until = now + KEPT_MS;
  }
}

export interface Refusal<Request, Answer> {
  refused: Failure;
  /** The fields that the model has refused before; undefined: none. */
  known: RefusedFields | undefined;
  /** Called with these and those of the refusal. */
  learn(fields: RefusedFields): void;
  /** Builds the request again. */
  prepare(fit: Fit): Request | Promise<Request>;
  ask(request: Request): Promise<Answer | Failure>;
  now(): number;
}

/** The answer to the request without the fields that a refusal names; the refusal itself if it is another one. */
export async function askWithoutRefused<Request, Answer>(
  { refused, known, learn, prepare, ask, now }: Refusal<Request, Answer>,
): Promise<Answer | Failure> {
  let last = refused;
  let before = -1;
  for (let fits = 0; fits < MOST_FITS; fits++) {
    const named = refusedFields(last.message);
    if (named.length === 0) return last;
    const more = new RefusedFields([...known?.paths ?? [], ...named], now());
    let lost = 0;
    const request = await prepare((body) => {
      if (before < 0) before = known?.fit(body).lost.length ?? 0;
      const fitted = more.fit(body);
      lost = fitted.lost.length;
      return fitted;
    });
    // They are not there, or may not be left out.
    if (lost <= before) return last;
    before = lost;
    known = more;
    learn(more);
    const got = await ask(request);
    if (!(got instanceof Failure)) return got;
    last = got;
  }
  return last;
}
