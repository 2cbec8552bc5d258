/**
 * The walk over one text that starts every recognizer where it can succeed, and only there.
 *
 * It reads each unit's class from a table and splits the text into runs of letters, digits, `_` and `-`. A run with a
 * digit may be a number or a token, a long run a token, a few words name what follows them; `@` and `:` start the
 * rest. Assumes folded text: separators, digits and Latin letters are ASCII.
 */

import {
  scanAuthorization,
  scanJwt,
  scanKeyBlock,
  scanNamedValue,
  scanPassword,
  scanShaped,
  scanUserinfo,
  scanUserOption,
  scanVendor,
} from "./recognizers/credentials.ts";
import { scanEmail, scanPhone } from "./recognizers/contact.ts";
import { ALNUM, CLASS, DIGIT, type Field, JOIN, LOWER, SIGN } from "./recognizers/field.ts";
import { scanCrypto, scanCvv, scanIban, scanSwift } from "./recognizers/financial.ts";
import { scanColons, scanIpv4, scanMac } from "./recognizers/network.ts";
import { type NumberTable, scanNumbers } from "./recognizers/numbers.ts";

/** What is wanted, as the walk asks for it. */
export interface Plan {
  types: ReadonlySet<string>;
  numbers: NumberTable;
  focused: boolean;
  secrets: boolean;
  wants: Record<
    "email" | "phone" | "ip" | "mac" | "iban" | "swift" | "cvv" | "crypto" | "places" | "persons",
    boolean
  >;
}

/** One walk over a text, in strides. */
export class Walk {
  at = 0;
  #numbersDone = 0;
  #phoneDone = 0;
  #colonsDone = 0;
  #valueDone = 0;
  #valueSeen = 0;
  #keyDone = 0;

  constructor(readonly plan: Plan, readonly field: Field) {}

  until(limit: number): void {
    const text = this.field.text;
    const length = text.length;
    let p = this.at;
    while (p < limit && p < length) {
      let kind = CLASS[text.charCodeAt(p)];
      if ((kind & (ALNUM | JOIN)) === 0) {
        if (kind === SIGN) this.#sign(p, text.charCodeAt(p));
        p++;
        continue;
      }
      const start = p++;
      for (; p < length; p++) {
        const next = CLASS[text.charCodeAt(p)];
        if ((next & (ALNUM | JOIN)) === 0) break;
        kind |= next;
      }
      if ((kind & DIGIT) !== 0 || p - start > 5) this.#run(start, p, kind);
      else if (p - start <= 3 || text.charCodeAt(p) === 46) this.#word(start, p);
    }
    this.at = p;
  }

  /** Short words that name what follows, or begin a token with dots in it. */
  #word(start: number, end: number): void {
    const text = this.field.text;
    const c = text.charCodeAt(start) | 32;
    if (c === 99 && end - start === 3 && this.plan.wants.cvv) scanCvv(this.field, start);
    if (!this.plan.secrets) return;
    if (text.charCodeAt(end) === 46) scanVendor(this.field, start);
    else if (c === 112 && /^pwd$/i.test(text.slice(start, end))) scanPassword(this.field, start);
    else if (c === 45 && end - start === 2 && text.charCodeAt(start + 1) === 117) {
      scanUserOption(this.field, start);
    }
  }

  #sign(at: number, c: number): void {
    const { plan, field } = this;
    const text = field.text;
    if (c === 64) {
      if (plan.wants.email) scanEmail(field, at);
    } else if (c === 58) {
      if (plan.secrets && text.charCodeAt(at + 1) === 47 && text.charCodeAt(at + 2) === 47) {
        scanUserinfo(field, at);
      } else if ((plan.wants.ip || plan.wants.mac) && at >= this.#colonsDone) {
        this.#colonsDone = scanColons(field, at);
      }
    }
  }

  #run(start: number, end: number, kind: number): void {
    const { plan, field } = this;
    const text = field.text;
    const length = end - start;
    if (length > 20000) return this.#long(start, end);
    if ((kind & DIGIT) !== 0) this.#digits(start, end);
    if (plan.wants.swift && (length === 8 || length === 11) && (kind & (LOWER | JOIN)) === 0) {
      scanSwift(field, start, end);
    }
    if (plan.wants.cvv && length >= 4 && length <= 12 && /^[csv]/i.test(text[start])) scanCvv(field, start);
    if (plan.wants.mac && (length === 4 || length === 17 || length === 23)) scanMac(field, start, end);
    if (plan.secrets) this.#secrets(start, end, kind);
  }

  /** An endless run holds data; its beginning may still be a key. */
  #long(start: number, end: number): void {
    if (this.plan.secrets) {
      scanVendor(this.field, start);
      scanJwt(this.field, start);
    }
    this.#numbersDone = end;
  }

  #digits(start: number, end: number): void {
    const { plan, field } = this;
    const text = field.text;
    if (plan.numbers.rules > 0 && start >= this.#numbersDone) {
      this.#numbersDone = scanNumbers(field, plan.numbers, start, end);
    }
    // Each part of the run between joins may begin a value of its own.
    for (let p = start; p < end; p++) {
      if ((CLASS[text.charCodeAt(p)] & JOIN) !== 0) continue;
      let q = p + 1;
      while (q < end && (CLASS[text.charCodeAt(q)] & JOIN) === 0) q++;
      this.#part(p, q);
      p = q;
    }
  }

  #part(start: number, end: number): void {
    const { plan, field } = this;
    const text = field.text;
    if (CLASS[text.charCodeAt(start)] === DIGIT) {
      if (plan.wants.phone && start >= this.#phoneDone) {
        this.#phoneDone = Math.max(start, scanPhone(field, start));
      }
      if (plan.wants.ip && text.charCodeAt(end) === 46 && end - start <= 3) scanIpv4(field, start);
    } else if (plan.wants.iban && end - start >= 4 && CLASS[text.charCodeAt(start + 2)] === DIGIT) {
      scanIban(field, start);
    }
    if (plan.wants.crypto && end - start >= 25) scanCrypto(field, start, end);
  }

  #secrets(start: number, end: number, kind: number): void {
    const { field } = this;
    const text = field.text;
    const c = text.charCodeAt(start) | 32;
    if (
      text.charCodeAt(start) === 45 && end - start >= 10 && start >= this.#keyDone &&
      text.startsWith("-----BEGIN ", start)
    ) {
      this.#keyDone = scanKeyBlock(field, start);
      return;
    }
    if (start < this.#keyDone) return;
    this.#passwordWord(start, end);
    if (c === 98 || c === 116 || c === 97) scanAuthorization(field, start);
    if (start < this.#valueDone) return;
    if (c === 45 && text.startsWith("--user", start)) scanUserOption(field, start);
    if (end - start >= 5 && scanShaped(field, start, end)) return;
    for (let p = start, n = 0; p < end && n < 8; p++) {
      const prev = CLASS[text.charCodeAt(p - 1)];
      if (p > start && (prev & JOIN) === 0 || (CLASS[text.charCodeAt(p)] & ALNUM) === 0) continue;
      n++;
      if (scanVendor(field, p)) return;
      if (text.charCodeAt(p) === 101 && text.charCodeAt(p + 1) === 121 && scanJwt(field, p)) return;
    }
    if ((kind & DIGIT) !== 0 && (end - start >= 8 || isOpen(text.charCodeAt(end))) || end - start >= 16) {
      const before = text.charCodeAt(start - 1);
      if (start < this.#valueSeen && (before === 43 || before === 47 || before === 126)) return;
      const value = scanNamedValue(field, start);
      this.#valueSeen = Math.abs(value);
      if (value > 0) this.#valueDone = value;
    }
  }

  /** A password word may end an identifier: `DB_PASSWORD=`, `userPassword:`. */
  #passwordWord(start: number, end: number): void {
    const text = this.field.text;
    const last = text.charCodeAt(end - 1) | 32;
    if (last !== 100 && last !== 101 && last !== 115 && last !== 116 && (last < 48 || last > 57)) return;
    const tail = /(?:pass(?:word|wd|phrase|code)|pwd|(?<=[_-])pass|secret|passwort|kennwort)\d{0,2}$/i.exec(
      text.slice(Math.max(start, end - 14), end),
    );
    if (tail) scanPassword(this.field, end - tail[0].length);
  }
}

/** + . / = ~ after a run: the value may go on. */
function isOpen(c: number): boolean {
  return c === 43 || c === 46 || c === 47 || c === 61 || c === 126;
}
