/** Which of the known servers a provider is. */

export interface Served {
  /** Host pattern of its URLs, for configurations without a preset; including a non-default port. */
  readonly host?: RegExp;
}

/**
 * The entry of a server.
 * @param dialects by preset name
 * @param preset the provider's preset; null: none, and the base URL decides
 */
export function dialectOf<T extends Served>(
  dialects: Readonly<Record<string, T>>,
  preset: string | null,
  baseUrl: string,
): T | undefined {
  if (preset !== null) return Object.hasOwn(dialects, preset) ? dialects[preset] : undefined;
  if (!URL.canParse(baseUrl)) return undefined;
  const { host } = new URL(baseUrl);
  return Object.values(dialects).find((dialect) => dialect.host?.test(host));
}
