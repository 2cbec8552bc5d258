/** Responses as OpenAI answers with `include: ["reasoning.encrypted_content"]`. */
import { type Loose, objects, pieces, type Said, textOf } from "./shape.ts";

const USAGE = {
  input_tokens: 75,
  input_tokens_details: { cached_tokens: 0 },
  output_tokens: 80,
  output_tokens_details: { reasoning_tokens: 64 },
  total_tokens: 155,
};

function response(turn: number, fields: Loose): Loose {
  return {
    id: `resp_68c35098${turn}`,
    object: "response",
    created_at: 1757630616,
    status: "in_progress",
    background: false,
    error: null,
    incomplete_details: null,
    instructions: null,
    max_output_tokens: null,
    model: "gpt-5-2025-08-07",
    output: [],
    parallel_tool_calls: true,
    previous_response_id: null,
    reasoning: { effort: "medium", summary: "detailed" },
    store: false,
    temperature: 1,
    text: { format: { type: "text" }, verbosity: "medium" },
    tool_choice: "auto",
    tools: [],
    top_p: 1,
    truncation: "disabled",
    usage: null,
    metadata: {},
    ...fields,
  };
}

function ending(said: Said): Loose {
  return said.cut
    ? { status: "incomplete", incomplete_details: { reason: "max_output_tokens" } }
    : { status: "completed" };
}

function items(said: Said, turn: number): Loose[] {
  const out: Loose[] = [];
  if (said.reasoning) {
    out.push({
      id: `rs_68c3509b${turn}`,
      type: "reasoning",
      encrypted_content: said.reasoning.proof,
      summary: [{ type: "summary_text", text: said.reasoning.text }],
    });
  }
  if (said.text !== undefined) {
    out.push({
      id: `msg_68c350a7${turn}`,
      type: "message",
      status: said.cut ? "incomplete" : "completed",
      content: [{ type: "output_text", annotations: [], logprobs: [], text: said.text }],
      role: "assistant",
    });
  }
  said.calls?.forEach((c, i) =>
    out.push({
      id: `fc_68c350b1${turn}${i}`,
      type: "function_call",
      status: "completed",
      arguments: JSON.stringify(c.input),
      call_id: c.id,
      name: c.name,
    })
  );
  return out;
}

export function whole(said: Said, turn: number): Loose {
  return response(turn, { ...ending(said), output: items(said, turn), usage: USAGE });
}

export function frames(said: Said, turn: number): string[] {
  const out: string[] = [];
  const event = (type: string, fields: Loose) => {
    out.push(`event: ${type}\ndata: ${JSON.stringify({ type, sequence_number: out.length, ...fields })}\n\n`);
  };
  event("response.created", { response: response(turn, {}) });
  event("response.in_progress", { response: response(turn, {}) });
  const output = items(said, turn);
  output.forEach((item, output_index) => {
    const at = { item_id: item.id, output_index };
    if (item.type === "reasoning") {
      // The content at the start is another string than the one to keep.
      const opened = { ...item, summary: [], encrypted_content: `${item.encrypted_content}-not-yet` };
      event("response.output_item.added", { output_index, item: opened });
      const [part] = objects(item.summary);
      const spot = { ...at, summary_index: 0 };
      event("response.reasoning_summary_part.added", { ...spot, part: { type: "summary_text", text: "" } });
      for (const delta of pieces(textOf([part]))) {
        event("response.reasoning_summary_text.delta", { ...spot, delta, obfuscation: "x7" });
      }
      event("response.reasoning_summary_text.done", { ...spot, text: part.text });
      event("response.reasoning_summary_part.done", { ...spot, part });
    } else if (item.type === "message") {
      event("response.output_item.added", {
        output_index,
        item: { ...item, content: [], status: "in_progress" },
      });
      const [part] = objects(item.content);
      const spot = { ...at, content_index: 0 };
      event("response.content_part.added", { ...spot, part: { ...part, text: "" } });
      for (const delta of pieces(textOf([part]))) {
        event("response.output_text.delta", { ...spot, delta, logprobs: [], obfuscation: "x7" });
      }
      event("response.output_text.done", { ...spot, text: part.text, logprobs: [] });
      event("response.content_part.done", { ...spot, part });
    } else {
      event("response.output_item.added", {
        output_index,
        item: { ...item, arguments: "", status: "in_progress" },
      });
      for (const delta of pieces(String(item.arguments))) {
        event("response.function_call_arguments.delta", { ...at, delta, obfuscation: "x7" });
      }
      event("response.function_call_arguments.done", { ...at, arguments: item.arguments });
    }
    event("response.output_item.done", { output_index, item });
  });
  if (said.failsWith !== undefined) {
    const error = { type: "server_error", code: "server_error", message: said.failsWith, param: null };
    event("error", { error });
    event("response.failed", {
      response: response(turn, {
        status: "failed",
        error: { code: "server_error", message: said.failsWith },
        output,
      }),
    });
    return out;
  }
  const end = ending(said);
  event(`response.${end.status}`, { response: response(turn, { ...end, output, usage: USAGE }) });
  return out;
}

export function proofs(body: Loose): string[] {
  return objects(body.input).filter((i) => i.type === "reasoning").map((i) => String(i.encrypted_content));
}

export function results(body: Loose): string[] {
  return objects(body.input).filter((i) => i.type === "function_call_output").map((i) => textOf(i.output));
}
