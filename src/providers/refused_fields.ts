/**
 * Fields that a server refuses although the caller may send them to the vendor of its API: clouds and other vendors add
 * fields of the messages API later than Anthropic, and Claude Code sends many; servers of chat-completions do not know all
 * fields of OpenAI. Such a request is sent once more without these fields, and so are later ones of the same key to the
 * same model for an hour.
 *
 * Error messages repeat values of the request, so a caller could write such a message into them. What is learned
 * from one caller's request therefore concerns no other caller.
 */
import { Failure } from "../exchange/failure.ts";
import { array, isObject, type Loose } from "../exchange/json.ts";

/** Keys from the root; null: every element of a list. */
type Path = readonly (string | null)[];

export interface Fitted {
  body: Loose;
  /** The fields that were left out, such as `tools.defer_loading`. */
  lost: string[];
}

export type Headers = Readonly<Record<string, string>> | undefined;

/** Leaves fields out of the body of a request, which is not changed itself. @param headers of the caller */
export type Fit = (body: Loose, headers: Headers) => Fitted;

/** Per key, model and features. */
const MOST_PATHS = 30;
/** Per key and model. */
const MOST_FEATURES = 50;
/** Longer lists of features are cut. */
const MOST_CHARS = 2000;
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

/**
 * Fields of OpenAI without which a chat-completions request is still answered as asked for, except for a detail. Those of
 * messages and tools may be removed too. The refusal of any other field is the caller's to read.
 */
const OPTIONAL_IN_CHAT: ReadonlySet<string | null> = new Set([
  "frequency_penalty",
  "logit_bias",
  "logprobs",
  "messages",
  "metadata",
  "moderation",
  "parallel_tool_calls",
  "prediction",
  "presence_penalty",
  "prompt_cache_key",
  "prompt_cache_options",
  "prompt_cache_retention",
  "reasoning_effort",
  "safety_identifier",
  "seed",
  "service_tier",
  "stop",
  "store",
  "stream_options",
  "temperature",
  "tools",
  "top_logprobs",
  "top_p",
  "user",
  "verbosity",
]);

/** Without these, a message, block or tool would be another one. */
const ESSENTIAL_INSIDE: ReadonlySet<string> = new Set([
  "arguments",
  "content",
  "function",
  "id",
  "image_url",
  "input",
  "input_schema",
  "name",
  "parameters",
  "role",
  "source",
  "tool_call_id",
  "tool_calls",
  "tool_use_id",
  "type",
]);

/** Of a message, these say nothing that its content does not say. */
const OPTIONAL_OF_MESSAGE: ReadonlySet<string> = new Set(["id", "name", "type"]);

/** Behind the name of a field, unless the name follows. */
const BEHIND = ": Extra inputs are not permitted";
const FOLLOWS = ", field";
/** Longer names are cut. */
const LONGEST_NAME = 300;

/** The field, and the object that has it if it is named separately. */
const REFUSALS = [
  /Extra inputs are not permitted, field: '(?<field>[^']{1,300})'/g,
  // A list of errors of FastAPI (Mistral, vLLM), in JSON or as printed by Python.
  /["']type["']: ?["']extra_forbidden["'], ?["']loc["']: ?[[(](?<field>[^\])]{1,300})[\])]/g,
  // Groq and Cerebras
  /(?:'(?<object>[\w.]{1,300})' ?: )?property '(?<field>[\w.]{1,300})' is unsupported/g,
  // Google
  /Unknown name "(?<field>\w{1,300})"(?: at '(?<object>[^']{1,300})')?: Cannot find field/g,
  // OpenAI's own, which others imitate
  /Unrecognized request arguments? supplied: (?<field>\w{1,300})/g,
  /Unknown parameter: '(?<field>[^']{1,300})'/g,
];

/** The fields that an error message names; empty: it is another error. */
export function refusedFields(text: string): Path[] {
  const plain = text.replaceAll('\\"', '"');
  const fields: string[] = [];
  for (let at = plain.indexOf(BEHIND); at >= 0; at = plain.indexOf(BEHIND, at + 1)) {
    if (plain.startsWith(FOLLOWS, at + BEHIND.length)) continue;
    const [name] = /[A-Za-z_][\w.]*$/.exec(plain.slice(Math.max(0, at - LONGEST_NAME), at)) ?? [];
    if (name !== undefined) fields.push(name);
  }
  for (const pattern of REFUSALS) {
    for (const { groups } of plain.matchAll(pattern)) {
      const { object, field } = groups!;
      fields.push(object === undefined ? field : `${object}.${field}`);
    }
  }
  return fields.slice(0, MOST_PATHS).map(pathOf).filter((path) => path.length > 0);
}

/** `tools[0].name`, `body.tools.0.name` or `"body", "tools", 0, "name"`. */
function pathOf(field: string): Path {
  const steps = field.replaceAll(/["'\s]/g, "").split(/[.,[\]]+/).filter((step) => step !== "");
  return (steps[0] === "body" ? steps.slice(1) : steps).map((step) => /^\d+$/.test(step) ? null : step);
}

/**
 * Leaves the fields out of all messages, blocks and tools of the kinds that the paths name, as far as the request is still the
 * same without them.
 * @param chat the request is one of chat-completions
 */
export function withoutFields(body: Loose, paths: readonly Path[], chat = false): Fitted {
  const lost = new Set<string>();
  let fitted: unknown = body;
  for (const path of paths) {
    if (path.length === 1 && ESSENTIAL.has(path[0])) continue;
    if (chat && !OPTIONAL_IN_CHAT.has(path[0])) continue;
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
      if (at > 0 && isEssential(step, holder)) return holder;
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

function isEssential(field: string, holder: Loose): boolean {
  if (holder.role !== undefined && OPTIONAL_OF_MESSAGE.has(field)) return false;
  return ESSENTIAL_INSIDE.has(field) || field === kindOf(holder);
}

/** The kind of a message, block or tool in error messages. */
function kindOf({ type, role }: Loose): unknown {
  return type ?? role ?? "custom";
}

/** The version and the beta features that a request asks for: with others, a server may take a field that it refuses without. */
function featuresOf({ anthropic_beta: inBody }: Loose, headers: Headers): string {
  const named = [...(headers?.["anthropic-beta"] ?? "").split(","), ...array(inBody).map(String)];
  const betas = new Set(named.map((beta) => beta.trim()).filter((beta) => beta !== ""));
  return `${headers?.["anthropic-version"] ?? ""} ${[...betas].sort().join(",")}`.slice(0, MOST_CHARS);
}

/** The fields that a model has refused lately in requests of one key, by the features that were asked for. */
export class RefusedFields {
  readonly #known = new Map<string, { paths: readonly Path[]; until: number }>();
  readonly #chat: boolean;

  /** @param chat the requests are those of chat-completions */
  constructor(chat: boolean) {
    this.#chat = chat;
  }

  fit(body: Loose, headers: Headers, now: number): Fitted {
    return withoutFields(body, this.#pathsFor(featuresOf(body, headers), now), this.#chat);
  }

  /** The request without further fields as well. Null: they are not there, or may not be left out. */
  learn(
    named: readonly Path[],
    { body, headers, now }: { body: Loose; headers: Headers; now: number },
  ): Fitted | null {
    const features = featuresOf(body, headers);
    const before = this.#pathsFor(features, now);
    const paths = [...before, ...named].slice(-MOST_PATHS);
    const fitted = withoutFields(body, paths, this.#chat);
    if (fitted.lost.length <= withoutFields(body, before, this.#chat).lost.length) return null;
    this.#known.delete(features);
    if (this.#known.size >= MOST_FEATURES) this.#known.delete(this.#known.keys().next().value!);
    this.#known.set(features, { paths, until: now + KEPT_MS });
    return fitted;
  }

  #pathsFor(features: string, now: number): readonly Path[] {
    const known = this.#known.get(features);
    return known !== undefined && now < known.until ? known.paths : [];
  }
}

export interface Refusal<Request, Answer> {
  refused: Failure;
  /** Text of the last refusal; null: the request was not refused as invalid. */
  text(): string | null;
  /** The fields that the model has refused before; those of this refusal are added. */
  known: RefusedFields;
  /** Called once fields were added. */
  learned(): void;
  /** Builds the request again. */
  prepare(fit: Fit): Request | Promise<Request>;
  ask(request: Request): Promise<Answer | Failure>;
  now(): number;
}

/** The answer to the request without the fields that a refusal names; the refusal itself if it is another one. */
export async function askWithoutRefused<Request, Answer>(
  { refused, text, known, learned, prepare, ask, now }: Refusal<Request, Answer>,
): Promise<Answer | Failure> {
  let last = refused;
  for (let fits = 0; fits < MOST_FITS; fits++) {
    const named = refusedFields(text() ?? "");
    if (named.length === 0) return last;
    let leavesOut = false;
    const request = await prepare((body, headers) => {
      const fitted = known.learn(named, { body, headers, now: now() });
      leavesOut = fitted !== null;
      return fitted ?? { body, lost: [] };
    });
    if (!leavesOut) return last;
    learned();
    const got = await ask(request);
    if (!(got instanceof Failure)) return got;
    last = got;
  }
  return last;
}
