/**
 * The text that may stand between a name in a question and the answer: the rest of the question, a line
 * break, the speaker, a word or two. For patterns with the flags `i` and `u`.
 */
export const REPLY = "[^?\\n]{0,40}\\?[\"'”]?\\s{1,4}(?:[-*>] )?(?:\\p{L}{1,12}\\s?[:：]\\s?)?" +
  "(?:(?:sure|yes|yeah|ok(?:ay)?|it['’]?s|it is|ja|s[ií]|oui|sim|tak|evet|да|es ist|c['’]est|es|le|el|il|am|den|é|è|to)[,.!:]? ){0,2}";
