/**
 * Stage: placeholders in an answer become the values that they stand for again, in text and in the arguments of calls,
 * also where a placeholder comes in pieces. Held back is only what may be the beginning of one.
 *
 * Reasoning keeps its placeholders: it is signed as it is, and must be able to come back that way.
 */
import type { Part } from "../exchange/part.ts";
import type { Citation } from "../exchange/prompt.ts";

/** A block whose placeholders are turned back. */
interface Open {
  /** What may be the beginning of a placeholder. */
  held: string;
  /** Inside JSON strings a value is written with their escapes. */
  json: boolean;
  /** Units of the provider's text before what is held. */
  seen: number;
  /** Where in the provider's text the sums change, and by how much in all until there. */
  shifts: { at: number; by: number }[];
}

const WHOLE = /^(?:<|\\u003c)([A-Z][A-Z0-9_]*_\d+)(?:>|\\u003e)/i;
const PIECE =
  /^(?:<[A-Z0-9_]*|\\(?:u(?:0(?:0(?:3(?:c(?:[A-Z0-9_]*(?:\\(?:u(?:0(?:0(?:3)?)?)?)?)?)?)?)?)?)?)?)$/i;

/** @param originals by placeholder, `<EMAIL_ADDRESS_1>` */
export async function* restore(
  parts: AsyncGenerator<readonly Part[]>,
  originals: ReadonlyMap<string, string>,
): AsyncGenerator<readonly Part[]> {
  const open = new Map<number, Open>();
  for await (const batch of parts) {
    const out: Part[] = [];
    for (const part of batch) restorePart(part, open, originals, out);
    if (out.length > 0) yield out;
  }
}

function restorePart(
  part: Part,
  open: Map<number, Open>,
  originals: ReadonlyMap<string, string>,
  out: Part[],
): void {
  switch (part.type) {
    case "text-start":
      open.set(part.block, opened(false));
      break;
    case "call-start":
      open.set(part.block, opened(part.kind === "function"));
      break;
    case "text-delta":
    case "call-delta": {
      const block = open.get(part.block);
      if (!block) break;
      const text = feed(block, part.text, originals);
      if (text === "" && part.type === "call-delta") return;
      out.push(text === part.text ? part : { ...part, text });
      return;
    }
    case "text-end":
    case "call-end": {
      const held = open.get(part.block)?.held;
      if (held) {
        out.push({
          type: part.type === "text-end" ? "text-delta" : "call-delta",
          block: part.block,
          text: held,
        });
      }
      open.delete(part.block);
      break;
    }
    case "citation": {
      const block = open.get(part.block);
      if (block && block.shifts.length > 0) {
        out.push({ ...part, citation: shifted(part.citation, block) });
        return;
      }
    }
  }
  out.push(part);
}

function opened(json: boolean): Open {
  return { held: "", json, seen: 0, shifts: [] };
}

/** What can be said of a block now that more of it came. */
function feed(block: Open, more: string, originals: ReadonlyMap<string, string>): string {
  const text = block.held + more;
  let said = "";
  let done = 0;
  block.held = "";
  for (let at = nextOpen(text, 0, block.json); at >= 0; at = nextOpen(text, at, block.json)) {
    const tail = text.slice(at, at + LONGEST);
    const whole = WHOLE.exec(tail);
    const original = whole ? originals.get(`<${whole[1].toUpperCase()}>`) : undefined;
    if (whole && original !== undefined) {
      const value = block.json ? JSON.stringify(original).slice(1, -1) : original;
      said += text.slice(done, at) + value;
      done = at + whole[0].length;
      const before = block.shifts.at(-1)?.by ?? 0;
      block.shifts.push({ at: block.seen + done, by: before + value.length - whole[0].length });
      at = done;
    } else if (!whole && at + LONGEST > text.length && mayGrow(text.slice(at), originals)) {
      block.held = text.slice(at);
      said += text.slice(done, at);
      block.seen += at;
      return said;
      // A backslash belongs to what it stands before: the second of two begins no escape.
    } else at += text[at] === "\\" ? 2 : 1;
  }
  block.seen += text.length;
  return said + text.slice(done);
}

/** Of a placeholder both of whose brackets are written as escapes. */
const LONGEST = 64;

function nextOpen(text: string, from: number, json: boolean): number {
  const plain = text.indexOf("<", from);
  if (!json) return plain;
  const escaped = text.indexOf("\\", from);
  return plain < 0 ? escaped : escaped < 0 ? plain : Math.min(plain, escaped);
}

/** Whether a text that ends here may be the beginning of a placeholder that there is. */
function mayGrow(tail: string, originals: ReadonlyMap<string, string>): boolean {
  if (!PIECE.test(tail)) return false;
  const name = tail.replace(/^(?:<|\\u003c)|\\.*$/gi, "").toUpperCase();
  if (!tail.startsWith("<") && tail.length < 6) return true;
  for (const placeholder of originals.keys()) if (placeholder.startsWith(name, 1)) return true;
  return false;
}

function shifted(citation: Citation, block: Open): Citation {
  const move = (at: number | undefined) => {
    if (at === undefined) return undefined;
    const shift = block.shifts.findLast((s) => s.at <= at);
    return at + (shift?.by ?? 0);
  };
  return { ...citation, start: move(citation.start), end: move(citation.end) };
}
