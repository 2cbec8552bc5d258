/** The WordPiece tokenizer of BERT models, with the position of each piece. */

export interface Piece {
  readonly id: number;
  readonly start: number;
  readonly end: number;
}

export interface WordPieceOptions {
  /** Lower-cases and removes accents, as for `uncased` models. */
  lowercase: boolean;
}

const LONGEST_WORD = 100;
/** Letters and digits together, any other character alone, Chinese characters one by one. */
const WORD = /[\u3400-\u9fff\uf900-\ufaff]|[\p{L}\p{N}\p{M}]+|[^\s\p{L}\p{N}\p{M}\p{C}]/gu;

export class WordPiece {
  readonly #ids: ReadonlyMap<string, number>;
  readonly #lowercase: boolean;
  readonly #unknown: number;
  readonly first: number;
  readonly last: number;

  /** @param vocabulary the lines of `vocab.txt` */
  constructor(vocabulary: readonly string[], { lowercase }: WordPieceOptions) {
    this.#ids = new Map(vocabulary.map((piece, id) => [piece, id]));
    this.#lowercase = lowercase;
    const special = (name: string) => {
      const id = this.#ids.get(name);
      if (id === undefined) throw new Error(`the vocabulary lacks ${name}`);
      return id;
    };
    this.#unknown = special("[UNK]");
    this.first = special("[CLS]");
    this.last = special("[SEP]");
  }

  *pieces(text: string): Generator<Piece> {
    for (const { 0: word, index } of text.matchAll(WORD)) yield* this.#ofWord(word, index);
  }

  *#ofWord(word: string, at: number): Generator<Piece> {
    const pieces: Piece[] = [];
    for (let start = 0; start < word.length;) {
      let end = word.length > LONGEST_WORD ? start : word.length;
      let id: number | undefined;
      for (; end > start; end--) {
        const part = this.#folded(word.slice(start, end));
        id = this.#ids.get(start === 0 ? part : `##${part}`);
        if (id !== undefined) break;
      }
      if (id === undefined) return yield { id: this.#unknown, start: at, end: at + word.length };
      pieces.push({ id, start: at + start, end: at + end });
      start = end;
    }
    yield* pieces;
  }

  #folded(part: string): string {
    return this.#lowercase ? part.toLowerCase().normalize("NFD").replace(/\p{M}/gu, "") : part;
  }
}
