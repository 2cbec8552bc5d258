/**
 * Check digits and dates of non-European identity and tax numbers, where the algorithm is longer than one
 * line.
 *
 * Every function takes the compact number in upper case, with length and form already verified.
 */

import { dateAt, digit, repeated, two, validDate, weighted } from "../checksums.ts";

/**
 * Brazil: CPF and CNPJ.
 *
 * @param weights weights of the last check digit; those of the first one omit the first element
 */
export function brazilian(s: string, length: number, weights: readonly number[]): boolean {
  // The CNPJ of 2026 allows letters, with the value of their ASCII code minus 48, as for digits.
  for (const n of [length - 2, length - 1]) {
    const r = weighted(s, weights.slice(weights.length - n)) % 11;
    if ((r < 2 ? 0 : 11 - r) !== digit(s, n)) return false;
  }
  return !repeated(s.slice(0, length - 2));
}

export const CPF = [11, 10, 9, 8, 7, 6, 5, 4, 3, 2];
export const CNPJ = [6, 5, 4, 3, 2, 9, 8, 7, 6, 5, 4, 3, 2];

/** China: number of the resident identity card. */
export function resident(s: string): boolean {
  if (!/^(?:1[1-5]|2[1-3]|3[1-7]|4[1-6]|5[0-4]|6[1-5]|71|8[1-3])/.test(s)) return false;
  const year = Number(s.slice(6, 10));
  if (year < 1900 || year > 2099 || !validDate(year, two(s, 10), two(s, 12))) return false;
  const sum = weighted(s, [7, 9, 10, 5, 8, 4, 2, 1, 6, 3, 7, 9, 10, 5, 8, 4, 2]);
  return "10X98765432"[sum % 11] === s[17];
}

/** Hong Kong: number of the identity card. */
export function hongKong(s: string): boolean {
  const letters = s.length === 9 ? [s.charCodeAt(0) - 55, s.charCodeAt(1) - 55] : [36, s.charCodeAt(0) - 55];
  const sum = letters[0] * 9 + letters[1] * 8 + weighted(s.slice(-7, -1), [7, 6, 5, 4, 3, 2]);
  return "0A987654321"[sum % 11] === s.at(-1);
}

const TAIWAN = "ABCDEFGHJKLMNPQRSTUVXYWZIO";

/** Taiwan: national identification number, also of residents. */
export function taiwan(s: string): boolean {
  const region = TAIWAN.indexOf(s[0]) + 10;
  const sum = Math.floor(region / 10) + (region % 10) * 9 + weighted(s.slice(1), [8, 7, 6, 5, 4, 3, 2, 1, 1]);
  // The sex follows the region; 8 and 9 are for residents without citizenship.
  return region >= 10 && /^.[1289]/.test(s) && sum % 10 === 0;
}

const CURP_FORM =
  /^[A-Z]{4}\d{6}[HMX](?:AS|BC|BS|CC|CL|CM|CS|CH|DF|DG|GT|GR|HG|JC|MC|MN|MS|NT|NL|OC|PL|QT|QR|SP|SL|SR|TC|TS|TL|VZ|YN|ZS|NE)/;

/** Mexico: CURP of persons. */
export function curp(s: string): boolean {
  if (!CURP_FORM.test(s)) return false;
  const alphabet = "0123456789ABCDEFGHIJKLMNÑOPQRSTUVWXYZ";
  let sum = 0;
  for (let i = 0; i < 17; i++) sum += alphabet.indexOf(s[i]) * (18 - i);
  return dateAt(s, 4, 6, 8) && (10 - sum % 10) % 10 === digit(s, 17);
}

const BASE_36 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";

/** A state code, the holder's PAN, and a checksum in base 36 with weights 1 and 2. */
export function gstin(s: string): boolean {
  const state = two(s, 0);
  if (!(state >= 1 && state <= 38 || state === 97 || state === 99)) return false;
  let sum = 0;
  for (let i = 0; i < 14; i++) {
    const product = BASE_36.indexOf(s[i]) * (i % 2 + 1);
    sum += Math.floor(product / 36) + product % 36;
  }
  return BASE_36[(36 - sum % 36) % 36] === s[14];
}

/** Singapore: NRIC and FIN. */
export function singapore(s: string): boolean {
  const sum = weighted(s.slice(1), [2, 7, 6, 5, 4, 3, 2]);
  if (s[0] === "M") return "XWUTRQPNJLK"[10 - (sum + 3) % 11] === s[8];
  const shifted = sum + (s[0] === "T" || s[0] === "G" ? 4 : 0);
  return (s[0] < "G" || s[0] === "G" ? "XWUTRQPNMLK" : "JZIHGFEDCBA")[shifted % 11] === s[8];
}

/** Singapore: number of companies and other entities (UEN). */
export function uen(s: string): boolean {
  if (/^\d{8}[A-Z]$/.test(s)) return "XMKECAWLJDB"[weighted(s, [10, 4, 9, 3, 8, 2, 7, 1]) % 11] === s[8];
  if (/^\d{9}[A-Z]$/.test(s)) {
    return /^(?:1[89]|20)/.test(s) && "ZKCMDNERGWH"[weighted(s, [10, 8, 6, 4, 9, 7, 5, 3, 1]) % 11] === s[9];
  }
  const alphabet = "ABCDEFGHJKLMNPQRSTUVWX0123456789";
  let sum = 0;
  [4, 3, 5, 3, 10, 2, 2, 5, 7].forEach((w, i) => sum += w * alphabet.indexOf(s[i]));
  return alphabet[((sum - 5) % 11 + 11) % 11] === s[9];
}

/** South Korea: resident registration number. */
export function korean(s: string): boolean {
  if (!dateAt(s, 0, 2, 4)) return false;
  // Since October 2020 the last digits are random; the check applies to older numbers, and those of other
  // centuries.
  return /[1-4]/.test(s[6]) ||
    (11 - weighted(s, [2, 3, 4, 5, 6, 7, 8, 9, 2, 3, 4, 5]) % 11) % 10 === digit(s, 12);
}

/** Türkiye: identification number. */
export function turkish(s: string): boolean {
  if (s[0] === "0") return false;
  const odd = digit(s, 0) + digit(s, 2) + digit(s, 4) + digit(s, 6) + digit(s, 8);
  const even = digit(s, 1) + digit(s, 3) + digit(s, 5) + digit(s, 7);
  const tenth = ((odd * 7 - even) % 10 + 10) % 10;
  return tenth === digit(s, 9) && (odd + even + tenth) % 10 === digit(s, 10);
}

/** Mexico: tax number of persons and companies (RFC). */
export function rfc(s: string): boolean {
  const alphabet = "0123456789ABCDEFGHIJKLMN&OPQRSTUVWXYZ Ñ";
  const full = s.padStart(13, " ");
  let sum = 0;
  for (let i = 0; i < 12; i++) sum += alphabet.indexOf(full[i]) * (13 - i);
  return dateAt(full, 4, 6, 8) && "0A987654321"[sum % 11] === full[12];
}

/** Russia: tax number of 10 or 12 digits (INN). */
export function inn(s: string): boolean {
  if (repeated(s)) return false;
  if (s.length === 10) return weighted(s, [2, 4, 10, 3, 5, 9, 4, 6, 8]) % 11 % 10 === digit(s, 9);
  return weighted(s, [7, 2, 4, 10, 3, 5, 9, 4, 6, 8]) % 11 % 10 === digit(s, 10) &&
    weighted(s, [3, 7, 2, 4, 10, 3, 5, 9, 4, 6, 8]) % 11 % 10 === digit(s, 11);
}

/** Chile: RUT. */
export function rut(s: string): boolean {
  const body = s.slice(0, -1);
  let sum = 0;
  for (let i = 0; i < body.length; i++) sum += digit(body, body.length - 1 - i) * (i % 6 + 2);
  return "0K987654321"[sum % 11] === s.at(-1) && !repeated(body);
}

/** New Zealand: tax number (IRD). */
export function ird(s: string): boolean {
  const n = s.padStart(9, "0");
  const number = Number(n);
  if (number < 10_000_000 || number > 150_000_000) {
    if (number < 1_000_000 || number > 150_000_000) return false;
  }
  let r = weighted(n, [3, 2, 7, 6, 5, 4, 3, 2]) % 11;
  let check = r === 0 ? 0 : 11 - r;
  if (check === 10) {
    r = weighted(n, [7, 4, 3, 2, 5, 2, 7, 6]) % 11;
    check = r === 0 ? 0 : 11 - r;
  }
  return check === digit(n, 8);
}
