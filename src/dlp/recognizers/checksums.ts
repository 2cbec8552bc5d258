/**
 * Check digit algorithms used by several countries. Every function takes the compact value (digits, or
 * upper-case letters and digits, without separators) and returns whether it is valid; the caller checks the
 * length.
 */

const ZERO = 48;

/** The digit at index `i`. */
export function digit(s: string, i: number): number {
  return s.charCodeAt(i) - ZERO;
}

/** Weighted sum of the leading digits of `s`. */
export function weighted(s: string, weights: readonly number[]): number {
  let sum = 0;
  for (let i = 0; i < weights.length; i++) sum += (s.charCodeAt(i) - ZERO) * weights[i];
  return sum;
}

/** The same with letters, which have values from ten. */
export function weightedSum(s: string, weights: readonly number[]): number {
  let sum = 0;
  for (let i = 0; i < weights.length; i++) {
    const c = s.charCodeAt(i);
    sum += (c < 58 ? c - ZERO : c - 55) * weights[i];
  }
  return sum;
}

/** Mod 10 with every second digit from the right doubled (ISO/IEC 7812-1). */
export function luhn(s: string): boolean {
  let sum = 0;
  let double = false;
  for (let i = s.length - 1; i >= 0; i--) {
    let d = s.charCodeAt(i) - ZERO;
    if (double && (d *= 2) > 9) d -= 9;
    sum += d;
    double = !double;
  }
  return sum % 10 === 0;
}

/** A single repeated digit passes many checks but is not a real number. */
export function repeated(s: string): boolean {
  for (let i = 1; i < s.length; i++) if (s.charCodeAt(i) !== s.charCodeAt(0)) return false;
  return true;
}

/** Remainder of a decimal string of any length. */
export function modulo(s: string, m: number): number {
  let r = 0;
  for (let i = 0; i < s.length; i++) r = (r * 10 + s.charCodeAt(i) - ZERO) % m;
  return r;
}

/** ISO 7064 mod 97-10 over letters (A = 10) and digits. */
export function mod97(s: string): number {
  let r = 0;
  for (let i = 0; i < s.length; i++) {
    const c = s.charCodeAt(i);
    r = c < 58 ? (r * 10 + c - ZERO) % 97 : (r * 100 + c - 55) % 97;
  }
  return r;
}

/** ISO 7064 mod 11,10; the last digit is the check digit. */
export function mod1110(s: string): boolean {
  let p = 10;
  for (let i = 0; i < s.length - 1; i++) {
    p = (p + digit(s, i)) % 10 || 10;
    p = (p * 2) % 11;
  }
  return (11 - p) % 10 === digit(s, s.length - 1);
}

const D5 =
  "0123456789123406789523401789563401289567401239567859876043216598710432765982104387659321049876543210";
const PERMUTE = [
  "0123456789",
  "1576283094",
  "5803796142",
  "8916043527",
  "9453126870",
  "4286573901",
  "2793806415",
  "7046913258",
];

/** Verhoeff's algorithm. */
export function verhoeff(s: string): boolean {
  let c = 0;
  for (let i = 0; i < s.length; i++) {
    const p = digit(PERMUTE[i % 8], digit(s, s.length - 1 - i));
    c = digit(D5, c * 10 + p);
  }
  return c === 0;
}

/** Whether year, month and day form a valid date; a two-digit year may be of any century. */
export function validDate(year: number, month: number, day: number): boolean {
  if (month < 1 || month > 12 || day < 1) return false;
  const leap = year % 4 === 0 && (year < 100 || year % 100 !== 0 || year % 400 === 0);
  return day <= (month === 2 ? (leap ? 29 : 28) : [4, 6, 9, 11].includes(month) ? 30 : 31);
}

/** The number formed by two digits at `i`. */
export function two(s: string, i: number): number {
  return digit(s, i) * 10 + digit(s, i + 1);
}

/** Whether two-digit year, month and day at these indices form a valid date. */
export function dateAt(s: string, year: number, month: number, day: number): boolean {
  return validDate(two(s, year), two(s, month), two(s, day));
}
