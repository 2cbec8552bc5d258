/**
 * Lines without the marks in front of them: of quotations in replies by mail, the numbers and signs with which
 * programs print files and changes, and the time and source in logs.
 */

import { type View, ViewWriter } from "./view.ts";

const QUOTE = /^[ \t]{0,3}>(?:[ \t]?>)*[ \t]?/gm;
/** Quoted lines that stand below each other: values may be named in the line before, or by the header of a table. */
const QUOTED = /^[ \t]{0,3}>.*\n[ \t]{0,3}>/m;

/** Null: no two lines are quoted. */
export function unquoted(view: View): View | null {
  return view.text.includes(">") && QUOTED.test(view.text) ? without(view, QUOTE) : null;
}

/** The number of a line, as `cat -n` and the tools of agents print it. */
const NUMBER = /^[ \t]{0,8}\d{1,6}[\t\u2192]/gm;
const NUMBERED = /^[ \t]{0,8}(\d{1,6})[\t\u2192].*\n[ \t]{0,8}(\d{1,6})[\t\u2192]/m;
/** The sign in front of a line of a change. */
const CHANGE = /^[+ -]/gm;
const CHANGED = /^@@ -\d/m;
/** The time or the source of a line in a log. */
const SOURCE = /^(?:\d{4}-\d\d-\d\d[T ][^\n|]{4,50}|[\w.-]{1,40}[-_]\d{1,4}[ ]{0,20})\|[ ]/gm;
const LOGGED = new RegExp(`${SOURCE.source}.*\\n${SOURCE.source.slice(1)}`, "m");

/** Null: the lines have no such marks. */
export function unmarked(view: View): View | null {
  const { text } = view;
  if (text.includes("\n@@ -") || text.startsWith("@@ -")) {
    return CHANGED.test(text) ? without(view, CHANGE) : null;
  }
  if (text.includes("\t") || text.includes("\u2192")) {
    const numbers = NUMBERED.exec(text);
    if (numbers !== null && Number(numbers[2]) === Number(numbers[1]) + 1) return without(view, NUMBER);
  }
  return text.includes(" | ") && LOGGED.test(text) ? without(view, SOURCE) : null;
}

function without(view: View, mark: RegExp): View {
  const { text } = view;
  const writer = new ViewWriter(view);
  let done = 0;
  for (const match of text.matchAll(mark)) {
    writer.copy(done, match.index);
    done = match.index + match[0].length;
  }
  writer.copy(done, text.length);
  return writer.view();
}
