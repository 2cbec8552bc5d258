/**
 * Checks a `generateContent` body as strictly as the API does: the fields that Google's reference and the types of its
 * SDK (@google/genai 2.32) list, and the rules about order that only its error messages tell.
 */
import { assert } from "@std/assert";
import { z } from "zod";

const base64 = z.string().regex(/^[A-Za-z0-9+/_-]*={0,2}$/);
const blob = z.strictObject({ mimeType: z.string().regex(/^[a-z]+\/[\w.+-]+$/), data: base64 });
const part = z.strictObject({
  text: z.string().optional(),
  thought: z.boolean().optional(),
  thoughtSignature: base64.min(1).optional(),
  inlineData: blob.optional(),
  fileData: z.strictObject({ mimeType: z.string().regex(/^[a-z]+\/[\w.+-]+$/), fileUri: z.string().min(1) })
    .optional(),
  functionCall: z.strictObject({
    id: z.string(),
    name: z.string().min(1),
    args: z.record(z.string(), z.unknown()),
  }).optional(),
  functionResponse: z.strictObject({
    id: z.string(),
    name: z.string().min(1),
    response: z.record(z.string(), z.unknown()),
    parts: z.array(z.strictObject({ inlineData: blob })).min(1).optional(),
  }).optional(),
  // What an answer held goes back as it came.
  executableCode: z.looseObject({ code: z.string() }).optional(),
  codeExecutionResult: z.looseObject({ outcome: z.string() }).optional(),
  toolCall: z.looseObject({}).optional(),
  toolResponse: z.looseObject({}).optional(),
}).refine(
  (p) =>
    [
      p.text,
      p.inlineData,
      p.fileData,
      p.functionCall,
      p.functionResponse,
      p.executableCode,
      p.codeExecutionResult,
      p.toolCall,
      p.toolResponse,
    ].filter((x) => x !== undefined)
      .length === 1,
  "a part is one thing",
).refine((p) => p.text !== "" || p.thoughtSignature !== undefined, "an empty text without a signature");

const body = z.strictObject({
  systemInstruction: z.strictObject({ parts: z.array(z.strictObject({ text: z.string().min(1) })).min(1) })
    .optional(),
  contents: z.array(z.strictObject({ role: z.enum(["user", "model"]), parts: z.array(part).min(1) })).min(1),
  tools: z.array(z.strictObject({
    functionDeclarations: z.array(z.strictObject({
      name: z.string().regex(/^[a-zA-Z_][\w.:-]{0,127}$/),
      description: z.string().min(1).optional(),
      parametersJsonSchema: z.record(z.string(), z.unknown()).optional(),
    })).min(1),
  })).min(1).optional(),
  toolConfig: z.strictObject({
    functionCallingConfig: z.strictObject({
      mode: z.enum(["AUTO", "ANY", "NONE"]),
      allowedFunctionNames: z.array(z.string()).min(1).optional(),
    }).refine((c) => c.mode === "ANY" || !c.allowedFunctionNames, "names with ANY only"),
  }).optional(),
  generationConfig: z.strictObject({
    maxOutputTokens: z.int().positive().optional(),
    temperature: z.number().min(0).max(2).optional(),
    topP: z.number().min(0).max(1).optional(),
    topK: z.number().positive().optional(),
    stopSequences: z.array(z.string().min(1)).min(1).max(5).optional(),
    seed: z.int32().optional(),
    presencePenalty: z.number().min(-2).max(2).optional(),
    frequencyPenalty: z.number().min(-2).max(2).optional(),
    candidateCount: z.int().min(2).max(8).optional(),
    responseLogprobs: z.literal(true).optional(),
    logprobs: z.int().min(1).max(20).optional(),
    responseMimeType: z.literal("application/json").optional(),
    responseJsonSchema: z.record(z.string(), z.unknown()).optional(),
    responseModalities: z.array(z.enum(["TEXT", "IMAGE", "AUDIO"])).min(1).optional(),
    speechConfig: z.strictObject({
      voiceConfig: z.strictObject({ prebuiltVoiceConfig: z.strictObject({ voiceName: z.string().min(1) }) }),
    }).optional(),
    thinkingConfig: z.strictObject({
      includeThoughts: z.literal(true).optional(),
      thinkingBudget: z.int().min(-1).max(32768).optional(),
      thinkingLevel: z.enum(["minimal", "low", "medium", "high"]).optional(),
    }).refine((c) => c.thinkingBudget === undefined || c.thinkingLevel === undefined, "one scale of two")
      .optional(),
  }).refine((c) => !c.responseJsonSchema || c.responseMimeType, "a schema wants JSON").optional(),
  serviceTier: z.enum(["flex", "priority", "standard"]).optional(),
}).refine((b) => b.tools || !b.toolConfig, "a tool configuration without tools");

export type Body = z.infer<typeof body>;

/** The body, typed, or an error that says what the API would refuse. */
export function checkRequest(sent: unknown): Body {
  const result = body.safeParse(JSON.parse(JSON.stringify(sent)));
  if (!result.success) throw new Error(z.prettifyError(result.error) + "\n" + JSON.stringify(sent, null, 1));
  const { contents, tools, toolConfig } = result.data;
  contents.forEach(({ role, parts }, i) => {
    const before = contents[i - 1];
    if (before) assert(before.role !== role, `two ${role} contents in a row`);
    const calls = parts.filter((p) => p.functionCall);
    const responses = parts.filter((p) => p.functionResponse);
    if (role === "user") assert(calls.length === 0, "a call by the user");
    else assert(responses.length === 0, "a response by the model");
    if (calls.length > 0) {
      assert(before, "a call before any user content");
      const answers = contents[i + 1]?.parts.filter((p) => p.functionResponse) ?? [];
      const key = (x?: { id: string; name: string }) => `${x?.id} ${x?.name}`;
      const asked = calls.map((p) => key(p.functionCall)).join();
      assert(
        asked === answers.map((p) => key(p.functionResponse)).join(),
        "as many responses as calls, in order",
      );
    }
    if (responses.length > 0) {
      assert(before?.parts.some((p) => p.functionCall), "responses without calls before");
      assert(parts.slice(0, responses.length).every((p) => p.functionResponse), "responses come first");
    }
  });
  const declared = new Set(tools?.flatMap((t) => t.functionDeclarations.map((d) => d.name)));
  for (const name of toolConfig?.functionCallingConfig.allowedFunctionNames ?? []) {
    assert(declared.has(name), `${name} is allowed but not declared`);
  }
  return result.data;
}

/** Gemini 3: in the turn that goes on, the first call of every step is signed. */
export function checkSignatures({ contents }: Body): void {
  for (let i = contents.length - 1; i >= 0; i--) {
    const { role, parts } = contents[i];
    if (role === "user" && !parts.some((p) => p.functionResponse)) return;
    const first = parts.find((p) => p.functionCall);
    assert(!first || first.thoughtSignature, "a step whose first call is not signed");
  }
}
