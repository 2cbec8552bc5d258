/**
 * Check digits and dates of European identity and tax numbers, where the algorithm is longer than one line.
 *
 * Every function takes the compact number in upper case, with length and form already verified.
 */

import { dateAt, digit, luhn, mod1110, modulo, repeated, two, validDate, weighted } from "../checksums.ts";

const DNI = "TRWAGMYFPDXBNJZSQVHLCKE";
const ICAO = [7, 3, 1];

/** The check of machine-readable travel documents: letters have values from ten, weights 7, 3, 1. */
export function icao(s: string): boolean {
  let sum = 0;
  for (let i = 0; i < s.length - 1; i++) sum += parseInt(s[i], 36) * ICAO[i % 3];
  return sum % 10 === digit(s, s.length - 1);
}

/** Spain: DNI of citizens and NIE of foreigners. */
export function dni(s: string): boolean {
  const number = s.replace(/^[XYZ]/, (c) => String("XYZ".indexOf(c))).replace(/^[KLM]/, "");
  return DNI[modulo(number.slice(0, -1), 23)] === s[s.length - 1];
}

const CF_ODD = [1, 0, 5, 7, 9, 13, 15, 17, 19, 21, 2, 4, 18, 20, 11, 3, 6, 8, 12, 14, 16, 10, 22, 25, 24, 23];
/** Letters that replace digits if two persons would have the same code (omocodia). */
const OMOCODIA = "LMNPQRSTUV";
const CF_MONTHS = "ABCDEHLMPRST";

/** Italy: codice fiscale of persons, 16 characters. */
export function codiceFiscale(s: string): boolean {
  let sum = 0;
  for (let i = 0; i < 15; i++) {
    const c = s.charCodeAt(i);
    const value = c < 58 ? c - 48 : c - 65;
    sum += i % 2 === 0 ? CF_ODD[value] : value;
  }
  if (sum % 26 !== s.charCodeAt(15) - 65) return false;
  const written = s.slice(6, 8) + s.slice(9, 11);
  const plain = written.replace(/[A-Z]/g, (c) => String(OMOCODIA.indexOf(c)));
  const month = CF_MONTHS.indexOf(s[8]) + 1;
  return /^\d{4}$/.test(plain) && validDate(two(plain, 0), month, two(plain, 2) % 40);
}

/** Germany: pension insurance number. */
export function germanPension(s: string): boolean {
  const area = two(s, 0);
  const day = two(s, 2) % 50;
  if (area < 2 || area > 89 || !validDate(two(s, 6), two(s, 4), day === 0 ? 1 : day)) return false;
  const letter = s.charCodeAt(8) - 64;
  const number = s.slice(0, 8) + String(letter).padStart(2, "0") + s.slice(9, 11);
  let sum = 0;
  [2, 1, 2, 5, 7, 1, 2, 1, 2, 1, 2, 1].forEach((w, i) => {
    const p = digit(number, i) * w;
    sum += Math.floor(p / 10) + p % 10;
  });
  return sum % 10 === digit(s, 11);
}

/**
 * Seven digits, a check letter, and since 2013 a further letter that is part of the checksum; the older `W`,
 * `T` and `X` are not.
 */
export function pps(s: string): boolean {
  const second = s.length > 8 && !"WTX".includes(s[8]) ? s.charCodeAt(8) - 64 : 0;
  if (second > 9) return false;
  return "WABCDEFGHIJKLMNOPQRSTUV"[(weighted(s, [8, 7, 6, 5, 4, 3, 2]) + second * 9) % 23] === s[7];
}

/** German tax numbers: among the first ten digits one occurs two or three times, but not three times in a row. */
export function germanTax(s: string): boolean {
  if (s[0] === "0") return false;
  const counts = new Uint8Array(10);
  for (let i = 0; i < 10; i++) counts[digit(s, i)]++;
  let several = 0;
  for (let d = 0; d < 10; d++) {
    if (counts[d] > 3) return false;
    if (counts[d] > 1) several++;
  }
  return several === 1 && !/(\d)\1\1/.test(s.slice(0, 10)) && mod1110(s);
}

/** Spain: tax number of companies. */
export function cif(s: string): boolean {
  if (!/^[ABCDEFGHJNPQRSUVW]\d{7}[0-9A-J]$/.test(s)) return false;
  const check = (10 - sumLuhn(s.slice(1, 8)) % 10) % 10;
  const last = s[8];
  return last === String(check) || (last === "JABCDEFGHI"[check] && !/[ABEH]/.test(s[0]));
}

function sumLuhn(s: string): number {
  let sum = 0;
  for (let i = 0; i < s.length; i++) {
    const d = digit(s, i) * (i % 2 === 0 ? 2 : 1);
    sum += d > 9 ? d - 9 : d;
  }
  return sum;
}

/** France: social security number. */
export function nir(s: string): boolean {
  const corsica = s[6] === "A" && s[5] === "2" ? 19 : s[6] === "B" && s[5] === "2" ? 18 : 0;
  const number = corsica ? s.slice(0, 5) + corsica + s.slice(7) : s;
  if (!/^[12378]\d{14}$/.test(number)) return false;
  const month = two(s, 3);
  if (!((month >= 1 && month <= 12) || (month >= 20 && month <= 42) || month >= 50)) return false;
  return 97 - modulo(number.slice(0, 13), 97) === two(s, 13);
}

/** Estonia and Lithuania: personal code. */
export function baltic(s: string): boolean {
  if (!dateAt(s, 1, 3, 5) || !/^[1-8]/.test(s)) return false;
  let check = weighted(s, [1, 2, 3, 4, 5, 6, 7, 8, 9, 1]) % 11;
  if (check === 10) check = weighted(s, [3, 4, 5, 6, 7, 8, 9, 1, 2, 3]) % 11 % 10;
  return check === digit(s, 10);
}

/** Czechia and Slovakia: birth number. */
export function czech(s: string): boolean {
  const month = two(s, 2) % 50;
  if (!validDate(two(s, 0), month > 20 ? month - 20 : month, two(s, 4))) return false;
  if (s.length === 9) return two(s, 0) < 54 && !s.endsWith("000");
  const check = modulo(s.slice(0, 9), 11) % 10;
  return check === digit(s, 9);
}

/** Poland: PESEL. */
export function pesel(s: string): boolean {
  return validDate(two(s, 0), two(s, 2) % 20, two(s, 4)) && !repeated(s) &&
    (10 - weighted(s, [1, 3, 7, 9, 1, 3, 7, 9, 1, 3]) % 10) % 10 === digit(s, 10);
}

/** Finland: personal identity code. */
export function hetu(s: string): boolean {
  if (!dateAt(s, 4, 2, 0)) return false;
  const serial = Number(s.slice(-4, -1));
  return serial >= 2 &&
    "0123456789ABCDEFHJKLMNPRSTUVWXY"[Number(s.slice(0, 6) + s.slice(-4, -1)) % 31] === s.at(-1);
}

/** Norway: birth number and D-number. */
export function norwegian(s: string): boolean {
  const month = two(s, 2) % 40;
  if (!validDate(two(s, 4), month, two(s, 0) % 40)) return false;
  const k1 = (11 - weighted(s, [3, 7, 6, 1, 8, 9, 4, 5, 2]) % 11) % 11;
  const k2 = (11 - weighted(s, [5, 4, 3, 2, 7, 6, 5, 4, 3, 2]) % 11) % 11;
  return k1 === digit(s, 9) && k2 === digit(s, 10);
}

/** Belgium: national register number. */
export function belgian(s: string): boolean {
  if (two(s, 2) % 20 > 12 || two(s, 4) > 31 || repeated(s)) return false;
  const check = two(s, 9);
  if (check === 97 - modulo(s.slice(0, 9), 97)) return true;
  return two(s, 0) < 50 && check === 97 - modulo("2" + s.slice(0, 9), 97);
}

/** Bulgaria: EGN. */
export function bulgarian(s: string): boolean {
  return validDate(two(s, 0), two(s, 2) % 20, two(s, 4)) &&
    weighted(s, [2, 4, 8, 5, 10, 9, 7, 3, 6]) % 11 % 10 === digit(s, 9);
}

/** Romania: CNP. */
export function romanian(s: string): boolean {
  const check = weighted(s, [2, 7, 9, 1, 4, 6, 3, 5, 8, 2, 7, 9]) % 11;
  // The county follows the date; 70 is for foreigners, 80 and above for births registered without a county.
  return /^[1-9].{6}(?:0[1-9]|[1-4]\d|5[0-2]|70|[89]\d)/.test(s) && dateAt(s, 1, 3, 5) &&
    (check === 10 ? 1 : check) === digit(s, 12);
}

/** Sweden: personal and coordination number, of 10 or 12 digits. */
export function swedish(s: string): boolean {
  const ten = s.slice(-10);
  const day = two(ten, 4);
  if (s.length === 12 && !/^(?:18|19|20)/.test(s)) return false;
  return validDate(two(ten, 0), two(ten, 2), day > 60 ? day - 60 : day) && luhn(ten);
}

/** Latvia: personal code; those starting with 32 have no date and no check digit. */
export function latvian(s: string): boolean {
  if (s.startsWith("32")) return true;
  return dateAt(s, 4, 2, 0) && digit(s, 6) < 3 &&
    (1101 - weighted(s, [1, 6, 3, 7, 9, 10, 5, 8, 4, 2])) % 11 % 10 === digit(s, 10);
}
