/** Writes the items of tools that the gateway or the provider runs: searches, generated images, and all others of this format. */
import type { Loose } from "../../exchange/json.ts";
import type { Part } from "../../exchange/part.ts";
import { extraOf } from "../../exchange/prompt.ts";
import { type OutputList, place } from "./encode_items.ts";
import type { MessageWriter } from "./encode_text_blocks.ts";

/** An item that was announced and is not done. */
interface OpenRun {
  index: number;
  id: string;
  /** Only of a search. */
  query?: string;
}

export class RunWriter {
  /** By block. */
  readonly #open = new Map<number, OpenRun>();

  constructor(private readonly list: OutputList, private readonly messages: MessageWriter) {}

  /** Whether the item at this index is announced and not done. */
  isOpen(index: number): boolean {
    return this.#open.values().some((run) => run.index === index);
  }

  /** An item whose run by the provider starts. */
  announce(block: number, item: Loose): void {
    this.messages.leave();
    const id = this.list.id("item", item.id);
    this.#open.set(block, { index: this.list.add({ ...item, id }), id });
  }

  /** An event of such an item. */
  event(block: number, type: string, fields: Loose): void {
    const run = this.#open.get(block);
    if (!run) return;
    const json = JSON.stringify(fields);
    this.list.emit?.(type, place(run.id, run.index) + (json === "{}" ? json.slice(1) : `,${json.slice(1)}`));
  }

  /** An item that is complete. */
  whole(item: Loose, prefix: string, block?: number): void {
    const run = block === undefined ? undefined : this.#open.get(block);
    if (run) {
      this.#open.delete(block!);
      return this.list.done(run.index, { ...item, id: run.id });
    }
    this.messages.leave();
    const whole = { ...item, id: this.list.id(prefix, item.id) };
    this.list.done(this.list.add(whole), whole);
  }

  searchStart(block: number, given: string, query: string): void {
    this.messages.leave();
    const id = this.list.id("ws", given);
    const index = this.list.add(searchItem(id, "in_progress", query, []));
    this.#open.set(block, { index, id, query });
  }

  searchEnd(block: number, urls: readonly string[], failed: boolean): void {
    const run = this.#open.get(block);
    if (run?.query === undefined) return;
    this.#open.delete(block);
    this.list.done(run.index, searchItem(run.id, failed ? "failed" : "completed", run.query, urls));
  }

  /** An image is a separate item; there is no item for audio, so its transcript becomes text. */
  media(part: Extract<Part, { type: "media" }>): void {
    const own = extraOf(part.extra, "responses");
    if (own || part.mediaType.startsWith("image/")) {
      const output_format = part.mediaType.slice(part.mediaType.indexOf("/") + 1);
      const made = { type: "image_generation_call", status: "completed", output_format };
      return this.whole({ ...(own ?? made), result: part.data }, "ig", part.block);
    }
    if (part.transcript !== undefined) this.messages.say(part.transcript, false);
  }

  /** Ends searches without a result, and the items whose end has not come. */
  endAll(): void {
    for (const [block, run] of this.#open) {
      if (run.query !== undefined) this.searchEnd(block, [], true);
      else this.whole(this.list.items[run.index], "item", block);
    }
  }
}

function searchItem(id: string, status: string, query: string, urls: readonly string[]): Loose {
  const sources = urls.map((url) => ({ type: "url", url }));
  // Python clients treat unknown item types as messages, and iterate over `content`.
  return { type: "svc:web_search", id, status, content: [], action: { type: "search", query, sources } };
}
