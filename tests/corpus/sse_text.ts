/** Server-sent events of a whole text, for tests: plain splitting, independent of the gateway's reader. */

export interface TextFrame {
  /** Empty: the frame named no event. */
  event: string;
  data: string;
}

/** Frames that carry data; comments and empty frames are left out. */
export function framesOf(sse: string): TextFrame[] {
  const frames: TextFrame[] = [];
  for (const block of sse.replaceAll("\r\n", "\n").replaceAll("\r", "\n").split("\n\n")) {
    let event = "";
    const data: string[] = [];
    for (const line of block.split("\n")) {
      if (line.startsWith("data:")) data.push(line.slice(line[5] === " " ? 6 : 5));
      else if (line.startsWith("event:")) event = line.slice(6).trim();
    }
    if (data.length > 0) frames.push({ event, data: data.join("\n") });
  }
  return frames;
}

/** The texts of the first `count` frames with data, comments before them included, each with its blank line. */
export function firstFrames(sse: string, count: number): string {
  const crlf = sse.includes("\r\n\r\n");
  const border = crlf ? "\r\n\r\n" : "\n\n";
  let taken = 0;
  let out = "";
  for (const block of sse.split(border)) {
    if (taken === count) break;
    out += block + border;
    if (/^data:/m.test(block)) taken++;
  }
  return out;
}
