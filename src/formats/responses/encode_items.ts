/** The output of an answer being written: items in their places, their ids, and the events that announce them. */
import { type Loose, parse } from "../../exchange/json.ts";

/** Characters of JSON. */
const LARGE = 1 << 20;

/** Takes an event: its type, and its fields as JSON text without the opening brace. */
export type Emit = (type: string, fields: string) => void;

interface HeldCall {
  index: number;
  item: Loose;
  json: string;
  /** The arguments were read, and are no JSON. */
  broken: boolean;
}

export class OutputList {
  readonly items: Loose[] = [];
  readonly #ids = new Set<string>();
  /** JSON of items that are large, by their places: to write it again at the end would take as long once more. */
  readonly #large = new Map<number, string>();
  #held: HeldCall[] = [];

  /**
   * @param suffix of the ids of items that the provider gave none
   * @param emit undefined: only the items are wanted
   */
  constructor(private readonly suffix: string, readonly emit: Emit | undefined) {}

  /** The provider's own id of an item when the caller may have it, else one made from the answer's. */
  id(prefix: string, given: unknown): string {
    const id = typeof given === "string" && given !== "" && !this.#ids.has(given)
      ? given
      : `${prefix}_${this.suffix}_${this.items.length}`;
    this.#ids.add(id);
    return id;
  }

  /** Announces an item. Its place is taken now and holds what is known so far. */
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

  /**
   * A call that has come to its end. Whether the end of the answer cut it is known once another item follows, or none. One
   * whose arguments are no JSON waits for the end of the answer: calls side by side may all be cut, and the sources of a
   * search may follow one.
   *
   * @param json the arguments as they came, which are JSON where they are whole; "" where that cannot be told
   */
  hold(index: number, item: Loose, json: string): void {
    this.#held.push({ index, item, json, broken: false });
  }

  /** Ends a call behind which another item begins, unless it is broken; false: it goes on waiting. */
  #isPassed(call: HeldCall): boolean {
    if (call.broken) return false;
    call.broken = call.json !== "" && parse(call.json) === undefined;
    if (!call.broken) this.done(call.index, call.item);
    return !call.broken;
  }

  /** The calls that are held are done. `cut`: the answer ends with them, and was cut. */
  settle(cut: boolean): void {
    for (const { index, item, json } of this.#held) {
      this.done(index, cut && parse(json) === undefined ? { ...item, status: "incomplete" } : item);
    }
    this.#held = [];
  }

  /** JSON of a response that holds these items. */
  jsonOf(response: Loose): string {
    if (this.#large.size === 0) return JSON.stringify(response);
    const output = this.items.map((item, i) => this.#large.get(i) ?? JSON.stringify(item));
    // Quotes within strings are escaped, and no object stands before this field.
    return JSON.stringify({ ...response, output: [] }).replace(
      '"output":[]',
      () => `"output":[${output.join()}]`,
    );
  }
}

/** The fields that place an event in an item; the opening part of its JSON. */
export function place(id: string, index: number): string {
  return `"item_id":${JSON.stringify(id)},"output_index":${index}`;
}
