/** What can be repeated in what other services answer than providers of models. */
import { inTags } from "../../../src/payloads/s3.ts";
import type { Dimension } from "./dimension.ts";

const LISTS: Readonly<Record<string, (n: number) => string>> = {
  "days": (n) => "<CommonPrefixes><Prefix>p/2026-01-01/</Prefix></CommonPrefixes>".repeat(n),
  "tags that do not end": (n) => "<CommonPrefixes>".repeat(n),
  "tags within a tag": (n) => `${"<CommonPrefixes>".repeat(n)}</CommonPrefixes>`,
  "ends without a tag": (n) => "</CommonPrefixes>".repeat(n),
  "characters of a name": (n) => `<CommonPrefixes><Prefix>${"&lt;".repeat(n)}</Prefix></CommonPrefixes>`,
  "beginnings of a tag": (n) => "<CommonPrefixes".repeat(n),
};

/** A storage's list of days. */
export const OUTSIDE: readonly Dimension[] = Object.entries(LISTS).map(([name, make]) => ({
  name: `storage: ${name}`,
  prepare(n) {
    const text = make(n);
    return () => inTags(text, "CommonPrefixes").flatMap((inner) => inTags(inner, "Prefix"));
  },
}));
