/**
 * Reads what is written in an encoding: base64, hexadecimal, percent and quoted-printable escapes, HTML entities,
 * JavaScript escapes; and values broken over two lines.
 *
 * The result is a view of windows: each encoded part replaced by what it says, with some text around it, because the
 * word that names a value stands outside. A whole run of base64 or hexadecimal maps back to itself; escapes map back
 * one by one. Bounded: runs of 16 units and more, readable results only, at most twice the text in all.
 */

import { decodeHTMLStrict } from "entities";
import { ALPHANUMERIC, CLASS_OF, DIGIT } from "./recognizers/character_class.ts";
import { fold, type View } from "./fold.ts";

/** A part of the text and what it says. */
interface Spot {
  start: number;
  end: number;
  says: string;
}

const LEAD = 72;
const TRAIL = 48;
const LEAST = 16;

/** The view with encoded parts read, or null where there are none. */
export function decodings(view: View): View | null {
  const spots = [...runs(view.text), ...escapes(view.text)].sort((a, b) =>
    a.start - b.start || b.end - a.end
  );
  if (spots.length === 0) return null;
  const writer = new Writer(view);
  let budget = view.text.length * 2 + 4096;
  for (let i = 0; i < spots.length && budget > 0;) {
    const start = Math.max(0, spots[i].start - LEAD);
    let p = start;
    let end = spots[i].end;
    for (; i < spots.length && spots[i].start <= end + LEAD; i++) {
      const spot = spots[i];
      if (spot.start < p) continue;
      writer.copy(p, spot.start);
      writer.say(spot);
      budget -= spot.says.length;
      p = end = spot.end;
      if (budget <= 0) break;
    }
    writer.copy(p, Math.min(view.text.length, p + TRAIL));
    writer.part();
  }
  const decoded = writer.view();
  const folded = fold(decoded.text);
  if (!folded) return decoded;
  const from = folded.from!;
  const to = folded.to!;
  return {
    text: folded.text,
    from: from.map((at) => decoded.from![at]),
    to: to.map((at) => decoded.to![at - 1]),
    fresh: Uint8Array.from(from, (at) => decoded.fresh![at]),
  };
}

/** Collects windows and where their units come from. */
class Writer {
  #texts: string[] = [];
  #n = 0;
  #from = new Uint32Array(1024);
  #to = new Uint32Array(1024);
  #fresh = new Uint8Array(1024);
  #jointAt = -1;

  constructor(readonly base: View) {}

  #room(more: number): void {
    if (this.#n + more <= this.#from.length) return;
    const size = Math.max(this.#from.length * 2, this.#n + more);
    const [from, to, fresh] = [new Uint32Array(size), new Uint32Array(size), new Uint8Array(size)];
    from.set(this.#from);
    to.set(this.#to);
    fresh.set(this.#fresh);
    [this.#from, this.#to, this.#fresh] = [from, to, fresh];
  }

  copy(start: number, end: number): void {
    if (end <= start) return;
    this.#texts.push(this.base.text.slice(start, end));
    this.#room(end - start);
    const { from, to } = this.base;
    let n = this.#n;
    for (let i = start; i < end; i++, n++) {
      this.#from[n] = from ? from[i] : i;
      this.#to[n] = to ? to[i] : i + 1;
    }
    this.#n = n;
  }

  say(spot: Spot): void {
    this.#texts.push(spot.says);
    const length = spot.says.length;
    this.#room(length);
    const { from, to } = this.base;
    this.#from.fill(from ? from[spot.start] : spot.start, this.#n, this.#n + length);
    this.#to.fill(to ? to[spot.end - 1] : spot.end, this.#n, this.#n + length);
    this.#fresh.fill(1, this.#n, this.#n + length);
    this.#n += length;
  }

  /** Marks the next unit copied as following a removed break. */
  joint(): void {
    this.#jointAt = this.#n;
  }

  /** Ends a window. */
  part(): void {
    if (this.#jointAt >= 0 && this.#jointAt < this.#n) this.#fresh[this.#jointAt] = 2;
    this.#jointAt = -1;
    if (this.#n === 0) return;
    this.#texts.push("\n\n");
    this.#room(2);
    const last = this.#to[this.#n - 1];
    this.#from.fill(last, this.#n, this.#n + 2);
    this.#to.fill(last, this.#n, this.#n + 2);
    this.#n += 2;
  }

  view(): View {
    return {
      text: this.#texts.join(""),
      from: this.#from.subarray(0, this.#n),
      to: this.#to.subarray(0, this.#n),
      fresh: this.#fresh.subarray(0, this.#n),
    };
  }
}

const SIXTY_FOUR = new Int8Array(65536).fill(-1);
"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".split("").forEach((c, i) => {
  SIXTY_FOUR[c.charCodeAt(0)] = i;
});
SIXTY_FOUR[45] = 62;
SIXTY_FOUR[95] = 63;

/** Runs of base64 or hexadecimal that say something readable. */
function runs(text: string): Spot[] {
  const spots: Spot[] = [];
  let p = 0;
  while (p + LEAST <= text.length) {
    // A run of sixteen that covers the unit fifteen on cannot exist if that unit is no part of one.
    if (SIXTY_FOUR[text.charCodeAt(p + LEAST - 1)] < 0) {
      p += LEAST;
      continue;
    }
    if (SIXTY_FOUR[text.charCodeAt(p)] < 0) {
      p++;
      continue;
    }
    let end = p;
    let packed = "";
    for (let line = p;;) {
      while (end < text.length && SIXTY_FOUR[text.charCodeAt(end)] >= 0) end++;
      packed = packed === "" ? text.slice(line, end) : packed + text.slice(line, end);
      // Wrapped at 64 or 76 columns, as mail and PEM do.
      const skip = text.startsWith("\r\n", end) ? 2 : text.charCodeAt(end) === 10 ? 1 : 0;
      if (skip === 0 || end - line < 60 || SIXTY_FOUR[text.charCodeAt(end + skip)] < 0) break;
      line = end += skip;
    }
    const start = p;
    p = end;
    if (packed.length < LEAST || packed.length > 200_000) continue;
    const says = hexadecimal(packed) ?? sixtyFour(packed);
    if (says === null) continue;
    while (end < text.length && text.charCodeAt(end) === 61 && end - p < 2) end++;
    p = end;
    spots.push({ start, end, says });
  }
  return spots;
}

function hexadecimal(packed: string): string | null {
  if (packed.length % 2 !== 0 || !/^[0-9a-fA-F]{16}/.test(packed) || !/^[0-9a-fA-F]+$/.test(packed)) {
    return null;
  }
  const bytes = new Uint8Array(packed.length / 2);
  for (let i = 0; i < bytes.length; i++) bytes[i] = parseInt(packed.slice(i * 2, i * 2 + 2), 16);
  return readable(bytes);
}

function sixtyFour(packed: string): string | null {
  const n = packed.length - (packed.length % 4 === 1 ? 1 : 0);
  const bytes = new Uint8Array(Math.floor(n * 3 / 4));
  let bits = 0;
  let held = 0;
  let b = 0;
  for (let i = 0; i < n && b < bytes.length; i++) {
    held = (held << 6 | SIXTY_FOUR[packed.charCodeAt(i)]) & 0xffff;
    bits += 6;
    if (bits < 8) continue;
    bits -= 8;
    bytes[b++] = held >> bits & 255;
    // Words and paths fall out within the first few bytes.
    if (b <= 12 && (bytes[b - 1] < 9 || bytes[b - 1] === 127 || (bytes[b - 1] > 13 && bytes[b - 1] < 32))) {
      return null;
    }
  }
  return readable(bytes);
}

const utf8 = new TextDecoder();

/** Whether the bytes are UTF-8; decoding them to find out costs an exception each time they are not. */
function isUtf8(bytes: Uint8Array): boolean {
  for (let i = 0; i < bytes.length; i++) {
    const b = bytes[i];
    if (b < 128) continue;
    const more = b >= 0xf0 && b < 0xf5 ? 3 : b >= 0xe0 ? 2 : b >= 0xc2 ? 1 : 0;
    if (more === 0 || b >= 0xf5 || i + more >= bytes.length) return false;
    for (let k = 0; k < more; k++) if ((bytes[++i] & 0xc0) !== 0x80) return false;
  }
  return true;
}

/** The bytes as text, if that is what they are. */
function readable(bytes: Uint8Array): string | null {
  let odd = 0;
  let high = 0;
  for (const b of bytes) {
    if (b > 127) high++;
    else if (b < 9 || b === 127 || (b > 13 && b < 32)) odd++;
  }
  if (odd * 20 > bytes.length || high * 2 > bytes.length && bytes.length < 24) return null;
  return high > 0 && !isUtf8(bytes) ? null : utf8.decode(bytes);
}

/** The characters that markup itself is made of are passed over: ordinary pages are full of them, values have none. */
const ESCAPE =
  /(?:%[0-9A-Fa-f]{2}){1,64}|&(?!(?:amp|lt|gt|quot|apos);)(?:#\d{1,7}|#[xX][0-9A-Fa-f]{1,6}|[A-Za-z][A-Za-z0-9]{1,30});|\\u[0-9A-Fa-f]{4}|\\u\{[0-9A-Fa-f]{1,6}\}|\\x[0-9A-Fa-f]{2}|=(?:40|2E|2D|20|3D|5F|3A|2F)(?![0-9A-Za-z]{0,2}[\s;,)])|(?:=[0-9A-F]{2}){2,64}/g;
/** Escapes of single characters. */
function escapes(text: string): Spot[] {
  const spots: Spot[] = [];
  if (!/[%&\\=]/.test(text)) return spots;
  ESCAPE.lastIndex = 0;
  for (let m = ESCAPE.exec(text); m; m = ESCAPE.exec(text)) {
    const [raw] = m;
    const start = m.index;
    const mark = raw.charCodeAt(0);
    if (mark === 37 || mark === 61) {
      bytewise(raw, start, spots);
      continue;
    }
    const says = mark === 38 ? entity(raw) : point(parseInt(raw.replace(/[\\ux{}]/g, ""), 16));
    if (says !== null) spots.push({ start, end: start + raw.length, says });
  }
  return spots;
}

/** What names of HTML's characters say, learnt when first met. */
const NAMED = new Map<string, string | null>();

/** A character reference of HTML, or null where it is none. */
function entity(written: string): string | null {
  if (written.charCodeAt(1) === 35) {
    const digits = written.slice(2, -1);
    return point(/^x/i.test(digits) ? parseInt(digits.slice(1), 16) : Number(digits));
  }
  let says = NAMED.get(written);
  if (says === undefined) {
    const decoded = decodeHTMLStrict(written);
    // Blanks and hyphens as plain ones: a view that is not ASCII would have to be folded whole.
    says = decoded === written ? null : fold(decoded)?.text ?? decoded;
    if (NAMED.size < 4096) NAMED.set(written, says);
  }
  return says;
}

function point(n: number): string | null {
  return n > 8 && n <= 0x10ffff ? String.fromCodePoint(n) : null;
}

/** `%41%c3%a9`: plain bytes one by one, the others as the UTF-8 sequences they form. */
function bytewise(raw: string, start: number, spots: Spot[]): void {
  const count = raw.length / 3;
  const byte = (i: number) => parseInt(raw.slice(i * 3 + 1, i * 3 + 3), 16);
  for (let i = 0; i < count;) {
    const b = byte(i);
    let n = 1;
    let says = b > 8 && b < 127 ? String.fromCharCode(b) : "";
    if (b >= 0xc2) {
      n = Math.min(count - i, b >= 0xf0 ? 4 : b >= 0xe0 ? 3 : 2);
      const bytes = Uint8Array.from({ length: n }, (_, k) => byte(i + k));
      if (isUtf8(bytes)) says = utf8.decode(bytes);
      else n = 1;
    }
    if (says !== "") spots.push({ start: start + i * 3, end: start + (i + n) * 3, says });
    i += n;
  }
}

/** Windows around line breaks that may cut a value in two, without the break; null where there are none. */
export function joinLines(view: View): View | null {
  const text = view.text;
  let writer: Writer | null = null;
  let budget = text.length * 2 + 4096;
  for (let at = text.indexOf("\n"); at >= 0 && budget > 0; at = text.indexOf("\n", at + 1)) {
    const left = text.charCodeAt(at - 1) === 13 ? at - 1 : at;
    if (!mayContinue(text, left, at + 1)) continue;
    writer ??= new Writer(view);
    const start = Math.max(0, left - 96);
    const end = Math.min(text.length, at + 120);
    budget -= end - start;
    writer.copy(start, left);
    writer.joint();
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
