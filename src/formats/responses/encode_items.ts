/** The output items of an answer under construction: their indices, ids, and the events that announce them. */
import { type Loose, parse } from "../../exchange/json.ts";

/** Characters of JSON. */
const LARGE = 1 << 20;

/** Receives an event: its type, and its fields as JSON text without the opening brace. */
export type Emit = (type: string, fields: string) => void;

interface HeldCall {
  index: number;
  item: Loose;
  json: string;
  /** The arguments were parsed, and are invalid JSON. */
  broken: boolean;
}

export class OutputList {
  readonly items: Loose[] = [];
  readonly #ids = new Set<string>();
  /** JSON of large items, by index: serializing them again at the end would take as long once more. */
  readonly #large = new Map<number, string>();
  #held: HeldCall[] = [];

  /**
   * @param suffix for ids of items without a provider's id
   * @param emit undefined: only the items are needed
   */
  constructor(private readonly suffix: string, readonly emit: Emit | undefined) {}

  /** The provider's id of an item if it may be used, else one derived from the answer's. */
  id(prefix: string, given: unknown): string {
    const id = typeof given === "string" && given !== "" && !this.#ids.has(given)
      ? given
      : `${prefix}_${this.suffix}_${this.items.length}`;
    this.#ids.add(id);
    return id;
  }

  /** Announces an item and reserves its index. */
  add(item: Loose): number {
    if (this.#held.length > 0) this.#held = this.#held.filter((call) => !this.#isPassed(call));
    const index = this.items.push(item) - 1;
    this.emit?.("response.output_item.added", `"output_index":${index},"item":${JSON.stringify(item)}}`);
    return index;
  }

  done(index: number, item: Loose): void {
    this.items[index] = item;
    if (!this.emit) return;
    const json = JSON.stringify(item);
    if (json.length > LARGE) this.#large.set(index, json);
    this.emit("response.output_item.done", `"output_index":${index},"item":${json}}`);
  }

  /** Adds fields to an item that is done. They are only in the complete response. */
  amend(index: number, fields: Loose | undefined): void {
    this.items[index] = { ...this.items[index], ...fields };
    this.#large.delete(index);
  }

  /**
   * A call that has ended. Whether it was truncated by the end of the answer is known only when another item
   * follows, or none. One with invalid arguments waits for the end of the answer: parallel calls may all be
   * truncated, and the sources of a search may follow one.
   *
   * @param json the arguments, which are JSON if complete; "" if unknown
   */
  hold(index: number, item: Loose, json: string): void {
    this.#held.push({ index, item, json, broken: false });
  }

  /** Ends a call after which another item starts, unless it is invalid; false: it continues to wait. */
  #isPassed(call: HeldCall): boolean {
    if (call.broken) return false;
    call.broken = call.json !== "" && parse(call.json) === undefined;
    if (!call.broken) this.done(call.index, call.item);
    return !call.broken;
  }

  /** Completes the waiting calls. `cut`: they were truncated by the end of the answer. */
  settle(cut: boolean): void {
    for (const { index, item, json } of this.#held) {
      this.done(index, cut && parse(json) === undefined ? { ...item, status: "incomplete" } : item);
    }
    this.#held = [];
  }

  /** JSON of a response that contains these items. */
  jsonOf(response: Loose): string {
    if (this.#large.size === 0) return JSON.stringify(response);
    const output = this.items.map((item, i) => this.#large.get(i) ?? JSON.stringify(item));
    // Quotes within strings are escaped, and no object precedes this field.
    return JSON.stringify({ ...response, output: [] }).replace(
      '"output":[]',
      () => `"output":[${output.join()}]`,
    );
  }
}

/** The fields that identify the item of an event, as the beginning of its JSON. */
export function place(id: string, index: number): string {
  return `"item_id":${JSON.stringify(id)},"output_index":${index}`;
}
