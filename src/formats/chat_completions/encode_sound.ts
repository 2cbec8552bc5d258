/**
 * Audio of an answer as values of `audio`.
 *
 * The official clients join the strings of a stream's deltas and add up its numbers. So each field but `data` and
 * `transcript` is sent once for each choice.
 */
import type { Loose } from "../../exchange/json.ts";
import type { Part } from "../../exchange/part.ts";
import { extraOf } from "../../exchange/prompt.ts";
import { audioFormat } from "../media.ts";

export type SentSound = "in pieces" | "complete" | null;

interface Choice {
  sound: SentSound;
}

interface Context {
  id: string;
  created: number;
}

/** A piece, while the audio is generated. */
export function encodeSoundPiece(
  part: Part & { type: "sound-delta" },
  choice: Choice,
  context: Context,
): Loose {
  const { id, data, transcript } = part;
  const head = choice.sound === null && { id: id ?? soundId(part.choice, context) };
  choice.sound = "in pieces";
  return { ...head, ...(data !== undefined && { data }), ...(transcript !== undefined && { transcript }) };
}

/** The complete audio, or what is left of it behind its pieces. */
export function encodeSound(part: Part & { type: "media" }, choice: Choice, context: Context): Loose {
  const own = extraOf(part.extra, "chat_completions");
  const expires_at = own?.expires_at ?? context.created;
  const before = choice.sound;
  choice.sound = "complete";
  if (before === "in pieces") return { expires_at };
  const head = before === null && {
    id: own?.id ?? soundId(part.choice, context),
    expires_at,
    // Another API chooses its own audio format.
    ...(!own && { format: audioFormat(part.mediaType) }),
  };
  return { ...head, data: part.data, transcript: part.transcript ?? "" };
}

function soundId(choice: number, { id }: Context): string {
  return `audio_${id}_${choice}`;
}
