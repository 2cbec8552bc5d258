/**
 * The text leaves of a request body as it was sent: every string that is passed on to a provider, with where it stands
 * and how to replace it.
 *
 * A format says with a {@link Rule} per field what the field holds; this module walks. A field that no table names is
 * passed on to a provider of the same format, so it is a leaf too. Assumes a body that came out of JSON.parse and that
 * nobody else holds: replacing a leaf changes it in place.
 */
import { Buffer } from "node:buffer";
import { isObject, type Loose, parseExact } from "../exchange/json.ts";
import { textOf } from "../documents/data_text.ts";
import { type DocumentKind, documentKind, writtenKind } from "../documents/kind.ts";
import { isSetting } from "./enumerations.ts";

export interface Leaf {
  /** Position in the list of messages; null: the leaf is outside of it. */
  readonly message: number | null;
  /** The field as sent; a field of a message is named from its message on, unless the format has items. */
  readonly location: string;
  /**
   * `json`: the text is JSON, whose strings and keys count as they decode; a field that is no string is meant as its
   * compact JSON text. `encoded`: the text is decoded from the field's, which counts as a whole.
   * `document`: holds text that takes long to read; until then it has none. `media`: no text, an image or anything else
   * that cannot be scanned. `endless`: nested too deeply to be read.
   */
  readonly kind: "text" | "json" | "encoded" | "document" | "media" | "endless";
  readonly text: string;
  /** Signed by a provider, or a name that other fields refer to: replacing it breaks the request. */
  readonly fixed: boolean;
  /** The list of parts that this text is one of. */
  readonly group: PartGroup | null;
  /** `encoded`: the run in the field as sent that the text was decoded from. */
  readonly run?: { readonly start: number; readonly end: number };
  /** `document`: what it is. */
  readonly document?: DocumentKind;
  readonly holder: Loose;
  readonly key: string;
  /** What the field is set to for a text; absent: the text. */
  readonly write?: (text: string) => unknown;
}

/** Text parts of one list, which a model reads as one text. */
export interface PartGroup {
  readonly location: string;
  readonly leaves: Leaf[];
}

/** Who a message is from. */
interface Sender {
  role?: string;
  name?: string;
}

export interface BodyLeaves {
  leaves: Leaf[];
  /** In the order of the list of messages. */
  senders: Sender[];
  /** Length of what is passed on and nobody reads: ids and proofs. */
  rest: number;
}

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

/** Reads the field `key` of `holder`, which is at `path`, and adds its leaves. */
export type Rule = (walk: Walk, holder: Loose, key: string, path: string) => void;
export type BodyShape = ReadonlyMap<string, Rule>;

interface Walk extends BodyLeaves {
  message: number | null;
  group: PartGroup | null;
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

/**
 * An id or a proof that a provider or a client made and nobody reads, or the model's name, which the catalog knows. These
 * alone leave unread: ids of calls, items and files, signatures, encrypted reasoning, encrypted search results.
 */
export const opaque: Rule = (walk, holder, key) => {
  walk.rest += lengthOf(holder[key]);
};

/** About as long as the JSON text of a value is, however deep that is nested. */
function lengthOf(value: unknown): number {
  if (typeof value === "string") return value.length;
  let length = 0;
  const open: unknown[] = [value];
  while (open.length > 0) {
    const next = open.pop();
    if (typeof next === "string") length += next.length;
    else if (typeof next !== "object" || next === null) length += 5;
    else {
      for (const name of Object.keys(next)) {
        length += name.length;
        open.push((next as Loose)[name]);
      }
    }
  }
  return length;
}

/** A setting of the format: words of its enumerations, switches and small numbers. Anything else in it is text. */
export const setting: Rule = (walk, holder, key, path) => {
  const value = holder[key];
  if (isSetting(value)) return;
  if (typeof value === "string") add(walk, "text", value, holder, key, path, { fixed: true });
  else anything(walk, holder, key, path);
};

/** A seed is drawn by chance and may be as long as a telephone number, but not as a card's. */
export const seed: Rule = (walk, holder, key, path) => {
  const value = holder[key];
  if (typeof value !== "number" || Math.abs(value) >= 1e12) setting(walk, holder, key, path);
};

export const text: Rule = (walk, holder, key, path) => {
  const value = holder[key];
  if (typeof value !== "string") anything(walk, holder, key, path);
  else if (value !== "") add(walk, "text", value, holder, key, path);
};

/** The name of a message: providers take no angle brackets in it, so a placeholder goes without. */
export const senderName: Rule = (walk, holder, key, path) => {
  const value = holder[key];
  if (typeof value !== "string") anything(walk, holder, key, path);
  else if (value !== "") {
    add(walk, "text", value, holder, key, path, { write: (text) => text.replace(/[<>]/g, "") });
  }
};

/** A text that must stay as it is. */
export const fixed: Rule = (walk, holder, key, path) => {
  const value = holder[key];
  if (typeof value !== "string") anything(walk, holder, key, path);
  else if (value !== "") add(walk, "text", value, holder, key, path, { fixed: true });
};

/** A text that is signed when a field beside it is there. */
export function signedBy(...proofs: string[]): Rule {
  return (walk, holder, key, path) => {
    const signed = proofs.some((name) => typeof holder[name] === "string" && holder[name] !== "");
    (signed ? fixed : text)(walk, holder, key, path);
  };
}

/** A string that holds JSON: the arguments of a call. */
export const jsonText: Rule = (walk, holder, key, path) => {
  const value = holder[key];
  if (typeof value !== "string") anything(walk, holder, key, path);
  else if (value !== "") add(walk, "json", value, holder, key, path);
};

/** A value of any shape, taken as its JSON text. */
export const json: Rule = (walk, holder, key, path) => {
  const value = holder[key];
  if (typeof value !== "object" || value === null) return anything(walk, holder, key, path);
  let written: string;
  try {
    written = JSON.stringify(value);
  } catch (thrown) {
    if (!(thrown instanceof RangeError)) throw thrown;
    return add(walk, "endless", "", holder, key, path, { fixed: true });
  }
  if (written.length > 2) add(walk, "json", written, holder, key, path, { write: parseExact });
};

/** A field that no table names. */
export const anything: Rule = (walk, holder, key, path) => {
  const value = holder[key];
  if (typeof value === "string") address(walk, holder, key, path);
  else if (typeof value === "object" && value !== null) json(walk, holder, key, path);
  else if (typeof value === "number" && Math.abs(value) >= 1e6) {
    add(walk, "text", String(value), holder, key, path, { fixed: true });
  }
};

/** A URL, with what it holds if it is a `data:` one. */
export const address: Rule = (walk, holder, key, path) => {
  const value = holder[key];
  if (typeof value !== "string") return anything(walk, holder, key, path);
  const head = /^data:([^,]{0,1000}),/i.exec(value);
  if (!head) {
    if (value !== "") add(walk, "text", value, holder, key, path);
  } else if (/;\s*base64\s*$/i.test(head[1])) base64(walk, holder, key, path, head[0].length, head[1]);
  else percent(walk, holder, key, path, head[0].length);
};

/** A URL of something that is fetched elsewhere: the URL is text, what is behind it is out of reach. */
export const link: Rule = (walk, holder, key, path) => {
  address(walk, holder, key, path);
  const value = holder[key];
  if (typeof value === "string" && !/^data:/i.test(value)) media(walk, holder, key, path);
};

/** Bytes as base64, or as a `data:` URL. */
export const bytes: Rule = (walk, holder, key, path) => {
  const value = holder[key];
  if (typeof value !== "string") return anything(walk, holder, key, path);
  if (/^data:/i.test(value)) return address(walk, holder, key, path);
  const type = holder.media_type ?? holder.mime_type;
  base64(walk, holder, key, path, 0, typeof type === "string" ? type : "");
};

/** Something that is not in the request: a file by its id. */
export const media: Rule = (walk, holder, key, path) => {
  if (holder[key] !== null) add(walk, "media", "", holder, key, path, { fixed: true });
};

/** Fields that are settings, by their names. */
export function settings(...names: string[]): Record<string, Rule> {
  return Object.fromEntries(names.map((name) => [name, setting]));
}

export function objectOf(rules: Record<string, Rule>): Rule {
  const inner = shape(rules);
  return (walk, holder, key, path) => {
    const value = holder[key];
    if (isObject(value)) each(walk, value, inner, `${path}.`);
    else anything(walk, holder, key, path);
  };
}

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

/** The text of a part. */
export const partText: Rule = (walk, holder, key, path) => {
  const value = holder[key];
  if (typeof value !== "string") return anything(walk, holder, key, path);
  if (value === "") return;
  add(walk, "text", value, holder, key, path, { group: walk.group });
  walk.group?.leaves.push(walk.leaves[walk.leaves.length - 1]);
};

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

function add(
  walk: Walk,
  kind: Leaf["kind"],
  text: string,
  holder: Loose,
  key: string,
  location: string,
  more?: Partial<Leaf>,
): void {
  walk.leaves.push({
    message: walk.message,
    location,
    kind,
    text,
    fixed: more?.fixed ?? false,
    group: more?.group ?? null,
    run: more?.run,
    document: more?.document,
    holder,
    key,
    write: more?.write,
  });
}

const NO_BASE64 = /[^A-Za-z0-9+/=_\s-]|^[\d\s-]+$/;
/** Whatever type is declared: what decodes to text is text. */
function base64(walk: Walk, holder: Loose, key: string, path: string, start: number, type: string): void {
  const value = holder[key] as string;
  const document = documentKind(Buffer.from(value.slice(start, start + 12), "base64"));
  const run = { start, end: value.length };
  if (document !== null) return add(walk, "document", "", holder, key, path, { run, document, fixed: true });
  const content = textOf(value, start, type);
  if (content === null) {
    // What is no base64, or digits alone, is a text that was put in the place of data.
    if (NO_BASE64.test(value.slice(start))) add(walk, "text", value, holder, key, path, { fixed: true });
    return media(walk, holder, key, path);
  }
  if (content.text === "") return;
  add(walk, "encoded", content.text, holder, key, path, {
    run,
    // What is written back is UTF-8, which the reader of another encoding would not understand.
    fixed: content.foreign,
    write: (text) => value.slice(0, start) + Buffer.from(text).toString("base64"),
  });
  const shown = writtenKind(content.text);
  if (shown !== null) add(walk, "document", "", holder, key, path, { run, document: shown, fixed: true });
}

function percent(walk: Walk, holder: Loose, key: string, path: string, start: number): void {
  const value = holder[key] as string;
  let decoded = value.slice(start);
  try {
    decoded = decodeURIComponent(decoded);
  } catch {
    // Not percent-encoded after all: scanned as it is.
  }
  if (decoded === "") return;
  add(walk, "encoded", decoded, holder, key, path, {
    run: { start, end: value.length },
    write: (text) => value.slice(0, start) + encodeURIComponent(text),
  });
}
