/**
 * Assigns indices to stream items for servers without them. llama.cpp sends no `output_index`; others send
 * the same one for several items. Then items are identified by id.
 */
import { isObject, type Loose, string } from "../../exchange/json.ts";

/** Indices for items whose own index is taken, above all indices of a stream. */
const FREE = 2 ** 31;

export class Places {
  readonly #byId = new Map<string, number>();
  /** The id of the item at each index. */
  readonly #ids = new Map<number, string>();
  #last = 0;
  #free = FREE;
  /** Some index was used twice, so ids are more reliable. */
  #shared = false;

  /** Sets the `output_index` of an event if it is missing or belongs to another item. */
  set(event: Loose, type: string): void {
    const { output_index: given, item } = event;
    if (typeof given === "number" && !this.#shared && type !== "response.output_item.added") return;
    const id = (isObject(item) ? string(item.id) : string(event.item_id)) ?? "";
    if (type === "response.output_item.added") event.output_index = this.#announce(given, id);
    else {
      const begins = type === "response.output_item.done" && typeof given !== "number" && id !== "" &&
        this.#ids.get(this.#last) !== "";
      event.output_index = this.#byId.get(id) ?? (begins ? this.#announce(given, id) : given ?? this.#last);
    }
  }

  #announce(given: unknown, id: string): number {
    const known = id === "" ? undefined : this.#byId.get(id);
    if (known !== undefined) return typeof given === "number" && !this.#shared ? given : known;
    let place = typeof given === "number" ? given : this.#ids.size;
    const there = this.#ids.get(place);
    if (there !== undefined && there !== "" && id !== "") {
      this.#shared = true;
      place = this.#free++;
    }
    this.#ids.set(place, id);
    if (id !== "") this.#byId.set(id, place);
    return this.#last = place;
  }
}
