/**
 * Decodes `groundingMetadata`, `citationMetadata` and `urlContextMetadata` of a candidate to citations of its
 * text.
 *
 * Offsets count UTF-8 bytes of the candidate's whole text. Observed offsets are sometimes inaccurate, so the
 * quoted text determines the position, and the offsets only where to search.
 */
import { array, isObject, type Loose, number, object, string } from "../../exchange/json.ts";
import type { Citation } from "../../exchange/citation.ts";

/** Sources of a candidate, from all of its chunks. */
export interface Sources {
  /** Its lists refer to each other, so a later, more complete object replaces an earlier one. */
  grounding?: Loose;
  /** Recitation sources, without duplicates: some chunks repeat earlier ones. */
  cited?: Map<string, Loose>;
  /** URLs read by the provider. */
  urls?: Loose[];
  /** Queries of the searches that the provider ran. Chunks may repeat them. */
  queries?: Set<string>;
}

const QUERIES = ["webSearchQueries", "imageSearchQueries"];

/** Adds the sources in one chunk of a candidate. */
export function addSources(sources: Sources, candidate: Loose): void {
  const { groundingMetadata, citationMetadata, urlContextMetadata } = candidate;
  if (isObject(groundingMetadata)) {
    const grounding: Loose = { ...sources.grounding };
    for (const field of ["groundingChunks", "groundingSupports"]) {
      if (array(groundingMetadata[field]).length > 0) grounding[field] = groundingMetadata[field];
    }
    sources.grounding = grounding;
    for (const field of QUERIES) {
      for (const query of array(groundingMetadata[field])) {
        if (typeof query === "string" && query.trim() !== "") (sources.queries ??= new Set()).add(query);
      }
    }
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

/**
 * Citations in the order of the text they support; those of no particular words last. Indices into `text`.
 *
 * @param starts for each part of the candidate's content, how much of the text stands before it
 */
export function decodeCitations(sources: Sources, text: string, starts: readonly number[] = []): Citation[] {
  const citations: Citation[] = [];
  const locate = locator(text, starts);
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

/** A web page, map entry or image is a page; the result of a retrieval tool is a stored file. */
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

/** Distance from the offset within which a segment's text is searched first. */
const NEAR_CHARS = 2000;
/** Bounds the number of searches over the whole text, by its length. */
const WHOLE_SEARCHES = 16;

/** Finds segments of a text. */
function locator(
  text: string,
  starts: readonly number[],
): (segment: Loose) => { start: number; end: number } {
  let units: Uint32Array | undefined;
  let searches = WHOLE_SEARCHES;
  const bytes = new Map<number, number>();
  const byteOf = (part: number) => {
    let byte = bytes.get(part);
    if (byte === undefined) bytes.set(part, byte = encoder.encode(text.slice(0, starts[part])).length);
    return byte;
  };
  const unitAt = (byte: number) => {
    units ??= unitsByByte(text);
    return units[Math.max(0, Math.min(Math.trunc(byte), units.length - 1))];
  };
  return (segment) => {
    const words = string(segment.text);
    const part = number(segment.partIndex) ?? 0;
    // Of the text as a whole where the offsets do not fit the part.
    const bases = starts[part] > 0 ? [byteOf(part), 0] : [0];
    const places = bases.map((base) => ({
      start: unitAt(base + (number(segment.startIndex) ?? 0)),
      end: unitAt(base + (number(segment.endIndex) ?? 0)),
    }));
    const place = words ? places.find(({ start }) => text.startsWith(words, start)) : places[0];
    if (place) {
      return {
        start: place.start,
        end: words ? place.start + words.length : Math.max(place.start, place.end),
      };
    }
    const [{ start, end }] = places;
    const length = words?.length ?? 0;
    const from = Math.max(0, start - length);
    const near = text.slice(from, start + length + NEAR_CHARS).indexOf(words ?? "");
    const found = near >= 0 ? from + near : searches-- > 0 ? anywhere(text, words ?? "", from) : -1;
    return found < 0 ? { start, end: Math.max(start, end) } : { start: found, end: found + length };
  };
}

const encoder = new TextEncoder();

/** Position of a string in a text, preferably after a position; negative: not found. */
function anywhere(text: string, words: string, from: number): number {
  const behind = text.indexOf(words, from);
  return behind >= 0 ? behind : text.indexOf(words);
}

/** For each UTF-8 byte of a text, and for its end, the index of the UTF-16 unit that contains the byte. */
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
