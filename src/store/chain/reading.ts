/** Verifies the chains of one day. The records may arrive in any order. */
import { type ChainEnd, firstOf, type Link, linkHash, readLink } from "./links.ts";

export interface LinkFault {
  /**
   * `changed`: a record differs from what was written, or stands at another position. `removed`: one record
   * is missing, or several up to `last`. `inserted`: a record is in no chain, at an occupied position, or
   * after the end. `unchained`: a record was written without a link after chains were introduced. `end
   * changed`, `note changed`: the data that proves the chain was modified.
   */
  kind: "changed" | "removed" | "inserted" | "unchained" | "end changed" | "note changed";
  day: number;
  node?: string;
  /** Position in the chain, from 1, in writing order. */
  position?: number;
  last?: number;
  id?: string;
}

interface Waiting {
  id: string;
  content: string;
  hash: string;
}

class Chain {
  readonly end: ChainEnd;
  /** Hashes of links whose successor has not been read yet. */
  readonly hashes = new Map<number, string>();
  /** Records whose predecessor has not been read yet. */
  readonly waiting = new Map<number, Waiting>();
  readonly seen: Uint8Array;
  verified = 0;

  constructor(end: ChainEnd) {
    this.end = end;
    this.seen = new Uint8Array((end.length >> 3) + 1);
    this.hashes.set(0, firstOf(end));
  }

  /** False: another record has this position. */
  see(position: number): boolean {
    const bit = 1 << (position & 7);
    if (this.seen[position >> 3] & bit) return false;
    this.seen[position >> 3] |= bit;
    return true;
  }

  hasSeen(position: number): boolean {
    return (this.seen[position >> 3] & (1 << (position & 7))) !== 0;
  }
}

export class ChainReading {
  readonly #chains: ReadonlyMap<string, Chain>;
  readonly #key: string;
  readonly #found: (fault: LinkFault) => void;

  constructor(
    readonly day: number,
    ends: readonly ChainEnd[],
    key: string,
    found: (fault: LinkFault) => void,
  ) {
    this.#chains = new Map(ends.map((end) => [end.id, new Chain(end)]));
    this.#key = key;
    this.#found = found;
  }

  /** The number of records whose links are valid. */
  get verified(): number {
    return [...this.#chains.values()].reduce((sum, chain) => sum + chain.verified, 0);
  }

  take(text: string, id: string, content: string): void {
    const link = readLink(text);
    const chain = link === null ? undefined : this.#chains.get(link.chain);
    if (link === null || chain === undefined) return this.#found({ kind: "inserted", day: this.day, id });
    const { position } = link;
    if (position > chain.end.length || !chain.see(position)) {
      return this.#found({ kind: "inserted", ...this.#place(chain, position), id });
    }
    this.#check(chain, link, { id, content, hash: link.hash });
  }

  /** To be called after all records of the day. */
  end(): void {
    for (const chain of this.#chains.values()) {
      const { length } = chain.end;
      for (let position = 1; position <= length; position++) {
        if (chain.hasSeen(position)) continue;
        const first = position;
        while (position < length && !chain.hasSeen(position + 1)) position++;
        const last = position > first ? { last: position } : {};
        this.#found({ kind: "removed", ...this.#place(chain, first), ...last });
      }
    }
  }

  /** Compares a record as soon as both it and its predecessor have been read. */
  #check(chain: Chain, { position }: Pick<Link, "position">, record: Waiting): void {
    const { hashes, waiting } = chain;
    hashes.set(position, record.hash);
    const before = hashes.get(position - 1);
    if (before === undefined) waiting.set(position, record);
    else this.#compare(chain, position, before, record);
    const next = waiting.get(position + 1);
    if (next === undefined) return;
    waiting.delete(position + 1);
    this.#compare(chain, position + 1, record.hash, next);
  }

  #compare(chain: Chain, position: number, before: string, { id, content, hash }: Waiting): void {
    chain.hashes.delete(position - 1);
    if (linkHash(this.#key, before, content) === hash) chain.verified++;
    else this.#found({ kind: "changed", ...this.#place(chain, position), id });
  }

  #place(chain: Chain, position: number): { day: number; node: string; position: number } {
    return { day: this.day, node: chain.end.node, position };
  }
}
