/** The text of a Rich Text Format file without groups and control words, which may split any value. */

const TOKEN =
  /\\'([0-9a-f]{2})|\\u(-?\d{1,6}) ?|\\(par|line|tab|cell|row|page|sect)(?![a-z])-?\d* ?|\\uc(\d)(?!\d) ?|\\[a-z]{1,32}(?:-?\d{1,10})? ?|\\([\\{}~_-])|\\\*|\\[^a-z]|[{}\r\n]/gi;

/** The text without control words. */
export function rtfText(rtf: string): string {
  const out: string[] = [];
  let at = 0;
  // Number of fallback characters after a Unicode escape, for readers without Unicode.
  let instead = 1;
  TOKEN.lastIndex = 0;
  for (let token = TOKEN.exec(rtf); token; token = TOKEN.exec(rtf)) {
    if (token.index > at) out.push(rtf.slice(at, token.index));
    at = TOKEN.lastIndex;
    const [, hex, code, line, count, sign] = token;
    if (hex !== undefined) out.push(String.fromCharCode(parseInt(hex, 16)));
    else if (code !== undefined) {
      out.push(String.fromCharCode(Number(code) & 0xffff));
      for (let left = instead; left > 0 && at < rtf.length; left--) {
        if (rtf[at] === "\\" && rtf[at + 1] === "'") at += 4;
        else if (!/[\\{}]/.test(rtf[at])) at++;
      }
      TOKEN.lastIndex = at;
    } else if (line !== undefined) out.push(line === "tab" || line === "cell" ? "\t" : "\n");
    else if (count !== undefined) instead = Number(count);
    else if (sign !== undefined) out.push(sign === "~" ? " " : sign === "_" ? "-" : sign === "-" ? "" : sign);
  }
  out.push(rtf.slice(at));
  return out.join("");
}
