/**
 * Estimates the usage of a provider call without a report from the lengths of request and answer. An estimate is never above what was
 * reserved for the call.
 */
import type { Part } from "../exchange/part.ts";
import type { Prompt } from "../exchange/prompt.ts";
import { normalizeUsage, type Usage } from "../exchange/usage.ts";
import type { Model } from "../models/catalog.ts";
import type { PromptSize } from "../models/limits.ts";
import { isRawAudio } from "../formats/media.ts";
import { mostTokens, rawSoundTokens } from "../models/media_tokens.ts";

const CHARS_PER_TOKEN = 4;
/** Typical tokens of an image or file. */
export const USUAL_ATTACHMENT = 1600;

/** Length of a request in UTF-16 units. An attachment is counted as a text with the same number of tokens. */
export function askedLength({ chars, attachments, media }: PromptSize): number {
  return attachments === 0
    ? chars
    : chars + CHARS_PER_TOKEN * Math.min(media, attachments * USUAL_ATTACHMENT);
}

/** Maximum output of one answer of a call; infinite: unknown. */
export function mostOutput({ prompt, model }: { prompt: Prompt; model: Model }): number {
  return prompt.maxOutput ?? model.maxCompletion ?? Infinity;
}

/** The output of an answer so far. */
export class Said {
  #chars = 0;
  #image = 0;
  #audio = 0;
  /** Of audio that is not complete. */
  #pieces = 0;

  take(part: Part): void {
    switch (part.type) {
      case "text-delta":
      case "reasoning-delta":
      case "call-delta":
        this.#chars += part.text.length;
        break;
      case "call-start":
        this.#chars += part.name.length;
        break;
      case "sound-delta":
        this.#pieces += rawSoundTokens(part.data ?? "");
        break;
      case "media":
        this.#takeMedia(part);
    }
  }

  #takeMedia({ mediaType, data }: Extract<Part, { type: "media" }>): void {
    const source = { kind: "base64", mediaType, data } as const;
    if (!mediaType.startsWith("audio/")) {
      this.#image += Math.min(mostTokens({ type: "image", source }), USUAL_ATTACHMENT);
    } else {
      this.#audio += isRawAudio(mediaType) ? rawSoundTokens(data) : mostTokens({ type: "audio", source });
      this.#pieces = 0;
    }
  }

  /** Nothing that a caller would see. */
  get isNothing(): boolean {
    return this.#chars + this.#image + this.#audio + this.#pieces === 0;
  }

  /**
   * @param asked length of the request in UTF-16 units, as {@link askedLength}
   * @param most maximum output
   */
  estimate(asked: number, most: number = Infinity): Usage {
    const audio = this.#audio + this.#pieces;
    return normalizeUsage({
      input: Math.ceil(asked / CHARS_PER_TOKEN),
      output: Math.min(Math.ceil(this.#chars / CHARS_PER_TOKEN) + this.#image + audio, most),
      imageOutput: this.#image,
      audioOutput: audio,
    });
  }
}
