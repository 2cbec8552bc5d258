/**
 * Makes disguised text plain: compatibility forms, invisible units, look-alike letters, foreign digits, exotic
 * blanks and hyphens become what they look like, with a map back to where each came from.
 *
 * Text that is plain already costs one pattern test. Letters of other scripts stay letters of other scripts unless
 * they stand inside a word of Latin letters or digits: "ЕГН" is a word, "АКІА1" with four Cyrillic letters is not.
 */

export interface View {
  readonly text: string;
  /** For each unit, where in the text that was sent its origin begins and ends; absent: it is that text. */
  readonly from?: Uint32Array;
  readonly to?: Uint32Array;
  /** 1 for units that this view reveals, 2 for the first after a line break that it removes. */
  readonly fresh?: Uint8Array;
}

const UNKNOWN = 0;
const DROP = 1;
const SEVERAL = 2;
/** What each unit becomes, learnt when it is first met. */
const table = new Uint16Array(65536);
const several = new Map<number, string>();

const LOOKALIKES = new Map<number, number>();
for (
  const [from, to] of [
    ["АВЕКМНОРСТУХЅІЈԌԚԜаеорсухѕіјһԁԛԝѵӏкь", "ABEKMHOPCTYXSIJGQWaeopcyxsijhdqwvlkb"],
    ["ΑΒΕΖΗΙΚΜΝΟΡΤΥΧαονρικυϲϳ", "ABEZHIKMNOPTYXaovpikucj"],
    ["օսհոԼՏՕ", "ouhnLSO"],
    ["ıɡɑɩʟ", "igail"],
    ["ᎪᏴᏟᎠᎬᏀᎻᎫᏦᏞᎷᏢᎡᏚᎢᏙᎳᏃ", "ABCDEGHJKLMPRSTVWZ"],
  ]
) {
  [...from].forEach((c, i) => LOOKALIKES.set(c.charCodeAt(0), to.charCodeAt(i)));
}

const BLANK = /^[\p{Zs}\u2028\u2029]$/u;
const IGNORED = /^[\p{Cf}\p{Default_Ignorable_Code_Point}]$/u;
const DECIMAL = /^\p{Nd}$/u;
const MARK = /^\p{Mn}$/u;
const HYPHENS = "\u2010\u2011\u2012\u2013\u2014\u2015\u2212\u2043\ufe58\ufe63\uff0d\u02d7\u30fc\u2500";
const DOTS = "\u3002\uff61\u2024\u00b7\u2027\u30fb";

/** The plain form of one code point, "" for one that is not there to be read. */
function plain(point: number): string {
  const c = String.fromCodePoint(point);
  if (point >= 0xe0020 && point <= 0xe007e) return String.fromCharCode(point - 0xe0000);
  if (IGNORED.test(c)) return "";
  if (BLANK.test(c)) return point === 0x2028 || point === 0x2029 ? "\n" : " ";
  if (HYPHENS.includes(c)) return "-";
  if (DOTS.includes(c)) return ".";
  if (DECIMAL.test(c)) {
    // Digits of a script stand in rows of ten that begin at a code point ending in 0 or 6.
    const nfkc = c.normalize("NFKC");
    if (/^\d$/.test(nfkc)) return nfkc;
    const low = point & 15;
    const row = DECIMAL.test(String.fromCodePoint(point - low)) ? low : low - 6;
    return row >= 0 && row <= 9 ? String(row) : c;
  }
  const nfkc = c.normalize("NFKC");
  return nfkc === c
    ? c
    : [...nfkc].map((d) => d === c || d.charCodeAt(0) < 128 ? d : plain(d.codePointAt(0)!)).join("");
}

function learn(unit: number): number {
  const form = plain(unit);
  if (form === "") table[unit] = DROP;
  else if (form.length === 1) table[unit] = form.charCodeAt(0);
  else {
    table[unit] = SEVERAL;
    several.set(unit, form);
  }
  return table[unit];
}

const NON_ASCII = /[\u0080-\uffff]/;

/** The text made plain, or null where it is plain already. */
export function fold(text: string): View | null {
  const first = text.search(NON_ASCII);
  if (first < 0) return null;
  let out = new Uint16Array(text.length + 64);
  let from = new Uint32Array(out.length);
  let to = new Uint32Array(out.length);
  let n = 0;
  let changed = false;
  let lookalike = false;
  const put = (unit: number, start: number, end: number) => {
    if (n === out.length) {
      out = grown(out, new Uint16Array(n * 2));
      from = grown(from, new Uint32Array(n * 2));
      to = grown(to, new Uint32Array(n * 2));
    }
    out[n] = unit;
    from[n] = start;
    to[n++] = end;
  };
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    if (unit < 128) {
      put(unit, i, i + 1);
      continue;
    }
    if (unit >= 0xd800 && unit < 0xdc00 && i + 1 < text.length) {
      const point = text.codePointAt(i)!;
      const form = point > 0xffff ? plain(point) : String.fromCharCode(unit);
      if (point > 0xffff && form !== String.fromCodePoint(point)) changed = true;
      for (let k = 0; k < form.length; k++) put(form.charCodeAt(k), i, i + (point > 0xffff ? 2 : 1));
      if (point > 0xffff) i++;
      continue;
    }
    const form = table[unit] === UNKNOWN ? learn(unit) : table[unit];
    if (form === DROP) {
      changed = true;
      // What is invisible belongs to the unit before it, so that a masked span leaves none of it behind.
      if (n > 0) to[n - 1] = i + 1;
    } else if (form === SEVERAL) {
      changed = true;
      for (const c of several.get(unit)!) put(c.charCodeAt(0), i, i + 1);
    } else if (unit >= 0x300 && unit < 0x370 && n > 0 && out[n - 1] < 128 && MARK.test(text[i])) {
      changed = true;
      to[n - 1] = i + 1;
    } else {
      if (form !== unit) changed = true;
      if (LOOKALIKES.has(form)) lookalike = true;
      put(form, i, i + 1);
    }
  }
  if (lookalike && unmask(out, n)) changed = true;
  if (!changed) return null;
  return { text: textOf(out.subarray(0, n)), from: from.subarray(0, n), to: to.subarray(0, n) };
}

function grown<T extends Uint16Array | Uint32Array>(old: T, larger: T): T {
  larger.set(old);
  return larger;
}

const decoder = new TextDecoder("utf-16le");

function textOf(units: Uint16Array): string {
  return decoder.decode(units);
}

/** Replaces look-alikes in words that hold, or hang on, Latin letters or digits and have no other foreign letter. */
function unmask(out: Uint16Array, n: number): boolean {
  let changed = false;
  for (let i = 0; i < n;) {
    if (out[i] <= 32) {
      i++;
      continue;
    }
    let end = i;
    let ascii = false;
    for (; end < n && out[end] > 32; end++) if (isAscii(out[end])) ascii = true;
    // A short word in front of a number is a part of it.
    if (!ascii && end - i <= 6 && out[end] === 32 && out[end + 1] >= 48 && out[end + 1] < 58) ascii = true;
    for (let w = i; ascii && w < end;) {
      let stop = w;
      let foreign = false;
      let alike = false;
      for (; stop < end && (isAscii(out[stop]) || out[stop] > 127); stop++) {
        if (out[stop] < 128) continue;
        if (LOOKALIKES.has(out[stop])) alike = true;
        else foreign = true;
      }
      if (alike && !foreign) {
        for (let k = w; k < stop; k++) out[k] = LOOKALIKES.get(out[k]) ?? out[k];
        changed = true;
      }
      w = stop + 1;
    }
    i = end;
  }
  return changed;
}

function isAscii(c: number): boolean {
  return (c >= 48 && c < 58) || (c >= 65 && c < 91) || (c >= 97 && c < 123);
}
