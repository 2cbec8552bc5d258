/**
 * The text leaves of a request body: every string that is sent to a provider, with its location and a way to
 * replace it.
 *
 * A format defines a {@link Rule} for each field (rules.ts); this module walks the body. Unknown fields
 * are sent to a provider of the same format, so they are leaves too. The body must come from JSON.parse and
 * be exclusively owned: replacing a leaf modifies it.
 */
import { isObject, type Loose } from "../../exchange/json.ts";
import {
  add,
  anything,
  type BodyLeaves,
  json,
  type Leaf,
  type Rule,
  setting,
  text,
  type Walk,
} from "./rules.ts";

export type { BodyLeaves, Leaf, PartGroup, Rule } from "./rules.ts";

export type BodyShape = ReadonlyMap<string, Rule>;

/** Adds headers that are sent with the body; they are scanned but cannot be masked. */
export function readHeaders(reading: BodyLeaves, headers: Record<string, string>): void {
  for (const name of Object.keys(headers)) {
    if (/^\d{4}-\d\d-\d\d$/.test(headers[name])) continue;
    add({ ...reading, message: null, group: null }, "text", headers[name], headers, name, `header ${name}`, {
      fixed: true,
    });
  }
}

/** Replaces the text of a leaf. */
export function replaceLeaf(leaf: Leaf, text: string): void {
  leaf.holder[leaf.key] = leaf.write ? leaf.write(text) : text;
}

/** Walks a whole body. Anything other than an object has no leaves; the format rejects it. */
export function readLeaves(body: unknown, shape: BodyShape): BodyLeaves {
  const walk: Walk = { leaves: [], senders: [], rest: 0, message: null, group: null };
  if (isObject(body)) each(walk, body, shape, "");
  return { leaves: walk.leaves, senders: walk.senders, rest: walk.rest };
}

/** One rule for each named field; all others are passed on unchanged. */
export function shape(rules: Record<string, Rule>): BodyShape {
  return new Map(Object.entries(rules));
}

/** Rules for fields that are settings. */
export function settings(...names: string[]): Record<string, Rule> {
  return Object.fromEntries(names.map((name) => [name, setting]));
}

/** A rule for an object with rules for its fields. */
export function objectOf(rules: Record<string, Rule>): Rule {
  const inner = shape(rules);
  return (walk, holder, key, path) => {
    const value = holder[key];
    if (isObject(value)) each(walk, value, inner, `${path}.`);
    else anything(walk, holder, key, path);
  };
}

/** A rule for an array whose items have the same rule. */
export function list(rule: Rule): Rule {
  return (walk, holder, key, path) => {
    const value = holder[key];
    if (!Array.isArray(value)) return anything(walk, holder, key, path);
    for (let i = 0; i < value.length; i++) rule(walk, indexed(value), String(i), `${path}[${i}]`);
  };
}

/** The array as an object with its indices as keys, so that leaves can be replaced by key. */
function indexed(list: unknown[]): Loose {
  return Object(list);
}

/** A string, or an array of parts whose texts belong together. */
export function parts(part: Rule): Rule {
  const items = list(part);
  return (walk, holder, key, path) => {
    const value = holder[key];
    if (typeof value === "string") return text(walk, holder, key, path);
    const outer = walk.group;
    walk.group = { location: path, leaves: [] };
    items(walk, holder, key, path);
    walk.group = outer;
  };
}

/** The list of messages. `named`: locations start with the name of the list. */
export function messageList(rules: Record<string, Rule>, { named }: { named: boolean }): Rule {
  const inner = shape(rules);
  return (walk, holder, key, path) => {
    const value = holder[key];
    if (typeof value === "string") {
      walk.senders.push({ role: "user" });
      walk.message = 0;
      text(walk, holder, key, path);
    } else if (Array.isArray(value)) {
      for (let i = 0; i < value.length; i++) {
        const message: unknown = value[i];
        walk.message = i;
        const prefix = named ? `${path}[${i}].` : "";
        if (isObject(message)) {
          const { role, name } = message;
          walk.senders.push({
            ...(typeof role === "string" && { role }),
            // An item without a role is not a message: its name is that of a tool.
            ...(typeof role === "string" && typeof name === "string" && { name }),
          });
          each(walk, message, inner, prefix);
        } else {
          walk.senders.push({});
          anything(walk, indexed(value), String(i), `${path}[${i}]`);
        }
      }
    } else anything(walk, holder, key, path);
    walk.message = null;
  };
}

/** Names of unknown fields that may be included in a location. */
const PLAIN_NAME = /^[A-Za-z_][A-Za-z_-]{0,39}$/;
/** An object with more unknown fields is not one of the format: its values are scanned together with its names. */
const MOST_UNKNOWN = 64;

function each(walk: Walk, value: Loose, inner: BodyShape, prefix: string): void {
  const unknown: string[] = [];
  for (const name of Object.keys(value)) {
    const rule = inner.get(name);
    if (!rule) unknown.push(name);
    else if (value[name] !== null) rule(walk, value, name, prefix + name);
  }
  if (unknown.length === 0) return;
  if (unknown.length > MOST_UNKNOWN) {
    const holder = { rest: Object.fromEntries(unknown.map((name) => [name, value[name]])) };
    json(walk, holder, "rest", `${prefix}*`);
    walk.leaves.push({ ...walk.leaves.pop()!, fixed: true });
    return;
  }
  // Locations must not contain sensitive values.
  add(walk, "text", unknown.join("\n"), value, unknown[0], `${prefix}*`, { fixed: true });
  for (const name of unknown) {
    anything(walk, value, name, prefix + (PLAIN_NAME.test(name) ? name : "*"));
  }
}
