/**
 * Finds secrets of the gateway that are split over several deltas of a provider's answer. (Each single frame is searched elsewhere.)
 *
 * Text is passed on at once, unless it ends with {@link KNOWN} or more characters of the beginning of a secret; these characters wait for
 * the following text. So deltas are unchanged except around secrets, whose first characters may have been sent already.
 *
 * Many clients concatenate the text blocks of an answer, so a secret may also begin in one block and end in another. Therefore the search
 * continues from one block to the next of the same kind and choice.
 */
import { mapTexts } from "../../exchange/json.ts";
import type { Part } from "../../exchange/part.ts";

/** Number of characters of the beginning by which a secret is recognized. */
const KNOWN = 4;
/** This many characters of the beginning of a secret are withheld even if nothing follows. */
const MOST_SHOWN = 12;
/** In a longer text the beginnings are looked for by native search first. */
const LONG = 64;
const WITHHELD = "[withheld]";

type Delta = Extract<Part, { type: "text-delta" | "reasoning-delta" | "call-delta" | "live-delta" }>;

interface Open {
  /** The last delta; text that is held back is sent in a delta of the same kind. */
  last: Delta;
  /**
   * The last characters passed on: fewer than {@link KNOWN}, or all that may be the start of a secret in an
   * earlier block.
   */
  sentTail: string;
  held: string;
  /**
   * Number of characters of a secret's beginning read so far, including those passed on; 0: nothing is held
   * back.
   */
  begun: number;
}

/** Prefixes of secrets. */
interface Beginnings {
  prefixes: readonly string[];
  /** By first character, if it is Latin-1. */
  firsts: Uint8Array;
}

/** Cache by list, which is the same for many calls. */
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
  /** By block: the key of its lane, the texts that clients concatenate. */
  readonly #lanes = new Map<number, string>();
  /** The last block read in each lane. */
  readonly #lastOf = new Map<string, Open>();

  /** @param secrets each longer than {@link KNOWN}, and Latin-1 like headers */
  constructor(secrets: readonly string[]) {
    this.#secrets = secrets;
    const { prefixes, firsts } = beginningsOf(secrets);
    this.#prefixes = prefixes;
    this.#firsts = firsts;
  }

  /** The parts without secrets; the same batch if nothing changes. */
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
        case "call-delta":
        case "live-delta": {
          const text = this.#pass(part);
          if (text === part.text) break;
          out ??= batch.slice(0, i);
          if (text !== "") out.push(withText(part, text));
          continue;
        }
        case "opaque":
        case "live-event":
        case "media":
        case "search-start": {
          const rest = this.#close(part.block);
          if (rest !== null) (out ??= batch.slice(0, i)).push(rest);
          const clean = this.#cleaned(part);
          if (clean === part) break;
          (out ??= batch.slice(0, i)).push(clean);
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

  /** Text held back in blocks that were not ended. */
  end(): Part[] {
    return [...this.#open.keys()].map((block) => this.#close(block)).filter((part) => part !== null);
  }

  /** A part whose texts may be joined from pieces. */
  #cleaned(part: Part): Part {
    if (part.type !== "media") return withoutSecrets(part, this.#secrets) as Part;
    // Its data may have megabytes.
    const transcript = withoutSecrets(part.transcript, this.#secrets);
    return transcript === part.transcript ? part : { ...part, transcript: transcript as string };
  }

  #close(block: number): Delta | null {
    const open = this.#open.get(block);
    if (open === undefined) return null;
    this.#open.delete(block);
    if (open.held === "") return null;
    return withText(open.last, open.begun < MOST_SHOWN ? open.held : WITHHELD);
  }

  /** State of a block, created with its first delta. */
  #begin(part: Delta): Open {
    const lane = this.#lanes.get(part.block);
    const before = lane === undefined ? undefined : this.#lastOf.get(lane);
    const open = {
      last: part,
      sentTail: before === undefined ? "" : before.sentTail + before.held,
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
    const { sentTail } = open;
    const { text } = part;
    // Fast path: most deltas are a word without the first letter of any secret.
    if (text.length < KNOWN * 4 && open.held === "" && !this.#mayBegin(sentTail) && !this.#mayBegin(text)) {
      open.sentTail = text.length < KNOWN ? text : text.slice(1 - KNOWN);
      return text;
    }
    const all = sentTail + open.held + part.text;
    if (all.length > LONG && open.held === "" && !this.#prefixes.some((prefix) => all.includes(prefix))) {
      open.sentTail = all.slice(1 - KNOWN);
      return part.text;
    }
    let said = "";
    let done = sentTail.length;
    let held = all.length;
    let begins = all.length;
    for (let at = 0; at + KNOWN <= all.length; at++) {
      if (this.#firsts[all.charCodeAt(at)] !== 1) continue;
      const end = this.#secretAt(all, at);
      // Matches completely within earlier blocks have been handled.
      if (end === 0 || (end > 0 && end <= sentTail.length)) continue;
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
    open.sentTail = all.slice(Math.max(0, Math.min(begins, held - KNOWN + 1)), held);
    return said;
  }

  #mayBegin(text: string): boolean {
    for (let at = 0; at < text.length; at++) if (this.#firsts[text.charCodeAt(at)] === 1) return true;
    return false;
  }

  /** End of the secret that starts here; negative: it may continue in the following text; 0: none. */
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

/** A value without secrets in its texts; the same value if there are none. */
function withoutSecrets(value: unknown, secrets: readonly string[]): unknown {
  return mapTexts(value, (text) => {
    for (const secret of secrets) if (text.includes(secret)) text = text.replaceAll(secret, WITHHELD);
    return text;
  });
}
