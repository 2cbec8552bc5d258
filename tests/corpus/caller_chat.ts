/** Reads what a chat-completions caller gets. */
import type { CallerAnswer, CallerChoice, CallerCounts, CallerReading } from "./caller.ts";
import { envelope } from "./caller_errors.ts";
import type { CallReading, Cited } from "./reading.ts";
import type { TextFrame } from "./sse_text.ts";
import { count, filled, must, searches, unique, whole } from "./strict.ts";
import { list, text, type Wild, wild } from "./wild.ts";

const CHAT_FINISHES = ["stop", "tool_calls", "length", "content_filter"];

export function chatObject(body: Wild): CallerAnswer {
  must(filled(body.id) && body.object === "chat.completion", "id and object of the answer");
  must(whole(body.created) && filled(body.model), "created and model of the answer");
  const choices = list(body.choices);
  must(choices.length > 0, "no choices");
  const read = choices.map((c, i) => {
    must(c.index === i, `index ${c.index} of choice ${i}`);
    must(CHAT_FINISHES.includes(text(c.finish_reason)), `finish_reason ${c.finish_reason}`);
    const m = wild(c.message);
    must(m.role === "assistant", "role of the message");
    must(typeof m.content === "string" || m.content === null, "content of the message");
    const reader = new ChatChoice();
    reader.say(m);
    for (const call of list(m.tool_calls)) {
      must(filled(call.id), "id of a tool call");
      reader.call(call, text(call.id));
    }
    unique(list(m.tool_calls).map((call) => text(call.id)));
    return reader.done(text(c.finish_reason));
  });
  return {
    kind: "answer",
    model: text(body.model),
    kinds: [],
    searches: searches(body.usage),
    choices: read,
    usage: chatUsage(body.usage),
  };
}

class ChatChoice {
  #text = "";
  #refusal = "";
  #transcript = "";
  #reasoning = "";
  readonly #calls = new Map<unknown, CallReading>();
  readonly #citations: Cited[] = [];

  say(m: Wild): void {
    must(m.content === undefined || m.content === null || typeof m.content === "string", "type of content");
    this.#text += text(m.content);
    this.#refusal += text(m.refusal);
    this.#transcript += text(wild(m.audio).transcript);
    if (filled(m.reasoning) && filled(m.reasoning_content)) {
      must(m.reasoning === m.reasoning_content, "reasoning and reasoning_content differ");
    }
    this.#reasoning += text(m.reasoning_content) || text(m.reasoning);
    for (const a of list(m.annotations)) {
      must(a.type === "url_citation", `annotation of type ${a.type}`);
      const c = wild(a.url_citation);
      must(filled(c.url) && typeof c.title === "string", "url and title of an annotation");
      must(whole(c.start_index) && whole(c.end_index), "indices of an annotation");
      this.#citations.push({ url: c.url, title: c.title });
    }
  }

  /** A whole call, or the first piece of one. */
  call(call: Wild, key: unknown): void {
    const custom = call.type === "custom";
    must(custom || call.type === "function", `tool call of type ${call.type}`);
    const inner = wild(custom ? call.custom : call.function);
    const piece = custom ? inner.input : inner.arguments;
    must(filled(inner.name), "name of a tool call");
    must(typeof piece === "string", "arguments of a tool call");
    this.#calls.set(key, { name: inner.name, arguments: piece, custom });
  }

  more(call: Wild, key: unknown): void {
    const found = this.#calls.get(key);
    must(found !== undefined, `piece of the unknown tool call ${key}`);
    must(!filled(call.id) && !filled(wild(call.function).name), "a piece of a tool call repeats id or name");
    found.arguments += text(
      wild(found.custom ? call.custom : call.function)[found.custom ? "input" : "arguments"],
    );
  }

  get callCount(): number {
    return this.#calls.size;
  }
  knows(key: unknown): boolean {
    return this.#calls.has(key);
  }

  done(finish: string): CallerChoice {
    return {
      text: this.#text || this.#transcript,
      refusal: this.#refusal,
      reasoning: this.#reasoning === "" ? [] : [this.#reasoning],
      calls: [...this.#calls.values()],
      stop: finish,
      citations: this.#citations,
    };
  }
}

export function chatStream(frames: TextFrame[]): CallerReading {
  const choices = new Map<number, ChatChoice>();
  const finishes = new Map<number, string>();
  const ids = new Map<number, string[]>();
  let opening: Wild | undefined;
  let usage: CallerCounts | null = null;
  let searchCount: number | undefined;
  let usageAt = -1;
  must(frames.at(-1)!.data === "[DONE]", "the last frame is not [DONE]");
  for (const [at, frame] of frames.entries()) {
    must(frame.event === "", `a chat frame names the event ${frame.event}`);
    if (frame.data === "[DONE]") {
      must(at === frames.length - 1, "frames after [DONE]");
      break;
    }
    const chunk = wild(JSON.parse(frame.data));
    if (chunk.error !== undefined) {
      must(at === frames.length - 2, "frames between the error and [DONE]");
      return envelope("chat_completions", chunk, 200);
    }
    must(chunk.object === "chat.completion.chunk", `object ${chunk.object}`);
    must(filled(chunk.id) && filled(chunk.model) && whole(chunk.created), "id, model, created of a chunk");
    opening ??= chunk;
    must(
      chunk.id === opening.id && chunk.model === opening.model && chunk.created === opening.created,
      "id, model or created changes",
    );
    must(Array.isArray(chunk.choices), "a chunk without choices");
    if (chunk.usage !== undefined && chunk.usage !== null) {
      must(usage === null, "usage twice");
      usage = chatUsage(chunk.usage);
      searchCount = searches(chunk.usage);
      usageAt = at;
    }
    for (const c of list(chunk.choices)) {
      must(whole(c.index), "index of a choice");
      const index = c.index;
      const delta = wild(c.delta);
      must(typeof c.delta === "object" && c.delta !== null, "a choice without delta");
      let reader = choices.get(index);
      if (!reader) {
        must(delta.role === "assistant", `the first delta of choice ${index} has no role`);
        reader = new ChatChoice();
        choices.set(index, reader);
        ids.set(index, []);
      }
      if (finishes.has(index)) {
        // Callers who did not ask for usage may read `choices[0]` of every chunk: theirs carries an empty one.
        const idle = Object.keys(delta).length === 0 && c.finish_reason === null;
        must(idle && usageAt === at && index === 0, `choice ${index} goes on after its finish_reason`);
        continue;
      }
      reader.say(delta);
      for (const call of list(delta.tool_calls)) {
        must(whole(call.index), "a tool call's delta without index");
        if (reader.knows(call.index)) reader.more(call, call.index);
        else {
          must(call.index === reader.callCount, `tool call ${call.index} after ${reader.callCount} calls`);
          must(filled(call.id), "id of a tool call");
          ids.get(index)!.push(call.id);
          reader.call(call, call.index);
        }
      }
      if (c.finish_reason !== null && c.finish_reason !== undefined) {
        must(CHAT_FINISHES.includes(text(c.finish_reason)), `finish_reason ${c.finish_reason}`);
        finishes.set(index, text(c.finish_reason));
      }
    }
  }
  must(choices.size > 0, "no choice");
  for (const list of ids.values()) unique(list);
  for (const index of choices.keys()) must(finishes.has(index), `choice ${index} has no finish_reason`);
  if (usage) must(usageAt === frames.length - 2, "usage is not on the last chunk");
  return {
    kind: "answer",
    model: text(opening?.model),
    kinds: [],
    searches: searchCount,
    choices: [...choices].sort(([a], [b]) => a - b).map(([i, r]) => r.done(finishes.get(i)!)),
    usage,
  };
}

function chatUsage(value: unknown): CallerCounts | null {
  if (value === null || value === undefined) return null;
  const u = wild(value);
  const { prompt_tokens: input, completion_tokens: output } = u;
  must(whole(input) && whole(output), "prompt_tokens and completion_tokens");
  must(u.total_tokens === input + output, `total_tokens ${u.total_tokens} of ${input} and ${output}`);
  return {
    input,
    output,
    cached: count(wild(u.prompt_tokens_details).cached_tokens),
    cacheWrite: count(wild(u.prompt_tokens_details).cache_write_tokens),
    reasoning: count(wild(u.completion_tokens_details).reasoning_tokens),
  };
}
