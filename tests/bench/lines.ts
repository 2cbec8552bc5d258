/** A byte stream to its lines, without their ends. What follows the last line end is no line. */
export async function* lines(stream: ReadableStream<Uint8Array<ArrayBuffer>>): AsyncGenerator<string> {
  let rest = "";
  for await (const text of stream.pipeThrough(new TextDecoderStream())) {
    const found = (rest + text).split("\n");
    rest = found.pop()!;
    yield* found;
  }
}
