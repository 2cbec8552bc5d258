/** Values loaded on first use: a gateway uses few of the formats, and each consists of about twenty modules. */
export interface Lazy<T> {
  /** Returns synchronously if it has been loaded. */
  open(): T | Promise<T>;
}

/** Loads a value on first use, and again after a failure. */
export function lazy<T extends object>(load: () => Promise<T>): Lazy<T> {
  let loaded: T | undefined;
  let loading: Promise<T> | undefined;
  const begin = () =>
    loading ??= load().then((value) => loaded = value).finally(() => {
      loading = undefined;
    });
  return { open: () => loaded ?? begin() };
}

/** A value that exists already. */
export function present<T extends object>(value: T): Lazy<T> {
  return { open: () => value };
}
