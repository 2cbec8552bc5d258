/** Maps labels of token classification models to entity types. */

/** Label names of common models that are not entity types. */
const MEANS: Readonly<Record<string, string>> = {
  PER: "PERSON",
  NAME: "PERSON",
  PERSON_NAME: "PERSON",
  PRIVATE_PERSON: "PERSON",
  FIRSTNAME: "PERSON",
  LASTNAME: "PERSON",
  GIVENNAME: "PERSON",
  SURNAME: "PERSON",
  LOC: "LOCATION",
  GPE: "LOCATION",
  FAC: "LOCATION",
  CITY: "LOCATION",
  ADDRESS: "STREET_ADDRESS",
  STREET: "STREET_ADDRESS",
  PRIVATE_ADDRESS: "STREET_ADDRESS",
  ORG: "ORGANIZATION",
  COMPANY: "ORGANIZATION",
  COMPANYNAME: "ORGANIZATION",
};

/** Types that may be requested from a model: those without check digits and typical words. */
export const MODEL_TYPES: ReadonlySet<string> = new Set([
  "PERSON",
  "LOCATION",
  "STREET_ADDRESS",
  "ORGANIZATION",
]);

export interface Label {
  /** Null: not of interest. */
  readonly type: string | null;
  /** An entity starts here, even directly after another one of the same type. */
  readonly begins: boolean;
}

/** `B-PER`, `I-PER`, `E-PER`, `S-PER`, `PER` or `O`. */
export function readLabel(label: string): Label {
  const [, place, name] = /^(?:([BIESLU])[-_])?(.+)$/.exec(label.toUpperCase()) ?? [];
  const meant = MEANS[name] ?? name;
  return {
    type: MODEL_TYPES.has(meant) ? meant : null,
    begins: place === "B" || place === "S" || place === "U",
  };
}
