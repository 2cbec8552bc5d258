/**
 * Encodes tools and tool choice.
 *
 * Schemas are sent as `parametersJsonSchema`, which accepts JSON Schema; the older `parameters` accepts only
 * an OpenAPI subset. Google's v1 endpoints before 2025-06 do not have the newer field. `allowedFunctionNames`
 * is valid only with ANY, so for an optional choice among some tools the others are not declared.
 */
import type { Loose } from "../../exchange/json.ts";
import type { FunctionTool, Prompt } from "../../exchange/prompt.ts";
import { objectSchema } from "../schemas/object_schema.ts";
import { encodeSchema } from "./encode_schema.ts";

/** The fields `tools` and `toolConfig`; none without functions, since Gemini then rejects a `toolConfig`. */
export function encodeTools(prompt: Prompt): Loose {
  const choice = prompt.toolChoice;
  const functions = prompt.tools.filter((t) => t.kind === "function");
  const optional = choice?.type === "allowed" && !choice.required ? new Set(choice.names) : undefined;
  const declared = optional ? functions.filter((t) => optional.has(t.name)) : functions;
  if (declared.length === 0) return {};
  const config = functionCallingConfig(prompt, new Set(declared.map((t) => t.name)));
  return {
    tools: [{ functionDeclarations: declared.map(declaration) }],
    ...(config && { toolConfig: { functionCallingConfig: config } }),
  };
}

function declaration(tool: FunctionTool): Loose {
  return {
    name: tool.name,
    ...(tool.description && { description: tool.description }),
    ...(tool.parameters && { parametersJsonSchema: encodeSchema(objectSchema(tool.parameters)) }),
  };
}

function functionCallingConfig(prompt: Prompt, declared: ReadonlySet<string>): Loose | undefined {
  const choice = prompt.toolChoice;
  switch (choice?.type) {
    case "auto":
      return { mode: "AUTO" };
    case "none":
      return { mode: "NONE" };
    case "required":
      return { mode: "ANY" };
    case "tool":
      return only([choice.name], declared);
    case "allowed":
      return choice.required ? only(choice.names, declared) : { mode: "AUTO" };
    default:
      return undefined;
  }
}

/** Names of undeclared tools are rejected. */
function only(names: readonly string[], declared: ReadonlySet<string>): Loose {
  const known = names.filter((name) => declared.has(name));
  return known.length === 0 ? { mode: "ANY" } : { mode: "ANY", allowedFunctionNames: known };
}
