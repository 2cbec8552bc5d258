/**
 * The older form of tools in requests of chat-completions callers: `functions`, `function_call` and messages of
 * the role `function`. OpenAI still accepts it; other servers reject or ignore it.
 */
import { array, isObject, type Loose, object, string } from "../../exchange/json.ts";

/** Replaces the older form by tools. Modifies the body. */
export function withTools(body: Loose): void {
  const { functions, function_call: choice } = body;
  if (!Array.isArray(functions)) return;
  delete body.functions;
  delete body.function_call;
  body.tools = functions.map((called) => ({ type: "function", function: called }));
  if (choice !== undefined) {
    body.tool_choice = isObject(choice) ? { type: "function", function: choice } : choice;
  }
  // A caller of the older form reads one call only.
  body.parallel_tool_calls = false;
  const ids = new Map<string, string>();
  body.messages = array(body.messages).map((message, i) => withCalls(object(message), i, ids));
}

/** @param ids of the last call of each function */
function withCalls(message: Loose, i: number, ids: Map<string, string>): Loose {
  const { function_call: call, ...fields } = message;
  if (message.role === "assistant" && isObject(call)) {
    const id = `call_${i}`;
    ids.set(string(call.name) ?? "", id);
    return { ...fields, tool_calls: [...array(fields.tool_calls), { id, type: "function", function: call }] };
  }
  if (message.role !== "function") return message;
  const name = string(message.name) ?? "";
  const id = ids.get(name);
  const { content } = message;
  // A result without its call is rejected.
  return id === undefined
    ? { role: "user", content: `Result of tool ${name}:\n${typeof content === "string" ? content : ""}` }
    : { role: "tool", tool_call_id: id, content: content ?? "" };
}
