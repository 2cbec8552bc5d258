/**
 * The text leaves of a request body as it was sent: every string that is passed on to a provider, with where it stands
 * and how to replace it.
 *
 * A format says with a {@link Rule} per field what the field holds (leaf_rules.ts); this module walks. A field that no
 * table names is passed on to a provider of the same format, so it is a leaf too. Assumes a body that came out of
 * JSON.parse and that nobody else holds: replacing a leaf changes it in place.
 */
import { isObject, type Loose } from "../exchange/json.ts";
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
} from "./leaf_rules.ts";

export type { BodyLeaves, Leaf, PartGroup, Rule } from "./leaf_rules.ts";

export type BodyShape = ReadonlyMap<string, Rule>;

/** Adds headers that are passed on with the body; they are scanned and cannot be masked. */
export function readHeaders(reading: BodyLeaves, headers: Record<string, string>): void {
  for (const name of Object.keys(headers)) {
    if (/^\d{4}-\d\d-\d\d$/.test(headers[name])) continue;
    add({ ...reading, message: null, group: null }, "text", headers[name], headers, name, `header ${name}`, {
      fixed: true,
    });
  }
}

/** Puts another text in the place of a leaf's. */
export function replaceLeaf(leaf: Leaf, text: string): void {
  leaf.holder[leaf.key] = leaf.write ? leaf.write(text) : text;
}

/** Walks a whole body. Anything but an object has no leaves; the format refuses it. */
export function readLeaves(body: unknown, shape: BodyShape): BodyLeaves {
  const walk: Walk = { leaves: [], senders: [], rest: 0, message: null, group: null };
  if (isObject(body)) each(walk, body, shape, "");
  return { leaves: walk.leaves, senders: walk.senders, rest: walk.rest };
}

/** One rule for each named field; any other is passed on as it is. */
export function shape(rules: Record<string, Rule>): BodyShape {
  return new Map(Object.entries(rules));
}

/** Fields that are settings, by their names. */
export function settings(...names: string[]): Record<string, Rule> {
  return Object.fromEntries(names.map((name) => [name, setting]));
}

/** A rule for an object whose fields have rules of their own. */
export function objectOf(rules: Record<string, Rule>): Rule {
  const inner = shape(rules);
  return (walk, holder, key, path) => {
    const value = holder[key];
    if (isObject(value)) each(walk, value, inner, `${path}.`);
    else anything(walk, holder, key, path);
  };
}

/** A rule for a list whose items all have the same rule. */
export function list(rule: Rule): Rule {
  return (walk, holder, key, path) => {
    const value = holder[key];
    if (!Array.isArray(value)) return anything(walk, holder, key, path);
    for (let i = 0; i < value.length; i++) rule(walk, indexed(value), String(i), `${path}[${i}]`);
  };
}

/** The list itself, as an object whose fields are named by index: a leaf is replaced in it by its key. */
function indexed(list: unknown[]): Loose {
  return Object(list);
}

/** A string, or a list of parts whose texts belong together. */
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

/** The list of messages. `named`: locations begin with the list's own name. */
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
            // An item without a role is no message: its name is a tool's.
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

/** What a name of an unknown field looks like that a location may repeat. */
const PLAIN_NAME = /^[A-Za-z_][A-Za-z_-]{0,39}$/;
/** An object with more unknown fields is no object of the format: its values are read together with its names. */
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
  // A location must not repeat what may be the very value that is looked for.
  add(walk, "text", unknown.join("\n"), value, unknown[0], `${prefix}*`, { fixed: true });
  for (const name of unknown) {
    anything(walk, value, name, prefix + (PLAIN_NAME.test(name) ? name : "*"));
  }
}
