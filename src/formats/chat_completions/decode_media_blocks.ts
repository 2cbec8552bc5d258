/** Decodes audio and images in a provider's deltas. */
import { type Loose, number, object, string } from "../../exchange/json.ts";
import type { Part } from "../../exchange/part.ts";
import { type AnswerState, hold, type OpenChoice } from "./decode_state.ts";
import { decodeUrl, joinBase64 } from "../media.ts";

/** Passes on a piece of audio, and keeps it for the complete audio. */
export function readSound(state: AnswerState, choice: OpenChoice, audio: Loose, out: Part[]): void {
  const sound = choice.sound ??= { pieces: [], transcript: [] };
  const data = string(audio.data) || undefined;
  const transcript = string(audio.transcript) || undefined;
  for (const [piece, pieces] of [[data, sound.pieces], [transcript, sound.transcript]] as const) {
    if (piece === undefined) continue;
    hold(state, piece);
    pieces.push(piece);
  }
  if (typeof audio.id === "string" && audio.id !== "") sound.id = audio.id;
  const expires = number(audio.expires_at);
  if (expires) sound.expires = expires;
  if (data === undefined && transcript === undefined) return;
  out.push({ type: "sound-delta", choice: choice.index, id: sound.id, data, transcript });
}

/** The complete audio of a choice. */
export function closeSound(state: AnswerState, choice: OpenChoice, out: Part[]): void {
  const { sound } = choice;
  if (!sound || (sound.pieces.length === 0 && sound.transcript.length === 0)) return;
  const data = joinBase64(sound.pieces);
  const fields: Loose = {
    ...(sound.id !== undefined && { id: sound.id }),
    ...(sound.expires !== undefined && { expires_at: sound.expires }),
  };
  out.push({
    type: "media",
    block: state.nextBlock++,
    choice: choice.index,
    mediaType: soundType(data),
    data,
    ...(sound.transcript.length > 0 && { transcript: sound.transcript.join("") }),
    extra: { format: "chat_completions", fields },
  });
}

/** Adds a generated image. One given by URL is passed to callers of this format only. */
export function readImage(state: AnswerState, choice: OpenChoice, image: unknown, out: Part[]): void {
  const wire = object(image);
  const url = string(wire.image_url) ?? string(object(wire.image_url).url) ?? string(wire.url);
  if (!url) return;
  const source = decodeUrl(url);
  const at = { block: state.nextBlock++, choice: choice.index };
  if (source.kind === "base64") {
    out.push({ type: "media", ...at, mediaType: source.mediaType, data: source.data });
  } else {
    // The vocabulary supports bytes only.
    const value = { images: [{ type: "image_url", image_url: { url } }] };
    out.push({ type: "opaque", ...at, format: "chat_completions", value });
  }
}

/** First base64 characters of audio formats. The answer does not state the format. */
const SOUNDS: readonly (readonly [string, string])[] = [
  ["UklGR", "audio/wav"],
  ["SUQz", "audio/mpeg"],
  ["//", "audio/mpeg"],
  ["T2dnUw", "audio/ogg"],
  ["ZkxhQw", "audio/flac"],
];

/** The media type of base64 audio, by its first bytes; without a header it is `audio/pcm`. */
export function soundType(data: string): string {
  return SOUNDS.find(([head]) => data.startsWith(head))?.[1] ?? "audio/pcm";
}
