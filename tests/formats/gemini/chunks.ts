/** Chunks of a Gemini stream in short, and the parts and blocks that they make. */

export type Json = Record<string, unknown>;

/** A chunk with one candidate of these parts. */
export function chunk(parts: Json[] | null, more: Json = {}, candidate: Json = {}): Json {
  return { candidates: [{ ...(parts && { content: { role: "model", parts } }), ...candidate }], ...more };
}
