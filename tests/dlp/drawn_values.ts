/** Values of every kind with right check digits, drawn, the same each time. */

export type Draw = (below: number) => number;

/** Numbers below what is asked for, the same for each seed (xorshift32). */
export function drawing(seed: number): Draw {
  let state = seed * 2654435761 >>> 0 || 1;
  return (below) => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) % below;
  };
}

export const digits = (draw: Draw, n: number) => Array.from({ length: n }, () => draw(10)).join("");
export const pick = <T>(draw: Draw, all: readonly T[]): T => all[draw(all.length)];
const sum = (s: string, weights: readonly number[]) =>
  weights.reduce((total, w, i) => total + w * Number(s[i]), 0);
export const two = (n: number) => String(n).padStart(2, "0");

export function luhn(body: string): string {
  let total = 0;
  [...body].reverse().forEach((c, i) => {
    const n = Number(c) * (i % 2 === 0 ? 2 : 1);
    total += n > 9 ? n - 9 : n;
  });
  return body + (10 - total % 10) % 10;
}

export function card(draw: Draw): string {
  const number = luhn(pick(draw, ["4", "51", "53", "55", "2221", "2720"]).padEnd(4, "7") + digits(draw, 11));
  const groups = number.match(/.{4}/g)!;
  return pick(draw, [number, groups.join(" "), groups.join("-")]);
}

export function iban(draw: Draw, country: string, account: string): string {
  const rearranged = `${account}${country}00`.replace(/[A-Z]/g, (c) => String(c.charCodeAt(0) - 55));
  let rest = 0;
  for (const c of rearranged) rest = (rest * 10 + Number(c)) % 97;
  const whole = `${country}${two(98 - rest)}${account}`;
  return draw(2) === 0 ? whole : whole.replace(/(.{4})(?=.)/g, "$1 ");
}

export const year = (draw: Draw) => 1950 + draw(55);

/** A number of a person with the check digits of its country. */
export const PERSONS: Record<string, (draw: Draw) => string> = {
  fr(draw) {
    const body = `${1 + draw(2)}${two(50 + draw(49))}${two(1 + draw(12))}${two(1 + draw(94))}${
      digits(draw, 6)
    }`;
    return body + two(97 - Number(BigInt(body) % 97n));
  },
  es(draw) {
    const body = digits(draw, 8);
    return body + "TRWAGMYFPDXBNJZSQVHLCKE"[Number(body) % 23];
  },
  pt(draw) {
    const body = `2${digits(draw, 7)}`;
    const rest = sum(body, [9, 8, 7, 6, 5, 4, 3, 2]) % 11;
    return body + (rest < 2 ? 0 : 11 - rest);
  },
  it(draw) {
    const letters = (n: number) => Array.from({ length: n }, () => pick(draw, [..."BCDFGLMNPRST"])).join("");
    const body = `${letters(6)}${two(50 + draw(49))}${pick(draw, [..."ABCDEHLMPRST"])}${two(1 + draw(28))}H${
      digits(draw, 3)
    }`;
    const odd = [
      1,
      0,
      5,
      7,
      9,
      13,
      15,
      17,
      19,
      21,
      2,
      4,
      18,
      20,
      11,
      3,
      6,
      8,
      12,
      14,
      16,
      10,
      22,
      25,
      24,
      23,
    ];
    const total = [...body].reduce((n, c, i) => {
      const value = c < "A" ? Number(c) : c.charCodeAt(0) - 65;
      return n + (i % 2 === 0 ? odd[value] : value);
    }, 0);
    return body + String.fromCharCode(65 + total % 26);
  },
  de(draw) {
    for (;;) {
      const body = `${1 + draw(9)}${digits(draw, 9)}`;
      const counts = new Map<string, number>();
      for (const c of body) counts.set(c, (counts.get(c) ?? 0) + 1);
      if (counts.size !== 9 || Math.max(...counts.values()) !== 2) continue;
      let product = 10;
      for (const c of body) {
        const total = (Number(c) + product) % 10 || 10;
        product = total * 2 % 11;
      }
      const check = 11 - product;
      return body + (check === 10 ? 0 : check);
    }
  },
  nl(draw) {
    for (;;) {
      const body = `${1 + draw(8)}${digits(draw, 7)}`;
      const check = sum(body, [9, 8, 7, 6, 5, 4, 3, 2]) % 11;
      if (check < 10) return body + check;
    }
  },
  pl(draw) {
    const body = `${two(year(draw) % 100)}${two(1 + draw(12))}${two(1 + draw(28))}${digits(draw, 4)}`;
    return body + (10 - sum(body, [1, 3, 7, 9, 1, 3, 7, 9, 1, 3]) % 10) % 10;
  },
  ru(draw) {
    const body = `77${digits(draw, 8)}`;
    const first = sum(body, [7, 2, 4, 10, 3, 5, 9, 4, 6, 8]) % 11 % 10;
    const second = sum(body + first, [3, 7, 2, 4, 10, 3, 5, 9, 4, 6, 8]) % 11 % 10;
    return `${body}${first}${second}`;
  },
  tr(draw) {
    const b = `${1 + draw(9)}${digits(draw, 8)}`;
    const odd = sum(b, [1, 0, 1, 0, 1, 0, 1, 0, 1]);
    const even = sum(b, [0, 1, 0, 1, 0, 1, 0, 1, 0]);
    const tenth = ((odd * 7 - even) % 10 + 10) % 10;
    return `${b}${tenth}${(odd + even + tenth) % 10}`;
  },
  zh(draw) {
    const body = `${pick(draw, ["110105", "310104", "440305", "510107"])}${year(draw)}${two(1 + draw(12))}${
      two(1 + draw(28))
    }${digits(draw, 3)}`;
    return body + "10X98765432"[sum(body, [7, 9, 10, 5, 8, 4, 2, 1, 6, 3, 7, 9, 10, 5, 8, 4, 2]) % 11];
  },
  ko(draw) {
    const body = `${two(60 + draw(39))}${two(1 + draw(12))}${two(1 + draw(28))}${1 + draw(2)}${
      digits(draw, 5)
    }`;
    const check = (11 - sum(body, [2, 3, 4, 5, 6, 7, 8, 9, 2, 3, 4, 5]) % 11) % 10;
    return `${body.slice(0, 6)}-${body.slice(6)}${check}`;
  },
};

const ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
const random = (draw: Draw, n: number) => Array.from({ length: n }, () => pick(draw, [...ALPHABET])).join("");

export function password(draw: Draw): string {
  const word = pick(draw, ["Regen", "Mond", "vela", "Kafe", "tigre", "Luna"]);
  return `${word}${pick(draw, ["!", "$", "#", "%"])}${digits(draw, 4)}${pick(draw, ["x", "Q", "zt", "Km"])}`;
}

export function key(draw: Draw): string {
  return pick(draw, [
    () => `ghp_${random(draw, 36)}`,
    () => `sk_live_${random(draw, 24)}`,
    () =>
      `AKIA${Array.from({ length: 16 }, () => pick(draw, [..."ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"])).join("")}`,
    () => `glpat-${random(draw, 20)}`,
  ])();
}

export type What = "card" | "iban" | "person" | "phone" | "born" | "password" | "key";

/** The types that each is reported as. */
export const TYPES: Record<What, RegExp> = {
  card: /^CREDIT_CARD$/,
  iban: /^IBAN_CODE$/,
  person:
    /^(?:US_SSN|FR_NIR|ES_NIF|PT_NIF|IT_FISCAL_CODE|DE_TAX_ID|NL_BSN|PL_PESEL|RU_INN|TR_NATIONAL_ID|CN_RESIDENT_ID|KR_RRN)$/,
  phone: /^PHONE_NUMBER$/,
  born: /^DATE_OF_BIRTH$/,
  password: /^(?:PASSWORD|GENERIC_SECRET|API_KEY)$/,
  key: /^(?:[A-Z_]*(?:TOKEN|KEY)|GENERIC_SECRET)$/,
};
