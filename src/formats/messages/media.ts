/**
 * Images and sounds that a model made. The format has no answer block for them, and clients that check types refuse an
 * invented one, so each is a text block of its own: Markdown with a data URL, `![image](data:image/png;base64,…)`, which
 * chat windows show. Sent back in an assistant's turn, such a block becomes the image or the sound again, so no model
 * reads the base64 as words.
 */
import type { Content } from "../../exchange/prompt.ts";

const IMAGE = "![image](data:";
const SOUND = "[audio](data:";

export function encodeMedia(mediaType: string, data: string): string {
  return `${mediaType.startsWith("image/") ? IMAGE : SOUND}${mediaType};base64,${data})`;
}

/** The image or sound that a whole text block is; undefined when it is ordinary text. */
export function decodeMedia(text: string): Content | undefined {
  const image = text.startsWith(IMAGE);
  if ((!image && !text.startsWith(SOUND)) || !text.endsWith(")")) return undefined;
  const from = image ? IMAGE.length : SOUND.length;
  const split = text.indexOf(";base64,", from);
  if (split < 0) return undefined;
  const mediaType = text.slice(from, split);
  const data = text.slice(split + 8, -1);
  if (!/^[\w.+-]+\/[\w.+-]+(?:;[\w.+=-]+)*$/.test(mediaType) || !/^[A-Za-z0-9+/]*={0,2}$/.test(data)) {
    return undefined;
  }
  const source = { kind: "base64" as const, mediaType, data };
  return image ? { type: "image", source } : { type: "audio", source };
}
