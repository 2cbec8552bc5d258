/** What a responses recording says. A stream is read from its last event, which repeats the whole answer. */
import { choice, counts, type Reading } from "./reading.ts";
import type { Recording } from "../support/recordings.ts";
import { framesOf } from "./sse_text.ts";
import { list, num, text, type Wild, wild } from "./wild.ts";

export function readResponses(recording: Recording): Reading {
  if (recording.sse === null) return responseObject(wild(recording.response), []);
  const done: Wild[] = [];
  for (const frame of framesOf(recording.sse)) {
    if (frame.data.startsWith("[DONE]")) break;
    const event = wild(JSON.parse(frame.data));
    if (event.type === "error" || event.type === "response.failed") {
      return { kind: "error", said: JSON.stringify(event.error ?? wild(event.response).error ?? event) };
    }
    if (event.type === "response.output_item.done") done.push(wild(event.item));
    if (event.type === "response.completed" || event.type === "response.incomplete") {
      return responseObject(wild(event.response), done);
    }
  }
  return { kind: "error", said: "no end" };
}

/** @param done the items of the stream, for the final object that leaves its output empty */
function responseObject(r: Wild, done: Wild[]): Reading {
  if (r.error) return { kind: "error", said: JSON.stringify(r.error) };
  if (r.status !== "completed" && r.status !== "incomplete") {
    return { kind: "error", said: `status ${r.status}` };
  }
  const c = choice();
  const output = list(r.output);
  let searches = 0;
  for (const item of output.length > 0 ? output : done) {
    switch (item.type) {
      case "message":
        for (const part of list(item.content)) {
          c.refusal += text(part.refusal);
          c.text += text(part.text);
          for (const a of list(part.annotations)) {
            if (a.url) c.citations.push({ url: text(a.url), title: text(a.title) || undefined });
          }
        }
        break;
      case "reasoning": {
        const open = list(item.content).map((p) => text(p.text)).filter((t) => t !== "");
        const summary = list(item.summary).map((p) => text(p.text)).filter((t) => t !== "");
        c.reasoning.push(...(summary.length > 0 ? summary : open));
        break;
      }
      case "function_call":
        c.calls.push({ name: text(item.name), arguments: text(item.arguments), custom: false });
        break;
      case "custom_tool_call":
        c.calls.push({ name: text(item.name), arguments: text(item.input), custom: true });
        break;
      case "web_search_call":
        if (searched(item)) searches++;
        for (const source of list(wild(item.action).sources)) {
          if (source.url) c.mayCite.push(text(source.url));
        }
        if (wild(item.action).url) c.mayCite.push(text(wild(item.action).url));
        break;
    }
  }
  if (r.status === "incomplete") {
    const reason = text(wild(r.incomplete_details).reason);
    c.stops = [reason === "content_filter" ? "content-filter" : "length"];
  } else if (c.calls.length > 0) c.stops = ["tool-calls"];
  else if (c.refusal !== "") c.stops = ["stop", "refusal"];
  const u = wild(r.usage);
  return {
    kind: "answer",
    choices: [c],
    kinds: (output.length > 0 ? output : done).flatMap((item) =>
      searched(item) ? ["svc:web_search"] : blank(item) ? [] : [text(item.type)]
    ),
    searches,
    usage: num(u.input_tokens) === undefined ? null : counts({
      input: num(u.input_tokens),
      cached: num(wild(u.input_tokens_details).cached_tokens),
      cacheWrite: num(wild(u.input_tokens_details).cache_write_tokens),
      output: num(u.output_tokens),
      reasoning: num(wild(u.output_tokens_details).reasoning_tokens),
    }),
  };
}

/** Looked something up, not only opened a page of it. */
function searched(item: Wild): boolean {
  return item.type === "web_search_call" && (wild(item.action).type ?? "search") === "search";
}

/** Reasoning with nothing to show and nothing to send back. */
function blank(item: Wild): boolean {
  return item.type === "reasoning" && !item.encrypted_content && list(item.summary).length === 0 &&
    list(item.content).length === 0;
}
