/** Gemini 3: the signature is on the first call, or on the text when nothing is called. */
import { type Loose, objects, pieces, type Said } from "./shape.ts";

const USAGE = {
  promptTokenCount: 329,
  candidatesTokenCount: 15,
  totalTokenCount: 397,
  promptTokensDetails: [{ modality: "TEXT", tokenCount: 329 }],
  thoughtsTokenCount: 53,
  serviceTier: "standard",
};

function chunk(turn: number, parts: readonly Loose[], finishReason?: string): Loose {
  return {
    candidates: [{ content: { parts, role: "model" }, ...(finishReason && { finishReason }), index: 0 }],
    usageMetadata: USAGE,
    modelVersion: "gemini-3.5-flash",
    responseId: `O4FfarPzMtKkjrEP4bHf8A${turn}`,
  };
}

function finishReason(said: Said): string {
  return said.cut ? "MAX_TOKENS" : "STOP";
}

function callParts(said: Said): Loose[] {
  return (said.calls ?? []).map((c, i) => ({
    functionCall: { name: c.name, args: c.input, id: c.id },
    ...(i === 0 && said.reasoning && { thoughtSignature: said.reasoning.proof }),
  }));
}

export function whole(said: Said, turn: number): Loose {
  const parts: Loose[] = [];
  if (said.reasoning) parts.push({ text: said.reasoning.text, thought: true });
  if (said.text !== undefined) {
    const signed = said.reasoning && !said.calls;
    parts.push({ text: said.text, ...(signed && { thoughtSignature: said.reasoning?.proof }) });
  }
  parts.push(...callParts(said));
  return chunk(turn, parts, finishReason(said));
}

export function frames(said: Said, turn: number): string[] {
  const chunks: Loose[] = [];
  for (const text of pieces(said.reasoning?.text ?? "")) chunks.push(chunk(turn, [{ text, thought: true }]));
  for (const text of pieces(said.text ?? "")) chunks.push(chunk(turn, [{ text }]));
  for (const part of callParts(said)) chunks.push(chunk(turn, [part]));
  if (said.failsWith !== undefined) {
    chunks.push({ error: { code: 503, message: said.failsWith, status: "UNAVAILABLE" } });
  } else {
    // The signature of a text stands alone on an empty part.
    const signed = said.reasoning && !said.calls;
    chunks.push(
      chunk(
        turn,
        [{ text: "", ...(signed && { thoughtSignature: said.reasoning?.proof }) }],
        finishReason(said),
      ),
    );
  }
  return chunks.map((c) => `data: ${JSON.stringify(c)}\r\n\r\n`);
}

export function proofs(body: Loose): string[] {
  return parts(body).flatMap((p) => p.thoughtSignature === undefined ? [] : [String(p.thoughtSignature)]);
}

/** A response that is one text stands under a key of the encoder's choosing. */
export function results(body: Loose): string[] {
  return parts(body).flatMap((p) => {
    if (typeof p.functionResponse !== "object" || p.functionResponse === null) return [];
    const { response } = p.functionResponse as Loose;
    const values = Object.values(response as Loose);
    return [values.length === 1 && typeof values[0] === "string" ? values[0] : JSON.stringify(response)];
  });
}

function parts(body: Loose): Loose[] {
  return objects(body.contents).flatMap((c) => objects(c.parts));
}
