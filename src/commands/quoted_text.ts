/**
 * Foreign text, such as the name of a model that a provider lists, in snippets that people paste into a shell
 * or a settings file.
 */

/** As a string of TOML, JavaScript and Python, which have the escapes of JSON. */
export const quoted = (text: string): string => JSON.stringify(text);

/** As one word of a shell. */
export function inShell(text: string): string {
  return /^[\w./:@%+=,-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}

/** As a value of YAML. */
export function inYaml(text: string): string {
  return /^[A-Za-z](?:[\w./:@+-]*[\w./@+-])?$/.test(text) ? text : quoted(text);
}
