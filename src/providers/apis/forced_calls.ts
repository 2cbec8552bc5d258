/**
 * Models of chat-completions servers that refuse a demand for a call while they think, most of which think unless they are told
 * not to. The demand is kept, and thinking switched off; a model that always thinks is asked in words.
 *
 * Sources: the servers' refusals ("tool_choice 'required' is incompatible with thinking enabled", "Thinking mode does not
 * support this tool_choice"), and what clients' libraries measured of each model.
 */
import { array, isObject, type Loose, object } from "../../exchange/json.ts";
import { callNow } from "../../formats/claude_rules.ts";

export interface ForcedCalls {
  /** Models that think unless they are told not to. */
  readonly quiet?: RegExp;
  /** Field and value that tell them. */
  readonly off?: readonly [string, unknown];
  /** Models that always think. */
  readonly always?: RegExp;
  /** Models that take a demand for any tool, and none for one by its name. */
  readonly unnamed?: RegExp;
}

/** Fields that say how much to think, in words of every server. */
const EFFORT = ["reasoning_effort", "reasoning"];

/**
 * Changes the body.
 *
 * @param lose is told which of the caller's wishes is given up
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
    // Who says it in the server's own words knows the server.
    if (body[field] !== undefined) return;
    body[field] = value;
    for (const said of EFFORT) {
      if (body[said] === undefined) continue;
      if (body[said] !== "none") lose("reasoning");
      delete body[said];
    }
  }
}

function instruct(body: Loose, text: string): void {
  const messages = body.messages as Loose[];
  const [first] = messages;
  if (first?.role === "system" && typeof first.content === "string") {
    body.messages = [{ ...first, content: `${first.content}\n\n${text}` }, ...messages.slice(1)];
  } else body.messages = [{ role: "system", content: text }, ...messages];
}
