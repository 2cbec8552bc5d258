/**
 * Determines the end of the body of an HTTP/1.1 message (RFC 9112, sections 6 and 7), for requests and responses.
 *
 * The parser is strict, to prevent request smuggling: an ambiguous length, coding or chunk is an error.
 */
const CR = 13;
const LF = 10;
const TAB = 9;
const BLANK = 32;
const COLON = 58;
const SEMICOLON = 59;

/**
 * The most bytes of chunk extensions, padding and trailers beyond the data of a body; they are discarded.
 * Some servers pad each chunk size with spaces, and a stream has tens of thousands of chunks.
 */
const MOST_EXTRA_BYTES = 16 * 1024;
/** The most digits of a chunk size; some servers write leading zeros. */
const MOST_DIGITS = 16;
/** Upper bound for body and chunk sizes. */
const MOST_SIZE = 2 ** 48;

/** The peer's message violates HTTP. */
export class WireError extends Error {}

const enum At {
  Length,
  Close,
  Size,
  SizeEnd,
  Padding,
  Extension,
  Data,
  DataEnd,
  DataLineEnd,
  Trailer,
  TrailerName,
  TrailerLine,
  TrailerLineEnd,
  LastLineEnd,
}

type Header = (name: string) => string | null | undefined;

/** Parses the framing of a body incrementally, over any number of reads. */
export class BodyFraming {
  #at: At;
  /** Remaining bytes of the body, or of the current chunk. */
  #left: number;
  #digits = 0;
  #extra = 0;
  ended: boolean;
  /** Number of bytes in the last read after the end of the body. */
  unused = 0;
  /** If {@link take} threw: the result for the bytes before the invalid ones. */
  good = 0;

  private constructor(at: At, left: number, ended: boolean) {
    this.#at = at;
    this.#left = left;
    this.ended = ended;
  }

  /** The framing of a request body. Without length and transfer coding there is no body. */
  static ofRequest(header: Header, minor: number): BodyFraming {
    return framing(header, minor) ?? BodyFraming.none();
  }

  /**
   * The framing of a response to POST or GET. Without length and transfer coding the body ends when the
   * connection closes.
   */
  static ofAnswer(status: number, header: Header, minor: number): BodyFraming {
    const found = framing(header, minor);
    if (status === 204 || status === 304) return BodyFraming.none();
    return found ?? new BodyFraming(At.Close, 0, false);
  }

  static none(): BodyFraming {
    return new BodyFraming(At.Length, 0, true);
  }

  static ofLength(length: number): BodyFraming {
    return new BodyFraming(At.Length, length, length === 0);
  }

  static chunked(): BodyFraming {
    return new BodyFraming(At.Size, 0, false);
  }

  /** The body ends when the connection closes. */
  get untilClose(): boolean {
    return this.#at === At.Close;
  }

  /** Remaining bytes if the length was announced in the header; null otherwise. */
  get left(): number | null {
    return this.#at === At.Length ? this.#left : null;
  }

  /** Skips bytes of a body of known length that were read without this object. */
  skip(bytes: number): void {
    this.#left -= bytes;
    this.ended = this.#left === 0;
  }

  /**
   * Consumes the bytes from `from` to `to`, and moves the body data among them to `from`. Returns the end of
   * the data. Throws {@link WireError}.
   */
  take(bytes: Uint8Array, from: number, to: number): number {
    let out = this.good = from;
    let i = from;
    while (i < to && !this.ended) {
      switch (this.#at) {
        case At.Close:
          return to;
        case At.Length:
        case At.Data: {
          const end = Math.min(to, i + this.#left);
          if (out !== i) bytes.copyWithin(out, i, end);
          this.good = out += end - i;
          this.#left -= end - i;
          if (this.#extra > 0) this.#extra = Math.max(0, this.#extra - (end - i));
          i = end;
          if (this.#left === 0) {
            if (this.#at === At.Length) this.ended = true;
            else this.#at = At.DataEnd;
          }
          break;
        }
        default:
          this.#between(bytes[i++]);
      }
    }
    this.unused = to - i;
    return out;
  }

  /** Consumes one byte outside chunk data. Lines end with CR LF, and neither may occur elsewhere. */
  #between(byte: number): void {
    switch (this.#at) {
      case At.DataEnd:
        return this.#expect(byte, CR, At.DataLineEnd, "a chunk is longer than its size");
      case At.DataLineEnd:
        return this.#expect(byte, LF, At.Size, "a chunk is longer than its size");
      case At.Size: {
        const digit = hexDigit(byte);
        if (digit >= 0 && this.#digits < MOST_DIGITS) {
          this.#left = this.#left * 16 + digit;
          if (this.#left >= MOST_SIZE) throw new WireError("the size of a chunk is beyond all bodies");
          this.#digits++;
          return;
        }
        if (this.#digits === 0) throw new WireError("a chunk has no size");
        if (byte === CR) this.#at = At.SizeEnd;
        else if (byte === SEMICOLON) this.#at = At.Extension;
        else if (byte === BLANK || byte === TAB) this.#at = At.Padding;
        else throw new WireError("the size of a chunk is not a number");
        return;
      }
      case At.SizeEnd:
        this.#expect(
          byte,
          LF,
          this.#left === 0 ? At.Trailer : At.Data,
          "the size of a chunk is not a number",
        );
        this.#digits = 0;
        return;
      case At.Padding:
        this.#count(byte);
        if (byte === CR) this.#at = At.SizeEnd;
        else if (byte === SEMICOLON) this.#at = At.Extension;
        else if (byte !== BLANK && byte !== TAB) throw new WireError("the size of a chunk is not a number");
        return;
      case At.Extension:
        this.#count(byte);
        if (byte === CR) this.#at = At.SizeEnd;
        return;
      case At.Trailer:
        if (byte === CR) this.#at = At.LastLineEnd;
        else {
          // A line that is not a field may be the next request, of a sender that left out the final empty
          // line.
          if (!isOfNames(byte)) throw new WireError("a trailer is not one");
          this.#count(byte);
          this.#at = At.TrailerName;
        }
        return;
      case At.TrailerName:
        if (byte === COLON) this.#at = At.TrailerLine;
        else if (!isOfNames(byte)) throw new WireError("a trailer is not one");
        this.#count(byte);
        return;
      case At.TrailerLine:
        this.#count(byte);
        if (byte === CR) this.#at = At.TrailerLineEnd;
        return;
      case At.TrailerLineEnd:
        return this.#expect(byte, LF, At.Trailer, "a trailer is not one");
      case At.LastLineEnd:
        if (byte !== LF) throw new WireError("a trailer is not one");
        this.ended = true;
    }
  }

  #expect(byte: number, expected: number, next: At, what: string): void {
    if (byte !== expected) throw new WireError(what);
    this.#at = next;
  }

  #count(byte: number): void {
    if (byte !== CR && byte !== TAB && (byte < 32 || byte === 127)) {
      throw new WireError("a chunk extension or a trailer has a control character");
    }
    if (++this.#extra > MOST_EXTRA_BYTES) throw new WireError("chunk extensions and trailers are too long");
  }
}

/** Null: neither Content-Length nor Transfer-Encoding is given. */
function framing(header: Header, minor: number): BodyFraming | null {
  const coding = header("transfer-encoding") ?? null;
  const length = header("content-length") ?? null;
  if (coding !== null) {
    if (length !== null) throw new WireError("both a content length and a transfer encoding are given");
    if (minor === 0) throw new WireError("HTTP/1.0 has no transfer encoding");
    if (coding.toLowerCase() !== "chunked") throw new WireError("the transfer encoding is not known");
    return BodyFraming.chunked();
  }
  if (length === null) return null;
  // Repeated fields were joined by a comma, which the pattern rejects.
  if (!/^\d{1,15}$/.test(length)) throw new WireError("the content length is not a number");
  return BodyFraming.ofLength(Number(length));
}

/** Characters of field names besides letters and digits (`tchar`, RFC 9110, section 5.6.2). */
const SIGNS_OF_NAMES: ReadonlySet<number> = new Set([..."!#$%&'*+-.^_`|~"].map((sign) => sign.charCodeAt(0)));

function isOfNames(byte: number): boolean {
  const lower = byte | 32;
  return (lower >= 97 && lower <= 122) || (byte >= 48 && byte <= 57) || SIGNS_OF_NAMES.has(byte);
}

function hexDigit(byte: number): number {
  if (byte >= 48 && byte <= 57) return byte - 48;
  const lower = byte | 32;
  return lower >= 97 && lower <= 102 ? lower - 87 : -1;
}
