/**
 * One round of a search loop: turns the parts of one provider call into a section of one answer. Search calls are held back, blocks are
 * numbered consecutively, the start is passed on only once, and the model's output is kept for the next round.
 */
import { type Block, Collector } from "../../exchange/answer.ts";
import { isObject, parse, string } from "../../exchange/json.ts";
import type { Part } from "../../exchange/part.ts";
import type { Content, Turn } from "../../exchange/prompt.ts";
import { addUsage, type Usage } from "../../exchange/usage.ts";
import { Said } from "../estimate.ts";

export interface HeldCall {
  id: string;
  /** Undefined: the arguments contain no query. */
  query: string | undefined;
}

export interface RoundStart {
  /** Name of the search tool. */
  tool: string;
  /** Names of the caller's tools. */
  callers: ReadonlySet<string>;
  /** Index of the first block. */
  block: number;
  first: boolean;
  ids: CallIds;
}

type Blocked = Extract<Part, { block: number }>;

export class RoundReader {
  callersCalls = 0;
  usage: Usage | null = null;
  /** The usage is an estimate. */
  estimated = false;
  finish: Extract<Part, { type: "finish" }> | undefined;
  nextBlock: number;
  /** Searches that the provider ran itself. */
  ownSearches = 0;
  /** The model's output, including search calls. */
  readonly said = new Said();
  readonly #start: RoundStart;
  readonly #calls: { id: string; pieces: string[] }[] = [];
  /** Blocks that are not sent to the caller: search calls, and blocks of other choices (null). */
  readonly #held = new Map<number, string[] | null>();
  readonly #collector = new Collector();

  constructor(start: RoundStart) {
    this.#start = start;
    this.nextBlock = start.block;
  }

  /** @param spent, before of the rounds before: usage, and all searches */
  read(batch: readonly Part[], spent: Usage, before: number): Part[] {
    const out: Part[] = [];
    for (const part of batch) {
      this.said.take(part);
      if (part.type === "start") {
        if (this.#start.first) out.push(part);
      } else if (part.type === "usage") {
        this.usage = part.usage;
        this.estimated ||= part.estimated === true;
        this.ownSearches = part.searches ?? this.ownSearches;
        const usage = addUsage(spent, part.usage);
        const searches = before + this.ownSearches;
        const { extra, service } = part;
        out.push({
          type: "usage",
          usage,
          ...(searches > 0 && { searches }),
          ...(service !== undefined && { service }),
          ...(extra && { extra }),
        });
      } else if (part.type === "finish") {
        if (part.choice === 0) this.finish = part;
      } else if (part.type !== "sound-delta") this.#read(part, out);
    }
    return out;
  }

  #read(part: Blocked, out: Part[]): void {
    // One answer was requested; if a provider sends several, only the first is used.
    if ("choice" in part && part.choice !== 0) this.#held.set(part.block, null);
    else if (part.type === "call-start" && part.namespace === undefined && this.#isSearch(part.name)) {
      const id = this.#start.ids.unique(part.id);
      const pieces: string[] = [];
      this.#held.set(part.block, pieces);
      this.#calls.push({ id, pieces });
      const name = this.#start.tool;
      part = {
        ...part,
        id,
        name,
        ...(part.proof?.call !== undefined && { proof: { ...part.proof, call: id } }),
      };
    }
    const held = this.#held.get(part.block);
    if (held === null) return;
    this.#collector.add([part]);
    if (held) {
      if (part.type === "call-delta") held.push(part.text);
      return;
    }
    if (part.type === "call-start") this.callersCalls++;
    const block = this.#start.block + part.block;
    this.nextBlock = Math.max(this.nextBlock, block + 1);
    out.push({ ...part, block });
  }

  /** Small models may write the name with the prefix of their template, as `functions.web_search`, or in a similar spelling. */
  #isSearch(name: string): boolean {
    const { tool, callers } = this.#start;
    return name === tool || (!callers.has(name) && bareName(name) === tool);
  }

  /** The model's search calls, in order. */
  get calls(): HeldCall[] {
    return this.#calls.map(({ id, pieces }) => ({ id, query: queryOf(pieces.join("")) }));
  }

  /** The model's output, for the prompt of the next round. */
  turn(): Turn {
    const content = (this.#collector.answer.choices[0]?.blocks ?? []).flatMap(contentOf);
    const spoken = content.filter((c) => c.type !== "reasoning" && c.type !== "call");
    // Some providers accept only a string here, not a list.
    return {
      role: "assistant",
      content,
      plain: spoken.length <= 1 && spoken.every((c) => c.type === "text"),
    };
  }
}

/** Makes ids of tool calls unique in the conversation: some providers repeat ids or leave them empty. */
export class CallIds {
  readonly #taken = new Set<string>();

  constructor(turns: readonly Turn[]) {
    for (const turn of turns) {
      for (const c of turn.content) if (c.type === "call") this.#taken.add(c.id);
    }
  }

  unique(id: string): string {
    let free = id === "" ? "call_search" : id;
    for (let i = 2; this.#taken.has(free); i++) free = `${id === "" ? "call_search" : id}_${i}`;
    this.#taken.add(free);
    return free;
  }
}

/** Without a namespace prefix and template markers after it. Longer names than 64 characters do not match. */
function bareName(name: string): string {
  const [bare] = name.slice(0, 200).split("<|", 1);
  return bare.slice(Math.max(...[".", ":", "/"].map((sign) => bare.lastIndexOf(sign))) + 1).trim()
    .toLowerCase().replaceAll("-", "_");
}

function queryOf(text: string): string | undefined {
  const value = parse(text);
  const query = isObject(value) ? string(value.query)?.trim() : undefined;
  return query === "" ? undefined : query;
}

function contentOf(block: Block): Content[] {
  switch (block.type) {
    case "text": {
      const { text, proof, extra } = block;
      if (text === "" && !proof) return [];
      const said: Content[] = text === "" ? [] : [{ type: block.refusal ? "refusal" : "text", text, extra }];
      // The signature of a text must come after the text.
      return proof ? [...said, { type: "reasoning", sections: [], kind: "text", proof }] : said;
    }
    case "reasoning":
      return [block];
    case "call":
      // Providers refuse a history with arguments that are not a JSON object.
      return [{ ...block, arguments: isObject(parse(block.arguments)) ? block.arguments : "{}" }];
    case "media": {
      const source = { kind: "base64", mediaType: block.mediaType, data: block.data } as const;
      const media: Content = { type: block.mediaType.startsWith("audio/") ? "audio" : "image", source };
      return block.proof
        ? [media, { type: "reasoning", sections: [], kind: "text", proof: block.proof }]
        : [media];
    }
    case "opaque":
      // Those of chat completions are fields of the message.
      return block.format === "chat_completions" ? [] : [block];
    case "search":
      return [];
  }
}
