/**
 * Lets blocks whose texts share a field of the message follow each other: a message has one `content` and one
 * reasoning text, but some providers write two items at a time. Then the parts of the later one wait.
 */
import type { Part } from "../../exchange/part.ts";

type Blocked = Extract<Part, { block: number }>;

interface Waiting {
  block: number;
  parts: Blocked[];
  ended: boolean;
}

/** Blocks that wait for an open one of the same choice and field. Those before `next` do not wait any more. */
interface Line {
  blocks: Waiting[];
  next: number;
}

export class OneByOne {
  /** By choice and field. */
  readonly #lines = new Map<string, Line>();
  /** The fields of the open blocks. */
  readonly #fields = new Map<number, string>();
  readonly #waiting = new Map<number, Waiting>();

  /** Whether the part waits, because another block with its field is open. */
  holds(part: Blocked): boolean {
    if (part.type === "text-start" || part.type === "reasoning-start") {
      const field = `${part.type} ${part.choice}`;
      const line = this.#lines.get(field);
      if (line === undefined) {
        this.#lines.set(field, { blocks: [], next: 0 });
        this.#fields.set(part.block, field);
        return false;
      }
      const waiting = { block: part.block, parts: [part], ended: false };
      line.blocks.push(waiting);
      this.#waiting.set(part.block, waiting);
      return true;
    }
    const waiting = this.#waiting.size > 0 && this.#waiting.get(part.block);
    if (!waiting) return false;
    waiting.parts.push(part);
    waiting.ended ||= ENDS.has(part.type);
    return true;
  }

  /** The parts that waited for this one: none if it ends no block. */
  after({ type, block }: Blocked): Blocked[] {
    const field = ENDS.has(type) ? this.#fields.get(block) : undefined;
    if (field === undefined) return [];
    this.#fields.delete(block);
    const line = this.#lines.get(field)!;
    const parts: Blocked[] = [];
    while (line.next < line.blocks.length) {
      const next = line.blocks[line.next++];
      this.#waiting.delete(next.block);
      for (const part of next.parts) parts.push(part);
      next.parts = [];
      if (next.ended) continue;
      this.#fields.set(next.block, field);
      return parts;
    }
    this.#lines.delete(field);
    return parts;
  }
}

const ENDS: ReadonlySet<Part["type"]> = new Set<Part["type"]>(["text-end", "reasoning-end"]);
