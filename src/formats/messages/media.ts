/**
 * Generated images, audio and video. The format has no answer block for them, and clients that check types
 * reject unknown ones, so each is a separate text block: Markdown with a data URL,
 * `![image](data:image/png;base64,…)`, which chat applications display. Returned in an assistant turn, such a
 * block is decoded again, so that no model reads base64 as text.
 */
import type { Content } from "../../exchange/prompt.ts";

const BEGINNINGS = { image: "![image](data:", audio: "[audio](data:", video: "[video](data:" } as const;
const KINDS = ["image", "audio", "video"] as const;

export function encodeMedia(mediaType: string, data: string): string {
  const kind = KINDS.find((kind) => mediaType.startsWith(`${kind}/`)) ?? "audio";
  return `${BEGINNINGS[kind]}${mediaType};base64,${data})`;
}

/** The media in a text block; undefined: ordinary text. */
export function decodeMedia(text: string): Content | undefined {
  const type = KINDS.find((kind) => text.startsWith(BEGINNINGS[kind]));
  if (type === undefined || !text.endsWith(")")) return undefined;
  const from = BEGINNINGS[type].length;
  const split = text.indexOf(";base64,", from);
  if (split < 0) return undefined;
  const mediaType = text.slice(from, split);
  const data = text.slice(split + 8, -1);
  if (!/^[\w.+-]+\/[\w.+-]+(?:;[\w.+=-]+)*$/.test(mediaType) || !/^[A-Za-z0-9+/]*={0,2}$/.test(data)) {
    return undefined;
  }
  return { type, source: { kind: "base64", mediaType, data } };
}
