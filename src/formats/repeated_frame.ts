/**
 * A stream's frames that differ in nothing but the text they bring: thousands of them follow one another, and to parse the JSON of each
 * takes ten times as long as to see that it is the frame before with another text.
 *
 * Padding against the guessing of tokens by their lengths, of OpenAI, may differ too.
 */
import type { Frame } from "./format.ts";
import { literalEnd, unescaped } from "./json_literal.ts";

const PADDING = '"obfuscation":"';
/** Where so many frames in a row were learnt for nothing, each is another: no more of them are learnt. */
const MOST_IN_VAIN = 16;
/** A longer frame is not kept. */
const MOST_CHARACTERS = 8192;

export class RepeatedFrame {
  #event = "";
  /** Up to the text; null: no frame is known. */
  #before: string | null = null;
  /** From the text on, or up to the padding. */
  #behind = "";
  /** Behind the padding; null: there is none. */
  #end: string | null = null;
  #inVain = 0;

  /**
   * The text of a frame that is the one learnt last but for it, as it would be parsed. Null: it is another frame, and as long as nothing
   * new is learnt, so is every later one.
   */
  textOf({ event, data, value }: Frame): string | null {
    const before = this.#before;
    if (before === null) return null;
    const from = before.length;
    // Of slices: `startsWith` goes letter by letter.
    if (value === undefined && event === this.#event && data.slice(0, from) === before) {
      const to = literalEnd(data, from);
      if (this.#goesOn(data, Math.abs(to))) {
        const text = to >= 0 ? data.slice(from, to) : unescaped(data.slice(from, -to));
        if (text !== null) {
          this.#inVain = 0;
          return text;
        }
      }
    }
    this.#before = null;
    return null;
  }

  /**
   * @param field names the text, at whichever depth; what else the frame says must mean nothing new when it comes once more
   */
  learn({ event, data }: Frame, field: string): void {
    if (++this.#inVain > MOST_IN_VAIN || data.length > MOST_CHARACTERS || data.includes("\\")) return;
    const name = `"${field}"`;
    const at = data.indexOf(name);
    const from = at + name.length + 2;
    // Without escapes a name in quotes is nothing else. Where it is there once, and the frame has the field, it is that field.
    if (at < 0 || !data.startsWith(':"', at + name.length) || data.indexOf(name, from) >= 0) return;
    const to = data.indexOf('"', from);
    this.#event = event;
    this.#before = data.slice(0, from);
    const padding = data.indexOf(PADDING, to);
    const start = padding + PADDING.length;
    this.#behind = padding < 0 ? data.slice(to) : data.slice(to, start);
    this.#end = padding < 0 ? null : data.slice(data.indexOf('"', start));
  }

  /** Whether the frame goes on as the one learnt behind its text, which ends there. */
  #goesOn(data: string, at: number): boolean {
    const behind = this.#behind;
    const end = this.#end;
    if (end === null) return data.length === at + behind.length && data.slice(at) === behind;
    const padding = at + behind.length;
    if (data.slice(at, padding) !== behind) return false;
    const close = literalEnd(data, padding);
    return close >= 0 && data.length === close + end.length && data.slice(close) === end;
  }
}
