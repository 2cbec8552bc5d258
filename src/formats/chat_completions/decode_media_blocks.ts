/** What comes beside the text of a provider's delta: sources, sound, images, probabilities. */
import { array, isObject, type Loose, number, object, string } from "../../exchange/json.ts";
import type { Part, TokenLogprob } from "../../exchange/part.ts";
import type { Citation } from "../../exchange/prompt.ts";
import { decodeUrl, joinBase64, soundType } from "./media.ts";
import { FORMAT, hold, type OpenChoice, openText, type Reading } from "./decode_blocks.ts";

export function readAnnotations(
  reading: Reading,
  choice: OpenChoice,
  annotations: readonly unknown[],
  out: Part[],
): void {
  for (const annotation of annotations) {
    const wire = object(annotation);
    if (wire.type !== "url_citation") continue;
    const nested = isObject(wire.url_citation) ? wire.url_citation : wire;
    const url = string(nested.url);
    if (!url) continue;
    const start = number(nested.start_index);
    const end = number(nested.end_index);
    const quote = string(nested.content);
    choice.cited.add(url);
    cite(reading, choice, {
      kind: "url",
      url,
      title: string(nested.title) ?? "",
      ...(quote && { quote }),
      ...(start !== undefined && end !== undefined && end > start && { start, end }),
    }, out);
  }
}

export function cite(reading: Reading, choice: OpenChoice, citation: Citation, out: Part[]): void {
  const { block } = choice.text ?? openText(reading, choice, false, out);
  out.push({ type: "citation", block, citation });
}

/** Perplexity names its pages beside the choices: as bare addresses, and as results with titles. */
export function decodeSources(chunk: Loose): Citation[] {
  const titles = new Map<string, string>();
  for (const url of array(chunk.citations)) if (typeof url === "string" && url !== "") titles.set(url, "");
  for (const result of array(chunk.search_results)) {
    const url = string(object(result).url);
    if (url) titles.set(url, string(object(result).title) ?? "");
  }
  return [...titles].map(([url, title]) => ({ kind: "url", url, title }));
}

export function readSound(reading: Reading, choice: OpenChoice, audio: Loose): void {
  const sound = choice.sound ??= { pieces: [], transcript: [] };
  if (typeof audio.data === "string" && audio.data !== "") {
    hold(reading, audio.data);
    sound.pieces.push(audio.data);
  }
  if (typeof audio.transcript === "string" && audio.transcript !== "") {
    hold(reading, audio.transcript);
    sound.transcript.push(audio.transcript);
  }
  if (typeof audio.id === "string" && audio.id !== "") sound.id = audio.id;
  const expires = number(audio.expires_at);
  if (expires) sound.expires = expires;
}

/** The sound of a choice, whole. */
export function closeSound(reading: Reading, choice: OpenChoice, out: Part[]): void {
  const { sound } = choice;
  if (!sound || (sound.pieces.length === 0 && sound.transcript.length === 0)) return;
  const data = joinBase64(sound.pieces);
  const fields: Loose = {
    ...(sound.id !== undefined && { id: sound.id }),
    ...(sound.expires !== undefined && { expires_at: sound.expires }),
  };
  out.push({
    type: "media",
    block: reading.nextBlock++,
    choice: choice.index,
    mediaType: soundType(data),
    data,
    ...(sound.transcript.length > 0 && { transcript: sound.transcript.join("") }),
    extra: { format: FORMAT, fields },
  });
}

export function readImage(reading: Reading, choice: OpenChoice, image: unknown, out: Part[]): void {
  const wire = object(image);
  const url = string(wire.image_url) ?? string(object(wire.image_url).url) ?? string(wire.url);
  if (!url) return;
  const source = decodeUrl(url);
  const at = { block: reading.nextBlock++, choice: choice.index };
  if (source.kind === "base64") {
    out.push({ type: "media", ...at, mediaType: source.mediaType, data: source.data });
  } else {
    // Only the bytes have a word in the vocabulary.
    const value = { images: [{ type: "image_url", image_url: { url } }] };
    out.push({ type: "opaque", ...at, format: FORMAT, value });
  }
}

export function decodeLogprobs(list: unknown): TokenLogprob[] | undefined {
  const found: TokenLogprob[] = [];
  for (const value of array(list)) {
    const entry = object(value);
    if (typeof entry.token !== "string") continue;
    const top = array(entry.top_logprobs).map(object).filter((other) => typeof other.token === "string");
    found.push({ ...tokenOf(entry), top: top.map(tokenOf) });
  }
  return found.length > 0 ? found : undefined;
}

function tokenOf(entry: Loose) {
  const { bytes } = entry;
  return {
    token: entry.token as string,
    logprob: number(entry.logprob) ?? 0,
    ...(bytes !== undefined && { bytes: bytes as number[] | null }),
  };
}
