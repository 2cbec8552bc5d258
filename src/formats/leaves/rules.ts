/**
 * Rules for the fields of a request: each adds the text leaves that the field contains. mod.ts walks the
 * objects and arrays.
 */
import { Buffer } from "node:buffer";
import { type Loose, parseExact } from "../../exchange/json.ts";
import { textOf } from "../../documents/data_text.ts";
import { type DocumentKind, documentKind, writtenKind } from "../../documents/kind.ts";
import { isSetting } from "./enumerations.ts";

export interface Leaf {
  /** Index in the list of messages; null: outside of it. */
  readonly message: number | null;
  /** The location of the field; within a message relative to it, unless the format has items. */
  readonly location: string;
  /**
   * `json`: the text is JSON, whose strings and keys count in decoded form; a field that is not a string is
   * represented by its compact JSON text. `encoded`: the text is decoded from the field, which counts as a
   * whole. `document`: contains text that takes long to extract; empty until then. `media`: not text; an
   * image or something else that cannot be scanned. `endless`: nested too deeply to be read.
   */
  readonly kind: "text" | "json" | "encoded" | "document" | "media" | "endless";
  readonly text: string;
  /** Signed by a provider, or a name to which other fields refer: replacing it would make the request invalid. */
  readonly fixed: boolean;
  /** The list of parts that contains this text. */
  readonly group: PartGroup | null;
  /** `encoded`: the range in the field from which the text was decoded. */
  readonly run?: { readonly start: number; readonly end: number };
  /** `document`: its type. */
  readonly document?: DocumentKind;
  readonly holder: Loose;
  readonly key: string;
  /** Converts a text to the value of the field; absent: the text itself. */
  readonly write?: (text: string) => unknown;
}

/** Text parts of one list, which a model reads as one text. */
export interface PartGroup {
  readonly location: string;
  readonly leaves: Leaf[];
}

/** The author of a message. */
interface Sender {
  role?: string;
  name?: string;
}

export interface BodyLeaves {
  leaves: Leaf[];
  /** In the order of the list of messages. */
  senders: Sender[];
  /** Total length of data that is passed on unread: ids and proofs. */
  rest: number;
}

/** Reads the field `key` of `holder`, located at `path`, and adds its leaves. */
export type Rule = (walk: Walk, holder: Loose, key: string, path: string) => void;

export interface Walk extends BodyLeaves {
  message: number | null;
  group: PartGroup | null;
}

/**
 * An id or proof created by a provider or client, or the model's name, which the catalog validates. Only
 * these are not scanned: ids of calls, items and files, signatures, encrypted reasoning, encrypted search
 * results.
 */
export const opaque: Rule = (walk, holder, key) => {
  walk.rest += lengthOf(holder[key]);
};

/** Approximate length of a value's JSON text, for any nesting. */
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

/** A setting: enumeration values, booleans and small numbers. Anything else in it is text. */
export const setting: Rule = (walk, holder, key, path) => {
  const value = holder[key];
  if (isSetting(value)) return;
  if (typeof value === "string") add(walk, "text", value, holder, key, path, { fixed: true });
  else anything(walk, holder, key, path);
};

/** A random seed may be as long as a telephone number, but not as a card number. */
export const seed: Rule = (walk, holder, key, path) => {
  const value = holder[key];
  if (typeof value !== "number" || Math.abs(value) >= 1e12) setting(walk, holder, key, path);
};

export const text: Rule = (walk, holder, key, path) => {
  const value = holder[key];
  if (typeof value !== "string") anything(walk, holder, key, path);
  else if (value !== "") add(walk, "text", value, holder, key, path);
};

/**
 * The name in a message: providers do not accept angle brackets in it, so a placeholder is written without
 * them.
 */
export const senderName: Rule = (walk, holder, key, path) => {
  const value = holder[key];
  if (typeof value !== "string") anything(walk, holder, key, path);
  else if (value !== "") {
    add(walk, "text", value, holder, key, path, { write: (text) => text.replace(/[<>]/g, "") });
  }
};

/** A text that must not be changed. */
export const fixed: Rule = (walk, holder, key, path) => {
  const value = holder[key];
  if (typeof value !== "string") anything(walk, holder, key, path);
  else if (value !== "") add(walk, "text", value, holder, key, path, { fixed: true });
};

/** A text that is signed if another field is present. */
export function signedBy(...proofs: string[]): Rule {
  return (walk, holder, key, path) => {
    const signed = proofs.some((name) => typeof holder[name] === "string" && holder[name] !== "");
    (signed ? fixed : text)(walk, holder, key, path);
  };
}

/** A string that contains JSON: arguments of a call. */
export const jsonText: Rule = (walk, holder, key, path) => {
  const value = holder[key];
  if (typeof value !== "string") anything(walk, holder, key, path);
  else if (value !== "") add(walk, "json", value, holder, key, path);
};

/** A value of any type, represented by its JSON text. */
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

/** An unknown field. */
export const anything: Rule = (walk, holder, key, path) => {
  const value = holder[key];
  if (typeof value === "string") address(walk, holder, key, path);
  else if (typeof value === "object" && value !== null) json(walk, holder, key, path);
  else if (typeof value === "number" && Math.abs(value) >= 1e6) {
    add(walk, "text", String(value), holder, key, path, { fixed: true });
  }
};

/** A URL; a `data:` URL is decoded. */
export const address: Rule = (walk, holder, key, path) => {
  const value = holder[key];
  if (typeof value !== "string") return anything(walk, holder, key, path);
  const head = /^data:([^,]{0,1000}),/i.exec(value);
  if (!head) {
    if (value !== "") add(walk, "text", value, holder, key, path);
  } else if (/;\s*base64\s*$/i.test(head[1])) base64(walk, holder, key, path, head[0].length, head[1]);
  else percent(walk, holder, key, path, head[0].length);
};

/** A URL that is fetched by others: the URL is scanned, its target cannot be. */
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

/** Content outside of the request: a file by id. */
export const media: Rule = (walk, holder, key, path) => {
  if (holder[key] !== null) add(walk, "media", "", holder, key, path, { fixed: true });
};

/** The text of a part. */
export const partText: Rule = (walk, holder, key, path) => {
  const value = holder[key];
  if (typeof value !== "string") return anything(walk, holder, key, path);
  if (value === "") return;
  add(walk, "text", value, holder, key, path, { group: walk.group });
  walk.group?.leaves.push(walk.leaves[walk.leaves.length - 1]);
};

/** Adds a leaf. */
export function add(
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

const NO_BASE64 = /[^A-Za-z0-9+/=_\s-]|\S[ \t]+\S|^[\d\s-]+$/;
/** Whatever the declared type, data that decodes to text is scanned as text. */
function base64(walk: Walk, holder: Loose, key: string, path: string, start: number, type: string): void {
  const value = holder[key] as string;
  const document = documentKind(Buffer.from(value.slice(start, start + 12), "base64"));
  const run = { start, end: value.length };
  if (document !== null) return add(walk, "document", "", holder, key, path, { run, document, fixed: true });
  const content = textOf(value, start, type);
  if (content === null) {
    // Invalid base64, with spaces within a line, or only digits, is text in place of data.
    if (NO_BASE64.test(value.slice(start))) add(walk, "text", value, holder, key, path, { fixed: true });
    return media(walk, holder, key, path);
  }
  if (content.text === "") return;
  add(walk, "encoded", content.text, holder, key, path, {
    run,
    // Written back as UTF-8, which would be wrong for content in another encoding.
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
    // Invalid percent-encoding: scanned as it is.
  }
  if (decoded === "") return;
  add(walk, "encoded", decoded, holder, key, path, {
    run: { start, end: value.length },
    write: (text) => value.slice(0, start) + encodeURIComponent(text),
  });
}
