/**
 * `groundingMetadata`, `citationMetadata` and `urlContextMetadata` of a candidate to citations of its text.
 *
 * Their offsets count UTF-8 bytes of the candidate's whole text. Recorded offsets drift now and then, so the words that a
 * segment quotes decide where it is, and the offsets only where to look.
 */
import { array, isObject, type Loose, number, object, string } from "../../exchange/json.ts";
import type { Citation } from "../../exchange/citation.ts";

/** What a candidate said about sources, in all its chunks. */
export interface Sources {
  /** Its lists belong together, so a later one that says more takes the place of the one before. */
  grounding?: Loose;
  /** Recited works, each once: some chunks repeat what those before them said. */
  cited?: Map<string, Loose>;
  /** Addresses that the provider read. */
  urls?: Loose[];
}

/** Takes what one chunk of a candidate says about sources. */
export function addSources(sources: Sources, candidate: Loose): void {
  const { groundingMetadata, citationMetadata, urlContextMetadata } = candidate;
  if (isObject(groundingMetadata)) {
    const grounding: Loose = { ...sources.grounding };
    for (const field of ["groundingChunks", "groundingSupports"]) {
      if (array(groundingMetadata[field]).length > 0) grounding[field] = groundingMetadata[field];
    }
    sources.grounding = grounding;
  }
  if (isObject(citationMetadata)) {
    const { citations, citationSources } = citationMetadata;
    sources.cited ??= new Map();
    for (const c of [...array(citations), ...array(citationSources)].filter(isObject)) {
      const place = `${number(c.startIndex)} ${number(c.endIndex)}`;
      sources.cited.set(`${place} ${string(c.uri)} ${string(c.title)}`, c);
    }
  }
  if (isObject(urlContextMetadata)) {
    sources.urls ??= [];
    for (const u of array(urlContextMetadata.urlMetadata)) if (isObject(u)) sources.urls.push(u);
  }
}

/** Citations in the order of the text they support; those of no particular words last. Indices into `text`. */
export function decodeCitations(sources: Sources, text: string): Citation[] {
  const citations: Citation[] = [];
  const locate = locator(text);
  const chunks = array(sources.grounding?.groundingChunks).map(decodeChunk);
  const used = new Set<Citation>();
  for (const support of array(sources.grounding?.groundingSupports).filter(isObject)) {
    const span = locate(object(support.segment));
    for (const index of array(support.groundingChunkIndices)) {
      const source = typeof index === "number" ? chunks[index] : undefined;
      if (!source) continue;
      used.add(source);
      citations.push({ ...source, ...span });
    }
  }
  for (const source of chunks) if (source && !used.has(source)) citations.push(source);
  for (const c of sources.cited?.values() ?? []) {
    const url = string(c.uri);
    const title = string(c.title);
    if (url || title) citations.push({ kind: "url", url, title, ...(number(c.endIndex) && locate(c)) });
  }
  const urls = new Set(citations.map((c) => c.url));
  for (const u of sources.urls ?? []) {
    const url = string(u.retrievedUrl);
    const failed = string(u.urlRetrievalStatus)?.endsWith("SUCCESS") === false;
    if (!url || failed || urls.has(url)) continue;
    urls.add(url);
    citations.push({ kind: "url", url });
  }
  return citations;
}

/** A web page, a map entry or an image is a page; what a retrieval tool read is a stored file. */
function decodeChunk(chunk: unknown): Citation | undefined {
  if (!isObject(chunk)) return undefined;
  if (isObject(chunk.retrievedContext)) {
    const c = chunk.retrievedContext;
    return { kind: "file", url: string(c.uri), title: string(c.title), quote: string(c.text) };
  }
  const page = [chunk.web, chunk.maps, chunk.image].find(isObject);
  const url = string(page?.uri) ?? string(page?.sourceUri);
  return page && url !== undefined ? { kind: "url", url, title: string(page.title) } : undefined;
}

/** How far from its offsets a segment's words are looked for first. */
const NEAR_CHARS = 2000;
/** How often as many characters as the text has are searched for words that are not near: each look is at all of it. */
const WHOLE_SEARCHES = 16;

/** Finds segments of a text. */
function locator(text: string): (segment: Loose) => { start: number; end: number } {
  let units: Uint32Array | undefined;
  let searches = WHOLE_SEARCHES;
  const unitAt = (byte: number) => {
    units ??= unitsByByte(text);
    return units[Math.max(0, Math.min(Math.trunc(byte), units.length - 1))];
  };
  return (segment) => {
    const start = unitAt(number(segment.startIndex) ?? 0);
    const end = unitAt(number(segment.endIndex) ?? 0);
    const words = string(segment.text);
    if (!words || text.startsWith(words, start)) {
      return { start, end: words ? start + words.length : Math.max(start, end) };
    }
    const from = Math.max(0, start - words.length);
    const near = text.slice(from, start + words.length + NEAR_CHARS).indexOf(words);
    const found = near >= 0 ? from + near : searches-- > 0 ? anywhere(text, words, from) : -1;
    return found < 0 ? { start, end: Math.max(start, end) } : { start: found, end: found + words.length };
  };
}

/** Where words stand in a text, behind a place rather than before it; below 0: nowhere. */
function anywhere(text: string, words: string, from: number): number {
  const behind = text.indexOf(words, from);
  return behind >= 0 ? behind : text.indexOf(words);
}

/** For each UTF-8 byte of a text, and for its end, the index of the UTF-16 unit that the byte belongs to. */
function unitsByByte(text: string): Uint32Array {
  const units = new Uint32Array(text.length * 3 + 1);
  let byte = 0;
  for (let i = 0; i < text.length; i++) {
    const code = text.codePointAt(i)!;
    const bytes = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    units.fill(i, byte, byte + bytes);
    byte += bytes;
    if (bytes === 4) i++;
  }
  units[byte] = text.length;
  return units.subarray(0, byte + 1);
}
