/** Texts that cost a reader more than others, by what they are made of. */

/** Numbers between 0 and 1, the same in every run. */
export function chances(seed = 1): () => number {
  let state = seed;
  return () => {
    state = Math.imul(state ^ state >>> 15, state | 1) + 0x6d2b79f5 | 0;
    state ^= state + Math.imul(state ^ state >>> 7, state | 61);
    return ((state ^ state >>> 14) >>> 0) / 4294967296;
  };
}

const repeated = (unit: string) => (length: number) =>
  unit.repeat(Math.ceil(length / unit.length)).slice(0, length);

const drawn = (letters: string) => (length: number) => {
  const chance = chances();
  const drawn: string[] = [];
  // A block is repeated: to draw all of it would take longer than to send it.
  for (let i = Math.min(length, 100_003); i > 0; i--) {
    drawn.push(letters[Math.floor(chance() * letters.length)]);
  }
  return repeated(drawn.join(""))(length);
};

const LOWER = "abcdefghijklmnopqrstuvwxyz";
const SIXTY_FOUR = `${LOWER}${LOWER.toUpperCase()}0123456789+/`;

const numbered = (line: (i: number) => string) => (length: number) => {
  const lines: string[] = [];
  for (let i = 0, left = length; left > 0; i++) {
    lines.push(line(i));
    left -= lines[i].length;
  }
  return lines.join("").slice(0, length);
};

/** A text of so many UTF-16 units. */
export type Alphabet = (length: number) => string;

export const ALPHABETS: Readonly<Record<string, Alphabet>> = {
  "one letter": repeated("a"),
  "words": repeated("the quick brown fox jumps over the lazy dog. "),
  "random letters": drawn(LOWER),
  "random letters and blanks": drawn(`${LOWER}    `),
  "random digits": drawn("0123456789"),
  "digits and blanks": drawn("0123456789 "),
  "lines of numbers": numbered((i) => `${4000000 + i * 7}\n`),
  "base64": drawn(SIXTY_FOUR),
  "base64 in lines": (length) => drawn(SIXTY_FOUR)(length).replace(/.{76}/g, "$&\n").slice(0, length),
  "base64 of text": (length) => repeated(btoa("card 4539 1488 0343 6467 of bob@example.com, "))(length),
  "base64 runs": (length) => drawn(SIXTY_FOUR)(length).replace(/.{40}/g, "$& ").slice(0, length),
  "base64 that begins compressed": repeated("H4sIAAAAAAAAA"),
  "hexadecimal": drawn("0123456789abcdef"),
  "a dump of bytes": repeated("00000010: 4865 6c6c 6f20 776f 726c 6420 3132 3334  Hello world 1234\n"),
  "bytes with commas": repeated("0x41, 0x42, "),
  "base32": drawn("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"),
  "zero-width joiners": repeated("\u200d"),
  "digits with joiners": repeated("4\u200d5\u200d3\u200d9\u200d"),
  "combining marks": repeated("a\u0301\u0302\u0303"),
  "marks alone": repeated("\u0301"),
  "emoji": repeated("👩‍👩‍👧‍👦🏳️‍🌈"),
  "Han": repeated("漢字仮名交じり文"),
  "Cyrillic": repeated("Съешь же ещё этих мягких "),
  "look-alikes": repeated("АКІА4Х "),
  "full-width digits": repeated("４５３９１４８８"),
  "ligatures": repeated("ﬃﷺ㌀"),
  "halves of pairs": repeated("\ud83d"),
  "control characters": repeated("\u0001\u0002"),
  "backslashes": repeated("\\"),
  "quotes": repeated('"'),
  "escapes of JSON": repeated("\\u0034\\u0035"),
  "escapes of escapes": repeated("\\\\u0034\\\\n"),
  "percent-encoding": repeated("%34%35%20"),
  "percent signs": repeated("%"),
  "ampersands": repeated("&amp;amp;"),
  "character references": repeated("&#52;&#x35;"),
  "named references": repeated("&nbsp;&eacute;"),
  "quoted-printable": repeated("=34=35=\n"),
  "addresses with passwords": repeated("http://a:b@"),
  "mail addresses": numbered((i) => `user${i}@example.com `),
  "at signs": repeated("@"),
  "half addresses": repeated("a@a."),
  "card numbers": repeated("4539 1488 0343 6467 "),
  "numbers like cards": drawn("0123456789-"),
  "accounts": repeated("DE89370400440532013000 "),
  "telephones": repeated("+49 30 901820, "),
  "network addresses": repeated("192.168.17.4 fe80::1:2:3 "),
  "colons": repeated("a:"),
  "hardware addresses": repeated("00:1b:44:11:3a:b7 "),
  "ids": numbered((i) => `123e4567-e89b-12d3-a456-${String(426614174000 + i)} `),
  "web tokens": repeated("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.dozjgNryP4J3jVmNHl0w5N "),
  "beginnings of web tokens": repeated("eyJ"),
  "keys of issuers": numbered((i) =>
    `sk-proj-${String(i).padStart(40, "aB3dE5")} AKIA${String(i).padStart(16, "7Q")} `
  ),
  "beginnings of keys": repeated("sk-"),
  "key blocks": repeated("-----BEGIN RSA PRIVATE KEY-----\nMIIEow\n"),
  "passwords": repeated("password: hunter2!x\n"),
  "names of secrets": repeated("api_key="),
  "named people": repeated("Dr. Anna Schmidt met Mr. John Smith. "),
  "dates": repeated("1987-04-12 "),
  "wallets": repeated("bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq "),
  "blanks": repeated(" "),
  "line breaks": repeated("\n"),
  "lines of one digit": repeated("1\n"),
  "broken numbers": repeated("4539148803\n436467 "),
  "columns": repeated("12,34;56\t78|90\n"),
  "JSON": repeated('{"card":4539148803436467},'),
  "nested JSON": repeated('{"a":"{\\"b\\":\\"c\\"}"},'),
  "brackets": repeated("[{("),
  "angle brackets": repeated("<A_1>"),
  "hyphens": repeated("-"),
  "underscores": repeated("a_"),
  "dots": repeated("a."),
  "one long run": drawn(`${LOWER}0123456789`),
};
