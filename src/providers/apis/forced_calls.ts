/**
 * Models of chat-completions servers that reject a forced tool call while reasoning is on, which is the
 * default for most of them. The forced call is kept and reasoning is switched off; for a model that always
 * reasons, an instruction in the prompt replaces the forced call.
 *
 * Sources: the servers' error messages ("tool_choice 'required' is incompatible with thinking enabled",
 * "Thinking mode does not support this tool_choice"), and results for each model in client libraries.
 */
import { array, isObject, type Loose, object } from "../../exchange/json.ts";
import { callNow } from "../../formats/restrictions/claude_rules.ts";

export interface ForcedCalls {
  /** Models with reasoning that can be switched off. */
  readonly quiet?: RegExp;
  /** Field and value that switch it off. */
  readonly off?: readonly [string, unknown];
  /** Models that always reason. */
  readonly always?: RegExp;
  /** Models that accept `required`, but not a function name. */
  readonly unnamed?: RegExp;
}

/** Fields for the reasoning effort, of any server. */
const EFFORT = ["reasoning_effort", "reasoning"];

/**
 * Modifies the body.
 *
 * @param lose called with the caller's setting that is dropped
 */
export function fitForcedCall(
  body: Loose,
  model: string,
  { quiet, off, always, unnamed }: ForcedCalls,
  lose: (field: "reasoning" | "toolChoice") => void,
): void {
  const { tool_choice: choice } = body;
  if (choice !== "required" && !isObject(choice)) return;
  const { name } = object(object(choice).function);
  if (always?.test(model)) {
    body.tool_choice = "auto";
    instruct(body, callNow(typeof name === "string" ? name : undefined));
    lose("toolChoice");
  } else if (unnamed?.test(model)) {
    if (typeof name !== "string") return;
    body.tool_choice = "required";
    body.tools = array(body.tools).filter((tool) => object(object(tool).function).name === name);
  } else if (off !== undefined && quiet?.test(model)) {
    const [field, value] = off;
    // The caller has set the server's own field, which is kept.
    if (body[field] !== undefined) return;
    body[field] = value;
    for (const said of EFFORT) {
      if (body[said] === undefined) continue;
      if (body[said] !== "none") lose("reasoning");
      delete body[said];
    }
  }
}

/** Appends to the system message. Modifies the body. */
export function instruct(body: Loose, text: string): void {
  const messages = body.messages as Loose[];
  const [first] = messages;
  if (first?.role === "system" && typeof first.content === "string") {
    body.messages = [{ ...first, content: `${first.content}\n\n${text}` }, ...messages.slice(1)];
  } else body.messages = [{ role: "system", content: text }, ...messages];
}
