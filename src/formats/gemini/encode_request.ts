/**
 * Encodes a prompt as the body of `models/{model}:generateContent` or `:streamGenerateContent?alt=sse`; the
 * mode is in the URL.
 *
 * Callers cannot use this format, so there are no fields to send unchanged.
 */
import type { Loose } from "../../exchange/json.ts";
import { type Content, type Prompt, splitSystem } from "../../exchange/prompt.ts";
import type { EncodeRequest, ProviderRequest } from "../format.ts";
import { encodeTurns, textParts } from "./encode_turns.ts";
import { droppedFields } from "./encode_dropped.ts";
import { mustSay } from "../validation.ts";
import { withinRanges } from "../restrictions/ranges.ts";
import { encodeModalities, encodeSampling, encodeShape } from "./encode_generation.ts";
import { encodeEffort } from "./encode_effort.ts";
import { lostExactness } from "../schemas/strict_schema.ts";
import { encodeTools } from "./encode_tools.ts";
import { versionOf, type WirePart } from "./wire.ts";

export function encodeRequest(given: Prompt, context: EncodeRequest): ProviderRequest {
  const { prompt, cut } = withinRanges(given, "gemini");
  const version = versionOf(context.model);
  const { system, rest } = splitSystem(prompt.turns);
  const tools = encodeTools(prompt);
  const shape = encodeShape(prompt, context, "tools" in tools);
  const instruction: WirePart[] = system.flatMap((turn) => textParts(turn.content));
  let contents = encodeTurns(
    [...system.map((turn) => ({ ...turn, role: "user" as const, content: notText(turn.content) })), ...rest],
    { format: prompt.format, version, signed: context.parameters?.thought_signatures ?? (version ?? 0) >= 3 },
  );
  if (contents.length === 0) {
    // Gemini requires contents; other APIs accept only system text.
    contents = instruction.length > 0 ? [{ role: "user", parts: instruction.splice(0) }] : [];
  }
  mustSay(contents, prompt);
  if (shape.instruction) instruction.push({ text: shape.instruction });
  const thinking = encodeEffort(prompt.reasoning, context);
  const { config: generationConfig, refused } = encodeSampling(prompt, context);
  const tier = encodeTier(prompt.serviceTier, version);
  if (thinking) generationConfig.thinkingConfig = thinking;
  Object.assign(generationConfig, shape.config, encodeModalities(prompt));
  const body: Loose = {
    ...(instruction.length > 0 && { systemInstruction: { parts: instruction } }),
    contents,
    ...tools,
    ...(Object.keys(generationConfig).length > 0 && { generationConfig }),
    ...(tier && { serviceTier: tier }),
  };
  if (thinking === null) refused.push("reasoning");
  const budget = prompt.reasoning?.budget ?? -1;
  if (budget >= 0 && thinking?.thinkingBudget !== undefined && thinking.thinkingBudget !== budget) {
    refused.push("reasoning");
  }
  const dropped = droppedFields(prompt, [...cut, ...refused], tier);
  return { body, dropped: shape.instruction ? [...dropped, ...lostExactness(prompt)] : dropped };
}

/** Models before Gemini 2.5 are served in one tier. */
function encodeTier(tier: string | undefined, version: number | null): string | undefined {
  return version !== null && version >= 2.5 && (tier === "flex" || tier === "priority") ? tier : undefined;
}

/** `systemInstruction` accepts text only. Other content becomes part of the user's turn. */
function notText(content: readonly Content[]): Content[] {
  return content.filter((c) => c.type !== "text" && c.type !== "refusal");
}
