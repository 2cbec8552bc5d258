/** What a script says, and what each API makes of it. */

/** What the model says in one turn. */
export interface Said {
  reasoning?: {
    text: string;
    /** The signature, encrypted content or thought signature that the API attaches. */
    proof: string;
  };
  text?: string;
  calls?: Call[];
  /** An output cap cut the text. */
  cut?: boolean;
  /** The stream ends after this many of its frames, before the one that tells the end. */
  breaksAfter?: number;
  /** The stream says this as its last word, in the error shape of the API. */
  failsWith?: string;
}

export interface Call {
  id: string;
  name: string;
  input: Record<string, unknown>;
}

export type Loose = Record<string, unknown>;

/** A dialogue's way through one API. */
export interface Script {
  /** The whole answer. */
  whole(said: Said, turn: number): Loose;
  /** The frames of a stream, in order: text, or messages of a binary stream. */
  frames(said: Said, turn: number): (string | Uint8Array<ArrayBuffer>)[];
  /** Proofs that the request carries back, in order. */
  proofs(body: Loose): string[];
  /** Texts of tool results that the request carries, in order. */
  results(body: Loose): string[];
}

/** A text in pieces, cut inside words as providers do. */
export function pieces(text: string, size = 5): string[] {
  const cut: string[] = [];
  for (let i = 0; i < text.length; i += size) cut.push(text.slice(i, i + size));
  return cut;
}

/** Objects in a value that is a list. */
export function objects(value: unknown): Loose[] {
  return Array.isArray(value) ? value.filter((v) => typeof v === "object" && v !== null) : [];
}

/** The text of a content that is a string or a list of parts. */
export function textOf(content: unknown): string {
  if (typeof content === "string") return content;
  return objects(content).map((part) => String(part.text ?? "")).join("");
}
