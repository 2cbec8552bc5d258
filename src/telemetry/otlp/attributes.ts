/** Attributes of spans and measurements, written directly in the encoding that is exported. */

export interface AttributeWriter {
  text(key: string, value: string): void;
  /** A whole number that is not negative. */
  int(key: string, value: number): void;
  double(key: string, value: number): void;
  flag(key: string, value: boolean): void;
  texts(key: string, values: readonly string[]): void;
  fixed(attributes: FixedAttributes): void;
}

/** Constant attributes, which are encoded only once. */
export class FixedAttributes {
  readonly write: (to: AttributeWriter) => void;
  /** The encoding in spans and in points of histograms; null: not encoded yet. */
  bytes: Uint8Array | null = null;
  json: string | null = null;

  constructor(write: (to: AttributeWriter) => void) {
    this.write = write;
  }
}

/** Constant attributes with strings and whole numbers. */
export function fixedOf(values: Readonly<Record<string, string | number>>): FixedAttributes {
  return new FixedAttributes((to) => {
    for (const [key, value] of Object.entries(values)) {
      if (typeof value === "number") to.int(key, value);
      else to.text(key, value);
    }
  });
}
