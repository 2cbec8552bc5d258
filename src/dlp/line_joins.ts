/** Values that a line break cuts in two: windows around breaks that may do so, without them. */

import { ALPHANUMERIC, CLASS_OF, DIGIT } from "./recognizers/character_class.ts";
import { type View, ViewWriter } from "./view.ts";

/** Windows around line breaks that may cut a value in two, without the break; null where there are none. */
export function joinLines(view: View): View | null {
  const text = view.text;
  let writer: ViewWriter | null = null;
  let budget = text.length * 2 + 4096;
  for (let at = text.indexOf("\n"); at >= 0 && budget > 0; at = text.indexOf("\n", at + 1)) {
    const left = text.charCodeAt(at - 1) === 13 ? at - 1 : at;
    if (!mayContinue(text, left, at + 1)) continue;
    writer ??= new ViewWriter(view);
    const start = Math.max(0, left - 96);
    const end = Math.min(text.length, at + 120);
    budget -= end - start;
    writer.copy(start, left);
    writer.copy(at + 1, end);
    writer.part();
    if (isDigit(text, left - 1) && isDigit(text, at + 1)) {
      // Broken between two groups, the break is the separator.
      writer.copy(start, left);
      writer.say({ start: left, end: at + 1, says: " " });
      writer.copy(at + 1, end);
      writer.part();
    }
  }
  return writer ? writer.view() : null;
}

function isDigit(text: string, at: number): boolean {
  return CLASS_OF[text.charCodeAt(at)] === DIGIT;
}

/** A break inside something that is not prose: a digit or an at sign near, or capitals, and nothing blank between. */
function mayContinue(text: string, left: number, right: number): boolean {
  // Lines of a few characters are columns of a table or a list.
  if (
    text.charCodeAt(left - 2) === 10 || text.charCodeAt(left - 3) === 10 || text.charCodeAt(right + 1) === 10
  ) return false;
  const a = text.charCodeAt(left - 1);
  const b = text.charCodeAt(right);
  if (b === 32 && text.charCodeAt(right + 1) > 32) {
    return telling(text, left - 1, -1, a === 32) && telling(text, right + 1, 1, false);
  }
  if (!(b > 32) || !(a >= 32)) return false;
  if ((CLASS_OF[b] & ALPHANUMERIC) === 0 && b !== 64 && b !== 46 && b !== 58 && b !== 45) return false;
  if (
    (CLASS_OF[a] & ALPHANUMERIC) === 0 && a !== 64 && a !== 46 && a !== 58 && a !== 45 && a !== 43 &&
    a !== 32 &&
    a !== 95
  ) return false;
  return telling(text, left - 1, -1, a === 32) || telling(text, right, 1, false);
}

function telling(text: string, from: number, step: number, blank: boolean): boolean {
  let capitals = 0;
  let others = 0;
  for (let i = from, n = 0; n < 24 && i >= 0 && i < text.length; i += step, n++) {
    const c = text.charCodeAt(i);
    if (c <= 32) {
      if (blank && n === 0) continue;
      break;
    }
    const kind = CLASS_OF[c];
    if (kind === DIGIT || c === 64) return true;
    if (c >= 65 && c < 91) capitals++;
    else others++;
  }
  return capitals >= 5 && others === 0;
}
