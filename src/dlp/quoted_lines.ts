/** The text of quoted lines, as in replies by mail, without the marks in front of them. */

import { type View, ViewWriter } from "./view.ts";

const MARK = /^[ \t]{0,3}>(?:[ \t]?>)*[ \t]?/gm;
/** Quoted lines that stand below each other: values may be named in the line before, or by the header of a table. */
const QUOTED = /^[ \t]{0,3}>.*\n[ \t]{0,3}>/m;

/** Null: no two lines are quoted. */
export function unquoted(view: View): View | null {
  const { text } = view;
  if (!text.includes(">") || !QUOTED.test(text)) return null;
  const writer = new ViewWriter(view);
  let done = 0;
  for (const match of text.matchAll(MARK)) {
    writer.copy(done, match.index);
    done = match.index + match[0].length;
  }
  writer.copy(done, text.length);
  return writer.view();
}
