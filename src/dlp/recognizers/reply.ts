/**
 * The text that may stand between a name in a question and the answer: the rest of the question, a line
 * break, the time, the speaker, a word or two. For patterns with the flags `i` and `u`.
 */
const TIME =
  "(?:\\[?(?:\\d{1,4}[./-]\\d{1,2}[./-]\\d{1,4},? )?\\d{1,2}:\\d{2}(?::\\d{2})?(?: ?[ap]\\.?m\\.?)?\\]? ?(?:[-–] )?)?";
export const REPLY =
  `[^?\\n]{0,40}\\?["'”]?\\s{1,4}(?:[-*>] )?${TIME}(?:[<@*]{0,2}\\p{L}[\\p{L}\\d_.-]{0,15}(?: \\p{L}{1,16})?>?\\s?[:：]\\*{0,2}\\s?)?` +
  "(?:(?:sure|yes|yeah|ok(?:ay)?|it['’]?s|it is|ja|s[ií]|oui|sim|tak|evet|да|es ist|c['’]est|es|le|el|il|am|den|é|è|to)[,.!:]? ){0,2}";
