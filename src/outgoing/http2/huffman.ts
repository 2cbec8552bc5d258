/** The Huffman code of HPACK (RFC 7541, appendix B). It is canonical, so the lengths of its codes define it. */
import { WireError } from "../../transport/body_framing.ts";

/** The length in bits of the code of each byte, as a letter: "A" is 5. EOS, the code of 30 ones, must not occur in a text. */
const LENGTHS =
  "ISXXXXXXXTZXXZXXXXXXXXZXXXXXXXXXBFFHIBDGFFDGDBBBAAABBBBBBBCDKBHFIBCCCCCCCCCCCCCCCCCCCCCCDCDIOIJBKABABABB" +
  "BACCBBBABCBAABCCCCCKGJIXPRPPRRRSRSSSSSTSTTRSTSSSSQRSRSSTRQPRRSSQSRRTQRSSQQRQSRSSPRRRSRRSVVPORSRUVVVWWVTUOQVWWVWTQQVVXWWWP" +
  "TPQRQQSRRUUTTVSVWVVWWWWWXWWWWWV";
const SHORTEST = 5;
const LONGEST = 30;

/** For each length: the first code, the number of codes, and the index of their first symbol in {@link symbols}. */
const first: number[] = new Array(LONGEST + 1).fill(0);
const counts: number[] = new Array(LONGEST + 1).fill(0);
const starts: number[] = new Array(LONGEST + 1).fill(0);
const symbols: number[] = [];

for (let length = SHORTEST, code = 0; length <= LONGEST; length++, code <<= 1) {
  first[length] = code;
  starts[length] = symbols.length;
  for (let symbol = 0; symbol < LENGTHS.length; symbol++) {
    if (LENGTHS.charCodeAt(symbol) - 65 + SHORTEST === length) symbols.push(symbol);
  }
  counts[length] = symbols.length - starts[length];
  code += counts[length];
}

/** Returns a text with a character for each byte. Throws {@link WireError} if the code or its padding is invalid. */
export function decodeHuffman(bytes: Uint8Array, from: number, to: number): string {
  let text = "";
  let code = 0;
  let length = 0;
  for (let at = from; at < to; at++) {
    for (let bit = 7; bit >= 0; bit--) {
      code = (code << 1) | ((bytes[at] >> bit) & 1);
      if (++length < SHORTEST) continue;
      const place = code - first[length];
      if (place < counts[length]) {
        text += String.fromCharCode(symbols[starts[length] + place]);
        code = length = 0;
      } else if (length === LONGEST) throw new WireError("a Huffman code is invalid");
    }
  }
  if (length > 7 || code !== (1 << length) - 1) {
    throw new WireError("the padding of a Huffman text is invalid");
  }
  return text;
}
