/** Encodes `toolConfig`: tools and tool choice. The API has no choice `none`. */
import { type Loose, object } from "../../exchange/json.ts";
import type { Prompt } from "../../exchange/prompt.ts";
import { callNow, takesForcedTools } from "../restrictions/claude_rules.ts";
import { objectSchema } from "../schemas/object_schema.ts";
import { encodeCachePoint } from "./encode_content.ts";
import type { Rules } from "./rules.ts";

interface EncodedTools {
  config?: Loose;
  /** The model is instructed to call no tool. */
  silenced: boolean;
  /** An instruction to call a tool, if the model does not support forced calls. */
  asked?: string;
}

/** @param model the provider's name */
export function encodeTools(
  prompt: Prompt,
  messages: readonly Loose[],
  { rules, model }: { rules: Rules; model: string },
): EncodedTools {
  const choice = prompt.toolChoice;
  const allowed = choice?.type === "allowed" ? new Set(choice.names) : undefined;
  const tools: Loose[] = [];
  for (const tool of prompt.tools) {
    if (tool.kind === "opaque" || (allowed && !allowed.has(tool.name))) continue;
    const schema = tool.kind === "function" ? objectSchema(tool.parameters) : FREEFORM;
    tools.push({
      toolSpec: {
        name: tool.name,
        ...(tool.description && { description: tool.description }),
        inputSchema: { json: schema },
      },
    });
    const point = tool.cache && rules.cachesTools && encodeCachePoint(tool.cache, rules);
    if (point) tools.push(point);
  }
  const called = calledTools(messages);
  // "The toolConfig field must be defined when using toolUse and toolResult content blocks", even if no tool
  // may be called.
  if (tools.length === 0 || choice?.type === "none") {
    if (called.size === 0) return { silenced: false };
    const declared = tools.length > 0 ? tools : [...called].map((name) => ({
      toolSpec: { name, inputSchema: { json: objectSchema(undefined) } },
    }));
    return { config: { tools: declared }, silenced: true };
  }
  const toolChoice = encodeChoice(prompt);
  if (toolChoice && !toolChoice.auto && (rules.forced === "none" || !takesForcedTools(model))) {
    const asked = callNow(choice?.type === "tool" ? choice.name : undefined);
    return { config: { tools, toolChoice: { auto: {} } }, silenced: false, asked };
  }
  if (toolChoice?.tool && rules.forced === "any") {
    const { name } = toolChoice.tool as Loose;
    const named = tools.filter((tool) => object(tool.toolSpec).name === name);
    return { config: { tools: named, toolChoice: { any: {} } }, silenced: false };
  }
  return { config: { tools, ...(toolChoice && { toolChoice }) }, silenced: false };
}

const FREEFORM: Loose = { type: "object", properties: { input: { type: "string" } }, required: ["input"] };

function encodeChoice({ toolChoice: choice }: Prompt): Loose | undefined {
  switch (choice?.type) {
    case "auto":
      return { auto: {} };
    case "required":
      return { any: {} };
    case "tool":
      return { tool: { name: choice.name } };
    case "allowed":
      return choice.required ? { any: {} } : { auto: {} };
  }
}

function calledTools(messages: readonly Loose[]): Set<string> {
  const names = new Set<string>();
  for (const { content } of messages) {
    for (const block of content as Loose[]) {
      if (block.toolUse) names.add((block.toolUse as Loose).name as string);
    }
  }
  return names;
}
