/** The ways in which a text may stand in something that is written: as it is, in base64 at any place, in hexadecimal digits. */
export function formsOf(text: string): string[] {
  const bytes = new TextEncoder().encode(text);
  const base64 = [0, 1, 2].map((before) => {
    const padded = new Uint8Array(before + bytes.length);
    padded.set(bytes, before);
    // What stands beside it changes the first and the last characters.
    const whole = padded.toBase64({ omitPadding: true });
    return whole.slice(before === 0 ? 0 : before + 1, whole.length - 2);
  });
  const urlSafe = base64.map((one) => one.replaceAll("+", "-").replaceAll("/", "_"));
  return [
    ...new Set([
      text,
      encodeURIComponent(text),
      JSON.stringify(text).slice(1, -1),
      ...base64,
      ...urlSafe,
      bytes.toHex(),
    ]),
  ];
}
