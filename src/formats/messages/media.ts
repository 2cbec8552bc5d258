/**
 * Images, sounds and films that a model made. The format has no answer block for them, and clients that check types refuse an
 * invented one, so each is a text block of its own: Markdown with a data URL, `![image](data:image/png;base64,…)`, which
 * chat windows show. Sent back in an assistant's turn, such a block becomes the image or the sound again, so no model
 * reads the base64 as words.
 */
import type { Content } from "../../exchange/prompt.ts";

const BEGINNINGS = { image: "![image](data:", audio: "[audio](data:", video: "[video](data:" } as const;
const KINDS = ["image", "audio", "video"] as const;

export function encodeMedia(mediaType: string, data: string): string {
  const kind = KINDS.find((kind) => mediaType.startsWith(`${kind}/`)) ?? "audio";
  return `${BEGINNINGS[kind]}${mediaType};base64,${data})`;
}

/** The image, sound or film that a whole text block is; undefined when it is ordinary text. */
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
