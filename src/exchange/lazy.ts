/** What is loaded with the first call that needs it: a gateway speaks few of the formats, and each is some twenty modules. */
export interface Lazy<T> {
  /** At once, where it has been loaded before. */
  open(): T | Promise<T>;
}

/** Loads a value when it is first asked for, and again after a failure. */
export function lazy<T extends object>(load: () => Promise<T>): Lazy<T> {
  let loaded: T | undefined;
  let loading: Promise<T> | undefined;
  const begin = () =>
    loading ??= load().then((value) => loaded = value).finally(() => {
      loading = undefined;
    });
  return { open: () => loaded ?? begin() };
}

/** What there is already. */
export function present<T extends object>(value: T): Lazy<T> {
  return { open: () => value };
}
