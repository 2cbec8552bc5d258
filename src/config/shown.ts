/**
 * A configuration as an operator may look at it: as it was written, with the environment and the flags laid over it and the
 * defaults of what it leaves out. What came from the environment is shown as `${NAME}`; a secret that is written out is hidden.
 */
import { type InputPath, isSecret, pathText, withoutPassword } from "../schema/mistakes.ts";
import { type Config, configJsonSchema } from "./schema.ts";

interface Written {
  value: unknown;
  /** Strings that held a variable, as they stand in the text, by path. */
  texts: ReadonlyMap<string, string>;
}

export interface ShownConfig {
  config: unknown;
  /** Paths of what nobody has written. */
  defaults: string[];
}

const HIDDEN = "(hidden)";
const WRITTEN = new WeakMap<Config, Written>();

/** Keeps what a configuration was made of, as long as the configuration is kept. */
export function rememberWritten(config: Config, written: Written): void {
  WRITTEN.set(config, written);
}

/** The configuration as it was written, secrets left out, with the paths of fields that have their defaults. */
export function shownConfig(config: Config): ShownConfig {
  const { value, texts } = WRITTEN.get(config) ?? { value: {}, texts: new Map() };
  const defaults: string[] = [];
  const whole = withDefaults(configJsonSchema() as Schema, shown(value, [], texts), [], defaults);
  return { config: whole, defaults };
}

function shown(value: unknown, path: InputPath, texts: Written["texts"]): unknown {
  if (Array.isArray(value)) return value.map((item, i) => shown(item, [...path, i], texts));
  if (typeof value === "object" && value !== null) {
    return Object.fromEntries(
      Object.entries(value).map(([name, item]) => [name, shown(item, [...path, name], texts)]),
    );
  }
  if (typeof value !== "string" || value === "") return value;
  const text = texts.get(pathText(path));
  if (isHidden(path)) return text === undefined ? HIDDEN : (text.match(/\$\{\w+\}/g) ?? [HIDDEN]).join("");
  return text ?? (value.includes("://") ? withoutPassword(addressOf(value, path)) : value);
}

const SECRET_NAME =
  /secret|password|passphrase|token|pepper|credential|private_key|access_key|api_key|admin_key/;

/** Also what DLP policies look for or let pass: such texts are often what is to be protected. */
export function isHidden(path: InputPath): boolean {
  const name = String(path.findLast((step) => typeof step === "string") ?? "");
  if (isSecret(path) || SECRET_NAME.test(name)) return true;
  if (name === "key") return !path.includes("tls");
  return name === "value" && (path.includes("stop_words") || path.includes("allowlist"));
}

/** The path of a webhook is often what lets one post to it. */
function addressOf(value: string, path: InputPath): string {
  if (path[0] !== "webhooks" && path[0] !== "alerts" || !URL.canParse(value)) return value;
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

/** Only for what is an object anyhow: where null is a default, there is nothing below it. */
function withDefaults(schema: Schema, value: unknown, path: InputPath, defaults: string[]): unknown {
  const { properties, additionalProperties: others, items } = objectOf(schema);
  if (Array.isArray(value)) {
    return items === undefined
      ? value
      : value.map((item, i) => withDefaults(items, item, [...path, i], defaults));
  }
  if (typeof value !== "object" || value === null) return value;
  const whole: Record<string, unknown> = {};
  for (const [name, item] of Object.entries(value)) {
    const below = properties?.[name] ?? (typeof others === "object" ? others : undefined);
    whole[name] = below === undefined ? item : withDefaults(below, item, [...path, name], defaults);
  }
  for (const [name, below] of Object.entries(properties ?? {})) {
    if (Object.hasOwn(whole, name) || below.default === undefined) continue;
    const at = [...path, name];
    defaults.push(pathText(at));
    whole[name] = withDefaults(below, below.default, at, []);
  }
  return whole;
}

function objectOf(schema: Schema): Schema {
  return schema.anyOf?.find(({ properties, items }) => properties !== undefined || items !== undefined) ??
    schema;
}
