/**
 * Removes lone surrogates from the text of an answer.
 *
 * A provider that counts UTF-16 units cuts a character in two: its halves arrive in two deltas, as escapes of
 * JSON. Many parsers refuse such escapes (Rust), or cannot write them again (Python). Halves are joined; a
 * half without the other one becomes U+FFFD.
 */
import { type Loose, mapTexts } from "../../exchange/json.ts";
import type { Part } from "../../exchange/part.ts";

type Delta = Extract<Part, { type: "text-delta" | "reasoning-delta" | "call-delta" | "live-delta" }>;

export class WholeCharacters {
  /** First halves at the end of a delta, by block. */
  readonly #halves = new Map<number, Delta>();

  /** A half waits for the other one. */
  get waits(): boolean {
    return this.#halves.size > 0;
  }

  /** Changes the parts from a position on. */
  mend(parts: Part[], from: number): void {
    for (let i = from; i < parts.length; i++) {
      const part = parts[i];
      switch (part.type) {
        case "text-delta":
        case "reasoning-delta":
        case "call-delta":
        case "live-delta": {
          const whole = this.#whole(part);
          if (whole === null) parts.splice(i--, 1);
          else if (whole !== part) parts[i] = whole;
          break;
        }
        case "text-end":
        case "reasoning-end":
        case "call-end":
        case "live-event":
        case "opaque":
        case "media":
        case "search-start": {
          const half = this.#take(part.block);
          if (half !== undefined) parts.splice(i++, 0, { ...half, text: "\ufffd" });
          if ("value" in part) parts[i] = { ...part, value: mapTexts(part.value, wellFormed) as Loose };
        }
      }
    }
  }

  #take(block: number): Delta | undefined {
    if (this.#halves.size === 0) return undefined;
    const half = this.#halves.get(block);
    this.#halves.delete(block);
    return half;
  }

  /** Null: only a half. */
  #whole(part: Delta): Delta | null {
    const half = this.#take(part.block);
    if (half === undefined && part.text.isWellFormed()) return part;
    const text = (half?.text ?? "") + part.text;
    const isCut = (text.charCodeAt(text.length - 1) & 0xfc00) === 0xd800;
    const end = isCut ? text.length - 1 : text.length;
    if (isCut) this.#halves.set(part.block, { ...bare(part), text: text.slice(end) });
    if (end === 0 && !("logprobs" in part)) return null;
    return { ...part, text: text.slice(0, end).toWellFormed() };
  }
}

const wellFormed = (text: string) => text.toWellFormed();

function bare(part: Delta): Delta {
  return part.type === "text-delta" ? { type: part.type, block: part.block, text: "" } : part;
}

/** All parts of an answer without lone surrogates. */
export function wholeCharacters(parts: Part[]): Part[] {
  new WholeCharacters().mend(parts, 0);
  return parts;
}
