/** What is loaded with the first call that needs it: a gateway speaks few of the formats, and each is some twenty modules. */
export interface Late<T> {
  /** At once, where it has been loaded before. */
  open(): T | Promise<T>;
}

export function late<T extends object>(load: () => Promise<T>): Late<T> {
  let loaded: T | undefined;
  let loading: Promise<T> | undefined;
  const begin = () =>
    loading ??= load().then((value) => loaded = value).finally(() => {
      loading = undefined;
    });
  return { open: () => loaded ?? begin() };
}

/** What there is already. */
export function present<T extends object>(value: T): Late<T> {
  return { open: () => value };
}
