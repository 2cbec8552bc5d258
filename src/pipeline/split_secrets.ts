/**
 * Finds secrets of the gateway that are split over several deltas of a provider's answer. (Each single frame is searched elsewhere.)
 *
 * Text is passed on at once, unless it ends with {@link KNOWN} or more characters of the beginning of a secret; these characters wait for
 * the following text. So deltas are unchanged except around secrets, whose first characters may have been sent already.
 *
 * Many clients concatenate the text blocks of an answer, so a secret may also begin in one block and end in another. Therefore the search
 * continues from one block to the next of the same kind and choice.
 */
import type { Part } from "../exchange/part.ts";

/** Number of characters of the beginning by which a secret is recognized. */
const KNOWN = 4;
/** This many characters of the beginning of a secret are withheld even if nothing follows. */
const TELLING = 12;
/** In a longer text the beginnings are looked for by native search first. */
const LONG = 64;
const WITHHELD = "[withheld]";

type Delta = Extract<Part, { type: "text-delta" | "reasoning-delta" | "call-delta" }>;

interface Open {
  /** The last delta, whose kind is that of what waits. */
  last: Delta;
  /** The last characters that went on: fewer than {@link KNOWN}, or all that a secret may have begun with in a block before. */
  gone: string;
  held: string;
  /** Characters of the beginning of a secret that have come, with those that went on; 0: nothing waits. */
  begun: number;
}

/** What secrets begin with. */
interface Beginnings {
  prefixes: readonly string[];
  /** By the first character, where that is one of Latin-1. */
  firsts: Uint8Array;
}

/** Of lists that are the same for many calls. */
const known = new WeakMap<readonly string[], Beginnings>();

function beginningsOf(secrets: readonly string[]): Beginnings {
  let made = known.get(secrets);
  if (made === undefined) {
    const prefixes = [...new Set(secrets.map((secret) => secret.slice(0, KNOWN)))];
    made = { prefixes, firsts: new Uint8Array(256) };
    for (const prefix of prefixes) made.firsts[prefix.charCodeAt(0)] = 1;
    known.set(secrets, made);
  }
  return made;
}

export class SplitSecrets {
  readonly #secrets: readonly string[];
  readonly #prefixes: readonly string[];
  readonly #firsts: Uint8Array;
  readonly #open = new Map<number, Open>();
  /** By block: what clients put together. */
  readonly #lanes = new Map<number, string>();
  /** By lane: the block that was read last. */
  readonly #lastOf = new Map<string, Open>();

  /** @param secrets each longer than {@link KNOWN}, of Latin-1 as headers are */
  constructor(secrets: readonly string[]) {
    this.#secrets = secrets;
    const { prefixes, firsts } = beginningsOf(secrets);
    this.#prefixes = prefixes;
    this.#firsts = firsts;
  }

  /** The same parts without secrets; the same batch where nothing of it changes. */
  take(batch: readonly Part[]): readonly Part[] {
    let out: Part[] | null = null;
    for (let i = 0; i < batch.length; i++) {
      const part = batch[i];
      switch (part.type) {
        case "text-start":
        case "reasoning-start":
          this.#lanes.set(part.block, `${part.type} ${part.choice}`);
          break;
        case "text-delta":
        case "reasoning-delta":
        case "call-delta": {
          const text = this.#pass(part);
          if (text === part.text) break;
          out ??= batch.slice(0, i);
          if (text !== "") out.push(withText(part, text));
          continue;
        }
        case "text-end":
        case "reasoning-end":
        case "call-end": {
          const rest = this.#close(part.block);
          if (rest === null) break;
          (out ??= batch.slice(0, i)).push(rest);
        }
      }
      out?.push(part);
    }
    return out ?? batch;
  }

  /** What waits in blocks that were not ended. */
  end(): Part[] {
    return [...this.#open.keys()].map((block) => this.#close(block)).filter((part) => part !== null);
  }

  #close(block: number): Delta | null {
    const open = this.#open.get(block);
    if (open === undefined) return null;
    this.#open.delete(block);
    if (open.held === "") return null;
    return withText(open.last, open.begun < TELLING ? open.held : WITHHELD);
  }

  /** What is known of a block, whose first delta this is. */
  #begin(part: Delta): Open {
    const lane = this.#lanes.get(part.block);
    const before = lane === undefined ? undefined : this.#lastOf.get(lane);
    const open = {
      last: part,
      gone: before === undefined ? "" : before.gone + before.held,
      held: "",
      begun: 0,
    };
    this.#open.set(part.block, open);
    if (lane !== undefined) this.#lastOf.set(lane, open);
    return open;
  }

  #pass(part: Delta): string {
    const open = this.#open.get(part.block) ?? this.#begin(part);
    open.last = part;
    const { gone } = open;
    const { text } = part;
    // Fast path: most deltas are a word without the first letter of any secret.
    if (text.length < KNOWN * 4 && open.held === "" && !this.#mayBegin(gone) && !this.#mayBegin(text)) {
      open.gone = text.length < KNOWN ? text : text.slice(1 - KNOWN);
      return text;
    }
    const all = gone + open.held + part.text;
    if (all.length > LONG && open.held === "" && !this.#prefixes.some((prefix) => all.includes(prefix))) {
      open.gone = all.slice(1 - KNOWN);
      return part.text;
    }
    let said = "";
    let done = gone.length;
    let held = all.length;
    let begins = all.length;
    for (let at = 0; at + KNOWN <= all.length; at++) {
      if (this.#firsts[all.charCodeAt(at)] !== 1) continue;
      const end = this.#secretAt(all, at);
      // What lies in blocks before has been looked at.
      if (end === 0 || (end > 0 && end <= gone.length)) continue;
      if (end < 0) {
        held = Math.max(at, done);
        begins = at;
        break;
      }
      if (at > done) said += all.slice(done, at);
      said += WITHHELD;
      done = end;
      at = end - 1;
    }
    said += all.slice(done, held);
    open.held = all.slice(held);
    open.begun = all.length - begins;
    open.gone = all.slice(Math.max(0, Math.min(begins, held - KNOWN + 1)), held);
    return said;
  }

  #mayBegin(text: string): boolean {
    for (let at = 0; at < text.length; at++) if (this.#firsts[text.charCodeAt(at)] === 1) return true;
    return false;
  }

  /** Where the secret that begins here ends; negative: it may go on in what follows; 0: there is none. */
  #secretAt(text: string, at: number): number {
    const left = text.length - at;
    let goesOn = false;
    for (const secret of this.#secrets) {
      if (secret.length <= left) {
        if (text.startsWith(secret, at)) return at + secret.length;
      } else if (secret.startsWith(text.slice(at))) goesOn = true;
    }
    return goesOn ? -1 : 0;
  }
}

function withText(part: Delta, text: string): Delta {
  const changed = { ...part, text };
  // Log probabilities would repeat the withheld text.
  if ("logprobs" in changed) delete changed.logprobs;
  return changed;
}
