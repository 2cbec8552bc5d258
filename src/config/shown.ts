/**
 * A configuration for display to operators: as it was written, with the overrides of environment and flags
 * and with defaults for missing fields. Values from the environment are shown as `${NAME}`; literal secrets
 * are hidden.
 */
import { type InputPath, isReceiver, isSecret, pathText, withoutPassword } from "../schema/mistakes.ts";
import { type Config, configJsonSchema } from "./schema.ts";

interface Written {
  value: unknown;
  /** Strings that contained a variable, as written in the text, by path. */
  texts: ReadonlyMap<string, string>;
}

export interface ShownConfig {
  config: unknown;
  /** Paths of fields that were not written. */
  defaults: string[];
}

const HIDDEN = "(hidden)";
const WRITTEN = new WeakMap<Config, Written>();

/** Remembers the source of a configuration as long as the configuration is referenced. */
export function rememberWritten(config: Config, written: Written): void {
  WRITTEN.set(config, written);
}

/**
 * The configuration as it was written, without secrets, and the paths of fields that have their defaults. It
 * yields after each item of a list, since a list may have thousands of keys.
 */
export function* shownConfig(config: Config): Generator<void, ShownConfig> {
  const { value, texts } = WRITTEN.get(config) ?? { value: {}, texts: new Map() };
  const defaults: string[] = [];
  const visible = yield* shown(value, [], texts);
  const whole = yield* withDefaults(configJsonSchema() as Schema, visible, [], defaults);
  return { config: whole, defaults };
}

function* shown(value: unknown, path: InputPath, texts: Written["texts"]): Generator<void, unknown> {
  if (Array.isArray(value)) {
    const items: unknown[] = [];
    for (const [i, item] of value.entries()) {
      items.push(yield* shown(item, [...path, i], texts));
      yield;
    }
    return items;
  }
  if (typeof value === "object" && value !== null) {
    const whole: [string, unknown][] = [];
    for (const [name, item] of Object.entries(value)) {
      whole.push([name, yield* shown(item, [...path, name], texts)]);
    }
    return Object.fromEntries(whole);
  }
  return shownValue(value, path, texts);
}

function shownValue(value: unknown, path: InputPath, texts: Written["texts"]): unknown {
  if (typeof value !== "string" || value === "") return value;
  const text = texts.get(pathText(path));
  if (isHidden(path)) return text === undefined ? HIDDEN : (text.match(/\$\{\w+\}/g) ?? [HIDDEN]).join("");
  return text ?? (value.includes("://") ? withoutPassword(addressOf(value, path)) : value);
}

const SECRET_NAME =
  /secret|password|passphrase|token|pepper|credential|private_key|access_key|api_key|admin_key/;

/**
 * Whether the value at a path is hidden. This includes the texts that DLP policies search for or allow, which
 * are often sensitive themselves.
 */
export function isHidden(path: InputPath): boolean {
  const name = String(path.findLast((step) => typeof step === "string") ?? "");
  if (isSecret(path) || SECRET_NAME.test(name)) return true;
  if (name === "key") return !path.includes("tls");
  return name === "value" && (path.includes("stop_words") || path.includes("allowlist"));
}

/** Shows only the origin of a webhook: its path often authorizes posting to it. */
function addressOf(value: string, path: InputPath): string {
  if (!isReceiver(path) || !URL.canParse(value)) return value;
  const { origin, pathname } = new URL(value);
  return pathname === "/" ? origin : `${origin}/…`;
}

interface Schema {
  default?: unknown;
  properties?: Record<string, Schema>;
  additionalProperties?: Schema | boolean;
  items?: Schema;
  anyOf?: Schema[];
}

/** Only for objects that are present: a section whose default is null has no defaults inside. */
function* withDefaults(
  schema: Schema,
  value: unknown,
  path: InputPath,
  defaults: string[],
): Generator<void, unknown> {
  const { properties, additionalProperties: others, items } = objectOf(schema);
  if (Array.isArray(value)) {
    if (items === undefined) return value;
    const whole: unknown[] = [];
    for (const [i, item] of value.entries()) {
      whole.push(yield* withDefaults(items, item, [...path, i], defaults));
      yield;
    }
    return whole;
  }
  if (typeof value !== "object" || value === null) return value;
  const whole: Record<string, unknown> = {};
  for (const [name, item] of Object.entries(value)) {
    const below = properties?.[name] ?? (typeof others === "object" ? others : undefined);
    whole[name] = below === undefined ? item : yield* withDefaults(below, item, [...path, name], defaults);
  }
  for (const [name, below] of Object.entries(properties ?? {})) {
    if (Object.hasOwn(whole, name) || below.default === undefined) continue;
    const at = [...path, name];
    defaults.push(pathText(at));
    whole[name] = yield* withDefaults(below, below.default, at, []);
  }
  return whole;
}

function objectOf(schema: Schema): Schema {
  return schema.anyOf?.find(({ properties, items }) => properties !== undefined || items !== undefined) ??
    schema;
}
