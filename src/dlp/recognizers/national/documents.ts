/**
 * Recognizers for passports and driving licences of many countries: by the word for the document, with higher
 * confidence if the country is named.
 */

import type { NumberForms, Recognizer } from "../recognizer.ts";
import { words } from "../scanned_view.ts";
import { LICENCE, PASSPORT } from "./labels.ts";

export interface Document {
  readonly type: string;
  readonly aliases: readonly string[];
  /** A pattern for the country, its people and the document's local name. */
  readonly country: string;
  /** The document's local name, which needs no country beside it. */
  readonly own?: string;
  readonly forms: readonly string[];
  readonly free?: NumberForms["free"];
  readonly check?: (compact: string) => boolean;
  /** The number consists of digits only, as in many countries: the country or the local name is required. */
  readonly plainDigits?: true;
  readonly found: readonly string[];
  readonly clean: readonly string[];
}

/** Confidence without a name; with one the finding is almost certain. */
const NAMELESS = { plain: 0, alone: 0 } as const;

/** A recognizer for the passport of each country. */
export function passports(documents: readonly Document[]): Recognizer[] {
  return documents.map((document) => recognizer(document, PASSPORT));
}

/** A recognizer for the driving licence of each country. */
export function licences(documents: readonly Document[]): Recognizer[] {
  return documents.map((document) => recognizer(document, LICENCE));
}

function recognizer(
  { type, aliases, country, own, plainDigits, found, clean, ...shape }: Document,
  kind: string,
): Recognizer {
  const near =
    `(?:${country})[^\\n]{0,32}(?<![A-Za-z])(?:${kind})|(?:${kind})[^\\n]{0,32}(?<![A-Za-z])(?:${country})`;
  const named = {
    ...shape,
    ...NAMELESS,
    anyCase: true,
    label: words(near, ...own ? [own] : []),
    labelled: 0.85,
  };
  const general = { ...shape, ...NAMELESS, label: words(kind), labelled: shape.check ? 0.75 : 0.6 };
  return {
    type,
    group: "NATIONAL_ID",
    aliases,
    numbers: plainDigits ? [named] : [named, general],
    samples: { found, clean },
  };
}
